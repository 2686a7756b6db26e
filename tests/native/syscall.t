#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The system call tracer on this machine's own kernel.  strace, which is not
# ours, and dd's own counts are the witnesses.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
B=${B:-build}
calls=$B/tests/calls
[ "$(id -u)" = 0 ] || skip_all "tracing needs root"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
"$KVIO" record syscall -q -o "$dir/probe.kvt" -- true 2>"$dir/err" || skip_all "this kernel takes no tracer: $(head -n 1 "$dir/err")"

rec() { # NAME OPTIONS...
	name=$1
	shift
	"$KVIO" record syscall --json -o "$dir/$name.kvt" "$@" >"$dir/$name.json" 2>"$dir/$name.err"
	rc=$?
}
of() { # NAME KEY
	jq -r ".$2" "$dir/$1.json"
}
sql() { # NAME QUERY
	"$KVIO" sql --csv "$dir/$1.kvt" "$2" 2>/dev/null | tail -n +2 | tr -d '\r' | paste -sd' '
}
conserved() { # NAME
	jq -e '.seen == .stored + .ring_full + .map_full + .filtered and (.ring_full + .map_full + .hook_missed + .unread) == 0' \
		"$dir/$1.json" >/dev/null
}

# --- every call, against strace
mkdir "$dir/a" "$dir/b"
rec all -- "$calls" "$dir/a"
is $rc 0 'the program ran through, its exit status is passed on'
ok 'seen = stored + filtered, nothing lost' conserved all
names=$(sql all "select distinct name from syscall order by 1")
known='close copy_file_range dup dup2 dup3 fallocate fdatasync fsync lseek mmap msync munmap openat openat2 pread64 preadv
preadv2 pwrite64 pwritev pwritev2 read readv sendfile sync_file_range write writev'
is "$names" "$(echo $known)" 'every call is there'
if command -v strace >/dev/null; then
	strace -f -qq -o "$dir/strace" -e trace="$(echo $known | tr ' ' ,)" "$calls" "$dir/b"
	for name in $known; do
		is "$(sql all "select count(*) from syscall where name = '$name' and comm = 'calls'")" \
			"$(grep -cE "^[0-9]+ +($name\(|<\.\.\. $name resumed)" "$dir/strace")" "$name: as often as strace counts"
	done
else
	echo '# SKIP strace is not installed: counts are not compared with it'
fi

# --- what the calls say, against the program's own list
file="path like '%/first \"file\"%'"
is "$(sql all "select count(*), sum(ret), min(offset), max(offset) from syscall where name = 'write' and $file")" \
	"13,53248,0,49152" 'write: bytes and positions'
is "$(sql all "select offset, size, ret from syscall where name = 'read' and $file order by ts_ns limit 2")" \
	'100,2048,2048 2148,2048,2048' 'read: the position that was used'
is "$(sql all "select offset, ret from syscall where name = 'read' and size = 7")" '53248,0' 'read at the end of the file'
is "$(sql all "select ret, error, fd, path is null from syscall where name = 'read' and ret < 0")" '-9,EBADF,,1' \
	'a read that fails'
is "$(sql all "select offset, ret from syscall where name = 'pread64' and size = 300 order by ts_ns limit 1")" \
	'5000000000,0' 'pread64: an offset above 32 bits'
is "$(sql all "select name, offset, size, ret, arg from syscall where name like 'p%v%' order by ts_ns")" \
	'pwritev,4096,1024,1024,0 preadv,0,16384,16384,0 preadv2,8,48,48,0 preadv2,640,48,48,0 pwritev2,16,32,32,2' \
	'vectors: exact bytes of 1024, 64, 3 elements; the position when the offset is -1; flags'
is "$(sql all "select name, offset, size, ret from syscall where name in ('readv', 'writev') and comm = 'calls' order by ts_ns")" \
	'readv,688,32,32 writev,720,1024,1024' 'readv, writev: where the call before left off'
is "$(sql all "select name, ret > 2, arg & 192, fd2 from syscall where name = 'openat2'")" 'openat2,1,192,416' \
	'openat2: flags and mode'
is "$(sql all "select count(distinct path), count(*), min(ret) > 2 from syscall where name in ('openat2', 'dup', 'dup2', 'dup3') and path like '%/a/second'")" \
	'1,4,1' 'dup: the new descriptor has the path'
is "$(sql all "select count(*) from syscall where name = 'close' and path like '%/a/second'")" 2 'close: what was closed'
is "$(sql all "select name, offset, size, arg from syscall where name in ('sync_file_range', 'fallocate') order by ts_ns")" \
	'sync_file_range,4096,8192,2 fallocate,65536,4096,1' 'sync_file_range, fallocate'
is "$(sql all "select name, offset, size, ret, path like '%first%' from syscall where name in ('copy_file_range', 'sendfile') order by ts_ns")" \
	'copy_file_range,4096,2000,2000,1 sendfile,8192,1000,1000,1' 'copies: from where, although the call moves it'
copies='.capture.syscalls as $s | [$s.files[] | select(.path // "" | endswith("/a/second")) | .write_bytes],
	[[$s.calls | to_entries[] | select(.key | test("read|copy|sendfile")) | .value.moved_bytes] | add],
	[[$s.calls | to_entries[] | select(.key | test("write|copy")) | .value.moved_bytes] | add] | .[]'
is "$("$KVIO" report --json "$dir/all.kvt" | jq "$copies" | paste -sd' ')" "3000 $(of all call_read_bytes) $(of all call_write_bytes)" \
	'copies: the file they write to; copy_file_range is read and written, in the summary, too'
is "$(sql all "select size, offset, arg, fd2, address is null from syscall where name = 'mmap' and path like '%first%'")" \
	'8192,4096,1,3,1' 'mmap: length, offset, flags, protection'
is "$(sql all "select count(distinct address), count(*) from syscall where name in ('msync', 'munmap') and size = 8192 and address = (select ret from syscall where name = 'mmap' and path like '%first%')")" \
	'1,2' 'msync, munmap: the address that mmap gave'
is "$(sql all "select length(path) - instr(path, 'xxx') + 1, error from syscall where name = 'openat' and path like '%xxx%'")" \
	'699,ENOENT' 'a path of 699 bytes that cannot be opened is whole'
is "$(sql all "select count(*), sum(path not in ('kvio-none', '/dev/kvio-none')) from syscall where path like '%kvio-none'")" '50,0' \
	'opens that fail below a directory: its path, or none where it was closed, not that of what came after it'
is "$(sql all "select count(*), count(distinct tid) from syscall where name = 'pread64' and size = 64")" '17,1' 'a thread'
is "$(sql all "select count(*) from syscall where name = 'pwrite64' and size = 19 and pid != (select pid from syscall where name = 'openat2')")" 1 \
	'a child'
is "$(sql all "select count(*) from syscall where comm = 'kvio'")" 0 'nothing that kvio does before exec is called the program'

# --- inherited descriptors of a program that ends at once
rec inherited --comm dd -- sh -c "dd bs=1 count=1 of='$dir/a/inherited' </etc/passwd 2>/dev/null"
is "$(sql inherited "select name, path from syscall where name in ('read', 'dup2') and fd = 0 and comm = 'dd'")" 'read,/etc/passwd' \
	'a descriptor that was inherited has its path'

# --- names that a thread gives itself; a descriptor whose first use is its end
cat >"$dir/names.pl" <<'END'
sysread STDIN, $b, 11; $0 = "worker-1"; sysread STDIN, $b, 12; $0 = "worker-2"; sysread STDIN, $b, 13; exec "sh", "-c", "exec 7>&-";
END
rec names -- perl "$dir/names.pl" </etc/passwd 7</etc/hostname
is "$(sql names "select comm, size from syscall where name = 'read' and size between 11 and 13 order by ts_ns")" \
	'perl,11 worker-1,12 worker-2,13' 'each call has the name that its thread had'
is "$(sql names "select comm, path from syscall where name = 'close' and fd = 7")" 'sh,/etc/hostname' 'a file that is only closed has its path'
rec signal -- perl -MTime::HiRes=ualarm -e 'pipe R, W; $SIG{ALRM} = sub {}; ualarm 20000; sysread R, $b, 9'
is "$(sql signal "select ret, error from syscall where name = 'read' and size = 9")" '-512,ERESTARTSYS' 'a call that a signal ended'
rec worker --comm worker-1 -- perl "$dir/names.pl" </etc/passwd
is "$(sql worker "select comm, size from syscall")" 'worker-1,12' '--comm goes by the name of the moment'

# --- through JSONL and back
"$KVIO" cat -q "$dir/all.kvt" -o "$dir/all.jsonl" && "$KVIO" cat -q "$dir/all.jsonl" -o "$dir/back.kvt"
q="select name, ts_ns, lat_ns, pid, tid, comm, fd, path, offset, address, size, ret, arg, fd2, dev, ino, flags from syscall order by ts_ns, tid"
is "$(sql back "$q" | md5sum)" "$(sql all "$q" | md5sum)" 'the same from JSONL and back'
is "$("$KVIO" sql --csv "$dir/all.jsonl" "$q" 2>/dev/null | tail -n +2 | tr -d '\r' | paste -sd' ' | md5sum)" "$(sql all "$q" | md5sum)" \
	'the same from JSONL itself'
is "$(grep -c '"event_type":"syscall"' "$dir/all.jsonl")" "$(of all stored)" 'a line a call'
is "$(jq -c . "$dir/all.jsonl" | wc -l)" "$(wc -l <"$dir/all.jsonl")" 'every line is JSON'

# --- the report
report=$("$KVIO" report "$dir/all.kvt")
is $? 0 'report: exit 0'
like "$report" 'verdict: no device commands recorded; [0-9]+ system calls' 'report: what there is'
like "$report" '^  pwritev2 +1 +0 +32 B' 'report: a row a call'
like "$report" 'first \\?"file\\?"' 'report: the files'
is "$(printf '%s\n' "$report" | awk 'length > 79' | wc -l)" 0 'report: under 80 columns'
is "$("$KVIO" report --json "$dir/all.kvt" | jq -r '.[].syscalls | "\(.all.n) \(.calls.write.moved_bytes) \(.calls.preadv.asked_bytes)"')" \
	"$(of all stored) $(sql all "select sum(ret) from syscall where name = 'write' and ret > 0") 16384" 'report --json: the same numbers'
is "$("$KVIO" report --json "$dir/all.kvt" | jq '.[].bytes_by_layer.syscalls.write_bytes')" \
	"$(sql all "select sum(ret) from syscall where (name like '%write%' or name = 'copy_file_range') and ret > 0 and offset is not null")" 'report: bytes on files with a place'

# --- many calls: dd counts, nothing is lost
rec dd -- dd if=/dev/zero of=/dev/null bs=512 count=200003
is "$(sql dd "select count(*), sum(ret) from syscall where name = 'read' and path = '/dev/zero'")" '200003,102401536' \
	"dd: reads are dd's"
is "$(of dd call_writes)" "$(sql dd "select count(*) from syscall where name = 'write' and ret >= 0")" 'dd: the summary counts what is in the file'
ok 'dd: nothing lost' conserved dd

# --- a ring that is too small: what is lost is counted exactly
rec small --ring 4k -- dd if=/dev/zero of=/dev/null bs=512 count=200003
is "$(jq '.seen == .stored + .ring_full + .map_full + .unread + .filtered' "$dir/small.json") $(of small unread)" 'true 0' 'overload: seen = stored + lost + filtered'
is "$(of small counts.syscall)" "$(of small stored)" 'overload: what is called stored is in the file'

# --- a file that cannot grow: what is not in it is counted
(
	trap '' XFSZ
	ulimit -f 64
	rec cut -- dd if=/dev/zero of=/dev/null bs=512 count=200003
	exit $rc
)
is "$? $(of cut complete) $(of cut ended_by)" '1 false error' 'file full: failed, and the summary says so'
is "$(jq '.seen == .stored + .ring_full + .map_full + .unread + .filtered and .unwritten > 0' "$dir/cut.json")" true \
	'file full: what was not read any more and what was not written is told'
is "$("$KVIO" cat --stats --json "$dir/cut.kvt" 2>/dev/null | jq '[.. | .kinds? // empty | del(.meta, .footer)[]] | add')" \
	"$(jq '.records - .unwritten' "$dir/cut.json")" 'file full: all others are in the file'
like "$(cat "$dir/cut.err")" "LOST: up to $(of cut unwritten) of $(of cut records) records were not written; $(of cut unread) events were left unread" \
	'file full: and said'

# --- 20,000 records in the ring at SIGTERM
# Of this shell: others may run dd as well.
bounded "$KVIO" record syscall --json --comm dd --pid $$ --children -o "$dir/term.kvt" >"$dir/term.json" 2>"$dir/term.err" &
pid=$!
soon grep -q 'recording until' "$dir/term.err"
kill -STOP $pid
dd if=/dev/zero of=/dev/null bs=512 count=20011 2>/dev/null
kill -TERM $pid
kill -CONT $pid
wait $pid
is "$(sql term "select count(*) from syscall where name = 'read' and path = '/dev/zero'") $(of term ring_full)" '20011 0' \
	'SIGTERM with 40,022 records in the ring: none is lost'

# --- by the older name: its document, each call once
mkdir "$dir/m"
"$B/syscall_monitor" -q --no-prompt --json-out "$dir/m.json" --label 'a "label"' -- sh -c "exec '$calls' '$dir/m'" >"$dir/m.txt" 2>&1
is "$? $(cat "$dir/m.txt")" '0 ' 'syscall_monitor: asks nothing, runs the program'
m() { # FILTER
	jq -r "$1" "$dir/m.json"
}
is "$(m '.aggregated_stats.all_syscalls[] | select(.syscall_name == "openat2" or .syscall_name == "fsync" or .syscall_name == "munmap" or
	.syscall_name == "fdatasync") | "\(.syscall_name) \(.count) \(.total_size)"' | sort | paste -sd' ')" \
	"fdatasync 1 0 fsync 1 0 munmap $(m '[.raw_events[] | select(.syscall_name == "munmap")] | length') 0 openat2 1 0" \
	'... a call that moves nothing is counted once, and has no bytes'
is "$(m '.aggregated_stats.all_syscalls[] | select(.syscall_name == "preadv" or .syscall_name == "lseek") | .total_size' | sort -n | paste -sd' ')" \
	'0 16384' '... vectors count by what they moved, lseek moves nothing'
is "$(m '.summary.total_io_bytes')" "$(m '[.raw_events[] | select(.io_direction != "NONE" and .ret > 0) | .ret] | add')" '... the total has all of them'
is "$(m '.summary.most_active_process')" calls '... a process has the name of the program that it became'
is "$(m '.raw_events[] | select(.syscall_name == "openat2") | "\(.open_flags_str) \(.ret > 2) \(.error_code) \(.filename | test("/m/second$"))"')" \
	'O_RDWR|O_CREAT|O_EXCL true 0 true' '... all flags of an open, its file'
is "$(m '[.raw_events[] | select(.io_direction == "VREAD" and .syscall_name == "preadv") | .size] | add')" 16384 '... directions'
is "$(m '.metadata | "\(.total_events == .stored) \(.seen == .stored + .filtered) \(.workload_label) \(.raw_events_left_out)"') $(m '.raw_events | length')" \
	"true true a \"label\" 0 $(m .metadata.total_events)" '... the account is in it'
is "$(stat -c %a "$dir/m.json")" 600 '... the document is private'
"$B/syscall_monitor" --max-events 1000 --json-out "$dir/m.json" -- dd if=/dev/zero of=/dev/null bs=512 count=5003 >"$dir/m.txt" 2>"$dir/err"
is "$(m '.raw_events | length') $(m '.metadata.raw_events_left_out + 1000 == .metadata.total_events')" '1000 true' '--max-events: what is left out is counted'
is "$(m '.aggregated_stats.all_syscalls[] | select(.syscall_name == "write") | .total_size >= 5003 * 512')" true '... the sums have all'
like "$(cat "$dir/err")" 'are in the sums only' '... and it is said'
like "$(cat "$dir/m.txt")" '^read +50[0-9][0-9] ' '... tables for people'

# --- filters
cat /etc/hostname /etc/passwd >/dev/null
rec comm --comm tail -- sh -c 'cat /etc/passwd | tail -n 1 >/dev/null'
is "$(sql comm "select distinct comm from syscall")" tail '--comm'
ok '--comm: others are counted as filtered' test "$(of comm filtered)" -gt 10
mkdir "$dir/p" "$dir/q" "$dir/r"
rec path --path "$dir/p" -- sh -c "'$calls' '$dir/p'; cat /etc/passwd /etc/passwd >/dev/null"
is "$(sql path "select count(*) from syscall where path not like '$dir/p/%' or path is null") $(sql path "select count(distinct path) from syscall")" \
	"0 $(sql all "select count(distinct path) from syscall where path like '$dir/a/%'")" '--path: files below a directory, and no others'
is "$(sql path "select name, count(*), sum(ret) from syscall where name in ('write', 'preadv2', 'copy_file_range') group by 1 order by 1")" \
	'copy_file_range,1,2000 preadv2,2,96 write,13,53248' '--path: all of their calls'
ok '--path: what is filtered is counted' conserved path
ok '... here and in the kernel' test "$(of path filtered)" -gt 50
rec glob --path '*/p/sec?nd' -- sh -c "rm '$dir'/p/*; exec '$calls' '$dir/p'"
is "$(sql glob "select distinct path from syscall where error is null")" "$dir/p/second" '--path: a glob goes over slashes'
rec failed --path '*/none/xxx*' -- cat "$dir/none/xxx1" "$dir/none/yyy"
is "$rc $(sql failed "select name, error, path from syscall")" "1 openat,ENOENT,$dir/none/xxx1" '--path: an open that fails'
# One inode number, two files: the second is wanted, the first was not.
rec reuse --path "$dir/p/wanted" -- sh -c "cd '$dir/p'; for i in 1 2 3; do echo a >other; rm other; echo b >wanted; rm wanted; done"
is "$(sql reuse "select count(*), sum(ret) from syscall where name = 'write'")" '3,6' '--path: a number that another file had before'
rec both -- sh -c "cd '$dir/p'; for i in 1 2; do echo a >other; rm other; echo b >wanted; rm wanted; done"
is "$(sql both "select path, ret from syscall where name = 'write' and comm = 'sh' order by ts_ns")" \
	"$dir/p/other,2 $dir/p/wanted,2 $dir/p/other,2 $dir/p/wanted,2" 'a number that goes from file to file: each by its name of that time'
rec op --op pread64 --op fsync -- "$calls" "$dir/q"
is "$(sql op "select distinct name from syscall order by 1")" 'fsync pread64' '--op: these calls'
is "$(sql op "select count(*) from syscall where comm = 'calls'")" \
	"$(sql all "select count(*) from syscall where comm = 'calls' and name in ('fsync', 'pread64')")" '--op: all of them'
ok '--op: others are counted as filtered' conserved op
rec size --min-size 1k --max-size 4k -- "$calls" "$dir/r"
is "$(sql size "select count(*) from syscall where comm = 'calls'")" \
	"$(sql all "select count(*) from syscall where comm = 'calls' and size between 1024 and 4096")" '--min-size, --max-size'
ok '--min-size: others are counted as filtered' conserved size
"$KVIO" record syscall --op dsm -o "$dir/x.kvt" 2>"$dir/err"
is "$? $(grep -c "'dsm' is no operation of what is recorded" "$dir/err")" '2 1' '--op: of a call that does not exist'
"$KVIO" record syscall --cgroup /no/such/group -o "$dir/x.kvt" 2>"$dir/err"
is $? 2 'a cgroup that is not there: usage error'
like "$(cat "$dir/err")" "no cgroup '/no/such/group'" '... and says so'

# --- where the blocks of files are; filefrag is the witness
mkdir "$dir/map"
dd if=/dev/urandom of="$dir/map/a" bs=64k count=5 conv=fsync 2>/dev/null
frag=$(filefrag -v -b4096 "$dir/map/a" 2>/dev/null | sed -n 's/^ *0: *\([0-9]*\)\.\. *[0-9]*: *\([0-9]*\)\.\..*: *\([0-9]*\):.*/\1 \2 \3/p')
rec map --map-files "$dir/map" -- sh -c "cat '$dir/map/a' >/dev/null; dd if=/dev/zero of='$dir/map/b' bs=64k count=3; cp '$dir/map/b' '$dir/map/c'; rm '$dir/map/c'"
is $rc 0 '--map-files: the program ran'
if [ "$(sql map "select error from mapped_file where taken = 'end' and path like '%/a'")" = ENODEV ]; then
	echo '# SKIP this directory is not on a disk directly: the places of its files are not known'
elif [ -n "$frag" ]; then
	set -- $frag
	is "$(sql map "select file_offset / 4096, (physical - (select min(physical) - $2 * 4096 from extent where path like '%/a')) / 4096, moved
		from extent where taken = 'end' and path like '%/a' and file_offset = 0")" "$1,$2,0" '--map-files: as filefrag says'
	is "$(sql map "select sum(bytes), count(distinct taken) from extent where path like '%/a'")" "$((2 * 5 * 65536)),2" '--map-files: at the begin and at the end'
	is "$(sql map "select sum(bytes), sum(flags like '%delalloc%') from extent where taken = 'end' and path like '%/b'")" "$((3 * 65536)),0" \
		'--map-files: what was written meanwhile has its place at the end'
	is "$(sql map "select error, extents from mapped_file where taken = 'end' and path like '%/c'")" 'ENOENT,0' '--map-files: a file that is gone'
	"$KVIO" cat -q "$dir/map.kvt" -o "$dir/map.jsonl" && "$KVIO" cat -q "$dir/map.jsonl" -o "$dir/mapback.kvt"
	q='select path, taken, file_offset, bytes, physical, flags, moved, ts_ns from extent order by 1, 2, 3'
	is "$(sql mapback "$q" | md5sum)" "$(sql map "$q" | md5sum)" '--map-files: the same from JSONL and back'
	mkdir "$dir/ahead"
	dd if=/dev/urandom of="$dir/ahead/d" bs=64k count=5 conv=fsync 2>/dev/null
	fallocate -n -o 327680 -l 1M "$dir/ahead/d"
	rec ahead --map-files "$dir/ahead" -- truncate -s 327680 "$dir/ahead/d"
	is "$(sql ahead "select sum(bytes) > 1048576, (select max(moved) from mapped_file) from extent group by taken order by taken")" '1,0 0,0' \
		'--map-files: blocks behind the end of a file that are given back are no move'
	like "$("$KVIO" report "$dir/map.kvt")" 'files on the device: 2 mapped, 0 moved meanwhile, 1 without a map' '--map-files: in the report'
else
	echo '# SKIP filefrag is not installed or does not know this file system'
fi

# --- a pid namespace of its own: both numbers
cat >"$dir/inside.sh" <<'END'
. tests/tap.sh
"$KVIO" record syscall --json -o "$dir/ns.kvt" -- sh -c 'cat /etc/passwd >/dev/null' >"$dir/ns.json" 2>"$dir/ns.err" || exit 9
# Its children end all the time, while the recorder starts too.
sh -c 'until [ -e "$dir/inside" ]; do sleep 0.05; done; cat /etc/passwd >/dev/null; true' &
pid=$!
bounded "$KVIO" record syscall --pid $pid --children -o "$dir/ns2.kvt" 2>"$dir/ns2.err" &
recorder=$!
soon grep -q 'recording until' "$dir/ns2.err"
: >"$dir/inside"
wait $pid
kill -TERM $recorder
wait $recorder
echo $pid >"$dir/ns.pid"
END
export KVIO dir
if unshare --pid --fork --mount-proc sh "$dir/inside.sh" 2>"$dir/err"; then
	is "$(sql ns "select distinct comm from task where pid != ns_pid and ns_pid < 50 and cgroup_path like '/%' order by 1")" 'cat sh' \
		'container: the number of the host and its own, the path of its cgroup'
	is "$(sql ns "select count(*) from syscall where name = 'read' and path = '/etc/passwd' and ret > 0 and comm = 'cat'")" 1 \
		'container: a program is followed'
	like "$(cat "$dir/ns2.err")" "process $(cat "$dir/ns.pid") of this pid namespace is [0-9]+ of the host" 'container: --pid is told in both'
	is "$(sql ns2 "select count(*) from syscall where name = 'read' and path = '/etc/passwd' and ret > 0 and comm = 'cat'")" 1 \
		'container: --pid is a number of here, --children of it'
	"$KVIO" cat -q "$dir/ns.kvt" -o "$dir/ns.jsonl" && "$KVIO" cat -q "$dir/ns.jsonl" -o "$dir/nsback.kvt"
	q='select tid, pid, ns_pid, comm, since_ns, cgroup, cgroup_path from task order by since_ns, tid'
	is "$(sql nsback "$q" | md5sum)" "$(sql ns "$q" | md5sum)" 'container: the same from JSONL and back'
else
	echo "# SKIP no pid namespace can be made here: $(head -n 1 "$dir/err")"
fi

# --- --children of processes that begin and end while the recording starts
head -c 4096 /dev/zero >"$dir/numbered"
"$B/tests/forks" "$dir/numbered" "$dir/stop" >"$dir/last" &
forks=$!
bounded "$KVIO" record syscall --op pread64 --json --pid $forks --children -o "$dir/forks.kvt" >"$dir/forks.json" 2>"$dir/forks.err" &
pid=$!
soon grep -q 'recording until' "$dir/forks.err"
: >"$dir/stop"
wait $forks
kill -TERM $pid
wait $pid
is "$(sql forks "select count(*) >= 200, max(offset) - min(offset) + 1 - count(*), max(offset) from syscall where size = 600")" "1,0,$(cat "$dir/last")" \
	'--children: once followed, each process that begins below is, though its parent has ended'

is "$("$KVIO" record syscall --children -o "$dir/x.kvt" 2>&1)" "kvio record: --children are those of --pid
Try 'kvio record --help'." '--children without --pid'

# --- all pages of a ring are in memory before something is recorded
old=$(cat /proc/sys/kernel/bpf_stats_enabled 2>/dev/null)
if echo 1 2>/dev/null >/proc/sys/kernel/bpf_stats_enabled; then
	rec touched -v --ring 4M -- true
	echo "$old" >/proc/sys/kernel/bpf_stats_enabled
	is "$(sed -n 's/.*touch_ring: \([0-9]*\) runs.*/\1/p' "$dir/touched.err")" $((4 * (($(nproc --all) + 7) / 8))) \
		'each ring of 4 MiB: 1023 pages, 256 at a time'
else
	echo '# SKIP /proc/sys/kernel/bpf_stats_enabled cannot be written: how often programs run is not known'
fi

# --- numbers of threads that collide, are used again, and change
mkfifo "$dir/go"

for i in 1 2 3 4 5; do
	sh -c 'read -r _ <"$1"; exec "$2" "$3"' sh "$dir/go" "$B/tests/numbers" "$dir/numbered" 2>"$dir/err" &
	numbered=$!
	bounded "$KVIO" record syscall --json --pid $numbered -o "$dir/numbers.kvt" >"$dir/numbers.json" 2>"$dir/numbers.err" &
	pid=$!
	soon grep -q 'recording until' "$dir/numbers.err"
	echo >"$dir/go"
	wait $numbered
	rc=$?
	kill -TERM $pid
	wait $pid
	[ $rc = 5 ] || break # 5: a number that it wants is another's
done
sed 's/^/# /' "$dir/err"
if [ $rc = 4 ]; then
	echo '# SKIP this system gives no thread a chosen number'
else
	is $rc 0 'numbers: the program ran through'
	q="select size, count(*), count(lat_ns), count(distinct tid) from syscall where name = 'pread64' and size between 500 and 700
		group by size order by size"
	is "$(sql numbers "$q")" '500,1000,1000,1 501,10,10,1 502,1000,1000,1 503,1000,1000,1 504,10,10,1 505,10,10,1 507,10,10,1 508,10,10,1' \
		'two threads of one slot, a number that another process had or gets: each call is its own'
	ok 'numbers: nothing lost' conserved numbers
fi

# --- records wait for others of their kind: none waits long, none is left behind, each has its path
mkfifo "$dir/begin" "$dir/end"
sh -c 'read -r _ <"$1"; printf 12345 >/dev/null; printf 123456 >/dev/null; read -r _ <"$2"' sh "$dir/begin" "$dir/end" &
slow=$!
"$KVIO" record syscall --op write --pid $slow >"$dir/live.jsonl" 2>"$dir/live.err" &
pid=$!
i=0
until grep -q 'recording until' "$dir/live.err" || [ $i -ge 200 ]; do sleep 0.1; i=$((i + 1)); done
echo >"$dir/begin"
i=0
until [ "$(grep -c '"call":"write"' "$dir/live.jsonl")" -ge 2 ] || [ $i -ge 200 ]; do sleep 0.1; i=$((i + 1)); done
is "$(grep -c '"call":"write"' "$dir/live.jsonl") $(kill -0 $slow && echo runs)" '2 runs' \
	'what a program did before it went to sleep is told while it sleeps'
echo >"$dir/end"
kill -TERM $pid
wait $slow $pid
cat >"$dir/none.sh" <<'END'
none() {
	i=0
	while [ $i -lt 2000 ]; do
		i=$((i + 1))
		command true <"/none/$1$i"
	done
}
none a 2>/dev/null &
none b 2>/dev/null
wait
END
rec none -- sh "$dir/none.sh"
is "$(sql none "select count(*), count(distinct path) from syscall where error = 'ENOENT' and (path is null or path like '/none/%')")" \
	'4000,4000' 'opens that fail on two CPUs: each with the path of its own'
ok '... and none lost' conserved none

done_testing
