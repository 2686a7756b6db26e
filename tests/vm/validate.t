#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Recordings of known workloads on a real kernel validate as exact; with a command taken out they do not.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
export KVIO
command -v qemu-system-x86_64 >/dev/null || skip_all "qemu-system-x86_64 is not installed (scripts/deps)"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
vm/run --nvme 1G --nvme 64M,lba=512 --timeout 300 --in tests/vm/guest/validate.sh --out "$dir" -- sh /in/validate.sh >"$dir.log" 2>&1
rc=$?
[ $rc = 77 ] && skip_all "$(tail -n 1 "$dir.log")"
is $rc 0 'the guest ran through'
[ $rc = 0 ] || sed 's/^/# /' "$dir.log"
rm -f "$dir.log"
for name in deep serial small-blocks; do
	is "$(cat "$dir/$name.rc")" 0 "$name: recorded"
	"$KVIO" validate --json "$dir/$name.kvt" "$dir/$name.sem" >"$dir/grade.json"
	is "$? $(jq -r '"\(.verdict) \(.exact == .objects) \(.right_place == .objects) \(.wape_projected_percent) \(.missing_bytes + .extra_bytes)"' "$dir/grade.json")" \
		'0 exact true true 0 0' "$name: every object is exact, in size, direction and place"
	ok "$name: there are objects" [ "$(jq .objects "$dir/grade.json")" -gt 0 ]
	"$KVIO" cat -q -o "$dir/$name.jsonl" "$dir/$name.kvt"
	n=$(grep -n '"nvme_cmd"' "$dir/$name.jsonl" | sed -n 5p | cut -d: -f1)
	sed "${n}d" "$dir/$name.jsonl" >"$dir/less.jsonl"
	"$KVIO" validate --json "$dir/less.jsonl" "$dir/$name.sem" >"$dir/grade.json"
	is "$? $(jq -r .verdict "$dir/grade.json")" '1 mismatch' "$name: without one of its commands it is not"
done
done_testing
