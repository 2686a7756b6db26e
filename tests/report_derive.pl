#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The figures of a capture, worked out from its lines by another program than
# ours: what `kvio report --json --percentile floor` must say.  Prints JSON.
# usage: report_derive.pl [--key | --place] [SEMANTIC.jsonl] [CAPTURE.jsonl]
# --key ties commands to objects by key_hex; --place by LBA range and time.
use strict;
use warnings;
use JSON::PP;

my $how = @ARGV && $ARGV[0] =~ /^--(key|place)$/ ? do { shift; $1 } : 'id';
my (@cmd, @cmp, @op, $lba);
for my $file (@ARGV) {
	open my $f, '<', $file or die "$file: $!\n";
	while (<$f>) {
		# Times have 9 decimals: read them as text, doubles do not hold them.
		my %ns;
		while (/"(ts|ts_start)":\s*(\d+)\.(\d{1,9})/g) { $ns{$1} = $2 * 1_000_000_000 + substr($3 . '0' x 9, 0, 9) }
		my $r = eval { decode_json($_) } or next;
		my $event = $r->{event_type} // '';
		if ($event eq 'nvme_cmd') { push @cmd, { %$r, line => $. } }
		elsif ($event eq 'nvme_cmp') { push @cmp, $r }
		elsif (defined $r->{trace_id} && defined $r->{op}) {
			push @op, { %$r, end => $ns{ts} // $r->{ts} * 1_000_000_000, start => $ns{ts_start} };
		}
	}
}

# ---- completions: to the command that was submitted lat_ns before, of the same identity ----
my %waiting;
sub identity { defined $_[0]{user_data} ? "u$_[0]{user_data}" : "q$_[0]{hwq}/$_[0]{cid}" }
push @{ $waiting{ identity($_) . '@' . $_->{ts} } }, $_ for @cmd;
for my $c (@cmp) {
	my $w = $waiting{ identity($c) . '@' . ($c->{ts} - $c->{lat_ns}) };
	next unless $w && @$w;
	my $m = shift @$w;
	@$m{qw(lat err)} = ($c->{lat_ns}, $c->{err} || $c->{status} || 0);
}
# A command without one, of which the same comes again, was turned away and issued again.
@cmd = sort { $a->{ts} <=> $b->{ts} || $a->{line} <=> $b->{line} } @cmd;
my %next;
for my $c (reverse @cmd) {
	next unless defined $c->{user_data};
	my $n = $next{ $c->{user_data} };
	if (!defined $c->{lat} && $n && defined $n->{lat} && ($n->{slba} // -1) == ($c->{slba} // -1)) {
		$c->{again} = 1;
		$n->{submitted} = $c->{ts};
	}
	$next{ $c->{user_data} } = $c;
}
# Under a foreign cookie: the worker of a thread completes a command twice, and one of the thread is left over.
my %seen;
for my $c (@cmd) {
	next unless defined $c->{lat} && defined $c->{user_data};
	my $twin = $seen{"$c->{user_data}/" . ($c->{slba} // '')};
	$seen{"$c->{user_data}/" . ($c->{slba} // '')} = $c;
	next unless $twin;
	for my $w ($c, $twin) {
		my ($owner) = ($w->{comm} // '') =~ /^iou-wrk-(\d+)/ or next;
		my ($first) = grep { !defined $_->{lat} && !$_->{again} && $_->{tid} == $owner && $_->{ts} < $w->{ts} } @cmd;
		$first->{again} = 1 if $first;
		last;
	}
}
@cmd = grep { !$_->{again} } @cmd;

# ---- objects ----
@op = sort { $a->{end} <=> $b->{end} } @op;
my $tagged = 0;
my ($blk) = map { $_->{bytes} / $_->{nlb} } grep { $_->{nlb} && $_->{bytes} } @cmd;
sub way { $_[0] =~ /^(read|retrieve|load)$/ ? 'load' : $_[0] =~ /^(write|store)$/ ? 'store' : '' }
for my $c (@cmd) {
	my @of;
	my $id = int(($c->{user_data} // 0) / 4294967296);
	if ($how eq 'key') {
		next unless defined $c->{key_hex};
		@of = grep { lc($_->{key_hex} // unpack('H*', $_->{key})) eq lc $c->{key_hex} && $_->{op} eq way($c->{op_name}) } @op;
	} elsif ($how eq 'place') {
		next unless defined $c->{slba};
		my $at = $c->{slba} * $blk;
		@of = grep {
			defined $_->{slot_offset} && $at >= $_->{slot_offset} && $at < $_->{slot_offset} + $_->{bytes} + 4096
				&& $c->{ts} >= ($_->{start} // $_->{end}) - 5e6 && $c->{ts} <= $_->{end} + 5e6 && $_->{op} eq way($c->{op_name})
		} @op;
		my ($inside) = grep { $c->{ts} >= ($_->{start} // $_->{end}) && $c->{ts} <= $_->{end} } @of;
		@of = ($inside) if $inside;
	} else {
		$c->{group} = $id if $id;
		@of = grep { $_->{trace_id} == $id } @op if $id;
	}
	# Of several with one id, the first that ends at or after the command.
	my ($o) = grep { $_->{end} >= $c->{ts} } @of;
	$o //= $of[-1];
	if ($o) { push @{ $o->{cmds} }, $c; $c->{group} = $o; $c->{op} = $o }
	$tagged++ if $c->{group};
}
my @pool = $tagged ? grep { $_->{group} } @cmd : @cmd;

# ---- figures ----
sub pct { my ($q, @v) = @_; @v = sort { $a <=> $b } @v; return $v[ $#v < int($q * @v / 100) ? $#v : int($q * @v / 100) ] }
sub sum { my $s = 0; $s += $_ for @_; return $s }
sub bytes { $_[0]{data_len} // $_[0]{bytes} }

my %out = (commands => { n => scalar @cmd, tagged => $tagged, untagged => @cmd - $tagged });
$out{commands}{tagged_bytes} = $tagged ? sum(map { bytes($_) } @pool) : 0;
if (@cmd) {
	my ($last) = sort { $b <=> $a } map { $_->{ts} + ($_->{lat} // 0) } @cmd;
	my $wall = $last - $cmd[0]{ts};
	$out{commands}{wall_ns} = $wall;
	$out{commands}{real_cover} = (grep { defined $_->{lat} } @cmd) / @cmd;
	$out{throughput_gbs} = sum(map { bytes($_) } grep { !$_->{err} } @pool) / $wall if $wall;
}
for my $op (qw(write read)) {
	my @lat = map { $_->{lat} } grep { defined $_->{lat} && !$_->{err} && $_->{op_name} eq $op } @pool;
	$out{"lat_$op"} = { p50 => pct(50, @lat), p99 => pct(99, @lat) } if @lat;
}
my %group;
push @{ $group{ $_->{group} } }, $_ for grep { $_->{group} } @cmd;
my %gap;
for my $g (values %group) {
	next if @$g < 4;
	my @at = sort { $a <=> $b } map { $_->{submitted} // $_->{ts} } @$g;
	push @{ $gap{ way($g->[0]{op_name}) || 'store' } }, map { $at[$_] - $at[ $_ - 1 ] } 1 .. $#at;
}
$out{qd1}{$_} = { gap_p50 => pct(50, @{ $gap{$_} }), gap_p95 => pct(95, @{ $gap{$_} }) } for keys %gap;

my @batch;
for my $i (0 .. $#pool) {
	if (!$i || $pool[$i]{ts} - $pool[ $i - 1 ]{ts} > 50_000) { push @batch, 1 } else { $batch[-1]++ }
}
$out{batches} = { n => scalar @batch };
@{ $out{batches} }{qw(size_p50 size_p95)} = (pct(50, @batch), pct(95, @batch)) if @batch;

my (%span, %eff, %before, %n);
for my $o (@op) {
	next if $o->{error};
	my @c = @{ $o->{cmds} // [] };
	my ($begin, $end) = ($o->{start}, $o->{end});
	$begin = $c[0]{ts} if @c && (!defined $begin || $c[0]{ts} < $begin);
	$end = $c[-1]{ts} if @c && $c[-1]{ts} > $end;
	next if !defined $begin || (!@c && $begin >= $end);
	$n{ $o->{op} }++;
	push @{ $span{ $o->{op} } }, $end - $begin;
	push @{ $eff{ $o->{op} } }, $o->{bytes} * 1000 / ($end - $begin) if $end > $begin;
	push @{ $before{ $o->{op} } }, $c[0]{ts} - $begin if @c && defined $o->{start};
}
for my $op (keys %n) {
	$out{objects}{$op} = { n => $n{$op}, span_p50 => pct(50, @{ $span{$op} }), span_p99 => pct(99, @{ $span{$op} }) };
	$out{objects}{$op}{eff_mbs_p50} = $eff{$op} ? pct(50, @{ $eff{$op} }) : undef;
	$out{objects}{$op}{presubmit_p50} = $before{$op} ? pct(50, @{ $before{$op} }) : undef;
}
$out{failed_ops} = grep { $_->{error} } @op;

my ($reuse, $follows, $headers, $prev, %lbas) = (0, 0, 0);
for my $c (grep { ($_->{op_name} eq 'write' || $_->{op_name} eq 'store') && defined $_->{slba} } @pool) {
	$reuse++ if $lbas{ $c->{slba} }++;
	$follows++ if $prev && $prev->{slba} + $prev->{nlb} == $c->{slba};
	my $o = $c->{op};
	$headers++ if $o && $o->{op} eq 'store' && defined $o->{slot_offset} && $o->{slot_offset} == $c->{slba} * $blk;
	$prev = $c;
	$n{writes}++;
}
$out{space} = { lba_reuse => $reuse, seq_pct => $n{writes} > 1 ? $follows / ($n{writes} - 1) : 0, header_cmds => $headers }
	if $n{writes};
print JSON::PP->new->canonical->pretty->encode({ capture => \%out });
