#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
what='Loads the same KV-cache objects one command at a time (as a load path with the QD~1
bug does), several objects at a time, and all commands of all objects at once,
records what reaches the driver, and prints what kvio report makes of it.'
lib=$(dirname "$0")/../lib.sh
[ -f "$lib" ] || lib=$(dirname "$0")/lib.sh
. "$lib"
paths='serial parallel:4 batched'

issue() {
	for path in $paths; do
		"$KVIO" run workload -o "$path" --model Llama-3.1-8B --chunk-tokens 64 --num-chunks 8 --load-path $path --verify \
			$target || return
	done
}

study "$@"
set --
for path in $paths; do
	set -- "$@" --arm "$path=$out/$path/run.kvt,$out/$path/sem.jsonl"
done
"$KVIO" report "$@" -o "$out/report.txt"
"$KVIO" report "$@" --json >"$out/report.json"
printf '%-12s %-22s %9s %6s %6s %12s %13s\n' 'load path' verdict commands depth most 'gap p50 us' 'latency p50 us'
for path in $paths; do
	"$KVIO" report --json "$out/$path/run.kvt" "$out/$path/sem.jsonl" | jq -r --arg path "$path" '.capture | [$path, (.verdict | split(",")[0]), .queue.load.n,
		(.queue.load.busy_depth * 10 | round / 10), .queue.load.depth_max, (.qd1.load.gap_p50 // 0), .queue.load.latency_p50] | @tsv' |
		awk -F '\t' '{ printf "%-12s %-22s %9d %6.1f %6d %12.1f %13.1f\n", $1, $2, $3, $4, $5, $6 / 1e3, $7 / 1e3 }'
done
