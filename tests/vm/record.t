#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The passthrough tracer against workloads of known size, on real kernels.
# fio's own counts are the independent witness.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
export KVIO
command -v qemu-system-x86_64 >/dev/null || skip_all "qemu-system-x86_64 is not installed (scripts/deps)"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# of NAME KEY: a number of the recorder's summary.
of() {
	jq -r ".$2" "$dir/$1.json"
}
fio_of() {
	jq -r "[.jobs[] | .$2] | add" "$dir/$1.fio"
}
# lines NAME FILTER: how many JSONL lines pass a jq filter.
lines() {
	jq -c "select($2)" "$dir/$1.jsonl" | wc -l
}
conserved() { # NAME
	jq -e '.seen == .stored + .in_flight + .ring_full + .map_full + .filtered' "$dir/$1.json" >/dev/null
}

compare_with_fio() { # NAME
	is "$(cat "$dir/$1.rc")" 0 "$k $1: exit status of fio is passed on"
	is "$(of $1 reads) $(of $1 writes)" "$(fio_of $1 read.total_ios) $(fio_of $1 write.total_ios)" \
		"$k $1: commands are fio's"
	is "$(of $1 read_bytes) $(of $1 write_bytes)" "$(fio_of $1 read.io_bytes) $(fio_of $1 write.io_bytes)" \
		"$k $1: bytes are fio's"
	is "$(of $1 lat_n)" $(($(of $1 reads) + $(of $1 writes))) "$k $1: a completion for each command"
	is "$(of $1 ring_full) $(of $1 map_full) $(of $1 hook_missed) $(of $1 in_flight)" "0 0 0 0" "$k $1: nothing lost"
	ok "$k $1: seen = stored + in flight + lost + filtered" conserved $1
}

run() { # KERNEL
	k=$1
	dir=$dir/$k
	vm/run --kernel "$1" --nvme 1G --nvme 64M,lba=512 --timeout 300 --in tests/vm/guest/record.sh --out "$dir" \
		-- sh /in/record.sh >"$dir.log" 2>&1
	rc=$?
	if [ $rc = 77 ]; then
		echo "# SKIP kernel $1: $(tail -n 1 "$dir.log")"
		return 1
	fi
	is $rc 0 "$k: the guest ran through"
	[ $rc = 0 ] || sed 's/^/# /' "$dir.log"
	for name in reads writes mixed qd1; do
		compare_with_fio $name
	done
}

run_all() {
	run "$1" || return
	is "$(of reads reads)" 509 "$k: the number asked for, a prime"
	is "$(lines mixed '.event_type == "nvme_cmd"') $(lines mixed '.event_type == "nvme_cmp"')" "307 307" \
		"$k: JSONL has a line for each command and each completion"
	is "$(jq -s '[.[] | select(.event_type == "nvme_cmd") | .bytes] | add' "$dir/mixed.jsonl")" \
		$(($(of mixed read_bytes) + $(of mixed write_bytes))) "$k: bytes in JSONL are the same"
	is "$(zstd -dc "$dir/qd1.jsonl.zst" | tail -n 1)" '{"event_type":"drops","dropped":0}' "$k: JSONL ends with drops"
	is "$(stat -c %a "$dir/reads.kvt" "$dir/mixed.jsonl" | sort -u)" 600 "$k: captures are private"

	is "$(lines eagain '.event_type == "nvme_cmd"') $(of eagain reads) $(of eagain failed)" "509 509 0" \
		"$k EAGAIN: each command once"
	is "$(jq -s '[.[] | select(.event_type == "nvme_cmd") | .user_data] | unique | length' "$dir/eagain.jsonl")" 509 \
		"$k EAGAIN: each user_data once"
	ok "$k EAGAIN: re-issues are attempts ($(of eagain reissued))" test "$(of eagain reissued)" -gt 50
	is "$(jq -s '[.[] | select(.event_type == "nvme_cmd") | .comm] | unique | join(",")' -r "$dir/eagain.jsonl")" kvio \
		"$k EAGAIN: the submitter is named, not the worker"

	is "$(of refused refused) $(of refused reads) $(cat "$dir/refused.rc")" "17 0 1" "$k over the limit: refused, not read"
	is "$(lines refused '.event_type == "nvme_cmp" and .refused and .status == 22 and .err != 0')" 17 \
		"$k over the limit: failed completions with EINVAL"
	is "$(lines past-end '.event_type == "nvme_cmp" and .status == 16512 and .err == 5')" 5 "$k past the end: status 0x4080"
	is "$(lines bad-opcode '.event_type == "nvme_cmp" and .status == 16385 and .err == 1')" 5 "$k bad opcode: status 0x4001"
	is "$(lines bad-length '.event_type == "nvme_cmp" and .status == 16386')" 5 "$k bad length: status 0x4002"
	is "$(lines overflow '.event_type == "cq_overflow"')" 24 "$k: 32 commands into 8 entries overflow 24 times"

	is "$(of by-pid reads)" 0 "$k --pid: others are filtered"
	ok "$k --pid: and counted" test "$(of by-pid filtered)" -ge 13
	is "$(of by-comm reads)" 11 "$k --comm"
	is "$(of by-device reads) $(of by-device read_bytes)" "19 9728" "$k --device: one of two drives, of 512-byte blocks"
	is "$(of children reads) $(cat "$dir/children.rc")" "31 7" "$k -- CMD: its children and only they; its exit status"
	is "$(cat "$dir/missing.rc")" 127 "$k -- CMD: no such program is 127"

	is "$(lines kv '.event_type == "nvme_cmd" and .op_name == "retrieve" and has("key_hex") and (has("slba") | not)')" 7 \
		"$k --kv: commands have keys and no LBA"

	is $(($(of overload seen) - $(of overload filtered))) 2003 "$k overload: all are seen"
	ok "$k overload: some are lost" test "$(of overload ring_full)" -gt 0
	ok "$k overload: seen = stored + lost, exactly" conserved overload
	is "$(of overload counts.nvme)" "$(of overload stored)" "$k overload: what is called stored is in the file"
	is "$(cat "$dir/overload.rc")" 3 "$k overload: exit status 3"
	like "$(cat "$dir/overload.err")" "LOST" "$k overload: said loudly"
	is "$(of pending reads) $(of pending ring_full) $(cat "$dir/pending.rc")" "20011 0 0" \
		"$k SIGTERM with 20,011 records in the ring: none is lost"

	is "$(cat "$dir/killed.rc")" 137 "$k SIGKILL"
	report=$("$KVIO" report "$dir/killed.kvt" 2>&1)
	is $? 3 "$k SIGKILL: the file opens, exit status 3"
	like "$report" "INCOMPLETE" "$k SIGKILL: it says that it is incomplete"
	is "$("$KVIO" report --json "$dir/killed.kvt" | jq '[.[].commands.n][0]')" 1009 \
		"$k SIGKILL: what was flushed is there"
	"$KVIO" report "$dir/killed2.jsonl" >/dev/null 2>&1
	is $? 3 "$k SIGKILL: JSONL as well"
}

# A native multipath head: the driver sees hidden paths, the user names the head.
multipath() { # KERNEL
	k=$1
	dir=$top/mp$k
	vm/run --kernel "$1" --nvme 64M,multipath --out "$dir" -- sh -c '
		cd /out
		kvio record uring-cmd --json -o mp.jsonl --device ng0n1 -- \
			fio --name=mp --ioengine=io_uring_cmd --cmd_type=nvme --filename=/dev/ng0n1 --rw=randread --bs=4k \
			--iodepth=4 --size=1M --number_ios=127 --output-format=json --output=/out/mp.fio >mp.json
		kvio record uring-cmd --json -o refused.jsonl --device ng0n1 -- \
			kvio smoke -q --dev /dev/ng0n1 --count 3 --len 256k --over-limit >refused.json' >"$dir.log" 2>&1
	rc=$?
	if [ $rc = 77 ]; then
		echo "# SKIP kernel $1: $(tail -n 1 "$dir.log")"
		return
	fi
	is "$(of mp reads) $(fio_of mp read.total_ios)" "127 127" "$k multipath: the head's name selects its paths"
	is "$(lines mp '.event_type == "nvme_cmd" and .multipath == 1 and (.disk | test("^nvme[0-9]+c[0-9]+n1$"))')" 127 \
		"$k multipath: each record names its path"
	is "$(lines mp '.event_type == "nvme_cmd" and .rdev > 0 and .attempts == 1 and .wait_ns > 0')" 127 \
		"$k multipath: the entry probe sees the head's handler"
	is "$(of refused refused)" 3 "$k multipath: refused commands, too"
}

# Lockdown forbids the helpers that read kernel memory; the tracer does without.
locked_down() { # KERNEL
	k=$1
	dir=$top/locked$k
	vm/run --kernel "$1" --append "lsm=lockdown lockdown=confidentiality" --out "$dir" -- sh -c '
		cd /out
		grep -q "\[confidentiality\]" /sys/kernel/security/lockdown || exit 9
		kvio doctor >doctor
		kvio record uring-cmd --json -o reads.jsonl -- fio --name=reads --ioengine=io_uring_cmd --cmd_type=nvme \
			--filename=/dev/ng0n1 --rw=randread --bs=16k --iodepth=8 --size=16M --number_ios=103 \
			--output-format=json --output=/out/reads.fio >reads.json
		kvio record uring-cmd --json -o refused.jsonl -- \
			kvio smoke -q --dev /dev/ng0n1 --count 3 --len 256k --over-limit >refused.json' >"$dir.log" 2>&1
	rc=$?
	if [ $rc = 77 ]; then
		echo "# SKIP kernel $1: $(tail -n 1 "$dir.log")"
		return
	fi
	is "$(of reads reads) $(fio_of reads read.total_ios)" "103 103" "$k lockdown=confidentiality: commands are fio's"
	is "$(lines reads '.event_type == "nvme_cmd" and .disk == "nvme0n1" and .comm == "fio" and .user_data > 0')" 103 \
		"$k lockdown=confidentiality: with user_data, disk and thread"
	is "$(of refused refused)" 3 "$k lockdown=confidentiality: refused commands, too"
	like "$(cat "$dir/doctor")" '^ok +lockdown: confidentiality' "$k lockdown=confidentiality: doctor knows"
}

top=$dir
run_all 6.1
dir=$top
run_all 6.12
multipath 6.1
multipath 6.12
locked_down 6.12
done_testing
