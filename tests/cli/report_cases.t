#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What people met in the field, each as a tiny capture and what the report must
# say of it.  docs/report-cases.md lists them.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
in=$tmp/in.jsonl

# make SCRIPT: lines by Perl, with these at hand; times in ns, an op is read or write
make() {
	perl -e '
		use strict;
		sub say_line { print "{", join(",", @_), "}\n" }
		# a command, its completion, both
		sub cmd { my ($ud, $op, $ts, @more) = @_;
			say_line("\"event_type\":\"nvme_cmd\"", "\"user_data\":$ud", "\"nvme_opcode\":" . ($op eq "read" ? 2 : 1), "\"op_name\":\"$op\"", "\"nsid\":1",
				"\"slba\":" . ($ud & 0xffff) * 32, "\"nlb\":32", "\"data_len\":131072", "\"ts\":$ts", @more) }
		sub done { my ($ud, $ts, $lat, @more) = @_; say_line("\"event_type\":\"nvme_cmp\"", "\"user_data\":$ud", "\"err\":0", "\"lat_ns\":$lat", "\"ts\":$ts", @more) }
		sub io { my ($ud, $op, $ts, $lat) = @_; cmd($ud, $op, $ts); done($ud, $ts + $lat, $lat) }
		sub op { my ($id, $op, $from, $to, $bytes, @more) = @_;
			say_line("\"trace_id\":$id", "\"op\":\"$op\"", "\"key\":\"m\@f\@0\@$id\"", "\"bytes\":$bytes", sprintf("\"ts_start\":%.9f", $from), sprintf("\"ts\":%.9f", $to), @more) }
		sub drops { my ($n) = @_; say_line("\"event_type\":\"drops\"", "\"dropped\":$n") }
		sub id { return $_[0] << 32 | $_[1] }
	'"$1"
}
report() { # ARGUMENTS...: sets text and status
	text=$("$KVIO" report "$@" 2>&1)
	status=$?
}
# json EXPRESSION ARGUMENTS...: a Perl expression over $a, the report of the capture
json() {
	expr=$1
	shift
	"$KVIO" report --json --label c "$@" 2>/dev/null | perl -MJSON::PP -0777 -ne "my \$j = decode_json(\$_); my \$a = \$j->{c}; print $expr"
}

# --- verdicts ---
make 'io(id(5, $_), "read", 1e9 + $_ * 83000, 16000) for 0 .. 159; drops(0)' >"$in"
is "$(json '"$a->{qd1}{load}{verdict} $a->{qd1}{load}{gap_p50} $a->{qd1}{load}{service_p25} " . sprintf("%.2f", $a->{qd}{mean})' "$in")" \
	'QD~1 (serialized) 83000 16000 0.19' 'B1 serial-reads: gap 83 us, service 16 us, 0.19 in flight'

make 'io(id(5, $_), "read", 1e9 + $_ * 100000, 90000) for 0 .. 39;
	for my $i (0 .. 159) { cmd(id(6, $i), "write", 1e9 + $i * 360000) } for my $i (0 .. 159) { done(id(6, $i), 1e9 + $i * 360000 + 2900000, 2900000) } drops(0)' >"$in"
is "$(json '"$a->{qd1}{load}{verdict}, $a->{qd1}{store}{verdict}"' "$in")" 'QD~1 (serialized), pipelined' \
	'B2 own-floor: serial reads beside slow pipelined writes'

make 'cmd(id(7, 0), "read", 1000000000); cmd(id(7, 0), "read", 1000040000); done(id(7, 0), 1000060000, 20000); drops(0)' >"$in"
is "$(json '"$a->{commands}{n} $a->{lat_read}{p50} $a->{commands}{reissued}"' "$in")" '1 20000 1' 'B3 eagain: one command of 20 us, one attempt more'

make 'io(id(5, $_), "read", 1e9 + $_ * 83000, 16000) for 0 .. 9; say_line("\"event_type\":\"cq_overflow\"", "\"user_data\":" . id(5, $_), "\"res\":0", "\"ts\":" . (1000100000 + $_)) for 0 .. 2; drops(0)' >"$in"
report "$in"
like "$(echo "$text" | sed -n 2p)" '^!! CQ overflow x3 at 0\.100 ms' 'B4 cq-overflow: in the first line'
report "$in" --fail-if 'loss.cq_overflows>0'
is $status 1 'B4 cq-overflow: and can be a failure'

: >"$in"
make 'op($_, "store", $_, $_ + 0.5, 131072) for 1 .. 4' >"$tmp/sem.jsonl"
make 'io($_, "read", 1e9 + $_ * 1000, 500) for 0 .. 9; drops(0)' >"$tmp/dev.jsonl"
report "$in"
like "$text" '^verdict: nothing recorded: 0 objects, 0 device commands' 'B5 nothing-stored: neither side'
is $status 3 'B5 nothing-stored: with a status of its own'
report "$tmp/sem.jsonl"
like "$text" '^verdict: no device IO: 4 objects, 0 device commands \(not recorded, wrong$' \
	'B5 nothing-stored: objects alone'
report "$tmp/dev.jsonl"
like "$text" '^verdict: device only: 10 commands' 'B5 nothing-stored: commands alone'

# --- two captures ---
make 'for my $i (1 .. 230) { op($i, "load", $i, $i + 0.001, 8388608); io(id($i, 0), "read", 1e9 * $i + 1000, 16000) } drops(0)' >"$tmp/a.jsonl"
make 'for my $i (1 .. 120) { op($i, "load", $i, $i + 0.001, 8388608); io(id($i, 0), "read", 1e9 * $i + 1000, 16000) } drops(0)' >"$tmp/b.jsonl"
report --arm "a=$tmp/a.jsonl" --arm "b=$tmp/b.jsonl"
like "$text" '^NOT COMPARABLE: this is not the same work: objects -47\.8 %, object bytes$' 'B6 unequal-work: the headline'
like "$text" 'object bytes +1929379840 +1006632960 +-47\.8 %' 'B6 unequal-work: and the difference'
report --arm "a=$tmp/a.jsonl" --arm "b=$tmp/b.jsonl" --fail-if 'ab.comparable<1'
is $status 1 'B6 unequal-work: can be a failure'
report --arm "a=$in" --arm "b=$in"
like "$text" '^NOT COMPARABLE: there is no work in either$' 'B6 unequal-work: nothing is equal to nothing, but says nothing'
"$KVIO" report --json --arm "c=$tmp/a.jsonl" --arm "e=$in" >"$tmp/json" 2>/dev/null
is "$(grep -ciE '[:,] *-?(nan|inf)|: -0[,.]?0*,?$' "$tmp/json")" 0 'F5 nan: an empty capture makes none'
is "$(perl -MJSON::PP -0777 -ne 'my $a = decode_json($_)->{e}{ab}; print defined $a->{times}{wall}{change} ? "number" : "null"' "$tmp/json")" null \
	'F5 nan: the change is null'

# --- where the time of a request goes ---
make 'op(1, "load", 1.000, 1.009, 131072); io(id(1, 0), "read", 1002000000, 3000000);
	say_line("\"op\":\"load_ttft\"", "\"request_id\":\"r0\"", "\"ts_start\":1.0", "\"ts\":1.010"); drops(0)' >"$in"
is "$(json 'join " ", map { $a->{slowest_requests}[0]{"${_}_ns"} } "wait", "device", "tail", "gaps", "unexplained"' "$in")" \
	'2000000 3000000 4000000 0 1000000' 'B7 request-parts: 10 ms are 2 + 3 + 4, and 1 ms unexplained'
report "$in"
like "$text" '^  r0 +10\.0 ms +3\.00 ms +0 ns +2\.00 ms +4\.00 ms +1\.00 ms +1$' 'B7 request-parts: the rest is shown'

make 'op(1, "load", 1.000, 4.000, 536870912); io(id(1, $_), "read", 2000000000 + $_ * 488281, 488281) for 0 .. 4095; drops(0)' >"$in"
report "$in"
like "$text" '^  load +1 +512 MiB +4096\.0 +3\.00 s' 'B9 not-storage: an object says its size and commands'
like "$text" 'before first command 1\.00 s; device 2\.00 s, host 1\.00 s$' 'B9 not-storage: and how long the device and the host had it'

# --- who is who ---
make 'for my $p (10, 11) { op(5, "load", 1.0, 1.5, 4096, "\"pid\":$p", "\"slot_offset\":0") }
	cmd(id(5, 0), "read", 1200000000, "\"pid\":11", "\"tid\":11", "\"comm\":\"a\""); drops(0)' >"$in"
report "$in"
like "$text" '1 ids name several operations of one time' 'B8 shared-ids: it is told'
is "$(json '$a->{objects}{load}{n}' "$in")" 2 'B8 shared-ids: two objects'

make 'op($_, "load", 1.0, 1.1, 32768, "\"slot_offset\":" . 32768 * ($_ - 1)) for 1 .. 4; print "{\"event_type\":\"nvme_cmd\",\"user_data\":0,\"nvme_opcode\":2,\"op_name\":\"read\",\"nsid\":1,\"slba\":0,\"nlb\":32,\"bytes\":131072,\"data_len\":131072,\"ts\":1050000000}\n"; drops(0)' >"$in"
is "$(json '"$a->{join}{cross}{n} $a->{join}{cross}{bytes} $a->{join}{unmatched}{n}"' --join offset "$in")" '1 131072 0' \
	'B10 merged-command: over four objects, and no byte is missing'

make 'for my $d (["nvme0n1", 100, 190, 60], ["nvme1n1", 130, 200, 100]) { print "{\"event_type\":\"nvme_cmd\",\"disk\":\"$d->[0]\",\"nsid\":1,\"nvme_opcode\":2,\"op_name\":\"read\",\"slba\":0,\"nlb\":8,\"bytes\":4096,\"hwq\":1,\"cid\":7,\"ts\":$d->[1]}\n" }
	print "{\"event_type\":\"nvme_cmp\",\"status\":0,\"lat_ns\":60,\"hwq\":1,\"cid\":7,\"ts\":190}\n{\"event_type\":\"nvme_cmp\",\"status\":0,\"lat_ns\":100,\"hwq\":1,\"cid\":7,\"ts\":200}\n"; drops(0)' >"$in"
is "$(json '"$a->{lat_read}{p50} $a->{lat_read}{max} $a->{health}{unpaired_commands}"' "$in")" '60 100 0' 'C14 two-drives: exact pairs'

# --- losses ---
make 'cmd(id(5, $_), "read", 1e9 + $_ * 83000) for 0 .. 99; done(id(5, $_), 1e9 + $_ * 83000 + 16000, 16000) for 0 .. 96; drops(0)' >"$in"
report "$in"
like "$text" '^!! LOSSY: 3 of 100 commands \(3\.0 %\) have no completion$' 'C1 missing-completions: LOSSY, how many, and the share'
like "$text" '^  read +97 .* 3\.0%$' 'C1 missing-completions: each percentile says how many are missing'
is $status 3 'C1 missing-completions: status 3'

make 'io(id(5, $_), "read", 1e9 + $_ * 83000, 16000) for 0 .. 9' >"$in"
report "$in"
like "$text" '^!! INCOMPLETE: no final count of losses' 'C2 silent-loss: a capture without an account'
is $status 3 'C2 silent-loss: status 3'
make 'io(id(5, $_), "read", 1e9 + $_ * 83000, 16000) for 0 .. 9; drops(12)' >"$in"
report "$in"
like "$(echo "$text" | sed -n 2p)" '^!! LOSSY: 12 of [0-9]+ events ' 'C2 silent-loss: drops are in the head'
report "$in" --fail-if 'loss.dropped>0'
is $status 1 'C2 silent-loss: and can be a failure'

make 'print "{\"event_type\":\"nvme_cmp\",\"disk\":\"nvme0n1\",\"status\":0,\"lat_ns\":50,\"hwq\":1,\"cid\":9,\"ts\":1000}\n";
	print "{\"event_type\":\"nvme_cmd\",\"disk\":\"nvme0n1\",\"nsid\":1,\"nvme_opcode\":2,\"op_name\":\"read\",\"slba\":0,\"nlb\":8,\"bytes\":4096,\"hwq\":1,\"cid\":9,\"ts\":2000}\n"; drops(0)' >"$in"
is "$(json '"$a->{health}{unpaired_completions} $a->{health}{unpaired_commands} " . ($a->{health}{lossy} ? "lossy" : "whole")' "$in")" '1 0 lossy' \
	'C3 orphan: a completion alone is not given to a later command'
report "$in"
like "$text" '^!! LOSSY: 1 completion without a command$' 'C3 orphan: it is told'

make 'io(id(5, $_), "read", 1e9 + $_ * 83000, 16000) for 0 .. 9; cmd(id(6, 0), "read", 2000000000); done(id(6, 0), 1999999995, -5); drops(0)' >"$in"
is "$(json '"$a->{health}{negative_latency} $a->{lat_read}{max} $a->{lat_read}{n}"' "$in")" '1 16000 10' 'C8 backwards: counted, and in no latency'
is "$("$KVIO" report --json "$in" | grep -cE '[0-9]{16}')" 0 'C8 backwards: no number above 1e15'

make 'for my $i (0 .. 99) { my $bad = $i == 10 || $i == 20; my $lat = $bad ? 5000 : 100000;
	print "{\"event_type\":\"nvme_cmd\",\"disk\":\"nvme0n1\",\"nsid\":1,\"nvme_opcode\":2,\"op_name\":\"read\",\"slba\":$i,\"nlb\":8,\"bytes\":4096,\"hwq\":1,\"cid\":$i,\"ts\":" . (1000000000 + $i * 200000) . "}\n";
	print "{\"event_type\":\"nvme_cmp\",\"disk\":\"nvme0n1\",\"status\":" . ($bad ? 4 : 0) . ",\"lat_ns\":$lat,\"hwq\":1,\"cid\":$i,\"ts\":" . (1000000000 + $i * 200000 + $lat) . "}\n" } drops(0)' >"$in"
is "$(json '"$a->{lat_read}{p50} $a->{lat_read}{n} " . join ",", map { "$_->{n} sct $_->{sct} sc $_->{sc}" } @{ $a->{failures} }' "$in")" \
	'100000 98 2 sct 0 sc 4' 'D8 failed: in no percentile, named by status'

# --- input ---
make 'cmd("9007199254740993", "read", 1000000000); cmd("9007199254740992", "read", 1000100000); done("9007199254740993", 1000016000, 16000); done("9007199254740992", 1000117000, 17000); drops(0)' >"$in"
is "$(json '"$a->{commands}{n} $a->{lat_read}{p50} $a->{lat_read}{max} $a->{health}{unpaired_commands}"' "$in")" '2 16000 17000 0' \
	'F1 above-2^53: two ids stay two'
{ make 'io(id(5, 0), "read", 1000000000, 16000); drops(0)'; printf '{"event'; } >"$in"
report "$in"
like "$text" '^!! INCOMPLETE: the input is cut at its end$' 'F2 cut: half a line is told'
is "$(json '"$a->{commands}{n} $a->{health}{malformed}"' "$in")" '1 0' 'F2 cut: what was before it counts, and it is no damage'
make 'io(id(5, $_), "read", 1e9 + $_ * 83000, 16000) for 0 .. 9; drops(0)' >"$in"
{ printf '\357\273\277'; sed 's/$/\r/' "$in"; echo; } >"$tmp/crlf.jsonl"
is "$("$KVIO" report "$tmp/crlf.jsonl")" "$("$KVIO" report "$in")" 'F6 edited: BOM, CRLF and blank lines change no figure'

done_testing
