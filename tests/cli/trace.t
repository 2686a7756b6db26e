#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# kvio trace: the golden plans, the open formats, a prefix lookup that stops, hostile input.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use File::Temp 'tempdir';
use FindBin;
use JSON::PP;

chdir "$FindBin::Bin/../.." or die;
my $kvio = $ENV{KVIO} // 'build/kvio';
my $tmp = tempdir(CLEANUP => 1);
my $json = JSON::PP->new->canonical;
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

sub said { my $t = `$kvio trace @_ 2>&1`; return ($? >> 8, $t) }
sub plan { my $t = `$kvio trace @_ --json 2>/dev/null`; return ($? >> 8, $t =~ /^\{/ ? decode_json($t) : {}) }
sub ops { join ' ', map { join ',', $_->{op}, $_->{chunk_key}, $_->{chunk_index} // () } @{ $_[0]{operations} } }
sub want_ops { join ' ', map { join ',', @$_ } @{ $_[0]{ops} } }

my $golden = do { local (@ARGV, $/) = 'tests/data/kv/agent.json'; decode_json(<>) };

# --- token ids: four caches ---
for my $g (@{ $golden->{lmcache_agent} }) {
	my $name = "$g->{policy}, capacity $g->{capacity_chunks}";
	my $time = 1735787045;
	my $f = file('tokens.jsonl', join '', map { $json->encode({ session_id => 's', timestamp => $time++, token_ids => $_->{tokens} }) . "\n" }
		@{ $g->{requests} });
	my ($status, $p) = plan($f, '--chunk-tokens', $g->{chunk_tokens}, '--policy', $g->{policy}, '--capacity-chunks', $g->{capacity_chunks});
	is($status, 0, "$name: status");
	for my $i (0 .. $#{ $g->{requests} }) {
		is(ops($p->{requests}[$i]), want_ops($g->{requests}[$i]), "$name: operations of request $i");
		is("$p->{requests}[$i]{complete_chunks} $p->{requests}[$i]{ignored_tail_tokens}",
			"$g->{requests}[$i]{complete_chunks} $g->{requests}[$i]{ignored_tail_tokens}", "$name: chunks of request $i");
	}
	is(join(' ', @{ $p->{summary} }{qw(loads stores evictions max_resident_chunks)}),
		join(' ', @{ $g->{summary} }{qw(loads stores evictions max_resident_chunks)}), "$name: summary");
}

# --- tracelab ---
my $lab = $golden->{tracelab};
my $f = file('lab.jsonl', join '', map { my $r = $_; $json->encode({ map { $_ => $r->{$_} } qw(provider project session_file session_id
	prefix_tokens input_tokens_total) }) . "\n" } @{ $lab->{requests} });
my ($status, $p) = plan($f);
for my $i (0 .. $#{ $lab->{requests} }) {
	is(ops($p->{requests}[$i]), want_ops($lab->{requests}[$i]), "tracelab: operations of request $i");
	is($p->{requests}[$i]{session}, $lab->{requests}[$i]{session}, "tracelab: session of request $i");
}
is(join(' ', @{ $p->{warm_keys} }), join(' ', @{ $lab->{warm_keys} }), 'tracelab: warm keys');
is(join(' ', @{ $p->{summary} }{qw(loads stores evictions warm_chunks max_resident_chunks)}),
	join(' ', @{ $lab->{summary} }{qw(loads stores evictions warm_chunks max_resident_chunks)}), 'tracelab: summary');
($status, $p) = plan($f, '--provider codex');
is("$p->{summary}{requests} $p->{source}{files}[0]{records_seen} $p->{source}{files}[0]{records_selected}", '1 4 1', 'tracelab: one provider');
is($p->{source}{files}[0]{sha256} . $p->{source}{files}[0]{path}, sha256_hex(do { local (@ARGV, $/) = $f; <> }) . 'lab.jsonl',
	'the plan names what it was made of, without directories');

# --- times ---
my @times = @{ $golden->{timestamps} };
$f = file('times.jsonl', join '', map { $json->encode({ session_id => 's', timestamp => $_->{in}, token_ids => [1] }) . "\n" } @times);
($status, $p) = plan($f);
is(join(' ', map { $_->{timestamp_unix_s} + 0 } @{ $p->{requests} }), join(' ', map { $_->{unix_s} + 0 } @times), 'times of four kinds');
$f = file('order.jsonl', join '', map { $json->encode({ session_id => 's', timestamp => $_, token_ids => [1] }) . "\n" }
	'2025-01-02T03:04:07+02:00', '2025-01-02T01:04:06.5Z', '2025-01-02T01:04:06Z');
($status, $p) = plan($f);
is(join(' ', map { "$_->{source_line}\@$_->{offset_ns}" } @{ $p->{requests} }), '3@0 2@500000000 1@1000000000', 'requests in the order of time');

# --- a prefix lookup stops at the first miss ---
my @a = map { sha256_hex("a$_") } 0 .. 2;
my $other = sha256_hex('b');
$f = file('hole.jsonl', join '', map { $json->encode({ session_id => 's', chunk_keys => $_ }) . "\n" }
	[@a], [ @a[ 1, 2 ] ], [$other], [@a]);
($status, $p) = plan($f, '--capacity-chunks 3');
is(join(' ', map { $_->{op} . ($_->{chunk_index} // '') } @{ $p->{requests}[3]{operations} }) . " $p->{summary}{shadowed_chunks}", 'delete store0 2',
	'a chunk that is there behind one that is not is no hit');
($status, $p) = plan($f, '--capacity-chunks 3 --policy substring');
is(join(' ', map { $_->{op} . ($_->{chunk_index} // '') } @{ $p->{requests}[3]{operations} }), 'load1 load2 delete store0', '... but is with a substring lookup');
($status, $p) = plan(file('twice.jsonl', $json->encode({ session_id => 's', chunk_keys => [ @a[ 0, 0, 0 ] ] })));
is(ops($p->{requests}[0]), "store,$a[0],0", 'a chunk twice in a request counts once');

# --- mooncake ---
$f = file('moon.jsonl', "{\"timestamp\": 0, \"input_length\": 1100, \"output_length\": 5, \"hash_ids\": [0, 1, 2]}\n"
	. "{\"timestamp\": 500, \"input_length\": 1600, \"output_length\": 5, \"hash_ids\": [0, 1, 3, 4]}\n");
($status, $p) = plan($f, '--model Llama-3.1-8B --tp 2');
is("$p->{chunk_tokens} " . join(' ', map { "$_->{complete_chunks}\@$_->{offset_ns}" } @{ $p->{requests} }), '512 2@0 3@500000000',
	'mooncake: blocks of 512 tokens, the last one not full');
is(join(' ', @{ $p->{summary} }{qw(loads stores object_loads object_stores load_commands store_bytes)}),
	join(' ', 2, 3, 4, 6, 4 * 256, 6 * (2**25 + 4096)), 'mooncake: objects of two ranks, and their bytes');
is($p->{requests}[0]{operations}[0]{chunk_key}, sha256_hex('mooncake:0'), 'mooncake: keys of 64 hex digits');
system("gzip -kf $f");
($status, my $q) = plan("$f.gz", '--model Llama-3.1-8B --tp 2');
delete $_->{source}, map { delete $_->{source_file} } @{ $_->{requests} } for $p, $q;
is($json->encode($q), $json->encode($p), 'mooncake: compressed');

# --- MLPerf ---
my $csv = "Timestamp,Operation,Object_Size_Bytes,Tier,Key,Phase\n0.5,Write,1000,Tier-2,\"user,1\",Prefill\n0.6,Write,2000,Tier-0,u2,Prefill\n"
	. "1.25,Read,1000,Tier-2,\"user,1\",Decode\n1.5,Read,900,Tier-2,\"user,1\",Decode\n";
$f = file('kv.csv', $csv);
($status, $p) = plan($f);
is("$status $p->{schema_version} $p->{objects}[0]{key} $p->{objects}[0]{payload_bytes}", '0 2 user,1 1000', 'mlperf: a manifest of its objects');
is(join(' ', map { "$_->{op}$_->{object}\@$_->{at_ns}" } @{ $p->{operations} }), 'store0@0 load0@750000000 load0@1000000000',
	'mlperf: order and times; the NVMe tier only');
($status, $p) = plan($f, '--tier all');
is(scalar @{ $p->{objects} }, 2, 'mlperf: all tiers');
($status) = said($f, '-o', "$tmp/run.json");
is("$status " . scalar(`$kvio manifest $tmp/run.json 2>/dev/null` =~ /"operations"/), '0 1', 'mlperf: the manifest is one');
system("$kvio cat --help >/dev/null; zstd -qf $f -o $f.zst 2>/dev/null || gzip -c $f >$f.zst");
($status, $p) = plan("$f.zst");
is("$status " . scalar @{ $p->{operations} }, '0 3', 'mlperf: compressed');
($status, $p) = plan(file('old.csv', "Timestamp,Operation,Object_Size_Bytes,Tier\n1,Read,5,Tier-2\n2,Read,5,Tier-2\n"));
is("$status " . scalar @{ $p->{objects} }, '0 2', 'mlperf: rows without a key are objects of their own');
($status, $p) = plan(file('bad.csv', "$csv" . "x,Read,5,Tier-2,k,\n2,Fsync,5,Tier-2,k,\n3,Read,-5,Tier-2,k,\n3,Read,99999999999999999999,Tier-2,k,\n"));
is("$status " . scalar @{ $p->{operations} }, '3 3', 'mlperf: rows that are none are counted: status 3');
($status) = said(file('cut.csv', substr($csv, 0, -20)));
is($status, 3, 'mlperf: a cut tail');

# --- hostile input ---
for my $bad (['', 'no request'], ["x\n", 'line 1: it is no JSON object'], ["[]\n", 'no JSON object'], ["{}\n", 'of no format'],
	['{"session_id":"s","input":"hello"}' . "\n", 'turn it into token_ids'], ['{"session_id":"s","token_ids":[1,-2]}' . "\n" x 2, 'no token id'],
	['{"session_id":"s","token_ids":[1,1.5]}' . "\n", 'no token id'], ['{"session_id":"s","chunk_keys":["ab"]}' . "\n", 'not 64 hex'],
	['{"session_id":"s","timestamp":"yesterday","token_ids":[]}' . "\n", 'its time is none'],
	['{"session_id":"s","timestamp":1,"token_ids":[]}' . "\n", 'of the years'],
	['{"session_id":"s","timestamp":1e300,"token_ids":[]}' . "\n", 'its time is'],
	['{"provider":"c","session_id":"s","input_tokens_total":5,"prefix_tokens":6}' . "\n", 'more than input'],
	['{"provider":"c","session_id":"s","input_tokens_total":18446744073709551615,"prefix_tokens":6}' . "\n", 'more than'],
	['{"timestamp":-1,"input_length":5,"hash_ids":[1]}' . "\n", 'its time is none'],
	['{"timestamp":1,"input_length":"5","hash_ids":[1]}' . "\n", 'no whole number'],
	['{"session_id":"s","token_ids":[1]}' . "\n" . '{"timestamp":1,"input_length":5,"hash_ids":[1]}' . "\n", 'line 2: it is of format mooncake']) {
	my ($s, $t) = said(file('bad.jsonl', $bad->[0]));
	is("$s " . ($t =~ /\Q$bad->[1]\E/ && ($t =~ tr/\n//) == 1 ? 'said' : $t), '1 said', "refused in one line: $bad->[1]");
}
($status, $p) = plan(file('tail.jsonl', $json->encode({ session_id => 's', token_ids => [1] }) . "\n" . '{"session_id":"s","tok'));
is("$status $p->{summary}{requests}", '3 1', 'a cut tail: status 3');
($status) = said("$tmp/none");
is($status, 1, 'no such file');
mkdir "$tmp/d";
mkdir "$tmp/d/e";
file("d/e/2.jsonl", $json->encode({ session_id => 's', token_ids => [2] }) . "\n");
file("d/1.jsonl", $json->encode({ session_id => 's', token_ids => [1] }) . "\n");
file("d/notes.txt", 'no trace');
($status, $p) = plan("$tmp/d", '--chunk-tokens 1');
is("$status " . join(' ', map { $_->{source_file} } @{ $p->{requests} }), '0 1.jsonl 2.jsonl', 'a directory, in the order of names');
is(index($json->encode($p), $tmp), -1, 'no directory of this machine is in the plan');
for my $bad ('', '--chunk-tokens 99999999 x', '--tp 0 x', '--policy lru x', '--format csv x') {
	($status) = said($bad);
	is($status, 2, "usage: '$bad'");
}
my ($s, $t) = said("$tmp/moon.jsonl --model Llama-3.1-8B");
is(scalar(grep { length > 79 } split /\n/, $t), 0, 'text is less than 80 columns wide');

print "1..$n\n";
exit($failed ? 1 : 0);
