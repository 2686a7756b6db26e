#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Holds JSON files against a JSON Schema (the parts that kvio uses): types,
# required members, and no member that the schema does not know.
# usage: schema_check.pl SCHEMA.json FILE.json...
use strict;
use warnings;
use B ();
use JSON::PP;

sub slurp {
	my ($file) = @_;
	open my $f, '<', $file or die "$file: $!\n";
	local $/;
	return decode_json(<$f>);
}

my $bad = 0;
sub wrong { print "@_\n"; $bad = 1 }

sub type_of {
	my ($v) = @_;
	return 'null' if !defined $v;
	return 'object' if ref $v eq 'HASH';
	return 'array' if ref $v eq 'ARRAY';
	return 'boolean' if JSON::PP::is_bool($v);
	return 'string' if B::svref_2object(\$v)->FLAGS & B::SVf_POK;
	return $v =~ /^-?\d+$/ ? 'integer' : 'number';
}

sub check {
	my ($at, $s, $v) = @_;
	my $type = type_of($v);
	my @may = ref $s->{type} ? @{ $s->{type} } : ($s->{type});
	return wrong("$at: is $type, may be @may") unless grep { $_ eq $type || ($_ eq 'number' && $type eq 'integer') } @may;
	if ($type eq 'array') {
		check("$at\[]", $s->{items}, $_) for @$v;
	} elsif ($type eq 'object') {
		exists $v->{$_} or wrong("$at: has no $_") for @{ $s->{required} // [] };
		for my $k (sort keys %$v) {
			my $m = $s->{properties}{$k};
			for my $p (keys %{ $s->{patternProperties} // {} }) { $m //= $s->{patternProperties}{$p} if $k =~ /$p/ }
			$m //= $s->{additionalProperties};
			# Parts of a ratio are numbers named after what they are.
			next if !$m && $at =~ /\.ratios\./ && $k !~ /^(ratio|base|this|this_by_base)$/ && type_of($v->{$k}) =~ /^(integer|number)$/;
			if ($m) { check("$at.$k", $m, $v->{$k}) }
			else { wrong("$at.$k: not in the schema") }
		}
	}
}

my $schema = slurp(shift);
check($_, $schema, slurp($_)) for @ARGV;
exit $bad;
