#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# kvio manifest: the older tool's 8 cases, what a manifest keeps, both versions read and written, hostile input.
use strict;
use warnings;
use File::Temp 'tempdir';
use FindBin;
use JSON::PP;

chdir "$FindBin::Bin/../.." or die;
my $kvio = $ENV{KVIO} // 'build/kvio';
my $dir = 'tests/data/kv/manifest';
my $tmp = tempdir(CLEANUP => 1);
my $json = JSON::PP->new->canonical->allow_nonref;
my ($n, $failed) = (0, 0);

sub is {
	my ($got, $want, $what) = @_;
	$n++;
	return print "ok $n - $what\n" if $got eq $want;
	$failed++;
	print "not ok $n - $what\n# got:    $got\n# wanted: $want\n";
}

sub file {
	my ($name, $text) = @_;
	open my $f, '>', "$tmp/$name" or die;
	print $f $text;
	close $f;
	return "$tmp/$name";
}

# The status, what was written, what was said.
sub manifest {
	my @args = @_;
	unlink "$tmp/out.json";
	my $pid = fork // die;
	if (!$pid) {
		open STDERR, '>', "$tmp/said";
		exec $kvio, 'manifest', '-o', "$tmp/out.json", @args;
	}
	waitpid $pid, 0;
	my $status = $? >> 8;
	local $/;
	my $doc;
	if (open my $f, '<', "$tmp/out.json") {
		$doc = decode_json(<$f>);
	}
	open my $said, '<', "$tmp/said";
	return ($status, $doc, scalar <$said>);
}

# --- the older tool's cases ---
my $cases = do { local (@ARGV, $/) = "$dir/expected.json"; decode_json(<>) };
for my $c (@$cases) {
	# Its defaults are 128 KiB whatever the trace says; ours are what the trace says.
	my %given = ('--mdts-bytes' => 131072, '--block-align' => 131072, '--header-bytes' => 131072, '--slot-bytes' => 0,
		'--capacity-bytes' => 0, @{ $c->{args} });
	my ($status, $doc) = manifest("$dir/$c->{case}.jsonl", '--schema', '1', %given);
	is($status, $c->{case} eq 'truncated_tail' ? 3 : $c->{exit_code}, "$c->{case}: status");
	next unless $c->{manifest};
	delete $_->{source} for $doc, $c->{manifest};
	is($json->encode($doc), $json->encode($c->{manifest}), "$c->{case}: the older manifest");
	my ($again, $same) = manifest(file('v1.json', $json->encode({ %{ $c->{manifest} }, source => 'x' })), '--schema', '1');
	delete $same->{source};
	is($json->encode($same), $json->encode($c->{manifest}), "$c->{case}: an older manifest is read, and written as it was")
		if $status != 3;
}
is(scalar @$cases, 8, 'all cases');

# --- what version 1 loses ---
my $op = sub { my %o = (trace_id => 1, op => 'load', key => 'a', bytes => 4096, @_); $json->encode(\%o) . "\n" };
my $meta = $json->encode({ event_type => 'kvio_meta', kvio_schema => 2, block_align => 512, header_bytes => 0,
	max_data_transfer_size => 65536, slot_bytes => 8192, capacity_bytes => 1 << 30 }) . "\n";
my $sem = file('sem.jsonl', $meta
	. $op->(op => 'store', part => 'k', ts_start => 10.5, ts => 10.75, kv_rank => 3)
	. $op->(op => 'store', part => 'v', ts_start => 10.25, ts => 11, components => { k_bytes => 0, v_bytes => 4000, scale_bytes => 4 })
	. $op->(part => 'k', ts_start => 12, ts => 12.5)
	. $op->(part => 'k', ts_start => 13, ts => 13.5, bytes => 2048)
	. $op->(op => 'delete', part => 'k', ts_start => 14, ts => 14)
	. $op->(part => 'k', ts_start => 15, ts => 15, error => 'x'));
my ($status, $doc, $said) = manifest($sem);
is($status, 0, 'a semantic trace');
is(join(' ', map { "$_->{op}$_->{object}\@$_->{at_ns}+$_->{took_ns}" } @{ $doc->{operations} }),
	'store1@0+750000000 store0@250000000+250000000 load0@1750000000+500000000 load0@2750000000+500000000 delete0@3750000000+0',
	'fault 14: order, repetition and times are kept');
is($doc->{operations}[3]{bytes} . ' ' . (defined $doc->{operations}[2]{bytes} ? 1 : 0), '2048 0', '... and sizes that differ');
is(join(' ', map { "$_->{part} " . ($_->{kv_rank} // '-') . ' ' . ($_->{components} ? $_->{components}{v_bytes} : '-') } @{ $doc->{objects} }),
	'k 3 - v - 4000', '... and parts, ranks, components');
is(join(' ', @{ $doc->{device_geometry} }{qw(mdts_bytes block_align header_bytes slot_bytes capacity_bytes)}),
	'65536 512 0 8192 1073741824', 'fault 14: the device is what the trace says, a header of 0 too');
is($said =~ /left out: 1 operations that failed/ ? 1 : 0, 1, 'what is left out is told');
my ($back, $copy) = manifest("$tmp/out.json.keep") if rename "$tmp/out.json", "$tmp/out.json.keep";
delete $_->{source} for $doc, $copy;
is($json->encode($copy), $json->encode($doc), 'version 2 is read, and written as it was');
($status, $doc) = manifest("$tmp/out.json.keep", '--schema', '1');
is(exists $doc->{operations} ? 1 : 0, 0, 'version 2 is written as version 1');
my ($s1, $m1) = manifest(file('v1.json', $json->encode($doc)));
is(join(' ', map { "$_->{op}$_->{object}" } @{ $m1->{operations} }), 'store0 store1 load0', 'version 1 as version 2: all stores, then all loads');

# --- hostile input ---
for my $bad ('', '[]', '{"schema_version": 3, "objects": []}', '{"schema_version": 1}', '{"schema_version": 1, "objects": [{}]}',
	'{"schema_version": 1, "objects": [{"payload_bytes": -1}]}', '{"schema_version": 1, "objects": [{"payload_bytes": "1"}]}',
	'{"schema_version": 1, "objects": [{"payload_bytes": 1e300}]}', '{"schema_version": 1, "objects": [{"payload_bytes": 1, "ops": ["format"]}]}',
	'{"schema_version": 2, "objects": [{"payload_bytes": 1}], "operations": [{"op": "load", "object": 1}]}',
	'{"schema_version": 2, "objects": [{"payload_bytes": 1}], "operations": [{"op": "load", "object": -1}]}',
	'{"schema_version": 2, "objects": [{"payload_bytes": 9223372036854775807, "ops": ["store"]}', '{"schema_version"', "\0\0\0") {
	($status, $doc, $said) = manifest(file('bad.json', $bad));
	is("$status " . (defined $doc ? 'written' : 'nothing') . ' ' . ($said =~ tr/\n//), '1 nothing 1', "refused in one line: $bad");
}
($status, $doc) = manifest(file('shape.jsonl', $op->(shape => ["\x{7}", 1], dtype => "x\"\n", key => "\x1b[31m\x{e9}")));
is("$status " . join(' ', %{ $doc->{geometry} }), '0 ', 'a shape that is no list of numbers is not repeated');
($status, $doc, $said) = manifest(file('odd.jsonl', $op->() . "{\"op\":\"load\",\"key\":\"a\",\"bytes\":-5}\n" . $op->()));
is("$status " . scalar @{ $doc->{operations} }, '3 2', 'fault 6: a record that is none is counted, and told');
($status) = manifest("$tmp/none");
is($status, 1, 'no such file');
($status) = manifest();
is($status, 2, 'usage: no input');
($status) = manifest($sem, '--schema', '3');
is($status, 2, 'usage: no such version');

print "1..$n\n";
exit($failed ? 1 : 0);
