#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio sql: answers over captures and traces, every query of the cookbook, and
# what it refuses.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
D=tests/data/perfetto S=tests/data/sql
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

sql() { # ARGUMENTS...: sets text and status; no carriage returns
	text=$("$KVIO" sql "$@" 2>&1 </dev/null)
	status=$?
}

csv() { # ARGUMENTS...: the same as CSV without its head
	text=$("$KVIO" sql --csv "$@" 2>"$tmp/err" </dev/null | tr -d '\r' | sed 1d)
}

# cookbook TITLE: the query below that heading
cookbook() {
	awk -v want="### $1" '$0 == want { found = 1 } found && /^```sql/ { inside = 1; next }
		inside && /^```/ { exit } inside' docs/sql-cookbook.md >"$tmp/query"
	echo "$1" >>"$tmp/cooked"
	[ -s "$tmp/query" ] || echo "select 'the cookbook has no $1'" >"$tmp/query"
}

# recipe TITLE EXPECTED INPUT...: its answer in CSV, rows separated by '/'
recipe() {
	title=$1 expected=$2
	shift 2
	cookbook "$title"
	csv "$@" -f "$tmp/query"
	is "$(printf '%s' "$text" | tr '\n' '/')" "$expected" "cookbook: $title"
}

qd1="$D/qd1/ebpf.jsonl $D/qd1/sem.jsonl"
batched="$D/batched/ebpf.jsonl $D/batched/sem.jsonl"
hostile=$(printf '"a,""b""/\033[31m"')
# shellcheck disable=SC2086 # pairs of files are words
{
	# The figures were derived from the captures by hand; those of the report are in report.t, too.
	recipe 'Latency by operation and device' \
		'read,,72,16.274,18.798,18.961,18.961/write,,81,40.725,59.015,59.935,59.935' $qd1
	recipe 'Histogram of the gaps between submissions of one object' '70,13/80,122' $qd1
	recipe 'Queue depth over time' '0,27/1,27/4,24/5,24' $batched
	recipe 'Share of time at each queue depth' '0,14796986,76.7/1,4506410,23.3' $qd1
	recipe 'Bytes per 100 ms' '0,153,18911232,0.189' $qd1
	recipe 'Batches' '6,24,27,27' $batched
	recipe 'Who submits' "app,11,2,50.0/app,12,1,25.0/$hostile,13,1,25.0" $S/errors.jsonl
	recipe 'Re-issues' '40,40,6.1' $D/eagain/ebpf.jsonl $D/eagain/sem.jsonl
	recipe 'Failed commands by status' 'read,failed,nvme,0x4080,1,18446744073709551615' $S/errors.jsonl
	recipe 'LBAs that are written again' \
		'262144,3,3864483/262145,3,3865991/262177,3,3865112/262400,3,3851845/262401,3,3851384' \
		$D/slot-reuse/ebpf.jsonl $D/slot-reuse/sem.jsonl
	recipe 'Untagged commands' 'read,29,118784/flush,19,0/other,14,0/write,8,32768' \
		$D/untagged/ebpf.jsonl $D/untagged/sem.jsonl
	recipe 'The slowest objects and their commands' \
		'8,store,849.99,9,368.373,59.58/1,store,848.106,9,404.054,56.82/6,store,842.003,9,375.836,59.017/0,store,840.47,9,359.568,56.493/7,store,839.198,9,331.592,59.015' $qd1
	recipe 'Header overhead of stores' '9,36864,0.389' $qd1
	recipe 'Objects without commands' 'delete,2,0,22/load,1,1,21' $D/cq-overflow/ebpf.jsonl $D/cq-overflow/sem.jsonl
	recipe 'From the start of an object to its first command' 'load,9,92.428/store,9,92.412' $qd1
	recipe 'The wait for the slowest shard' 'load,5,57.369,90.334/store,5,53.232,65.642' \
		$D/tp4/ebpf.jsonl $D/tp4/sem.jsonl
	recipe 'Two runs, object by object' 'load,9,722.864,377.818,9/store,9,839.198,520.636,9' \
		--arm before=$D/qd1/ebpf.jsonl,$D/qd1/sem.jsonl --arm after=$D/batched/ebpf.jsonl,$D/batched/sem.jsonl
	f=tests/data/faults/two-files.jsonl
	recipe 'Faults by program and file' \
		'faults,523,/data/model.bin,30,1,30,4.648,1637.562/faults,526,/data/index.bin,3,1,3,10.6,1377.019' $f
	recipe 'Time that major and minor faults took' 'major,2,3.014581,1024/minor,31,0.892842,0' $f
	recipe 'The slowest faults' \
		'0.0,1637.562,faults,/data/model.bin,765952,512/44.028,1377.019,faults,/data/index.bin,0,512/1.728,735.344,faults,/data/model.bin,1196032,0' $f
	recipe 'Major faults over time' '0,1,17.07/40,1,31.03' $f
	recipe 'How far a program jumps in a file' '/data/index.bin,2,0,64//data/model.bin,14,15,708' $f
	recipe 'Pages that came in and were not used' '/data/index.bin,512,3,48,2048,170.67//data/model.bin,512,30,480,2048,17.07' $f
	recipe 'From the device to what was used' '4194304,4194304,135168' $f
	{
		echo '{"event_type":"marker","ts":24037500000000,"useful_bytes":1048576,"name":"index","epoch":1}'
		echo '{"event_type":"marker","ts":24037469900000,"useful_bytes":8192,"name":"warm up"}'
		echo '{"event_type":"marker","ts":24037600000000,"useful_bytes":4096}'
	} >"$tmp/markers.jsonl"
	recipe 'From marker to marker' 'warm up,8192,3,1,2097152,256.0/index,1048576,27,0,0,0.0/,4096,3,1,2097152,512.0' $f "$tmp/markers.jsonl"
	recipe 'Faults in the timeline' \
		'/data/index.bin,major,1,1.377019,512//data/index.bin,minor,2,0.015409,0//data/model.bin,major,1,1.637562,512//data/model.bin,minor,29,0.877433,0' $f
	recipe 'Loss account' 'capture,1,205,182,23,0,0,0,0,22,0,0,0' $D/missing-cmp/ebpf.jsonl $D/missing-cmp/sem.jsonl
	recipe 'Import errors of a trace' '' $S/qd1.pftrace.gz
	cookbook 'Objects by duration'
	csv $qd1 -f "$tmp/query"
	is "$(echo "$text" | wc -l) $(echo "$text" | head -n 1)" '18 store kv 1.0MiB,0.84999,9' 'cookbook: Objects by duration'
	recipe 'Measured reads' '72,14166,18961' $qd1
	cookbook 'Everything of one object'
	sed 's/=42/=4/' "$tmp/query" >"$tmp/query4"
	csv $qd1 -f "$tmp/query4"
	is "$(echo "$text" | wc -l) $(echo "$text" | head -n 1)" \
		'10 32,internal_slice,3125949,822607,10,,store kv 1.0MiB,0,,33,,,,,,32' 'cookbook: Everything of one object'
	recipe 'From an object to its first command, along the arrow' \
		'store kv 1.0MiB,write,91100/store kv 1.0MiB,write,91792/store kv 1.0MiB,write,91341/store kv 1.0MiB,write,92987/store kv 1.0MiB,write,92412' $qd1
	recipe 'Means of the counters' \
		'objects in flight,objects,36,0.5,1.0/cmds/ms,cmds,21,7.286,9.0/MB/s,MB/s,3,630.374,947.4048/writes slba,LBA,81,263272.444,264425.0/reads slba,LBA,72,263285.0,264425.0' $qd1
	cookbook 'All args of a slice'
	csv $S/qd1.pftrace.gz -f "$tmp/query"
	is "$(echo "$text" | sed -n '1p;4p;9p')" 'debug.label,string,qd1
debug.rebased,bool,true
debug.kvio_schema,uint,2' 'cookbook: All args of a slice'
	recipe 'Requests and the objects in them' \
		'load_ttft,12.345678,11,8.958455/recompute,12.346678,9,6.498475/load_ttft,12.347678,1,0.724791/recompute,12.348678,0,' $S/qd1.pftrace.gz
	C=tests/data/calls
	recipe 'What ties commands to calls and requests' 'user_data,read,37,606208,37,37/outside,admin,1,4096,0,0' $C/passthrough.kvt
	recipe 'Device bytes behind each file' '/tmp/m/a,82,10747904' $C/uring-file.kvt
	recipe 'How late writes came to the device' '/d/a,2,65536,3900,3910//d/c,1,4096,3850,3850' $C/extent.jsonl
	recipe 'Reads that waited for the device, and those from memory' '0,135,959086,9007,16963526/1,6,98304,830833,30616672' $C/buffered.kvt
	recipe 'Requests with their commands' 'read,262144,2,262144,26987509,588454/read,262144,2,262144,255273,1161930/read,262144,2,262144,49274,1182960/read,262144,2,262144,37871,1190505/read,262144,2,262144,75613,1180966' $C/uring-file.kvt
}
is "$(sort "$tmp/cooked")" "$(sed -n 's/^### //p' docs/sql-cookbook.md | sort)" 'every query of the cookbook was run'

# --- one question, one answer: the capture, its timeline, the older converter's ---
ask='select s.name, s.ts, s.dur, s.depth, extract_arg(s.arg_set_id, "debug.trace_id") t,
	extract_arg(s.arg_set_id, "debug.slba") l, extract_arg(s.arg_set_id, "debug.real_dur") r
	from slice s join process_track pt on s.track_id = pt.id
	where pt.name like "objects%" or pt.name like "reads%" or pt.name like "writes%" order by s.ts, pt.name, s.dur, l'
ask=$(echo "$ask" | tr '"' "'")
all='select count(*), sum(ts), sum(dur), sum(depth), sum(track_id), sum(arg_set_id), sum(length(name)) from slice;
	select count(*), sum(int_value), sum(real_value), sum(length(string_value)) from args;
	select count(*), sum(ts), sum(value), sum(track_id) from counter; select * from track; select * from process;
	select count(*), sum(slice_out), sum(slice_in) from flow; select * from thread; select * from trace_bounds'
for c in qd1 batched tp4 eagain kv-key cq-overflow missing-cmp header-lba512 untagged legacy slot-reuse edge-ties truncated; do
	set -- $D/$c/ebpf.jsonl $D/$c/sem.jsonl
	"$KVIO" perfetto -q "$@" -o "$tmp/x.pftrace" >/dev/null 2>&1
	"$KVIO" sql -q --csv "$@" "$all; $ask" >"$tmp/a" 2>/dev/null
	"$KVIO" sql -q --csv "$tmp/x.pftrace" "$all; $ask" >"$tmp/b" 2>/dev/null
	ok "$c: the capture and its timeline give the same answers" cmp -s "$tmp/a" "$tmp/b"
	# And the captures that are made of the timeline: but for what it does not have.
	cmds='select ts_ns, op, bytes, slba, trace_id, state, role, header, key from cmd
		where state not in ("reissued", "failed") order by 1, 2, 4, 5;
		select trace_id, op, begin_ns, dur_ns, n_cmds, bytes, error, occurrence, fmt, rank from op
		where n_cmds > 0 order by 3, 1'
	cmds=$(echo "$cmds" | tr '"' "'")
	"$KVIO" sql -q --csv "$@" "$cmds" >"$tmp/a" 2>/dev/null
	"$KVIO" sql -q --csv "$tmp/x.pftrace" "$cmds" >"$tmp/b" 2>/dev/null
	ok "$c: and so do the captures made of it" cmp -s "$tmp/a" "$tmp/b"
done
# shellcheck disable=SC2086
"$KVIO" sql --csv $qd1 "$ask" >"$tmp/a"
"$KVIO" sql --csv $S/qd1.pftrace.gz "$ask" >"$tmp/b"
ok 'qd1: the trace of the older converter gives the same answers' cmp -s "$tmp/a" "$tmp/b"
csv $S/merge-ab.pftrace.gz "select name, pid from process where pid > 0; select arm, count(*) from cmd group by arm"
is "$(echo "$text" | tr '\n' ' ')" \
	'LMCache stock,1000 NVMe ng stock,1001 Serving stock,1002 LMCache batched,1003 NVMe ng batched,1004 LMCache devonly,1006 NVMe ng devonly,1007 arm,count(*) batched,153 devonly,153 stock,153 ' 'several labels in one trace'
for d in nvme0n1 nvme1n1; do
	for i in 1 2 3; do
		printf '{"event_type":"nvme_cmd","disk":"%s","nsid":1,"nvme_opcode":2,"op_name":"read","slba":%s,"nlb":8,"bytes":4096,"data_len":4096,"hwq":1,"cid":%s,"ts":%s}\n' $d $i $i$i 100${i}000
		printf '{"event_type":"nvme_cmp","status":0,"lat_ns":100,"hwq":1,"cid":%s,"ts":%s}\n' $i$i 100${i}100
	done
done | sed 5d >"$tmp/two.jsonl"
"$KVIO" perfetto -q "$tmp/two.jsonl" -o "$tmp/two.pftrace" >/dev/null 2>&1
csv "$tmp/two.jsonl" 'select device, count(*) from cmd group by device'
is "$text" 'nvme0n1,2
nvme1n1,3' 'several devices in a capture'
csv "$tmp/two.pftrace" 'select device, count(*) from cmd group by device'
is "$text" 'nvme0n1,2
nvme1n1,3' 'and in its timeline'
# shellcheck disable=SC2086
"$KVIO" perfetto -q $batched --slice-budget 60 -o "$tmp/grouped.pftrace" >/dev/null
sql "$tmp/grouped.pftrace" 'select grouped > 0, incomplete, commands < 153 from loss'
is $status 3 'a timeline of slices that stand for several: status 3'
like "$text" '^ *1  *1  *1$' 'what has no rows is counted'
zstd -q "$tmp/x.pftrace" -o "$tmp/x.pftrace.zst" 2>/dev/null && {
	sql "$tmp/x.pftrace.zst" 'select 1 from slice limit 1'
	like "$text" '^1$' 'a trace can be compressed with zstd'
}

# --- numbers ---
csv $S/errors.jsonl "select user_data, typeof(user_data), slba from cmd where user_data = '18446744073709551615'"
is "$text" '18446744073709551615,text,16' 'what SQLite cannot count to is exact text'
csv $S/errors.jsonl "select extract_arg(arg_set_id, 'debug.slba') from slice where name like 'read%' and dur = 5000"
is "$text" '-1' 'in the timeline it is what trace_processor has'
csv $S/errors.jsonl "select percentile(v, 50), percentile(v, 0), percentile(v, 100), percentile(v, 51), percentile(null, 5)
	from (select 1 v union all select 2 union all select 9007199254740993 union all select 9007199254740995)"
is "$text" '2,1,9007199254740995,9007199254740993,' 'percentiles are nearest-rank and exact'
csv $S/errors.jsonl 'select percentile(v, 50) from (select 1 v union all select 2.5)'
is "$text" '1.0' 'also of mixed numbers'
csv $S/errors.jsonl 'select count(*) from cmd where ts_ns > 1000001000.5 and ts_ns <= 1000003000; select id from cmd where id = 2;
	select count(*) from cmd where ts_ns = null; select count(*) from cmd where ts_ns < "x"; select id from cmd order by ts_ns desc limit 1'
is "$(echo "$text" | tr '\n' ' ')" '2 id 2 count(*) 0 count(*) 4 id 3 ' 'ranges by numbers of any kind'

# --- formats ---
"$KVIO" sql --csv $S/errors.jsonl "select comm, null n, '' e from cmd where tid = 13" >"$tmp/a" 2>/dev/null
printf 'comm,n,e\r\n"a,""b""\n\033[31m",,""\r\n' >"$tmp/b"
ok 'CSV is quoted' cmp "$tmp/a" "$tmp/b"
"$KVIO" sql --json $S/errors.jsonl "select comm, slba, null, 0.1, 1e999, x'00ff' from cmd where tid = 13; select 1 a" >"$tmp/json" 2>/dev/null
is "$(perl -MJSON::PP -e 'local $/; $j = JSON::PP->new; my @d = $j->incr_parse(<>); push @d, $j->incr_parse;
	$r = $d[0]{rows}[0]; print scalar(@d), " $d[0]{schema_version} ", length $r->[0], " $r->[1] ", defined $r->[2] ? "x" : "null",
	" $r->[3] ", defined $r->[4] ? "x" : "null", " $r->[5] $d[1]{columns}[0]"' "$tmp/json")" "2 1 11 16 null 0.1 null x'00ff' a" 'JSON is sound, a document a statement'
sql -q $S/errors.jsonl 'select comm, 1.5 x, null from cmd'
is "$(printf '%s' "$text" | LC_ALL=C tr -d '\012\040-\176' | wc -c)" 0 'no control characters reach the terminal'
like "$text" '^a,"b"\\x0a\\x1b\[31m  1\.5' 'they are shown'
"$KVIO" sql $S/errors.jsonl 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) select i from n' >"$tmp/out" 2>/dev/null
is "$(wc -l <"$tmp/out") $(tail -n 1 "$tmp/out")" '5002 5000' 'long results are printed as they come'

# --- where the query comes from ---
# shellcheck disable=SC2086
{
	echo 'select count(*) from cmd;' >"$tmp/two words"
	is "$("$KVIO" sql --csv $qd1 -f "$tmp/two words" | tail -n 1 | tr -d '\r')" 153 '-f reads a file'
	is "$(echo 'select count(*) from op' | "$KVIO" sql --csv $qd1 | tail -n 1 | tr -d '\r')" 18 'standard input'
	is "$("$KVIO" sql --csv - 'select count(*) from cmd' <$D/qd1/ebpf.jsonl | tail -n 1 | tr -d '\r')" 153 '- is a capture on standard input'
	is "$("$KVIO" sql --csv - 'select count(*) from slice' <$S/qd1.pftrace.gz | tail -n 1 | tr -d '\r')" 177 'or a trace'
	cp $D/qd1/ebpf.jsonl "$tmp/select me"
	is "$(echo 'select count(*) from cmd' | "$KVIO" sql --csv "$tmp/select me" | tail -n 1 | tr -d '\r')" 153 'a file with blanks in its name is a file'
}
if command -v script >/dev/null; then
	printf '.tables\n.schema loss\nselect 40 +\n2 answer;\nselect nonsense;\n.nothing\n.quit\n' >"$tmp/keys"
	text=$(script -qec "$KVIO sql $S/qd1.pftrace.gz" /dev/null <"$tmp/keys" 2>&1 | tr -d '\r')
	like "$text" '^process_track$' 'prompt: .tables'
	like "$text" 'CREATE TABLE loss\(arm TEXT, complete' 'prompt: .schema'
	like "$text" '^ *42$' 'prompt: a statement on two lines'
	like "$text" 'no such column: nonsense' 'prompt: a mistake does not end it'
	like "$text" '^\.schema \[TABLE\]' 'prompt: help'
fi

# --- it can only be read ---
for q in "create table x(a)" "create view x as select 1" "create temp table x(a)" "delete from slice" "insert into cmd(id) values (1)" \
	"update slice set dur = 1" "attach '$tmp/evil' as e" "vacuum into '$tmp/evil'" "pragma writable_schema = 1" \
	"pragma journal_mode = wal" "pragma temp_store_directory = '/'" "select load_extension('$tmp/evil')" "begin" "savepoint x" \
	"detach main" "reindex" "analyze" "drop table slice" "create virtual table x using fts5(a)" "pragma hard_heap_limit = 0" \
	"insert into sqlite_schema values (1, 2, 3, 4, 5)" "alter table slice rename to x" "create trigger x after insert on slice begin select 1; end"; do
	sql $S/errors.jsonl "$q"
	is $status 1 "refused: $q"
done
is "$(ls "$tmp/evil" 2>/dev/null)" '' 'and no file was written'
sql $S/errors.jsonl "attach '$tmp/evil' as e"
like "$text" '^kvio sql: ' 'it says so in one line'
csv $S/errors.jsonl 'select name from pragma_table_info("slice") where cid < 4; select x from (values (1)) t(x), json_each("[1]")'
is $? 0 'pragmas that only tell, and JSON, work'
sql $S/errors.jsonl "select * from generate_series(1, 9)"
is $status 1 'tables of other modules are not there'
sql $S/errors.jsonl "select zeroblob(2000000000)"
is $status 1 'sizes have a limit'
sql $S/errors.jsonl "$(perl -e 'print "select ", "(" x 2000, "1", ")" x 2000')"
is $status 1 'and so has depth'

# --- export ---
# shellcheck disable=SC2086
"$KVIO" sql $qd1 --export "$tmp/run.sqlite"
is $? 0 'export: status 0'
is "$(stat -c %a "$tmp/run.sqlite")" 600 'export: mode 0600'
is "$(ls "$tmp" | grep -c 'run.sqlite')" 1 'export: nothing else is left'
csv $S/errors.jsonl 'select 1'
if command -v sqlite3 >/dev/null; then
	is "$(sqlite3 "$tmp/run.sqlite" 'pragma integrity_check; select count(*) from cmd; select count(*) from slice; select count(*) from args; select count(*) from op join cmd on cmd.op_id = op.id')" \
		'ok
153
173
'"$("$KVIO" sql --csv $D/qd1/ebpf.jsonl $D/qd1/sem.jsonl 'select count(*) from args' | tail -n 1 | tr -d '\r')"'
153' 'export: all of it is there'
fi
echo keep >"$tmp/keep"
# shellcheck disable=SC2086
"$KVIO" sql $qd1 --export "$tmp/none/x" 2>"$tmp/err"
is $? 1 'export into no directory: status 1'
like "$(cat "$tmp/err")" 'cannot write .*none/x: No such file' 'export: says why'
mkdir "$tmp/dir"
# shellcheck disable=SC2086
"$KVIO" sql $qd1 --export "$tmp/dir" 2>/dev/null
is "$? $(ls "$tmp" | grep -c '^dir')" '1 1' 'export over a directory: fails and leaves nothing'

# --- incomplete and hostile input ---
: >"$tmp/empty"
sql "$tmp/empty" 'select count(*) from cmd; select count(*) from slice'
is $status 3 'an empty capture: status 3'
gzip -dc $S/qd1.pftrace.gz >"$tmp/whole.pftrace"
head -c 20000 "$tmp/whole.pftrace" >"$tmp/cut.pftrace"
sql "$tmp/cut.pftrace" 'select count(*) > 50 from slice'
is $status 3 'a cut trace: status 3'
like "$text" 'ends in the middle of a packet' 'it is said'
like "$text" '^ *1$' 'and what was before the cut is answered'
head -c 5000 $S/qd1.pftrace.gz >"$tmp/cut.gz"
sql "$tmp/cut.gz" 'select 1'
is $status 3 'a cut compressed trace: status 3'
{ head -c 9000 "$tmp/whole.pftrace"; perl -e 'srand 7; print map { chr int rand 256 } 1 .. 2000'; } >"$tmp/damaged.pftrace"
sql "$tmp/damaged.pftrace" 'select 1'
is $status 3 'a damaged trace: status 3'
"$KVIO" perfetto -q $D/missing-cmp/ebpf.jsonl $D/missing-cmp/sem.jsonl -o "$tmp/lossy.pftrace" >/dev/null 2>&1
sql "$tmp/lossy.pftrace" 'select 1'
is $status 3 'the trace of a lossy capture: status 3'
printf '\012\200\200\200\200\004' >"$tmp/huge.pftrace"
sql "$tmp/huge.pftrace" 'select 1'
is $status 1 'a packet without an end is no trace'

# --- how it fails ---
fails() { # STATUS PATTERN DESCRIPTION ARGUMENTS...
	want=$1 pattern=$2 what=$3
	shift 3
	sql "$@"
	is $status "$want" "$what: status $want"
	like "$text" "$pattern" "$what: says why"
}
fails 2 'name a capture' 'no input'
fails 2 'exclude each other' 'two formats' --json --csv $S/errors.jsonl 'select 1'
fails 2 'queried alone' 'a trace among others' $S/qd1.pftrace.gz $D/qd1/ebpf.jsonl 'select 1'
fails 2 "two captures have the label" 'equal labels' --arm a=$S/errors.jsonl --arm a=$S/errors.jsonl 'select 1'
fails 2 'is not LABEL=FILE' 'an arm without a label' --arm $S/errors.jsonl 'select 1'
fails 1 'cannot read .*missing' 'a missing file' "$tmp/missing" 'select 1'
fails 1 'no trace and no capture' 'a file of another kind' tests/tap.sh 'select 1'
fails 1 "^kvio sql: near \"selec\": syntax error, at 'selec'" 'a mistake in the query' $S/errors.jsonl 'selec 1'
fails 1 "no such column: lat, at 'lat'" 'an unknown column' $S/errors.jsonl 'select op, lat from cmd'
fails 1 'no arg_set_id' 'a wrong argument' $S/errors.jsonl "select extract_arg('x', 'y')"
fails 1 'from 0 to 100' 'a wrong percentile' $S/errors.jsonl 'select percentile(lat_ns, 101) from cmd'
if [ -w /dev/full ]; then
	"$KVIO" sql $S/errors.jsonl 'select * from cmd' >/dev/full 2>"$tmp/err"
	is $? 1 'a full disk is an error'
fi
bounded "$KVIO" sql $S/errors.jsonl 'with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n' >/dev/null 2>"$tmp/err" &
pid=$!
interrupt $pid
wait $pid
is "$? $(cat "$tmp/err")" '1 kvio sql: the query was interrupted' 'Ctrl-C ends a query'
text=$("$KVIO" sql --help)
is "$(echo "$text" | awk 'length > 80' | wc -l)" 0 'help is under 80 columns'

done_testing
