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
