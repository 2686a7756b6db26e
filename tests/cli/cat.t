#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio cat: conversions that lose nothing, filters, merges, parts, hostile input.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
D=tests/data/cat
P=tests/data/perfetto
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

cat_() { # ARGUMENTS...: sets status, and said (stderr); stdout goes to $tmp/out
	"$KVIO" cat "$@" >"$tmp/out" 2>"$tmp/said"
	status=$?
	said=$(cat "$tmp/said")
}
stats() { # EXPRESSION FILE...: a Perl expression over $f, the first file's statistics
	expression=$1
	shift
	"$KVIO" cat --stats --json "$@" 2>/dev/null |
		perl -MJSON::PP -0777 -ne '$f = decode_json($_)->{files}[0]; print '"$expression"
}
footer() { # FILE EXPRESSION over $f, the footer
	"$KVIO" cat "$1" 2>/dev/null | grep '"event_type":"footer"' | perl -MJSON::PP -0777 -ne '$f = decode_json($_); print '"$2"
}
same_lines() { # FILE FILE: in any order
	sort "$1" >"$tmp/sorted1"
	sort "$2" >"$tmp/sorted2"
	cmp "$tmp/sorted1" "$tmp/sorted2"
}
closes='$f->{seen} == $f->{stored} + $f->{in_flight} + $f->{ring_full} + $f->{map_full} + ($f->{unread} || 0) + $f->{filtered} ? "closes" : "does not close"'

# --- JSONL to JSONL: byte for byte ---
for f in $D/ours.jsonl $D/driver.jsonl $P/batched/ebpf.jsonl $P/batched/sem.jsonl $D/serving.jsonl $P/kv-key/ebpf.jsonl; do
	cat_ $f
	ok "$f stays as it is" cmp $f "$tmp/out"
done
printf '\357\273\277{"x": 1,  "unknown":{"a":[1,2.50]}}\r\n\r\n{"event_type":"nvme_cmd","ts":5,"more":18446744073709551616}\r\n' >"$tmp/bom.jsonl"
cat_ "$tmp/bom.jsonl"
is "$(cat "$tmp/out")" '{"x": 1,  "unknown":{"a":[1,2.50]}}
{"event_type":"nvme_cmd","ts":5,"more":18446744073709551616}' 'BOM, CR and blank lines go, unknown members stay'
cat_ - <$D/ours.jsonl
ok 'from standard input' cmp $D/ours.jsonl "$tmp/out"
gzip -c $D/ours.jsonl >"$tmp/x.bin"
cat_ "$tmp/x.bin"
ok 'gzip is seen from the content' cmp $D/ours.jsonl "$tmp/out"
cat_ -q $D/driver.jsonl -o "$tmp/x.jsonl.gz"
ok '.gz is compressed' sh -c "gzip -dc '$tmp/x.jsonl.gz' | cmp - $D/driver.jsonl"
cat_ -q "$tmp/x.jsonl.gz" -o "$tmp/x.jsonl.zst"
cat_ "$tmp/x.jsonl.zst"
ok 'so is .zst, and read again' cmp $D/driver.jsonl "$tmp/out"

# --- a recording of ours: JSONL, .kvt and back ---
cat_ $D/ours.jsonl -o "$tmp/ours.kvt"
is $status 3 'a capture with losses: status 3'
like "$said" 'ours.jsonl: LOST 3 events' 'and it is said'
is "$(stat -c %a "$tmp/ours.kvt")" 600 'the file is for its owner'
cat_ "$tmp/ours.kvt" -o "$tmp/ours2.jsonl"
ok 'all lines come back from .kvt' same_lines $D/ours.jsonl "$tmp/ours2.jsonl"
is "$(head -n 1 "$tmp/ours2.jsonl")" "$(head -n 1 $D/ours.jsonl)" 'the head first'
is "$(tail -n 2 "$tmp/ours2.jsonl")" "$(tail -n 2 $D/ours.jsonl)" 'the account last'
cat_ "$tmp/ours2.jsonl" -o "$tmp/ours2.kvt"
ok '.kvt, JSONL, .kvt: equal to the byte' cmp "$tmp/ours.kvt" "$tmp/ours2.kvt"
cat_ "$tmp/ours.kvt" -o "$tmp/ours3.kvt"
ok '.kvt to .kvt: equal to the byte' cmp "$tmp/ours.kvt" "$tmp/ours3.kvt"
is "$(stats '"@{[map { $_ . $f->{kinds}{$_} } sort keys %{$f->{kinds}}]} $f->{snapshots}"' "$tmp/ours.kvt")" \
	'clock1 cq_overflow1 disk3 footer1 loss2 meta1 nvme30 nvme_kv7 task3 3' 'every event is a record'
"$KVIO" cat "$tmp/ours.kvt" --sort 2>/dev/null | sed -n 's/.*"nvme_cmd".*"ts":\([0-9]*\).*"in_flight":true.*/\1/p' >"$tmp/order"
is "$(wc -l <"$tmp/order")" 3 '--sort keeps all'
is "$("$KVIO" cat "$tmp/ours.kvt" --sort 2>/dev/null | grep -n clock_anchor | cut -d: -f1)" 2 '--sort puts kinds in one order of time'

# --- the older tracers ---
for f in $D/driver.jsonl $P/batched/ebpf.jsonl $P/header-lba512/ebpf.jsonl $P/eagain/ebpf.jsonl $P/kv-key/ebpf.jsonl $P/tpmon/ebpf.jsonl; do
	cat_ -q $f -o "$tmp/old.kvt"
	is $status 0 "$f -> .kvt"
	cat_ -q "$tmp/old.kvt" -o "$tmp/old.jsonl"
	# Every member of every line is there again; lines of a record say more.
	is "$(perl -MJSON::PP -e '
		sub load { open my $h, "<", $_[0] or die; map { decode_json($_) } <$h> }
		sub id { join " ", map { $_[0]{$_} // "" } qw(event_type ts user_data hwq cid monotonic_ns dropped) if $_[0] }
		my %by; push @{$by{$_->{event_type} . ($_->{ts} // "")}}, $_ for load($ARGV[1]);
		my $lost = 0;
		LINE: for my $l (load($ARGV[0])) {
			for my $c (@{$by{$l->{event_type} . ($l->{ts} // "")} // []}) {
				next LINE unless grep { !defined $c->{$_} || $c->{$_} ne $l->{$_} } keys %$l;
			}
			$lost++;
		}
		print $lost' $f "$tmp/old.jsonl")" 0 '... and back: nothing is lost'
done
is "$(stats '"$f->{kinds}{nvme} $f->{completions} $f->{account}{stored}"' "$tmp/old.kvt")" '220 220 220' 'commands and completions became records'
cat_ -q $P/batched/ebpf.jsonl -o "$tmp/b.kvt"
is "$("$KVIO" report --json "$tmp/b.kvt" | perl -MJSON::PP -0777 -ne '$j = decode_json($_)->{capture}; print "$j->{commands}{n} $j->{qd}{max}"')" \
	"$("$KVIO" report --json $P/batched/ebpf.jsonl | perl -MJSON::PP -0777 -ne '$j = decode_json($_)->{capture}; print "$j->{commands}{n} $j->{qd}{max}"')" \
	'a report on the .kvt has the same figures'
cat_ -q $P/batched/sem.jsonl -o "$tmp/sem.kvt"
is $status 0 'a semantic trace is whole without an account'
cat_ "$tmp/sem.kvt"
ok 'and comes back from .kvt byte for byte' cmp $P/batched/sem.jsonl "$tmp/out"

# --- integers and names ---
for n in 9007199254740992 9007199254740993 18446744073709551615; do
	printf '{"event_type":"nvme_cmd","user_data":%s,"nvme_opcode":2,"slba":%s,"nlb":1,"data_len":4096,"ts":5}\n{"event_type":"nvme_cmp","user_data":%s,"lat_ns":1,"ts":6}\n' $n $n $n
done >"$tmp/big.jsonl"
cat_ -q "$tmp/big.jsonl" -o "$tmp/big.kvt"
cat_ -q "$tmp/big.kvt" --format csv
is "$(cut -d, -f10 "$tmp/out" | tr '\n' ' ')" 'user_data 9007199254740992 9007199254740993 18446744073709551615 ' 'u64 is exact everywhere'
perl -e 'for (1 .. 255) { my $c = $_ == 34 || $_ == 92 ? "\\" . chr : $_ < 32 ? sprintf("\\u%04x", $_) : $_ < 128 ? chr : sprintf("\\u%04x", $_);
	printf "{\"event_type\":\"task\",\"tid\":%d,\"pid\":%d,\"ts\":1,\"comm\":\"a%sb\"}\n", $_, $_, $c }' >"$tmp/names.jsonl"
cat_ -q "$tmp/names.jsonl" -o "$tmp/names.kvt"
is "$(stats '$f->{kinds}{task}' "$tmp/names.kvt")" 255 'a name of any byte is a record'
cat_ "$tmp/names.kvt"
is "$(perl -MJSON::PP -ne 'print decode_json($_)->{comm}, "\n" if /"task"/' "$tmp/out" 2>/dev/null | cksum)" \
	"$(perl -MJSON::PP -ne 'print decode_json($_)->{comm}, "\n"' "$tmp/names.jsonl" 2>/dev/null | cksum)" 'and comes back'

# --- CSV ---
cat_ "$tmp/ours.kvt" -o "$tmp/ours.csv"
is "$(head -n 1 "$tmp/ours.csv" | cut -d, -f1-4)" 'ts_ns,lat_ns,op_name,nvme_opcode' 'a CSV begins with its header'
like "$said" '11 events are no commands' 'what has no row is said'
cat_ "$tmp/ours.csv" -o "$tmp/back.jsonl"
is $status 0 'a CSV is read back'
grep '"nvme_c' $D/ours.jsonl >"$tmp/commands"
grep '"nvme_c' "$tmp/back.jsonl" >"$tmp/commands2"
ok 'with all that its columns have' same_lines "$tmp/commands" "$tmp/commands2"
cat_ $P/batched/ebpf.jsonl --format csv
is "$(wc -l <"$tmp/out")" 154 'a row each of the older commands'
sed 's/$/\r/' "$tmp/ours.csv" >"$tmp/crlf.csv"
cat_ "$tmp/crlf.csv" --stats
like "$(cat "$tmp/out")" 'nvme_kv +7' 'lines may end in CRLF'
printf 'ts_ns,lat_ns,nvme_opcode,slba,nlb,data_len_bytes,comm,user_data\n5,1,2,0,1,4096,"=1+2",7\n6,x\n' >"$tmp/bad.csv"
cat_ "$tmp/bad.csv"
is $status 3 'a damaged row: status 3'
like "$said" '1 of 3 lines are .*the first bad one is line 3' 'its place is said'
like "$(cat "$tmp/out")" '"comm":"=1\+2"' 'names are data, not formulas to be disarmed'

# --- filters ---
for filter in '--pid 42' '--pid 44' '--op read' '--op 9' '--op write' '--object 1' '--object 4294967295' '--device nvme1n1' '--device ng0n1' \
	'--device 259:0' '--from 5us' '--to 5us' '--from @1000020000 --to @1000030000' '--kind nvme' '--kind nvme_kv,loss' '--pid 1'; do
	for to in jsonl kvt; do
		cat_ -q $D/ours.jsonl $filter -o "$tmp/f.$to"
		is "$(footer "$tmp/f.$to" "$closes")" closes "$filter: the account of .$to adds up"
	done
	is "$(stats '"$f->{kinds}{nvme} $f->{kinds}{nvme_kv} $f->{snapshots} $f->{account}{stored} $f->{account}{in_flight}"' "$tmp/f.jsonl")" \
		"$(stats '"$f->{kinds}{nvme} $f->{kinds}{nvme_kv} $f->{snapshots} $f->{account}{stored} $f->{account}{in_flight}"' "$tmp/f.kvt")" \
		"$filter: the same passes in both"
done 2>/dev/null
cat_ -q "$tmp/ours.kvt" --op read -o "$tmp/f.kvt"
is "$(footer "$tmp/f.kvt" '"$f->{seen} $f->{stored} $f->{in_flight} $f->{ring_full} $f->{filtered}"')" '47 19 2 3 23' 'what is cut is filtered now; an overflow has no opcode'
is "$("$KVIO" cat "$tmp/f.kvt" 2>/dev/null | grep -c '"op_name":"read"')" 21 'reads and snapshots of reads are there'
is "$("$KVIO" cat "$tmp/f.kvt" 2>/dev/null | grep '"loss"' | head -n 1 | grep -o '"stored.*')" \
	'"stored":16,"ring_full":3,"map_full":0,"hook_missed":0,"filtered":13}' 'a running account is as of its time'
cat_ $P/batched/ebpf.jsonl --op write
grep -v '"op_name":"read"' $P/batched/ebpf.jsonl | grep nvme_cmd >"$tmp/wanted"
grep nvme_cmd "$tmp/out" >"$tmp/got"
ok '--op: lines stay in their order' cmp "$tmp/wanted" "$tmp/got"
is "$(grep -c nvme_cmp "$tmp/out")" "$(wc -l <"$tmp/wanted")" 'completions go with their commands'
cat_ -q $P/batched/ebpf.jsonl $P/batched/sem.jsonl --object 23f0db1c -o "$tmp/o.jsonl"
is "$(perl -MJSON::PP -ne '$j = decode_json($_); $id{$j->{trace_id}}++ if $j->{op}; push @c, $j->{user_data} >> 32 if $j->{event_type} eq "nvme_cmd"; END { print join(",", sort keys %id), " " . @c, " " . grep { !$id{$_} } @c }' "$tmp/o.jsonl")" \
	'1,10 17 0' '--object: by a part of the key, with all commands of its ids'
cat_ -q $P/batched/ebpf.jsonl --from 1ms --to 2ms
is "$(perl -MJSON::PP -ne '$j = decode_json($_); next if $j->{event_type} ne "nvme_cmd"; push @t, $j->{ts}; END { print $t[-1] - $t[0] < 1e6 ? scalar(@t) : "too far" }' "$tmp/out")" \
	27 '--from and --to count from the first event'

# --- several captures ---
cat_ -q $P/batched/sem.jsonl $P/batched/ebpf.jsonl $D/serving.jsonl -o "$tmp/all.jsonl"
is $status 0 'three files become one'
is "$(perl -MJSON::PP -ne '$j = decode_json($_); next if !$j->{ts}; $t = $j->{event_type} ? $j->{ts} : $j->{ts} * 1e9; $bad++ if $t < $last - 200; $last = $t; END { print $bad + 0 }' "$tmp/all.jsonl")" \
	0 'in the order of time'
grep -v drops $P/batched/ebpf.jsonl | cat - $P/batched/sem.jsonl $D/serving.jsonl >"$tmp/wanted"
grep -v -e drops -e footer "$tmp/all.jsonl" >"$tmp/got"
ok 'with all lines as they were' same_lines "$tmp/wanted" "$tmp/got"
cat_ -q "$tmp/all.jsonl" -o "$tmp/all.kvt"
is "$(stats '"$f->{kinds}{nvme} $f->{kinds}{semantic} $f->{kinds}{serving}"' "$tmp/all.kvt")" '153 18 4' 'one .kvt holds them all'
cat_ -q "$tmp/ours.kvt" $P/batched/ebpf.jsonl $D/driver.jsonl -o "$tmp/three.kvt"
is "$(footer "$tmp/three.kvt" '"$f->{seen} $f->{stored} $f->{ring_full} '"\" . ($closes)")" '217 208 3 closes' 'accounts are added'
is "$(stats '"@{[sort map { $_->{device} } @{$f->{devices}}]}"' "$tmp/three.kvt")" '60:0 nvme0c0n1 nvme0n1 nvme1n1 unknown device' \
	'devices keep apart'
cat_ "$tmp/ours.kvt" $P/batched/ebpf.jsonl --format csv
is "$(cut -d, -f1 "$tmp/out" | sort | uniq -c | awk '{ print $1 $2 }' | grep -c .)" "$(cut -d, -f1 "$tmp/out" | sort -u | grep -c .)" 'rows name their capture'
sed 's/"name":"nvme0n1","nsid":1,"lba_bytes"/"name":"nvme7n1","nsid":1,"lba_bytes"/' $D/ours.jsonl >"$tmp/other.jsonl"
cat_ $D/ours.jsonl "$tmp/other.jsonl" -o "$tmp/no.kvt"
is $status 1 'one number for two disks: refused'
like "$said" 'cannot be one capture: device 259:0 is nvme0n1 in one and nvme7n1 in the other' 'with the reason'
ok 'and nothing is written' test ! -e "$tmp/no.kvt"
sed 's/"realtime_ns":1790000000000000000/"realtime_ns":1790000009000000000/' $D/ours.jsonl >"$tmp/other.jsonl"
cat_ $D/ours.jsonl "$tmp/other.jsonl" -o "$tmp/two.kvt"
like "$said" 'clocks of .* differ: they are of different boots or hosts' 'clocks that differ are said'
{ tail -n +100 $P/batched/ebpf.jsonl; head -n 99 $P/batched/ebpf.jsonl; } >"$tmp/turned.jsonl"
cat_ -q "$tmp/turned.jsonl" --sort
grep nvme $P/batched/ebpf.jsonl | cat >"$tmp/wanted"
grep nvme "$tmp/out" >"$tmp/got"
ok '--sort: what was out of order is in order' cmp "$tmp/wanted" "$tmp/got"

# --- parts ---
for what in 2KiB 10events 10us; do
	for to in jsonl kvt csv; do
		rm -rf "$tmp/parts"
		mkdir "$tmp/parts"
		cat_ $D/ours.jsonl --split $what -o "$tmp/parts/x.$to"
		ok "--split $what into .$to: several" test "$(ls "$tmp/parts" | wc -l)" -gt 1
		cat_ -q "$tmp"/parts/x-00*.$to -o "$tmp/joined.$to"
		[ $to = csv ] && continue
		is "$(stats '"$f->{kinds}{nvme} $f->{kinds}{nvme_kv} $f->{snapshots} $f->{kinds}{task} $f->{kinds}{loss}"' "$tmp/joined.$to")" \
			'30 7 3 3 2' 'joined again: every event once'
		is "$(footer "$tmp/joined.$to" '"$f->{seen} $f->{stored} $f->{in_flight} $f->{ring_full} $f->{filtered}"')" '47 38 2 3 4' \
			'their accounts add up to that of the whole'
	done
done
is "$(ls "$tmp/parts")" "$(printf 'x-%04d.csv\n' $(seq "$(ls "$tmp/parts" | wc -l)"))" 'parts are numbered'
rm -rf "$tmp/parts"
mkdir "$tmp/parts"
cat_ "$tmp/ours.kvt" --split 10events -o "$tmp/parts/x.y.kvt"
for p in "$tmp"/parts/x.y-*.kvt; do
	is "$(footer "$p" "$closes")" closes "$(basename "$p"): its account adds up"
	is "$("$KVIO" cat "$p" 2>/dev/null | grep nvme_cmd | grep -v '"tid":99' | grep -v '"dev":0' | grep -c -e '"comm":""' -e '"disk":""')" 0 '... and it can be read alone'
done
cat_ -q "$tmp/all.jsonl" --split 50events -o "$tmp/parts/all.jsonl"
is "$(grep -l kvio_meta "$tmp"/parts/all-*.jsonl | wc -l)" "$(ls "$tmp"/parts/all-*.jsonl | wc -l)" 'each part has the head of the semantic trace'
is "$(for p in "$tmp"/parts/all-*.jsonl; do perl -MJSON::PP -ne '$j = decode_json($_); $n += $j->{event_type} eq "nvme_cmd"; $m += $j->{event_type} eq "nvme_cmp"; END { print $n - $m, " " }' "$p"; done | tr -d ' 0')" \
	'' 'no command is parted from its completion'

# --- statistics ---
cat_ --stats "$tmp/ours.kvt" $P/batched/sem.jsonl
is $status 3 '--stats tells incomplete data as well'
like "$(cat "$tmp/out")" '^  nvme +30$' 'counts by kind'
like "$(cat "$tmp/out")" '^    nvme1n1 +7   224 KiB$' 'by device'
like "$(cat "$tmp/out")" '^    pid 42 ' 'by process'
like "$(cat "$tmp/out")" 'seen 47 = stored 38 \+ in flight 2 \+ filtered 4 \+ lost 3' 'the account'
like "$(cat "$tmp/out")" '^  semantic +18$' 'of each file'
is "$(tr -d '\n' <"$tmp/out" | LC_ALL=C tr -d ' -~\200-\377' | wc -c)" 0 'no name speaks to the terminal'
is "$(stats '"$f->{format} $f->{complete} $f->{reads} $f->{read_bytes} $f->{first_ns}"' "$tmp/ours.kvt")" 'kvt 1 22 720896 1000010000' 'the same in JSON'
is "$(stats '"$f->{kinds}{nvme} $f->{cut}{nvme}"' "$tmp/ours.kvt" --op write)" '9 24' 'filters count here, too'

# --- files that grow ---
follow() { # NAME: follows $tmp/grow.NAME into $tmp/followed
	# What came from the file before is no sign that this one is followed.
	: >"$tmp/followed"
	bounded "$KVIO" cat -f "$tmp/grow.$1" >"$tmp/followed" 2>"$tmp/said" &
	pid=$!
}
has() { # LINES: that many came
	[ "$(wc -l <"$tmp/followed")" -ge "$1" ]
}
head -n 30 $D/ours.jsonl >"$tmp/grow.jsonl"
printf '{"event_type":"nvme_' >>"$tmp/grow.jsonl"
follow jsonl
ok '--follow: what is there comes at once' soon has 30
tail -n +31 $D/ours.jsonl >"$tmp/rest"
printf 'cmd","ts":1}\n' >>"$tmp/grow.jsonl"
ok 'a line comes when it is whole' soon has 31
cat "$tmp/rest" >>"$tmp/grow.jsonl"
wait $pid
is $? 3 'the end of the capture ends it (status 3: losses)'
{ head -n 30 $D/ours.jsonl; echo '{"event_type":"nvme_cmd","ts":1}'; cat "$tmp/rest"; } >"$tmp/wanted"
ok 'all of it' cmp "$tmp/wanted" "$tmp/followed"
size=$(stat -c %s "$tmp/ours.kvt")
head -c $((size - 700)) "$tmp/ours.kvt" >"$tmp/grow.kvt"
follow kvt
ok '--follow a .kvt: whole blocks' soon has 2
tail -c 700 "$tmp/ours.kvt" >>"$tmp/grow.kvt"
wait $pid
is $? 3 'its footer ends it'
ok 'all of it' cmp "$tmp/ours2.jsonl" "$tmp/followed"
head -n 5 $D/ours.jsonl >"$tmp/grow.jsonl"
follow jsonl
soon has 5
interrupt $pid
wait $pid
is $? 3 'Ctrl-C: status 3, the capture has no end yet'
like "$(cat "$tmp/said")" 'still runs' 'and that is said'
is "$(wc -l <"$tmp/followed")" 5 'all of it was written'

head -n 5 $D/ours.jsonl >"$tmp/grow.jsonl"
bounded "$KVIO" cat -f "$tmp/grow.jsonl" -o "$tmp/live.kvt" 2>"$tmp/said" &
pid=$!
live() { # TASKS: so many are in the output; before there is a file, Perl would complain of the JSON that is none
	[ "$(stats '$f->{kinds}{task}' "$tmp/live.kvt" 2>/dev/null)" = "$1" ]
}
soon live 3
is "$(stats '"$f->{kinds}{task} $f->{complete}"' "$tmp/live.kvt")" '3 0' '--follow -o: the output grows, too'
is "$(stat -c %a "$tmp/live.kvt")" 600 'for its owner only'
tail -n +6 $D/ours.jsonl >>"$tmp/grow.jsonl"
wait $pid
cat_ "$tmp/live.kvt"
ok 'until it is whole' same_lines $D/ours.jsonl "$tmp/out"

# --- damaged and hostile input ---
head -c 1500 "$tmp/ours.kvt" >"$tmp/cut.kvt"
cat_ "$tmp/cut.kvt" -o "$tmp/cut.jsonl"
is $status 3 'a cut .kvt: status 3'
like "$said" 'is not whole: cut block at byte [0-9]*; all before that was read' 'where it ends is said'
is "$(grep -c '"footer"\|"drops"' "$tmp/cut.jsonl")" 0 'what is made of it has no end either'
cat_ --strict "$tmp/cut.kvt" -o "$tmp/strict.jsonl"
is $status 1 '--strict: status 1'
ok '--strict: nothing is written' test ! -e "$tmp/strict.jsonl"
head -c 3000 $D/driver.jsonl >"$tmp/tail.jsonl"
cat_ "$tmp/tail.jsonl"
is $status 3 'a cut last line: status 3'
like "$said" 'the last line is cut, and left out' 'and it is said'
{ head -n 2 $D/driver.jsonl; echo '{"broken'; tail -n +3 $D/driver.jsonl; } >"$tmp/hole.jsonl"
cat_ "$tmp/hole.jsonl"
is $status 3 'a damaged line: status 3'
like "$said" '1 of 37 lines are no JSON objects and are left out; the first bad one is line 3' 'where it is'
ok 'all others stay' cmp $D/driver.jsonl "$tmp/out"
echo '{"trace_id":1,"op":"load","key":"k"}' >"$tmp/odd.jsonl"
cat_ "$tmp/odd.jsonl"
is $status 3 'sound JSON that is no sound record: status 3'
ok 'it is carried on' cmp "$tmp/odd.jsonl" "$tmp/out"
like "$said" 'line 1 \(a member is missing\)' 'with the reason'
echo 'Dear Sir or Madam' >"$tmp/letter"
cat_ "$tmp/letter" -o "$tmp/no.jsonl"
is $status 1 'what is no capture: status 1'
like "$said" 'this is no capture: neither .kvt nor JSON lines nor CSV' 'said'
ok 'nothing is written' test ! -e "$tmp/no.jsonl"
: >"$tmp/empty"
cat_ "$tmp/empty" -o "$tmp/empty.kvt"
is $status 0 'an empty file is an empty capture'
cat_ "$tmp/empty.kvt"
is "$status $(wc -c <"$tmp/out")" '0 0' 'also as .kvt'
cat_ "$tmp/missing" -o "$tmp/no.jsonl"
is "$status $said" "1 kvio cat: cannot read $tmp/missing: No such file or directory" 'a file that is not there'
cat_ "$tmp" -o "$tmp/no.jsonl"
is "$status $said" "1 kvio cat: cannot read $tmp: Is a directory" 'a directory'
printf '\211kvt\r\n\032\n\0\0\7\0\0\0\0\0' >"$tmp/newer.kvt"
cat_ "$tmp/newer.kvt"
is "$status $said" "1 kvio cat: $tmp/newer.kvt was written by a newer kvio: use that one" 'a newer .kvt'
ls "$tmp" | grep -E '\.[A-Za-z0-9]{6}$' >"$tmp/left"
is "$(cat "$tmp/left")" '' 'no temporary file is left'
cat_ $D/ours.jsonl -o "$tmp/nodir/x.kvt"
is $status 1 'no such folder: status 1'
like "$said" "cannot write $tmp/nodir/x.kvt: No such file" 'said'
"$KVIO" cat $D/ours.jsonl >/dev/full 2>"$tmp/said"
is $? 1 'a full disk: status 1'
like "$(cat "$tmp/said")" 'cannot write standard output: No space left' 'said'
"$KVIO" cat $D/ours.jsonl --format kvt 2>/dev/null >/dev/full
is $? 1 'a full disk under a .kvt'
"$KVIO" cat $P/batched/ebpf.jsonl $P/tpmon/ebpf.jsonl $P/tp4/ebpf.jsonl 2>"$tmp/said" | head -n 1 >"$tmp/out"
is "$(cat "$tmp/said")" '' 'a reader that has seen enough is no error'
perl -e 'for (1 .. 300000) { print "{\"event_type\":\"nvme_cmd\",\"tid\":$_,\"comm\":\"t$_\",\"disk\":\"d$_\",\"user_data\":$_,\"nvme_opcode\":2,\"ts\":$_}\n" }' >"$tmp/many.jsonl"
# A sanitized program has no use for a limit of its address space.
limit=unlimited
(ulimit -v 1000000 && "$KVIO" version >/dev/null 2>&1) && limit=1000000
(ulimit -v $limit && "$KVIO" cat -q "$tmp/many.jsonl" -o "$tmp/many.kvt" 2>/dev/null)
is $? 3 'commands that never complete take no memory without bound'
# Not by the JSON: 300000 devices are much to read for Perl.
is "$("$KVIO" cat --stats "$tmp/many.kvt" 2>/dev/null | awk '$1 == "nvme" { print $2; exit }')" 300000 'and none is lost'
cp $D/driver.jsonl "$tmp/same.jsonl"
cat_ -q "$tmp/same.jsonl" -o "$tmp/same.jsonl"
ok 'a file onto itself' cmp $D/driver.jsonl "$tmp/same.jsonl"

# --- the command line ---
usage() { # WANTED ARGUMENTS...
	wanted=$1
	shift
	cat_ "$@"
	is $status 2 "$*: status 2"
	like "$said" "$wanted" "$*: said why"
}
usage 'name a capture'
usage "cannot tell a format from the name" $D/ours.jsonl -o "$tmp/x.txt"
usage 'only once' - -
usage 'takes one file' -f $D/ours.jsonl $D/driver.jsonl
usage 'takes one file' -f -
usage 'is not one of jsonl' $D/ours.jsonl --format xml
usage 'is not a kind of event' $D/ours.jsonl --kind reads
kinds=$("$KVIO" cat --kind reads $D/ours.jsonl 2>&1 | sed -n 's/.*a kind of event (\(.*\))$/\1/p' | tr -d ' ')
is "$("$KVIO" cat --kind "$kinds" $D/ours.jsonl 2>&1 >/dev/null)" "kvio cat: warning: $D/ours.jsonl: LOST 3 events while recording" \
	'each kind that is named is one'
is "$(echo "$kinds" | tr ',' '\n' | wc -l)" 18 'and all are named'
usage 'is not a time' $D/ours.jsonl --from yesterday
usage 'nothing is between' $D/ours.jsonl --from 2s --to 1s
usage 'is not a process id' $D/ours.jsonl --pid me
usage 'or an opcode up to 255' $D/ours.jsonl --op 256
usage "say what '10m' is" $D/ours.jsonl --split 10m -o "$tmp/x.kvt"
usage "say what '10' is" $D/ours.jsonl --split 10 -o "$tmp/x.kvt"
usage 'leaves no room' $D/ours.jsonl --split 0s -o "$tmp/x.kvt"
usage 'is not a size' $D/ours.jsonl --split tenevents -o "$tmp/x.kvt"
usage 'give -o FILE' $D/ours.jsonl --split 10s
usage 'reads the captures twice' - --object abc
usage 'for --stats' $D/ours.jsonl --json
usage 'writes no capture' --stats $D/ours.jsonl -o "$tmp/x.kvt"
usage 'would follow itself' -f "$tmp/same.jsonl" -o "$tmp/same.jsonl"
usage 'cannot --sort' -f $D/ours.jsonl --sort
done_testing
