#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio workload on an NVMe namespace: what it said it would do is what the driver saw, command by command.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
export KVIO
command -v qemu-system-x86_64 >/dev/null || skip_all "qemu-system-x86_64 is not installed (scripts/deps)"
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT

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

run() { # KERNEL
	k=$1
	dir=$top/$k
	vm/run --kernel "$1" --nvme 1G --timeout 200 --in tests/vm/guest/workload.sh --out "$dir" \
		--append hugepages=160 -- sh /in/workload.sh >"$dir.log" 2>&1
	rc=$?
	if [ $rc = 77 ]; then
		echo "# SKIP kernel $1: $(tail -n 1 "$dir.log")"
		return
	fi
	is $rc 0 "$k: the guest ran through"
	[ $rc = 0 ] || sed 's/^/# /' "$dir.log"
	exact tp1 16 65 64
	exact tp2 32 33 32
	exact tp4 64 17 16
	exact 70b 16 161 160
	exact serial 4 65 64
	[ -z "$KEEP" ] || cp -r "$dir" "$KEEP"
}

run 6.1
run 6.12
done_testing
