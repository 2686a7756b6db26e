#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio workload on an NVMe namespace: what it said it would do is what the driver saw, command by command.
cd "$(dirname "$0")/../.." || exit 1
. tests/vm/lib.sh
PATH=$PATH:/usr/sbin:/sbin
dmsetup=$(command -v dmsetup) || skip_all "dmsetup is not installed (scripts/deps)"

of() { # NAME KEY: of the workload's result
	jq -rs ".[] | select(.schema == \"kvio_workload\") | .$2" "$dir/$1.both"
}
exact() { # NAME OBJECTS STORE-COMMANDS LOAD-COMMANDS (of an object)
	is "$(cat "$dir/$1.rc") $(of $1 complete) $(of $1 wrong_objects)" '0 true 0' "$k $1: all done, all bytes verified"
	is "$(of $1 store.objects) $(of $1 load.objects)" "$2 $2" "$k $1: objects"
	is "$(of $1 store.commands) $(of $1 load.commands)" "$(($2 * $3)) $(($2 * $4))" "$k $1: $3 and $4 commands each"
	"$KVIO" validate --json "$dir/$1.kvt" "$dir/$1.sem" >"$dir/$1.grade"
	is "$? $(jq -r .verdict "$dir/$1.grade")" '0 exact' "$k $1: exact by the recording"
	[ "$(jq -r .verdict "$dir/$1.grade")" = exact ] || jq -c 'del(.rows)' "$dir/$1.grade" | head -c 3000 | sed 's/^/# /'
}

graded() { # CAPTURE SEMANTIC COMMANDS NAME
	"$KVIO" validate --json "$dir/$1" "$dir/$2" >"$dir/grade"
	is "$? $(jq -r .verdict "$dir/grade")" '0 exact' "$4: exact by the recording"
	is "$(sql "${1%.kvt}" 'select count(*) from cmd where trace_id > 0')" "$3" \
		"$4: commands"
}

# In the order of issue: where a command has to wait for a tag, Linux 6.1 lets later ones pass.
stream() { # NAME: the commands of each object
	"$KVIO" sql --csv "$dir/$1.kvt" "select trace_id, op, slba, bytes from cmd order by trace_id, user_data" 2>/dev/null |
		tail -n +2
}

# What the kernel has a part in: commands, their order and limits, errors.
main() {
	exact tp2 32 33 32
	is "$(cat "$dir/requests.rc") $(of requests wrong_objects) $(of requests target.rings)" '0 0 2' "$k two rings, huge pages: right"
	"$KVIO" validate --json "$dir/requests.kvt" "$dir/requests.sem" >"$dir/requests.grade"
	is "$? $(jq -r .verdict "$dir/requests.grade")" '0 exact' "$k two rings, huge pages: exact"

	is "$(cat "$dir/replay.rc") $(of replay complete)" '0 true' "$k replay: all done, all bytes verified"
	stream tp2 >"$dir/tp2.stream"
	stream replay >"$dir/replay.stream"
	is "$(wc -l <"$dir/tp2.stream")" 2080 "$k replay: commands to compare"
	ok "$k replay: the same commands at the same places, in order within each object" cmp "$dir/tp2.stream" "$dir/replay.stream"

	is "$(cat "$dir/over.rc") $(of over store.objects) $(of over store.failed) $(of over commands_refused) $(of over load.missed)" \
		'1 0 2 2 2' "$k above the limit: refused commands are counted, nothing is timed"
	is "$(of over 'errors[0].text') $(of over store.object_latency_n)" 'Invalid argument 0' "$k above the limit: named"
	if [ -s "$dir/bad.rc" ]; then
		is "$(cat "$dir/bad.rc") $(of bad wrong_objects) $(of bad 'errors[0].text')" '1 0 Input/output error' \
			"$k a failing disk: exit 1, and why"
		ok "$k a failing disk: what it could not store is not counted as stored" test "$(of bad store.objects)" -lt 100
	else
		echo "# SKIP $k: no device mapper in this guest"
	fi
	# The bad block is in the 16th slot, which is what every further object gets again, for it was freed last.
	is "$(cat "$dir/block.rc") $(of block store.objects) $(of block store.failed) $(of block commands_failed) $(of block load.objects) $(of block load.missed)" \
		'1 15 5 5 15 5' "$k a bad block: those stores fail, exit 1"
	like "$(of block 'errors[0].text')" '^NVMe status 640 .SCT 2 SC 0x80' "$k a bad block: write fault, as the drive said"
	is "$(of block store.object_latency_n) $(of block commands_refused)" '15 0' "$k a bad block: not timed as success"
}

shapes() {
	exact tp1 16 65 64
	exact tp4 64 17 16
	exact 70b 16 161 160
	exact serial 4 65 64
	is "$("$KVIO" report --json "$dir/serial.kvt" "$dir/serial.sem" | jq -r .capture.verdict)" \
		'loads QD~1 (serialized), stores pipelined' "$k serial: the report sees it"
	is "$("$KVIO" report --json "$dir/tp1.kvt" "$dir/tp1.sem" | jq -r .capture.verdict)" \
		'loads pipelined, stores pipelined' "$k batched: the report sees that, too"
}

commands() {
	is "$(cat "$dir/probe.rc") $(jq -rs '.[] | select(.schema == "kvio_probe") | [.failed, .rows[].most_in_flight] | join(" ")' "$dir/probe.both")" \
		'0 0 1 4' "$k probe: as many at a time as it says"
	graded probe.kvt probe.sem $((8 * 9 + 2 * 8 * 8)) "$k probe"
	is "$(cat "$dir/sweep.rc")" 0 "$k sweep: all sizes come back as they were"
	# 4096: 1 + 1 and 1; 700000: 6 + 1 and 6; 1 MiB: 8 + 1 and 8
	graded sweep.kvt sweep.sem $((3 + 13 + 17)) "$k sweep"
	is "$(cat "$dir/run.rc") $(jq -r '[.complete, .wrong_objects, .load.commands] | join(" ")' "$dir/run/result.json")" '0 true 0 24' "$k run: done"
	graded run/run.kvt run/sem.jsonl 52 "$k run"
	like "$(cat "$dir/run/validate.txt")" 'exact' "$k run: graded in the guest as well"
	is "$("$KVIO" sql --csv "$dir/run/run.pftrace" "select count(*) from slice where name in ('read', 'write')" 2>/dev/null |
		tail -n 1 | tr -d '\r')" 52 "$k run: the timeline has its commands"
	is "$(jq -r '.objects | length' "$dir/run/manifest.json") $(grep -c '^verdict: ' "$dir/run/report.txt")" '4 1' "$k run: manifest, report"
}

ends() {
	is "$(cat "$dir/full.rc") $(of full store.objects) $(of full store.failed) $(of full load.missed) $(of full 'errors[0].text')" \
		'1 3 6 6 No space left on device' "$k a full device: counted, exit 1"
	is "$(of full store.object_latency_n) $(of full store.commands)" '3 27' "$k a full device: nothing else is timed"
	if [ -s "$dir/shrinks.rc" ]; then
		is "$(cat "$dir/shrinks.rc") $(of shrinks 'store.failed > 0') $(of shrinks 'errors | map(.text) - ["Input/output error", "No space left on device"] | length')" '1 true 0' \
			"$k a disk that shrank: out of range is counted, exit 1"
		is "$(of shrinks 'store.object_latency_n == .store.objects')" true "$k a disk that shrank: not timed as success"
	fi
}

kills() {
	is "$(cat "$dir"/kill.*.rc | sort | uniq -c | tr -s ' \n' ' ')" ' 4 0 4 137 ' \
		"$k killed at random: recovery succeeds each time"
	cat "$dir"/kill.*.both >"$dir/kills"
	is "$(jq -s 'map(.wrong_objects) | add' "$dir/kills")" 0 "$k killed at random: no object is returned that is not whole"
	is "$(jq -s 'all(.recovered.whole + .recovered.torn == .recovered.objects) and (map(.recovered.whole) | add) > 0' "$dir/kills")" true \
		"$k killed at random: those that survive are whole"
	is "$(jq -s 'map(.recovered.checkpoint) | . == sort' "$dir/kills")" true "$k killed at random: checkpoints go on from there"
	jq -c .recovered "$dir/kills" | sed 's/^/# /'
}

run() { # KERNEL PARTS
	parts=$2
	guest "$1" workload.sh --nvme 1G --nvme 64M,bad=33554432 --timeout 400 --modules dm-mod --in "$dmsetup" \
		--append hugepages=160 || return
	for part in $parts; do
		$part
	done
}

more='shapes commands ends kills'
run 6.12 "main $more"
long "6.1: $more" || more=''
run 6.1 "main $more"
done_testing
