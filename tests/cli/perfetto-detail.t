#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio perfetto: cuts, less detail, pieces, redaction, clocks, and that the bytes are always the same.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
D=tests/data/perfetto
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
. tests/perfetto.sh

batched="$D/batched/sem.jsonl $D/batched/ebpf.jsonl $D/batched/serving.jsonl"
qd1="$D/qd1/sem.jsonl $D/qd1/ebpf.jsonl $D/qd1/serving.jsonl"

# --- every case is sound, also with little detail and in pieces ---
for dir in "$D"/*/; do
	files=$(find "$dir" -name '*.jsonl' | sort)
	[ "$files" ] || continue
	# shellcheck disable=SC2086 # words
	draw $files
	like "$check" '^capture: commands' "$dir: sound"
	whole=$(sum)
	for budget in 1 30; do
		# shellcheck disable=SC2086
		draw $files --slice-budget $budget
		is "$(sum)" "$whole" "$dir: with a budget of $budget the same sums"
	done
	rm -f "$tmp"/p-*
	# shellcheck disable=SC2086
	"$KVIO" perfetto -q $files --split 5000 -o "$tmp/p.pftrace" >/dev/null 2>&1
	check=$(tests/pftcheck "$tmp"/p-*)
	is "$(sum)" "$whole" "$dir: in pieces the same sums"
done

# --- less detail ---
# shellcheck disable=SC2086
draw $batched --slice-budget 60
like "$summary" 'AGGREGATED: 153 commands are drawn as [0-9]+ slices, one for each object, device, name, outcome and [0-9.]+ ms' 'aggregation is said'
like "$dump" '^S [0-9]+ [0-9]+ d0 write x[0-9]+ \{n=uint:[0-9]+,bytes=uint:[0-9]+,trace_id=uint:[0-9]+,headers=uint:1,lat_p50_ns=uint:[0-9]+,lat_max_ns=uint:[0-9]+\} >' 'a group has its number, bytes, latencies, and the arrow'
like "$dump" 'capture_info .*aggregated=bool:True' 'capture_info says it, too'
is "$(echo "$check" | sed 's/.*slices //' | awk '{ print ($1 <= 60) }')" 1 'the budget is kept'
draw $batched --slice-budget 120
is "$(echo "$dump" | grep -c '^S .* store kv [0-9.]*MiB')" 9 'few objects stay single'
# shellcheck disable=SC2086
draw $batched --slice-budget 10
like "$dump" '^S [0-9]+ [0-9]+ d0 store kv x[0-9]+ \{op=string:store,part=string:kv,n=uint:[0-9]+,bytes=uint:[0-9]+,n_cmds=uint:[0-9]+,dur_p50_ns=uint:[0-9]+,dur_max_ns=uint:[0-9]+\}' 'many objects are drawn as one'
like "$dump" '^S [0-9]+ [0-9]+ d0 load_ttft x2 \{op=string:load_ttft,n=uint:2,tokens=uint:1024' 'so are requests'
# shellcheck disable=SC2086
draw $batched
whole=$dump
# shellcheck disable=SC2086
draw $batched --slice-budget 30
in_flight() { printf '%s\n' "$1" | awk '/^@/ { on = /objects in flight/ } on'; }
is "$(in_flight "$dump")" "$(in_flight "$whole")" 'objects in flight are counted one by one all the same'
# shellcheck disable=SC2086
draw $batched --slice-budget 0
is "$dump" "$whole" 'a budget of 0 is none'
# The median and the maximum of a group: 3 commands of 10, 20 and 90 us.
{
	for i in 1 2 3; do
		printf '{"event_type":"nvme_cmd","user_data":%s,"nvme_opcode":2,"op_name":"read","slba":%s,"nlb":1,"data_len":4096,"ts":%s}\n' $i $i "$((1000 + i))"
	done
	printf '{"event_type":"nvme_cmp","user_data":1,"lat_ns":10000,"ts":11001,"err":0}\n{"event_type":"nvme_cmp","user_data":2,"lat_ns":90000,"ts":91002,"err":0}\n{"event_type":"nvme_cmp","user_data":3,"lat_ns":20000,"ts":21003,"err":0}\n'
	echo '{"event_type":"drops","dropped":0}'
} >"$tmp/three.jsonl"
draw "$tmp/three.jsonl" --slice-budget 1
like "$dump" '^S 0 90001 d0 read x3 \{n=uint:3,bytes=uint:12288,lat_p50_ns=uint:20000,lat_max_ns=uint:90000\}' 'a group lasts from its first begin to its last end'

# --- lean: less is said of each command ---
# shellcheck disable=SC2086
draw $batched --detail full
whole=$dump
"$KVIO" report --json "$tmp/x.pftrace" >"$tmp/full.json"
# shellcheck disable=SC2086
draw $batched --detail auto
is "$dump" "$whole" 'few commands are told in full'
# shellcheck disable=SC2086
draw $batched --detail lean
without() { printf '%s\n' "$1" | grep '^S ' | sed 's/,real_dur=bool:True//'; }
is "$(without "$dump")" "$(without "$whole")" 'lean: every slice is there'
is "$(echo "$dump" | grep -c 'real_dur=bool:True')" 0 'lean: a true real_dur is not said'
like "$dump" 'capture_info .*lean=bool:True' 'lean: capture_info says so'
like "$summary" 'LEAN: LBA counters take one sample in ' 'lean: so does the summary'
"$KVIO" report --json "$tmp/x.pftrace" >"$tmp/lean.json"
ok 'lean: a report on it has the same figures' cmp "$tmp/full.json" "$tmp/lean.json"
grep -v '"lat_ns":[0-9]*[02468],' $D/qd1/ebpf.jsonl >"$tmp/e.jsonl"
draw "$tmp/e.jsonl" --detail full
whole=$(echo "$dump" | grep -c 'real_dur=bool:False')
draw "$tmp/e.jsonl" --detail lean
is "$(echo "$dump" | grep -c 'real_dur=bool:False')" "$whole" 'lean: a false real_dur is said'
reads() { # N: that many
	perl -e 'for (0 .. shift(@ARGV) - 1) {
		printf "{\"event_type\":\"nvme_cmd\",\"user_data\":%d,\"nvme_opcode\":2,\"op_name\":\"read\",\"slba\":%d,\"nlb\":1,\"data_len\":4096,\"ts\":%d}\n", $_, $_ * 7 % 1000, 1000 + $_ * 5000;
		printf "{\"event_type\":\"nvme_cmp\",\"user_data\":%d,\"lat_ns\":4000,\"err\":0,\"ts\":%d}\n", $_, 5000 + $_ * 5000;
	}
	print "{\"event_type\":\"drops\",\"dropped\":0}\n"' "$1"
}
sampled() { # N: of a lean timeline of so many commands
	check=$(tests/pftcheck "$tmp/x.pftrace" 2>&1)
	like "$check" "^capture: commands $1 bytes $(($1 * 4096)) " "lean: $1 commands are sound"
	samples=$(echo "$check" | sed -n 's/^capture: lean, \([0-9]*\) LBA samples$/\1/p')
	is "$((samples > 4096 && samples <= 16385))" 1 "lean: the LBA counter of $1 commands has samples, but not too many"
}
reads 20001 >"$tmp/many.jsonl"
"$KVIO" perfetto -q --detail lean "$tmp/many.jsonl" -o "$tmp/x.pftrace"
sampled 20001
if size_counts 'more than 250000 commands'; then
	reads 250001 >"$tmp/large.jsonl"
	large() { "$KVIO" perfetto --json "$@" -o "$tmp/x.pftrace" | perl -MJSON::PP -0777 -ne '$a = decode_json($_)->{arms}[0]; print "$a->{commands} $a->{drawn_commands}{slices} $a->{lean}"'; }
	is "$(large "$tmp/large.jsonl")" '250001 250001 1' 'lean: more than 250000 commands are, and all of them are drawn'
	# The checker takes its time: ours reads them back.
	is "$("$KVIO" sql --csv "$tmp/x.pftrace" "select count(*) from slice where name = 'read'" | tail -n 1 | tr -d '\r')" 250001 'and are there'
	[ -z "$KVIO_TEST_LONG" ] || sampled 250001
	lean_bytes=$(stat -c %s "$tmp/x.pftrace")
	is "$(large "$tmp/large.jsonl" --detail full)" '250001 250001 0' 'unless --detail full'
	is "$(($(stat -c %s "$tmp/x.pftrace") - lean_bytes > 250001 * 8))" 1 'which takes 8 bytes more a command at least'
	head -n 500000 "$tmp/large.jsonl" >"$tmp/less.jsonl"
	is "$(large "$tmp/less.jsonl")" '250000 250000 0' '250000 are told in full'
fi

# --- cuts ---
# shellcheck disable=SC2086
draw $qd1 --trace-id 3-5
is "$(sum)" 'capture: commands 27 bytes 3158016 objects 3 bytes 3145728 requests 4 anomalies 0' '--trace-id'
like "$summary" 'cut     : 126 commands \(15753216 bytes\), 15 operations' 'what was cut is said'
like "$summary" 'self-check OK' 'and is in the self-check'
draw $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl
slices() { # FROM TO: objects and commands of the last timeline that reach into it
	echo "$dump" | awk -v from="$1" -v to="$2" '$1 == "S" && $5 ~ /^(write|read|store|load)$/ && $2 <= to && $2 + $3 >= from { print $1, $2, $3, $5 }' | sort
}
want=$(slices 4000000 5000000)
draw $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl --window 4ms,5ms
is "$(slices 0 9999999999)" "$want" '--window: all that reaches into it, at its time'
is "$(echo "$dump" | awk '/capture_info/ { print $2 }')" "$(echo "$want" | sort -n -k2 | head -n 1 | cut -d' ' -f2)" 'capture_info is at its begin'
draw $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl --time-range 0.004,0.005
is "$(slices 0 9999999999)" "$want" '--time-range is its older name'
# Times are those that the timeline shows without the window, whatever else is cut.
for more in '--trace-id 3-5' "--object $(grep -o '"key":"[^"]*"' $D/qd1/sem.jsonl | sed -n 4p | cut -d'"' -f4)" '--pid 4242'; do
	# shellcheck disable=SC2086
	draw $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl $more
	want=$(slices 500000 1200000)
	# shellcheck disable=SC2086
	draw $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl $more --time-range 0.0005,0.0012
	is "$(slices 0 9999999999)" "${want:-something}" "$more --time-range: counts from what the timeline of $more begins with"
done
# shellcheck disable=SC2086
draw $qd1 --no-rebase --window 4ms,5ms
like "$dump" '^I 8123456[0-9]+ 0 d0 capture_info' 'with absolute times, too'
key=$(grep -o '"key":"[^"]*"' $D/qd1/sem.jsonl | head -n 1 | cut -d'"' -f4 | cut -d@ -f4 | cut -c1-20)
# shellcheck disable=SC2086
draw $qd1 --object "$key"
is "$(sum)" 'capture: commands 17 bytes 2101248 objects 2 bytes 2097152 requests 4 anomalies 0' '--object: its store and its load'
# shellcheck disable=SC2086
draw $qd1 --object nowhere
like "$summary" 'WARNING: the filters leave nothing|4 serving spans' 'an object that is nowhere'
{
	printf '{"event_type":"nvme_cmd","disk":"nvme%sn1","nsid":1,"nvme_opcode":2,"op_name":"read","slba":8,"nlb":8,"bytes":4096,"data_len":4096,"hwq":1,"cid":7,"ts":%s}\n' \
		0 1000 1 1030
	echo '{"event_type":"drops","dropped":0}'
} >"$tmp/two.jsonl"
draw "$tmp/two.jsonl" --only-device /dev/ng1n1
is "$(echo "$dump" | grep -c '^S .* read ')" 1 '--only-device: by any of its names'

# --- pieces ---
rm -f "$tmp"/p-*
# shellcheck disable=SC2086
text=$("$KVIO" perfetto $batched --split 6000 -o "$tmp/p.pftrace.gz")
like "$text" 'wrote .*p-0001.pftrace.gz, .*p-0002.pftrace.gz' 'the pieces are named'
ok 'the numbers stand before the suffixes' test -f "$tmp/p-0002.pftrace.gz"
one=$(perl tests/pftdump.pl "$tmp/p-0001.pftrace.gz" | grep '^T')
two=$(perl tests/pftdump.pl "$tmp/p-0002.pftrace.gz")
is "$(echo "$two" | grep '^T')" "$one" 'each piece has all tracks'
like "$two" 'capture_info .*piece=uint:2' 'and says what it is of'
like "$(echo "$two" | awk '/^@/ { on = /objects in flight/ } on && /^C/' | head -n 1)" '^C [0-9]+ [1-9]' 'a counter begins with its value'
if command -v protoc >/dev/null; then
	gzip -dc "$tmp/p-0002.pftrace.gz" | protoc --decode=Trace docs/perfetto-subset.proto >"$tmp/decoded" 2>&1
	is $? 0 'protoc decodes a piece'
fi
"$KVIO" perfetto -q "$tmp/three.jsonl" --split 1GiB -o "$tmp/q.pftrace"
ok 'a timeline that is small is one piece' test -f "$tmp/q-0001.pftrace" -a ! -f "$tmp/q-0002.pftrace"
"$KVIO" perfetto -q "$tmp/three.jsonl" --split 1GiB -o - >/dev/null 2>"$tmp/err"
is $? 2 '--split needs a file'

# --- redaction ---
secrets='host-a inst-a /dev/ng1n1 sem.jsonl ebpf.jsonl serving.jsonl fio r0 '$(grep -o '"key":"[^"]*"' $D/qd1/sem.jsonl | cut -d'"' -f4 | tr '@' '\n' | grep -E '.{8}' | cut -c1-12 | sort -u | tr '\n' ' ')
# shellcheck disable=SC2086
draw $qd1 --no-rebase --redact
found=''
for s in $secrets; do grep -aqF "$s" "$tmp/x.pftrace" && found="$found $s"; done
is "$found" '' '--redact: nothing of the host, paths or keys is left'
is "$(sum)" 'capture: commands 153 bytes 18911232 objects 18 bytes 18874368 requests 4 anomalies 0' 'but all of the data'
is "$(echo "$dump" | grep -o 'key=string:[^,}]*' | sort -u | wc -l)" 9 'every key has a number'
like "$dump" 'fmt=string:f1,chunk=string:c1,.*instance=string:i1,producer_pid=uint:4242,key=string:k1\}' 'and so have format, chunk and instance'
like "$dump" 'request_id=string:r1,' 'and requests'
# shellcheck disable=SC2086
draw $D/kv-key/sem.jsonl $D/kv-key/ebpf.jsonl --redact
is "$(echo "$dump" | sed -n 's/^S .*store kv.*key=string:\(k[0-9]*\)[,}].*/\1/p' | sort -u | head -c 200)" \
	"$(echo "$dump" | sed -n 's/^S .* store {.*key_hex=string:\(k[0-9]*\),.*trace_id.*/\1/p' | sort -u | head -c 200)" 'a key of a command is that of its object'
draw --sem $D/cq-overflow/sem.jsonl --ebpf $D/cq-overflow/ebpf.jsonl --redact
is "$(grep -o '"error":"[^"]*"' $D/cq-overflow/sem.jsonl | cut -d'"' -f4 | while read -r e; do grep -acF "$e" "$tmp/x.pftrace"; done | sort -u)" 0 'errors can hold paths: they are numbers, too'

# --- join ---
draw $D/kv-key/sem.jsonl $D/kv-key/ebpf.jsonl
like "$summary" 'join    : key, ' 'the best join is chosen: keys'
draw $D/offset-join/sem.jsonl $D/offset-join/ebpf.jsonl
like "$summary" 'join    : offset, ' 'or offsets'
like "$summary" 'offsets : unique=90 cross-object=1 gap-spill=1 unmatched=4 no-place=0' 'with its account'
draw $D/offset-parity/sem.jsonl $D/offset-parity/ebpf.jsonl --join-by-offset
like "$summary" 'parity  : 54/54 \(100.00%\)' 'and its parity'
# A command over four objects has an arrow from each, and each object its bytes.
{
	for i in 0 1 2 3; do
		printf '{"trace_id":%s,"op":"load","key":"k%s","bytes":32768,"slot_offset":%s,"ts_start":0.001000,"ts":0.002000}\n' $((i + 1)) $i $((i * 32768))
	done
	echo '{"event_type":"kvio_meta","kvio_schema":2,"header_bytes":0,"block_align":4096}'
	echo '{"event_type":"nvme_cmd","user_data":0,"nvme_opcode":2,"op_name":"read","nsid":1,"slba":0,"nlb":32,"bytes":131072,"data_len":131072,"ts":1500000}'
	echo '{"event_type":"nvme_cmp","user_data":0,"lat_ns":1000,"ts":1501000,"err":0}'
	echo '{"event_type":"drops","dropped":0}'
} >"$tmp/four.jsonl"
draw "$tmp/four.jsonl"
like "$dump" '^S 500000 1000 d0 read \{slba=uint:0,data_len=uint:131072,trace_id=uint:1,real_dur=bool:True,parts=uint:4\} <. <. <. <.$' 'a command over four objects ends four arrows'
is "$(echo "$dump" | grep -c '^S .*load kv.*n_cmds=uint:1')" 4 'and is a command of each'
like "$check" '^capture: commands 1 bytes 131072 objects 4' 'the timeline is sound'

# --- an LBA size that was typed wrong: every command has an eighth of what it moved ---
lba() { # BYTES
	echo '{"trace_id":1,"op":"load","key":"k","bytes":1048576,"slot_offset":0,"ts_start":0.001,"ts":0.002}'
	for i in 0 1 2 3 4 5 6 7; do
		echo "{\"event_type\":\"nvme_cmd\",\"user_data\":$((4294967296 + i)),\"nvme_opcode\":2,\"op_name\":\"read\",\"nsid\":1,\"slba\":$((i * 32)),\"nlb\":32,\"bytes\":$1,\"data_len\":$1,\"ts\":$((1500000 + i))}"
	done
	echo '{"event_type":"drops","dropped":0}'
}
lba 16384 >"$tmp/lba.jsonl"
draw "$tmp/lba.jsonl"
like "$summary" 'WARNING: .* an eighth of their bytes: the LBA size is 4096, not 512' 'a wrong LBA size is seen by the bytes of the objects'
lba 131072 >"$tmp/lba.jsonl"
draw "$tmp/lba.jsonl"
is "$(echo "$summary" | grep -c 'LBA size')" 0 'a right one is not spoken of'

# --- the wall clock ---
{
	echo '{"event_type":"clock_anchor","monotonic_ns":1000000000,"realtime_ns":1700000000000000000}'
	echo '{"event_type":"nvme_cmd","user_data":1,"nvme_opcode":2,"op_name":"read","slba":1,"nlb":1,"data_len":4096,"ts":2000000000}'
	echo '{"event_type":"drops","dropped":0}'
} >"$tmp/clock.jsonl"
draw "$tmp/clock.jsonl" --no-rebase
is "$(echo "$dump" | awk '/^K clock 3 / { m = $5 } /^K clock 1 / { r = $5 } /^S .* read/ { printf "%.0f", r - 1.7e18 + ($2 - m) }')" 1000000000 'an event at 2 s is 1 s later than the anchor at 1 s'
is "$(echo "$dump" | awk '/^S .* read/ { print $2 }')" 2000000000 'its time stays'

# --- several hosts ---
host() { # MONOTONIC OFFSET DRIFT_PPM: anchors every 10 s, a command every 5 s of real time
	perl -e '
		my ($mono, $off, $ppm) = @ARGV;
		for (my $t = 0; $t <= 60; $t += 10) {
			printf "{\"event_type\":\"clock_anchor\",\"monotonic_ns\":%d,\"realtime_ns\":%d,\"uncertainty_ns\":100}\n",
				($mono + $t) * 1e9, ($mono + $off + $t) * 1e9 + $t * $ppm * 1e3;
		}
		for (my $t = 0; $t <= 60; $t += 5) {
			# The host says that it is $t at this monotonic time.
			my $m = ($mono + $t / (1 + $ppm * 1e-6)) * 1e9;
			printf "{\"event_type\":\"nvme_cmd\",\"user_data\":%d,\"nvme_opcode\":2,\"op_name\":\"read\",\"slba\":1,\"nlb\":1,\"data_len\":4096,\"ts\":%d}\n", $t + 1, $m;
			printf "{\"event_type\":\"nvme_cmp\",\"user_data\":%d,\"lat_ns\":20000,\"err\":0,\"ts\":%d}\n", $t + 1, $m + 20000;
		}
		print "{\"event_type\":\"drops\",\"dropped\":0}\n"' "$@"
}
host 1000 50000 0 >"$tmp/a.jsonl"
host 7000 44000 33 >"$tmp/b.jsonl" # 2 ms in a minute
draw --arm a="$tmp/a.jsonl" --arm b="$tmp/b.jsonl" --align realtime
is "$(echo "$dump" | awk '/^@/ { on = / ([ab])\/IO activity\/untagged$/; arm = /NVMe ng a/ } on && /^S/ { if (arm) t[++n] = $2; else { d = $2 - t[++k]; if (d < 0) d = -d; if (d > most) most = d; len[$3] = 1 } } END { print (most < 1000), n, k; for (l in len) print l }' | tr '\n' ' ')" \
	'1 13 13 20000 ' 'two hosts are aligned within 1 us, and durations stay'
like "$summary" 'aligned by 7 clock anchors, within 0\.1[0-9]+ us' 'the uncertainty is said'
draw --arm a="$tmp/a.jsonl" --arm b="$tmp/three.jsonl" --align realtime
is $status 1 'a capture without anchors cannot be aligned'
like "$summary" "'b' has no clock anchors" 'and it is said which'
sed '3s/"realtime_ns":[0-9]*/"realtime_ns":99000000000000/' "$tmp/b.jsonl" >"$tmp/set.jsonl"
draw --arm a="$tmp/a.jsonl" --arm b="$tmp/set.jsonl" --align realtime
like "$summary" 'WARNING: the real-time clock was set while recording' 'a clock that was set is said'

# --- compressed ---
if command -v zstd >/dev/null; then
	draw $D/tp4/sem.jsonl $D/tp4/ebpf.jsonl
	"$KVIO" perfetto -q $D/tp4/sem.jsonl $D/tp4/ebpf.jsonl -o "$tmp/x.pftrace.zst"
	ok '.zst holds the same trace' sh -c "zstd -dcq $tmp/x.pftrace.zst | cmp - $tmp/x.pftrace"
fi

# --- strict ---
draw $D/slot-reuse/sem.jsonl $D/slot-reuse/ebpf.jsonl --strict
is $status 0 '--strict: nothing to warn of'
draw $D/cq-overflow/sem.jsonl $D/cq-overflow/ebpf.jsonl --strict
is $status 3 'incomplete data is 3 in any case'
grep -v '"drops"' $D/qd1/ebpf.jsonl | grep -v '"trace_id":1,' >"$tmp/e.jsonl"
echo '{"event_type":"drops","dropped":0}' >>"$tmp/e.jsonl"
sed 's/"trace_id":\([0-9]*\)/"trace_id":9\1/' $D/qd1/sem.jsonl | sed 's/"slot_offset":[0-9]*,//' >"$tmp/s.jsonl"
draw "$tmp/s.jsonl" "$tmp/e.jsonl"
is $status 0 'objects without commands: status 0'
draw "$tmp/s.jsonl" "$tmp/e.jsonl" --strict
is $status 1 'with --strict 1'

# --- the same bytes ---
bytes() { # NAME ARGUMENTS...: to $tmp/NAME
	to=$tmp/$1
	shift
	: >"$to"
	"$KVIO" perfetto -q --label x "$@" -o "$to" 2>/dev/null
}
for c in qd1 batched tp4 eagain kv-key dup-trace-id cq-overflow offset-join; do
	files="$D/$c/sem.jsonl $D/$c/ebpf.jsonl"
	[ -f $D/$c/serving.jsonl ] && files="$files $D/$c/serving.jsonl"
	for seed in 1 2; do
		mkdir -p "$tmp/$seed"
		rm -f "$tmp/$seed"/*
		# shellcheck disable=SC2086
		perl -MList::Util=shuffle -e '($seed, $to) = splice @ARGV, 0, 2;
			for (@ARGV) { srand $seed; open F, "<", $_; open O, ">", "$to/" . s{.*/}{}r; print O shuffle <F>; close O }' $seed "$tmp/$seed" $files
	done
	for more in '' '--slice-budget 40' '--redact --no-rebase'; do
		# shellcheck disable=SC2086
		bytes first $files $more
		# shellcheck disable=SC2086
		bytes again $files $more
		ok "$c $more: the same bytes again" cmp "$tmp/first" "$tmp/again"
		ok "$c $more: and not none" test -s "$tmp/first"
		for seed in 1 2; do
			# The files in another order, too.
			# shellcheck disable=SC2046,SC2086
			bytes again $(ls -r "$tmp/$seed"/*) $more
			ok "$c $more: shuffled lines give the same bytes ($seed)" cmp "$tmp/first" "$tmp/again"
		done
	done
done

done_testing
