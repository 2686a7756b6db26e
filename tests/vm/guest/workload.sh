#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs in the VM: KV objects of real shapes through NVMe passthrough, recorded; device errors.  The host judges.
exec 2>&1
cd /out || exit 1

work() { # NAME WORKLOAD-OPTIONS...
	name=$1
	shift
	kvio record uring-cmd --json -o "$name.kvt" -- kvio workload -q --json --verify --sem "$name.sem" \
		--record "$name.manifest" --device /dev/ng0n1 --yes-destroy-data=ng0n1 --expect-serial kvio0 "$@" \
		>"$name.both" 2>"$name.err"
	echo $? >"$name.rc"
}

model='--model Llama-3.1-8B --chunk-tokens 64 --num-chunks 16'
work tp2 $model --tp 2
if [ "$1" = short ]; then
	work 70b --model Llama-3.1-70B --tp 4 --num-chunks 1
else
	work tp1 $model
	work tp4 $model --tp 4
	work 70b --model Llama-3.1-70B --tp 4 --num-chunks 4
	work serial --model Llama-3.1-8B --chunk-tokens 64 --num-chunks 4 --load-path serial
fi
work requests --model Llama-3.1-8B --chunk-tokens 16 --requests 40 --median-tokens 32 --hugepage --load-path multi-ring:2
# The manifest of tp2 again, into an empty store.
kvio record uring-cmd --json -o replay.kvt -- kvio replay -q --json --verify --sem replay.sem tp2.manifest --device /dev/ng0n1 \
	--yes-destroy-data=ng0n1 >replay.both 2>replay.err
echo $? >replay.rc
work over --payload-bytes 256k --num-chunks 2 --mdts-bytes 256k --over-limit
# A disk that fails in the middle.
dmsetup create bad --table "0 524288 linear /dev/nvme0n1 0
524288 524288 error
1048576 524288 linear /dev/nvme0n1 1048576" && {
	kvio workload -q --json --verify --device /dev/dm-0 --yes-destroy-data=dm-0 --payload-bytes 4M --num-chunks 100 \
		>bad.both 2>bad.err
	echo $? >bad.rc
	dmsetup remove bad
}
exit 0
