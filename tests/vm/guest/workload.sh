#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs in the VM: KV objects of real shapes through NVMe passthrough, recorded; device errors.  The words name the parts.
# The host judges.
. /in/lib.sh
PATH=$PATH:/in
parts=$*
drive='--device /dev/ng0n1 --yes-destroy-data=ng0n1'

# NAME.both has the command's result, and before it that of the recorder, if there is one.
alone() { # NAME COMMAND...
	name=$1
	shift
	"$@" >"$name.both" 2>"$name.err"
	echo $? >"$name.rc"
}
recorded() { # NAME KVIO-COMMAND OPTIONS...
	name=$1
	shift
	alone "$name" kvio record uring-cmd --json -o "$name.kvt" -- kvio "$@" -q --json --sem "$name.sem" $drive
}
work() { # NAME WORKLOAD-OPTIONS...
	name=$1
	shift
	recorded "$name" workload --verify --record "$name.manifest" --expect-serial kvio0 "$@"
}
# Issuing so much: each wait for the device is a switch.
waits() { # PID N: until it has waited N times more, or is gone
	upto=$(($(sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' /proc/$1/status) + $2))
	while [ "$(sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' /proc/$1/status 2>/dev/null || echo $upto)" -lt $upto ]; do
		usleep 1000
	done
}

model='--model Llama-3.1-8B --chunk-tokens 64 --num-chunks 16'

main() {
	work tp2 $model --tp 2
	work requests --model Llama-3.1-8B --chunk-tokens 16 --requests 40 --median-tokens 32 --hugepage --load-path multi-ring:2
	# The manifest of tp2 again, into an empty store.
	recorded replay replay --verify tp2.manifest
	alone over kvio workload -q --json --verify --payload-bytes 256k --num-chunks 2 --mdts-bytes 256k --over-limit $drive
	# A disk that fails in the middle.
	dmsetup create bad --table "0 524288 linear /dev/nvme0n1 0
524288 524288 error
1048576 524288 linear /dev/nvme0n1 1048576" && {
		alone bad kvio workload -q --json --verify --device /dev/dm-0 --yes-destroy-data=dm-0 --payload-bytes 4M --num-chunks 100
		dmsetup remove bad
	}
	# A device with a bad block.
	alone block kvio workload -q --json --payload-bytes 1M --num-chunks 20 --no-evict --batch 1 --device /dev/ng1n1 \
		--yes-destroy-data=ng1n1 --expect-serial kvio1
}

shapes() {
	work tp1 $model
	work tp4 $model --tp 4
	work 70b --model Llama-3.1-70B --tp 4 --num-chunks 4
	work serial --model Llama-3.1-8B --chunk-tokens 64 --num-chunks 4 --load-path serial
}

# The other commands, and all of it in one go.
commands() {
	recorded probe probe --object-bytes 1M --nobj 8 --workers 1,4 --reps 1
	recorded sweep sweep --sizes 4096,700000,1M
	alone run kvio run workload -o run --payload-bytes 700000 --num-chunks 4 --verify $drive
}

# A device that is full, one that shrinks while it is in use.
ends() {
	alone full kvio workload -q --json --verify --payload-bytes 1M --capacity-bytes 8M --num-chunks 9 --no-evict $drive
	dmsetup create shrinks --table "0 524288 linear /dev/nvme0n1 0" && {
		kvio workload -q --json --payload-bytes 4M --num-chunks 60 --passes 1000000 --device /dev/dm-0 --yes-destroy-data=dm-0 \
			>shrinks.both 2>shrinks.err &
		pid=$!
		waits $pid 50
		dmsetup suspend shrinks
		dmsetup load shrinks --table "0 131072 linear /dev/nvme0n1 0"
		dmsetup resume shrinks
		waits $pid 200
		kill -INT $pid
		wait $pid
		echo $? >shrinks.rc
		dmsetup remove shrinks
	}
}

# Killed at random places, and what is found then: slots are used over and over, checkpoints are older than what is there.
kills() {
	store="$drive --payload-bytes 512k --capacity-bytes 40M --payload-sum --verify"
	kvio workload -q $store --num-chunks 39 --checkpoint >kill.log 2>&1
	for round in 1 2 3 4; do
		kvio workload -q $store --recover --requests 1000000 --turns 4 --seed $round --checkpoint-every 50ms >>kill.log 2>&1 &
		pid=$!
		waits $pid $((50 + $(od -An -N1 -tu1 /dev/urandom) / 2))
		kill -KILL $pid
		wait $pid 2>/dev/null
		echo $? >kill.$round.rc
		kvio workload -q --json $store --check-recovered --requests 0 >kill.$round.both 2>kill.$round.err
		echo $? >>kill.$round.rc
	done
}

for part in $parts; do
	$part
done
exit 0
