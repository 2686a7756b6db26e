#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Prints a Perfetto trace as sorted, comparable text.  usage: pftdump.pl TRACE
#   K clock ID at NS                 the clock snapshot
#   T path | attributes              tracks, in the order of the file
#   @ path                           then, for each track with events:
#   S ts dur dDEPTH name {args} >flow <flow     slices (I: instants)
#   C ts value                                  counter samples
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use pftrace;

my $t = pftrace::load(shift or die "usage: pftdump.pl TRACE\n");
printf "K clock %d at %d%s\n", $_->[0], $_->[1], $_->[2] ? ' incremental' : '' for @{ $t->{clock} };

# Flows are numbered by their first use in time.
my (%number, $flows);
for my $s (sort { $a->{ts} <=> $b->{ts} } map { @{ $t->{slice}{$_} // [] } } @{ $t->{order} }) {
	$number{$_} //= ++$flows for @{ $s->{flow} }, @{ $s->{end} };
}
print '# tracks ', scalar @{ $t->{order} }, " events $t->{events} flows ", scalar(keys %number), "\n";
printf "T %s | %s\n", $_->{path}, $_->{attr} for map { $t->{track}{$_} } @{ $t->{order} };
for my $uuid (@{ $t->{order} }) {
	print "@ $t->{track}{$uuid}{path}\n";
	for (@{ $t->{counter}{$uuid} }) {
		printf "C %s %s\n", $_->[0], $_->[1] =~ /^-?\d+$/ ? $_->[1] : sprintf '%.17g', $_->[1];
	}
	for my $s (@{ $t->{slice}{$uuid} }) {
		printf "%s %s %s d%d %s {%s}%s%s\n", $s->{kind}, $s->{ts}, $s->{dur}, $s->{depth}, $s->{name},
			join(',', map { "$_->[0]=$_->[1]:$_->[2]" } @{ $s->{args} }),
			join('', map { " >$number{$_}" } @{ $s->{flow} }), join('', map { " <$number{$_}" } @{ $s->{end} });
	}
}
