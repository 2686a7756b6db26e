#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs in the VM: known workloads, recorded.  Leaves NAME.kvt or NAME.jsonl,
# NAME.json (the recorder's summary), NAME.rc and NAME.err in /out; the host
# judges.
exec 2>&1
cd /out || exit 1
nr=/sys/block/nvme0n1/queue/nr_requests

# rec NAME OPTIONS... -- COMMAND...
rec() {
	name=$1
	shift
	kvio record uring-cmd --json -o "${out:-$name.kvt}" "$@" >"$name.json" 2>"$name.err"
	echo $? >"$name.rc"
}

# Starts a recorder in the background, waits until it records; $pid is its pid.
start() {
	name=$1
	shift
	kvio record uring-cmd --json -o "${out:-$name.kvt}" "$@" >"$name.json" 2>"$name.err" &
	pid=$!
	i=0
	until grep -qE 'recording (until|for)' "$name.err" 2>/dev/null || [ $i -ge 100 ]; do
		sleep 0.1
		i=$((i + 1))
	done
}

finish() {
	wait $pid
	echo $? >"$name.rc"
}

smoke() {
	kvio smoke -q --dev /dev/ng0n1 "$@"
}

# rec_fio NAME FIO-OPTIONS...
rec_fio() {
	name=$1
	shift
	rec "$name" -- fio --name="$name" --ioengine=io_uring_cmd --cmd_type=nvme --filename=/dev/ng0n1 \
		--output-format=json --output="/out/$name.fio" "$@"
}

# --- counts against fio
rec_fio reads --rw=randread --bs=128k --iodepth=8 --size=256M --number_ios=509
rec_fio writes --rw=write --bs=4k --iodepth=16 --size=256M --number_ios=251
out=mixed.jsonl rec_fio mixed --rw=randrw --bsrange=4k-64k --iodepth=4 --size=64M --number_ios=307
out=qd1.jsonl.zst rec_fio qd1 --rw=randread --bs=8k --iodepth=1 --size=64M --number_ios=101

# --- EAGAIN: 4 tags, depth 32
old=$(cat $nr)
echo 4 >$nr
out=eagain.jsonl rec eagain -- kvio smoke -q --dev /dev/ng0n1 --count 509 --qd 32 --sem eagain.sem
echo "$old" >$nr

# --- refused before the device, failed on it, lost after it
out=refused.jsonl rec refused -- kvio smoke -q --dev /dev/ng0n1 --count 17 --len 256k --over-limit
for fault in past-end bad-opcode bad-length; do
	out=$fault.jsonl rec $fault -- kvio smoke -q --dev /dev/ng0n1 --count 5 --qd 1 --fault $fault
done
out=overflow.jsonl rec overflow -- kvio smoke -q --dev /dev/ng0n1 --qd 8 --fault cq-overflow

# --- filters; commands that do not pass are counted
start by-pid --pid $$
smoke --count 13
kill -INT $pid
finish
start by-comm --comm kvio
smoke --count 11
fio --name=other --ioengine=io_uring_cmd --cmd_type=nvme --filename=/dev/ng0n1 --rw=read --bs=4k --number_ios=7 \
	--size=1M >/dev/null
kill -TERM $pid
finish
start by-device --device ng1n1
smoke --count 11
kvio smoke -q --dev /dev/ng1n1 --count 19 --len 512
kill -TERM $pid
finish
# The program's children count, its neighbours do not.
(
	until [ -e /tmp/attached ]; do sleep 0.1; done
	smoke --count 29
	touch /tmp/neighbour
) &
rec children -- sh -c 'touch /tmp/attached; (kvio smoke -q --dev /dev/ng0n1 --count 31)
	until [ -e /tmp/neighbour ]; do sleep 0.1; done; exit 7'
wait
rec missing -- /no/such/program

# --- key-value decoding, as far as a drive without it can show
out=kv.jsonl rec kv --kv -- kvio smoke -q --dev /dev/ng0n1 --count 7

# --- losses
start overload --ring 4k
kill -STOP $pid
smoke --count 2003
kill -CONT $pid
kill -TERM $pid
finish
start pending
kill -STOP $pid
smoke --count 20011 --qd 16
kill -TERM $pid
kill -CONT $pid
finish
start killed
smoke --count 1009
sleep 2.5
kill -KILL $pid
finish
out=killed2.jsonl start killed2
smoke --count 1009
sleep 2.5
kill -KILL $pid
finish

exit 0
