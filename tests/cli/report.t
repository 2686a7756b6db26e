#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio report: figures, warnings, JSON, two captures, and how it fails.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
D=tests/data/perfetto
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

report() { # ARGUMENTS...: sets text and status
	text=$("$KVIO" report "$@" 2>&1)
	status=$?
}

# json FILE EXPRESSION: a Perl expression over $j, the decoded report
json() { perl -MJSON::PP -0777 -ne "\$j = decode_json(\$_); print $2" "$1"; }

# --- the published case: a read every 83 us, 16 us on the device ---
i=0
while [ $i -lt 160 ]; do
	ts=$((1000000000 + i * 83000)) ud=$((21474836480 + i))
	printf '{"event_type":"nvme_cmd","user_data":%s,"nvme_opcode":2,"op_name":"read","nsid":1,"slba":%s,"nlb":32,"data_len":131072,"ts":%s}\n' $ud $((i * 32)) $ts
	printf '{"event_type":"nvme_cmp","user_data":%s,"err":0,"lat_ns":16000,"ts":%s}\n' $ud $((ts + 16000))
	i=$((i + 1))
done >"$tmp/serial.jsonl"
echo '{"event_type":"drops","dropped":0}' >>"$tmp/serial.jsonl"
report "$tmp/serial.jsonl"
is $status 0 'a sound capture: status 0'
like "$text" '^verdict: loads QD~1 \(serialized\); no semantic trace' 'the verdict is the first thing said'
like "$text" 'p50 83\.0 us' 'the gap between submissions'
like "$text" 'device needs 16\.0 us' 'the service time'
like "$text" 'in flight of one object: 0\.19' 'the mean in flight'
like "$text" 'time lost by waiting: 10\.7 ms, 80\.7 %' 'what it costs'
like "$text" 'queue depth: mean 0\.19, 1\.00 while busy .*max 1$' 'the depth over all'
"$KVIO" report --json "$tmp/serial.jsonl" >"$tmp/json"
is "$(json "$tmp/json" 'do { $a = $j->{capture}; "$a->{qd1}{load}{verdict} $a->{qd1}{load}{gap_p50} $a->{qd1}{load}{service_p25} $a->{qd}{max} $a->{commands}{n} $a->{schema_version} $a->{percentile}" }')" \
	'QD~1 (serialized) 83000 16000 1 160 1 nearest-rank' 'the same in JSON'

# --- figures of known captures ---
report $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl --label qd1
like "$text" '^verdict: loads QD~1 \(serialized\), stores QD~1 \(serialized\)$' 'qd1: both ways serial'
like "$text" 'write +81 +40\.7 us +59\.0 us +59\.9 us +59\.9 us +0 ' 'qd1: latency of writes'
like "$text" 'store +9 +1\.00 MiB +9\.0 +839 us +850 us +1249 ' 'qd1: spans and rate of stores'
like "$text" '9 of them are headers: 0\.39 % of the bytes written' 'qd1: headers by their measured bytes'
report $D/batched/sem.jsonl $D/batched/ebpf.jsonl
like "$text" '^verdict: loads pipelined, stores pipelined$' 'batched: pipelined'
like "$text" 'queue depth: .*max 27$' 'batched: depth'
report $D/tp4/sem.jsonl $D/tp4/ebpf.jsonl
like "$text" 'last of 4 shards is ready 55\.0 us after the first' 'tp4: the wait for the slowest shard'
report $D/eagain/sem.jsonl $D/eagain/ebpf.jsonl
like "$text" '^commands: 102 \(102 tagged' 'eagain: 102 commands, not 142 lines'
like "$text" '40 attempts re-issued' 'eagain: the other 40 are attempts'
report $D/dup-trace-id/sem.jsonl $D/dup-trace-id/ebpf.jsonl
like "$text" 'p95 4\.40 us' 'dup-trace-id: no gap from one use of an id to the next'
report $D/tpmon/ebpf.jsonl
like "$text" 'read +165 +110 us .* 219 us' 'tpmon: latencies of tracepoint captures'

# --- what is wrong with a capture comes first ---
report $D/missing-cmp/sem.jsonl $D/missing-cmp/ebpf.jsonl
is $status 3 'missing completions: status 3'
is "$(echo "$text" | sed -n 2p)" '!! LOSSY: 23 events dropped while recording (ring or map full)' 'the loss comes first'
like "$text" '^!! LOSSY: 22 of 102 commands \(21\.6 %\) have no completion' 'and how many commands it took'
like "$text" 'write +44 .* 18\.5%$' 'each latency says how many are missing'
report $D/cq-overflow/sem.jsonl $D/cq-overflow/ebpf.jsonl
is $status 3 'CQ overflow and drops: status 3'
like "$(echo "$text" | sed -n 2p)" '^!! CQ overflow x6 at 0\.608 ms' 'CQ overflow comes first'
report $D/truncated/sem.jsonl $D/truncated/ebpf.jsonl
is $status 3 'a cut capture: status 3'
like "$text" '^!! INCOMPLETE: 1 line or record could not be read, the first is line 10' 'with the line'
like "$text" '^!! INCOMPLETE: the input is cut at its end' 'and the cut'

# --- one side alone ---
report $D/qd1/sem.jsonl
like "$text" '^verdict: no device IO: 18 objects, 0 device commands' 'no device side'
report $D/tpmon/ebpf.jsonl
like "$text" '^verdict: device only: 220 commands' 'no semantic side'
: >"$tmp/nothing.jsonl"
report "$tmp/nothing.jsonl"
is $status 3 'nothing at all: status 3'
like "$text" '^verdict: nothing recorded' 'and says so'

# --- layout ---
for f in $D/*/sem.jsonl; do
	d=${f%/sem.jsonl}
	[ -f "$d/ebpf.jsonl" ] || continue
	report "$d/sem.jsonl" "$d/ebpf.jsonl"
	[ "$(echo "$text" | awk 'length > 79' | wc -l)" -eq 0 ] || echo "$d: $text" | awk 'length > 79'
done >"$tmp/wide"
is "$(cat "$tmp/wide")" '' 'all lines are under 80 columns'
printf '{"trace_id":1,"op":"lo\\u001b[31mad","key":"k","bytes":1,"ts_start":1.0,"ts":1.5,"error":"bad\\u0007\\u009b thing"}\n' >"$tmp/hostile.jsonl"
report "$tmp/hostile.jsonl" --label "$(printf 'a\033[2Jb')"
is "$(printf '%s' "$text" | tr -d '\012' | LC_ALL=C tr -cd '\000-\037\233' | wc -c)" 0 'no control characters reach the terminal'
like "$text" 'error: bad\\x07' 'they are shown'

# --- JSON ---
for d in qd1 batched tp4 missing-cmp cq-overflow truncated legacy eagain untagged edge-ties kv-key; do
	"$KVIO" report --json $D/$d/sem.jsonl $D/$d/ebpf.jsonl >"$tmp/json"
	is "$(json "$tmp/json" '$j->{capture}{schema_version}')" 1 "$d: the JSON is sound"
	is "$(grep -ciE 'nan|inf[^o]' "$tmp/json")" 0 "$d: and has no NaN"
done
"$KVIO" report --json "$tmp/hostile.jsonl" -o "$tmp/out.json"
is "$(json "$tmp/out.json" '$j->{capture}{failed_ops}')" 1 '-o writes to a file'
"$KVIO" report --json $D/legacy/sem.jsonl $D/legacy/ebpf.jsonl >"$tmp/json"
is "$(json "$tmp/json" 'defined $j->{capture}{objects}{store}{presubmit_p50} ? "number" : "null"')" null 'what was not measured is null'

# --- two captures ---
report --arm one=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl --arm two=$D/batched/sem.jsonl,$D/batched/ebpf.jsonl
is $status 0 'two captures: status 0'
like "$text" '^===== two against one =====$' 'the first one is the base'
like "$text" '^comparable: ' 'equal work is comparable'
like "$text" 'load  of the same object: p50 .* less \(9 faster, 0 slower\)' 'each object is held against itself'
report $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl --arm less=$D/truncated/sem.jsonl,$D/truncated/ebpf.jsonl
is $status 3 'one of them is incomplete: status 3'
like "$text" '^NOT COMPARABLE: ' 'unequal work is not comparable'
like "$text" 'objects +18 +10 +-44\.4 %' 'the difference is listed'
"$KVIO" report --json --arm one=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl --arm two=$D/batched/sem.jsonl,$D/batched/ebpf.jsonl >"$tmp/json"
is "$(json "$tmp/json" '"$j->{two}{ab}{base} $j->{two}{ab}{load}{n} " . ($j->{two}{ab}{load}{delta_p50} < 0 ? "less" : "more") . (exists $j->{one}{ab} ? " ab" : "")')" \
	'one 9 less' 'and in JSON'

# --- how it fails ---
fails() { # STATUS PATTERN DESCRIPTION ARGUMENTS...
	want=$1 pattern=$2 what=$3
	shift 3
	report "$@"
	is $status "$want" "$what: status $want"
	like "$text" "$pattern" "$what: says why"
}
fails 2 'name a capture' 'no input'
fails 2 "two captures have the label 'a'" 'equal labels' --arm a=$D/qd1/sem.jsonl --arm a=$D/qd1/ebpf.jsonl
fails 2 'is not LABEL=FILE' 'an arm without a label' --arm $D/qd1/sem.jsonl
fails 2 'is not LABEL=FILE' 'an arm without a file' --arm a=
fails 1 'cannot read .*missing' 'a missing file' "$tmp/missing"
fails 1 'this is no capture' 'a file of another kind' tests/tap.sh
fails 1 'cannot write' 'a missing directory' $D/qd1/sem.jsonl -o "$tmp/none/x"
if [ -w /dev/full ]; then
	"$KVIO" report $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl >/dev/full 2>"$tmp/err"
	is $? 1 'a full disk is an error'
fi

done_testing
