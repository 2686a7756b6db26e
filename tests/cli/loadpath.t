#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# kvio loadpath: the older tool's 6 cases, completions, what it crashed on.
use strict;
use warnings;
use File::Temp 'tempdir';
use FindBin;
use JSON::PP;

chdir "$FindBin::Bin/../.." or die;
my $kvio = $ENV{KVIO} // 'build/kvio';
my $dir = 'tests/data/kv/loadpath';
my $tmp = tempdir(CLEANUP => 1);
my ($n, $failed) = (0, 0);

sub is {
	my ($got, $want, $what) = @_;
	$n++;
	return print "ok $n - $what\n" if $got eq $want;
	$failed++;
	print "not ok $n - $what\n# got:    $got\n# wanted: $want\n";
}

sub loadpath {
	my $args = join ' ', @_;
	my $text = `$kvio loadpath --json $args 2>/dev/null`;
	my $status = $? >> 8;
	return ($status, $text ? decode_json($text) : {});
}

sub file {
	my ($name, $text) = @_;
	open my $f, '>', "$tmp/$name" or die;
	print $f $text;
	close $f;
	return "$tmp/$name";
}

my $cases = do { local (@ARGV, $/) = "$dir/expected.json"; decode_json(<>) };
for my $case (sort keys %$cases) {
	my $o = $cases->{$case};
	my ($status, $j) = loadpath("$dir/$case.tracer.jsonl", "$dir/$case.semantic.jsonl");
	is($status, 3, "$case: a capture without a count of losses: status 3");
	is(join(' ', @$j{qw(commands other_way_commands objects threads)}, $j->{processes}),
		join(' ', @$o{qw(read_cmds write_cmds load_objects distinct_tids)}, scalar @{ $o->{read_pids} }), "$case: counts");
	is(join(' ', map { "$_->{bytes}:$_->{objects}" } @{ $j->{sizes} }),
		join(' ', map { "$_:$o->{bytes_per_object_hist}{$_}" } sort { $a <=> $b } keys %{ $o->{bytes_per_object_hist} }),
		"$case: objects by their bytes");
	is(join(' ', map { ($_->{kv_rank} // 'None') . ":$_->{objects}" } @{ $j->{ranks} }),
		join(' ', map { "$_:$o->{objects_per_kv_rank}{$_}" } sort keys %{ $o->{objects_per_kv_rank} }), "$case: ranks");
	next unless defined $o->{adjacent_same_object};
	is(sprintf('%d %d %.2f', @$j{qw(adjacent_same_object adjacent_different_object interleave_percent)}),
		sprintf('%d %d %.2f', @$o{qw(adjacent_same_object adjacent_diff_object interleave_percent)}), "$case: adjacency");
	is(sprintf('%.0f', $j->{submit_gbs} * 1000), $o->{read_MBps}, "$case: rate between first and last submission");
	is($j->{max_objects_submitting}, $o->{max_inflight_objects}, "$case: objects between their first and last submission");
	# ... which has 0 objects in flight where each has one command.
	is($j->{max_objects_in_flight}, $o->{max_inflight_objects} || 1, "$case: objects at once");
}
is(scalar keys %$cases, 6, 'all cases');

# --- what the older tool lacks ---
my ($status, $j) = loadpath("$dir/serial_qd1.tracer.jsonl", "$dir/serial_qd1.semantic.jsonl");
is("$j->{gap}{n} $j->{gap}{p50_ns} $j->{gap}{p95_ns}", '28 83000 83000', 'the gap between commands of an object, which it promises');
is(defined $j->{mean_commands_in_flight} ? 'a number' : 'none', 'none', 'no depth without completions');
($status, $j) = loadpath("$dir/one_read.tracer.jsonl", "$dir/one_read.semantic.jsonl");
is(($j->{objects}) . (defined $j->{interleave_percent} ? 'a number' : ' none'), '1 none', 'a single read is no division by zero');

# Two objects of two reads; each takes 50 us, and the next is submitted 10 us after it, in the other object.
my ($text, $ts) = ('', 1_000_000_000);
for my $i (0 .. 3) {
	my $ud = (1 + $i % 2 << 32) + $i;
	$text .= "{\"event_type\":\"nvme_cmd\",\"pid\":7,\"tid\":" . (8 + $i % 2) . ",\"user_data\":$ud,\"nvme_opcode\":2,\"op_name\":\"read\",\"nsid\":1,\"slba\":$i,\"nlb\":1,\"data_len\":4096,\"ts\":$ts}\n"
		. "{\"event_type\":\"nvme_cmp\",\"user_data\":$ud,\"err\":0,\"lat_ns\":50000,\"ts\":" . ($ts + 50000) . "}\n";
	$ts += 10000;
}
my $cap = file('cap.jsonl', $text . "{\"event_type\":\"drops\",\"dropped\":0}\n");
($status, $j) = loadpath($cap);
is("$status $j->{objects} $j->{threads} $j->{processes}", '0 2 2 1', 'objects by trace id, without a semantic trace');
is("$j->{max_objects_in_flight} $j->{max_commands_in_flight} $j->{max_objects_submitting}", '2 4 2', 'in flight by completion');
my ($k, $l) = loadpath(file('touch.jsonl', join '', map {
	"{\"event_type\":\"nvme_cmd\",\"user_data\":" . ($_->[0] * 2**32 + $_->[1]) . ",\"nvme_opcode\":2,\"op_name\":\"read\",\"nsid\":1,\"slba\":0,\"nlb\":1,\"data_len\":512,\"ts\":$_->[1]}\n"
} [1, 100], [1, 200], [2, 200], [2, 300]));
is($l->{max_objects_submitting}, 1, 'an object that begins when another ends is not beside it');
is(sprintf('%.4f %d %d', $j->{mean_commands_in_flight}, $j->{span_ns}, $j->{submit_span_ns}), '2.5000 80000 30000',
	'mean depth: 4 commands of 50 us in 80 us');
is("$j->{gap}{p50_ns} $j->{any_gap}{p50_ns} $j->{service}{p50_ns}", '20000 10000 50000', 'gaps and latency');
($status, $j) = loadpath($cap, '--op', 'store');
is("$status $j->{commands} $j->{other_way_commands}", '3 0 4', 'no such command: status 3');
system("$kvio cat -o $tmp/cap.kvt $cap 2>/dev/null");
($status, $j) = loadpath("$tmp/cap.kvt");
is("$status $j->{objects} $j->{max_commands_in_flight}", '0 2 4', 'the same from a .kvt');
is(scalar(grep { length > 79 } split /\n/, `$kvio loadpath $cap; $kvio loadpath $dir/parallel.tracer.jsonl 2>/dev/null`), 0, 'text is less than 80 columns wide');

# --- hostile input, usage ---
($status) = loadpath(file('bad', "\0\1\2\n" x 50));
is($status, 1, 'no capture');
($status) = loadpath("$tmp/none");
is($status, 1, 'no such file');
($status) = loadpath();
is($status, 2, 'usage: nothing named');
($status) = loadpath(file('empty.jsonl', ''));
is($status, 3, 'an empty capture');
my $label = `$kvio loadpath $dir/serial_qd1.tracer.jsonl $dir/serial_qd1.semantic.jsonl \$(printf 'a\\033[31m') 2>/dev/null | head -n 1`;
is($label, "a\\x1b[31m\n", 'a label as the third operand cannot talk to the terminal');

print "1..$n\n";
exit($failed ? 1 : 0);
