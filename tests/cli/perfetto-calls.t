#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio perfetto and sql of several witnesses: calls and requests of each program,
# and arrows to the commands they caused.  The captures are of a VM on 6.12, of
# fio: psync and io_uring on the device, io_uring on ext4 (each read of 256 KiB
# is two commands), passthrough, buffered reads, and writeback of sync.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
D=tests/data/calls
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
. tests/perfetto.sh
sql() { # FILE QUERY
	"$KVIO" sql --csv "$1" "$2" 2>/dev/null | tail -n +2 | tr -d '\r' | paste -sd' '
}
jq_of() { # FILE FILTER
	"$KVIO" perfetto "$1" -o "$tmp/j.pftrace" --json | jq -r "$2"
}

# --- every command is drawn with what caused it, in all ways to draw ---
while read -r name calls requests causes; do
	draw $D/"$name".kvt
	is "$status $(echo "$check" | tail -n 1)" "0 capture: calls $calls io_uring $requests causes of $causes" "$name: sound, and all of it is there"
	case $name in uring-file | passthrough) ;; *) continue ;; esac
	for how in '--no-rebase' '--redact' '--split 9k' '--slice-budget 300' '--detail lean' '--window 0.5,2.2'; do
		rm -f "$tmp"/p*.pftrace
		# shellcheck disable=SC2086 # two words
		"$KVIO" perfetto $D/"$name".kvt $how -o "$tmp/p.pftrace" >/dev/null 2>&1
		cut=
		[ "$how" = "${how#--window}" ] || cut=--cut
		# shellcheck disable=SC2086 # one word or none
		is "$(tests/pftcheck $cut "$tmp"/p*.pftrace 2>&1 | grep -v '^capture: ')" '' "$name $how: sound"
	done
done <<END
psync 652 0 31
uring 687 53 53
uring-file 707 41 82
passthrough 651 37 37
buffered 715 0 9
writeback 722 0 0
END

# --- how they were joined ---
joined() { # FILE: how and how many
	sql $D/"$1".kvt "select cause, count(*), count(call_id), count(uring_id), count(distinct uring_id) from cmd group by 1 order by 1"
}
is "$(joined psync)" 'thread,31,31,0,0' 'psync: inside the call of its thread'
is "$(joined uring)" 'order,53,53,53,53' 'io_uring: a request each, made inside io_uring_enter'
is "$(joined uring-file)" 'order,82,82,82,41' 'io_uring on a file system: two commands a request'
is "$(joined passthrough)" 'outside,1,0,0,0 user_data,37,37,37,37' 'passthrough: by user_data; identify by an ioctl is not joined'
is "$(joined buffered)" 'thread,9,9,0,0' 'buffered: read-ahead belongs to the call that began it'
is "$(joined writeback)" 'no_thread,23,0,0,0' 'writeback: no thread of it made a call'
is "$(sql $D/uring.kvt "select count(*) from cmd c join uring u on u.id = c.uring_id where c.slba * 4096 = u.offset and c.bytes = u.res
	and c.ts_ns >= u.ts_ns and c.end_ns <= u.ts_ns + u.lat_ns")" 53 'io_uring: place, bytes and time of all are those of their request'
is "$(sql $D/psync.kvt "select count(*) from cmd c join syscall s on s.id = c.call_id where s.name = 'pread64' and c.slba * 4096 = s.offset
	and c.bytes = s.ret and s.path = '/dev/nvme0n1'")" 31 'psync: place and bytes of all are those of their call'
is "$(sql $D/uring-file.kvt "select count(*), sum(b = res) from (select u.res, sum(c.bytes) b from cmd c join uring u on u.id = c.uring_id group by u.id)")" \
	'41,41' 'io_uring on a file system: bytes add up'
is "$(sql $D/uring.kvt "select count(*), count(distinct s.name) from uring u join syscall s on s.id = u.call_id and u.ts_ns between s.ts_ns and s.ts_ns + s.lat_ns")" \
	'53,1' 'each request has the io_uring_enter that submitted it'
is "$(sql $D/uring.kvt "select count(*) from flow f join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in where a.ts <= b.ts")" 106 \
	'arrows to requests and to commands, none back in time'

# --- what is said of them ---
draw $D/psync.kvt
like "$dump" '^@ Program fio\[191\] capture/IO/fio 191$' 'a process a program, a track a thread'
like "$dump" '^S [0-9]+ [0-9]+ d0 pread64 \{fd=uint:[0-9]+,path=string:/dev/nvme0n1,offset=uint:[0-9]+,size=uint:4096,ret=uint:4096,n_cmds=uint:1\} >' \
	'a call has its descriptor, path, place, bytes, and an arrow'
like "$dump" '^S [0-9]+ [0-9]+ d0 openat FAILED \{fd=int:-100,path=string:/[^,]*,.*errno=uint:2,err=string:ENOENT\}$' 'a call that failed says why'
like "$dump" 'capture_info .*calls=uint:652,uring_requests=uint:0,cmds_joined=uint:31,cmds_no_thread=uint:0,cmds_outside=uint:0,cmds_uncertain=uint:0' \
	'the capture says how many were joined'
like "$summary" 'causes  : 31 of 31 commands joined' 'so does the summary'
draw $D/uring.kvt
like "$dump" '^S [0-9]+ [0-9]+ d0 read \{user_data=uint:[0-9]+,fd=uint:8,path=string:/dev/nvme0n1,offset=uint:[0-9]+,size=uint:4096,ring=uint:[0-9]+,res=uint:4096,n_cmds=uint:1\} >[0-9]+ <' \
	'a request has its arguments, an arrow from io_uring_enter, and one to its command'
is "$(on 'Program fio[195] capture/IO/requests in flight' | awk '$3 > m { m = $3 } END { print m }')" \
	"$(echo "$dump" | grep -c '^@ .*/io_uring\.')" 'as many lanes as requests are in flight at most'
is "$(on 'Program fio[195] capture/IO/read MB/s' | tail -n 1 | cut -d' ' -f 3)" 0 'MB/s go back to 0'
draw $D/writeback.kvt
like "$summary" 'NOT joined 23 \(1013760 bytes\): made by a thread without a recorded call or request' 'what is not joined is told, and why'
is "$(jq_of $D/passthrough.kvt '.arms[0] | [.causes.joined, .causes.user_data, .causes.not_joined, .causes.outside, .drawn_io_uring.n, .drawn_syscalls.n] | @csv')" \
	'37,37,1,1,37,651' 'the same as JSON'

# --- who and where are hidden on request ---
draw $D/uring-file.kvt --redact
is "$(strings -n 4 "$tmp/x.pftrace" | grep -cE '/tmp|/usr|/etc|/dev/|fio')" 0 '--redact: no path, no program name'
like "$dump" '^@ Program n[0-9]+\[213\] capture/IO/n[0-9]+ 213$' '--redact: programs are numbers'
like "$dump" 'd0 read \{user_data=.*path=string:p[0-9]+,offset' '--redact: so are paths'

# --- hostile text, and times that are odd ---
{
	cat <<-'END'
	{"event_type":"syscall","call":"pread64","pid":7,"tid":7,"comm":"<b>a b\"\u0000\u0001\u202e","ts":1000,"lat_ns":1000,"ret":4096,"fd":3,"offset":0,"size":4096,"dev":1,"ino":2,"path":"/x/</script>\u0007\"'"}
	{"event_type":"syscall","call":"read","pid":7,"tid":7,"comm":"x","ts":2000,"lat_ns":0,"ret":-4,"fd":3,"size":1,"no_enter":true,"dev":1,"ino":2}
	{"event_type":"syscall","call":"write","pid":7,"tid":7,"comm":"x","ts":2000,"lat_ns":18446744073709551615,"ret":1,"fd":3,"size":1,"dev":1,"ino":2}
	{"event_type":"uring","op":"read","opcode":22,"pid":7,"tid":8,"comm":"x","ts":18446744073709551615,"lat_ns":5,"res":1,"user_data":1,"ring":1,"fd":3,"offset":0,"size":1,"dev":1,"ino":2}
	END
	submit 1000 1 ',"pid":7,"tid":7'
	complete 1000 100 1 ',"err":0'
	echo "$drops"
} >"$tmp/odd.jsonl"
draw "$tmp/odd.jsonl"
is "$status" 0 'hostile names and times: drawn'
is "$(echo "$check" | grep -c 'capture: commands 1 .* slices 1$')" 1 'and sound' || echo "$check" | sed 's/^/# /'
like "$dump" '^@ Program [^ ]*\[7\] capture/IO' 'a name is one word'
is "$(echo "$dump" | grep -c 'path=string:/x/</script>')" 1 'a path is text'
draw "$tmp/odd.jsonl" --redact
is "$status $(echo "$dump" | grep -c script)" '0 0' 'and hidden on request'

# --- too many to be drawn one by one ---
draw $D/uring-file.kvt --slice-budget 100
like "$summary" 'AGGREGATED: 707 system calls are drawn as [0-9]+ slices' 'calls beyond the budget are drawn as fewer'
is "$(echo "$check" | tail -n 1 | cut -d' ' -f 1-5)" 'capture: calls 707 io_uring 41' 'none of them is lost'
like "$dump" '^S .* read x[0-9]+ \{n=uint:[0-9]+,bytes=uint:[0-9]+,dur_p50_ns=uint:[0-9]+,dur_max_ns=uint:[0-9]+\}$' 'with their number, bytes and times'
done_testing
