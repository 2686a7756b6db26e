#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio record without a drive: its command line and its refusals.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
dir=$(mktemp -d) || exit 1
chmod 755 "$dir"
trap 'rm -rf "$dir"' EXIT

usage() { # PATTERN ARGUMENTS...
	pattern=$1
	shift
	out=$("$KVIO" record "$@" 2>&1 >"$dir/stdout")
	is "$? $(wc -c <"$dir/stdout")" "2 0" "record $*: exit 2, nothing on stdout"
	like "$out" "$pattern" "record $*: says why"
}
usage 'name what to record'
usage "'foo' cannot be recorded" foo
usage 'unexpected operand' uring-cmd extra
usage "not a process id" uring-cmd --pid x -o "$dir/a.kvt"
usage "not a duration" uring-cmd -d 5y
usage "not a size" uring-cmd --ring lots
usage "at most 1G" uring-cmd --ring 2G
usage "more than 0" uring-cmd --ring 0
usage "cannot tell a capture format" uring-cmd -o "$dir/a.txt"
usage "two outputs" uring-cmd -o "$dir/a.kvt" --jsonl "$dir/a.jsonl"
usage "give -o FILE" uring-cmd --json
usage "record syscall, iouring or mmap as well" nvme --path /tmp -o "$dir/a.kvt"
usage "record uring-cmd or nvme as well" syscall,iouring --device nvme0n1 -o "$dir/a.kvt"
usage "unknown option '--json-out'" syscall --json-out "$dir/a.json"

older() { # PATTERN NAME ARGUMENTS...
	pattern=$1
	shift
	name=$1
	shift
	out=$("${KVIO%/*}/$name" "$@" 2>&1 >"$dir/stdout")
	is "$? $(wc -c <"$dir/stdout")" "2 0" "$name $*: exit 2, nothing on stdout"
	like "$out" "$pattern" "$name $*: says why"
}
older 'options of syscall_monitor' iouring_monitor --label x
older '1000 to 10000000' syscall_monitor --max-events 5
older 'exclude each other' syscall_monitor --detailed --no-detailed
older "unknown option '--frobnicate'" mmap_readamp --frobnicate
older 'options of syscall_monitor' mmap_readamp --json-out "$dir/a.json"
older 'not a process id' mmap_readamp --pid x
older 'two outputs' syscall_monitor --json-out "$dir/a.json" -o "$dir/a.kvt"

# A kernel that cannot be traced: one line, no file, exit 1.
if [ -e /sys/module/nvme_core ] && [ "$(id -u)" = 0 ]; then
	echo "# SKIP this machine has an NVMe driver: the refusal without one is not tested"
else
	out=$("$KVIO" record uring-cmd -o "$dir/a.kvt" 2>&1)
	is $? 1 "no driver: exit 1"
	is "$(printf '%s\n' "$out" | wc -l)" 1 "no driver: one line"
	like "$out" 'cannot record: .*(driver|root|BTF)' "no driver: the reason"
	ok "no driver: no file is left" test ! -e "$dir/a.kvt"
fi
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	cp "$KVIO" "$dir/kvio"
	out=$(setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/kvio" record uring-cmd 2>&1)
	is $? 1 "not root: exit 1"
	is "$(printf '%s\n' "$out" | wc -l)" 1 "not root: one line"
	like "$out" 'needs root|has no BTF' "not root: the reason and the remedy"
else
	echo "# SKIP not root: dropping privileges is not tested"
fi
out=$("$KVIO" record uring-cmd --device ng77n77 -o "$dir/b.kvt" 2>&1)
is $? 1 "no such device: exit 1"
like "$out" "no NVMe namespace 'ng77n77'; here are:" "no such device: says which there are"
done_testing
