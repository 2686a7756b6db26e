#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Holds a JSON report against an expected one.  Each difference must be a row
# of a table in docs/report-differences.md, with both values, and each row of
# the case must be a difference.  Prints what is not so; then the status is 1.
# usage: report_cmp.pl EXPECTED.json GOT.json [TABLE.md HEADING CASE]
use strict;
use warnings;
use JSON::PP;

my ($want_file, $got_file, $table, $heading, $case) = @ARGV;
my (%row, $bad);

sub slurp {
	my ($file) = @_;
	open my $f, '<', $file or die "$file: $!\n";
	local $/;
	return decode_json(<$f>);
}

if ($table) {
	open my $f, '<', $table or die "$table: $!\n";
	my $in;
	while (<$f>) {
		$in = $1 eq $heading if /^## (.*)/;
		next unless $in && /^\| *`(\S+)` *\| *`(\S+)` *\| *(.*?) *\| *(.*?) *\| /;
		$row{"$2"} = [ $3, $4 ] if $1 eq $case;
	}
}

# The verdict's words of the older report, in ours.
sub words {
	my ($v) = @_;
	return $v =~ /^QD~1 \(gap ~= service time/ ? 'QD~1 (serialized)' : $v;
}
sub shown { my ($v) = @_; return !defined $v ? 'null' : ref $v ? 'present' : $v }

sub same {
	my ($x, $y) = @_;
	return !defined $x && !defined $y if !defined $x || !defined $y;
	return abs($x - $y) <= 1e-9 * (abs($x) > abs($y) ? abs($x) : abs($y)) if "$x$y" =~ /^[-+.\deE]+$/;
	return words($x) eq words($y);
}

sub differ {
	my ($key, $x, $y) = @_;
	my $r = delete $row{$key};
	return if $r && same($r->[0] eq 'null' ? undef : $r->[0], $x) && same($r->[1] eq 'null' ? undef : $r->[1], $y);
	print "$key: expected ", shown($x), ", got ", shown($y), $r ? ", the table says $r->[0], $r->[1]\n" : "\n";
	$bad = 1;
}

sub compare {
	my ($key, $x, $y) = @_;
	if (ref $x eq 'HASH' && ref $y eq 'HASH') {
		for my $k (sort keys %$x) {
			my $name = $key eq '' ? $k : "$key.$k";
			if (exists $y->{$k}) { compare($name, $x->{$k}, $y->{$k}) }
			else { differ($name, shown($x->{$k}), 'absent') }
		}
	} elsif (ref $x || ref $y || !same($x, $y)) {
		differ($key, ref $x ? 'present' : $x, ref $y ? 'present' : $y);
	}
}

my ($want, $got) = (slurp($want_file), slurp($got_file));
# One capture: its label is not part of the keys.
if (keys %$want == 1 && keys %$got == 1) {
	($want) = values %$want;
	($got) = values %$got;
}
compare('', $want, $got);
for my $k (sort keys %row) {
	print "$k: in the table, but there is no difference\n";
	$bad = 1;
}
exit($bad ? 1 : 0);
