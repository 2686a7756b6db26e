#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Compares two dumps (see pftdump.pl): what a timeline must show, and what ours
# shows.  Prints each difference; the status is 1 when there is one.
# usage: golden_cmp.pl EXPECTED GOT [RULE...]
#
# The expected dumps come from the older converter.  Where it is known to be
# wrong the expectation is put right first:
#   - times count from the earliest thing drawn, so they move by the difference
#     of the bases, and the first objects begin where they began (their
#     op_latency_ms kept it); buckets are counted again from the slices
#   - an arrow that leads from an object to nothing is not expected
#   - what did not go well is on a track of its own, which the older converter has not
# Rules for single cases:
#   reissued      first attempts (no duration of their own) are no commands
#   any-lane      lanes differ: commands are compared by role, and must not touch
#   starts        commands without a completion: their length is not compared
#   lat=EBPF      the length of a command is the lat_ns of its completion in that capture
#   lba=N         the LBA size is N
#   headers=N     with LBAs of N bytes, which the older converter did not use, writes at the slot are headers
#   window=BASE   a part: times counted from BASE; counters and activity are those of what is drawn; there
#                 is a capture_info; tracks without slices are not expected
use strict;
use warnings;

my ($want_file, $got_file, @rules) = @ARGV;
my %rule = map { my ($k, $v) = split /=/, $_, 2; ($k => $v // 1) } @rules;
my $errors = 0;

sub differ { print "$_[0]\n" if $errors++ < 20 }

sub parse {
	my ($file) = @_;
	my ($path, %d);
	open my $f, '<', $file or die "$file: $!\n";
	while (<$f>) {
		chomp;
		if (/^T (.*) \| ?(.*)$/) {
			push @{ $d{tracks} }, [ $1, $2 ] unless $1 =~ m{/anomalies$};
		} elsif (/^@ (.*?)(  \(counter samples.*\))?$/) {
			$path = $1;
		} elsif (/^C (\d+) (\S+)$/) {
			push @{ $d{counter}{$path} }, [ $1, $2 ];
		} elsif (/^([SI]) (\d+) (\d+) d(\d+) (.*?) \{(.*)\}((?: [<>]\d+)*)$/) {
			my %s = (kind => $1, ts => $2, dur => $3, depth => $4, name => $5, path => $path);
			my ($args, $flows) = ($6, $7);
			$s{args} = [ split /,(?=\w+=(?:uint|int|bool|double|string):)/, $args ];
			$s{arg} = { map { my ($k, $v) = split /=/, $_, 2; $v =~ s/^\w+://; ($k => $v) } @{ $s{args} } };
			push @{ $s{flow} }, [ $1, $2 ] while $flows =~ / ([<>])(\d+)/g;
			push @{ $d{slice}{$path} }, \%s unless $path =~ m{/anomalies$};
		} elsif (/^[K#]/) {
			next;
		} else {
			die "$file: not understood: $_\n";
		}
	}
	return \%d;
}

my ($want, $got) = (parse($want_file), parse($got_file));

sub label { return $_[0] =~ m{^(?:LMCache|Serving) ([^/]*)} ? $1 : $_[0] =~ m{^NVMe \S+ ([^/]*)} ? $1 : '' }
sub is_command { return $_[0]{path} =~ m{/IO activity/} }
sub is_object { return $_[0]{path} =~ m{/objects/objects\.} }
sub role { my $p = $_[0]; $p =~ s{/\w+\.\d+$}{}; return $p }
sub all_slices { return map { @{ $_[0]{slice}{$_} } } sort keys %{ $_[0]{slice} } }

# ---- the expectation, put right ----

my %base;
for my $d ($want, $got) {
	for (grep { $_->{name} eq 'capture_info' } all_slices($d)) {
		my $applied = $_->{arg}{rebased} eq 'True';
		push @{ $base{ label($_->{path}) } }, [ $_->{arg}{base_ns}, $applied ];
	}
}
if ($rule{window}) { unshift @{ $base{$_} }, [ $rule{window}, 1 ] for map { label($_->[0]) } $want->{tracks}[0] }
my %moved;	# by label
for (keys %base) {
	my ($w, $g) = @{ $base{$_} };
	differ("no capture_info for '$_'"), next unless $g;
	differ("base of '$_' is later: $g->[0], older $w->[0]") if $g->[0] > $w->[0];
	$moved{$_} = $w->[1] ? $w->[0] - $g->[0] : 0;
}

my %lat;
if ($rule{lat}) {
	open my $f, '<', $rule{lat} or die "$rule{lat}: $!\n";
	while (<$f>) { $lat{$2 - $1} = $1 if /"nvme_cmp".*"lat_ns":(\d+).*"ts":(\d+)/ }
}
my %commands_of;
for my $path (keys %{ $want->{slice} }) {
	my $d = $moved{ label($path) } // 0;
	my @kept;
	for my $s (@{ $want->{slice}{$path} }) {
		next if $rule{reissued} && is_command($s) && $s->{arg}{real_dur} eq 'False';
		my $end = $s->{ts} + $s->{dur} + $d;
		$s->{ts} += $d unless $s->{path} =~ m{/IO activity$} || $s->{name} eq 'capture_info';
		if (is_object($s)) {
			$s->{dur} = sprintf '%.0f', $s->{arg}{op_latency_ms} * 1e6;
			$s->{ts} = $end - $s->{dur};
		}
		$s->{ts} = $base{ label($path) }[1][0] if $s->{name} eq 'capture_info' && $s->{arg}{rebased} eq 'False';
		if ($rule{lat} && is_command($s) && $s->{arg}{real_dur} eq 'True') {
			my $abs = $s->{ts} + $base{ label($path) }[1][0];
			$s->{dur} = $lat{$abs} // differ("no completion of the command at $abs");
		}
		push @{ $commands_of{ label($path) } }, $s if is_command($s);
		push @kept, $s;
	}
	$want->{slice}{$path} = \@kept;
}

if ($rule{headers}) {
	my %slot;
	for (grep { is_object($_) } all_slices($want)) { $slot{ $_->{arg}{trace_id} } = $_->{arg}{slot_offset} }
	for my $s (map { @$_ } values %commands_of) {
		next unless ($s->{arg}{role} // '') eq 'payload' && $s->{arg}{slba} * $rule{headers} == $slot{ $s->{arg}{trace_id} };
		s/^role=string:payload$/role=string:header/ for @{ $s->{args} };
	}
}
if ($rule{window}) {
	my %used = map { $_->{path} => 1 } all_slices($want);
	@{ $want->{tracks} } = grep { $used{ $_->[0] } || $_->[0] !~ m{/(writes|reads|other|untagged)$} } @{ $want->{tracks} };
	my ($info) = grep { $_->{name} eq 'capture_info' } all_slices($got);
	push @{ $want->{slice}{ $info->{path} } }, $info if $info;
	$want->{counter}{"$want->{tracks}[1][0]/IO activity/MB/s"} //= [];
}

# Arrows: object, first command, last command.
sub arrows {
	my ($d) = @_;
	my (%of, @out);
	for my $s (all_slices($d)) { push @{ $of{"$_->[1]"} }, [ $s, $_->[0] ] for @{ $s->{flow} // [] } }
	for my $flow (values %of) {
		# The object begins no later than its commands; at one time it comes first.
		my @s = sort { $a->[0]{ts} <=> $b->[0]{ts} || is_object($b->[0]) <=> is_object($a->[0]) || $a->[0]{arg}{slba} <=> $b->[0]{arg}{slba} } @$flow;
		next if @s == 1;
		push @out, join ' -> ', map { $_->[1] . $_->[0]{name} . ' ' . ($_->[0]{arg}{slba} // $_->[0]{arg}{trace_id}) } @s;
	}
	return join "\n", sort @out;
}
if ($rule{reissued}) {
	# The arrows of the commands that are left.
	my %by_id;
	push @{ $by_id{ $_->{arg}{trace_id} } }, $_ for sort { $a->{ts} <=> $b->{ts} } map { @$_ } values %commands_of;
	for my $s (all_slices($want)) {
		next unless is_object($s);
		my @c = @{ $by_id{ $s->{arg}{trace_id} } };
		$_->{flow} = [] for @c;
		$c[0]{flow} = [ [ '>', $s->{arg}{trace_id} ] ] if @c > 1;
		$c[-1]{flow} = [ [ '<', $s->{arg}{trace_id} ] ];
		$s->{flow} = [ [ '>', $s->{arg}{trace_id} ] ];
		s/^n_cmds=uint:\d+/'n_cmds=uint:' . @c/e for @{ $s->{args} };
	}
}

# Counters that follow from slices.
sub samples_in_flight {
	my (@change, @out) = ();
	for (@_) { push @change, [ $_->{ts}, 1 ], [ $_->{ts} + $_->{dur}, -1 ] }
	my $n = 0;
	for (sort { $a->[0] <=> $b->[0] || $a->[1] <=> $b->[1] } @change) { push @out, [ $_->[0], $n += $_->[1] ] }
	return \@out;
}
sub samples_in_buckets {
	my ($width, $value, @commands) = @_;
	my (%sum, @out);
	$sum{ int($_->{ts} / $width) } += $value ? $_->{arg}{data_len} : 1 for @commands;
	for (sort { $a <=> $b } keys %sum) {
		push @out, [ $_ * $width, $value ? $sum{$_} * 1e-4 : $sum{$_} ];
		push @out, [ ($_ + 1) * $width, 0 ] unless exists $sum{ $_ + 1 };
	}
	return \@out;
}
for my $path (keys %{ $want->{counter} }) {
	my $l = label($path);
	my @c = @{ $commands_of{$l} // [] };
	my $d = $moved{$l} // 0;
	if ($path =~ m{slba$}) {
		$_->[0] += $d for @{ $want->{counter}{$path} };
		next unless $rule{reissued};
		my $op = $path =~ /writes/ ? 'write' : 'read';
		$want->{counter}{$path} = [ map { [ $_->{ts}, $_->{arg}{slba} ] } grep { $_->{name} eq $op } @c ];
	} elsif ($path =~ m{objects in flight$}) {
		$want->{counter}{$path} = samples_in_flight(grep { is_object($_) && label($_->{path}) eq $l } all_slices($want));
	} elsif ($d || $rule{reissued} || $rule{window}) {
		$want->{counter}{$path} = samples_in_buckets($path =~ m{cmds/ms$} ? (1000000, 0) : (10000000, 1), @c);
	}
}
for my $path (grep { m{/IO activity$} } keys %{ $want->{slice} }) {
	my $l = label($path);
	next unless $moved{$l} || $rule{reissued} || $rule{window};
	my %bytes;
	my %n;
	for (@{ $commands_of{$l} }) {
		my $b = int($_->{ts} / 1e8);
		$n{$b}++;
		$bytes{$b} += $_->{arg}{data_len};
	}
	my @runs;
	for (sort { $a <=> $b } keys %n) {
		push @runs, [ $_, $_, 0, 0 ] unless @runs && $runs[-1][1] == $_ - 1;
		$runs[-1][1] = $_;
		$runs[-1][2] += $n{$_};
		$runs[-1][3] += $bytes{$_};
	}
	$want->{slice}{$path} = [
		map {
			my $dur = ($_->[1] - $_->[0] + 1) * 1e8;
			{ kind => 'S', ts => $_->[0] * 1e8, dur => $dur, depth => 0, path => $path,
				name => sprintf('%.1f GB', $_->[3] / 1e9), args => [ "cmds=uint:$_->[2]", "bytes=uint:$_->[3]",
				'gbps=double:' . $_->[3] / $dur ], arg => {} }
		} @runs
	];
}

# ---- the comparison ----

sub same_value {
	my ($w, $g) = @_;
	return 1 if $w eq $g;
	return 0 unless $w =~ /^(\w+)=double:(.*)/;
	my ($name, $x) = ($1, $2);
	return 0 unless $g =~ /^\Q$name\E=double:(.*)/;
	return abs($x - $1) <= 1e-9 * abs($x) + ($name =~ /^(op_latency_)?ms$/ ? 4e-6 : 0);
}
sub show { my $s = $_[0]; return "$s->{path}: $s->{kind} $s->{ts} $s->{dur} d$s->{depth} $s->{name} {" . join(',', @{ $s->{args} }) . '}' }
sub same_args {
	my ($w, $g) = @_;
	my @g = @{ $g->{args} };
	for (@{ $w->{args} }) {
		my $have = shift @g;
		next if /^(applied_)?base_ns=|^(sem|ebpf)_file=/;
		$_ = "lba_bytes=uint:$rule{lba}" if $rule{lba} && /^lba_bytes=/;
		return 0 unless defined $have && same_value($_, $have);
	}
	# What comes behind the expected ones is ours.
	return 1;
}
sub compare_slices {
	my ($where, $w, $g) = @_;
	my $slack = $where =~ m{/objects/|capture info|^Serving } ? 2 : 0;
	my $by = sub { $_[0]{ts} <=> $_[1]{ts} || ($_[0]{arg}{slba} // 0) <=> ($_[1]{arg}{slba} // 0) || $_[0]{dur} <=> $_[1]{dur} };
	my @w = sort { $by->($a, $b) } @$w;
	my @g = sort { $by->($a, $b) } grep { $_->{name} !~ /^(CQ overflow|LOSSY|INCOMPLETE)$/ } @$g;
	differ("$where: " . @g . ' slices, expected ' . @w) if @w != @g;
	while (@w && @g) {
		my ($x, $y) = (shift @w, shift @g);
		my $long = $rule{starts} && ($x->{arg}{real_dur} // '') eq 'False';
		my $ok = $x->{kind} eq $y->{kind} && $x->{name} eq $y->{name} && abs($x->{ts} - $y->{ts}) <= $slack &&
			($long || abs($x->{dur} - $y->{dur}) <= 2 * $slack) && ($long || $x->{depth} == $y->{depth}) && same_args($x, $y);
		differ("expected " . show($x) . "\n     got " . show($y)) unless $ok;
	}
}

my $lane = qr{/(writes|reads|other|untagged)\.\d+$};
my $by_role = $rule{'any-lane'} || $rule{reissued} || $rule{starts} || $rule{lat};
my @wt = map { "$_->[0] | $_->[1]" } @{ $want->{tracks} };
my @gt = map { "$_->[0] | $_->[1]" } @{ $got->{tracks} };
if ($by_role) {
	for (\@wt, \@gt) {
		@$_ = grep { !m{/(writes|reads|other|untagged)\.\d+ \|} } @$_;
		s{(/(writes|reads|other|untagged) \| rank=\d+) children=EXPLICIT$}{$1} for @$_;
	}
}
differ("tracks\nexpected " . join("\n         ", @wt) . "\ngot      " . join("\n         ", @gt)) if "@wt" ne "@gt";

my (%w, %g);
for ([ $want, \%w ], [ $got, \%g ]) {
	my ($d, $to) = @$_;
	for my $s (all_slices($d)) { push @{ $to->{ $by_role && $s->{path} =~ $lane ? role($s->{path}) : $s->{path} } }, $s }
}
compare_slices($_, $w{$_} // [], $g{$_} // []) for sort keys %{ { %w, %g } };

# Slices of one track neither overlap nor touch; only a run of IO activity may.
for my $path (keys %{ $got->{slice} }) {
	my $end = -1;
	for my $s (grep { $_->{kind} eq 'S' } @{ $got->{slice}{$path} }) {
		differ('touches the one before: ' . show($s)) if $s->{ts} <= $end;
		differ('is nested: ' . show($s)) if $s->{depth};
		$end = $s->{ts} + $s->{dur};
	}
}

for my $path (sort keys %{ { %{ $want->{counter} // {} }, %{ $got->{counter} // {} } } }) {
	my $order = sub { $_[0][0] <=> $_[1][0] || ($path =~ /slba/ ? $_[0][1] <=> $_[1][1] : 0) };
	my @x = sort { $order->($a, $b) } @{ $want->{counter}{$path} // [] };
	my @y = sort { $order->($a, $b) } @{ $got->{counter}{$path} // [] };
	differ("$path: " . @y . ' samples, expected ' . @x) if @x != @y;
	my $slack = $path =~ /in flight/ ? 4 : 0;
	while (@x && @y) {
		my ($a, $b) = (shift @x, shift @y);
		differ("$path: got $b->[0] $b->[1], expected $a->[0] $a->[1]")
			if abs($a->[0] - $b->[0]) > $slack || abs($a->[1] - $b->[1]) > 1e-9 * abs($a->[1]);
	}
}

my ($x, $y) = (arrows($want), arrows($got));
differ("arrows\nexpected $x\ngot      $y") if $x ne $y;

print "and ", $errors - 20, " more\n" if $errors > 20;
exit($errors ? 1 : 0);
