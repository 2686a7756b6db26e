# SPDX-License-Identifier: Apache-2.0
# For what runs in the VM: records into NAME.kvt ($out: another file), NAME.json, NAME.err and NAME.rc in /out; the host judges.
exec 2>&1
cd /out || exit 1

# rec WHAT NAME OPTIONS... -- COMMAND...: the command's own output is in NAME.truth
rec() {
	what=$1
	name=$2
	shift 2
	kvio record "$what" --json -o "${out:-$name.kvt}" "$@" >"$name.json" 2>"$name.err"
	echo $? >"$name.rc"
}
# start "WHAT OPTION..." NAME OPTIONS...: in the background, returns when it records; $pid is its pid.
start() {
	what=$1
	name=$2
	shift 2
	kvio record $what --json -o "${out:-$name.kvt}" "$@" >"$name.json" 2>"$name.err" &
	pid=$!
	i=0
	until grep -qE 'recording (until|for)' "$name.err" 2>/dev/null || [ $i -ge 300 ]; do
		sleep 0.1
		i=$((i + 1))
	done
}
finish() { # SIGNAL
	kill "-$1" $pid
	wait $pid
	echo $? >"$name.rc"
}
