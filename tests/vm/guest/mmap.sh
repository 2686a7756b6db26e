#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs in the VM: page faults on a mapped file of ext4, and the commands that came of them.
# NAME.truth has what the program did and what the kernel counted for it.
. /in/lib.sh

mke2fs -q -t ext4 /dev/nvme0n1
mkdir -p /mnt
mount /dev/nvme0n1 /mnt
dd if=/dev/urandom of=/mnt/file bs=1M count=16 2>/dev/null
sync
for way in seq rand advised direct sigbus; do
	rec nvme,mmap $way --stream -- sh -c "/in/faults /mnt/file $way 509 >/out/$way.truth"
done
cat /sys/kernel/debug/fault_around_bytes >fault_around
rec mmap exact --exact-pages -- sh -c '
	cat /sys/kernel/debug/fault_around_bytes >fault_around.exact
	/in/faults /mnt/file rand 509 >/out/exact.truth'
cat /sys/kernel/debug/fault_around_bytes >fault_around.after
rec mmap fio --exact-pages -- fio --name=mapped --filename=/mnt/file --ioengine=mmap --rw=read --bs=4k --size=4M --invalidate=1 \
	--output-format=json --output=/out/fio.fio
rec mmap made -- sh -c '
	dd if=/dev/zero of=/mnt/made bs=64k count=16
	dd if=/mnt/made of=/dev/null bs=64k count=16 iflag=direct
	fio --name=u --filename=/mnt/uring --size=512k --bs=16k --rw=write --ioengine=io_uring --fallocate=none' >made.truth
umount /mnt
# The device itself: its pages and the faults on them are of one file.
rec mmap disk -- fio --name=disk --filename=/dev/nvme0n1 --ioengine=mmap --rw=read --bs=4k --size=1M --invalidate=1 --output=/out/disk.fio
# Nothing is mapped: the name is not that of a file that had a fault.
rec mmap raw -- dd if=/dev/nvme0n1 of=/dev/null bs=64k skip=1024 count=16
