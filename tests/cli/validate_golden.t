#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# kvio validate on the 29 cases of the older tool: its figures where it has them, and ours where it errs.
use strict;
use warnings;
use FindBin;
use JSON::PP;

chdir "$FindBin::Bin/../.." or die;
my $kvio = $ENV{KVIO} // 'build/kvio';
my $dir = 'tests/data/kv/validate';
my ($n, $failed) = (0, 0);

sub is {
	my ($got, $want, $what) = @_;
	$n++;
	return print "ok $n - $what\n" if $got eq $want;
	$failed++;
	print "not ok $n - $what\n# got:    $got\n# wanted: $want\n";
}

sub grade {
	my ($case, @args) = @_;
	my ($tracer) = glob "$dir/$case/tracer.jsonl*";
	open my $in, '-|', $kvio, 'validate', '--json', '--rows', '--tracer', $tracer, '--semantic',
		"$dir/$case/semantic.jsonl", @args
		or die;
	local $/;
	my $text = <$in>;
	close $in;
	return ($? >> 8, decode_json($text));
}

# Of these the older figures are wrong: the sum of a field that a wrong flag made, and two operations taken for one.
my %older_errs = map { $_ => 1 } qw(tracer_wrong_lba duplicate_trace_id);

open my $cases, '<', "$dir/expected.jsonl" or die;
my %seen;
while (<$cases>) {
	my $c = decode_json($_);
	my $what = "$c->{case} @{ $c->{args} }";
	$seen{ $c->{case} } = 1;
	my ($status, $j) = grade($c->{case}, @{ $c->{args} });
	is("$status $j->{verdict}", "$c->{status}[0] $c->{verdict}[0]", "$what: status and verdict");
	my ($complete, $k) = grade($c->{case}, @{ $c->{args} }, '--assume-complete');
	is("$complete $k->{verdict}", "$c->{status}[1] $c->{verdict}[1]", "$what: ... taken as complete");
	is($j->{exact}, $c->{exact}, "$what: exact operations");
	my $o = $c->{older};
	next if !$o || $older_errs{ $c->{case} };

	# Nothing measured is no perfect WAPE.
	my $wape = $j->{wape_measured_percent};
	is(join(' ', @$j{qw(objects exact_count_and_bytes exact_count exact_sizes)},
			defined $wape ? sprintf('%.4f', $wape) : '-', sprintf('%.4f', $j->{sizes}{tv_log2}),
			@{ $j->{untagged} }{qw(commands bytes)}),
		join(' ', @$o{qw(objects exact_match exact_cmd_count size_exact_match)},
			$j->{measured_commands} ? sprintf('%.4f', $o->{wape_percent}) : '-', sprintf('%.4f', $o->{size_tv}),
			@{ $o->{untagged} }),
		"$what: the older figures");
	is(join(' | ', sort map { my $r = $_; join ' ', @$r{qw(trace_id op projected_commands measured_commands projected_bytes
			measured_bytes)}, $r->{projected_commands} == $r->{measured_commands}
				&& $r->{projected_bytes} == $r->{measured_bytes} ? 1 : 0 } @{ $j->{rows} }),
		join(' | ', sort map { join ' ', @$_ } @{ $o->{rows} }), "$what: rows");
	is(join(' | ', sort map { my $b = $_; join ' ', @$b{qw(op part)},
			(map { $b->{projected}{$_} // 0 } qw(n min max)), (map { $b->{measured}{$_} // 0 } qw(n min max)),
			sprintf('%.4f', $b->{tv_log2}) } @{ $j->{buckets} }),
		join(' | ', sort map { my @b = @$_; $b[8] = sprintf '%.4f', $b[8]; join ' ', @b } @{ $o->{buckets} }),
		"$what: buckets");
}
is(scalar keys %seen, 29, 'all cases');

# --- the faults of the older tool that concern validation, by their number ---
my ($s, $j) = grade('tracer_wrong_lba', '--lba-bytes', '4096', '--assume-complete');
is("$s $j->{wape_measured_percent}", '0 0', 'fault 2: data_len counts, not what a wrong --lba-size made of it');
($s, $j) = grade('wrong_direction', '--lba-bytes', '4096', '--assume-complete');
is("$s $j->{exact} $j->{right_direction} $j->{exact_count_and_bytes}", '1 1 1 2', 'fault 2: direction');
($s, $j) = grade('wrong_offset', '--lba-bytes', '4096', '--assume-complete');
is("$s $j->{exact} $j->{right_place} $j->{parts}{load}{outside}", '1 0 0 524288', 'fault 2: place');
($s, $j) = grade('wape_denominator', '--lba-bytes', '4096', '--assume-complete');
is(sprintf('%.4f %.4f %s %s', @$j{qw(wape_projected_percent wape_measured_percent missing_bytes extra_bytes)}),
	'49.8054 99.2248 1048576 0', 'fault 3: half the bytes lost is 50 % of the projection, missing apart from extra');
($s, $j) = grade('empty_tracer', '--lba-bytes', '4096', '--assume-complete');
is("$s $j->{verdict} " . (defined $j->{wape_measured_percent} ? 'a number' : 'none'), '3 no data none',
	'fault 3: nothing measured is no 0 %');
($s, $j) = grade('orphan_tagged', '--lba-bytes', '4096', '--assume-complete');
is("$s $j->{orphans}{commands}", '1 3', 'fault 4: orphans are counted, and fail');
($s, $j) = grade('duplicate_trace_id', '--lba-bytes', '4096', '--assume-complete');
is("$s $j->{objects} $j->{exact} $j->{join}", '0 2 2 offset', 'fault 4: where tags do not tell producers apart, places do');
($s, $j) = grade('duplicate_trace_id', '--lba-bytes', '4096', '--assume-complete', '--join', 'trace-id');
is("$s $j->{exact} $j->{shared_ids}", '1 0 1', 'fault 4: by the tag alone one trace id of two producers is counted, and fails');
($s, $j) = grade('truncated_tracer', '--lba-bytes', '4096');
is("$s $j->{completeness}{cut}", '3 1', 'fault 6: a cut line is tolerated, and told');
($s, $j) = grade('wrong_split', '--lba-bytes', '4096', '--mdts-bytes', '524288');
is(sprintf('%d %.2f %.2f %d', $s, $j->{sizes}{tv_log2}, $j->{sizes}{tv_exact}, $j->{sizes}{emd_bytes}), '1 0.50 1.00 262144',
	'fault 7: exact sizes and the distance in bytes show a wrong split');
($s, $j) = grade('asym_components', '--lba-bytes', '4096');
is(join(' ', @{ $j->{parts}{store} }{qw(header codec_header k v scales padding)}), '12288 642 917504 458752 12 11634',
	'bytes of K, V, scales, headers, padding');

print "1..$n\n";
exit($failed ? 1 : 0);
