#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Timelines against the values of the older converter (put right where that is
# known to be wrong, see golden_cmp.pl): tracks, slices, counters, arrows.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
D=tests/data/perfetto
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# golden CASE EXPECTED STATUS RULES ARGUMENTS...
golden() {
	dir=$D/$1 expected=$D/$1/$2 status=$3 rules=$4
	shift 4
	"$KVIO" perfetto "$@" -o "$tmp/x.pftrace" >"$tmp/summary" 2>&1
	is $? "$status" "$dir ($*): status $status"
	ok "$dir: input equals emitted" grep -q 'self-check OK' "$tmp/summary"
	ok "$dir: an independent reader accepts it" sh -c "perl tests/pftdump.pl $tmp/x.pftrace >$tmp/x.dump 2>$tmp/err || { cat $tmp/err; false; }"
	# shellcheck disable=SC2086 # rules are words
	if perl tests/golden_cmp.pl "$expected" "$tmp/x.dump" $rules >"$tmp/diff" 2>&1; then
		ok "$dir: $expected" true
	else
		sed 's/^/# /' "$tmp/diff"
		ok "$dir: $expected" false
	fi
}

# both CASE STATUS RULES ARGUMENTS...: a case with both streams
both() {
	c=$1 status=$2 rules=$3
	shift 3
	golden "$c" expected.dump "$status" "$rules" --sem "$D/$c/sem.jsonl" --ebpf "$D/$c/ebpf.jsonl" "$@"
}

q="--sem $D/qd1/sem.jsonl --ebpf $D/qd1/ebpf.jsonl --label qd1"
both qd1 0 '' --serving $D/qd1/serving.jsonl --label qd1
# shellcheck disable=SC2086 # words
golden qd1 expected-norebase.dump 0 '' $q --no-rebase --no-slba-counter --device ng1n1
# The same part: times count from an object's begin here, which is 91.1 us before its first command.
# shellcheck disable=SC2086
golden qd1 expected-window.dump 0 window=812345678992334 $q --time-range 0.0040911,0.0090911
# shellcheck disable=SC2086
golden qd1 expected-tid3-5.dump 0 '' $q --trace-id 3-5
both batched 0 '' --serving $D/batched/serving.jsonl --label batched
both tp4 0 '' --label tp4
# Re-used user_data: pairing by latency, not by order.
both kv-key 3 lat=$D/kv-key/ebpf.jsonl --join-by-key
golden kv-key expected-devonly.dump 3 lat=$D/kv-key/ebpf.jsonl --ebpf $D/kv-key/ebpf.jsonl
both offset-join 3 "lat=$D/offset-join/ebpf.jsonl lba=512 headers=512 starts" --join-by-offset
both offset-parity 0 '' --join-by-offset
# All commands are in the object that their trace id says, not 40 of 96.
both slot-reuse 0 '' --join-by-offset
both slot-reuse 0 ''
both missing-cmp 3 ''
both header-lba512 0 ''
golden header-lba512 expected-lba512.dump 0 '' --sem $D/header-lba512/sem.jsonl --ebpf $D/header-lba512/ebpf.jsonl \
	--lba-bytes 512
# Commands without a tag share one user_data: the older converter mixed up their completions.
both untagged 3 lat=$D/untagged/ebpf.jsonl
golden untagged expected-devonly.dump 3 lat=$D/untagged/ebpf.jsonl --ebpf $D/untagged/ebpf.jsonl
both cq-overflow 3 ''
both eagain 0 reissued
both truncated 3 ''
golden truncated expected-semonly.dump 3 '' --sem $D/truncated/sem.jsonl
both legacy 3 ''
both dup-trace-id 3 ''
both edge-ties 3 starts
golden tpmon expected.dump 0 "lat=$D/tpmon/ebpf.jsonl lba=512" --ebpf $D/tpmon/ebpf.jsonl --label tp --device nvme1n1
golden merge-ab expected.dump 0 '' --merge stock=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl,$D/qd1/serving.jsonl \
	--merge batched=$D/batched/sem.jsonl,$D/batched/ebpf.jsonl --merge devonly=-,$D/batched/ebpf.jsonl,-

done_testing
