#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio perfetto and sql of a fault stream: a track a mapped file in the process of its program, faults told apart.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
f=tests/data/faults/two-files.jsonl
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
. tests/perfetto.sh
sql() { # FILE QUERY
	"$KVIO" sql --csv "$1" "$2" 2>/dev/null | tail -n +2 | tr -d '\r' | paste -sd' '
}

# --- all of it is there, in all ways to draw ---
draw $f
is "$status $(echo "$check" | tail -n 1)" '0 capture: faults 33 major 2' 'sound, and all of it is there'
for how in '--no-rebase' '--redact' '--split 2k' '--slice-budget 10' '--detail lean' '--window 0.001,0.0035'; do
	rm -f "$tmp"/p*.pftrace
	# shellcheck disable=SC2086 # two words
	"$KVIO" perfetto $f $how -o "$tmp/p.pftrace" >/dev/null 2>&1
	is "$? $(tests/pftcheck "$tmp"/p*.pftrace 2>&1 | grep -v '^capture: ')" '0 ' "$how: sound"
done
like "$dump" '^@ Program faults\[523\] capture/IO/page faults//data/model\.bin$' 'a process a program, a track a file'
like "$dump" '^S 0 1637562 d0 major \{path=string:/data/model\.bin,offset=uint:765952,address=string:0x7f1e368bb880,tid=uint:523,came_in_pages=uint:512\}$' \
	'a fault has its true duration, place, and what it brought in'
is "$(on 'Program faults[523] capture/IO/major faults') $(on 'Program faults[523] capture/IO/read amplification')" \
	'C 0 1 C 0 17.066666666666666' 'major faults, and 512 pages that came in for 30 that were used'
like "$summary" 'programs: 0 system calls, 0 io_uring requests, 33 page faults' 'the summary counts them'
is "$("$KVIO" perfetto $f --json -o "$tmp/j.pftrace" | jq -c '.arms[0] | [.drawn_page_faults.n, .drawn_page_faults.bytes, .input_equals_emitted]')" \
	"[33,$((1024 * 4096)),true]" 'the same as JSON'

# --- the timeline as tables says what the capture says ---
is "$(sql "$tmp/x.pftrace" "select s.name, count(*), sum(extract_arg(s.arg_set_id, 'debug.came_in_pages')) from slice s join track t on t.id = s.track_id
	where t.name like '/data/%' group by 1 order by 1")" 'major,2,1024 minor,31,0' 'sql of the timeline'
is "$(sql "$tmp/x.pftrace" "select s.ts + $(sql $f 'select min(ts_ns) from fault'), s.dur from slice s join track t on t.id = s.track_id where t.name like '/data/%' order by 1")" \
	"$(sql $f 'select ts_ns, lat_ns from fault order by 1')" '... times and durations are those of the capture'
is "$(sql "$tmp/x.pftrace" "select t.name, round(max(value), 2) from counter c join counter_track t on t.id = c.track_id where t.name in ('major faults', 'read amplification') group by 1 order by 1")" \
	'major faults,1.0 read amplification,170.67' '... counters'
is "$("$KVIO" report "$tmp/x.pftrace" >"$tmp/out" 2>&1; grep -c 'Program' "$tmp/out")" 0 'report of the timeline: no command is made of a fault'

# --- made up: every kind, two threads at once, two files of one name, no name, hostile names ---
fault() { # TS LAT TID INO OFFSET MORE...
	ts=$1 lat=$2 tid=$3 ino=$4 at=$5
	shift 5
	printf '{"event_type":"fault","pid":7,"comm":"x","tid":%s,"ts":%s,"lat_ns":%s,"offset":%s,"address":%s,"dev":1048577,"ino":%s%s}\n' \
		"$tid" "$ts" "$lat" "$at" "$at" "$ino" "$*"
}
{
	echo '{"event_type":"capture_meta","schema_version":2,"emitter":"kvio","page_bytes":16384}'
	fault 1000 500 7 1 0 ',"path":"/a b\u0007</script>","major":true,"retries":2,"filled":3'
	fault 1100 900 8 1 16384 ',"path":"/a b\u0007</script>","retries":1'
	fault 5000 10 7 2 0 ',"path":"/a b\u0007</script>","failed":true'
	fault 6000 0 7 3 0 ',"no_time":true,"write":true'
	fault 30001000 7 7 1 0 ',"path":"/a b\u0007</script>","major":true,"filled":4'
	fault 18446744073709551615 18446744073709551615 7 4 0 ',"path":"/end"'
	echo "$drops"
} >"$tmp/odd.jsonl"
draw "$tmp/odd.jsonl"
is "$status $(echo "$check" | tail -n 1)" '0 capture: faults 6 major 2' 'every kind: sound' || echo "$check" | sed 's/^/# /'
is "$(echo "$dump" | sed -n 's/^S [0-9]* [0-9]* d0 \([^{]*\) {.*/\1/p' | sort | uniq -c | sed 's/^ *//' | paste -sd,)" \
	'1 major,1 major retried,2 minor,1 minor FAILED,1 minor retried' 'told apart'
is "$(echo "$dump" | grep -c '^@ Program x\[7\] capture/IO/page faults//a_b_</script>/faults\.00[01]$')" 2 'faults at once are side by side'
like "$dump" '^@ Program x\[7\] capture/IO/page faults//a_b_</script> 1:1 inode 2$' 'files of one name have tracks of their own'
like "$dump" '^@ Program x\[7\] capture/IO/page faults/1:1 inode 3$' 'a file without a path has its numbers'
like "$dump" '^S 5000 1 d0 minor \{offset=uint:0,.*real_dur=bool:False,write=bool:True\}$' 'a begin that was not seen is said'
is "$(on 'Program x[7] capture/IO/read amplification' | head -n 2 | paste -sd' ')" 'C 0 1 C 30000000 2.3333333333333335' \
	'a page that comes in again counts again, and is used once'
draw "$tmp/odd.jsonl" --redact
is "$status $(strings -n 4 "$tmp/x.pftrace" | grep -c script)" '0 0' '--redact: no path'

# --- a container: both numbers
{
	echo '{"event_type":"path","dev":4294967294,"ino":9,"ts":1,"piece":0,"last":true,"text":"/box"}'
	echo '{"event_type":"task","tid":7,"pid":7,"ns_pid":1,"comm":"x","ts":500,"cgroup":9}'
	echo '{"event_type":"task","tid":9,"pid":9,"ns_pid":9,"comm":"y","ts":500,"cgroup":9}'
	fault 1000 500 7 1 0
	fault 2000 500 9 1 0 | sed 's/"pid":7,"comm":"x"/"pid":9,"comm":"y"/'
	echo "$drops"
} >"$tmp/ns.jsonl"
draw "$tmp/ns.jsonl"
is "$(echo "$dump" | sed -n 's/^T \(Program .*\) | process.*/\1/p' | paste -sd,)" 'Program x[7,ns=1] capture,Program y[9] capture' \
	'the pid of a container stands beside that of the host, where it differs'
is "$(echo "$check" | tail -n 1)" 'capture: faults 2 major 0' '... sound'
is "$("$KVIO" report "$tmp/ns.jsonl" | sed -n '/^programs of containers/,$p' | tr -s ' ' | paste -sd,)" \
	'programs of containers, pid pid in there program, 7 1 x' '... and in the report'
"$KVIO" report --json "$tmp/ns.jsonl" >"$tmp/r.json"
"$KVIO" schema report >"$tmp/schema"
is "$(jq -c '.[] | select(.container_programs) | .n_container_programs, .container_programs' "$tmp/r.json" | paste -sd' ') $(perl tests/schema_check.pl "$tmp/schema" "$tmp/r.json")" \
	'1 [{"pid":7,"ns_pid":1,"comm":"x","cgroup_path":"/box"}] ' '... as JSON, which holds to the schema'
"$KVIO" report "$tmp/ns.jsonl" --html "$tmp/ns.html" >/dev/null
is "$(tr -d '\n ' <"$tmp/ns.html" | grep -o '"rows":\[\["7","1","x","/box"\]\]},"left":0')" '"rows":[["7","1","x","/box"]]},"left":0' '... and on the page'
{
	for i in $(seq 100 129); do
		echo "{\"event_type\":\"task\",\"tid\":$i,\"pid\":$i,\"ns_pid\":$((i - 99)),\"comm\":\"x\",\"ts\":500,\"cgroup\":9}"
		echo "{\"event_type\":\"task\",\"tid\":$((i + 1000)),\"pid\":$i,\"ns_pid\":$((i - 99)),\"comm\":\"y\",\"ts\":500,\"cgroup\":9}"
	done
	fault 1000 500 7 1 0
	echo "$drops"
} >"$tmp/many.jsonl"
"$KVIO" report --json "$tmp/many.jsonl" --html "$tmp/many.html" >"$tmp/r.json"
is "$(jq -c '.[] | select(.container_programs) | .n_container_programs, (.container_programs | length)' "$tmp/r.json" | paste -sd' ') $(tr -d '\n ' <"$tmp/many.html" |
	grep -o '\["123","24","x",""\]\]},"left":6')" '30 10 ["123","24","x",""]]},"left":6' 'many: how many are not listed is said'
done_testing
