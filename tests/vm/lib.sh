# SPDX-License-Identifier: Apache-2.0
# For tests that record in a guest and judge here: source it, then call guest() for each kernel.
# Of a recording NAME the guest leaves NAME.kvt, NAME.json (the recorder's summary), NAME.fio (fio's own counts).
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
export KVIO
command -v qemu-system-x86_64 >/dev/null || skip_all "qemu-system-x86_64 is not installed (scripts/deps)"
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT

# guest KERNEL SCRIPT OPTIONS...: runs the script, with the words of $parts; sets k to the kernel, dir to what it left.
# Fails when there is no such kernel.
guest() {
	k=$1
	dir=$top/$1
	script=$2
	shift 2
	vm/run --kernel "$k" --timeout 300 --in tests/vm/guest/lib.sh --in "tests/vm/guest/$script" "$@" --out "$dir" \
		-- sh "/in/$script" ${parts-} >"$dir.log" 2>&1
	rc=$?
	if [ $rc = 77 ]; then
		echo "# SKIP kernel $k: $(tail -n 1 "$dir.log")"
		return 1
	fi
	is $rc 0 "$k: the guest ran through"
	[ $rc = 0 ] || sed 's/^/# /' "$dir.log"
}
# What takes long runs on its second kernel only with KVIO_TEST_LONG=1.
long() { # KERNEL, or what of it
	[ -n "$KVIO_TEST_LONG" ] || echo "# SKIP kernel $1: KVIO_TEST_LONG=1 has it tested, too"
	[ -n "$KVIO_TEST_LONG" ]
}
of() { # NAME KEY
	jq -r ".$2" "$dir/$1.json"
}
fio_of() { # NAME KEY
	jq -r "[.jobs[] | .$2] | add" "$dir/$1.fio"
}
sql() { # NAME QUERY
	"$KVIO" sql --csv "$dir/$1.kvt" "$2" 2>/dev/null | tail -n +2 | tr -d '\r' | paste -sd' '
}
quiet() { # NAME: everything adds up, and nothing is lost
	jq -e '.seen == .stored + .in_flight + .ring_full + .map_full + .unread + .filtered and
		(.ring_full + .map_full + .hook_missed + .unread + .in_flight) == 0' "$dir/$1.json" >/dev/null
}
