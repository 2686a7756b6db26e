#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Prints a Perfetto trace as sorted, comparable text (pftrace.pm says what).  usage: pftdump.pl TRACE
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use pftrace;

pftrace::dump(\*STDOUT, pftrace::load(shift or die "usage: pftdump.pl TRACE\n"));
