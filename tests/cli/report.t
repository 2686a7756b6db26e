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
like "$text" 'time lost by waiting: 10\.7 ms, 80\.6 % of the time that they take' 'what it costs'
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
like "$text" '^shards: last of 4 is ready 55\.0 us after the first' 'tp4: the wait for the slowest shard'
report $D/eagain/sem.jsonl $D/eagain/ebpf.jsonl
like "$text" '^commands: 102 \(102 tagged' 'eagain: 102 commands, not 142 lines'
like "$text" '40 attempts re-issued' 'eagain: the other 40 are attempts'
like "$text" '^          40 took more than one attempt$' 'eagain: of so many commands'
report $D/dup-trace-id/sem.jsonl $D/dup-trace-id/ebpf.jsonl
like "$text" 'p95 4\.40 us' 'dup-trace-id: no gap from one use of an id to the next'
report $D/tpmon/ebpf.jsonl
like "$text" 'read +165 +110 us .* 219 us' 'tpmon: latencies of tracepoint captures'

# --- failed commands: counted, named, and in no latency ---
i=0
while [ $i -lt 100 ]; do
	ts=$((1000000000 + i * 200000)) status=0 lat=100000
	[ $i -eq 10 ] || [ $i -eq 20 ] && status=4 lat=5000
	printf '{"event_type":"nvme_cmd","disk":"nvme0n1","nsid":1,"nvme_opcode":2,"op_name":"read","slba":%s,"nlb":8,"bytes":4096,"data_len":4096,"hwq":1,"cid":%s,"ts":%s}\n' $i $i $ts
	printf '{"event_type":"nvme_cmp","disk":"nvme0n1","status":%s,"lat_ns":%s,"hwq":1,"cid":%s,"ts":%s}\n' $status $lat $i $((ts + lat))
	i=$((i + 1))
done >"$tmp/failed.jsonl"
echo '{"event_type":"drops","dropped":0}' >>"$tmp/failed.jsonl"
report "$tmp/failed.jsonl"
like "$text" '^  read +98 +100 us .* 2 +0\.0%$' 'failed commands: in no percentile'
like "$text" '^          failed 2: data transfer error \(sct 0x0 / sc 0x4\)$' 'failed commands: by status'
"$KVIO" report --json "$tmp/failed.jsonl" >"$tmp/json"
is "$(json "$tmp/json" 'join " ", map { "$_->{kind} $_->{sct} $_->{sc} $_->{n}" } @{ $j->{capture}{failures} }')" 'nvme 0 4 2' 'failed commands: in JSON'

# --- what is discarded or zeroed does not move ---
cat >"$tmp/dsm.jsonl" <<'EOF'
{"event_type":"nvme_cmd","disk":"nvme0n1","nsid":1,"nvme_opcode":1,"op_name":"write","slba":0,"nlb":8,"bytes":4096,"data_len":4096,"hwq":1,"cid":1,"ts":1000000}
{"event_type":"nvme_cmp","disk":"nvme0n1","status":0,"lat_ns":1000,"hwq":1,"cid":1,"ts":1001000}
{"event_type":"nvme_cmd","disk":"nvme0n1","nsid":1,"nvme_opcode":8,"op_name":"write_zeroes","slba":8,"nlb":2097152,"bytes":1073741824,"data_len":1073741824,"hwq":1,"cid":2,"ts":1001096}
{"event_type":"nvme_cmp","disk":"nvme0n1","status":0,"lat_ns":3000,"hwq":1,"cid":2,"ts":1004096}
{"event_type":"drops","dropped":0}
EOF
report "$tmp/dsm.jsonl"
like "$text" '^          1\.000 GB/s of all data, failed commands, discards and zeroes left out$' 'zeroes: no throughput'

# --- block sizes are those of the devices that have commands ---
cat >"$tmp/lba.jsonl" <<'EOF'
{"event_type":"disk","dev":271581184,"nsid":1,"csi":0,"lba_bytes":4096,"ms":0,"name":"nvme0n1"}
{"event_type":"disk","dev":271581185,"nsid":1,"csi":0,"lba_bytes":512,"ms":0,"name":"nvme1n1"}
{"event_type":"nvme_cmd","disk":"nvme1n1","dev":271581185,"nsid":1,"nvme_opcode":2,"op_name":"read","slba":0,"nlb":8,"bytes":4096,"hwq":1,"cid":1,"ts":1000000}
{"event_type":"nvme_cmp","disk":"nvme1n1","dev":271581185,"status":0,"lat_ns":1000,"hwq":1,"cid":1,"ts":1001000}
EOF
like "$("$KVIO" report "$tmp/lba.jsonl" 2>&1)" '^capture: nvme1n1, LBA 512 B,' 'block size: not that of another device'
cat >>"$tmp/lba.jsonl" <<'EOF'
{"event_type":"nvme_cmd","disk":"nvme0n1","dev":271581184,"nsid":1,"nvme_opcode":2,"op_name":"read","slba":0,"nlb":1,"bytes":4096,"hwq":1,"cid":1,"ts":2000000}
{"event_type":"nvme_cmp","disk":"nvme0n1","dev":271581184,"status":0,"lat_ns":1000,"hwq":1,"cid":1,"ts":2001000}
{"event_type":"uring","pid":7,"tid":7,"comm":"x","ts":2100000,"lat_ns":16000,"opcode":46,"op_name":"uring_cmd","user_data":5,"res":16385,"fd":5,"slba":0,"size":4096,"nvme_opcode":2,"ring":1}
EOF
report "$tmp/lba.jsonl"
like "$text" '^capture: nvme0n1 \(LBA 4096 B\), nvme1n1 \(LBA 512 B\),' 'block sizes: one a device where they differ'
like "$text" '^  uring_cmd +1 +1 +0 B +- +- +-$' 'requests that all failed have no latency'
sed -i 's/"res":16385/"res":0/' "$tmp/lba.jsonl"
report "$tmp/lba.jsonl"
like "$text" '^  uring_cmd +1 +0 +4\.00 KiB +16\.0 us' 'passthrough that did not fail moved its bytes'

echo '{"event_type":"loss","ts":3000000,"seen":10,"stored":6,"ring_full":3,"map_full":0,"hook_missed":0,"filtered":1}' >>"$tmp/lba.jsonl"
like "$("$KVIO" report "$tmp/lba.jsonl" 2>&1)" '^!! LOSSY: 3 of 9 events \(33\.3 %\) dropped while recording' 'loss: of how many that passed the filters'

# --- cookies of programs that know nothing of ids ---
for ud in 94371414424640 94371414424192; do
	printf '{"event_type":"nvme_cmd","user_data":%s,"nvme_opcode":2,"op_name":"read","nsid":1,"slba":8,"nlb":8,"data_len":4096,"ts":%s}\n' $ud $ud
	printf '{"event_type":"nvme_cmp","user_data":%s,"err":0,"lat_ns":100,"ts":%s}\n' $ud $((ud + 100))
done >"$tmp/fio.jsonl"
echo '{"event_type":"drops","dropped":0}' >>"$tmp/fio.jsonl"
report "$tmp/fio.jsonl"
like "$text" '^commands: 2 \(0 tagged, 2 untagged\)' 'addresses as user_data are no ids'
like "$text" 'no semantic trace, user_data are addresses' 'and that is said'
sed -i 's/94371414424192/94371414424193/' "$tmp/fio.jsonl"
like "$("$KVIO" report "$tmp/fio.jsonl")" '^commands: 2 \(2 tagged, 0 untagged\)' 'what is no address is an id'
sed -i "s/94371414424640/$((21972 << 32 | 8))/; s/94371414424193/$((21973 << 32))/" "$tmp/fio.jsonl"
like "$("$KVIO" report "$tmp/fio.jsonl")" '^commands: 2 \(2 tagged, 0 untagged\)' 'ids with as large numbers are ids'

# --- what keeps commands from overlapping, and where requests wait ---
like "$("$KVIO" report "$tmp/serial.jsonl")" '^  loads   QD~1 \(serialized\): serial within an object$' 'the class of the queue'
report $D/batched/sem.jsonl $D/batched/ebpf.jsonl $D/batched/serving.jsonl
like "$text" '^  loads   pipelined: drains between batches$' 'batched: the queue drains'
like "$text" 'the queue ran empty 3 times, for 28\.0 % of the time with work' 'batched: the evidence'
like "$text" '^          time lost by waiting: 338 us, 28\.0 % of the time with work$' 'batched: what it costs'
like "$text" '^  load_ttft +2 +5\.35 ms +5\.4 +0\.0 +1\.7 +0\.6 +92\.3$' 'batched: where requests spend their time'
like "$text" '^  r0 +5\.35 ms +579 us +0 ns +184 us +60\.0 us +4\.52 ms +6$' 'batched: and the slowest of them'
"$KVIO" report --json $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl $D/qd1/serving.jsonl >"$tmp/json"
is "$(json "$tmp/json" 'do { my $bad = 0; for my $r (@{ $j->{capture}{slowest_requests} }, values %{ $j->{capture}{serving} }) { my $sum = 0; $sum += $r->{"${_}_ns"} for qw(wait gaps device tail unexplained); $bad++ if $sum != ($r->{ns} // $r->{sum_ns}) } $bad . " of " . @{ $j->{capture}{slowest_requests} } }')" \
	'0 of 4' 'the parts of each request add up to it'
report $D/tp4/sem.jsonl $D/tp4/ebpf.jsonl
like "$text" '^ +70\.0 %: its commands took longer +\(80\.3 % of the wait\)$' 'tp4: why the last shard is late'
like "$text" '^        last: bf16-3 40 %, bf16-1 30 %, bf16-2 30 %$' 'tp4: and which one it is'

# --- what is wrong with a capture comes first ---
report $D/missing-cmp/sem.jsonl $D/missing-cmp/ebpf.jsonl
is $status 3 'missing completions: status 3'
is "$(echo "$text" | sed -n 2p)" '!! LOSSY: 23 of 205 events (11.2 %) dropped while recording (ring or map full)' 'the loss comes first'
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

# --- how commands found their objects ---
report $D/offset-join/sem.jsonl $D/offset-join/ebpf.jsonl --join offset
like "$text" 'commands in one object [0-9]+, over several [0-9]+, partly outside' 'a join by place says how it went'
"$KVIO" report --json $D/offset-join/sem.jsonl $D/offset-join/ebpf.jsonl --join offset >"$tmp/json"
is "$(json "$tmp/json" 'do { my $a = $j->{capture}; my ($n, $b) = (0, 0); for (qw(unique cross gap_spill unmatched no_place)) { $n += $a->{join}{$_}{n}; $b += $a->{join}{$_}{bytes} } $a->{commands}{n} - $n . " " . ($a->{commands}{bytes} - $b) }')" \
	'0 0' 'its classes and bytes sum up to the capture'
for pid in 10 11; do
	printf '{"trace_id":5,"op":"load","key":"m@f@0@%s","bytes":4096,"slot_offset":0,"ts_start":1.0,"ts":1.5,"pid":%s,"instance":"i%s"}\n' $pid $pid $pid
done >"$tmp/two.sem.jsonl"
printf '{"event_type":"nvme_cmd","pid":11,"tid":11,"user_data":21474836480,"nvme_opcode":2,"op_name":"read","nsid":1,"slba":0,"nlb":8,"data_len":4096,"comm":"a","ts":1200000000}\n' >"$tmp/two.jsonl"
report "$tmp/two.sem.jsonl" "$tmp/two.jsonl"
like "$text" '1 ids name several operations of one time: 1 commands told apart by$' 'producers that share ids are told apart, and that is said'
like "$text" '^  load +2 ' 'and are two objects'

# --- edited files ---
{ printf '\357\273\277'; sed 's/$/\r/' $D/qd1/sem.jsonl; } >"$tmp/sem.jsonl"
{ printf '\357\273\277'; sed 's/$/\r/' $D/qd1/ebpf.jsonl; } >"$tmp/ebpf.jsonl"
"$KVIO" report "$tmp/sem.jsonl" "$tmp/ebpf.jsonl" >"$tmp/edited"
"$KVIO" report $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl >"$tmp/plain"
ok 'a byte order mark and CRLF change no figure' cmp -s "$tmp/edited" "$tmp/plain"

# --- layout ---
for f in $D/*/sem.jsonl; do
	d=${f%/sem.jsonl}
	[ -f "$d/ebpf.jsonl" ] || continue
	report "$d/sem.jsonl" "$d/ebpf.jsonl" --arm "qd1=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl,$D/qd1/serving.jsonl"
	echo "$text" | awk -v d="$d" 'length > 79 { print d ": " $0 }'
done >"$tmp/wide"
"$KVIO" report --help | awk 'length > 79' >>"$tmp/wide"
"$KVIO" schema --help | awk 'length > 79' >>"$tmp/wide"
is "$(cat "$tmp/wide")" '' 'all lines are under 80 columns'
printf '{"trace_id":1,"op":"lo\\u001b[31mad","key":"k","bytes":1,"ts_start":1.0,"ts":1.5,"error":"bad\\u0007\\u009b thing"}\n' >"$tmp/hostile.jsonl"
report "$tmp/hostile.jsonl" --label "$(printf 'a\033[2Jb')"
is "$(printf '%s' "$text" | tr -d '\012' | LC_ALL=C tr -cd '\000-\037\233' | wc -c)" 0 'no control characters reach the terminal'
like "$text" 'error: bad\\x07' 'they are shown'

# --- JSON ---
for d in qd1 batched tp4 missing-cmp cq-overflow truncated legacy eagain untagged edge-ties kv-key; do
	"$KVIO" report --json $D/$d/sem.jsonl $D/$d/ebpf.jsonl >"$tmp/json"
	is "$(json "$tmp/json" '$j->{capture}{schema_version}')" 1 "$d: the JSON is sound"
	is "$(grep -ciE '[:,] *-?(nan|inf)' "$tmp/json")" 0 "$d: and has no NaN"
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
like "$text" 'load  of the same object \(n 9\): p50 .* less, x0\.5[0-9]+ \(9 faster, 0 slower\)' 'each object is held against itself'
report $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl --arm less=$D/truncated/sem.jsonl,$D/truncated/ebpf.jsonl
is $status 3 'one of them is incomplete: status 3'
like "$text" '^NOT COMPARABLE: ' 'unequal work is not comparable'
like "$text" 'objects +18 +10 +-44\.4 %' 'the difference is listed'
"$KVIO" report --json --arm one=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl --arm two=$D/batched/sem.jsonl,$D/batched/ebpf.jsonl >"$tmp/json"
is "$(json "$tmp/json" '"$j->{two}{ab}{base} $j->{two}{ab}{pairs}{load}{n} " . ($j->{two}{ab}{pairs}{load}{delta_p50} < 0 ? "less" : "more") . (exists $j->{one}{ab} ? " ab" : "")')" \
	'one 9 less' 'and in JSON'

like "$text" '^NOT COMPARABLE: this is not the same work: objects -44\.4 %, object bytes' 'the headline says in what'
like "$text" '^! objects +18 +10 ' 'and marks it'
report $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl --arm less=$D/truncated/sem.jsonl,$D/truncated/ebpf.jsonl --tolerance 75%
like "$text" '^comparable: the same objects, commands and bytes within 75 %$' 'the tolerance is stated'
report --arm one=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl --arm two=$D/batched/sem.jsonl,$D/batched/ebpf.jsonl
like "$text" '95 % interval -359 us to -325 us, x0\.50[0-9] to x0\.54[0-9]$' 'the median has an interval'
like "$text" 'write_amplification: 1\.004 \(9474048 / 9437184\) -> 1\.004' 'a ratio is shown with both its parts'
"$KVIO" report --json $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl --arm "empty=$tmp/nothing.jsonl" >"$tmp/json"
is "$(json "$tmp/json" 'do { my $a = $j->{empty}{ab}; join " ", $a->{comparable} ? "same" : "not", scalar(keys %{ $a->{pairs} }), defined $a->{times}{load_gap_p50}{change} ? "number" : "null", defined $a->{ratios}{read_amplification}{this_by_base} ? "number" : "null" }')" \
	'not 0 null null' 'against an empty capture nothing is made up'

# --- figures for programs ---
"$KVIO" report --csv $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl --label 'a,b' >"$tmp/csv"
is "$(head -n 1 "$tmp/csv")" 'label,metric,op,stat,value,n,unit' '--csv: the columns'
ok '--csv: a figure with its n and unit' grep -qx '"a,b",gap,load,p50,83407,63,ns' "$tmp/csv"
report $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl --prom "$tmp/kvio.prom"
is $status 0 '--prom: status 0'
ok '--prom: seconds, with labels' grep -qx 'kvio_gap_seconds{label="capture",op="load",stat="p50"} 8.3407e-05' "$tmp/kvio.prom"
is "$(find "$tmp" -name 'kvio.prom*' | wc -l)" 1 '--prom: nothing is left beside it'
is "$(umask 022 && "$KVIO" report $D/qd1/sem.jsonl --prom "$tmp/kvio.prom" -o "$tmp/out" && ls -l "$tmp/kvio.prom" | cut -c1-10)" -rw-r--r-- \
	'--prom: others may read it'

# --- thresholds ---
gate() { # ARGUMENTS...
	report $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl "$@"
}
gate --fail-if 'load.gap_p50_us>50' --fail-if 'loss.dropped>0' --fail-if 'store.span_p99_ms > 0.5'
is $status 1 'a threshold that is true: status 1'
like "$text" '^kvio report: capture: load\.gap_p50_us is 83\.407, which is > 50$' 'it says which, with both numbers'
like "$text" '^kvio report: capture: store\.span_p99_ms is 0\.84[0-9]+, which is > 0\.5$' 'all of them'
like "$text" '^verdict: loads' 'and the report is there'
gate --fail-if 'load.gap_p50_us>90' --fail-if 'all.throughput_gbs<0.5'
is $status 0 'thresholds that are not: status 0'
gate --fail-if 'shards.barrier_p50_us>1'
is $status 1 'what was not measured does not pass'
like "$text" 'shards\.barrier_p50_us was not measured' 'and says so'
report --arm one=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl --arm two=$D/batched/sem.jsonl,$D/batched/ebpf.jsonl --fail-if 'load.ratio>1' --fail-if 'ab.comparable<1'
is $status 0 'thresholds of a comparison are for the other captures only'
report --arm one=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl --arm two=$D/batched/sem.jsonl,$D/batched/ebpf.jsonl --fail-if 'load.qd1>0'
like "$text" 'kvio report: one: load\.qd1 is 1, which is > 0' 'thresholds of a capture are for each'

# --- timelines ---
report tests/data/report/qd1.out.pftrace.gz
is $status 3 'a timeline of the older converter has no count of losses: status 3'
like "$text" '^!! INCOMPLETE: no final count of losses: this timeline does not have it$' 'and it says so'
like "$text" '^===== qd1 =====$' 'its label'
like "$text" '^  loads   QD~1 \(serialized\): serial within an object$' 'and its verdict'
report tests/data/report/qd1.out.pftrace.gz --label other
like "$text" '^===== other =====$' 'a label of the user'
report tests/data/report/merge-ab.out.pftrace.gz
like "$text" '^===== batched against ' 'a timeline of several captures is a comparison'
report --arm a=tests/data/report/qd1.out.pftrace.gz --arm b=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl
like "$text" '^comparable: ' 'a timeline against a capture'

# --- parts ---
report $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl --trace-id 3-5
like "$text" '^commands: 27 ' '--trace-id'
report $D/kv-key/sem.jsonl $D/kv-key/ebpf.jsonl --join none
like "$text" 'not joined' '--join none'

# --- under its older name ---
case $KVIO in /*) ln -s "$KVIO" "$tmp/kvio_tp_report" ;; *) ln -s "$PWD/$KVIO" "$tmp/kvio_tp_report" ;; esac
older() { # ARGUMENTS...
	text=$("$tmp/kvio_tp_report" "$@" 2>&1)
	status=$?
}
older tests/data/report/qd1.out.pftrace.gz
like "$text" '^===== qd1 =====$' 'kvio_tp_report: a trace alone'
older tests/data/report/merge-ab.out.pftrace.gz --batch-gap-us 500 --json "$tmp/older.json"
like "$text" '^===== batched against ' 'kvio_tp_report --json FILE: the text is printed'
"$KVIO" report tests/data/report/merge-ab.out.pftrace.gz --batch-gap 500us --json >"$tmp/json"
ok 'kvio_tp_report --json FILE: JSON is in the file, with that gap' cmp "$tmp/older.json" "$tmp/json"
is "$(json "$tmp/older.json" 'join " ", sort keys %$j')" 'batched devonly stock' 'kvio_tp_report --json FILE: by label'
older --json "$tmp/older.json" $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl
is $status 0 'kvio_tp_report: a capture'
older tests/data/report/qd1.out.pftrace.gz --json
is $status 2 'kvio_tp_report: --json needs its file'
older tests/data/report/qd1.out.pftrace.gz --batch-gap-us 5x
is $status 2 'kvio_tp_report: a gap that is no number'
older "$tmp/empty.pftrace"
is $status 1 'kvio_tp_report: no trace'
like "$("$tmp/kvio_tp_report" --help)" '^As kvio_tp_report:$' 'kvio_tp_report: --help tells both'
report tests/data/report/qd1.out.pftrace.gz --batch-gap-us 50
is $status 2 'the older options are of the older name only'

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
fails 2 "no metric 'load.gapp_p50_us', did you mean 'load.gap_p50_us'" 'an unknown metric' $D/qd1/sem.jsonl --fail-if 'load.gapp_p50_us>5'
fails 2 'is not METRIC>NUMBER' 'a threshold without a number' $D/qd1/sem.jsonl --fail-if 'load.gap_p50_us>'
fails 2 'is not METRIC>NUMBER' 'a threshold without a comparison' $D/qd1/sem.jsonl --fail-if 'load.gap_p50_us'
fails 2 'is no per cent' 'a wrong tolerance' $D/qd1/sem.jsonl --tolerance 101
fails 2 'is not A or A-B' 'wrong ids' $D/qd1/sem.jsonl --trace-id 5-3
fails 2 'is not A,B in seconds' 'a wrong window' $D/qd1/sem.jsonl --time-range x
fails 2 'do not go together' 'two formats' $D/qd1/sem.jsonl --json --csv
fails 2 'name it alone' 'a timeline and a capture as one' $D/qd1/sem.jsonl tests/data/report/qd1.out.pftrace.gz
fails 1 'has 3 captures' 'a timeline of several as one' --arm x=tests/data/report/merge-ab.out.pftrace.gz
fails 1 'cannot write' '--prom into a missing directory' $D/qd1/sem.jsonl --prom "$tmp/none/x.prom"
fails 1 'cannot write' 'a missing directory' $D/qd1/sem.jsonl -o "$tmp/none/x"
if [ -w /dev/full ]; then
	"$KVIO" report $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl >/dev/full 2>"$tmp/err"
	is $? 1 'a full disk is an error'
fi

# --- the schema ---
"$KVIO" schema report >"$tmp/schema"
is $? 0 'schema report: status 0'
is "$(json "$tmp/schema" '$j->{version}')" 1 'schema report: its version'
like "$(json "$tmp/schema" 'join "\n", map { "$_->{metric} $_->{unit}" } @{ $j->{metrics} }')" '^gap ns$' 'schema report: the metrics'
for c in psync uring passthrough writeback; do
	"$KVIO" report --json tests/data/calls/$c.kvt >"$tmp/calls.json"
	is "$(perl tests/schema_check.pl "$tmp/schema" "$tmp/calls.json")" '' "$c.kvt: its JSON holds to the schema"
done
is "$(json "$tmp/calls.json" 'do { $a = $j->{capture}; "$a->{causes}{joined}{n} $a->{causes}{no_thread}{n} $a->{causes}{no_thread}{bytes}" }')" \
	'0 23 1013760' 'writeback: nothing is joined, and why'
is "$(json "$tmp/calls.json" 'join " ", map { $a = $j->{capture}{bytes_by_layer}{$_}; $_, map { $_ // "null" } @{$a}{qw(writes write_bytes write_ratio)} } qw(program page_cache device device_by_none)')" \
	"$(echo "program 61 999424 1 page_cache null null null device 22 1013760 1.0143442623 device_by_none 22 1013760 null")" 'writeback: bytes by layer'
# Copies: a descriptor that is used again, one of another process, one that nobody opened.
"$KVIO" report --json tests/data/calls/copies.jsonl >"$tmp/copies.json"
is "$(json "$tmp/copies.json" 'join " ", @{ $j->{capture}{bytes_by_layer}{program} }{qw(reads read_bytes writes write_bytes)}')" \
	'4 1111 3 111' 'copies: copy_file_range reads and writes, sendfile reads'
is "$(json "$tmp/copies.json" 'join " ", map { join ",", @{$_}{qw(path read_bytes writes write_bytes)} } @{ $j->{capture}{syscalls}{files} }')" \
	'/d/a,1111,0,0 /d/b,0,2,1001 /d/c,0,1,10' 'copies: which file they write to'
report tests/data/calls/copies.jsonl
like "$text" '^commands: none$' 'copies: no command'
is "$(echo "$text" | grep -c 'LBA\|latency known')" 0 'copies: nothing is said of a device that is not there'
# cp asks copy_file_range for nearly 2^63 bytes: a limit, which is not summed.
{
	cat tests/data/calls/copies.jsonl
	for i in 1 2 3; do
		echo "{\"event_type\":\"syscall\",\"call\":\"copy_file_range\",\"pid\":10,\"tid\":10,\"ts\":90$i\
00,\"lat_ns\":10,\"ret\":5,\"fd\":9,\"size\":9223372035781033984,\"dev\":266338304,\"ino\":77}"
	done
} >"$tmp/all.jsonl"
"$KVIO" report --json "$tmp/all.jsonl" --html "$tmp/all.html" >"$tmp/all.json"
copied() { # FILE
	json "$1" 'join " ", @{ $j->{capture}{syscalls}{calls}{copy_file_range} }{qw(n asked_bytes moved_bytes short)}'
}
is "$(copied "$tmp/copies.json")" '3 208 111 2' 'three copies with a limit'
is "$(copied "$tmp/all.json")" '6 223 126 2' 'copies without a limit asked for what they moved'
is "$("$KVIO" sql --csv "$tmp/all.jsonl" "select count(*), count(size), sum(size) from syscall where name = 'copy_file_range'" 2>&1 | tail -n 1 | tr -d '\r')" \
	'6,3,208' '... and have no size in SQL, so that the others can be summed'
# Files without a path have their numbers, on the page, too.
sed '/"event_type":"path".*index.bin/d; s|,"path":"/data/index.bin"||' tests/data/faults/two-files.jsonl >"$tmp/nameless.jsonl"
"$KVIO" report "$tmp/nameless.jsonl" --html "$tmp/nameless.html" | grep -o '254:0 inode 11108562' >"$tmp/nameless"
grep -o '254:0 inode 11108562' "$tmp/nameless.html" >>"$tmp/nameless"
is "$(wc -l <"$tmp/nameless" | tr -d ' ')" 2 'a file without a path is named by its numbers in text and on the page'
"$KVIO" schema >"$tmp/out" 2>&1
is $? 2 'schema of nothing: status 2'
like "$("$KVIO" schema raport 2>&1)" "no format 'raport'" 'schema of something else'

done_testing
