#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio perfetto: what is drawn of unusual commands, the file format, and how it fails.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
D=tests/data/perfetto
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
. tests/perfetto.sh

# --- commands that are not plain ---
{
	submit 1000000 4294967301
	complete 1000000 50000 4294967301 ',"err":0'
	submit 1100000 4294967302
	complete 1100000 7000 4294967302 ',"err":10,"status":16512'
	submit 1200000 4294967303
	submit 1240000 4294967303
	complete 1240000 20000 4294967303 ',"err":0'
	submit 1300000 4294967304 ',"refused":true,"status":22'
	submit 1400000 4294967305 ',"in_flight":true,"age_ns":600000'
	submit 1900000 4294967306
	complete 1900000 200000 4294967306 ',"err":0'
	echo "$drops"
} >"$tmp/odd.jsonl"
draw "$tmp/odd.jsonl"
is $status 0 'odd commands: status 0'
like "$dump" '^S 0 50000 d0 read \{slba=uint:301,data_len=uint:4096,trace_id=uint:1,real_dur=bool:True\}$' 'a plain command has its true length'
like "$dump" '^S 100000 7000 d0 read FAILED \{.*status=uint:16512,err=string:nvme 0x4080' 'a failed command says so, with its status'
like "$dump" '^S 240000 20000 d0 read \{slba=uint:303.*attempts=uint:2,wait_ns=uint:40000' 'a re-issue is one command with its attempts and its wait'
is "$(echo "$dump" | grep -c '^S .*slba=uint:303')" 1 'its first attempt is not drawn'
like "$dump" '^S 300000 [0-9]+ d0 read REFUSED \{.*real_dur=bool:False.*errno=uint:22,err=string:EINVAL' 'a refused command says so, with its errno'
like "$dump" '^S 400000 700000 d0 read \{.*in_flight=bool:True' 'a command in flight lasts to the end of the capture'
is "$(echo "$dump" | awk '/^@/ { on = /cmds\/ms/ } on && /^C/ { n += $3 } END { print n }')" 5 'cmds/ms counts what reached the device'
like "$summary" 'emitted: 0 object spans, 0 object instants, 6 command slices, 0 serving spans \(and 1 first attempts not drawn\)' 'the summary counts them'
like "$dump" 'capture_info .*commands=uint:5,failed=uint:1,refused=uint:1,reissued=uint:1,in_flight=uint:1' 'so does capture_info'

is "$(echo "$dump" | awk '/^@/ { on = /anomalies/ } on && /^I/ { print $2, $5, $6, $7 }' | tr '\n' ';')" \
	'100000 read failed {slba=uint:302,data_len=uint:4096,trace_id=uint:1,status=uint:16512,err=string:nvme;200000 read issued again;300000 read refused before;400000 read in flight;' \
	'and each of them is an instant on a track of its own'

# --- overlapping slices keep their lengths ---
{
	submit 1000 4294967301
	complete 1000 100 4294967301 ',"err":0'
	submit 1050 4294967302
	complete 1050 100 4294967302 ',"err":0'
	submit 1150 4294967303
	complete 1150 10 4294967303 ',"err":0'
	echo "$drops"
} >"$tmp/lanes.jsonl"
draw "$tmp/lanes.jsonl"
is "$(echo "$dump" | awk '/^@/ { at = $NF } /^S.*read / { printf "%s %s %s; ", substr(at, length(at) - 8), $2, $3 }')" \
	'reads.000 0 100; reads.000 150 10; reads.001 50 100; ' 'overlapping and touching slices are on lanes of their own'

# --- losses ---
draw --sem $D/cq-overflow/sem.jsonl --ebpf $D/cq-overflow/ebpf.jsonl
is $status 3 'dropped events: status 3'
is "$(echo "$dump" | grep -c '^I .* CQ overflow {user_data=uint:[0-9]*,res=int:-125}')" 6 'each CQ overflow is an instant'
like "$dump" '^I .* LOSSY \{.*dropped=uint:4' 'LOSSY is an instant'
like "$summary" 'WARNING: LOSSY: 4 of [0-9]+ events ' 'and a warning'
draw --sem $D/truncated/sem.jsonl --ebpf $D/truncated/ebpf.jsonl
is $status 3 'cut input: status 3'
like "$dump" '^I .* INCOMPLETE \{.*tail_cut=bool:True' 'INCOMPLETE is an instant'
draw --sem $D/qd1/sem.jsonl --ebpf $D/qd1/ebpf.jsonl
is "$status $(echo "$dump" | grep -cE 'LOSSY|INCOMPLETE')" '0 0' 'a sound capture has neither'
: >"$tmp/nothing.jsonl"
draw "$tmp/nothing.jsonl"
is $status 3 'an empty capture: status 3'
like "$summary" 'nothing in this capture' 'and says so'

# --- arrows ---
draw --merge arm1=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl --merge arm2=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl
is "$(echo "$dump" | sed -n 's/^# .* flows //p')" 36 'equal ids of two captures are different arrows'
is "$(echo "$dump" | grep -o ' <[0-9]*$' | sort | uniq -c | awk '$1 != 1' | wc -l)" 0 'every arrow ends once'
is "$(echo "$dump" | sed -n 's/^\(T .*\) arm1/\1/p')" \
	"$(echo "$dump" | sed -n 's/^\(T .*\) arm2/\1/p' | sed 's/pid=1003/pid=1000/; s/pid=1004/pid=1001/')" \
	'both captures have the same tracks in the same order'

# --- several devices ---
{
	printf '{"event_type":"nvme_cmd","disk":"nvme%sn1","nsid":1,"nvme_opcode":2,"op_name":"read","slba":8,"nlb":8,"bytes":4096,"data_len":4096,"hwq":1,"cid":7,"ts":%s}\n' \
		0 1000 1 1030
	printf '{"event_type":"nvme_cmp","status":0,"lat_ns":%s,"hwq":1,"cid":7,"ts":%s}\n' 60 1090 100 1100
	echo "$drops"
} >"$tmp/two.jsonl"
draw "$tmp/two.jsonl"
like "$(on 'NVMe nvme0n1 capture/IO activity/untagged')" '^S 0 100 d0 read' 'two devices: the first has a process with its command'
like "$(on 'NVMe nvme1n1 capture/IO activity/untagged')" '^S 30 60 d0 read' 'and so has the second'
is "$(on 'NVMe nvme0n1 capture/IO activity/cmds/ms' | head -n 1) $(on 'NVMe nvme1n1 capture/IO activity/cmds/ms' | head -n 1)" 'C 0 1 C 0 1' 'each counts its own commands'
is "$(echo "$dump" | grep '^T [^/]*$' | tr '\n' ';')" \
	'T LMCache capture | process pid=1000;T NVMe nvme0n1 capture | process pid=1001;T NVMe nvme1n1 capture | process pid=1003;' 'as processes that are named after them'
sed 's/nvme0n1/nvme0c0n1/; s/nvme1n1/nvme0c1n1/' "$tmp/two.jsonl" >"$tmp/paths.jsonl"
draw "$tmp/paths.jsonl"
is "$(echo "$dump" | grep -c '^T NVMe [^/]*$')" 1 'two paths to one namespace: one process'
like "$dump" 'capture_info .*device=string:nvme0n1' 'capture_info names it'
like "$dump" '^S 30 60 d0 read \{.*path=string:nvme0c1n1' 'each command says its path'
sed 's/"disk":"nvme\(.\)n1"/"rdev":6291456\1/' "$tmp/two.jsonl" >"$tmp/unnamed.jsonl"
draw "$tmp/unnamed.jsonl"
is "$(echo "$dump" | grep '^T NVMe [^/]*$' | tr '\n' ';')" 'T NVMe 60:0 capture | process pid=1001;T NVMe 60:1 capture | process pid=1003;' 'devices without a name have their numbers'
{
	cat "$tmp/two.jsonl"
	submit 2000 7
} >"$tmp/unknown.jsonl"
draw "$tmp/unknown.jsonl" --device word
is "$(echo "$dump" | grep '^T NVMe [^/]*$' | tr '\n' ';')" 'T NVMe word capture | process pid=1001;T NVMe nvme0n1 capture | process pid=1003;T NVMe nvme1n1 capture | process pid=1004;' 'commands of an unknown device are under the old name'
ok 'the timeline is sound' tests/pftcheck "$tmp/x.pftrace"
perl -e 'printf "{\"event_type\":\"nvme_cmd\",\"disk\":\"nvme%dn1\",\"nsid\":1,\"nvme_opcode\":2,\"op_name\":\"read\",\"slba\":8,\"data_len\":4096,\"ts\":%d}\n", $_, 1000 + $_ for 1 .. 300' >"$tmp/many.jsonl"
draw "$tmp/many.jsonl"
is "$(echo "$dump" | grep -c '^T NVMe [^/]*$') $(echo "$dump" | grep -c '^S .* read ')" '256 300' 'more devices than a machine has share the last process'
like "$dump" '^T NVMe others capture ' 'which says so'
ok 'and the timeline is sound' tests/pftcheck "$tmp/x.pftrace"
# An object over two devices: its arrows lead to both.
{
	printf '{"trace_id":1,"op":"load","key":"k","bytes":8192,"ts_start":0.000001,"ts":0.000003,"slot_offset":0}\n'
	printf '{"event_type":"nvme_cmd","disk":"nvme%sn1","user_data":4294967301,"nsid":1,"nvme_opcode":2,"op_name":"read","slba":8,"nlb":8,"data_len":4096,"ts":%s}\n' 0 1000 1 1030
	echo "$drops"
} >"$tmp/object.jsonl"
draw "$tmp/object.jsonl"
like "$(on 'NVMe nvme0n1 capture/IO activity/reads')" '^S 0 .* >1$' 'an arrow leads from an object to its first device'
like "$(on 'NVMe nvme1n1 capture/IO activity/reads')" '^S 30 .* <1$' 'and on to the last'

# --- the file ---
draw --sem $D/batched/sem.jsonl --ebpf $D/batched/ebpf.jsonl
cp "$tmp/x.pftrace" "$tmp/first"
is "$(stat -c %a "$tmp/first")" 600 'the file is for its owner'
draw $D/batched/ebpf.jsonl $D/batched/sem.jsonl
ok 'operands in any order give the same bytes' cmp "$tmp/first" "$tmp/x.pftrace"
tac $D/batched/ebpf.jsonl >"$tmp/ebpf.jsonl"
{ head -n 1 $D/batched/sem.jsonl; tail -n +2 $D/batched/sem.jsonl | tac; } >"$tmp/sem.jsonl"
draw --sem "$tmp/sem.jsonl" --ebpf "$tmp/ebpf.jsonl"
ok 'lines in any order give the same bytes' cmp "$tmp/first" "$tmp/x.pftrace"
"$KVIO" perfetto -q $D/batched/sem.jsonl $D/batched/ebpf.jsonl -o "$tmp/x.pftrace.gz"
ok '.gz holds the same trace' sh -c "gzip -dc $tmp/x.pftrace.gz | cmp - $tmp/first"
"$KVIO" perfetto $D/batched/ebpf.jsonl $D/batched/sem.jsonl -o - >"$tmp/stdout" 2>"$tmp/stderr"
ok '-o - writes to standard output' cmp "$tmp/first" "$tmp/stdout"
ok 'and the summary to standard error' grep -q 'self-check OK' "$tmp/stderr"
draw --sem $D/qd1/sem.jsonl --ebpf $D/qd1/ebpf.jsonl --no-rebase
like "$dump" '^K clock 1 at 17908123456' '--no-rebase: the wall clock'
# Both clocks are of one instant: the anchor says by how much they differ.
is "$(echo "$dump" | awk '/^K clock 3/ { m = $5 } /^K clock 1/ { printf "%.0f", ($5 - m) / 1e9 }')" 1790000000 'which differs from the monotonic clock as the anchor says'

if command -v protoc >/dev/null; then
	for f in $D/cq-overflow $D/truncated $D/eagain $D/header-lba512; do
		"$KVIO" perfetto -q $f/sem.jsonl $f/ebpf.jsonl --no-rebase -o "$tmp/x.pftrace"
		protoc --decode=Trace docs/perfetto-subset.proto <"$tmp/x.pftrace" >"$tmp/decoded" 2>&1
		is $? 0 "protoc decodes the timeline of $f"
		is "$(grep -cE '^ *[0-9]+(:| \{)' "$tmp/decoded")" 0 'and knows all its fields'
	done
else
	echo "# skip: protoc is not installed, so the .proto is not checked"
fi

# --- hostile text ---
{
	printf '{"trace_id":1,"op":"lo\\u001b[31mad","key":"m@f\\u0000@0@\377\376","bytes":4096,"ts_start":1.0,"ts":1.5,"instance":"\200"}\n'
	printf '{"trace_id":2,"op":"load","bytes":18446744073709551615,"ts_start":0.000000001,"ts":9999999999.9}\n'
} >"$tmp/hostile.jsonl"
draw "$tmp/hostile.jsonl" --label "$(printf 'a\033[2Jb')"
ok 'hostile text: an independent reader accepts the timeline' sh -c "perl tests/pftdump.pl $tmp/x.pftrace >/dev/null"
is "$(printf '%s' "$summary" | tr -d '\012' | tr -cd '\000-\037' | wc -c)" 0 'and the summary has no control characters'
command -v protoc >/dev/null &&
	ok 'and it is valid UTF-8' sh -c "protoc --decode=Trace docs/perfetto-subset.proto <$tmp/x.pftrace >$tmp/decoded 2>&1 && ! grep -qi utf-8 $tmp/decoded"

# --- the summary as JSON ---
"$KVIO" perfetto --json $D/cq-overflow/sem.jsonl $D/cq-overflow/ebpf.jsonl -o "$tmp/x.pftrace" >"$tmp/json"
is "$(jq -c '.arms[0] | [.drawn_commands.slices, .drawn_commands.bytes, .drawn_objects.n, .drawn_instants.n, .losses.dropped, .losses.cq_overflows, .lossy, .input_equals_emitted, .join.kind]' "$tmp/json")" \
	'[71,8798208,11,1,4,6,true,true,"trace id"]' '--json prints the counts'
is "$("$KVIO" perfetto --summary json $D/cq-overflow/sem.jsonl $D/cq-overflow/ebpf.jsonl -o "$tmp/x.pftrace")" "$(cat "$tmp/json")" '--summary json is the same'
is "$("$KVIO" perfetto --summary none $D/cq-overflow/sem.jsonl $D/cq-overflow/ebpf.jsonl -o "$tmp/x.pftrace" 2>&1)" '' '--summary none says nothing'

# --- how it fails ---
fails() { # STATUS PATTERN DESCRIPTION ARGUMENTS...
	want=$1 pattern=$2 what=$3
	shift 3
	rm -f "$tmp"/x.pftrace*
	text=$("$KVIO" perfetto "$@" 2>&1)
	is $? "$want" "$what: status $want"
	like "$text" "$pattern" "$what: says why"
	ok "$what: leaves no file" sh -c "! ls $tmp/x.pftrace* 2>/dev/null"
}
fails 2 'sem.jsonl is named twice' 'a file named twice' $D/qd1/sem.jsonl $D/qd1/../qd1/sem.jsonl -o "$tmp/x.pftrace"
fails 2 '^kvio perfetto: - is named twice' 'standard input twice' - - -o "$tmp/x.pftrace"
fails 2 'no LBA size: they are powers of two' 'an LBA size that is none' --lba-bytes 4097 $D/qd1/sem.jsonl -o "$tmp/x.pftrace"
fails 2 '--label is empty' 'an empty label' --label '' $D/qd1/sem.jsonl -o "$tmp/x.pftrace"
fails 2 '-o FILE' 'an output without a name' $D/qd1/sem.jsonl -o ''
cp $D/qd1/ebpf.jsonl "$tmp/own.jsonl"
fails 2 'own.jsonl is a capture: the timeline would overwrite it' 'a capture as output' "$tmp/own.jsonl" -o "$tmp/./own.jsonl"
ok 'which stays as it was' cmp $D/qd1/ebpf.jsonl "$tmp/own.jsonl"
# Not by a here-document: the shell would take seconds.
perl -e 'print "{\"event_type\":\"nvme_cmd\",\"comm\":\"", "x" x 1e8, "\"}\n"' >"$tmp/long.jsonl"
fails 1 'this is no capture' 'a line of 100 MB' - -o "$tmp/x.pftrace" <"$tmp/long.jsonl"
rm "$tmp/long.jsonl"
fails 1 'this is no capture' 'a million levels' - -o "$tmp/x.pftrace" <<-END
	$(perl -e 'print "{\"a\":" x 1e6')
END
draw $D/qd1/ebpf.jsonl --lba-bytes 512
like "$summary" 'WARNING: --lba-bytes says 512, the capture 4096: 512 is used' 'an LBA size other than that of the capture is said'
fails 2 '-o FILE' 'no output' $D/qd1/sem.jsonl
fails 2 'nothing to draw' 'no input' -o "$tmp/x.pftrace"
fails 2 "two captures have the label 'a'" 'equal labels' --merge a=$D/qd1/sem.jsonl --merge a=$D/qd1/ebpf.jsonl -o "$tmp/x.pftrace"
fails 2 "two captures have the label 'a'" 'equal labels of both kinds' --arm a=$D/qd1/sem.jsonl --merge a=$D/qd1/ebpf.jsonl -o "$tmp/x.pftrace"
fails 2 'more than three files' 'a merge of four files' --merge a=b,c,d,e -o "$tmp/x.pftrace"
fails 2 'is not LABEL=FILE' 'an arm without a label' --arm $D/qd1/sem.jsonl -o "$tmp/x.pftrace"
fails 2 'is not one of text|json|none' 'an unknown summary' --summary xml $D/qd1/sem.jsonl -o "$tmp/x.pftrace"
fails 2 'is not LABEL=SEM,EBPF\[,SERVING\]' 'a merge without a label' --merge $D/qd1/sem.jsonl -o "$tmp/x.pftrace"
fails 2 'unknown option .--nominl' 'an unknown option' --nominl x -o "$tmp/x.pftrace"
fails 2 'not a whole number' 'a number that is none' --nominal-dur-ns fast $D/qd1/sem.jsonl -o "$tmp/x.pftrace"
fails 1 'cannot read .*missing.*No such file' 'a missing file' "$tmp/missing" -o "$tmp/x.pftrace"
fails 1 'this is no capture' 'a file of another kind' tests/tap.sh -o "$tmp/x.pftrace"
fails 1 'cannot write .*No such file' 'a missing directory' $D/qd1/sem.jsonl -o "$tmp/none/x.pftrace"
[ -w /dev/full ] && fails 1 'cannot write' 'a full disk' $D/qd1/ebpf.jsonl -o /dev/full

done_testing
