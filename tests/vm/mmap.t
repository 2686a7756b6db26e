#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page fault tracer on real kernels; what the kernel counted for the program, mincore and fio are the witnesses.
cd "$(dirname "$0")/../.." || exit 1
. tests/vm/lib.sh

truth() { # NAME FILTER
	jq -r "$2" "$dir/$1.truth"
}
# The last sums of the mapped file.
file_of() { # NAME COLUMNS
	sql "$1" "select $2 from cache where last and path = '/mnt/file'"
}

run() { # KERNEL
	guest "$1" mmap.sh --in "${B:-build}/tests/faults" || return
	for name in seq rand advised direct; do
		is "$(file_of $name 'minor >= 0, major')" "1,$(truth $name .major)" "$k $name: major faults are the kernel's"
		is "$(sql $name "select count(*), sum(major) from fault where path = '/mnt/file'")" "$(file_of $name 'faults, nullif(major, 0)')" \
			"$k $name: as many records as in the sums"
		is "$(file_of $name 'fill_pages')" "$(truth $name .resident)" "$k $name: pages that came in are those that are there"
		is "$(file_of $name "touched_pages <= $(truth $name .distinct) and mapped_pages >= $(truth $name .distinct)")" 1 \
			"$k $name: the footprint lies between its bounds"
		is "$(of $name block_reads) $(of $name block_read_bytes)" "$(of $name reads) $(of $name read_bytes)" \
			"$k $name: block requests are the commands of the drive"
		is "$(jq -c '[.witnesses[] | .seen == .stored + .filtered and .ring_full + .map_full + .hook_missed + .unread == 0]' "$dir/$name.json")" \
			'[true,true]' "$k $name: adds up, nothing lost"
	done
	for name in seq rand advised; do
		is "$(file_of $name minor)" "$(truth $name .minor)" "$k $name: minor faults are the kernel's"
		is "$(of $name block_read_bytes)" "$(($(truth $name .resident) * 4096))" "$k $name: what came in is what the drive gave"
	done
	is "$(file_of seq 'ra_pages = fill_pages, ra_calls > 0')" '1,1' "$k seq: all of it by readahead"
	is "$(file_of advised 'faults, touched_pages, mapped_pages, ra_calls')" \
		"$(truth advised '"\(.distinct),\(.distinct),\(.distinct),0"')" "$k advised: exact, without readahead"
	is "$(file_of rand 'retries > 0')" 1 "$k rand: attempts that were made again are no faults"
	is "$(file_of direct 'direct_reads, direct_read_bytes, touched_pages, fill_pages')" \
		"$(truth direct '"\(.count),\(.count * 8192),\(.distinct),0"')" "$k direct: calls, bytes, pages"
	is "$(file_of sigbus 'failed, major') $(truth sigbus .caught)" '509,0 509' "$k sigbus: failed faults are told apart"
	is "$(file_of exact 'touched_pages, mapped_pages')" "$(truth exact '"\(.distinct),\(.distinct)"')" \
		"$k --exact-pages: the footprint is exact"
	is "$(cat "$dir/fault_around.exact" "$dir/fault_around.after" | xargs)" "4096 $(cat "$dir/fault_around")" \
		"$k --exact-pages: fault-around is off meanwhile, and as it was after"
	# By its size: dd may be gone before its file has a name.
	is "$(sql made "select fill_pages, written_pages from cache where last and written_pages in (128, 256) order by 1")" \
		'128,128 256,256' "$k: pages that writes made did not come in"
	is "$(file_of fio 'touched_pages * 4096')" "$(fio_of fio read.io_bytes)" "$k fio mmap: the pages are fio's bytes"
	is "$(sql disk "select faults > 0, fill_pages >= 256 from cache where last and path = '/dev/nvme0n1'")" 1,1 \
		"$k: the page cache of a device has the device's name"
	is "$(sql raw "select faults, fill_pages >= 256 from cache where last and path = '/dev/nvme0n1'")" 0,1 \
		"$k: also when it is read only"
}

run 6.1
long 6.12 && run 6.12
done_testing
