#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every path into the NVMe driver, and system calls, on real kernels; fio's own
# counts are the independent witness.
cd "$(dirname "$0")/../.." || exit 1
. tests/vm/lib.sh

run() { # KERNEL
	guest "$1" nvme.sh --nvme 1G --nvme 64M,lba=512 --modules xfs --in "${B:-build}/tests/calls" || return
	for name in psync pvsync2 libaio io_uring fixed passthrough; do
		is "$(of $name reads) $(of $name writes)" "$(fio_of $name read.total_ios) $(fio_of $name write.total_ios)" \
			"$k $name: commands are fio's"
		is "$(of $name read_bytes) $(of $name write_bytes)" \
			"$(fio_of $name read.io_bytes) $(fio_of $name write.io_bytes)" "$k $name: bytes are fio's"
		ok "$k $name: adds up, nothing lost" quiet $name
	done
	is "$(of split reads) $(of split read_bytes)" "74 $((37 * 256 * 1024))" "$k split: two commands a read of twice the limit"
	is "$(of fsync writes) $(sql fsync "select count(*), sum(bytes) from cmd where op = 'flush'")" \
		"$(fio_of fsync write.total_ios) $(fio_of fsync sync.total_ios),0" "$k fsync: a flush each, of no bytes"
	is "$(sql trim "select count(*), sum(bytes), max(slba is null) from cmd where op = 'dsm'")" \
		"$(fio_of trim trim.total_ios),$(fio_of trim trim.io_bytes),1" "$k trim: bytes discarded, no LBA made up"
	is "$(sql trim "select count(*), count(distinct cmd_id), sum(bytes), min(slba), max(slba), sum(nlb != 16), max(ranges) from dsm_range")" \
		"29,29,$(fio_of trim trim.io_bytes),0,$((28 * 16)),0,1" "$k trim: the range of each"
	is "$(sql ranges "select count(*) > 0, sum(cmd_id is null), count(distinct cmd_id) = (select count(*) from cmd where op = 'dsm'), sum(nlb = 0)
		from dsm_range")" '1,0,1,0' "$k discard: what a file system gives back"
	is "$(sql ranges "select count(*) from cmd c where op = 'dsm' and (bytes != (select sum(bytes) from dsm_range where cmd_id = c.id)
		or (select count(*) from dsm_range where cmd_id = c.id) != (select max(ranges) from dsm_range where cmd_id = c.id))")" 0 \
		"$k discard: all of them, and their bytes are the command's"
	is "$("$KVIO" cat -q "$dir/ranges.kvt" -o "$dir/ranges.jsonl" && "$KVIO" cat -q "$dir/ranges.jsonl" -o "$dir/ranges2.kvt" &&
		sql ranges2 "select cmd_id, ts_ns, slba, nlb, number from dsm_range" | md5sum)" \
		"$(sql ranges "select cmd_id, ts_ns, slba, nlb, number from dsm_range" | md5sum)" "$k discard: the same from JSONL and back"
	is "$(sql psync "select distinct passthrough, trace_id is null, comm, device from cmd")" '0,1,fio,nvme0n1' \
		"$k psync: no passthrough, who and where"
	is "$(sql passthrough "select distinct passthrough, user_data > 0 from cmd where op = 'read'")" '1,1' \
		"$k passthrough: with its user_data"
	is "$(sql two "select device, count(*) from cmd where op = 'read' and comm = 'fio' and bytes = 4096 group by 1 order by 1")" \
		'nvme0n1,41 nvme1n1,43' "$k: two drives at once"
	is "$(sql two "select sum(state != 'ok'), count(distinct device) from cmd where op = 'read'")" '0,2' "$k: pairs do not mix"
	is "$(sql one "select distinct device from cmd") $(of one reads)" 'nvme1n1 43' "$k --device: one of two"
	is "$(sql op "select distinct op from cmd order by 1")" 'flush write' "$k --op: only these"
	is "$(of op writes)" "$(fio_of op write.total_ios)" "$k --op: all of them"
	is "$(sql size "select min(bytes) >= 8192, max(bytes) <= 16384, count(*) > 20 from cmd")" '1,1,1' "$k --min-size, --max-size"
	if [ -s "$dir/cgroup.json" ]; then
		is "$(of cgroup reads)" 47 "$k --cgroup: with the groups below, without others"
	else
		echo "# SKIP $k: no cgroup2 in this guest"
	fi

	is "$(cat "$dir/calls.rc") $(sql calls "select count(distinct name) from syscall where comm = 'calls'")" '0 26' \
		"$k syscall: every call"
	is "$(sql calls "select count(*), sum(ret) from syscall where name = 'write' and path like '%/first%'")" '13,53248' \
		"$k syscall: bytes"
	is "$(sql calls "select offset, size from syscall where name like 'preadv2' order by ts_ns")" '8,48 640,48' \
		"$k syscall: positions"
	ok "$k syscall: adds up, nothing lost" quiet calls
	is "$(sql both "select count(*), sum(ret) from syscall where name like 'pread%' and path = '/dev/nvme0n1' and offset % 4096 = 0") $(of both reads)" \
		"$(fio_of both read.total_ios),$(fio_of both read.io_bytes) $(fio_of both read.total_ios)" \
		"$k: both witnesses count fio's reads"
	is "$(jq -r '.witnesses | to_entries[] | "\(.key) \(.value.seen == .value.stored + .value.filtered)"' "$dir/both.json" | paste -sd' ')" \
		'nvme true syscall true' "$k: each has an account of its own"
	is "$(sql uring "select count(*), sum(res), count(distinct path) from uring where op = 'read'") $(of uring reads)" \
		"$(fio_of uring read.total_ios),$(fio_of uring read.io_bytes),1 $(fio_of uring read.total_ios)" \
		"$k io_uring: requests and commands are fio's reads"
	is "$(sql uring "select count(*) from uring u where op = 'read' and not exists (select 1 from cmd c where c.slba * 4096 = u.offset
		and c.ts_ns between u.ts_ns - 100000000 and u.ts_ns + u.lat_ns)")" 0 "$k io_uring: each request has its command"
	is "$(sql cmds "select count(*), sum(size), min(res), max(res) from uring where op = 'uring_cmd' and path = '/dev/ng0n1'") $(of cmds reads)" \
		"$(fio_of cmds read.total_ios),$(fio_of cmds read.io_bytes),0,0 $(fio_of cmds read.total_ios)" \
		"$k io_uring_cmd: both witnesses count fio's reads"
	is "$(sql cmds "select count(*) from uring u join cmd c on c.user_data = u.user_data and c.slba = u.slba and c.ts_ns between u.ts_ns and u.ts_ns + u.lat_ns
		where u.op = 'uring_cmd'")" "$(fio_of cmds read.total_ios)" "$k io_uring_cmd: each request and its command, by user_data, place and time"

	# What caused the commands
	is "$(sql both "select cause, count(*), count(distinct call_id) from cmd where op = 'read' and pid in (select pid from syscall where name = 'pread64' and path = '/dev/nvme0n1') group by 1")" \
		"thread,$(of both reads),$(of both reads)" "$k psync: each command has its call"
	is "$(sql both "select count(*) from cmd c join syscall s on s.id = c.call_id where s.offset = c.slba * 4096 and s.ret = c.bytes")" \
		"$(fio_of both read.total_ios)" "$k psync: and it is that of its place and bytes"
	is "$(sql uring "select cause, count(*), count(distinct uring_id) from cmd where op = 'read' group by 1")" \
		"order,$(of uring reads),$(of uring reads)" "$k io_uring: each command has its request"
	is "$(sql uring "select count(*) from cmd c join uring u on u.id = c.uring_id where u.offset = c.slba * 4096 and u.res = c.bytes")" \
		"$(fio_of uring read.total_ios)" "$k io_uring: and it is that of its place and bytes"
	is "$(sql cmds "select cause, count(*), count(distinct uring_id) from cmd where op = 'read' group by 1")" \
		"user_data,$(of cmds reads),$(of cmds reads)" "$k io_uring_cmd: each command has its request"
	is "$(sql cached "select sum(bytes) >= 53 * 16384, count(*) = sum(cause in ('no_thread', 'outside')) from cmd where op = 'write' and call_id is null")" \
		'1,1' "$k writeback: nothing of it is joined, and each command says why"
	is "$("$KVIO" perfetto "$dir/cached.kvt" -o "$dir/cached.pftrace" --json | jq '.arms[0].causes | .not_joined > 0 and .not_joined == .no_thread + .outside + .uncertain')" \
		true "$k writeback: what is not joined is counted, with the reason"
	for name in both uring cmds cached; do
		"$KVIO" perfetto -q "$dir/$name.kvt" -o "$dir/$name.pftrace"
		is "$(tests/pftcheck "$dir/$name.pftrace" 2>&1 | grep -v ': calls\|: commands')" '' "$k $name: its timeline is sound"
	done

	if [ -s "$dir/ext4.kvt" ]; then
		is "$(sql others "select sum(c.bytes), count(distinct c.call_id), sum(c.file_offset >= s.offset and c.file_offset + c.bytes <= s.offset + s.ret) = count(*),
			sum(c.tid = s.tid) from cmd c join syscall s on s.id = c.call_id where c.cause = 'extent'")" '524288,8,1,0' \
			"$k writeback: of a file that was mapped each command has its write"
		is "$(sql others "select count(*), count(distinct c.uring_id), sum(c.file_offset = u.offset and c.bytes = u.res), sum(c.tid = u.tid)
			from cmd c join uring u on u.id = c.uring_id where c.cause = 'extent'")" "$(fio_of others read.total_ios | sed 's/.*/&,&,&,0/')" \
			"$k io_uring: so has each one that a worker made"
	fi
	for fs in ext4 xfs; do
		[ -s "$dir/$fs.kvt" ] || {
			echo "# SKIP $k $fs: not in this guest: $(tail -n 1 "$dir/$fs.mkfs" 2>/dev/null)"
			continue
		}
		is "$(sql $fs "select count(*), count(distinct file_offset) from cmd where op = 'read' and comm = 'fio' and file = '/mnt/$fs/file' and file_map = 'both'")" \
			"83,$(sql $fs "select count(distinct offset) from syscall where name = 'pread64' and path = '/mnt/$fs/file'")" \
			"$k $fs: each direct read of fio is in its file"
		is "$(sql $fs "select count(*) from syscall s where name = 'pread64' and path = '/mnt/$fs/file' and 1 = (select count(*) from cmd c
			where c.file = s.path and c.file_offset = s.offset and c.ts_ns between s.ts_ns and s.ts_ns + s.lat_ns)")" \
			"$(fio_of $fs read.total_ios)" "$k $fs: and at the offset of its call"
		is "$(sql $fs "select file, sum(bytes), count(distinct file_offset) = count(*) from cmd where op = 'write' and file in ('/mnt/$fs/new', '/mnt/$fs/moved')
			group by 1 order by 1")" "/mnt/$fs/moved,262144,1 /mnt/$fs/new,1048576,1" "$k $fs: files that are new at the end"
		is "$(sql $fs "select group_concat(distinct moved), count(distinct path) from mapped_file where taken = 'begin' or moved")" \
			"0,4" "$k $fs: nothing moved"
		is "$(sql $fs.moved "select moved, error is null, extents > 0 from mapped_file where taken = 'end' and path = '/mnt/$fs/file'")" '1,1,1' \
			"$k $fs: a file whose blocks are others is told as moved"
		is "$(sql $fs.moved "select count(*) > 0 from extent where taken = 'end' and moved")" 1 "$k $fs: and which extents"
		is "$("$KVIO" report --json "$dir/$fs.kvt" | jq -r '.[].device_files | .files[] | select(.path | endswith("/file")) | "\(.reads) \(.read_bytes)"')" \
			"$(fio_of $fs read.total_ios) $(fio_of $fs read.io_bytes)" "$k $fs: the report names the file"
	done
}

run 6.12
long 6.1 && run 6.1
done_testing
