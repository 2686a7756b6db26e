#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
what='Projects the commands that store and load the KV-cache objects of models (kvio
plan), issues them (kvio workload), records what reaches the driver, and holds one
against the other (kvio validate).'
lib=$(dirname "$0")/../lib.sh
[ -f "$lib" ] || lib=$(dirname "$0")/lib.sh
. "$lib"

# MODEL TOKENS TP CHUNKS: a chunk has fewer tokens than the usual 256 where a small drive needs that.
shapes='Llama-3.1-8B 64 1 16
Llama-3.1-8B 64 2 16
Llama-3.1-8B 64 4 16
Llama-3.1-70B 256 4 4
Qwen3-8B 64 1 8
DeepSeek-V3 16 1 8'

issue() {
	echo "$shapes" | while read -r model tokens tp chunks; do
		"$KVIO" run workload -o "$model.tp$tp" --model "$model" --chunk-tokens "$tokens" --tp "$tp" --num-chunks "$chunks" \
			--verify $target </dev/null || return
	done
}

study "$@"
projected() { # store|load
	"$KVIO" plan "$model" --chunk-tokens "$tokens" --tp "$tp" --json | jq ".plans[0].ops[] | select(.op == \"$1\") | .nvme_commands"
}
printf '%-16s %10s %11s %11s %11s %11s %9s %7s\n' 'model, TP' 'object' 'projected' 'projected' 'commands' 'exact' 'WAPE %' 'TV'
printf '%-16s %10s %11s %11s %11s %11s\n' '' bytes 'per store' 'per load' measured operations
worst=0
echo "$shapes" >"$out/shapes"
while read -r model tokens tp chunks; do
	dir=$out/$model.tp$tp
	"$KVIO" validate --json "$dir/run.kvt" "$dir/sem.jsonl" >"$dir/validate.json" || worst=1
	bytes=$(jq .object_bytes "$dir/result.json")
	# What was planned before, times the objects; validate projects each operation on its own.
	store=$(projected store) load=$(projected load) objects=$((chunks * tp))
	[ "$(jq .measured_commands "$dir/validate.json")" = $((objects * (store + load))) ] || worst=1
	jq -r '[.measured_commands, "\(.exact)/\(.objects)", .wape_measured_percent, .sizes.tv_exact] | @tsv' "$dir/validate.json" |
		while IFS='	' read -r commands exact wape tv; do
			printf '%-16s %10s %11s %11s %11s %11s %9.4f %7.4f\n' "$model, $tp" "$bytes" "$store" "$load" "$commands" "$exact" "$wape" "$tv"
		done
done <"$out/shapes"
[ $worst = 0 ] && echo 'all as projected' || echo 'NOT as projected'
exit $worst
