#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The io_uring tracer on this machine's own kernel; fio's counts are the witness.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
B=${B:-build}
[ "$(id -u)" = 0 ] || skip_all "tracing needs root"
dir=$(mktemp -d -p "$B") || exit 1
dir=$PWD/$dir
case $B in /*) dir=${dir#"$PWD/"} ;; esac
trap 'rm -rf "$dir"' EXIT
"$KVIO" record iouring -q -o "$dir/probe.kvt" -- true 2>"$dir/err" || skip_all "this kernel takes no tracer: $(head -n 1 "$dir/err")"
"$B/tests/requests" "$dir" probe 2>/dev/null || skip_all 'this machine allows no io_uring (kernel.io_uring_disabled?)'

rec() { # NAME COMMAND...
	name=$1
	shift
	"$KVIO" record iouring --json -o "$dir/$name.kvt" -- "$@" >"$dir/$name.json" 2>"$dir/$name.err"
	rc=$?
}
of() { # NAME KEY
	jq -r ".$2" "$dir/$1.json"
}
sql() { # NAME QUERY
	"$KVIO" sql --csv "$dir/$1.kvt" "$2" 2>/dev/null | tail -n +2 | tr -d '\r' | paste -sd' '
}
quiet() { # NAME
	jq -e '.seen == .stored + .filtered and (.ring_full + .map_full + .hook_missed + .unread + .in_flight) == 0' "$dir/$1.json" >/dev/null
}

# --- fio: counts and bytes
rec_fio() { # NAME OPTIONS...
	name=$1
	shift
	rec "$name" fio --name="$name" --filename="$dir/file" --size=16M --ioengine=io_uring --output-format=json \
		--output="$dir/$name.fio" "$@"
	reads=$(jq '[.jobs[].read.total_ios] | add' "$dir/$name.fio")
	writes=$(jq '[.jobs[].write.total_ios] | add' "$dir/$name.fio")
	is "$rc $(of "$name" uring_reads) $(of "$name" uring_writes)" "0 $reads $writes" "$name: requests are fio's"
	is "$(of "$name" uring_read_bytes) $(of "$name" uring_write_bytes)" \
		"$(jq '[.jobs[].read.io_bytes] | add' "$dir/$name.fio") $(jq '[.jobs[].write.io_bytes] | add' "$dir/$name.fio")" \
		"$name: bytes are fio's"
	ok "$name: adds up, nothing lost" quiet "$name"
}
rec_fio write --rw=write --bs=64k --iodepth=4
rec_fio read --rw=randread --bs=4k --iodepth=16 --number_ios=2003
rec_fio mixed --rw=randrw --bsrange=4k-32k --iodepth=8 --number_ios=503
rec_fio vectors --rw=randread --bs=4k --iodepth=8 --number_ios=307 --nonvectored=0
rec_fio fixed --rw=randread --bs=4k --iodepth=8 --number_ios=409 --fixedbufs=1 --registerfiles=1
rec_fio sqpoll --rw=randread --bs=4k --iodepth=8 --number_ios=211 --sqthread_poll=1 --registerfiles=1
rec_fio two --rw=randread --bs=4k --iodepth=8 --number_ios=211 --numjobs=2 --thread
is "$(sql read "select count(*), count(distinct offset) > 1000, min(size), max(size) from uring where op = 'read' and path = '$dir/file'")" \
	'2003,1,4096,4096' 'read: the file, offsets, sizes'
is "$(sql vectors "select distinct op, size from uring where op like 'read%'")" 'readv,4096' 'vectors: exact bytes'
is "$(sql fixed "select distinct op, sqe_flags & 1, ino is null, size from uring where op like 'read%'")" 'read_fixed,1,0,4096' \
	'fixed: registered buffers and files, the file is known all the same'
is "$(sql sqpoll "select distinct sqpoll from uring where op like 'read%'")" 1 'sqpoll: says so'
is "$(sql two "select count(distinct ring) from uring where op like 'read%'")" 2 'two rings are told apart'

# --- a program of our own: each kind once
rec kinds "$B/tests/requests" "$dir" all
is "$rc" 0 'the program ran through'
is "$(sql kinds "select op, offset, size, res, error from uring where user_data between 100 and 199 order by user_data")" \
	'writev,0,1024,1024, readv,16,16384,1008, read,1000,24,24, read,,100,0, read,5000000000,100,0, fsync,0,0,0, fallocate,65536,4096,0, read,0,10,-9,EBADF nop,,0,0,' \
	'offsets, exact bytes of 64 and 1024 elements, results, errors'
is "$(sql kinds "select res, user_data from uring where user_data > 9223372036854775807 or typeof(user_data) = 'text'")" \
	'0,18446744073709551615' 'a user_data of 64 bits stays whole'
is "$(sql kinds "select group_concat(sqe_flags & 4), group_concat(error) from (select * from uring where user_data between 200 and 202 order by user_data)")" \
	'"4,4,0","EBADF,ECANCELED,ECANCELED"' 'a chain whose first link fails'
is "$(sql kinds "select count(*), min(res) from overflow")" '24,0' 'completions that do not fit their queue'
is "$(sql kinds "select sum(unfinished), count(*) from uring where op = 'nop' and user_data = 0")" '24,32' \
	'... are posted to no queue'
is "$(sql kinds "select user_data, comm from uring where user_data between 310 and 311 order by 1")" '310,first 311,second' \
	'a thread that names itself: its requests have the name of their time'
is "$(jq '.seen == .stored + .in_flight + .filtered' "$dir/kinds.json")" true '... and it adds up'

# --- filters
"$KVIO" record iouring --json --path "$dir/file" --op read --max-size 8k -o "$dir/filters.kvt" -- fio --name=f --size=2M --ioengine=io_uring \
	--rw=randrw --bsrange=4k-16k --iodepth=4 --filename="$dir/file:$dir/file2" --output-format=json --output="$dir/f.fio" >"$dir/filters.json"
is "$(sql filters "select distinct op, path, max(size) <= 8192, count(*) > 20 from uring")" "read,$dir/file,1,1" '--path, --op, --max-size'
ok '... all others are counted as filtered' quiet filters

# --- a request that never completes
rec hang "$B/tests/requests" "$dir" hang
is "$(sql hang "select op, unfinished, lat_ns is null, res is null from uring where user_data = 300")" 'poll_add,1,1,1' \
	'a request that never completes is told as unfinished'
is "$(of hang in_flight) $(jq '.seen == .stored + .in_flight + .filtered' "$dir/hang.json")" '1 true' \
	'... counted as in flight, and it adds up'

"$KVIO" record iouring --json -d 300ms -o "$dir/time.kvt" -- sleep 60 >"$dir/time.json" 2>"$dir/time.err"
is "$(of time ended_by)" duration '--duration ends it before its program'

# --- at SIGTERM thousands of records are in the ring, of a recorder that stands still
rec term sh -c 'kill -STOP $PPID; "$0" - nops; kill -TERM $PPID; kill -CONT $PPID; sleep 5' "$B/tests/requests"
is "$(sql term "select count(*), sum(unfinished) from uring where op = 'nop'") $(of term ring_full) $(of term ended_by)" '20011,0 0 signal' \
	'SIGTERM with 20,011 requests in the ring: none is lost'

# --- numbers of threads that collide, are used again, and change; names that change
mkfifo "$dir/go"
head -c 4096 /dev/zero >"$dir/numbered"
sh -c 'read -r _ <"$1"; exec "$2" "$3"' sh "$dir/go" "$B/tests/numbers" "$dir/numbered" &
numbered=$!
"$KVIO" record iouring --json --pid $numbered -o "$dir/numbers.kvt" >"$dir/numbers.json" 2>"$dir/numbers.err" &
pid=$!
i=0
until grep -q 'recording until' "$dir/numbers.err" || [ $i -ge 600 ]; do sleep 0.1; i=$((i + 1)); done
echo >"$dir/go"
wait $numbered
rc=$?
kill -TERM $pid
wait $pid
if [ $rc = 4 ]; then
	echo '# SKIP this system gives no thread a chosen number'
elif [ $rc = 5 ]; then
	echo '# SKIP another process had a number that was wanted'
else
	is $rc 0 'numbers: the program ran through'
	is "$(sql numbers "select user_data, count(*), group_concat(distinct comm), count(distinct tid) from uring group by 1 order by 1")" \
		'501,10,exe,1 504,10,exe,1 505,10,exe,1 507,10,numbers,1 508,10,exe,1' \
		'numbers: of one slot, that another process had or gets: none of its requests; the name behind an exec is the new one'
	ok 'numbers: nothing lost' quiet numbers
fi

# --- by the older name: an intent and a completion a request
"$B/iouring_monitor" -q --jsonl "$dir/older.jsonl" -- "$B/tests/requests" "$dir" all
is $? 0 'iouring_monitor: runs the program'
older() { # FILTER
	jq -rc "$1" "$dir/older.jsonl" | paste -sd' '
}
is "$(older 'select(.event_type == "intent" and .user_data == 101) | "\(.op_name) \(.ddir) \(.offset) \(.requested_bytes) \(.requested_bytes_valid) \(.iovcnt)"')" \
	'READV read 16 16384 true 1024' '... 1024 elements, exact'
is "$(jq -rs '[.[] | select(.event_type == "completion")] as $c | [.[] | select(.event_type == "intent") | .req] | unique | length ==
	length and ($c | all(.latency_ns >= 0 and .ts > 0)) and ([$c[].req] | unique | length) == ($c | length)' "$dir/older.jsonl")" true \
	'... each intent once, each completion once'
is "$(jq -rs '[.[] | select(.event_type == "completion") | .req] - [.[] | select(.event_type == "intent") | .req] | length' "$dir/older.jsonl")" 0 \
	'... no completion without its intent'
is "$(older 'select(.event_type == "completion" and .user_data == 107) | "\(.op_name) \(.cqe_res)"')" 'READ -9' '... results'
is "$(tail -n 1 "$dir/older.jsonl")" '{"dropped":0}' '... and what was lost'
"$B/iouring_monitor" -q --jsonl "$dir/older.jsonl" -- "$B/tests/requests" "$dir" hang 2>/dev/null
is "$(older 'select(.user_data == 300) | "\(.event_type) \(.op_name)"')" 'intent OTHER' '... a request that hangs has its intent, once'

# --- through JSONL and back
"$KVIO" cat -q "$dir/kinds.kvt" -o "$dir/kinds.jsonl" && "$KVIO" cat -q "$dir/kinds.jsonl" -o "$dir/back.kvt"
q='select op, ts_ns, lat_ns, iovcnt, user_data, pid, tid, comm, ring, fd, path, offset, slba, size, res, sqe_flags, unfinished, dev, ino from uring order by ts_ns, user_data'
is "$(sql back "$q" | md5sum)" "$(sql kinds "$q" | md5sum)" 'the same from JSONL and back'
is "$("$KVIO" sql --csv "$dir/kinds.jsonl" "$q" 2>/dev/null | tail -n +2 | tr -d '\r' | paste -sd' ' | md5sum)" \
	"$(sql kinds "$q" | md5sum)" 'the same from JSONL itself'

done_testing
