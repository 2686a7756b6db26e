# SPDX-License-Identifier: Apache-2.0
# A reader of Perfetto traces for the tests.  It is a reader of its own, so that
# it can contradict the writer: interning, packet defaults, delta clocks, extra
# counter values; plain, gzip or zstd files.
# It dies on what an importer would drop or repair: time that runs backwards, an
# end without a begin, a slice that is left open, an unknown interned id.
package pftrace;
use strict;
use warnings;

# The rest of a number that begins with $v and does not end there: $i is the place behind it, and is moved.
sub rest {
	my ($b, $i, $v) = @_;
	my $shift = 7;
	$v &= 0x7f;
	while (1) {
		die "cut varint\n" if $$i >= length $$b;
		my $c = ord substr $$b, $$i++, 1;
		$v |= ($c & 0x7f) << $shift;
		return $v if $c < 0x80;
		$shift += 7;
	}
}

# The fields of a message: [number, wire type, value], ...  Most numbers are of one byte, which is not worth a call.
sub fields {
	my ($b) = @_;
	my ($i, $n, @out) = (0, length $b);
	while ($i < $n) {
		my $key = ord substr $b, $i++, 1;
		$key = rest(\$b, \$i, $key) if $key >= 0x80;
		my $wire = $key & 7;
		my $v;
		if ($wire == 1) {
			$v = substr $b, $i, 8;
			$i += 8;
		} elsif ($wire == 0 || $wire == 2) {
			die "cut varint\n" if $i >= $n;
			$v = ord substr $b, $i++, 1;
			$v = rest(\$b, \$i, $v) if $v >= 0x80;
		} else {
			die "wire type $wire\n";
		}
		if ($wire == 2) {
			my $len = $v;
			die "cut field\n" if $i + $len > $n;
			$v = substr $b, $i, $len;
			$i += $len;
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

sub contents {
	my ($path) = @_;
	local $/;
	my $open = $path =~ /\.gz$/ ? "gzip -dc '$path' |" : $path =~ /\.zst$/ ? "zstd -dcq '$path' |" : "< $path";
	open my $f, $open or die "$path: $!\n";
	binmode $f;
	return scalar <$f>;
}

# {order} track ids, {track}{id}: name, path, attr, parent, counter
# {slice}{id}: [ { kind ts dur depth name args => [ [name, type, value], ... ] flow end } ... ]
# {counter}{id}: [ [ts, value], ... ], {events}, {clock}: [ [id, ns, incremental], ... ]
sub load {
	my ($path) = @_;
	my %t = (order => [], track => {}, slice => {}, counter => {}, events => 0, clock => []);
	my %name = map { $_ => {} } 2, 3, 29;	# interned: events, annotations, strings
	my ($now, $last, $clock, $valid) = (0, 0, 0, 0);
	my ($default_track, @default_counter) = (0);
	my %open;

	my $interned = sub {
		my ($kind, $iid) = @_;
		die "interned id $iid of kind $kind is not known\n" unless defined $name{$kind}{$iid};
		return $name{$kind}{$iid};
	};
	my $descriptor = sub {
		my @f = fields($_[0]);
		my ($uuid, $process, $counter, $rank) = (first(1, @f), first(3, @f), first(8, @f), first(12, @f));
		my @attr;
		my %d = (name => first(2, @f), parent => first(5, @f) // 0, counter => defined $counter);
		if (defined $process) {
			my @p = fields($process);
			$d{name} = first(6, @p);
			push @attr, 'process pid=' . first(1, @p);
		}
		push @attr, "counter unit='" . first(6, fields($counter)) . "'" if defined $counter;
		push @attr, 'rank=' . signed($rank) if defined $rank;
		push @attr, 'children=EXPLICIT' if (first(11, @f) // 0) == 3;
		die "track $uuid is declared twice\n" if $t{track}{$uuid};
		die "track $uuid comes before its parent\n" if $d{parent} && !$t{track}{ $d{parent} };
		$d{attr} = join ' ', @attr;
		$d{path} = ($d{parent} ? "$t{track}{$d{parent}}{path}/" : '') . $d{name};
		$t{track}{$uuid} = \%d;
		push @{ $t{order} }, $uuid;
	};
	my $annotation = sub {
		my ($arg, $type, $value);
		for (fields($_[0])) {
			my ($f, $w, $v) = @$_;
			if ($f == 1) { $arg = $interned->(3, $v) }
			elsif ($f == 2) { ($type, $value) = ('bool', $v ? 'True' : 'False') }
			elsif ($f == 3) { ($type, $value) = ('uint', $v) }
			elsif ($f == 4) { ($type, $value) = ('int', signed($v)) }
			elsif ($f == 5) { ($type, $value) = ('double', sprintf '%.17g', double($v)) }
			elsif ($f == 6) { ($type, $value) = ('string', $v) }
			elsif ($f == 17) { ($type, $value) = ('string', $interned->(29, $v)) }
			else { die "annotation field $f\n" }
		}
		return [ $arg, $type, $value ];
	};
	my $sample = sub {
		my ($uuid, $value) = @_;
		die "a sample on track $uuid, which is no counter\n" unless $t{track}{$uuid} && $t{track}{$uuid}{counter};
		push @{ $t{counter}{$uuid} }, [ $now, $value ];
	};
	my $event = sub {
		my ($type, $uuid, $text, $value) = (0, $default_track, '');
		my (@args, @flow, @end, @extra_track, @extra_value);
		for (fields($_[0])) {
			my ($f, $w, $v) = @$_;
			if ($f == 9) { $type = $v }
			elsif ($f == 11) { $uuid = $v }
			elsif ($f == 10) { $text = $interned->(2, $v) }
			elsif ($f == 4) { push @args, $annotation->($v) }
			elsif ($f == 30) { $value = signed($v) }
			elsif ($f == 44) { $value = double($v) }
			elsif ($f == 47) { push @flow, unpack 'Q<', $v }
			elsif ($f == 48) { push @end, unpack 'Q<', $v }
			elsif ($f == 31) { push @extra_track, $v }
			elsif ($f == 12) { push @extra_value, signed($v) }
			else { die "event field $f\n" }
		}
		$t{events}++;
		@extra_track = @default_counter unless @extra_track;
		die "more counter values than counters\n" if @extra_value > @extra_track;
		$sample->($extra_track[$_], $extra_value[$_]) for 0 .. $#extra_value;
		if ($type == 4) {
			die "a counter event without a value\n" unless defined $value;
			$sample->($uuid, $value);
			return;
		}
		die "a slice on track $uuid, which holds none\n" if !$t{track}{$uuid} || $t{track}{$uuid}{counter};
		my $stack = $open{$uuid} //= [];
		if ($type == 1 || $type == 3) {
			my %s = (ts => $now, dur => 0, depth => scalar @$stack, kind => $type == 1 ? 'S' : 'I', name => $text,
				args => \@args, flow => \@flow, end => \@end, track => $uuid, path => $t{track}{$uuid}{path});
			push @{ $t{slice}{$uuid} }, \%s;
			push @$stack, \%s if $type == 1;
		} elsif ($type == 2) {
			my $s = pop @$stack or die "an end without a begin on track $uuid at $now\n";
			$s->{dur} = $now - $s->{ts};
		} else {
			die "event type $type\n";
		}
	};
	my $packet = sub {
		my @f = fields($_[0]);
		my $flags = first(13, @f) // 0;
		my $sequence = first(10, @f);
		my $e = first(11, @f);
		if ($flags & 1) {
			%name = map { $_ => {} } 2, 3, 29;
			$valid = 1;
		}
		die "a packet that needs state before there is any\n" if (($flags & 2) || defined $e) && !$valid;
		for (@f) {
			next unless $_->[0] == 12;
			for (fields($_->[2])) {
				my @i = fields($_->[2]);
				die "interned kind $_->[0]\n" unless $name{ $_->[0] };
				$name{ $_->[0] }{ first(1, @i) } = first(2, @i);
			}
		}
		if (defined(my $defaults = first(59, @f))) {
			my @d = fields($defaults);
			my @track_event = fields(first(11, @d) // '');
			$clock = first(58, @d);
			$default_track = first(11, @track_event) // 0;
			@default_counter = map { $_->[2] } grep { $_->[0] == 31 } @track_event;
		}
		if (defined(my $snapshot = first(6, @f))) {
			for (fields($snapshot)) {
				next unless $_->[0] == 1;
				my @c = fields($_->[2]);
				$last = first(2, @c) if first(1, @c) == 64;
				push @{ $t{clock} }, [ first(1, @c), first(2, @c), first(3, @c) ? 1 : 0 ];
			}
		}
		if (defined(my $d = first(60, @f))) { $descriptor->($d) }
		if (defined $e) {
			die "an event without a time or a sequence\n" unless defined first(8, @f) && $sequence;
			die "clock $clock\n" unless $clock == 64;
			$last += first(8, @f);
			$now = $last;
			die "time $now is negative\n" if signed($now) < 0;
			$event->($e);
		}
	};

	for (fields(contents($path))) {
		die "field $_->[0] in the trace\n" unless $_->[0] == 1;
		$packet->($_->[2]);
	}
	for (keys %open) { die "$t{track}{$_}{path}: a slice is left open\n" if @{ $open{$_} } }
	return \%t;
}

# Sorted, comparable text:
#   K clock ID at NS                 the clock snapshot
#   T path | attributes              tracks, in the order of the file
#   @ path                           then, for each track with events:
#   S ts dur dDEPTH name {args} >flow <flow     slices (I: instants)
#   C ts value                                  counter samples
sub dump {
	my ($out, $t) = @_;
	printf $out "K clock %d at %d%s\n", $_->[0], $_->[1], $_->[2] ? ' incremental' : '' for @{ $t->{clock} };

	# Flows are numbered by their first use in time.
	my (%number, $flows);
	for my $s (sort { $a->{ts} <=> $b->{ts} } map { @{ $t->{slice}{$_} // [] } } @{ $t->{order} }) {
		$number{$_} //= ++$flows for @{ $s->{flow} }, @{ $s->{end} };
	}
	print $out '# tracks ', scalar @{ $t->{order} }, " events $t->{events} flows ", scalar(keys %number), "\n";
	printf $out "T %s | %s\n", $_->{path}, $_->{attr} for map { $t->{track}{$_} } @{ $t->{order} };
	for my $uuid (@{ $t->{order} }) {
		print $out "@ $t->{track}{$uuid}{path}\n";
		for (@{ $t->{counter}{$uuid} }) {
			printf $out "C %s %s\n", $_->[0], $_->[1] =~ /^-?\d+$/ ? $_->[1] : sprintf '%.17g', $_->[1];
		}
		for my $s (@{ $t->{slice}{$uuid} }) {
			printf $out "%s %s %s d%d %s {%s}%s%s\n", $s->{kind}, $s->{ts}, $s->{dur}, $s->{depth}, $s->{name},
				join(',', map { "$_->[0]=$_->[1]:$_->[2]" } @{ $s->{args} }),
				join('', map { " >$number{$_}" } @{ $s->{flow} }), join('', map { " <$number{$_}" } @{ $s->{end} });
		}
	}
}

1;
