#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the tracer's programs kept and nobody took over (`unread`): every reader of a capture shows it.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

in=$tmp/in.jsonl
{
	echo '{"event_type":"capture_meta","kvt_version":1}'
	echo '{"event_type":"nvme_cmd","ts":1000000,"user_data":1,"nsid":1,"nvme_opcode":2,"slba":0,"data_len":4096,"disk":"nvme0n1","hwq":1,"cid":1}'
	echo '{"event_type":"nvme_cmp","ts":1000500,"lat_ns":500,"user_data":1,"disk":"nvme0n1","hwq":1,"cid":1,"status":0}'
	echo '{"event_type":"loss","ts":2000000,"seen":1,"stored":1,"ring_full":0,"map_full":0,"hook_missed":0,"filtered":0}'
	echo '{"event_type":"loss","ts":3000000,"seen":8,"stored":1,"ring_full":0,"map_full":0,"hook_missed":0,"unread":7,"filtered":0}'
	echo '{"event_type":"footer","complete":true,"seen":8,"stored":1,"ring_full":0,"map_full":0,"hook_missed":0,"unread":7,"filtered":0,"in_flight":0}'
} >"$in"

"$KVIO" cat -q "$in" -o "$tmp/x.kvt" 2>"$tmp/err"
is $? 3 'cat: events were lost: status 3'
"$KVIO" cat -q "$tmp/x.kvt" -o "$tmp/back.jsonl" 2>/dev/null
is "$(jq -c 'select(.event_type == "loss") | [.seen, .stored, .unread]' "$tmp/back.jsonl" | paste -sd' ')" '[1,1,null] [8,1,7]' \
	'JSONL, .kvt and back: accounts say it where it is'
is "$(jq -c 'select(.event_type == "footer") | .unread' "$tmp/back.jsonl")" 7 '... and the footer does'
is "$(tail -n 1 "$tmp/back.jsonl")" '{"event_type":"drops","dropped":7}' '... in the words of older tools it was dropped'
head -n 5 "$in" >"$tmp/cut.jsonl"
"$KVIO" cat -q "$tmp/cut.jsonl" -o "$tmp/cut.kvt" 2>/dev/null
for f in in.jsonl x.kvt cut.jsonl cut.kvt; do
	is "$("$KVIO" sql --csv "$tmp/$f" 'select seen, stored, ring_full, unread, lossy from loss' 2>/dev/null | tail -n 1 | tr -d '\r')" \
		'8,1,0,7,1' "sql: table loss of $f"
	like "$("$KVIO" cat --stats "$tmp/$f" 2>/dev/null)" 'seen 8 = stored 1 \+ in flight 0 \+ filtered 0 \+ lost 7;' "cat --stats of $f"
	like "$("$KVIO" report "$tmp/$f")" 'LOSSY: 7 events left unread in the kernel' "report of $f"
done
"$KVIO" report --json "$in" >"$tmp/report.json"
is "$? $(jq -c '.[].health | [.lossy, .dropped, .unread]' "$tmp/report.json")" '3 [true,0,7]' 'report --json: status 3, of its own kind'
"$KVIO" report --html "$tmp/x.html" "$in" >/dev/null
is "$(grep -c '"left unread in the kernel"' "$tmp/x.html")" 1 'report --html: a line of its own'
"$KVIO" perfetto --json "$tmp/x.kvt" -o "$tmp/x.pftrace" >"$tmp/perfetto.json" 2>/dev/null
is "$? $(jq -c '.. | .losses? // empty | [.dropped, .unread]' "$tmp/perfetto.json")" '3 [0,7]' 'perfetto: status 3, in its summary'
is "$("$KVIO" sql --csv "$tmp/x.pftrace" 'select unread, lossy from loss' 2>/dev/null | tail -n 1 | tr -d '\r')" '7,1' 'perfetto: in the trace'

done_testing
