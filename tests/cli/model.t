#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# kvio model: the published cells, the formulas done again by hand, where R turns, sweeps, hostile input.
use strict;
use warnings;
use File::Temp 'tempdir';
use FindBin;
use JSON::PP;

chdir "$FindBin::Bin/../.." or die;
my $kvio = $ENV{KVIO} // 'build/kvio';
my $tmp = tempdir(CLEANUP => 1);
my ($n, $failed) = (0, 0);

sub is {
	my ($got, $want, $what) = @_;
	$n++;
	return print "ok $n - $what\n" if $got eq $want;
	$failed++;
	print "not ok $n - $what\n# got:    $got\n# wanted: $want\n";
}

sub near {
	my ($got, $want, $share, $what) = @_;
	my $off = abs($got / $want - 1);
	is($off <= $share ? 'near' : "$got, off by $off", 'near', $what);
}

sub text { my $t = `$kvio model @_ 2>&1`; return ($? >> 8, $t) }
sub model { my ($status, $t) = text(@_, '--json'); return ($status, $t =~ /^\{/ ? decode_json($t) : {}) }
sub row { my ($status, $j) = model(@_); return $j->{rows}[0] }

# --- the published cells, within 10 % ---
for my $c (['Llama-3.1-8B', 1.82, 0.38, 4.8], ['Llama-3.1-70B', 4.13, 1.90, 2.2]) {
	my $r = row($c->[0], '--tp 4 --tokens 14848');
	near($r->{load_s}, $c->[1], 0.1, "$c->[0] TP4: load $c->[1] s");
	near($r->{recompute_s}, $c->[2], 0.1, "$c->[0] TP4: recompute $c->[2] s");
	near($r->{ratio}, $c->[3], 0.1, "$c->[0] TP4: R $c->[3]");
}
near(row('Llama-3.1-70B', '--tp 4 --tokens 14848 --speedup 2.8')->{ratio}, 0.78, 0.1, '70B TP4, the load path 2.8x as fast: R 0.78');
is(row('Llama-3.1-70B', '--tp 4 --tokens 14848')->{bytes}, 4640 * 2**20, '70B TP4: 4640 MiB a request');

# --- the formulas by hand ---
my $r = row('Llama-3.1-8B', '--tp 2 --tokens 1024 --bandwidth 100e9 --latency 10us --gap 5us --depth 4 --rings 2 --cmd-bytes 64k --object-overhead 1ms --gpu-peak 100e12 --utilisation 0.5 --recompute-overhead 0s --params 8e9');
my ($bytes, $cmds, $objects) = (4 * 2**25, 4 * 512, 8);
near($r->{load_s}, $cmds * (10e-6 + 65536 / 100e9 + 5e-6) / 8 + $objects * 1e-3 / 2, 1e-9, 'load: waiting, and for each object');
near($r->{recompute_s}, (2 * 8e9 * 1024 + 4 * 32 * 4096 * 1024**2 / 2) / (2 * 100e12 * 0.5), 1e-9, 'recompute: weights and attention');
is($r->{bound}, 'waiting', '... bound by waiting');
$r = row('Llama-3.1-8B', '--tokens 1024 --bandwidth 10e9 --depth 1000');
near($r->{load_s}, $bytes / 10e9, 1e-9, 'load: not faster than the device');
is($r->{bound}, 'device', '... bound by the device');
$r = row('Llama-3.1-8B', '--tokens 1024 --bandwidth 10e9 --depth 1000 --ring-bandwidth 2GB --rings 2');
near($r->{load_s}, $bytes / 4e9, 1e-9, 'load: not faster than its rings');
near(row('gpt-oss-20b', '--tokens 1024')->{attention_flops}, 4 * 64 * 64 * (12 * 1024**2 / 2 + 12 * (128 * 1024 - 128**2 / 2)), 1e-9,
	'attention: layers with a window look back no further');
is(row('DeepSeek-V3', '--tp 8 --tokens 256')->{bytes}, 8 * 17989632, 'a latent is loaded by every rank');

# --- where R turns ---
my ($status, $j) = model('Llama-3.1-70B', '--tp 4 --tokens 14848');
my $depth = $j->{crossover}{depth};
is((row('Llama-3.1-70B', "--tp 4 --tokens 14848 --depth $depth")->{ratio} <= 1 ? 1 : 0)
	. (row('Llama-3.1-70B', '--tp 4 --tokens 14848 --depth ' . ($depth - 1))->{ratio} > 1 ? 1 : 0), '11', "the depth at which R turns: $depth");
is(defined $j->{crossover}{bandwidth} ? 'a number' : 'none', 'none', 'what does not turn R says so');
is(row($j->{crossover}{model}, '--tp 4 --tokens 14848')->{ratio} < 1 ? 1 : 0, 1, 'the smallest model with R below 1');
($status, $j) = model('Llama-3.1-70B', '--tp 4 --tokens 14848 --depth 8');
near(row('Llama-3.1-70B', '--tp 4 --tokens 14848 --depth 8 --bandwidth', $j->{crossover}{bandwidth} * 1e9)->{ratio}, 1, 1e-6,
	'the bandwidth at which R turns');
my $t;
($status, $t) = text('Llama-3.1-70B', '--tp 4 --tokens 14848');
is(scalar(grep { length > 79 } split /\n/, $t), 0, 'text is less than 80 columns wide');

# --- sweeps, tables ---
($status, $t) = text('Llama-3.1-8B', '--sweep depth=1..16 --csv');
is(join(' ', map { (split /,/)[1] } split /\n/, $t), 'depth 1 2 4 8 16', 'a sweep doubles');
($status, $t) = text('Llama-3.1-8B', '--sweep gap=10us..50us:20us --csv');
is(join(' ', map { (split /,/)[1] } split /\n/, $t), 'gap 1e-05 3e-05 5e-05', '... or steps; times have units');
($status, $j) = model('Llama-3.1-8B', '--sweep tokens=1k..4k');
is(join(' ', map { $_->{tokens} } @{ $j->{rows} }), '1024 2048 4096', '... in JSON');
($status, $j) = model('Llama-3.1-8B', '--sweep tp=1..4:1');
is(join(' ', map { $_->{error} ? 'error' : $_->{tp} } @{ $j->{rows} }), '1 2 error 4', 'a value that cannot be says why');
($status, $j) = model('all', '--tp 4');
is("$status " . scalar @{ $j->{rows} }, '0 40', 'every known model');
($status, $t) = text('all --tp 3');
is(scalar(grep { length > 79 } split /\n/, $t), 0, 'a table is less than 80 columns wide');
is($t =~ /uneven/ ? 1 : 0, 1, '... and says what cannot be');

# --- configs, hostile input ---
open my $f, '>', "$tmp/config.json" or die;
print $f '{"num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256}';
close $f;
($status, $j) = model("$tmp/config.json");
near($j->{rows}[0]{active_parameters}, 8.03e9, 0.001, 'parameters from the dimensions of a config.json');
open $f, '>', "$tmp/bare.json" or die;
print $f '{"num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32}';
close $f;
($status, $t) = text("$tmp/bare.json");
is("$status $t", "1 kvio model: no figure: the number of parameters is not known: give --params\n", 'no parameters: none are invented');
for my $bad ('--bandwidth 0', '--bandwidth -1', '--bandwidth nan', '--bandwidth inf', '--bandwidth 1x', '--utilisation x', '--sweep depth',
	'--sweep depth=4..1', '--sweep depth=1..1e30:1', '--sweep colour=1..2', '--tp 0', '--json --csv', '--dtype int4', 'all --sweep depth=1..2') {
	($status) = text("Llama-3.1-8B $bad");
	is($status, 2, "usage: $bad");
}
for my $bad ('--depth 0', '--rings 0', '--cmd-bytes 0', '--utilisation 1.5', '--tokens 10', '--chunk-tokens 0', '--tokens 18446744073709551615 --chunk-tokens 18446744073709551615') {
	($status, $t) = text("Llama-3.1-8B $bad");
	is($status . ($t =~ tr/\n//), 11, "refused in one line: $bad");
}
($status) = text('');
is($status, 2, 'usage: no model');

print "1..$n\n";
exit($failed ? 1 : 0);
