#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs in the VM: the ways into the driver that are not a plain read or write; the host judges.
# nvme0 is plain, nvme1 zoned, a block of nvme2 is bad and its flushes fail, nvme3 and nvme4 are two ways to one namespace.
. /in/lib.sh
cat /sys/devices/system/cpu/possible >possible

all=nvme,iouring,syscall
fio_of() { # NAME: a command line
	echo "fio --name=$1 --direct=1 --bs=4k --size=32M --output-format=json --output=/out/$1.fio"
}

# --- io_uring: a kernel thread that submits; vectors, chains, ends, zeroes; errors
rec $all sqpoll -- $(fio_of sqpoll) --filename=/dev/nvme0n1 --ioengine=io_uring --sqthread_poll=1 --registerfiles=1 --rw=randread \
	--iodepth=8 --number_ios=211
rec $all direct -- /in/requests /dev/nvme0n1 direct
rec $all errors -- sh -c '/in/requests /dev/nvme2n1 errors && /in/passthru errors /dev/ng2n1'

# --- four tags for 32 requests
tags=/sys/block/nvme0n1/queue/nr_requests
old=$(cat $tags)
echo 4 >$tags
rec $all tags -- sh -c "$(fio_of tags) --filename=/dev/nvme0n1 --ioengine=io_uring --rw=randrw --iodepth=32 --number_ios=509
	fio --name=cmds --ioengine=io_uring_cmd --cmd_type=nvme --filename=/dev/ng0n1 --rw=randread --bs=4k --iodepth=32 --size=32M \
		--number_ios=409 --output-format=json --output=/out/cmds.fio"
echo "$old" >$tags

# --- commands that only passthrough makes
rec nvme,iouring passthru -- sh -c '/in/passthru compare /dev/ng0n1 && /in/passthru ranges /dev/ng0n1 && /in/passthru zones /dev/ng1n1'
rec nvme,iouring vectors -- /in/passthru vectors /dev/ng0n1

# --- two ways to one namespace
for policy in /sys/class/nvme-subsystem/*/iopolicy; do
	echo round-robin >"$policy"
done
head=$(basename "$(echo /sys/block/nvme*c*n1 | cut -d' ' -f1)" | sed 's/c[0-9]*//')
echo "$head" >head
rec $all ways --device "$head" -- sh -c "$(fio_of ways) --filename=/dev/$head --ioengine=psync --rw=randread --number_ios=103
	fio --name=o --filename=/dev/nvme0n1 --direct=1 --ioengine=psync --rw=read --bs=4k --size=4M --number_ios=31 >/dev/null"

# --- a file system that gives back many pieces at once
if grep -qw xfs /proc/filesystems; then
	mkfs.xfs -q -f /dev/nvme0n1 && mkdir -p /mnt && mount -o discard /dev/nvme0n1 /mnt
	fio --name=r --filename=/mnt/pieces --size=4M --bs=4k --rw=write:4k --ioengine=psync --end_fsync=1 >/dev/null
	start nvme discard
	rm /mnt/pieces
	umount /mnt
	finish INT
fi

# --- thousands of records that nobody has taken yet
pending() { # "WHAT OPTION..." NAME COMMAND
	start "$1" "$2"
	kill -STOP $pid
	sh -c "$3"
	kill -TERM $pid
	finish CONT
}
pending $all pending "$(fio_of pending) --filename=/dev/nvme0n1 --size=256M --ioengine=psync --rw=randread --number_ios=20011
	/in/requests - nops"
truncate -s 104M /tmp/mapped
pending 'mmap --stream' faults '/in/faults /tmp/mapped warm-write 60000 >/out/faults.truth'
true
