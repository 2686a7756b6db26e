#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs in the VM: every way into the driver, recorded; fio is the witness.
# Leaves NAME.kvt, NAME.json, NAME.fio and NAME.rc in /out; the host judges.
. /in/lib.sh

rec_fio() { # NAME FIO-OPTIONS...
	name=$1
	shift
	rec nvme "$name" -- fio --name="$name" --filename=/dev/nvme0n1 --output-format=json --output="/out/$name.fio" "$@"
}

rec_fio psync --ioengine=psync --direct=1 --rw=randread --bs=4k --size=64M --number_ios=211
rec_fio pvsync2 --ioengine=pvsync2 --direct=1 --rw=randread --bs=8k --size=64M --number_ios=103
rec_fio libaio --ioengine=libaio --direct=1 --iodepth=8 --rw=randwrite --bs=16k --size=64M --number_ios=107
rec_fio io_uring --ioengine=io_uring --direct=1 --iodepth=8 --rw=randrw --bs=4k --size=64M --number_ios=311
rec_fio fixed --ioengine=io_uring --fixedbufs=1 --registerfiles=1 --direct=1 --iodepth=4 --rw=randread --bs=4k --size=64M \
	--number_ios=109
rec_fio split --ioengine=psync --direct=1 --rw=read --bs=256k --size=64M --number_ios=37
rec_fio fsync --ioengine=psync --direct=1 --rw=write --bs=4k --fsync=1 --size=64M --number_ios=61
rec_fio trim --ioengine=psync --direct=1 --rw=trim --bs=64k --size=64M --number_ios=29
rec nvme passthrough -- fio --name=pt --ioengine=io_uring_cmd --cmd_type=nvme --filename=/dev/ng0n1 --rw=randread --bs=4k \
	--iodepth=8 --size=64M --number_ios=127 --output-format=json --output=/out/passthrough.fio

# --- two drives at once, then one of them by name
kvio record nvme --json -o two.kvt -- sh -c '
	fio --name=a --ioengine=psync --direct=1 --rw=read --bs=4k --size=4M --number_ios=41 --filename=/dev/nvme0n1 >/dev/null &
	fio --name=b --ioengine=psync --direct=1 --rw=read --bs=4k --size=4M --number_ios=43 --filename=/dev/nvme1n1 >/dev/null
	wait' >two.json 2>two.err
kvio record nvme --json -o one.kvt --device nvme1n1 -- sh -c '
	fio --name=a --ioengine=psync --direct=1 --rw=read --bs=4k --size=4M --number_ios=41 --filename=/dev/nvme0n1 >/dev/null
	fio --name=b --ioengine=psync --direct=1 --rw=read --bs=4k --size=4M --number_ios=43 --filename=/dev/nvme1n1 >/dev/null' \
	>one.json 2>one.err

# --- filters on commands
mixed='fio --name=m --filename=/dev/nvme0n1 --ioengine=psync --direct=1 --size=64M --output-format=json'
rec nvme op --op flush --op write -- $mixed --rw=randrw --bs=4k --fsync=3 --number_ios=200 --output=/out/op.fio
rec nvme size --min-size 8k --max-size 16k -- $mixed --rw=randread --bssplit=4k/50:8k/25:32k/25 --number_ios=200 \
	--output=/out/size.fio

# --- a cgroup
if mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null || [ -e /sys/fs/cgroup/cgroup.procs ]; then
	mkdir -p /sys/fs/cgroup/outer/inner
	start nvme cgroup --cgroup outer
	sh -c 'echo $$ >/sys/fs/cgroup/outer/inner/cgroup.procs
		exec fio --name=in --ioengine=psync --direct=1 --rw=read --bs=4k --size=4M --number_ios=47 --filename=/dev/nvme0n1' >/dev/null
	fio --name=out --ioengine=psync --direct=1 --rw=read --bs=4k --size=4M --number_ios=53 --filename=/dev/nvme0n1 >/dev/null
	finish INT
fi

# --- system calls, and both witnesses in one file
mkdir -p /tmp/a
rec syscall calls -- /in/calls /tmp/a
rec nvme,syscall both -- fio --name=both --filename=/dev/nvme0n1 --ioengine=psync --direct=1 --rw=randread \
	--bs=4k --size=64M --number_ios=113 --output-format=json --output=/out/both.fio

# --- io_uring and the commands that came of it
rec nvme,iouring uring -- fio --name=uring --filename=/dev/nvme0n1 --ioengine=io_uring --direct=1 --rw=randread \
	--bs=4k --iodepth=8 --size=64M --number_ios=131 --output-format=json --output=/out/uring.fio
rec nvme,iouring cmds -- fio --name=cmds --filename=/dev/ng0n1 --ioengine=io_uring_cmd --cmd_type=nvme --rw=randread \
	--bs=16k --iodepth=8 --size=64M --number_ios=137 --output-format=json --output=/out/cmds.fio

# --- buffered writes, written back by sync: the device stays open, else close would do it
exec 3</dev/nvme0n1
start nvme,syscall,iouring cached
fio --name=cached --filename=/dev/nvme0n1 --ioengine=psync --rw=write --bs=16k --size=64M --number_ios=53 --output-format=json \
	--output=/out/cached.fio
sync
exec 3<&-
finish INT
# --- files and the commands on them: ext4 on a partition, XFS on the whole drive
files() { # NAME DEVICE MKFS
	mkdir -p "/mnt/$1"
	$3 "$2" >"$1.mkfs" 2>&1 && mount "$2" "/mnt/$1" || return
	fio --name=lay --filename="/mnt/$1/file" --size=24M --bs=1M --rw=write --ioengine=psync --end_fsync=1 >/dev/null
	echo tiny >"/mnt/$1/tiny"
	sync
	kvio record nvme,syscall --json --map-files "/mnt/$1" -o "$1.kvt" -- sh -c "
		fio --name=f --filename=/mnt/$1/file --size=24M --ioengine=psync --direct=1 --rw=randread --bs=4k --number_ios=83 \
			--output-format=json --output=/out/$1.fio
		dd if=/dev/zero of=/mnt/$1/new bs=64k count=16 conv=fsync
		dd if=/mnt/$1/new of=/mnt/$1/moved bs=64k count=4 conv=fsync" >"$1.json" 2>"$1.err"
	[ "$1" = ext4 ] && others
	# The second map of a file whose blocks were given back and taken anew.
	kvio record nvme --json --map-files "/mnt/$1/file" -o "$1.moved.kvt" -- sh -c "
		: >/mnt/$1/file; dd if=/dev/zero of=/mnt/$1/other bs=1M count=8 conv=fsync
		dd if=/dev/zero of=/mnt/$1/file bs=1M count=24 conv=fsync" >"$1.moved.json" 2>"$1.moved.err"
	umount "/mnt/$1"
}
# What other threads than the program's do on a file whose blocks stay: written back by sync, read by io_uring's workers.
others() {
	start nvme,syscall,iouring others --map-files /mnt/ext4/file
	for i in 0 1 2 3 4 5 6 7; do
		dd if=/dev/zero of=/mnt/ext4/file bs=64k count=1 seek=$((i * 16)) conv=notrunc 2>/dev/null
	done
	sync
	fio --name=o --filename=/mnt/ext4/file --size=24M --ioengine=io_uring --force_async=1 --iodepth=4 --direct=1 --rw=randread --bs=4k \
		--number_ios=31 --output-format=json --output=/out/others.fio
	finish INT
}
# Pieces with holes between them, given back at once.
ranges() {
	mount -o discard "$1" /mnt/ext4 || return
	fio --name=r --filename=/mnt/ext4/pieces --size=4M --bs=4k --rw=write:4k --ioengine=psync --end_fsync=1 >/dev/null
	sync
	# The journal gives them back, not the program.
	start nvme ranges
	rm /mnt/ext4/pieces /mnt/ext4/file /mnt/ext4/other
	sync
	sleep 0.5
	finish INT
	umount /mnt/ext4
}
printf 'n\np\n1\n\n+500M\nw\n' | fdisk /dev/nvme0n1 >fdisk.log 2>&1
i=0
until [ -b /dev/nvme0n1p1 ] || [ $i -ge 20 ]; do sleep 0.1; i=$((i + 1)); done
files ext4 /dev/nvme0n1p1 'mkfs.ext4 -q -F'
ranges /dev/nvme0n1p1
grep -qw xfs /proc/filesystems && files xfs /dev/nvme0n1 'mkfs.xfs -q -f'
true
