#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The KV engine beside fio's on the same target in the same run, at the same depth: commands a second and what the
# processor works for one.  They take turns; of commands a second the median of the rounds counts, of CPU the least.
#   bench/engine.sh [BUILD-DIRECTORY]       on a file here, io_uring and O_DIRECT
#   bench/engine.sh vm [BUILD-DIRECTORY]    on /dev/ng0n1 in the VM, NVMe passthrough; takes two minutes
# KVIO_BENCH_ROUNDS (5)
rounds=${KVIO_BENCH_ROUNDS:-5}
depth=32

# rounds_of DIR SIZE-MB KVIO-TARGET... : results as DIR/(kvio|fio).BLOCK.ROUND; fio's options are in $fio.
rounds_of() {
	dir=$1 mb=$2
	shift 2
	for block in 4k 128k; do
		# As much as takes a while: a round is of thousands of commands.
		[ $block = 4k ] && n=$((mb / 4)) || n=$mb
		for round in $(seq "$rounds"); do
			# With its header an object is a slot of 1 MiB, so fio finds the same bytes at the same place.
			kvio probe -q --json --object-bytes 1020k --nobj $n --mdts-bytes $block --workers $depth --reps 1 "$@" \
				>"$dir/kvio.$block.$round" || return 1
			$fio --name=a --rw=read --bs=$block --iodepth=$depth --offset=1M --size=${n}M --output-format=json \
				--output="$dir/fio.$block.$round" >/dev/null || return 1
		done
	done
}

if [ "$1" = guest ]; then
	# Where the kernel takes what makes fio faster, it has it.
	fio='fio --ioengine=io_uring_cmd --cmd_type=nvme --filename=/dev/ng0n1'
	for option in --fixedbufs=1 --registerfiles=1; do
		$fio $option --name=try --rw=read --bs=4k --size=64k >/dev/null 2>&1 && fio="$fio $option"
	done
	echo "$fio" >/out/fio
	rounds=$2
	rounds_of /out 512 --device /dev/ng0n1 --yes-destroy-data=ng0n1
	exit
fi

cd "$(dirname "$0")/.." || exit 1
vm=
[ "$1" != vm ] || { vm=yes && shift; }
B=${1:-build}
command -v fio >/dev/null || { echo 'engine: skipped: no fio'; exit 0; }
dir=$(mktemp -d "$B/engine.XXXXXX") && dir=$(realpath "$dir") || exit 1
trap 'rm -rf "$dir"' EXIT
PATH=$(realpath "$B"):$PATH
if [ -n "$vm" ]; then
	where='/dev/ng0n1, uring_cmd'
	KVIO=$B/kvio vm/run --kernel "${KVIO_BENCH_KERNEL:-6.12}" --nvme 2G --timeout 500 --in bench/engine.sh --out "$dir" \
		-- sh /in/engine.sh guest "$rounds" >"$dir/log" 2>&1
	[ $? != 77 ] || { echo "engine: skipped: $(tail -n 1 "$dir/log")"; exit 0; }
else
	where='file, io_uring, O_DIRECT'
	fio="fio --ioengine=io_uring --filename=$dir/file --direct=1 --fixedbufs=1 --registerfiles=1 --nonvectored=1"
	rounds_of "$dir" 512 --device "$dir/file" --capacity-bytes 1G 2>"$dir/log"
fi
[ -s "$dir/fio.128k.$rounds" ] || { echo "engine: failed: $(tail -n 1 "$dir/log")"; exit 1; }

least() { # FILE
	sort -g "$1" | head -n 1
}
median() { # FILE
	sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
row() {
	printf '%-34s %11s %11s %7s %15s %11s\n' "$@"
}
echo "$(uname -m), $(nproc) cores; load $(cut -d' ' -f1-3 /proc/loadavg); $rounds rounds, $depth in flight"
row "$where" 'kvio cmd/s' 'fio cmd/s' ratio 'kvio us CPU/cmd' 'fio us'
for block in 4k 128k; do
	for round in $(seq "$rounds"); do
		jq -r '.rows[0] | .commands / .best_ns * 1e9' "$dir/kvio.$block.$round" >>"$dir/kvio.iops"
		jq -r '.rows[0] | .cpu_ns / .commands / 1e3' "$dir/kvio.$block.$round" >>"$dir/kvio.cpu"
		sed -n '/^{/,$p' "$dir/fio.$block.$round" >"$dir/json"
		jq -r '.jobs[0].read.iops' "$dir/json" >>"$dir/fio.iops"
		jq -r '.jobs[0] | (.usr_cpu + .sys_cpu) / 100 * .job_runtime * 1e3 / .read.total_ios' "$dir/json" >>"$dir/fio.cpu"
		[ "$(jq '.rows[0].most_in_flight' "$dir/kvio.$block.$round")" = $depth ] || echo "engine: kvio was not as deep as $depth"
	done
	paste "$dir/kvio.iops" "$dir/fio.iops" | awk '{ print $1 / $2 }' >"$dir/ratio"
	row "read, $block" "$(median "$dir/kvio.iops" | cut -d. -f1)" "$(median "$dir/fio.iops" | cut -d. -f1)" \
		"$(median "$dir/ratio" | xargs printf '%.2f')" "$(least "$dir/kvio.cpu" | xargs printf '%.2f')" \
		"$(least "$dir/fio.cpu" | xargs printf '%.2f')"
	rm -f "$dir/kvio.iops" "$dir/fio.iops" "$dir/kvio.cpu" "$dir/fio.cpu"
done
