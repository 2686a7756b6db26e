#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs in the VM: objects read by `kvio smoke`, recorded with its semantic trace.  The host validates.
exec 2>&1
cd /out || exit 1
# rec NAME SMOKE-OPTIONS...
rec() {
	name=$1
	shift
	kvio record uring-cmd --json -o "$name.kvt" -- kvio smoke -q --sem "$name.sem" "$@" >"$name.json" 2>"$name.err"
	echo $? >"$name.rc"
}

rec deep --dev /dev/ng0n1 --count 512 --qd 32 --len 128k
rec serial --dev /dev/ng0n1 --count 101 --qd 1 --len 4k
rec small-blocks --dev /dev/ng1n1 --count 307 --qd 8 --len 512
exit 0
