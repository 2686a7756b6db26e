#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page fault tracer on this machine's own kernel; what the kernel counted for the program is the witness.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
B=${B:-build}
[ "$(id -u)" = 0 ] || skip_all "tracing needs root"
dir=$(mktemp -d -p "$B") || exit 1
dir=$PWD/$dir
case $B in /*) dir=${dir#"$PWD/"} ;; esac
trap 'rm -rf "$dir"' EXIT
"$KVIO" record mmap -q -o "$dir/probe.kvt" -- true 2>"$dir/err" || skip_all "this kernel takes no tracer: $(head -n 1 "$dir/err")"
! grep -q 'faults: off' "$dir/err" || skip_all "this kernel shows no page faults: $(grep 'faults: off' "$dir/err")"

dd if=/dev/urandom of="$dir/file" bs=1M count=32 2>/dev/null
sync "$dir/file"
ino=$(stat -c %i "$dir/file")
holds() { # NAME FILTER
	jq -e "$2" "$dir/$1.json" >/dev/null
}
rec() { # WAY COUNT OPTIONS...
	name=$1
	way=$1
	count=$2
	shift 2
	"$KVIO" record mmap --stream --json -o "$dir/$name.kvt" "$@" -- "$B/tests/faults" "$dir/file" "$way" "$count" \
		>"$dir/$name.out" 2>"$dir/$name.err"
	rc=$?
	head -n 1 "$dir/$name.out" >"$dir/$name.truth"
	tail -n 1 "$dir/$name.out" >"$dir/$name.json"
	"$KVIO" cat -q "$dir/$name.kvt" >"$dir/$name.jsonl" 2>/dev/null
	ok "$name: adds up, nothing lost" holds "$name" \
		'.seen == .stored + .filtered and .ring_full + .map_full + .hook_missed + .unread + .in_flight == 0'
}
# The last sums of the file.
sums() { # NAME FILTER
	jq -rs "[.[] | select(.event_type == \"cache\" and .ino == $ino)] | last | $2" "$dir/$1.jsonl"
}
truth() { # NAME FILTER
	jq -r "$2" "$dir/$1.truth"
}
faults() { # NAME FILTER
	jq -rs "[.[] | select(.event_type == \"fault\" and .ino == $ino)] | $2" "$dir/$1.jsonl"
}
# As many pages came in as are there and as left, and some of them again: others may want the memory (seen here: DAMON).
came_in() { # NAME PAGES: these, when that fits
	truth "$1" "(.resident + .evicted) as \$once | if $2 >= \$once and $2 <= \$once + .again then $2 else \$once end"
}
for one in 'seq 5003' 'rand 2003' 'advised 1009' 'write 503'; do
	# shellcheck disable=SC2086
	rec $one
	is "$rc $(sums "$name" '"\(.minor) \(.major)"')" "0 $(truth "$name" '"\(.minor) \(.major)"')" "$name: minor and major are rusage's"
	is "$(sums "$name" '"\(.faults) \(.major)"')" "$(faults "$name" '"\(length) \([.[] | select(.major)] | length)"')" \
		"$name: as many records as are in the sums"
	n=$(sums "$name" .fill_pages)
	is "$n" "$(came_in "$name" "$n")" "$name: pages that came in are those that are there"
	is "$(sums "$name" ".touched_pages <= $(truth "$name" .distinct) and .mapped_pages >= $(truth "$name" .distinct)")" true \
		"$name: the footprint lies between its bounds"
	is "$(faults "$name" '[.[] | .offset] | unique | length')" "$(sums "$name" .touched_pages)" "$name: offsets are of different pages"
done
is "$(sums advised '"\(.faults) \(.touched_pages) \(.ra_calls)"')" "$(truth advised '"\(.major) \(.distinct) 0"')" \
	'without readahead each page that is used has a major fault'
# A window of readahead may be larger than the file.
head -c 69632 /dev/zero >"$dir/small"
sync "$dir/small"
"$KVIO" record mmap -q -o "$dir/small.kvt" -- "$B/tests/faults" "$dir/small" seq 17 >"$dir/small.out" 2>"$dir/small.err"
is "$("$KVIO" cat -q "$dir/small.kvt" | jq -rs '[.[] | select(.event_type == "cache" and (.path // "" | endswith("/small")))] | last |
	"\(.fill_pages) \(.ra_pages > 0 and .ra_pages <= 17)"')" '17 true' 'readahead of a small file: no more than it has'
# What --path leaves out is filtered, be it in sums: all that is kept is of that file, or requests of devices.
"$KVIO" record mmap --path "$dir/small" --json -o "$dir/path.kvt" -- sh -c 'cat "$1/small" "$1/file" >/dev/null
	dd if="$1/file" of=/dev/null bs=64k count=4 iflag=direct 2>/dev/null' - "$dir" >"$dir/path.json" 2>"$dir/path.err"
ok 'path: what is stored is what is told of' holds path \
	'.stored == .faults + .fills + .readaheads + .direct_reads + .direct_writes + .block_reads + .block_writes'
ok 'path: and it adds up' holds path '.seen == .stored + .filtered and .filtered >= 4 and .unread == 0'
is "$(faults write '[.[] | select(.write)] | length')" "$(truth write .distinct)" 'write: by a write, each page once'
is "$(faults rand '[.[] | .path] | unique | join(" ")') $(sums rand .path)" "$dir/file $dir/file" 'the file has its path'
rec direct 211
is "$(sums direct '"\(.direct_reads) \(.direct_read_bytes) \(.touched_pages)"')" "$(truth direct '"\(.count) \(.count * 8192) \(.distinct)"')" \
	'direct: calls, bytes and pages'
is "$(sums direct '.fill_pages')" 0 'direct: nothing came into the page cache'
rec read 1000
n=$(sums read .fill_pages)
is "$(sums read .faults) $n" "0 $(came_in read "$n")" 'read: no fault, pages of the page cache'
ok 'block requests carried what came in' holds read '.block_read_bytes >= .fill_pages * .page_bytes - 1048576'

# --- by the older name: tables, each file one row; what calls asked for, and no other program
"$B/mmap_readamp" --json --useful-bytes 1000 -- "$B/tests/faults" "$dir/file" rand 2003 >"$dir/older.out" 2>"$dir/err"
is $? 0 'mmap_readamp: runs the program'
head -n 1 "$dir/older.out" >"$dir/older.truth"
tail -n +2 "$dir/older.out" >"$dir/older.json"
older() { # FILTER
	jq -r "$1" "$dir/older.json"
}
is "$(older ".faults[] | select(.ino == $ino) | \"\(.minor) \(.major) \(.path)\"")" "$(truth older '"\(.minor) \(.major)"') $dir/file" \
	"... one row of the file, with rusage's faults and its path"
n=$(older ".page_faults.files[] | select(.ino == $ino) | .fill_pages")
is "$n $(older "[.page_faults.files[] | select(.ino == $ino) | (.touched_pages <= $(truth older .distinct)), (.mapped_pages >= $(truth older .distinct))] | join(\" \")")" \
	"$(came_in older "$n") true true" '... what came in, and a footprint between its bounds'
is "$(older '[.faults[].tgid] | unique | length') $(older '.account | .seen == .stored + .filtered')" '1 true' '... of that program alone, and it adds up'
is "$(older '.page_faults.amplification.all | "\(.whole_bytes) \(.part_bytes > 0)"')" '1000 true' '... the ratio of what it had use for'
"$B/mmap_readamp" -q -- "$B/tests/faults" "$dir/file" direct 211 >"$dir/older.out"
is "$(awk -v f=":$ino $dir/file" '/^intent/ { on = 1 } /^O_DIRECT/ { on = 2 } /^block/ { on = 0 }
	on && substr($0, length($0) - length(f) + 1) == f { print $1, $2, $3 }' "$dir/older.out" | paste -sd, | cut -d' ' -f1-6)" \
	"R 211 $((211 * 8192)),211 1.729 8192" '... calls, and direct IO, in one row each'
like "$(cat "$dir/older.out")" 'events: seen [0-9]+, stored [0-9]+, filtered [0-9]+, lost 0' '... with the account'
"$B/mmap_readamp" -q -o "$dir/older.kvt" -- "$B/tests/faults" "$dir/file" read 100 >"$dir/older.out"
is "$("$KVIO" sql --csv "$dir/older.kvt" "select count(*), sum(size) from syscall where path = '$dir/file' and name = 'pread64'" | tail -n 1 | tr -d '\r')" \
	"100,$((100 * 4096))" '... -o makes a capture with the calls'

# --- what writes add to the page cache did not come in
# One page, so that the one written is the one that came in last.
dd if=/dev/urandom of="$dir/small" bs=4k count=1 conv=fsync 2>/dev/null
dd of="$dir/small" oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null
"$KVIO" record mmap,syscall -q -o "$dir/made.kvt" -- sh -c '
	dd if=/dev/zero of="$1/made" bs=64k count=16
	dd if="$1/small" of="$1/small" bs=4k count=1 conv=notrunc
	fio --name=u --filename="$1/uring" --size=512k --bs=16k --rw=write --ioengine=io_uring --fallocate=none' sh "$dir" >"$dir/made.out" 2>&1
made() { # NAME
	"$KVIO" sql --csv "$dir/made.kvt" "select fill_pages, written_pages from cache where last and path = '$dir/$1'" | tail -n +2 | tr -d '\r'
}
is "$(made made)" 256,256 'a file that is written anew: no page came in'
is "$(made uring)" 128,128 '... through io_uring neither'
is "$(made small)" 1,0 'a page that is read, then written: it came in'
is "$("$KVIO" report --json "$dir/made.kvt" | jq -c '.[].bytes_by_layer.page_cache | [.write_bytes >= 1572864, .read_bytes < 16777216]')" '[true,true]' \
	'... and where the bytes went tells both'

# --- without --stream: the same sums, no record of each
"$KVIO" record mmap -q -o "$dir/sums.kvt" -- "$B/tests/faults" "$dir/file" rand 2003 >"$dir/sums.truth"
"$KVIO" cat -q "$dir/sums.kvt" >"$dir/sums.jsonl"
is "$(faults sums length) $(sums sums '"\(.minor) \(.major)"')" "0 $(truth sums '"\(.minor) \(.major)"')" 'sums only'

# --- JSONL and back is the same file
"$KVIO" cat -q "$dir/rand.kvt" -o "$dir/a.jsonl" && "$KVIO" cat -q "$dir/a.jsonl" -o "$dir/b.kvt"
ok 'lossless through JSONL' cmp "$dir/rand.kvt" "$dir/b.kvt"

# --- two threads that meet in the same pages; their stacks have faults as well
rec threads 1511
is "$(sums threads "(.major == $(truth threads .major)) and .faults <= $(truth threads '.minor + .major') and .mapped_pages >= 1511")" true \
	'threads: no more faults than the kernel counted'

# --- the mapping of a fault is found while another thread changes others
rec beside 5003
is "$(sums beside '"\(.minor) \(.major)"')" "$(truth beside '"\(.minor) \(.major)"')" 'memory that is mapped meanwhile costs no fault'

# --- a fault that maps a huge page
mkdir "$dir/mnt"
# shellcheck disable=SC2016
"$KVIO" record mmap -q -o "$dir/huge.kvt" -- unshare -m sh -c 'mount -t tmpfs -o huge=always,size=64M none "$1/mnt" &&
	head -c 8M /dev/zero >"$1/mnt/huge" && "$2" "$1/mnt/huge" warm-seq 2048' sh "$dir" "$B/tests/faults" >"$dir/huge.truth"
is "$(truth huge .distinct) $("$KVIO" sql --csv "$dir/huge.kvt" \
	"select ifnull(mapped_pages, 2048) from cache where last and faults and path like '%/mnt/huge'" | tail -n 1 | tr -d '\r')" \
	'2048 2048' 'no fewer pages can have been used than were'

# --- overload adds up: the recorder stands still
cat >"$dir/stopped.sh" <<'E'
kill -STOP "$PPID"
"$1" "$2" warm-write 60000
kill -"$3" "$PPID"
kill -CONT "$PPID"
[ "$3" = CONT ] || sleep 5
E
stopped() { # NAME SIGNAL OPTIONS...
	name=$1
	signal=$2
	shift 2
	"$KVIO" record mmap --stream --json -o "$dir/$name.kvt" "$@" -- sh "$dir/stopped.sh" "$B/tests/faults" "$dir/file" "$signal" \
		>"$dir/$name.out" 2>"$dir/$name.err"
	grep '"count"' "$dir/$name.out" >"$dir/$name.truth"
	grep '"record_summary"' "$dir/$name.out" >"$dir/$name.json"
	"$KVIO" cat -q "$dir/$name.kvt" >"$dir/$name.jsonl" 2>/dev/null
}
stopped full CONT --ring 64k
ok 'overload: loss is counted, and it adds up' holds full '.ring_full > 1000 and .seen == .stored + .filtered + .ring_full + .map_full'
is "$(jq -s '[.[] | select(.event_type == "fault")] | length' "$dir/full.jsonl") $(sums full .incomplete)" "$(jq .faults "$dir/full.json") true" \
	'... and the sums say that they are not whole'
# A file without data: the page cache has each page of it alone, and each has a fault.
rm "$dir/file"
truncate -s 104M "$dir/file"
ino=$(stat -c %i "$dir/file")
stopped term TERM
is "$(faults term length) $(jq .ended_by "$dir/term.json")" "$(truth term '.minor + .major') \"signal\"" 'SIGTERM with 20,000 pending records loses none'
ok '... so many there were' holds term '.faults > 20000'

# --- usage
"$KVIO" record nvme --stream -o "$dir/x.kvt" -- true 2>"$dir/err"
is $? 2 '--stream without mmap is refused'
done_testing
