#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio probe, sweep and run without a drive.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
unset LMCACHE_KVIO_TRACE

refuses() { # STATUS PATTERN COMMAND ARGUMENT...
	want=$1 pattern=$2
	shift 2
	"$KVIO" "$@" >"$tmp/out" 2>"$tmp/err"
	is "$?" "$want" "exit $want: $*"
	like "$(cat "$tmp/err")" "$pattern" "says '$pattern'"
}
of() {
	jq -r "$1" "$tmp/r.json"
}

small="--device $tmp/store --object-bytes 100000 --nobj 20 --capacity-bytes 32M --mdts-bytes 16k --reps 2"
for engine in posix io_uring; do
	"$KVIO" probe -q $small --engine $engine --workers 1,3,50 --sem "$tmp/sem" --json >"$tmp/r.json" 2>"$tmp/err"
	is "$? $(of .complete) $(of .failed)" '0 true 0' "$engine: all done"
	is "$(of '[.rows[] | .workers] | join(" ")')" '1 3 50' "$engine: a row each"
	ok "$engine: with a time each" sh -c 'jq -e "[.rows[].best_ns > 0] | all" "$0" >/dev/null' "$tmp/r.json"
	is "$(jq -c 'select(.op) | .op' "$tmp/sem" | sort | uniq -c | tr -s ' ' | paste -sd' ')" ' 120 "load"  20 "store"' \
		"$engine: the semantic trace has each load of each repetition"
done
# 20 objects of 7 commands: 50 at a time are all 20 of them.
is "$(of '[.rows[] | .most_in_flight] | join(" ")')" '1 3 20' 'as deep as there are objects at a time'
like "$("$KVIO" probe -q $small --workers 1,2 2>&1)" '^ +2 +2 .* #+$' 'a table with a plot'

refuses 2 '--device is missing' probe
refuses 2 '--workers' probe $small --workers 0
refuses 2 '--workers' probe $small --workers 1,,2
refuses 2 '--nobj' probe $small --nobj 0
refuses 2 'what the probe varies' probe $small --load-path serial
refuses 1 'do not fit' probe --device "$tmp/store" --object-bytes 1M --nobj 100 --capacity-bytes 8M

"$KVIO" sweep -q --device "$tmp/store" --sizes 1,7,8,4095,4096,4097,16k,16385,100000 --mdts-bytes 16k --reps 2 --json >"$tmp/r.json"
is "$? $(of .complete) $(of '[.rows[] | .right] | join(" ")')" '0 true 2 2 2 2 2 2 2 2 2' 'sweep: all sizes, all bytes'
like "$("$KVIO" sweep -q --device "$tmp/store" --sizes 700000)" '^ +700000 +7 +6 .* OK$' 'sweep: commands of a size'
# Stopped: what was not reached is no failure.
bounded "$KVIO" sweep -q --device "$tmp/store" --sizes 4096,8192 --reps 1000000 >"$tmp/out" 2>"$tmp/err" &
pid=$!
interrupt $pid
wait $pid
is $? 3 'sweep stopped: exit 3'
is "$(grep -c 'NOT DONE$' "$tmp/out") $(grep -c 'FAILED$' "$tmp/out")" '2 0' 'sweep stopped: not done, not failed'
refuses 2 '--sizes' sweep --device "$tmp/store" --sizes 4k,0
refuses 2 'does not fit a slot' sweep --device "$tmp/store" --sizes 1M --slot-bytes 64k

refuses 2 'which command' run -o "$tmp/dir"
refuses 2 'not a command that issues' run report -o "$tmp/dir"
refuses 2 'DIR is missing' run workload --device "$tmp/store"
refuses 2 'no --device' run workload -o "$tmp/dir"
mkdir "$tmp/there"
refuses 1 'cannot make' run workload --device "$tmp/store" -o "$tmp/there"
refuses 2 'cannot be recorded' run workload --device "$tmp/store" -o "$tmp/dir" --witness nothing
is "$(ls "$tmp" | paste -sd' ')" 'err out r.json sem store there' 'nothing is left of what did not run'
done_testing
