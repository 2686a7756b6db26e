#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio plan: projections, tables, configs good and hostile, the older tools' command lines.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
B=${B:-$(dirname "$KVIO")}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

plan() { # ARGUMENTS...: sets text and status
	text=$("$KVIO" plan "$@" 2>&1)
	status=$?
}

# json EXPRESSION: of $j, decoded from text
json() { printf '%s' "$text" | perl -MJSON::PP -0777 -ne "\$j = decode_json(\$_); print $1"; }

# --- published figures ---
plan Llama-3.1-70B --tp 4
is $status 0 'a model by its short name'
like "$text" '^objects +4 of 20971520 B' '70B over 4 ranks: 4 objects of 20 MiB'
like "$text" '^store +161 +20975616 +1 x 4096, 160 x 131072$' '... stored by 161 commands'
like "$text" '^load +160 +20971520 ' '... loaded by 160'
is "$(printf '%s\n' "$text" | awk 'length > 79' | wc -l)" 0 'text is less than 80 columns wide'
for want in 'Llama-3.2-1B 65/64' 'Llama-3.2-3B 225/224' 'Llama-3.1-8B 257/256' 'Qwen3-8B 289/288' 'Qwen3-14B 321/320' \
	'Qwen3-32B 513/512' 'Llama-3.1-405B 1009/1008' 'DeepSeek-R1 139/138' 'Hunyuan-Large 161/160'; do
	plan "${want% *}" --json
	is "$(json 'join "/", map { $_->{nvme_commands} } @{ $j->{plans}[0]{ops} }')" "${want#* }" "commands of ${want% *}"
done

# --- tables ---
plan all --tp 1..16 --dtype all --json
is "$(json '@{ $j->{plans} } . " " . (join(",", map { $_->{error} ? 1 : 0 } @{ $j->{plans} }) eq join(",", map { $_->{ops} ? 0 : 1 } @{ $j->{plans} }) ? "same" : "differ")')" \
	'3200 same' 'every model, 16 ranks, 5 dtypes: those that cannot be say why, all others have a projection'
is $status 0 'a table with such rows is no failure'
plan all --tp 3,8
is "$(printf '%s\n' "$text" | awk 'length > 79' | wc -l)" 0 'a table is less than 80 columns wide'
like "$text" '^meta-llama/Llama-2-7b-hf +3 bfloat16 32 KV heads over 3 ranks: uneven$' 'an uneven split says so'
plan Llama-3.1-8B --tp 3
is "$status $text" '1 kvio plan: no projection: 8 KV heads over 3 ranks: uneven' 'alone it is a failure'
plan Qwen2.5-0.5B --tp 3
is $status 1 'fault 18, uneven heads: 3 ranks cannot share 2 heads, though the older tools take it'

# --- commands ---
plan --payload-bytes 1124352
like "$text" '^load +9 +1126400 ' 'fault 18, block_align: commands are rounded up to 4096, not to the LBA'
plan --payload-bytes 1124352 --lba-bytes 512
like "$text" '^load +9 +1124352 ' '... unless told'
plan --payload-bytes 300000 --mdts-bytes 100000
is "$status $text" '1 kvio plan: no projection: --mdts-bytes 100000 is no multiple of the alignment 4096' \
	'a size of commands that is not aligned is refused, not inflated'
plan Llama-3.1-8B --mdts-bytes 1MiB --max-segments 127 --op load
like "$text" '^load +65 +33554432 +64 x 520192, 1 x 262144$' 'fault 18, max_segments: the kernel bounds a command'
plan --payload-bytes 0
like "$text" '^store +1 +4096 ' 'an empty object is a header'
like "$text" '^load +0 +0 ' '... and nothing to load'
plan --payload-bytes 4096 --mdts-bytes 0
is $status 1 'no bound at all: refused, where the older tool divides by zero'
plan Llama-3.1-8B --repr k16_v8
like "$text" '^parts +codec header 245, K 16777216, V 8388608, scales 4, padding ' 'K16/V8: what an object is made of'
plan DeepSeek-V3 --repr k16_v8
is $status 1 'K16/V8 of a latent: refused'

# --- workloads ---
plan Llama-3.1-70B --tp 4 --tokens 14900 --sequences 2 --json
is "$(json 'do { $w = $j->{plans}[0]{workload}; join " ", $w->{objects}, $w->{load}{nvme_commands}, $w->{load}{device_bytes}, $w->{ignored_tail_tokens} }')" \
	'464 74240 9730785280 52' 'fault 18, whole-workload totals'
plan Llama-3.1-8B --tokens 1Mi
like "$text" 'restart loses the index$' 'an index that does not fit its container is told'
plan gpt-oss-20b --tokens 128k
like "$text" '^ +12 layers look back 128 tokens only' 'fault 18, sliding windows'

# --- configs ---
cat >"$tmp/config.json" <<'J'
{"architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32,
 "num_key_value_heads": 8, "torch_dtype": "bfloat16", "rope_scaling": {"factor": 8.0}, "sliding_window": null}
J
plan "$tmp/config.json"
like "$text" '^chunk +256 tokens: 33554432 B' 'a config.json'
gzip -c "$tmp/config.json" >"$tmp/config.json.gz"
plan --model "$tmp/config.json.gz"
like "$text" '^chunk +256 tokens: 33554432 B' '... compressed'

# refused CONFIG REASON
refused() {
	printf '%s' "$1" >"$tmp/bad.json"
	plan "$tmp/bad.json"
	is $status 1 "refused: $1"
	like "$text" "cannot use .*bad.json: .*$2" "... because: $2"
	is "$(printf '%s\n' "$text" | wc -l)" 1 '... in one line'
}
M='"hidden_size": 4096, "num_attention_heads": 32'
refused '' 'no JSON'
refused '{"num_hidden_layers": 32, "hidd' 'no JSON'
refused '[1]' 'no JSON object'
refused "{$M}" 'num_hidden_layers is missing'
refused "{\"num_hidden_layers\": -3, $M}" 'num_hidden_layers is -3, not between'
refused "{\"num_hidden_layers\": 99999999999, $M}" 'num_hidden_layers is 99999999999, not between'
refused "{\"num_hidden_layers\": 99999999999999999999, $M}" 'no JSON'
refused "{\"num_hidden_layers\": \"32\", $M}" 'not a whole number'
refused "{\"num_hidden_layers\": 1.5e1, $M}" 'not a whole number'
refused "{\"num_hidden_layers\": {\"a\": 1}, $M}" 'not a whole number'
refused "{\"num_hidden_layers\": 32, $M, \"num_key_value_heads\": 5}" 'no multiple of num_key_value_heads'
plan "$tmp/none.json"
is $status 1 'no such file'
plan /
is $status 1 'a directory'
printf '{"num_hidden_layers": 16777216, "hidden_size": 16777216, "num_attention_heads": 16777216, "head_dim": 16777216}' >"$tmp/huge.json"
plan "$tmp/huge.json"
is "$status $text" '1 kvio plan: no projection: the numbers are too large' 'numbers that overflow are refused'
plan Llama-3.1-8B --tokens 18446744073709551615 --sequences 18446744073709551615
is "$status $text" '1 kvio plan: no projection: the numbers are too large' '... in workloads, too'
printf '{"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "_name_or_path": "\\u001b[31mred\\u0007"}' >"$tmp/esc.json"
plan "$tmp/esc.json"
like "$text" '^model +\\x1b\[31mred\\x07$' 'a name cannot talk to the terminal'

# --- usage ---
for args in '' 'Qwen3-8X' '--layers 1' '--tp 0 Qwen3-8B' '--tp 9..2 Qwen3-8B' '--tp 1,,2 Qwen3-8B' '--dtype int4 Qwen3-8B' \
	'--dtype-bytes 3 Qwen3-8B' '--dtype int8 --dtype-bytes 1 Qwen3-8B' '--chunk-tokens 0 Qwen3-8B' \
	'--layers 1 --kv-heads 1 --head-dim 99999999999' '--op both2 Qwen3-8B'; do
	plan $args
	is $status 2 "usage: '$args'"
done
plan qwen3-8X
like "$text" "did you mean 'Qwen3-8B'" 'the nearest model is suggested'

# --- the older tools ---
text=$("$B/kvio_plan" --model Llama-3.1-8B)
is "$(json 'join " ", @$j{qw(op payload_bytes xfer device_ops nvme_commands total_device_bytes fragmentation)}, scalar @{ $j->{command_sizes} }')" \
	'store 33554432 131072 2 257 33558528 257 257' 'kvio_plan: the older document'
text=$("$B/kvio_plan" --layers 16 --kv-heads 8 --head-dim 64 --dtype-bytes 2 --op load --max-xfer 65536 --lba-bytes 512)
is "$(json 'join " ", @$j{qw(op nvme_commands xfer)}')" 'load 128 65536' 'kvio_plan: bare dimensions'
text=$("$B/kvio_plan" --all-models)
like "$text" 'kvio.plan.v1|schema' 'kvio_plan --all-models: every model of the table'
text=$("$B/kv_io_size" --model Llama-3.2-3B --chunk-tokens 16 --json)
is "$(json 'join " ", @{ $j->{plans}[0] }{qw(per_token_bytes full_chunk_bytes per_layer_chunk_bytes)}')" \
	'114688 1835008 65536' 'kv_io_size: the same figures'

done_testing
