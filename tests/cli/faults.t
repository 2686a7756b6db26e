#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A recording of page faults (two files of 512 pages, 61 and 40 different pages of them read), without a tracer.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
f=tests/data/faults/two-files.jsonl
sql() { # QUERY
	"$KVIO" sql --csv "$1" "$2" | tail -n 1 | tr -d '\r'
}

"$KVIO" report --json $f >"$tmp/r.json"
is $? 0 'report: status 0'
"$KVIO" schema report >"$tmp/schema"
is "$(perl tests/schema_check.pl "$tmp/schema" "$tmp/r.json")" '' 'its JSON holds to the schema'
all() { # MEMBERS, as a list of names
	jq -r "[.. | objects | select(has(\"page_faults\")) | .page_faults][0] | $1" "$tmp/r.json"
}
is "$(all '[.all | .faults, .minor, .major, .failed, .touched_pages, .mapped_pages, .fill_pages, .readaheads] | join(" ")')" \
	'33 31 2 0 33 528 1024 2' 'sums over both files'
for m in faults minor major touched_pages mapped_pages fill_pages readaheads readahead_pages; do
	is "$(all ".all.$m")" "$(all "[.files[].$m] | add")" "all.$m is what the files add up to"
done
is "$(all '[.files[] | .path, .faults] | join(" ")')" '/data/model.bin 30 /data/index.bin 3' 'by file'
is "$(all '[.amplification[] | .part_bytes, .whole_bytes] | join(" ")')" '135168 100000 4194304 135168 4194304 4194304 4194304 100000' \
	'each ratio with both its parts'
is "$(sql $f 'select count(*), count(distinct path), max(lat_ns) from fault')" '33,2,1637562' 'sql: every fault'
is "$(sql $f 'select sum(faults), sum(fill_pages), count(*) from cache where last')" '33,1024,2' 'sql: the files'
is "$(sql $f 'select requests, bytes from block where bytes > 0 and not write')" '8,4194304' 'sql: the disk'
like "$("$KVIO" report $f)" 'all +device reads / useful +41\.94 ' 'text: the ratio over all'

"$KVIO" cat -q $f -o "$tmp/a.kvt" && "$KVIO" cat -q "$tmp/a.kvt" -o "$tmp/a.jsonl"
is "$(cmp $f "$tmp/a.jsonl" 2>&1)" '' 'lossless through .kvt and back'
is "$("$KVIO" report --json "$tmp/a.kvt" | jq -c '.. | objects | select(has("page_faults")) | .page_faults')" "$(all . | jq -c .)" \
	'the same report of both'

# --- what the application had use for: its own markers, in a file beside the capture
useful() { # FILE...: useful bytes, markers, and the whole of two ratios, of the report as JSON
	"$KVIO" report --json $f "$@" 2>/dev/null | jq -c '.[].page_faults | [.useful_bytes, .markers, .amplification.all.whole_bytes, .amplification.page_size.whole_bytes]'
}
cat >"$tmp/markers.jsonl" <<'E'
{"event_type":"marker","ts":24037468200000,"useful_bytes":30000,"name":"batch 1"}
{"event_type":"marker","ts":24037468300000,"useful_bytes":20000}
E
is "$(useful)" '[100000,0,100000,100000]' 'without markers: --useful-bytes of the recording'
is "$(useful "$tmp/markers.jsonl")" '[50000,2,50000,50000]' 'markers tell more than --useful-bytes'
like "$("$KVIO" report $f "$tmp/markers.jsonl")" 'all +device reads / useful +83\.89 ' 'text: the ratio by markers'
like "$("$KVIO" report $f "$tmp/markers.jsonl")" 'useful: 50000 bytes, by 2 markers of the application' '... and that it is'
"$KVIO" report $f "$tmp/markers.jsonl" --html "$tmp/m.html" >/dev/null
is "$(tr -d '\n ' <"$tmp/m.html" | grep -o '"markers":2,"useful":50000' | head -n 1)" '"markers":2,"useful":50000' 'HTML: the same'
"$KVIO" cat -q "$tmp/markers.jsonl" -o "$tmp/markers.kvt" 2>/dev/null
is "$(useful "$tmp/markers.kvt")" '[50000,2,50000,50000]' 'through .kvt, too'
echo '{"event_type":"marker","ts":1,"useful_bytes":-1}' >"$tmp/bad.jsonl"
cat "$tmp/markers.jsonl" >>"$tmp/bad.jsonl"
"$KVIO" report $f "$tmp/bad.jsonl" >"$tmp/out" 2>&1
is "$? $(useful "$tmp/bad.jsonl")" '3 [50000,2,50000,50000]' 'a marker that says nothing: exit 3, and it does not count'
# The phase file of the older feature store: each phase counts from its begin, other text is not looked at.
cat >"$tmp/phase.txt" <<'E'
loading the graph
PHASE_START access=page layout=natural mono_ns=1
PROGRESS mono_ns=2 signal_bytes=1000 store_bytes=9 batch=1
PROGRESS mono_ns=3 signal_bytes=2500 store_bytes=9 batch=2
PHASE_END mono_ns=4 ra_signal=1.0 signal_bytes=2600
PHASE_START access=page mono_ns=5
PROGRESS mono_ns=6 signal_bytes=700 store_bytes=9 batch=1
E
printf 'PROGRESS mono_ns=7 signal_by' >>"$tmp/phase.txt"
"$KVIO" report $f "$tmp/phase.txt" >"$tmp/out" 2>&1
is "$? $(useful "$tmp/phase.txt")" '0 [3300,4,3300,3300]' 'a phase file, killed in the middle of a line'

# --- the table of markers: as they were recorded, whatever they say
rows() { # FILE... QUERY
	"$KVIO" sql --csv "$@" 2>/dev/null | sed 1d | tr -d '\r'
}
m=$tmp/rows.jsonl
cat >"$m" <<'E'
{"event_type":"marker","ts":24037468300000,"useful_bytes":20000,"name":"'); drop table marker; --","pid":7,"tid":8}
{"event_type":"marker","ts":24037468200000,"useful_bytes":18446744073709551615,"name":"\u001b[31m<b>\u0000x","epoch":3}
{"event_type":"marker","useful_bytes":1,"pid":-1,"tid":4294967296,"name":5}
E
printf '{"event_type":"marker","ts":24037468400000,"useful_bytes":2,"name":"\377"}\r\n' >>"$m"
"$KVIO" cat -q "$m" -o "$tmp/rows.kvt" 2>/dev/null
for i in "$m" "$tmp/rows.kvt"; do
	is "$(rows "$i" "select ts_ns, pid, tid, useful_bytes, typeof(useful_bytes), hex(name) from marker where tid is null order by ts_ns")" \
		',,,1,integer,""
24037468200000,,,18446744073709551615,text,1B5B33316D3C623E0078
24037468400000,,,2,integer,FF' "markers of ${i##*.}: in order, absent is NULL, numbers and bytes exact"
	is "$(rows "$i" "select ts_ns, pid, tid, name, useful_bytes, line from marker where ts_ns = 24037468300000")" \
		"24037468300000,7,8,'); drop table marker; --,20000,\"$(sed -n '1s/"/""/gp' "$m")\"" "markers of ${i##*.}: the line as it was recorded"
	is "$(rows "$i" "select substr(hex(line), -6) from marker where useful_bytes = 2")" FF227D '... without its end'
	is "$(rows "$i" "select json_extract(line, '$.epoch') from marker where json_valid(line) and ts_ns = 24037468200000")" 3 'its other members'
done
is "$("$KVIO" sql "$m" 'select name, line from marker' 2>/dev/null | grep -c "$(printf '\033')")" 0 'a name cannot colour the terminal'
is "$(rows "$tmp/phase.txt" "select ts_ns, name, useful_bytes from marker" | tr '\n' ' ')" \
	'1,PHASE_START, 2,PROGRESS,1000 3,PROGRESS,1500 4,PHASE_END,100 5,PHASE_START, 6,PROGRESS,700 ' 'lines of a phase file are markers'
is "$(rows "$f" "$tmp/phase.txt" 'select sum(useful_bytes), count(useful_bytes) from marker')" '3300,4' '... and add up to what the report has'
is "$(rows "$m" "$tmp/phase.txt" 'select count(*) from marker where ts_ns < 5')" 4 'NULL is no time'

# Cut, and with a line that is none: said, status 3.
head -c 9000 $f >"$tmp/cut.jsonl"
"$KVIO" report --json "$tmp/cut.jsonl" >"$tmp/r.json" 2>/dev/null
is $? 3 'cut: exit 3'
{
	cat $f
	echo '{"event_type":"fault","ts":"x","lat_ns":-1}'
} >"$tmp/bad.jsonl"
"$KVIO" report "$tmp/bad.jsonl" >"$tmp/out" 2>&1
is $? 3 'a fault without numbers: exit 3'
sed 's|/data/model.bin|/data/\\u001b[31m<script>|' $f >"$tmp/hostile.jsonl"
is "$("$KVIO" report "$tmp/hostile.jsonl" | grep -c "$(printf '\033')")" 0 'a path cannot colour the terminal'
done_testing
