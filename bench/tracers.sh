#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What being traced costs a program, as a ratio to the same program untraced in
# the same run, beside perf and strace, and beside the floor: programs that
# return at once, on the same hooks.
#   bench/tracers.sh [BUILD-DIRECTORY]; needs root
cd "$(dirname "$0")/.." || exit 1
B=${1:-build}
kvio=$B/kvio
rounds=${KVIO_BENCH_ROUNDS:-5}
[ "$(id -u)" = 0 ] || { echo 'tracers: skipped: tracing needs root'; exit 0; }
dir=$(mktemp -d "$B/tracers.XXXXXX") && dir=$(realpath "$dir") || exit 1
trap 'rm -rf "$dir"' EXIT
"$kvio" record syscall -q -o "$dir/x.kvt" -- true 2>"$dir/err" || { echo "tracers: skipped: $(head -n 1 "$dir/err")"; exit 0; }

# seconds COMMAND...: what dd says that it took, when it is what runs inside
seconds() {
	LC_ALL=C "$@" 2>&1 | sed -n 's/.*copied, \([0-9.e-]*\) s.*/\1/p'
}
least() {
	sort -g "$1" | head -n 1
}
most() {
	sort -g "$1" | tail -n 1
}
ratio() { # A B
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'
}
row() {
	printf '%-48s %10s %10s %8s  %s\n' "$@"
}

echo "$(uname -m), $(nproc) cores, kernel $(uname -r); load $(cut -d' ' -f1-3 /proc/loadavg)"
row 'dd if=/dev/zero of=/dev/null bs=512' 'plain s' 'traced s' ratio 'recorded'
n=1000000
for _ in $(seq "$rounds"); do
	seconds dd if=/dev/zero of=/dev/null bs=512 count=$n >>"$dir/plain"
	seconds "$B/bench/floor" syscall dd if=/dev/zero of=/dev/null bs=512 count=$n >>"$dir/floor"
	seconds "$kvio" record syscall -q -o "$dir/dd.kvt" -- dd if=/dev/zero of=/dev/null bs=512 count=$n >>"$dir/kvio"
	"$kvio" sql --csv "$dir/dd.kvt" "select count(*) from syscall where name in ('read', 'write') and size = 512" 2>/dev/null |
		tail -n 1 | tr -d '\r' >>"$dir/count"
done
row "kvio record syscall, $n" "$(least "$dir/plain")" "$(least "$dir/kvio")" "$(ratio "$(least "$dir/kvio")" "$(least "$dir/plain")")" \
	"$(least "$dir/count") of $((2 * n)), the least of $rounds runs"
row 'programs that return at once' "$(least "$dir/plain")" "$(least "$dir/floor")" "$(ratio "$(least "$dir/floor")" "$(least "$dir/plain")")"

n=100000
peer() { # NAME COMMAND...
	name=$1
	shift
	rm -f "$dir/plain" "$dir/peer"
	for _ in 1 2; do
		seconds dd if=/dev/zero of=/dev/null bs=512 count=$n >>"$dir/plain"
		seconds "$@" dd if=/dev/zero of=/dev/null bs=512 count=$n >>"$dir/peer"
	done
	if [ -s "$dir/peer" ]; then
		row "$name, $n" "$(least "$dir/plain")" "$(least "$dir/peer")" "$(ratio "$(least "$dir/peer")" "$(least "$dir/plain")")" ''
	else
		echo "$name: skipped: it does not run here"
	fi
}
if command -v perf >/dev/null; then
	peer 'perf trace -e read,write -o FILE' perf trace -e read,write -o "$dir/perf.txt"
else
	echo 'perf trace: skipped: not installed'
fi
if command -v strace >/dev/null; then
	peer 'strace -e trace=read,write -o FILE' strace -e trace=read,write -o "$dir/strace"
else
	echo 'strace: skipped: not installed'
fi

# Each job as it is, recorded, with the floor and under perf, by turns.
job="fio --name=a --filename=$dir/file --size=64M --ioengine=io_uring --rw=randread --bs=4k --time_based
	--runtime=1500ms --output-format=json"
iops() { # FILE COMMAND...: one run, its reads a second to FILE
	out=$1
	shift
	"$@" --output="$dir/run.fio" >"$dir/u.json" 2>/dev/null
	jq '.jobs[0].read.iops' "$dir/run.fio" >>"$out"
}
iouring() { # WHO COMMAND...: one run of $job $how
	who=$1
	shift
	iops "$dir/$who" "$@" $job $how
}
one() {
	case $1 in
	plain) iouring plain ;;
	floor) iouring floor "$B/bench/floor" iouring ;;
	perf) iouring perf perf record -q -e io_uring:io_uring_submit_req,io_uring:io_uring_complete -o "$dir/perf.data" -- ;;
	kvio)
		iouring kvio "$kvio" record iouring --json -o "$dir/u.kvt" --
		jq '.ring_full + .map_full + .hook_missed' "$dir/u.json" >>"$dir/lost"
		;;
	esac
}
middle() { # FILE OF NUMBERS
	sort -g "$1" | sed -n "$((($(wc -l <"$1") + 1) / 2))p"
}
ratios() { # WHO TEXT: the row of one, against the plain run of the same round
	paste "$dir/$1" "$dir/plain" | awk '{ printf "%.3f\n", $1 / $2 }' >"$dir/ratios"
	row "$2" "$(middle "$dir/plain" | cut -d. -f1)" "$(middle "$dir/$1" | cut -d. -f1)" "$(middle "$dir/ratios")" \
		"$(least "$dir/ratios") to $(most "$dir/ratios")$3"
}
compare() { # TEXT FIO-OPTIONS...
	text=$1
	shift
	how=$* whose="plain kvio floor $perf"
	rm -f "$dir/plain" "$dir/kvio" "$dir/floor" "$dir/perf" "$dir/lost"
	# What runs first has no advantage: each round begins with the next.
	for _ in $(seq $((2 * rounds))); do
		for who in $whose; do
			one "$who"
		done
		whose="${whose#* } ${whose%% *}"
	done
	row "fio io_uring 4k randread, $text" 'plain IOPS' 'traced' ratio 'of medians; ratios of the rounds'
	ratios kvio 'kvio record iouring' "; lost at most $(most "$dir/lost")"
	ratios floor 'programs that return at once'
	[ ! -s "$dir/perf" ] || ratios perf 'perf record -e submit_req,complete'
}
if command -v fio >/dev/null; then
	echo
	perf=
	! perf list 2>/dev/null | grep -q io_uring:io_uring_submit_req || perf=perf
	$job --rw=write --runtime=1 >/dev/null 2>&1
	compare 'direct, depth 1' --direct=1 --iodepth=1
	compare 'direct, depth 32' --direct=1 --iodepth=32
	# Without --invalidate=0 fio empties the page cache first, and again after each turn through the file.
	cat "$dir/file" >/dev/null
	compare 'page cache, depth 32' --direct=0 --invalidate=0 --iodepth=32
fi

# What one event costs in the kernel (run time of the programs by their runs, as the kernel counts it), and what
# reaches the file in a second; the best of the rounds.
cost() { # WHAT UNIT OPTIONS... -- PROGRAM...: a row
	what=$1 events=$2
	shift 2
	rm -f "$dir/ns" "$dir/rate" "$dir/lost"
	for _ in $(seq "$rounds"); do
		"$kvio" record "$@" >"$dir/cost.json" 2>"$dir/cost.log" || { echo "$what: skipped: $(head -n 1 "$dir/cost.log")"; return; }
		# All programs of one kind of event, by the number of events that they saw.
		seen=$(jq .seen "$dir/cost.json")
		sed -n -e "/touch_ring/d" -e 's/.*: \([0-9]*\) runs, \([0-9]*\) ns each/\1 \2/p' "$dir/cost.log" |
			awk -v seen="$seen" '{ ns += $1 * $2 } END { if (seen) printf "%.0f\n", ns / seen }' >>"$dir/ns"
		jq -r '.stored / (.ended_ns - .started_ns) * 1e9 | floor' "$dir/cost.json" >>"$dir/rate"
		jq '.ring_full + .map_full + .hook_missed' "$dir/cost.json" >>"$dir/lost"
	done
	row "$what" "$events" "$(least "$dir/ns")" "$(most "$dir/rate")" "lost at most $(most "$dir/lost")"
}
echo
old=$(cat /proc/sys/kernel/bpf_stats_enabled 2>/dev/null)
if echo 1 2>/dev/null >/proc/sys/kernel/bpf_stats_enabled; then
	trap 'echo "$old" >/proc/sys/kernel/bpf_stats_enabled; rm -rf "$dir"' EXIT
	row 'cost (kernel.bpf_stats_enabled=1)' 'event' 'ns each' 'stored/s' ''
	dd="-- dd if=/dev/zero of=/dev/null bs=512 count=300000"
	to="--json -v -o $dir/cost.kvt"
	cost 'syscall' call syscall $to $dd
	cost 'syscall --path /dev/zero: one in two' call syscall $to --path /dev/zero $dd
	cost 'syscall --op read: one in two' call syscall $to --op read $dd
	cost 'syscall --min-size 1k: all but some filtered' call syscall $to --min-size 1k $dd
	cost 'syscall --comm other: all filtered' call syscall $to --comm other $dd
	if [ -s "$dir/file" ]; then
		fio="-- $job --direct=0 --invalidate=0 --iodepth=32 --runtime=1 --output=$dir/cost.fio"
		cost 'iouring, page cache' request iouring $to $fio
		cost 'iouring --path FILE' request iouring $to --path "$dir/file" $fio
		cost 'iouring --op write: all filtered' request iouring $to --op write $fio
	fi
	if [ -x "$B/tests/faults" ]; then
		head -c 256M /dev/zero >"$dir/mapped"
		# Mapped afresh each time: the kernel maps 16 pages around a fault.
		printf 'for i in 1 2 3 4 5 6 7 8; do %s %s warm-advised 100000 >/dev/null; done\n' "$B/tests/faults" "$dir/mapped" >"$dir/touch.sh"
		touch="-- sh $dir/touch.sh"
		cost 'mmap, page cache' fault mmap $to $touch
		cost 'mmap --stream' fault mmap --stream $to $touch
		cost 'mmap --comm other: all filtered' fault mmap --comm other $to $touch
	fi
	disk=$(ls -d /sys/class/nvme/nvme*/nvme*n* 2>/dev/null | head -n 1)
	if [ -n "$disk" ]; then
		read="-- fio --name=n --filename=/dev/${disk##*/} --readonly --direct=1 --ioengine=io_uring --rw=randread --bs=4k
			--iodepth=32 --time_based --runtime=2 --output=$dir/cost.fio"
		cost 'nvme' command nvme $to $read
		cost 'nvme --min-size 8k: all filtered' command nvme $to --min-size 8k $read
	else
		echo 'nvme: skipped: no drive here (in the VM: see docs/recording.md)'
	fi
else
	echo 'cost: skipped: /proc/sys/kernel/bpf_stats_enabled cannot be written'
fi
