#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Field cases of conversion: what broke for people who trace and draw storage
# IO, each with its own tiny input.  Tests are named after their case: B, what
# KV offload does; C, what tracing loses; D, device formats; E, Perfetto's
# importer; F, text input; the number is the place in the list of its group.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
D=tests/data/perfetto
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
. tests/perfetto.sh
in=$tmp/in.jsonl
json() { # EXPRESSION: of $a, the first arm in the JSON summary of "$in"
	"$KVIO" perfetto --json "$in" -o "$tmp/y.pftrace" 2>/dev/null | perl -MJSON::PP -0777 -ne '$a = decode_json($_)->{arms}[0]; print '"$1"
}

# --- B: KV offload ---
{
	submit 0 7
	submit 40000 7
	complete 40000 20000 7 ',"err":0'
	echo "$drops"
} >"$in"
draw "$in"
is "$(echo "$dump" | grep '^S .* read ')" 'S 40000 20000 d0 read {slba=uint:7,data_len=uint:4096,real_dur=bool:True,attempts=uint:2,wait_ns=uint:40000}' \
	'B6 EAGAIN re-issue: one command, its latency from the last submission, with its attempts and its wait'
is "$(json '"$a->{losses}{orphan_completions} $a->{losses}{unpaired} $a->{reissued}"')" '0 0 1' 'B6 EAGAIN re-issue: neither an orphan nor an unpaired command'

{
	submit 1000 1
	complete 1000 500 1 ',"err":0'
	for t in 2000 3000 4000; do echo "{\"event_type\":\"cq_overflow\",\"user_data\":1,\"res\":-125,\"ts\":$t}"; done
	echo "$drops"
} >"$in"
draw "$in" --strict
is "$(on 'LMCache capture/capture info' | grep -c 'CQ overflow')" 3 'B7 CQ overflow: each is an instant'
is "$((status != 0))" 1 'B7 CQ overflow: --strict fails'
like "$summary" 'WARNING: .*CQ overflow' 'B7 CQ overflow: the summary warns'

{
	printf '{"event_type":"nvme_cmd","user_data":1,"nvme_opcode":2,"op_name":"read","slba":0,"nlb":32,"bytes":131072,"data_len":131072,"ts":1000}\n'
	printf '{"event_type":"nvme_cmp","user_data":1,"res":0,"err":0,"lat_ns":9000,"ts":10000}\n'
	echo "$drops"
} >"$in"
draw "$in"
like "$dump" '^S 0 9000 d0 read \{slba=uint:0,data_len=uint:131072,real_dur' 'B8 res 0 is success: the bytes are those of the command'

: >"$in"
draw "$in"
nothing=$summary
object 1 store 1.0 1.5 >"$in"
draw "$in"
like "$nothing" 'WARNING: there is nothing in this capture: 0 objects, 0 device commands' 'B9 nothing stored: an empty capture says so'
like "$summary" 'note: no device IO: 1 object, 0 device commands \(not recorded, wrong device' 'B9 nothing stored: objects without a device say so'
{ submit 1000 1; complete 1000 500 1; echo "$drops"; } >"$in"
draw "$in"
like "$summary" 'none, there is no semantic trace' 'B9 nothing stored: commands without objects say so'

{
	printf '{"trace_id":5,"op":"store","key":"a","bytes":4096,"ts_start":0.001,"ts":0.003,"pid":10}\n'
	printf '{"trace_id":5,"op":"store","key":"b","bytes":4096,"ts_start":0.002,"ts":0.004,"pid":11}\n'
	submit 2500000 21474836481
	echo "$drops"
} >"$in"
draw "$in"
is "$(json '"$a->{drawn_objects}{n} $a->{join}{colliding_ids}"')" '2 1' 'B13 producers that share a trace id: two objects, one id in doubt'
is "$(echo "$summary" | grep -c 'WARNING: .*1 trace ids* name')" 1 'B13 producers that share a trace id: one warning'

{
	for i in 0 1 2 3; do
		printf '{"trace_id":%s,"op":"load","key":"k%s","bytes":32768,"slot_offset":%s,"ts_start":0.001,"ts":0.002}\n' $((i + 1)) $i $((i * 32768))
	done
	echo '{"event_type":"nvme_cmd","user_data":0,"nvme_opcode":2,"op_name":"read","slba":0,"nlb":32,"bytes":131072,"data_len":131072,"ts":1500000}'
	echo '{"event_type":"nvme_cmp","user_data":0,"lat_ns":1000,"ts":1501000,"err":0}'
	echo "$drops"
} >"$in"
draw "$in"
like "$summary" 'offsets : unique=0 cross-object=1 gap-spill=0 unmatched=0' 'B16 a command over four objects: its class'
like "$summary" 'bytes   : unique=0 cross-object=131072 gap-spill=0 unmatched=0' 'B16 a command over four objects: the bytes of the classes are those of the capture'
is "$(echo "$dump" | grep -c 'load kv .*n_cmds=uint:1') $(echo "$dump" | grep -c '^S .*parts=uint:4}') $(echo "$dump" | grep -c outside_bytes)" \
	'4 1 0' 'B16 a command over four objects: is one of each, and nothing of it is outside'

# --- C: what is lost ---
{
	i=0
	while [ $i -lt 100 ]; do
		submit $((1000 + i * 1000)) $((i + 1))
		[ $i -lt 97 ] && complete $((1000 + i * 1000)) 500 $((i + 1)) ',"err":0'
		i=$((i + 1))
	done
	echo "$drops"
} >"$in"
draw "$in"
like "$summary" 'LOSSY: 3 of 100 commands .*\(3\.0 ?%\)' 'C1 missing completions: how many, of how many'
like "$dump" '^I .* LOSSY \{.*unpaired=uint:3' 'C1 missing completions: LOSSY is on the timeline'
is "$status" 3 'C1 missing completions: status 3'

{ submit 1000 1; complete 1000 500 1; } >"$in"
draw "$in"
like "$summary" 'INCOMPLETE: no final count of losses' 'C2 silent loss: no final account is an incomplete capture'
{ submit 1000 1; complete 1000 500 1; echo '{"event_type":"drops","dropped":12}'; } >"$in"
draw "$in"
like "$summary" 'WARNING: LOSSY: 12 of [0-9]+ events ' 'C2 silent loss: drops are said'
like "$dump" '^I .* LOSSY \{.*dropped=uint:12' 'C2 silent loss: and drawn'

{
	echo '{"event_type":"capture_meta","kvt_version":1}'
	submit 1000000 1
	complete 1000000 500 1
	echo '{"event_type":"loss","ts":2000000,"seen":2,"stored":2,"ring_full":0,"map_full":0,"hook_missed":0,"filtered":0}'
	echo '{"event_type":"loss","ts":3000000,"seen":14,"stored":2,"ring_full":11,"map_full":1,"hook_missed":0,"filtered":0}'
	submit 3500000 2
	complete 3500000 500 2
	echo '{"event_type":"loss","ts":4000000,"seen":15,"stored":3,"ring_full":11,"map_full":1,"hook_missed":0,"filtered":0}'
	submit 4500000 3
	complete 4500000 500 3
} >"$in"
{ cat "$in"; echo '{"event_type":"footer","complete":true,"seen":21,"stored":4,"ring_full":16,"map_full":1,"hook_missed":0,"filtered":0,"in_flight":0}'; } >"$tmp/ended.jsonl"
draw "$tmp/ended.jsonl"
is "$(echo "$dump" | grep '^S .* LOST ' | tr '\n' ';')" 'S 1000000 1000000 d0 LOST 12 events {dropped=uint:12};S 3000000 500500 d0 LOST 5 events {dropped=uint:5};' \
	'C2 silent loss: between which accounts, and behind the last'
like "$check" '^capture: commands 3 ' 'C2 silent loss: the timeline is sound'
cp "$tmp/x.pftrace" "$tmp/first"
for f in ended in; do
	"$KVIO" perfetto -q --label x "$tmp/$f.jsonl" -o "$tmp/first" 2>/dev/null
	mkdir -p "$tmp/turned"
	tac "$tmp/$f.jsonl" >"$tmp/turned/$f.jsonl"
	"$KVIO" perfetto -q --label x "$tmp/turned/$f.jsonl" -o "$tmp/s.pftrace" 2>/dev/null
	ok "C2 silent loss: the same bytes of lines in another order ($f)" cmp "$tmp/first" "$tmp/s.pftrace"
done
{
	echo '{"event_type":"capture_meta","kvt_version":1}'
	submit 1000000 1
	complete 1000000 500 1
	for l in '"ts":2000000,"ring_full":5' '"ts":2000001,"ring_full":2,"witness":"syscall"' '"ts":3000000,"ring_full":5' '"ts":3000001,"ring_full":3,"witness":"syscall"'; do
		echo "{\"event_type\":\"loss\",\"seen\":20,\"stored\":2,\"map_full\":0,\"hook_missed\":0,\"filtered\":0,$l}"
	done
	submit 5000000 2
	complete 5000000 500 2
	echo '{"event_type":"footer","complete":true,"seen":40,"stored":4,"ring_full":12,"map_full":0,"hook_missed":0,"filtered":0,"in_flight":0}'
} >"$in"
draw "$in"
is "$(echo "$dump" | awk '/^S .* LOST / { print $2, $3, $6 }' | sort -n | tr '\n' ';')" '0 1000000 5;0 1000001 2;1000001 1000000 1;2000000 2000500 4;' \
	'C2 silent loss: each tracer by its own accounts, and what the end has more than all'
"$KVIO" cat -q "$tmp/ended.jsonl" -o "$tmp/ended.kvt"
draw "$tmp/ended.kvt"
is "$(echo "$dump" | grep -c '^S .* LOST ')" 2 'C2 silent loss: of a .kvt, too'
draw "$tmp/ended.jsonl" --window 1.2ms,1.5ms
is "$(echo "$dump" | grep '^S .* LOST ' | cut -d' ' -f6)" 12 'C2 silent loss: cut by time as all else'
draw "$tmp/ended.jsonl" --slice-budget 1
is "$(echo "$dump" | grep '^S .* LOST ' | cut -d' ' -f6)" 17 'C2 silent loss: their number stays when they are drawn as one'

{
	echo '{"event_type":"nvme_cmp","status":0,"lat_ns":100,"hwq":1,"cid":9,"ts":1000}'
	echo '{"event_type":"nvme_cmd","disk":"nvme0n1","nvme_opcode":2,"op_name":"read","slba":8,"nlb":8,"bytes":4096,"data_len":4096,"hwq":1,"cid":9,"ts":5000}'
	echo "$drops"
} >"$in"
draw "$in"
is "$(json '"$a->{losses}{orphan_completions} $a->{losses}{unpaired}"')" '1 1' 'C3 a completion without its command: an orphan'
like "$dump" '^S 0 8000 d0 read .*real_dur=bool:False' 'C3 a completion without its command: not that of a later one'

{
	submit 1000 1
	printf '{"event_type":"nvme_cmp","user_data":1,"err":0,"ts":995}\n'
	submit 2000 2
	complete 2000 500 2 ',"err":0'
	printf '{"event_type":"nvme_cmd","user_data":3,"nvme_opcode":2,"op_name":"read","slba":1,"nlb":1,"data_len":4096,"ts":3000}\n'
	printf '{"event_type":"nvme_cmp","user_data":3,"lat_ns":-5,"err":0,"ts":2995}\n'
	echo "$drops"
} >"$in"
draw "$in"
is "$(echo "$dump" | awk '/^[SIC]/ { if ($2 > 1e15 || $3 > 1e15) n++ } END { print n + 0 }')" 0 'C9 time runs backwards: no huge number anywhere'
is "$(echo "$dump" | grep -c '^S .* read ')" 3 'C9 time runs backwards: the commands are drawn'
like "$summary" 'WARNING: 2 completions earlier than the command' 'C9 time runs backwards: and it is said, with their number'

{
	printf '{"event_type":"nvme_cmd","rdev":62914561,"disk":"ng1n1","user_data":1,"nvme_opcode":2,"op_name":"read","nsid":1,"slba":8,"nlb":8,"bytes":4096,"data_len":4096,"ts":1000}\n'
	printf '{"event_type":"nvme_cmd","disk":"nvme1n1","nvme_opcode":2,"op_name":"read","nsid":1,"slba":8,"nlb":8,"bytes":4096,"data_len":4096,"hwq":1,"cid":7,"ts":2000}\n'
	echo "$drops"
} >"$in"
draw "$in"
is "$(echo "$dump" | grep -c '^T NVMe [^/]*$')" 1 'C10 the char device and the block device of a namespace are one device'

for p in 0 1; do
	printf '{"event_type":"nvme_cmd","disk":"nvme0c%sn1","nvme_opcode":2,"op_name":"read","nsid":1,"slba":8,"nlb":8,"bytes":4096,"data_len":4096,"hwq":1,"cid":7,"ts":%s}\n' $p $((1000 + p))
done >"$in"
echo "$drops" >>"$in"
draw "$in" --only-device nvme0n1
is "$(echo "$dump" | grep -c '^T NVMe [^/]*$') $(echo "$dump" | grep '^S .* read ' | grep -o 'path=string:[^,}]*' | sort | tr '\n' ' ')" \
	'1 path=string:nvme0c0n1 path=string:nvme0c1n1 ' 'C11 multipath: a namespace and its two paths, found by the name of the namespace'

{
	printf '{"event_type":"nvme_cmd","disk":"nvme%sn1","nsid":1,"nvme_opcode":2,"op_name":"read","slba":8,"nlb":8,"bytes":4096,"data_len":4096,"hwq":1,"cid":7,"ts":%s}\n' 0 100 1 130
	printf '{"event_type":"nvme_cmp","status":0,"lat_ns":%s,"hwq":1,"cid":7,"ts":%s}\n' 60 190 100 200
	echo "$drops"
} >"$in"
draw "$in"
is "$(on 'NVMe nvme0n1 capture/IO activity/untagged' | awk '/^S/ { print $2, $3 }') $(on 'NVMe nvme1n1 capture/IO activity/untagged' | awk '/^S/ { print $2, $3 }')" \
	'0 100 30 60' 'C13 completions without a device: paired by queue, tag and latency'

# --- D: device formats ---
{
	for i in 0 1 2 3 4 5 6 7; do
		printf '{"event_type":"nvme_cmd","user_data":%s,"nvme_opcode":2,"op_name":"read","nsid":1,"slba":%s,"nlb":32,"bytes":16384,"data_len":16384,"ts":%s}\n' $((4294967296 + i)) $((i * 32)) $((1500000 + i))
	done
	echo '{"trace_id":1,"op":"load","key":"k","bytes":1048576,"slot_offset":0,"ts_start":0.001,"ts":0.002}'
	echo "$drops"
} >"$in"
draw "$in"
like "$summary" 'the LBA size is 4096, not 512' 'D9 an LBA size that was typed wrong: seen by the bytes of the object'

{
	echo '{"event_type":"nvme_cmd","user_data":1,"nvme_opcode":1,"op_name":"store","nsid":1,"key_hex":"000102030405060708090a0b0c0d0e0f","key_len":16,"value_len":4096,"data_len":4096,"ts":1000}'
	echo '{"event_type":"nvme_cmp","user_data":1,"lat_ns":700,"err":0,"ts":1700}'
	echo '{"event_type":"nvme_cmd","user_data":2,"nvme_opcode":1,"op_name":"write","nsid":2,"slba":77,"nlb":1,"data_len":4096,"ts":3000}'
	echo "$drops"
} >"$in"
draw "$in"
like "$dump" '^S 0 700 d0 store \{data_len=uint:4096,key_hex=string:000102030405060708090a0b0c0d0e0f,key_len=uint:16,value_len=uint:4096,real_dur=bool:True\}' \
	'D6 a key-value namespace: a store with its key, and no LBA'
is "$(echo "$dump" | awk '/^@/ { on = /writes slba/ } on && /^C/ { print $2, $3 }')" '2000 77' 'D6 a key-value namespace: the LBA counter has the write beside it only'

{
	i=0
	while [ $i -lt 98 ]; do
		submit $((1000 + i * 200000)) $((i + 1))
		complete $((1000 + i * 200000)) 100000 $((i + 1)) ',"status":0,"err":0'
		i=$((i + 1))
	done
	for i in 98 99; do
		submit $((1000 + i * 200000)) $((i + 1))
		complete $((1000 + i * 200000)) 5000 $((i + 1)) ',"status":4,"err":5'
	done
	echo "$drops"
} >"$in"
draw "$in"
is "$(echo "$dump" | grep -c '^S .* 5000 d0 read FAILED {.*status=uint:4')" 2 'D8 failed commands: under a name of their own, with their status'
is "$(json '"$a->{losses}{failed}"')" 2 'D8 failed commands: counted'
draw "$in" --slice-budget 8
like "$dump" '^S .* read x[0-9]+ \{.*lat_p50_ns=uint:100000,lat_max_ns=uint:100000\}' 'D8 failed commands: not in the latencies of others'

# --- E: Perfetto ---
{
	submit 0 1
	complete 0 100 1
	submit 50 2
	complete 50 100 2
	echo "$drops"
} >"$in"
draw "$in"
is "$(on 'NVMe ng capture/IO activity/untagged/untagged.000' | grep '^S' | cut -d' ' -f1-3) $(on 'NVMe ng capture/IO activity/untagged/untagged.001' | grep '^S' | cut -d' ' -f1-3)" \
	'S 0 100 S 50 100' 'E1 overlapping slices: two lanes, the lengths stay'

for i in 5 1 4 2 3; do
	complete $((i * 1000)) 5000 $i
	submit $((i * 1000)) $i
done >"$in"
echo "$drops" >>"$in"
draw "$in"
like "$check" '^capture: commands 5 ' 'E2 unsorted input: the timeline is sound'
is "$(perl -e '
	# Times of the packets as they stand in the file: none is before the last.
	local $/; open my $f, "<", $ARGV[0]; my $b = <$f>; my $p = 0; my $back = 0;
	sub v { my ($x, $s, $c) = (0, 0); do { $c = ord substr $b, $p++, 1; $x |= ($c & 127) << $s; $s += 7 } while $c > 127; $x }
	while ($p < length $b) {
		v(); my $n = v(); my $end = $p + $n;
		while ($p < $end) { my $k = v(); if (($k & 7) == 0) { my $x = v(); $back++ if $k >> 3 == 8 && $x >> 62 } elsif (($k & 7) == 2) { my $l = v(); $p += $l } else { $p += 8 } }
	}
	print $back' "$tmp/x.pftrace")" 0 'E2 unsorted input: packets are in the order of time'
is "$("$KVIO" sql --csv "$tmp/x.pftrace" "select name, value from stats where value <> 0 and name not in ('packets', 'events')" 2>/dev/null | tail -n +2)" '' \
	'E2 unsorted input: no import error'

{
	echo '{"event_type":"clock_anchor","monotonic_ns":1000000000,"realtime_ns":1700000000000000000}'
	submit 2000000000 1
	echo "$drops"
} >"$in"
draw "$in" --no-rebase
is "$(echo "$dump" | awk '/^K clock 3 / { m = $5 } /^K clock 1 / { r = $5 } /^S .* read/ { printf "%.0f", r - 1.7e18 + ($2 - m) }')" 1000000000 \
	'E3 the wall clock: an event at 2 s is 1 s later than the anchor at 1 s'

{
	object 7 load 0.001 0.002
	submit 1200000 30064771073
	complete 1200000 1000 30064771073
	submit 1300000 30064771074
	complete 1300000 1000 30064771074
	echo "$drops"
} >"$in"
cp "$in" "$tmp/b.jsonl"
draw --arm a="$in" --arm b="$tmp/b.jsonl"
is "$(echo "$dump" | grep -o ' [<>][0-9]*$' | sort | uniq -c | awk '{ print $1, substr($2, 1, 1) }' | sort | tr '\n' ';')" '1 <;1 <;2 >;2 >;' \
	'E4 one trace id in two arms: two arrows, each begins, passes and ends in its own arm'
ok 'E4 one trace id in two arms: no arrow crosses over' sh -c "echo '$check' | grep -q '^a: '"

"$KVIO" perfetto -q $D/batched/sem.jsonl $D/batched/ebpf.jsonl --split 9000 -o "$tmp/p.pftrace"
pieces=$(find "$tmp" -name 'p-*.pftrace' | wc -l)
is "$((pieces >= 2))" 1 'E5 size: several pieces'
draw $D/batched/sem.jsonl $D/batched/ebpf.jsonl
whole=$(sum)
check=$(tests/pftcheck "$tmp"/p-*.pftrace 2>&1)
is "$(sum)" "$whole" 'E5 size: the pieces add up to the whole'
alone=0
for p in "$tmp"/p-*.pftrace; do perl tests/pftdump.pl "$p" >/dev/null 2>&1 && alone=$((alone + 1)); done
is "$alone" "$pieces" 'E5 size: each piece can be read alone'

draw --arm one=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl --arm two=$D/qd1/ebpf.jsonl,$D/qd1/sem.jsonl
is "$(echo "$dump" | sed -n 's/^T \(.*\) one/\1/p' | sed 's/pid=[0-9]*//')" "$(echo "$dump" | sed -n 's/^T \(.*\) two/\1/p' | sed 's/pid=[0-9]*//')" \
	'E6 track order: the same in both arms'
is "$(echo "$dump" | sed -n 's/^@ .*\/objects\/\(objects\.[0-9]*\)$/\1/p' | sort -u | head -n 1)" 'objects.000' 'E6 track order: lanes are numbered with zeros before'

host() { # MONOTONIC_S REALTIME_S SKEW_NS
	perl -e 'my ($m, $r, $skew) = @ARGV; for (my $t = 0; $t <= 60; $t += 10) {
		printf "{\"event_type\":\"clock_anchor\",\"monotonic_ns\":%d,\"realtime_ns\":%d}\n", ($m + $t) * 1e9 + $skew * $t / 60, ($r + $t) * 1e9;
		printf "{\"event_type\":\"nvme_cmd\",\"user_data\":%d,\"nvme_opcode\":2,\"op_name\":\"read\",\"slba\":1,\"nlb\":1,\"data_len\":4096,\"ts\":%d}\n", $t + 1, ($m + $t + 5) * 1e9 + $skew * ($t + 5) / 60 }
		print "{\"event_type\":\"drops\",\"dropped\":0}\n"' "$@"
}
host 1000 1700000000 0 >"$tmp/a.jsonl"
host 7000 1700000000 2000000 >"$tmp/b.jsonl"
draw --arm a="$tmp/a.jsonl" --arm b="$tmp/b.jsonl" --align realtime
is "$(echo "$dump" | awk '/^@/ { arm = / a\// ? "a" : / b\// ? "b" : ""; on = /\/IO activity\/untagged/ } on && /^S/ { if (arm == "a") t[++n] = $2; else { d = $2 - t[++k]; if (d < 0) d = -d; if (d > most) most = d } } END { print n, k, (most < 1000000) }')" \
	'7 7 1' 'E7 two hosts: a skew of 2 ms is aligned within 1 ms'
like "$summary" 'aligned by 7 clock anchors, within [0-9.]+ us' 'E7 two hosts: the uncertainty is said'

sums=$(for i in 1 2 3; do "$KVIO" perfetto -q --label x $D/tp4/sem.jsonl $D/tp4/ebpf.jsonl -o "$tmp/s.pftrace" && sha256sum <"$tmp/s.pftrace"; done | sort -u | wc -l)
is "$sums" 1 'E8 the same bytes: in three runs'
cp "$tmp/s.pftrace" "$tmp/first"
mkdir "$tmp/elsewhere"
for f in sem ebpf; do sort $D/tp4/$f.jsonl >"$tmp/elsewhere/$f.jsonl"; done
"$KVIO" perfetto -q --label x "$tmp/elsewhere/ebpf.jsonl" "$tmp/elsewhere/sem.jsonl" -o "$tmp/s.pftrace"
ok 'E8 the same bytes: of other lines order, files order and directory' cmp "$tmp/first" "$tmp/s.pftrace"
cat "$tmp/elsewhere/sem.jsonl" "$tmp/elsewhere/ebpf.jsonl" | "$KVIO" perfetto -q --label x - -o "$tmp/s.pftrace"
is "$(perl tests/pftdump.pl "$tmp/s.pftrace" | grep -v capture_info | sha256sum)" "$(perl tests/pftdump.pl "$tmp/first" | grep -v capture_info | sha256sum)" \
	'E8 the same bytes: all but the file names when both come as one stream'

# --- F: text input ---
{
	submit 1000 9007199254740993
	complete 1000 10 9007199254740993
	submit 1000 9007199254740992
	complete 1000 20 9007199254740992
	submit 3000 18446744073709551615
	complete 3000 30 18446744073709551615
	submit 4000 '"18446744073709551614"'
	complete 4000 40 '"18446744073709551614"'
	submit 5000 '"0x7000000000000001"'
	complete 5000 50 '"0x7000000000000001"'
	echo "$drops"
} | sed 's/"slba":[^,]*,/"slba":1,/' >"$in"
draw "$in"
is "$(echo "$dump" | sed -n 's/^S [0-9]* \([0-9]*\) d0 read .*trace_id=uint:\([0-9]*\).*/\1 \2/p' | sort -n | tr '\n' ';')" \
	'10 2097152;20 2097152;30 4294967295;40 4294967295;50 1879048192;' 'F1 ids above 2^53: exact, also in quotes and in hexadecimal'
sed '3s/9007199254740992/18446744073709551616/' "$in" >"$tmp/big.jsonl"
draw "$tmp/big.jsonl"
like "$summary" 'could not be read, the first is line 3' 'F1 ids above 2^64: an error with its line'

{ for i in 1 2 3; do submit $((i * 1000)) $i; done; printf '{"event'; } >"$in"
draw "$in"
is "$(json '"$a->{commands} $a->{losses}{malformed}"')" '3 0' 'F2 a cut last line: three records, and no damage'
like "$summary" 'the input is cut at its end' 'F2 a cut last line: said'
{ submit 1000 1; echo '{"broken'; echo "$drops"; } >"$in"
draw "$in" --strict
is "$(json '$a->{losses}{malformed}') $((status != 0))" '1 1' 'F2 a damaged line: counted, and --strict fails'
like "$summary" '1 line or record could not be read, the first is line 2' 'F2 a damaged line: with its number'

perl -e 'for (1 .. 255) { my $c = $_ == 34 || $_ == 92 ? "\\" . chr : $_ < 32 ? sprintf("\\u%04x", $_) : chr;
	printf "{\"trace_id\":%d,\"op\":\"load\",\"key\":\"m@f@0@x%sy\",\"bytes\":4096,\"ts_start\":%d,\"ts\":%d.5}\n", $_, $c, $_, $_ }' >"$in"
draw "$in"
is "$(json '"$a->{semantic} $a->{losses}{malformed} $a->{drawn_objects}{n}"')" '255 0 255' 'F3 a key with any byte: all are read and drawn'
"$KVIO" perfetto --json "$in" --label "$(printf 'a"b\\c\001')" -o "$tmp/y.pftrace" >"$tmp/json"
ok 'F3 a label with quotes: the JSON is valid' perl -MJSON::PP -0777 -ne 'exit !(decode_json($_)->{arms}[0]{label} eq "a\"b\\c\x01")' "$tmp/json"

printf '{"trace_id":1,"op":"load","key":"f\237o","bytes":4096,"ts_start":1,"ts":2,"instance":"\377"}\n' >"$in"
draw "$in"
ok 'F4 names that are not UTF-8: the strings of the timeline are' perl -MEncode -e '
	local $/; open my $f, "<:raw", $ARGV[0]; my $b = <$f>;
	exit !($b =~ /f\xc2\x9fo/ && $b =~ /\xc3\xbf/ && $b !~ /f\x9fo/)' "$tmp/x.pftrace"

{ submit 1000 1; submit NaN 2 | sed 's/"slba":[^,]*,//'; printf '{"event_type":"nvme_cmp","user_data":1,"lat_ns":Infinity,"ts":1500}\n'; echo "$drops"; } 2>/dev/null >"$in"
draw "$in"
like "$summary" '2 lines or records could not be read, the first is line 2' 'F5 NaN and Infinity: invalid numbers, with the line'
: >"$tmp/none.jsonl"
"$KVIO" perfetto --json --arm a=$D/qd1/ebpf.jsonl --arm b="$tmp/none.jsonl" -o "$tmp/y.pftrace" >"$tmp/json"
ok 'F5 an empty arm: valid JSON without nan or inf' sh -c "perl -MJSON::PP -0777 -ne 'decode_json(\$_)' $tmp/json && ! grep -qiE '[^a-z](nan|inf)[^a-z]' $tmp/json"

for f in sem ebpf; do { printf '\357\273\277'; sed 's/$/\r/' $D/qd1/$f.jsonl; printf '\r\n  \r\n'; } >"$tmp/elsewhere/$f.jsonl"; done
draw "$tmp/elsewhere/sem.jsonl" "$tmp/elsewhere/ebpf.jsonl"
cp "$tmp/x.pftrace" "$tmp/crlf"
draw $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl
ok 'F6 BOM, CRLF and blank lines: the same bytes' cmp "$tmp/crlf" "$tmp/x.pftrace"

done_testing
