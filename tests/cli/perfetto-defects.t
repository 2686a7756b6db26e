#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the older converter did wrong (defect 1 to 14) or did not have (gap 1 to
# 11), each with a test that it would fail.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
D=tests/data/perfetto
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
. tests/perfetto.sh
in=$tmp/in.jsonl
summary_of() { # EXPRESSION of $a, the first arm, FILE...
	expression=$1
	shift
	"$KVIO" perfetto --json "$@" -o "$tmp/y.pftrace" 2>/dev/null | perl -MJSON::PP -0777 -ne '$a = decode_json($_)->{arms}[0]; print '"$expression"
}
reads() { # commands of the last timeline: begin, length
	echo "$dump" | awk '/^S .* (read|write) / { print $2, $3 }' | sort -n | tr '\n' ';'
}

# --- defects ---
{
	object 1 load 0.001 0.002
	submit 1100000 4294967297 ',"tid":9999'
	complete 1100000 1000 4294967297
	echo "$drops"
} >"$in"
draw "$in"
like "$dump" '^S 100000 1000 d0 read \{.*trace_id=uint:1,' 'defect 1: the thread id of a command is not its join id'
like "$dump" '^S 0 1000000 d0 load .*n_cmds=uint:1' 'defect 1: its object has it'

draw --ebpf $D/tpmon/ebpf.jsonl
want=$(sed -n 's/.*"nvme_cmp".*"lat_ns":\([0-9]*\).*/\1/p' $D/tpmon/ebpf.jsonl | sort -n | tr '\n' ' ')
is "$(echo "$dump" | awk '/^S .*real_dur=bool:True/ { print $3 }' | sort -n | tr '\n' ' ')" "$want" \
	'defect 2: commands without user_data have their own latencies'

{
	object 1 load 0.001 0.002
	submit 1100000 4294967297
	complete 1100000 1000 4294967297
	echo "$drops"
} >"$in"
draw "$in"
like "$dump" '^S 0 1000000 d0 load .*op_latency_ms=double:1[,}]' 'defect 3: time begins with the first object, which is drawn in its whole length'

# One slot: 16 KiB first, 4 KiB later.  A command behind the 4 KiB is of no object then.
{
	printf '{"trace_id":1,"op":"store","key":"a","bytes":16384,"slot_offset":0,"ts_start":0.010,"ts":0.011}\n'
	printf '{"trace_id":2,"op":"store","key":"b","bytes":4096,"slot_offset":0,"ts_start":0.110,"ts":0.111}\n'
	printf '{"event_type":"nvme_cmd","nvme_opcode":1,"op_name":"write","slba":%s,"nlb":1,"bytes":4096,"data_len":4096,"ts":%s}\n' 3 10500000 0 110500000 3 110600000
	echo "$drops"
} >"$in"
is "$(summary_of '"$a->{join}{unique} $a->{join}{unmatched}"' "$in" --join-by-offset)" '2 1' 'defect 4: a slot ends where its object of that time does'
{
	printf '{"trace_id":2,"op":"load","key":"a","bytes":4096,"ts_start":0.010,"ts":0.011}\n'
	printf '{"trace_id":1,"op":"load","key":"b","bytes":4096,"slot_offset":0,"ts_start":0.010,"ts":0.011}\n'
	printf '{"trace_id":3,"op":"load","key":"c","bytes":4096,"slot_offset":8192,"ts_start":0.010,"ts":0.011}\n'
	printf '{"event_type":"nvme_cmd","nvme_opcode":2,"op_name":"read","slba":%s,"nlb":1,"bytes":4096,"data_len":4096,"ts":%s}\n' 0 10500000 2 10600000
	printf '{"event_type":"nvme_cmd","nvme_opcode":0,"op_name":"flush","data_len":0,"ts":10700000}\n'
	echo "$drops"
} >"$in"
draw "$in" --join-by-offset
is "$(echo "$dump" | sed -n 's/^S .* load kv .*n_cmds=uint:\([0-9]*\).*key=string:\(.\)}.*/\2\1/p' | sort | tr '\n' ' ')" 'a0 b1 c1 ' 'defect 4: a record without a slot gets no command of another'
like "$summary" 'offsets : unique=2 cross-object=0 gap-spill=0 unmatched=0 no-place=1' 'defect 4: commands without an LBA are in the account'
{
	printf '{"trace_id":1,"op":"load","key":"a","bytes":4096,"slot_offset":4096,"ts_start":0.010,"ts":0.011}\n'
	printf '{"event_type":"nvme_cmd","nvme_opcode":2,"op_name":"read","slba":0,"nlb":2,"bytes":8192,"data_len":8192,"ts":10500000}\n'
	echo "$drops"
} >"$in"
draw "$in" --join-by-offset
like "$dump" '^S .* load kv .*n_cmds=uint:1' 'defect 4: a command that begins before a slot and reaches into it is of it'
like "$dump" '^S .* read .*outside_bytes=uint:4096' 'defect 4: and it is said how much is of none'

draw --sem $D/offset-join/sem.jsonl --ebpf $D/offset-join/ebpf.jsonl --join-by-offset
is "$(echo "$dump" | grep -c 'role=string:header') $(echo "$summary" | grep -c 'no header')" '10 0' 'defect 5: headers are found with LBAs of 512 bytes'

draw --sem $D/slot-reuse/sem.jsonl --ebpf $D/slot-reuse/ebpf.jsonl --join-by-offset
like "$summary" 'parity  : 96/96 \(100\.00%\)' 'defect 6: of several windows the nearest in time counts'

for t in 1000 1000 1001 1001 1002; do submit $t 1; done >"$in"
echo "$drops" >>"$in"
draw "$in" --nominal-dur-ns 500
is "$(reads)" '0 1;0 1;1 1;1 1;2 500;' 'defect 7: commands of one time without a completion keep a length'
like "$check" '^capture: commands 5 ' 'defect 7: and lanes of their own'

"$KVIO" perfetto --merge a=$D/qd1/sem.jsonl --merge a=$D/qd1/sem.jsonl -o "$tmp/y.pftrace" 2>/dev/null
is $? 2 'defect 8: two arms of one label are refused'

{
	printf '5\n"text"\n[1,2]\nnull\n{"trace_id":1}\n{"op":"load","trace_id":2}\n{"event_type":"nvme_cmd"}\n{"event_type":7}\n{"trace_id":1,"op":"load","key":"\377\300","ts":1}\n'
	submit 1000000000 1
	echo "$drops"
} >"$in"
draw "$in"
is "$status $(summary_of '"$a->{commands} $a->{semantic}"' "$in")" '3 1 1' 'defect 9: lines that are no records are counted, and the rest is drawn'

{
	printf '{"trace_id":1,"op":"store","key":"","key_hex":"","bytes":4096,"ts_start":0.001,"ts":0.003}\n'
	printf '{"trace_id":2,"op":"store","key":"a long key of more than sixteen bytes","bytes":4096,"ts_start":0.001,"ts":0.003}\n'
	printf '{"trace_id":3,"op":"store","key":"short","bytes":4096,"ts_start":0.001,"ts":0.003}\n'
	printf '{"event_type":"nvme_cmd","user_data":1,"nvme_opcode":1,"op_name":"store","key_hex":"73686f7274","key_len":5,"value_len":4096,"data_len":4096,"ts":2000000}\n'
	printf '{"event_type":"nvme_cmd","user_data":2,"nvme_opcode":0,"op_name":"flush","data_len":0,"ts":2100000}\n'
	echo "$drops"
} >"$in"
draw "$in" --join-by-key
is "$(echo "$dump" | sed -n 's/^S .* store kv .*n_cmds=uint:\([0-9]*\).*/\1/p' | sort | tr '\n' ' ')" '0 0 1 ' 'defect 10: an empty key has no commands'
like "$summary" 'WARNING: 1 keys are longer than a command can carry' 'defect 10: keys of more than 16 bytes are said'

draw --sem $D/qd1/sem.jsonl --ebpf $D/qd1/ebpf.jsonl --time-range 0.004,0.009
is "$(echo "$dump" | grep -c '^I .* capture_info')" 1 'defect 11: a part has its capture_info'
like "$(on 'LMCache capture/objects in flight' | head -n 1)" '^C [0-9]+ 1$' 'defect 11: and its counters begin with a value'
draw --sem $D/qd1/sem.jsonl --ebpf $D/qd1/ebpf.jsonl --no-rebase
is "$(echo "$dump" | awk '/^[SIC]/ { print $2 < 812345000000000 }' | sort -u)" 0 'defect 11: with absolute times nothing is at 0'

draw --ebpf $D/kv-key/ebpf.jsonl
is "$(summary_of '"$a->{untagged} $a->{untagged_bytes}"' $D/kv-key/ebpf.jsonl)" '0 0' 'defect 12: commands with a key are tagged in number and in bytes'

perl -e 'my $t = 1000; for my $i (1 .. 20000) {
	for my $k (1 .. 8) { printf "{\"event_type\":\"nvme_cmd\",\"user_data\":4294967297,\"nvme_opcode\":2,\"op_name\":\"read\",\"slba\":%d,\"nlb\":1,\"data_len\":4096,\"ts\":%d}\n", $k, $t + $k * 10 }
	printf "{\"trace_id\":1,\"op\":\"load\",\"key\":\"hot\",\"bytes\":32768,\"ts_start\":%.9f,\"ts\":%.9f}\n", $t / 1e9, ($t + 100) / 1e9; $t += 200 }
	print "{\"event_type\":\"drops\",\"dropped\":0}\n"' >"$in"
# The older way took 5.6 s for a tenth of it, and a hundred times that for this.
is "$(perl -e 'alarm 120; exec @ARGV' "$KVIO" perfetto --json "$in" -o "$tmp/y.pftrace" 2>/dev/null | perl -MJSON::PP -0777 -ne '$a = decode_json($_)->{arms}[0]; print "$a->{drawn_objects}{n} $a->{drawn_commands}{n}"')" \
	'20000 160000' 'defect 13: one key of 20000 operations is no matter'
# A sanitized program has no use for a limit of its address space.
limit=unlimited
(ulimit -v 262144 && "$KVIO" version >/dev/null 2>&1) && limit=262144
is "$(ulimit -v $limit && summary_of '"$a->{drawn_commands}{n}"' "$in")" 160000 'defect 14: nor do its 160000 commands take 256 MiB (the older way: 700)'

# --- gaps ---
{
	submit 1000 1
	complete 1000 500 1 ',"err":10'
	submit 2000 2
	submit 2500 2
	complete 2500 500 2
	echo '{"event_type":"cq_overflow","user_data":1,"res":0,"ts":3000}'
	echo '{"event_type":"drops","dropped":4}'
} >"$in"
draw "$in"
is "$(echo "$dump" | grep -cE '^I .* (read failed|read issued again|CQ overflow|LOSSY) ') $(echo "$dump" | grep -c '^S .* read FAILED .*err=string:blk_status 10')" '4 1' \
	'gap 1: failures, re-issues, overflows and drops are drawn'

gzip -c $D/qd1/ebpf.jsonl >"$tmp/e.gz"
draw $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl
whole=$(sum)
draw $D/qd1/sem.jsonl "$tmp/e.gz"
is "$(sum)" "$whole" 'gap 2: gzip input'
if command -v zstd >/dev/null; then
	zstd -qc $D/qd1/sem.jsonl >"$tmp/s.zst"
	draw "$tmp/s.zst" $D/qd1/ebpf.jsonl
	is "$(sum)" "$whole" 'gap 2: zstd input'
else
	echo '# skip: zstd is not installed, so no input is made with it'
fi
draw $D/qd1/sem.jsonl - <$D/qd1/ebpf.jsonl
is "$(sum)" "$whole" 'gap 2: standard input'
"$KVIO" cat -q $D/qd1/ebpf.jsonl -o "$tmp/e.kvt"
draw "$tmp/e.kvt" $D/qd1/sem.jsonl
is "$(sum)" "$whole" 'gap 2: .kvt input'
head -c 9000 $D/qd1/ebpf.jsonl >"$tmp/growing.jsonl"
draw $D/qd1/sem.jsonl "$tmp/growing.jsonl"
is "$status $(echo "$summary" | grep -c 'cut at its end')" '3 1' 'gap 2: a file that is still growing is drawn up to its last whole line'

is "$(summary_of '"$a->{losses}{dropped} $a->{losses}{cq_overflows} $a->{losses}{failed} $a->{losses}{reissued}"' "$in")" '4 1 1 1' 'gap 3: records of every kind have a number of their own'

{
	printf '{"event_type":"nvme_cmd","rdev":62914560,"nsid":1,"user_data":1,"nvme_opcode":2,"op_name":"read","slba":8,"nlb":1,"data_len":4096,"ts":1000}\n'
	printf '{"event_type":"nvme_cmd","rdev":62914561,"nsid":2,"user_data":2,"nvme_opcode":2,"op_name":"read","slba":8,"nlb":1,"data_len":4096,"ts":1000}\n'
	echo "$drops"
} >"$in"
draw "$in"
is "$(echo "$dump" | grep -c '^T NVMe [^/]*$') $(reads)" '2 0 8000;0 8000;' 'gap 4: devices have track trees of their own'
like "$check" '^capture: commands 2 ' 'gap 4: which are sound'

draw --sem $D/header-lba512/sem.jsonl --ebpf $D/header-lba512/ebpf.jsonl
is "$status" 0 'gap 5: another LBA size than 4096 is no failure'
{
	printf '{"trace_id":1,"op":"store","key":"a","bytes":4096,"slot_offset":51200,"ts_start":0.001,"ts":0.003}\n'
	printf '{"event_type":"nvme_cmd","user_data":4294967297,"nvme_opcode":1,"op_name":"write","slba":100,"data_len":4096,"ts":2000000}\n'
	printf '{"event_type":"nvme_cmp","user_data":4294967297,"lat_ns":1000,"ts":2001000}\n'
	echo "$drops"
} >"$in"
draw "$in" --strict
like "$summary" 'note: LBA size 512 was inferred' 'gap 5: an LBA size that is inferred is a note'
is "$status" 0 'gap 5: also with --strict'

draw --sem $D/qd1/sem.jsonl --ebpf $D/qd1/ebpf.jsonl --redact
is "$(grep -acE 'host-a|/dev/ng1n1|sem\.jsonl|ebpf\.jsonl' "$tmp/x.pftrace")" 0 'gap 6: --redact leaves out host, device and files'

mkdir "$tmp/a=b"
cp $D/qd1/sem.jsonl "$tmp/a=b/se,m.jsonl"
cp $D/qd1/ebpf.jsonl "$tmp/a=b/ebpf.jsonl"
draw --arm "x\\=y=$tmp/a=b/se\\,m.jsonl,$tmp/a=b/ebpf.jsonl"
like "$dump" '^T LMCache x=y \| process' 'gap 7: labels with = in them'
is "$(echo "$check" | sed 's/.*: commands/commands/; s/ slices.*//')" "${whole#*: }" 'gap 7: paths with = and , in them'
draw --merge a=$D/qd1/sem.jsonl --sem $D/tp4/sem.jsonl
like "$summary" 'warning: --merge is given: --sem' 'gap 7: what --merge overrides is said'

draw --sem $D/qd1/sem.jsonl --ebpf $D/qd1/ebpf.jsonl --no-rebase
like "$dump" '^K clock 1 at 1790812345' 'gap 8: the wall clock is in the timeline'

sed 's/"user_data":\([0-9]*\)/"user_data":99999999999/' $D/offset-parity/ebpf.jsonl >"$in"
draw $D/offset-parity/sem.jsonl "$in" --join-by-offset --strict
is $status 1 'gap 9: a parity below 100 % fails with --strict'
like "$summary" 'WARNING: 54 of 54 commands are in another object' 'gap 9: and it is said'

draw $D/kv-key/sem.jsonl $D/kv-key/ebpf.jsonl
is "$("$KVIO" report --json "$tmp/x.pftrace" | perl -MJSON::PP -0777 -ne '$j = decode_json($_)->{capture}; print join " ", map { $j->{"lat_$_"}{n} > 0 ? $_ : () } qw(store retrieve)')" \
	'store retrieve' 'gap 10: store and retrieve have latencies'
is "$("$KVIO" sql --csv "$tmp/x.pftrace" 'select count(*) from slice' 2>/dev/null | tail -n 1 | tr -d '\r')" "$(echo "$dump" | grep -c '^[SI] ')" \
	'gap 11: a timeline is queried by the same program, without a package from elsewhere'

done_testing
