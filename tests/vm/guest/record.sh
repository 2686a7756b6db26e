#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs in the VM: known workloads through passthrough, recorded; the words name the parts.  The host judges.
# nvme0 is plain, nvme1 has blocks of 512 bytes, nvme2 and nvme3 are two ways to one namespace.
. /in/lib.sh
parts=$*

smoke() { # OPTIONS...
	kvio smoke -q --dev /dev/ng0n1 "$@"
}
fio_on() { # DEVICE NAME: a command line
	echo "fio --ioengine=io_uring_cmd --cmd_type=nvme --filename=/dev/$1 --output-format=json --output=/out/$2.fio"
}
end_of() { # NAME PID SIGNAL
	name=$1 pid=$2
	finish "$3"
}

counts() {
	rec uring-cmd counts -- $(fio_on ng0n1 counts) --size=256M \
		--name=reads --rw=randread --bs=128k --iodepth=8 --number_ios=509 \
		--name=writes --stonewall --rw=write --bs=4k --iodepth=16 --number_ios=251
	out=mixed.jsonl.zst rec uring-cmd mixed -- $(fio_on ng0n1 mixed) --size=64M \
		--name=mixed --rw=randrw --bsrange=4k-64k --iodepth=4 --number_ios=307 \
		--name=qd1 --stonewall --rw=randread --bs=8k --iodepth=1 --number_ios=101
}

# 4 tags, depth 32
eagain() {
	tags=/sys/block/nvme0n1/queue/nr_requests
	old=$(cat $tags)
	echo 4 >$tags
	out=eagain.jsonl rec uring-cmd eagain -- kvio smoke -q --dev /dev/ng0n1 --count 509 --qd 32
	echo "$old" >$tags
}

# Refused before the device, failed on it, lost after it.
errors() {
	out=errors.jsonl rec uring-cmd errors -- sh -c '
		smoke="kvio smoke -q --dev /dev/ng0n1"
		$smoke --count 17 --len 256k --over-limit
		echo $? >refused.rc
		for fault in past-end bad-opcode bad-length; do
			$smoke --count 5 --qd 1 --fault $fault
		done
		$smoke --qd 8 --fault cq-overflow'
}

locked() {
	grep -q '\[confidentiality\]' /sys/kernel/security/lockdown || exit 9
	kvio doctor >doctor
}

# A native multipath head: the driver sees hidden paths, the user names the head.
multipath() {
	head=$(basename "$(echo /sys/block/nvme*c*n1 | cut -d' ' -f1)" | sed 's/c[0-9]*//; s/nvme/ng/')
	out=multipath.jsonl rec uring-cmd multipath --device "$head" -- sh -c "$(fio_on "$head" multipath) --name=mp --rw=randread \
			--bs=4k --iodepth=4 --size=1M --number_ios=127
		kvio smoke -q --dev /dev/$head --count 3 --len 256k --over-limit
		kvio smoke -q --dev /dev/ng0n1 --count 11"
}

# Three at once, each with its filter; commands that do not pass are counted.
filters() {
	start uring-cmd by-pid --pid $$
	by_pid=$pid
	start uring-cmd by-comm --comm kvio
	by_comm=$pid
	start uring-cmd by-device --device ng1n1
	by_device=$pid
	smoke --count 13
	kvio smoke -q --dev /dev/ng1n1 --count 19 --len 512
	$(fio_on ng0n1 other) --name=other --rw=read --bs=4k --number_ios=7 --size=1M
	end_of by-pid $by_pid INT
	end_of by-comm $by_comm TERM
	end_of by-device $by_device TERM
}

# The program's children count, its neighbours do not.
children() {
	(
		until [ -e /tmp/attached ]; do sleep 0.1; done
		smoke --count 29
		touch /tmp/neighbour
	) &
	rec uring-cmd children -- sh -c 'touch /tmp/attached; (kvio smoke -q --dev /dev/ng0n1 --count 31)
		until [ -e /tmp/neighbour ]; do sleep 0.1; done; exit 7'
	wait
	rec uring-cmd missing -- /no/such/program
}

# Key-value decoding, as far as a drive without it can show.
kv() {
	out=kv.jsonl rec uring-cmd kv --kv -- kvio smoke -q --dev /dev/ng0n1 --count 7
}

overload() {
	start uring-cmd overload --ring 4k
	kill -STOP $pid
	smoke --count 2003
	kill -CONT $pid
	finish TERM
}

# Thousands of records that nobody has taken yet.
pending() {
	start uring-cmd pending
	kill -STOP $pid
	smoke --count 20011 --qd 16
	kill -TERM $pid
	finish CONT
}

# Both have written what there was before they are killed.
killed() {
	start uring-cmd killed
	kvt=$pid
	out=killed2.jsonl start uring-cmd killed2
	smoke --count 1009
	for file in killed.kvt killed2.jsonl; do
		tries=0
		until [ "$(kvio sql --csv $file 'select count(*) from cmd' | tail -n 1 | tr -d '\r')" = 1009 ] || [ $((tries += 1)) -gt 60 ]; do
			sleep 0.5
		done 2>>waiting
	done
	end_of killed2 $pid KILL
	end_of killed $kvt KILL
}

for part in $parts; do
	$part
done
exit 0
