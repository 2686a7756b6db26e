#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Prints a Perfetto trace as sorted, comparable text.  A reader of its own, so
# that it can contradict the writer: interning, packet defaults, delta clocks,
# extra counter values, plain or gzip.  usage: pftdump.pl TRACE
#   T path | attributes              tracks, in the order of the file
#   @ path                           then, for each track with events:
#   S ts dur dDEPTH name {args} >flow <flow     slices (I: instants)
#   C ts value                                  counter samples
# It dies on what an importer would drop or repair: time that runs backwards,
# an end without a begin, a slice that is left open, an unknown interned id.
use strict;
use warnings;

my $path = shift or die "usage: pftdump.pl TRACE\n";
my $data = do {
	local $/;
	my $open = $path =~ /\.gz$/ ? "gzip -dc '$path' |" : "< $path";
	open my $f, $open or die "$path: $!\n";
	binmode $f;
	<$f>;
};

# The fields of a message: [number, wire type, value], ...
sub fields {
	my ($b) = @_;
	my ($i, $n, @out) = (0, length $b);
	my $varint = sub {
		my ($v, $shift) = (0, 0);
		while (1) {
			die "cut varint\n" if $i >= $n;
			my $c = ord substr $b, $i++, 1;
			$v |= ($c & 0x7f) << $shift;
			return $v if $c < 0x80;
			$shift += 7;
		}
	};
	while ($i < $n) {
		my $key = $varint->();
		my $wire = $key & 7;
		my $v;
		if ($wire == 0) {
			$v = $varint->();
		} elsif ($wire == 1) {
			$v = substr $b, $i, 8;
			$i += 8;
		} elsif ($wire == 2) {
			my $len = $varint->();
			die "cut field\n" if $i + $len > $n;
			$v = substr $b, $i, $len;
			$i += $len;
		} else {
			die "wire type $wire\n";
		}
		push @out, [ $key >> 3, $wire, $v ];
	}
	return @out;
}

sub first {
	my ($number, @f) = @_;
	for (@f) { return $_->[2] if $_->[0] == $number }
	return undef;
}

sub signed { return unpack 'q', pack 'Q', $_[0] }
sub double { return unpack 'd<', $_[0] }

my (%track, @order, %slices, %counters, %open, %flow_of);
my %name = map { $_ => {} } 2, 3, 29;	# interned: events, annotations, strings
my ($now, $clock, $valid, $events) = (0, 0, 0, 0);
my $last = 0;

sub interned {
	my ($kind, $iid) = @_;
	die "interned id $iid of kind $kind is not known\n" unless defined $name{$kind}{$iid};
	return $name{$kind}{$iid};
}

sub descriptor {
	my @f = fields($_[0]);
	my $uuid = first(1, @f);
	my $process = first(3, @f);
	my $counter = first(8, @f);
	my %t = (name => first(2, @f), parent => first(5, @f) // 0, attr => '');
	if (defined $process) {
		my @p = fields($process);
		$t{name} = first(6, @p);
		$t{attr} = 'process pid=' . first(1, @p);
	}
	$t{attr} .= "counter unit='" . first(6, fields($counter)) . "'" if defined $counter;
	my $rank = first(12, @f);
	$t{attr} .= ($t{attr} ? ' ' : '') . 'rank=' . signed($rank) if defined $rank;
	$t{attr} .= ($t{attr} ? ' ' : '') . 'children=EXPLICIT' if (first(11, @f) // 0) == 3;
	$t{counter} = defined $counter;
	die "track $uuid is declared twice\n" if $track{$uuid};
	die "track $uuid comes before its parent\n" if $t{parent} && !$track{ $t{parent} };
	$track{$uuid} = \%t;
	push @order, $uuid;
}

sub annotation {
	my ($name, $value);
	for (fields($_[0])) {
		my ($f, $w, $v) = @$_;
		if ($f == 1) { $name = interned(3, $v) }
		elsif ($f == 2) { $value = 'bool:' . ($v ? 'True' : 'False') }
		elsif ($f == 3) { $value = "uint:$v" }
		elsif ($f == 4) { $value = 'int:' . signed($v) }
		elsif ($f == 5) { $value = sprintf 'double:%.17g', double($v) }
		elsif ($f == 6) { $value = "string:$v" }
		elsif ($f == 17) { $value = 'string:' . interned(29, $v) }
		else { die "annotation field $f\n" }
	}
	return "$name=$value";
}

sub counter {
	my ($uuid, $value) = @_;
	die "a sample on track $uuid, which is no counter\n" unless $track{$uuid} && $track{$uuid}{counter};
	push @{ $counters{$uuid} }, [ $now, $value ];
}

sub event {
	my ($type, $uuid, $name, @args, @flow, @end, @extra_track, @extra_value) = (0, 0, '');
	for (fields($_[0])) {
		my ($f, $w, $v) = @$_;
		if ($f == 9) { $type = $v }
		elsif ($f == 11) { $uuid = $v }
		elsif ($f == 10) { $name = interned(2, $v) }
		elsif ($f == 4) { push @args, annotation($v) }
		elsif ($f == 30) { counter($uuid, signed($v)) }
		elsif ($f == 44) { counter($uuid, double($v)) }
		elsif ($f == 47) { push @flow, unpack 'Q<', $v }
		elsif ($f == 48) { push @end, unpack 'Q<', $v }
		elsif ($f == 31) { push @extra_track, $v }
		elsif ($f == 12) { push @extra_value, signed($v) }
		else { die "event field $f\n" }
	}
	$events++;
	counter($extra_track[$_], $extra_value[$_]) for 0 .. $#extra_value;
	return if $type == 4;
	die "a slice on track $uuid, which holds none\n" if !$track{$uuid} || $track{$uuid}{counter};
	my $stack = $open{$uuid} //= [];
	if ($type == 1 || $type == 3) {
		my %s = (ts => $now, dur => 0, depth => scalar @$stack, kind => $type == 1 ? 'S' : 'I', name => $name,
			args => '{' . join(',', @args) . '}', flow => \@flow, end => \@end);
		push @{ $slices{$uuid} }, \%s;
		push @$stack, \%s if $type == 1;
	} elsif ($type == 2) {
		my $s = pop @$stack or die "an end without a begin on track $uuid at $now\n";
		$s->{dur} = $now - $s->{ts};
	} else {
		die "event type $type\n";
	}
}

sub packet {
	my @f = fields($_[0]);
	my $flags = first(13, @f) // 0;
	if ($flags & 1) {
		%name = map { $_ => {} } 2, 3, 29;
		$valid = 1;
	}
	die "a packet that needs state before there is any\n" if ($flags & 2) && !$valid;
	for (@f) {
		next unless $_->[0] == 12;
		for (fields($_->[2])) {
			my @i = fields($_->[2]);
			die "interned kind $_->[0]\n" unless $name{ $_->[0] };
			$name{ $_->[0] }{ first(1, @i) } = first(2, @i);
		}
	}
	if (defined(my $defaults = first(59, @f))) { $clock = first(58, fields($defaults)) }
	if (defined(my $snapshot = first(6, @f))) {
		for (fields($snapshot)) {
			next unless $_->[0] == 1;
			my @c = fields($_->[2]);
			$last = first(2, @c) if first(1, @c) == 64;
			printf "K clock %d at %d%s\n", first(1, @c), first(2, @c), first(3, @c) ? ' incremental' : '';
		}
	}
	if (defined(my $d = first(60, @f))) { descriptor($d) }
	if (defined(my $e = first(11, @f))) {
		die "an event without a time\n" unless defined first(8, @f);
		die "clock $clock\n" unless $clock == 64;
		$last += first(8, @f);
		$now = $last;
		die "time $now is negative\n" if signed($now) < 0;
		event($e);
	}
}

for (fields($data)) {
	die "field $_->[0] in the trace\n" unless $_->[0] == 1;
	packet($_->[2]);
}
for (keys %open) { die "$track{$_}{name}: a slice is left open\n" if @{ $open{$_} } }

sub full {
	my ($uuid) = @_;
	my $t = $track{$uuid};
	return $t->{parent} ? full($t->{parent}) . "/$t->{name}" : $t->{name};
}

# Flows are numbered by their first use in time.
my %number;
for my $s (sort { $a->{ts} <=> $b->{ts} } map { @$_ } values %slices) {
	$number{$_} //= 1 + keys %number for @{ $s->{flow} }, @{ $s->{end} };
}
print "# tracks ", scalar @order, " events $events flows ", scalar(keys %number), "\n";
for (@order) { printf "T %s | %s\n", full($_), $track{$_}{attr} }
for my $uuid (@order) {
	printf "@ %s\n", full($uuid);
	for (@{ $counters{$uuid} }) {
		printf "C %s %s\n", $_->[0], $_->[1] =~ /^-?\d+$/ ? $_->[1] : sprintf '%.17g', $_->[1];
	}
	for my $s (@{ $slices{$uuid} }) {
		printf "%s %s %s d%d %s %s%s%s\n", $s->{kind}, $s->{ts}, $s->{dur}, $s->{depth}, $s->{name}, $s->{args},
			join('', map { " >$number{$_}" } @{ $s->{flow} }), join('', map { " <$number{$_}" } @{ $s->{end} });
	}
}
