#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every reason to refuse a disk, for real: each says why, and not a byte of the disk changes.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
export KVIO
command -v qemu-system-x86_64 >/dev/null || skip_all "qemu-system-x86_64 is not installed (scripts/deps)"
PATH=$PATH:/usr/sbin:/sbin
dmsetup=$(command -v dmsetup) || skip_all "dmsetup is not installed (scripts/deps)"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

refused() { # CASE PATTERN
	line=$(grep "^$1 " "$log")
	is "$(echo "$line" | cut -d' ' -f2,3)" '1 0' "$k $1: refused, and no byte changed"
	like "$line" "$2" "$k $1: says '$2'"
}
refused_both() {
	refused "$1" "$2"
	refused "$1-block" "$2"
}
guest() { # KERNEL ARGUMENTS... -- WORD...: its lines are in $log
	k=$1 log=$dir/$1.log
	vm/run --timeout 120 --kernel "$@" >"$log" 2>&1
	rc=$?
	if [ $rc = 77 ]; then
		echo "# SKIP kernel $k: $(tail -n 1 "$log")"
		return 1
	fi
	is $rc 0 "$k: the guest ran through"
	[ $rc = 0 ] || sed 's/^/# /' "$log"
}

run() { # KERNEL
	guest "$1" --nvme 2M,lba=512 --nvme 2M,multipath --nvme 4M,zoned=1M --modules dm-mod --in "${B:-build}/tests/guarded" \
		--in "$dmsetup" --in tests/vm/guest/guard.sh -- sh -c 'PATH=$PATH:/in sh /in/guard.sh' || return
	refused not-named 'say --yes-destroy-data=ng0n1'
	refused misnamed "names 'ng1n1', but the target is nvme0n1 or ng0n1"
	refused serial "serial 'kvio0', not 'other'"
	refused partition-name 'is a partition|there is no|cannot'
	refused controller 'is a controller'
	refused block-for-passthrough 'neither a disk, nor'
	refused gone 'neither a disk|there is no'
	refused_both signature 'signature: filesystem ext4 on nvme0n1; .*wipefs -a'
	refused_both mounted 'is mounted: nvme0n1 on /mnt; unmount it'
	refused root 'root file system'
	refused_both partitioned 'is partitioned: it has nvme0n1p1'
	refused_both partition-mounted 'is mounted: nvme0n1p1 on /mnt'
	refused_both swap 'is swapped on: nvme0n1; swapoff'
	refused_both holder 'is held: nvme0n1 belongs to dm-0'
	refused_both read-only 'is read-only'
	refused_both claimed 'is in use'
	refused path-name 'one path of a multipath namespace: use /dev/ng'
	refused head-mounted 'is mounted'
	refused zoned 'is zoned'
	for name in free free-block free-head; do
		is "$(grep "^$name " "$log")" "$name 0 1 written" "$k $name: allowed, and written"
	done
}

run 6.12
if guest 6.1 --nvme 2M,multipath --append nvme_core.multipath=N --in "${B:-build}/tests/guarded" --in tests/vm/guest/guard.sh \
	-- sh /in/guard.sh twins; then
	like "$(cat "$log")" '^disks 2' 'without native multipath a namespace is two disks'
	refused twin-mounted 'is the same namespace as nvme1n1 .* is mounted'
fi
done_testing
