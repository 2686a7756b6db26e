#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio top on a real kernel: a serial and a deep reader, told apart.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
export KVIO
command -v qemu-system-x86_64 >/dev/null || skip_all "qemu-system-x86_64 is not installed (scripts/deps)"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# Probes are attached before the load starts and detached when it is over (vm/README.md).
vm/run --timeout 180 --out "$dir" -- sh -c '
	cd /out
	reader() { # FILE OPTIONS...: waits for the file, then reads
		file=$1
		shift
		until [ -e "$file" ]; do sleep 0.1; done
		exec kvio smoke -q --dev /dev/ng0n1 "$@"
	}
	watch() { # NAME OPTIONS...: returns when it has shown one interval, so is attached
		name=$1
		shift
		kvio top "$@" >"$name" &
		top=$!
		until [ -s "$name" ]; do sleep 0.1; done
	}
	reader /tmp/go --count 6000 --qd 1 --len 16k --cmds-per-obj 64 & serial=$!
	reader /tmp/go --count 24000 --qd 16 & deep=$!
	echo $serial $deep >pids
	watch top.json --json
	touch /tmp/go
	wait $serial $deep
	sleep 1.5
	kill $top
	wait $top

	reader /tmp/go2 --count 3000 --qd 1 & one=$!
	reader /tmp/go2 --count 3000 --qd 1 & other=$!
	echo $one $other >pids2
	watch one.txt --no-color --pid $one
	touch /tmp/go2
	wait $one $other
	sleep 1.5
	kill $top
	wait $top
	kvio top --once --json >idle.json
	kvio record uring-cmd --top --no-color -o both.kvt -- sh -c "sleep 1; kvio smoke -q --dev /dev/ng0n1 --count 211; sleep 1.5" \
		>both.txt' >"$dir/log" 2>&1
is $? 0 "the guest ran through"
[ -s "$dir/idle.json" ] || sed 's/^/# /' "$dir/log"
read -r serial deep <"$dir/pids"
# The interval in which both read most.
both=$(jq -c "select([.processes[] | select((.pid == $serial or .pid == $deep) and .reads > 50)] | length == 2)" \
	"$dir/top.json" | jq -sc 'max_by(.devices[0].reads)')
row() { # PID FIELD
	printf '%s\n' "$both" | jq -r ".processes[] | select(.pid == $1) | .$2"
}
is "$(row "$serial" verdict) $(row "$deep" verdict)" "QD~1 pipelined" "each process has its verdict"
is "$(row "$serial" comm)" kvio "processes are named"
ok "busy depths: $(row "$serial" busy_depth) and $(row "$deep" busy_depth)" test "$(printf '%s\n' "$both" | jq "[.processes[] |
	select(.pid == $serial).busy_depth < 1.2, select(.pid == $deep).busy_depth > 3] | all")" = true
is "$(printf '%s\n' "$both" | jq -r '.devices | length, .[0].disk' | xargs)" '1 nvme0n1' "the device is named"
is "$(jq -s '[.[].processes[].reads] | add' "$dir/top.json")" 30000 "the intervals sum to the commands there were"
is "$(jq -s '[.[].devices[].reads] | add' "$dir/top.json")" 30000 "devices sum to the same"
is "$(tail -n 1 "$dir/top.json" | jq '.ring_full + .map_full + .hook_missed')" 0 "nothing lost"
read -r one other <"$dir/pids2"
like "$(cat "$dir/one.txt")" "^$one kvio " "--pid: text has its row"
ok "--pid: and no other" sh -c '! grep -q "^$0 " "$1"' "$other" "$dir/one.txt"
is "$(jq '.devices | length' "$dir/idle.json")" 0 "an idle machine has no rows"
like "$(cat "$dir/both.txt")" '^nvme0n1 ' "record --top: the view"
is "$("$KVIO" report --json "$dir/both.kvt" | jq '[.[].commands.n][0]')" 211 "record --top: and the capture"
done_testing
