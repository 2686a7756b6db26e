#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Causes by the places of files: a capture made by hand, of which each command and its cause are known.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# Files a, b, c are on nvme0n1, e is on nvme1n1 at the bytes where a is on the other; b is moved, c is new, d is deleted.
cat >"$tmp/make.pl" <<'E'
use strict;
my ($K, $M, $cid, @line) = (1024, 1024 * 1024, 0);
my %disk = (0 => 271581184, 1 => 271581185);
my %ino = (a => 1, b => 2, c => 3, d => 4, e => 5);
sub line { my ($ts, $text) = @_; push @line, [$ts, $text]; }
sub call {
	my ($name, $tid, $ts, $lat, $file, $offset, $size, $more) = @_;
	line $ts, qq({"event_type":"syscall","call":"$name","pid":10,"tid":$tid,"comm":"app","ts":$ts,"lat_ns":$lat,"ret":$size,"fd":3,"offset":$offset,"size":$size,"dev":7,"ino":$ino{$file},"path":"/d/$file") . ($more // "") . "}\n";
}
sub request {
	my ($op, $tid, $ts, $lat, $file, $offset, $size) = @_;
	my $code = $op eq "read" ? 22 : 23;
	line $ts, qq({"event_type":"uring","op":"$op","opcode":$code,"pid":10,"tid":$tid,"comm":"app","ts":$ts,"lat_ns":$lat,"res":$size,"user_data":7,"ring":1,"fd":3,"sqe_flags":16,"offset":$offset,"size":$size,"dev":7,"ino":$ino{$file},"path":"/d/$file"}\n);
}
sub fault {
	my ($tid, $ts, $lat, $file, $offset, $write) = @_;
	line $ts, qq({"event_type":"fault","ts":$ts,"lat_ns":$lat,"pid":10,"tid":$tid,"comm":"app","address":140000000000000,"offset":$offset,"major":true,"retries":0,"filled":32,) . ($write ? qq("write":true,) : "") . qq("dev":7,"ino":$ino{$file},"path":"/d/$file"}\n);
}
sub cmd {
	my ($op, $tid, $ts, $lat, $disk, $at, $bytes) = @_;
	my ($code, $lba, $nlb) = ($op eq "read" ? 2 : 1, $at / 4096, $bytes / 4096);
	$cid++;
	line $ts, qq({"event_type":"nvme_cmd","pid":$tid,"tid":$tid,"nvme_opcode":$code,"op_name":"$op","nsid":1,"slba":$lba,"nlb":$nlb,"bytes":$bytes,"data_len":$bytes,"comm":"w","ts":$ts,"disk":"nvme${disk}n1","dev":$disk{$disk},"hwq":1,"cid":$cid,"wait_ns":10}\n);
	line $ts + $lat, qq({"event_type":"nvme_cmp","err":0,"status":0,"lat_ns":$lat,"hwq":1,"cid":$cid,"ts":@{[$ts + $lat]},"dev":$disk{$disk}}\n);
}
sub extent {
	my ($end, $file, $disk, $physical, $bytes, $more) = @_;
	line $end ? 90000 : 10, qq({"event_type":"extent","ts":@{[$end ? 90000 : 10]},) . ($end ? qq("at_end":true,) : "") . qq("dev":7,"ino":$ino{$file},"disk":$disk{$disk},"offset":0,"physical":$physical,"bytes":$bytes,"map_flags":0,"path":"/d/$file") . ($more // "") . "}\n";
}
my ($A, $B0, $B1, $C, $D) = (16 * $M, 32 * $M, 48 * $M, 64 * $M, 80 * $M);
extent $_, "a", 0, $A, $M for 0, 1;
extent 0, "b", 0, $B0, $M;
extent 1, "b", 0, $B1, $M, ',"moved":true';
extent 1, "c", 0, $C, $M;
extent 0, "d", 0, $D, $M;
extent $_, "e", 1, $A, $M for 0, 1;
# Written out by another thread, long after the call: one write, in two commands.
call "pwrite64", 10, 1000, 100, "a", 0, 64 * $K;
cmd "write", 99, 5000, 100, 0, $A, 32 * $K;
cmd "write", 99, 5010, 100, 0, $A + 32 * $K, 32 * $K;
# Two writes before the command; then a third, and its own command.
call "pwrite64", 10, 1200, 50, "a", 64 * $K, 4096;
call "pwrite64", 10, 1300, 50, "a", 64 * $K, 4096;
cmd "write", 99, 5100, 100, 0, $A + 64 * $K, 4096;
call "pwrite64", 10, 6000, 50, "a", 64 * $K, 100;
cmd "write", 99, 7000, 100, 0, $A + 64 * $K, 4096;
# Written once more, though nobody has changed it.
cmd "write", 99, 7200, 100, 0, $A + 64 * $K, 4096;
# Moved, new, deleted.
call "pwrite64", 10, 1400, 50, "b", 0, 4096;
cmd "write", 99, 5200, 100, 0, $B0, 4096;
cmd "write", 99, 5300, 100, 0, $B1, 4096;
call "pwrite64", 10, 1500, 50, "c", 0, 4096;
cmd "write", 99, 5400, 100, 0, $C, 4096;
call "pwrite64", 10, 1550, 50, "d", 0, 4096;
cmd "write", 99, 5450, 100, 0, $D, 4096;
# The same bytes of the other device.
call "pwrite64", 10, 1600, 50, "e", 128 * $K, 4096;
cmd "write", 99, 5500, 100, 0, $A + 128 * $K, 4096;
cmd "write", 99, 5600, 100, 1, $A + 128 * $K, 4096;
# Less than the command.
call "pwrite64", 10, 1700, 50, "a", 192 * $K, 4096;
cmd "write", 99, 5700, 100, 0, $A + 192 * $K, 8192;
# Requests that a worker carries out: in their time, too late, one of two, the other way, beside their bytes.
request "read", 11, 8000, 1000, "a", 256 * $K, 4096;
cmd "read", 12, 8200, 600, 0, $A + 256 * $K, 4096;
request "read", 11, 8010, 500, "a", 260 * $K, 4096;
cmd "read", 12, 8300, 600, 0, $A + 260 * $K, 4096;
request "read", 11, 8020, 1000, "a", 264 * $K, 4096;
request "read", 11, 8030, 1000, "a", 264 * $K, 8192;
cmd "read", 12, 8400, 100, 0, $A + 264 * $K, 4096;
request "write", 11, 8040, 1000, "a", 280 * $K, 4096;
cmd "read", 12, 8500, 100, 0, $A + 280 * $K, 4096;
request "read", 11, 8050, 1000, "a", 288 * $K, 4096;
cmd "read", 12, 8600, 100, 0, $A + 288 * $K, 8192;
# Faults: what its thread reads of that file, not of another one, and not behind it; what a fault by a write changed.
fault 13, 10000, 1000, "a", 384 * $K;
cmd "read", 13, 10100, 500, 0, $A + 384 * $K, 64 * $K;
cmd "read", 13, 10200, 500, 0, $A + 512 * $K, 64 * $K;
cmd "read", 13, 10300, 500, 0, $C + 512 * $K, 4096;
cmd "read", 13, 11200, 500, 0, $A + 384 * $K, 4096;
fault 13, 12000, 50, "a", 600 * $K, 1;
cmd "write", 99, 13000, 100, 0, $A + 600 * $K, 4096;
fault 13, 12100, 50, "a", 608 * $K, 1;
call "pwrite64", 10, 12200, 50, "a", 608 * $K, 4096;
cmd "write", 99, 13100, 100, 0, $A + 608 * $K, 4096;
# Direct: in the thread itself; what writes it again is not of this call.
call "pwrite64", 14, 14000, 900, "a", 640 * $K, 4096;
cmd "write", 14, 14100, 500, 0, $A + 640 * $K, 4096;
cmd "write", 99, 14700, 100, 0, $A + 640 * $K, 4096;
cmd "write", 99, 14950, 20, 0, $A + 640 * $K, 4096;
# A mapping that can be written to: without faults nobody knows.
call "pwrite64", 10, 15000, 50, "a", 704 * $K, 4096;
call "mmap", 10, 15100, 50, "a", 704 * $K, 4096, ',"arg":1,"fd2":3';
cmd "write", 99, 16000, 100, 0, $A + 704 * $K, 4096;
call "mmap", 10, 15200, 50, "a", 900 * $K, 4096, ',"arg":1,"fd2":3';
cmd "write", 99, 16100, 100, 0, $A + 900 * $K, 4096;
# A write of more than each command.
call "pwrite64", 10, 17000, 50, "a", 720 * $K, 64 * $K;
cmd "write", 99, 18000, 100, 0, $A + 776 * $K, 8192;
cmd "write", 99, 18100, 100, 0, $A + 728 * $K, 8192;
# Part of it written back while the call lasts, the rest later.
call "pwrite64", 10, 19000, 900, "a", 464 * $K, 32 * $K;
cmd "write", 99, 19200, 100, 0, $A + 464 * $K, 16 * $K;
cmd "write", 99, 19950, 20, 0, $A + 480 * $K, 16 * $K;
# A direct write by a worker, then the same bytes for another reason.
request "write", 11, 20000, 900, "a", 544 * $K, 4096;
cmd "write", 12, 20100, 600, 0, $A + 544 * $K, 4096;
cmd "write", 99, 20950, 20, 0, $A + 544 * $K, 4096;
# Another capture: a copy may have changed any file; before the write it does not count.
if (@ARGV) {
	@line = ();
	extent $_, "a", 0, $A, $M for 0, 1;
	call "copy_file_range", 77, 21000, 50, "e", 0, 4096;
	call "pwrite64", 10, 21100, 50, "a", 576 * $K, 4096;
	cmd "write", 99, 21200, 100, 0, $A + 576 * $K, 4096;
	call "pwrite64", 10, 21400, 50, "a", 576 * $K, 4096;
	call "copy_file_range", 77, 21500, 50, "e", 0, 4096;
	cmd "write", 99, 21600, 100, 0, $A + 576 * $K, 4096;
}
print '{"event_type":"capture_meta","schema_version":2,"emitter":"kvio","kvio_version":"0","view":"nvme","page_bytes":4096}', "\n";
print $_->[1] for sort { $a->[0] <=> $b->[0] } @line;
E
perl "$tmp/make.pl" >"$tmp/a.jsonl"
"$KVIO" cat -q "$tmp/a.jsonl" -o "$tmp/a.kvt" 2>/dev/null

sql() { # FILE... QUERY
	"$KVIO" sql --csv "$@" 2>/dev/null | sed 1d | tr -d '\r'
}
each="select c.ts_ns, c.cause, s.ts_ns, u.ts_ns, f.ts_ns from cmd c left join syscall s on s.id = c.call_id
	left join uring u on u.id = c.uring_id left join fault f on f.id = c.fault_id order by c.ts_ns"
want='5000,extent,1000,,
5010,extent,1000,,
5100,uncertain,,,
5200,moved,,,
5300,moved,,,
5400,extent,1500,,
5450,moved,,,
5500,no_thread,,,
5600,extent,1600,,
5700,uncertain,,,
7000,extent,6000,,
7200,no_thread,,,
8200,extent,,8000,
8300,no_thread,,,
8400,uncertain,,,
8500,no_thread,,,
8600,no_thread,,,
10100,extent,,,10000
10200,extent,,,10000
10300,no_thread,,,
11200,no_thread,,,
13000,extent,,,12000
13100,uncertain,,,
14100,thread,14000,,
14700,no_thread,,,
14950,no_thread,,,
16000,extent,15000,,
16100,no_thread,,,
18000,extent,17000,,
18100,extent,17000,,
19200,extent,19000,,
19950,extent,19000,,
20100,extent,,20000,
20950,no_thread,,,'
is "$(sql "$tmp/a.jsonl" "$each")" "$want" 'each command has its cause, or none'
is "$(sql "$tmp/a.kvt" "$each")" "$want" 'the same from .kvt'

# --- what must be known for it
grep -v '"fault"' "$tmp/a.jsonl" >"$tmp/nofault.jsonl"
is "$(sql "$tmp/nofault.jsonl" "$each" | sed -n '/^1[036]/p')" '10100,no_thread,,,
10200,no_thread,,,
10300,no_thread,,,
13000,no_thread,,,
13100,extent,12200,,
16000,uncertain,,,
16100,uncertain,,,' 'without faults, a mapping that can be written to makes it uncertain'
grep -v '"extent"' "$tmp/a.jsonl" >"$tmp/nomap.jsonl"
is "$(sql "$tmp/nomap.jsonl" "select count(*), sum(cause in ('extent', 'moved')), count(fault_id) from cmd")" '34,0,0' 'without maps there is no such cause'
sed 's/"wait_ns":10/"x":0/' "$tmp/a.jsonl" >"$tmp/nowait.jsonl"
is "$(sql "$tmp/nowait.jsonl" "select op, count(*) from cmd where cause = 'extent' group by op" | tr ',' ' ' | paste -sd' ')" 'read 3 write 2' 'writes of the page cache need the time that they were made'
{
	cat "$tmp/a.jsonl"
	echo '{"event_type":"loss","ts":3000,"witness":"syscall","seen":30,"stored":29,"ring_full":1,"map_full":0,"hook_missed":0,"filtered":0}'
	echo '{"event_type":"loss","ts":4000,"witness":"syscall","seen":30,"stored":29,"ring_full":1,"map_full":0,"hook_missed":0,"filtered":0}'
} >"$tmp/loss.jsonl"
is "$(sql "$tmp/loss.jsonl" "select count(*), min(ts_ns) from cmd where cause = 'extent'")" '11,7000' 'nor where calls were lost meanwhile'

# --- told everywhere
"$KVIO" report --json "$tmp/a.jsonl" >"$tmp/r.json" 2>/dev/null
"$KVIO" schema report >"$tmp/schema"
is "$(jq -c '[.[] | .causes? // empty] | first | [.joined.n, .not_joined.n, .extent.n, .extent.bytes, .thread.n, .uncertain.n, .moved.n, .no_thread.n]' "$tmp/r.json")" \
	'[16,18,15,274432,1,4,3,11]' 'report, JSON: counted of its own'
is "$(jq -c '[.[] | .bytes_by_layer? // empty] | first | [.device_by_syscalls, .device_by_io_uring, .device_by_faults, .device_by_none | .read_bytes, .write_bytes]' "$tmp/r.json")" \
	'[0,135168,4096,4096,131072,4096,28672,53248]' 'report, JSON: bytes by what caused them'
is "$(perl tests/schema_check.pl "$tmp/schema" "$tmp/r.json")" '' 'report, JSON: holds to the schema'
text=$("$KVIO" report "$tmp/a.jsonl" --html "$tmp/a.html" 2>/dev/null)
like "$text" 'joined +15 .* by place in a file that was mapped, and time' 'report: says how'
like "$text" 'not joined +3 .* of a file that was moved or deleted' 'report: and why not'
like "$text" 'by page faults +2 ' 'report: bytes by faults'
is "$(tr -d '\n ' <"$tmp/a.html" | grep -o '\[1,15,274432,"byplaceina')" '[1,15,274432,"byplaceina' 'page: the same'
"$KVIO" perfetto -q "$tmp/a.jsonl" -o "$tmp/a.pftrace" --json >"$tmp/p.json" 2>/dev/null
is "$(jq -c '[.. | objects | .causes? // empty] | first | [.joined, .extent, .moved, .faults]' "$tmp/p.json")" '[16,15,3,2]' 'timeline: counted'
is "$(sql "$tmp/a.pftrace" "select o.name, count(*), count(distinct o.id) from flow f join slice o on o.id = f.slice_out
	join slice c on c.id = f.slice_in group by 1 order by 1" | paste -sd' ')" 'major,3,2 pwrite64,11,8 read,1,1 write,1,1' 'timeline: arrows from calls, requests and faults'
"$KVIO" perfetto -q "$tmp/a.jsonl" -o "$tmp/a.pftrace" --window 11us,12.2us --json >"$tmp/p.json" 2>/dev/null
is "$(jq -c '[.. | objects | .causes? // empty] | first | [.joined, .extent, .faults]' "$tmp/p.json")" '[1,1,1]' 'a window keeps what was joined'
is "$(sql "$tmp/a.pftrace" "select o.name, extract_arg(o.arg_set_id, 'debug.offset') from flow f join slice o on o.id = f.slice_out")" 'major,614400' \
	'... and its arrows'
perl "$tmp/make.pl" copy >"$tmp/copy.jsonl"
is "$(sql "$tmp/copy.jsonl" "$each")" '21200,extent,21100,,
21600,uncertain,,,' 'a copy between the write and its way to the device: it may have changed the bytes'

cache='{"event_type":"cache","pid":523,"ts":90000,"faults":30,"minor":29,"major":1,"failed":0,"retries":0,"touched_pages":30,"mapped_pages":480,"fills":512,"fill_pages":512,"ra_calls":1,"ra_pages":2048,"direct_reads":0,"direct_read_bytes":0,"direct_writes":0,"direct_write_bytes":0,"lat_ns":2514995,"dev":7,"ino":1,"path":"/d/a"}'
for kept in xx fault; do
	{ grep -v "\"event_type\":\"$kept\"" "$tmp/a.jsonl"; echo "$cache"; } >"$tmp/sums.$kept.jsonl"
	"$KVIO" report "$tmp/sums.$kept.jsonl" 2>/dev/null | grep -c 'page faults were counted, not kept'
done >"$tmp/hints"
is "$(paste -sd' ' "$tmp/hints")" '0 1' 'report: what would join the commands of page faults'

# --- allocated ahead of the end of a file, and given to another one
map_of() { # TIME NAME INODE SIZE PHYSICAL BYTES AT_END
	printf '{"event_type":"extent","ts":%s,%s"dev":7,"ino":%s,"disk":259,"size":%s,"extents":1,"path":"/d/%s"}\n' "$1" "$7" "$3" "$4" "$2"
	printf '{"event_type":"extent","ts":%s,%s"dev":7,"ino":%s,"disk":259,"offset":0,"physical":%s,"bytes":%s,"map_flags":0,"path":"/d/%s"}\n' \
		"$1" "$7" "$3" "$5" "$6" "$2"
}
written() { # TIME LBA
	printf '{"event_type":"nvme_cmd","pid":9,"tid":9,"nvme_opcode":1,"op_name":"write","nsid":1,"slba":%s,"nlb":1,"bytes":4096,"data_len":4096,"comm":"w","ts":%s,"disk":"nvme0n1","dev":259,"hwq":1,"cid":%s}\n' "$2" "$1" "$1"
	printf '{"event_type":"nvme_cmp","err":0,"status":0,"lat_ns":10,"hwq":1,"cid":%s,"ts":%s,"dev":259}\n' "$1" $(($1 + 10))
}
end='"at_end":true,'
{
	echo '{"event_type":"disk","ts":1,"disk":"nvme0n1","dev":259,"nsid":1,"lba_bytes":4096}'
	map_of 100 grown 1 8192 1048576 65536
	map_of 110 gone 2 4096 2097152 65536
	written 200 258 # behind the first 8192 bytes of "grown"
	written 210 264 # where "taken" is in the end, which had none of it yet
	written 220 270 # where "late" is, of which there is the last map only
	written 230 514 # nobody else's
	map_of 300 taken 3 4096 1081344 4096
	map_of 900 grown 1 12288 1048576 12288 "$end"
	map_of 900 taken 3 4096 1081344 4096 "$end"
	map_of 900 late 4 4096 1105920 4096 "$end"
} >"$tmp/ahead.jsonl"
ahead='select file, file_offset, file_map from cmd order by ts_ns'
is "$(sql "$tmp/ahead.jsonl" "$ahead")" '/d/grown,8192,both
/d/taken,0,both
/d/late,0,end
/d/gone,8192,begin' 'what was allocated ahead of the end of a file is of the file that has it later'
grep -v '"size"' "$tmp/ahead.jsonl" >"$tmp/sizeless.jsonl"
is "$(sql "$tmp/sizeless.jsonl" "$ahead" | cut -d, -f3 | paste -sd' ')" 'both unsure unsure begin' 'when the sizes are not known, that is not sure'
done_testing
