#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The passthrough tracer against workloads of known size, on real kernels.
# fio's own counts are the independent witness.
cd "$(dirname "$0")/../.." || exit 1
. tests/vm/lib.sh

# lines NAME FILTER: how many JSONL lines pass a jq filter.
lines() {
	jq -c "select($2)" "$dir/$1.jsonl" | wc -l
}
conserved() { # NAME
	jq -e '.seen == .stored + .in_flight + .ring_full + .map_full + .unread + .filtered' "$dir/$1.json" >/dev/null
}

compare_with_fio() { # NAME
	is "$(cat "$dir/$1.rc")" 0 "$k $1: exit status of fio is passed on"
	is "$(of $1 reads) $(of $1 writes)" "$(fio_of $1 read.total_ios) $(fio_of $1 write.total_ios)" \
		"$k $1: commands are fio's"
	is "$(of $1 read_bytes) $(of $1 write_bytes)" "$(fio_of $1 read.io_bytes) $(fio_of $1 write.io_bytes)" \
		"$k $1: bytes are fio's"
	is "$(of $1 lat_n)" $(($(of $1 reads) + $(of $1 writes))) "$k $1: a completion for each command"
	ok "$k $1: adds up, nothing lost" quiet $1
}

counts() {
	compare_with_fio counts
	is "$(of counts reads) $(of counts writes)" '509 251' "$k: the numbers asked for, primes"
	compare_with_fio mixed
	zstd -dcq "$dir/mixed.jsonl.zst" >"$dir/mixed.jsonl"
	is "$(lines mixed '.event_type == "nvme_cmd"') $(lines mixed '.event_type == "nvme_cmp"')" '408 408' \
		"$k: JSONL has a line for each command and each completion"
	is "$(jq -s '[.[] | select(.event_type == "nvme_cmd") | .bytes] | add' "$dir/mixed.jsonl")" \
		$(($(of mixed read_bytes) + $(of mixed write_bytes))) "$k: bytes in JSONL are the same"
	is "$(lines mixed '.event_type == "nvme_cmd" and .disk == "nvme0n1" and .comm == "fio" and .user_data > 0')" 408 \
		"$k: with user_data, disk and thread"
	is "$(tail -n 1 "$dir/mixed.jsonl")" '{"event_type":"drops","dropped":0}' "$k: JSONL ends with drops"
	is "$(stat -c %a "$dir/counts.kvt" "$dir/mixed.jsonl.zst" "$dir/eagain.jsonl" | sort -u)" 600 "$k: captures are private"
}

eagain() {
	is "$(lines eagain '.event_type == "nvme_cmd"') $(of eagain reads) $(of eagain failed)" "509 509 0" \
		"$k EAGAIN: each command once"
	is "$(jq -s '[.[] | select(.event_type == "nvme_cmd") | .user_data] | unique | length' "$dir/eagain.jsonl")" 509 \
		"$k EAGAIN: each user_data once"
	ok "$k EAGAIN: re-issues are attempts ($(of eagain reissued))" test "$(of eagain reissued)" -gt 50
	is "$(jq -s '[.[] | select(.event_type == "nvme_cmd") | .comm] | unique | join(",")' -r "$dir/eagain.jsonl")" kvio \
		"$k EAGAIN: the submitter is named, not the worker"
}

errors() {
	is "$(of errors refused) $(of errors reads) $(of errors failed) $(cat "$dir/refused.rc")" '17 32 15 1' \
		"$k errors: refused, done and failed are counted apart"
	is "$(lines errors '.event_type == "nvme_cmp" and .refused and .status == 22 and .err != 0')" 17 \
		"$k over the limit: failed completions with EINVAL"
	is "$(lines errors '.event_type == "nvme_cmp" and .status == 16512 and .err == 5')" 5 "$k past the end: status 0x4080"
	is "$(lines errors '.event_type == "nvme_cmp" and .status == 16385 and .err == 1')" 5 "$k bad opcode: status 0x4001"
	is "$(lines errors '.event_type == "nvme_cmp" and .status == 16386')" 5 "$k bad length: status 0x4002"
	is "$(lines errors '.event_type == "cq_overflow"')" 24 "$k: 32 commands into 8 entries overflow 24 times"
}

multipath() {
	is "$(of multipath reads) $(fio_of multipath read.total_ios)" '127 127' "$k multipath: the head's name selects its paths"
	is "$(lines multipath '.event_type == "nvme_cmd" and .comm == "fio" and .multipath == 1 and
		(.disk | test("^nvme[0-9]+c[0-9]+n1$"))')" 127 "$k multipath: each record names its path"
	is "$(lines multipath '.event_type == "nvme_cmd" and .comm == "fio" and .rdev > 0 and .attempts == 1 and .wait_ns > 0')" 127 \
		"$k multipath: the entry probe sees the head's handler"
	is "$(of multipath refused)" 3 "$k multipath: refused commands, too"
}

filters() {
	is "$(of by-pid reads)" 0 "$k --pid: others are filtered"
	ok "$k --pid: and counted" test "$(of by-pid filtered)" -ge 39
	is "$(of by-comm reads)" 32 "$k --comm"
	is "$(of by-device reads) $(of by-device read_bytes)" "19 9728" "$k --device: one of two drives, of 512-byte blocks"
}

children() {
	is "$(of children reads) $(cat "$dir/children.rc")" "31 7" "$k -- CMD: its children and only they; its exit status"
	is "$(cat "$dir/missing.rc")" 127 "$k -- CMD: no such program is 127"
}

kv() {
	is "$(lines kv '.event_type == "nvme_cmd" and .op_name == "retrieve" and has("key_hex") and (has("slba") | not)')" 7 \
		"$k --kv: commands have keys and no LBA"
}

overload() {
	is $(($(of overload seen) - $(of overload filtered))) 2003 "$k overload: all are seen"
	ok "$k overload: some are lost" test "$(of overload ring_full)" -gt 0
	ok "$k overload: seen = stored + lost, exactly" conserved overload
	is "$(of overload counts.nvme)" "$(of overload stored)" "$k overload: what is called stored is in the file"
	is "$(cat "$dir/overload.rc")" 3 "$k overload: exit status 3"
	like "$(cat "$dir/overload.err")" "LOST" "$k overload: said loudly"
}

pending() {
	is "$(of pending reads) $(of pending ring_full) $(cat "$dir/pending.rc")" "20011 0 0" \
		"$k SIGTERM with 20,011 records in the ring: none is lost"
}

killed() {
	is "$(cat "$dir/killed.rc" "$dir/killed2.rc" | xargs)" '137 137' "$k SIGKILL"
	report=$("$KVIO" report "$dir/killed.kvt" 2>&1)
	is $? 3 "$k SIGKILL: the file opens, exit status 3"
	like "$report" "INCOMPLETE" "$k SIGKILL: it says that it is incomplete"
	for file in killed.kvt killed2.jsonl; do
		is "$("$KVIO" report --json "$dir/$file" 2>/dev/null | jq '[.[].commands.n][0]')" 1009 "$k SIGKILL: what was written is in $file"
	done
	"$KVIO" report "$dir/killed2.jsonl" >/dev/null 2>&1
	is $? 3 "$k SIGKILL: JSONL as well"
}

run() { # KERNEL PARTS OPTIONS...
	kernel=$1 parts=$2
	shift 2
	guest "$kernel" record.sh --nvme 1G --nvme 64M,lba=512 --nvme 64M,multipath "$@" || return
	for part in $parts; do
		$part
	done
}

# Lockdown forbids the helpers that read kernel memory; the tracer does without.
locked() {
	like "$(cat "$dir/doctor")" '^ok +lockdown: confidentiality' "$k: all of this under lockdown=confidentiality, and doctor knows"
}

# The main path on both kernels; what is the same on both, or in another test on that kernel, on one of them.
main='counts eagain errors multipath overload'
once='filters children kv killed'
lockdown='lsm=lockdown lockdown=confidentiality'
if long "6.1: pending; 6.12: $once"; then
	run 6.1 "$main $once pending"
	run 6.12 "locked $main $once pending" --append "$lockdown"
else
	run 6.1 "$main $once"
	run 6.12 "locked $main pending" --append "$lockdown"
fi
done_testing
