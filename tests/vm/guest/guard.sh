#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs in the VM: every reason to refuse a disk, made real.  One line a case:
#   CASE STATUS WRITTEN what was said
# WRITTEN is 0 when each byte of the disk is as it was.
exec 2>&1
inside=
disk=/dev/nvme0n1 node=/dev/ng0n1

sum() { # DISK: past the page cache, which does not see passthrough
	dd if=$1 bs=1M iflag=direct 2>/dev/null | md5sum
}
try() { # CASE TARGET DESTROY SERIAL ENGINE [DISK]
	case=$1 on=${6:-$disk}
	shift
	said=$($inside /in/guarded "$1" "$2" "$3" "$4" </dev/null)
	status=$?
	now=$(sum $on)
	[ "$before" = "$now" ] && changed=0 || changed=1
	before=$now
	echo "$case $status $changed $said"
}
mark() { # [DISK]: what it is like before the tries that follow
	before=$(sum ${1:-$disk})
}
both() { # CASE: by the char node, and by the block node
	try "$1" $node ng0n1 - uring_cmd
	try "$1-block" $disk nvme0n1 - posix
}
wipe() {
	dd if=/dev/zero of=$disk bs=1M count=2 2>/dev/null
	blockdev --rereadpt $disk 2>/dev/null
	usleep 200000
	mark
}
fs() {
	mke2fs -q -t ext4 -E nodiscard -O ^has_journal $1
}

if [ "$1" = twins ]; then
	# Without native multipath both controllers show the same namespace as a disk of its own.
	ls /sys/block | grep -c '^nvme' | sed 's/^/disks /'
	fs /dev/nvme1n1
	mount -o ro /dev/nvme1n1 /mnt
	mark
	try twin-mounted /dev/ng0n1 ng0n1 - uring_cmd
	umount /mnt
	exit 0
fi

# What a user has to say, on a disk that nobody uses.
mark
try not-named $node - - uring_cmd
try misnamed $node ng1n1 - uring_cmd
try serial $node ng0n1 other uring_cmd
try partition-name ${disk}p1 nvme0n1p1 - posix
try controller /dev/nvme0 nvme0 - posix
try block-for-passthrough /dev/zero zero - uring_cmd
try gone /dev/ng7n1 ng7n1 - uring_cmd

fs $disk
mark
both signature
mount -o ro $disk /mnt
both mounted
# The same disk as the root of a process.
umount /mnt
mount $disk /mnt
mkdir -p /mnt/bin /mnt/dev /mnt/proc /mnt/sys /mnt/lib /mnt/lib64 /mnt/usr /mnt/in /mnt/etc
mount -o remount,ro /mnt
for dir in bin dev proc sys lib lib64 usr in etc; do
	[ ! -e /$dir ] || mount --bind /$dir /mnt/$dir
done
mark
inside='chroot /mnt' try root $node ng0n1 - uring_cmd
for dir in bin dev proc sys lib lib64 usr in etc; do
	[ ! -e /$dir ] || umount /mnt/$dir
done
umount /mnt
wipe

printf 'n\np\n1\n\n\nw\n' | fdisk $disk >/dev/null 2>&1
usleep 200000
mark
both partitioned
fs ${disk}p1
mount -o ro ${disk}p1 /mnt
mark
both partition-mounted
umount /mnt
wipe

mkswap $disk >/dev/null
swapon $disk
mark
both swap
swapoff $disk
wipe

dmsetup create held --table "0 4096 linear $disk 0"
both holder
dmsetup remove held
wipe

blockdev --setro $disk
both read-only
blockdev --setrw $disk

# Somebody else holds it: first another kvio, then any program with O_EXCL.
mkfifo /tmp/hold
/in/guarded $node ng0n1 - uring_cmd </tmp/hold >/tmp/held &
exec 9>/tmp/hold
until grep -q written /tmp/held; do usleep 50000; done
mark
both claimed
exec 9>&-
wait

# A multipath head: by the name of a path, and mounted.
head=$(ls /sys/block | grep -o '^nvme[0-9]*c[0-9]*n1' | head -n 1)
number=${head#nvme}
number=${number%%c*}
mp=/dev/nvme${number}n1
mark $mp
try path-name /dev/$head $head - uring_cmd $mp
fs $mp
mount -o ro $mp /mnt
mark $mp
try head-mounted /dev/ng${number}n1 ng${number}n1 - uring_cmd $mp
umount /mnt
dd if=/dev/zero of=$mp bs=1M count=2 2>/dev/null

# A format that plain writes do not fit.
for dev in /sys/block/nvme*n*; do
	name=${dev##*/}
	case $name in *c*n*) continue ;; esac
	[ "$(cat $dev/queue/zoned)" = none ] && continue
	mark /dev/$name
	try zoned /dev/ng${name#nvme} ng${name#nvme} - uring_cmd /dev/$name
done

# And what is allowed does write: else all of the above proves nothing.
wipe
try free $node ng0n1 kvio0 uring_cmd
wipe
try free-block $disk nvme0n1 kvio0 posix
mark $mp
try free-head /dev/ng${number}n1 /dev/ng${number}n1 - uring_cmd $mp
exit 0
