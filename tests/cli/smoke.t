#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio smoke without a drive: wrong command lines and wrong nodes.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# refuses STATUS PATTERN ARGUMENT...: that exit status, one line of that kind, nothing on stdout.
refuses() {
	want=$1 pattern=$2
	shift 2
	"$KVIO" smoke "$@" >"$tmp/out" 2>"$tmp/err"
	is "$?" "$want" "exit $want: smoke $*"
	is "$(cat "$tmp/out")" '' 'nothing on stdout'
	like "$(cat "$tmp/err")" "$pattern" "says '$pattern'"
}

refuses 2 '--dev is missing'
refuses 2 'unexpected operand' --dev /dev/ng9n9 extra
refuses 2 'not both' --dev /dev/ng9n9 --count 8 --objects 1
refuses 2 '--qd must be' --dev /dev/ng9n9 --qd 0
refuses 2 '--qd must be' --dev /dev/ng9n9 --qd 5000
refuses 2 '--cmds-per-obj' --dev /dev/ng9n9 --cmds-per-obj 0
refuses 2 '--len must not be 0' --dev /dev/ng9n9 --len 0
refuses 2 '--op-timeout' --dev /dev/ng9n9 --op-timeout 0
refuses 2 '1 to 4194304 commands' --dev /dev/ng9n9 --count 0
refuses 2 '1 to 4194304 commands' --dev /dev/ng9n9 --objects 0
refuses 2 '1 to 4194304 commands' --dev /dev/ng9n9 --count 4194305
refuses 2 '1 to 4194304 commands' --dev /dev/ng9n9 --objects 9223372036854775808 --cmds-per-obj 2
refuses 2 'trace ids' --dev /dev/ng9n9 --trace-base 0
refuses 2 'trace ids' --dev /dev/ng9n9 --trace-base 4294967295 --count 9
refuses 2 'power of two' --dev /dev/ng9n9 --fault cq-overflow --qd 6
refuses 2 'fault' --dev /dev/ng9n9 --fault nonsense
refuses 2 'count' --dev /dev/ng9n9 --count 12x
refuses 2 'len' --dev /dev/ng9n9 --len 4096.5q
refuses 2 'counts' --dev /dev/ng9n9 --counts 3

# Nodes that do not take passthrough: the right one is named.
refuses 2 'partition.*use /dev/ng9n9$' --dev /dev/nvme9n9p2
refuses 2 'partition.*use /dev/ng9n9$' --dev nvme9n9p2
refuses 2 'one path of.*use /dev/ng9n9$' --dev /dev/nvme9c1n9
refuses 2 'controller.*/dev/ng9n1$' --dev /dev/nvme9
refuses 2 'not an NVMe namespace' --dev /dev/null
refuses 2 'not an NVMe namespace' --dev /dev/sda
refuses 2 'not an NVMe namespace' --dev "$tmp"
# The right sort of node, and none there: the block node's name means the same namespace.
refuses 1 'cannot open /dev/ng9n9: No such file' --dev /dev/ng9n9
refuses 1 'cannot open /dev/ng9n9: No such file' --dev nvme9n9
refuses 1 'cannot open /dev/ng9n9: No such file' --dev /dev/nvme9n9
ln -s /dev/null "$tmp/ng0n1"
refuses 2 'not an NVMe namespace' --dev "$tmp/ng0n1"
ok 'no semantic trace is made of a refused run' sh -c '"$1" smoke --dev /dev/ng9n9 --sem "$2/sem" 2>/dev/null; [ ! -e "$2/sem" ]' - "$KVIO" "$tmp"

"$KVIO" smoke --help >"$tmp/out"
is "$?" 0 '--help: exit 0'
like "$(cat "$tmp/out")" '--cmds-per-obj' 'and shows the options'
dir=$(dirname "$KVIO")
if [ -x "$dir/nvme_uring_cmd_smoke" ]; then
	"$dir/nvme_uring_cmd_smoke" --dev /dev/ng9n9 --count 256 --qd 8 --len 4096 --lba-size 4096 --cmds-per-obj 8 \
		--trace-base 7000 >"$tmp/out" 2>"$tmp/err"
	is "$?" 1 'the older name takes its flags'
	like "$(cat "$tmp/err")" 'cannot open /dev/ng9n9' 'and gets as far as the device'
fi
done_testing
