#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The ways into the driver that are not a plain read or write, on real kernels, as each tracer that sees them tells;
# fio, and programs of ours that check what they get, are the witnesses.
cd "$(dirname "$0")/../.." || exit 1
. tests/vm/lib.sh

# The requests and the commands of a recording: how many, bytes.
requests() { # NAME CONDITION
	sql "$1" "select count(*), sum(res) from uring where $2"
}
commands() { # NAME CONDITION
	sql "$1" "select count(*), sum(bytes) from cmd where $2"
}
both_of() { # NAME: fio's reads and writes
	echo "$(fio_of "$1" read.total_ios),$(fio_of "$1" read.io_bytes) $(fio_of "$1" write.total_ios),$(fio_of "$1" write.io_bytes)"
}

uring() {
	is "$(requests sqpoll "op = 'read' and sqpoll and path = '/dev/nvme0n1'") $(commands sqpoll "op = 'read'")" \
		"$(fio_of sqpoll read.total_ios),$(fio_of sqpoll read.io_bytes) $(fio_of sqpoll read.total_ios),$(fio_of sqpoll read.io_bytes)" \
		"$k SQPOLL: requests and commands are fio's"
	is "$(sql sqpoll "select count(*), count(distinct c.comm), count(distinct c.pid) from cmd c join uring u on u.id = c.uring_id
		where c.comm glob 'iou-sqp-*' and c.pid = u.pid and c.slba * 4096 = u.offset")" "$(fio_of sqpoll read.total_ios),1,1" \
		"$k SQPOLL: the kernel's thread makes them for the program, each command has its request"
	is "$(cat "$dir/direct.rc") $(sql direct "select op, count(*), sum(size), sum(res), sum(iovcnt) from uring where user_data between 400 and 499 group by 1")" \
		"0 readv,7,$((7 * 64 * 4096)),$((7 * 64 * 4096)),$((7 * 64))" "$k 64 iovecs: io_uring"
	is "$(sql direct "select count(*), sum(size), sum(ret) from syscall where name = 'preadv2'")" \
		"5,$((5 * 64 * 4096)),$((5 * 64 * 4096))" "$k 64 iovecs: system calls"
	is "$(sql direct "select count(*), sum(n), min(bytes), max(bytes) from (select count(*) n, sum(bytes) bytes from cmd where op = 'read'
		group by uring_id, call_id having sum(bytes) > 16384)")" "12,24,262144,262144" "$k 64 iovecs: commands of each add up, two of the largest size"
	is "$(sql direct "select op, count(*), group_concat(distinct sqe_flags & 4), sum(res) from uring where user_data between 500 and 599
		group by op order by op")" "fsync,3,4,0 read,3,0,12288 write,3,4,12288" "$k links: requests"
	is "$(sql direct "select op, count(*), sum(bytes) from cmd where op in ('write', 'flush') or (op = 'read' and slba between 2048 and 2050)
		group by op order by op")" "flush,3,0 read,3,12288 write,3,12288" "$k links: commands"
	is "$(sql direct "select sum(c.ts_ns > p.ts_ns + p.lat_ns) from (select op, ts_ns, lag(op) over (order by ts_ns) before from cmd
		where op in ('write', 'flush') or (op = 'read' and slba between 2048 and 2050)) c join cmd p on p.ts_ns = (select max(ts_ns) from cmd q
		where q.ts_ns < c.ts_ns) where c.op || ' after ' || c.before in ('flush after write', 'read after flush')")" 6 \
		"$k links: each command is made when the one before is done"
	is "$(sql direct "select user_data, size, res from uring where user_data between 600 and 699 order by 1")" \
		"600,8192,4096 601,8192,4096 602,8192,4096 603,8192,4096 604,0,-125" "$k short reads: io_uring, and a chain that one breaks"
	is "$(sql direct "select count(*), sum(size), sum(ret) from syscall where name = 'pread64' and path = '/dev/nvme0n1'") $(commands direct \
		"op = 'read' and slba = 262143")" "4,32768,16384 8,32768" "$k short reads: system calls, and commands of what is there"
	is "$(sql direct "select sum(bytes), min(slba is not null) from cmd where op = 'write_zeroes'") $(sql direct \
		"select sum(size) from uring where op = 'fallocate'") $(sql direct "select sum(size) from syscall where name = 'fallocate'")" \
		"$((5 * 262144)),1 $((2 * 262144)) $((3 * 262144))" "$k write zeroes: bytes of commands, requests and calls"
	is "$(of direct reads) $(of direct read_bytes) $(of direct failed)" "35 $((12 * 262144 + 11 * 4096)) 0" "$k: no command besides"
}

errors() {
	is "$(cat "$dir/errors.rc") $(sql errors "select op, error, count(*), sum(max(res, 0)) from uring where op != 'uring_cmd' group by 1, 2 order by 1, 2")" \
		"0 fsync,ENODATA,1,0 read,,3,12288 read,ENODATA,3,0 write,,1,4096" "$k errors: requests"
	is "$(sql errors "select name, ret, count(*) from syscall where ret < 0 and name in ('pread64', 'fsync') group by 1, 2 order by 1")" \
		"fsync,-61,1 pread64,-61,2" "$k errors: system calls"
	is "$(sql errors "select op, status, count(*), sum(attempts = 1), max(attempts) from cmd where state = 'failed' and comm != 'passthru'
		group by 1, 2 order by 1")" "flush,640,12,2,6 read,641,30,5,6" "$k errors: commands, each sent six times"
	is "$(sql errors "select group_concat(attempts, '') from (select attempts from cmd where op = 'read' and state = 'failed' and comm != 'passthru'
		order by ts_ns)")" "123456123456123456123456123456" "$k errors: and which time"
	is "$(sql errors "select status, count(*), sum(attempts), sum(passthrough) from cmd where comm = 'passthru' and op = 'read' group by 1") $(sql errors \
		"select res, count(*) from uring where op = 'uring_cmd' group by 1")" "641,5,5,3 641,3" "$k errors: of passthrough, sent once"
	is "$(of errors reads) $(of errors read_bytes) $(of errors failed) $(of errors reissued)" "3 12288 47 35" \
		"$k errors: good and failed commands are counted apart"
}

tags() {
	is "$(requests tags "op = 'read'") $(requests tags "op = 'write'")" "$(both_of tags)" "$k 4 tags: requests are fio's"
	is "$(commands tags "op = 'read' and not passthrough") $(commands tags "op = 'write'")" "$(both_of tags)" "$k 4 tags: so are commands"
	is "$(sql tags "select count(*), sum(punted) > 0, count(distinct c.id) = count(*) from uring u join cmd c on c.uring_id = u.id
		where c.slba * 4096 = u.offset and c.bytes = u.res")" "509,1,1" "$k 4 tags: each request has its command, also those that waited"
	is "$(commands tags "op = 'read' and passthrough") $(sql tags "select count(*), sum(size) from uring where op = 'uring_cmd'")" \
		"$(both_of cmds | cut -d' ' -f1) $(both_of cmds | cut -d' ' -f1)" "$k 4 tags: passthrough"
	is "$(sql tags "select max(attempts) > 1 from cmd where passthrough")" 1 "$k 4 tags: what was turned away is another attempt"
}

passthrough() {
	is "$(cat "$dir/passthru.rc") $(sql passthru "select passthrough, state, status, count(*), sum(bytes) from cmd where op = 'compare'
		group by 1, 2 order by 1, 2")" "0 0,failed,645,2,16384 0,ok,0,3,24576 1,failed,645,4,32768 1,ok,0,5,40960" \
		"$k compare: by ioctl and by io_uring, with what does not match"
	is "$(sql passthru "select u.res, count(*), sum(u.size), min(u.slba) from uring u join cmd c on c.uring_id = u.id where c.op = 'compare'
		group by 1 order by 1")" "0,5,40960,16 645,4,32768,16" "$k compare: requests"
	is "$(sql passthru "select passthrough, count(*), sum(bytes) from cmd where op = 'dsm' group by 1")" \
		"0,5,$((16 * 15)) 1,4,$((16 * 30))" "$k discards: a list of ranges each"
	is "$(sql passthru "select r.ranges, count(*), sum(r.nlb), min(r.slba), max(r.slba), max(number) from dsm_range r join cmd c on c.id = r.cmd_id
		where c.passthrough group by 1 order by 1")" "6,6,21,6000,6500,5 7,7,28,7000,7600,6 8,8,36,8000,8700,7 9,9,45,9000,9800,8" \
		"$k discards: the ranges of those by io_uring"
	is "$(sql passthru "select op, passthrough, count(*), sum(bytes), min(slba), max(slba), sum(state = 'ok') from cmd
		where op like 'zone%' group by 1, 2 order by 1, 2")" \
		"zone_append,0,3,24576,1024,1024,3 zone_append,1,7,57344,1024,1024,7 zone_mgmt_recv,0,1,4096,0,0,1 zone_mgmt_recv,1,1,4096,0,0,1 zone_mgmt_send,0,4,0,1024,1024,4 zone_mgmt_send,1,4,0,1024,1024,4" \
		"$k zones: append, report, open, close, finish, reset"
	is "$(sql passthru "select count(*), sum(c.id is not null), sum(c.op like 'zone%') from uring u left join cmd c on c.uring_id = u.id
		and c.user_data = u.user_data and c.bytes = u.size where u.op = 'uring_cmd'")" "25,25,12" "$k passthrough: each request has its command"
}

vectors() {
	is "$(cat "$dir/vectors.rc") $(sql vectors "select res, count(*), sum(size), max(size_partial) from uring where op = 'uring_cmd' group by 1 order by 1")" \
		"0 -22,3,$((3 * 262144)),0 0,5,$((5 * 131072)),0" "$k passthrough of vectors: requests, with the bytes of all pieces"
	is "$(sql vectors "select state, count(*), sum(bytes), min(vec) from cmd where passthrough group by 1 order by 1")" \
		"ok,5,$((5 * 131072)),1 refused,3,$((3 * 262144)),1" "$k passthrough of vectors: commands, also those that are refused"
}

ways() {
	is "$(sql ways "select count(*), sum(bytes), count(distinct device), min(device glob 'nvme*c*n1') from cmd")" \
		"$(fio_of ways read.total_ios),$(fio_of ways read.io_bytes),2,1" \
		"$k multipath: the head's name selects both ways, commands are fio's, each names its way"
	is "$(sql ways "select count(*) from cmd c join syscall s on s.id = c.call_id where s.path = '/dev/$(cat "$dir/head")'
		and s.offset = c.slba * 4096")" "$(fio_of ways read.total_ios)" "$k multipath: each command has its call on the head"
}

discards() {
	if [ ! -s "$dir/discard.kvt" ]; then
		echo "# SKIP $k discards: no XFS in this guest"
		return
	fi
	is "$(sql discard "select max(ranges) > 64, sum(bytes) >= 2097152, count(*) < 20 from (select c.bytes, max(r.ranges) ranges from cmd c
		join dsm_range r on r.cmd_id = c.id where c.op = 'dsm' group by c.id)")" '1,1,1' "$k discards: hundreds of pieces in one command"
	# Each piece is a block at least, also those that are not told.
	is "$(sql discard "select count(*) from (select c.bytes bytes, max(r.ranges) ranges, count(*) told, sum(r.nlb) * 4096 sum from cmd c
		join dsm_range r on r.cmd_id = c.id group by c.id) where told != min(ranges, 64)
		or sum < told * 4096 or sum > bytes - (ranges - told) * 4096 or (told = ranges and sum != bytes)")" 0 \
		"$k discards: up to 64 of them are told, and they add up"
}

pending() {
	is "$(of pending reads) $(sql pending "select count(*), sum(ret) from syscall where name = 'pread64' and path = '/dev/nvme0n1'")" \
		"20011 20011,$((20011 * 4096))" "$k SIGTERM with 20,011 commands and 20,011 calls pending: none is lost"
	is "$(sql pending "select op, count(*), sum(unfinished) from uring group by 1")" 'nop,20011,0' \
		"$k SIGTERM with 20,011 requests pending: none is lost"
	is "$(sql faults "select count(*), count(*) > 20000 from fault where path = '/tmp/mapped'")" \
		"$(jq -r '.minor + .major' "$dir/faults.truth"),1" "$k SIGTERM with 20,000 faults pending: none is lost"
	is "$(cat "$dir/pending.rc" "$dir/faults.rc" | xargs) $(of pending ended_by) $(of faults ended_by)" '0 0 signal signal' \
		"$k SIGTERM: a good end"
}

run() { # KERNEL
	# Room for 16 CPUs, which is more than one ring; the other tests have one.
	guest "$1" paths.sh --smp 2/16 --in "${B:-build}/tests/requests" --in "${B:-build}/tests/passthru" --in "${B:-build}/tests/faults" --modules xfs \
		--nvme 1G --nvme 64M,zoned=4M --nvme 64M,bad=1048576,noflush --nvme 64M,multipath || return
	if [ "$k" = 6.1 ]; then
		is "$(cat "$dir/possible")" 0-15 "$k: two groups of CPUs, a ring for each"
	else
		echo "# SKIP $k makes no room for CPUs that are not there: possible are $(cat "$dir/possible"), one ring"
	fi
	uring
	errors
	tags
	passthrough
	vectors
	ways
	discards
	pending
	for name in sqpoll direct errors tags passthru vectors ways pending faults; do
		ok "$k $name: adds up, nothing lost" quiet $name
	done
}

run 6.1
long 6.12 && run 6.12
done_testing
