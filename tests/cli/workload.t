#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio workload and replay on a sparse file: options, results, semantic trace, manifest, wrong data.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
store=$tmp/store
unset LMCACHE_KVIO_TRACE

# refuses STATUS PATTERN COMMAND ARGUMENT...: that exit status, nothing on stdout, nothing made.
refuses() {
	want=$1 pattern=$2
	shift 2
	"$KVIO" "$@" >"$tmp/out" 2>"$tmp/err"
	is "$?" "$want" "exit $want: $*"
	is "$(cat "$tmp/out")" '' 'nothing on stdout'
	like "$(cat "$tmp/err")" "$pattern" "says '$pattern'"
}
small="--payload-bytes 100000 --device $store --capacity-bytes 16M"

refuses 2 'one of them' workload --device "$store"
refuses 2 'one of them' workload --device "$store" --model Llama-3.1-8B --payload-bytes 1M
refuses 2 "no model 'Lama" workload --device "$store" --model Lama-3.1-8B
refuses 2 '--device is missing' workload --payload-bytes 1M
refuses 2 'load-path' workload $small --load-path fast
refuses 2 'load-path' workload $small --load-path parallel:0
refuses 2 '--qd' workload $small --qd 0
refuses 2 '--hit-rate' workload $small --hit-rate 1.5
refuses 2 '--sigma' workload $small --sigma x
refuses 2 '--tp' workload $small --tp 256
refuses 2 'power of two' workload $small --block-align 5000
refuses 2 'no multiple of the alignment' workload $small --mdts-bytes 5000
refuses 2 'needs the char node' workload $small --engine uring_cmd
refuses 2 'does not fit a slot' workload $small --slot-bytes 65536
refuses 2 'header_bytes' workload $small --header-bytes 100
refuses 2 'no room' workload --payload-bytes 1M --device "$store" --capacity-bytes 1M
refuses 1 'uneven' workload --model Llama-3.1-8B --tp 3 --device "$store"
refuses 2 'there is no /dev' workload --payload-bytes 1M --device /dev/kvio-no-such-disk
refuses 2 'neither a disk' workload --payload-bytes 1M --device /dev/null
refuses 2 'neither a disk' workload --payload-bytes 1M --device /
is "$(ls "$tmp")" "$(printf 'err\nout')" 'no file was made by any of these'
echo precious >"$tmp/precious"
refuses 1 'yes-destroy-data=precious' workload --payload-bytes 1M --device "$tmp/precious"
is "$(cat "$tmp/precious")" precious 'a file with other data is as it was'

of() { # FILE KEY
	jq -r ".$2" "$tmp/$1.json"
}
# Every engine and every load path, verified.
for engine in posix io_uring; do
	for path in serial batched parallel:3 multi-ring:2; do
		"$KVIO" workload -q --json --verify $small --engine $engine --load-path $path --num-chunks 7 --passes 2 \
			--tp 2 --qd 8 --mdts-bytes 16k --sem "$tmp/sem" --record "$tmp/rec" >"$tmp/r.json" 2>"$tmp/err"
		is "$? $(of r complete) $(of r wrong_objects)" '0 true 0' "$engine $path: all done, all right"
		[ ! -s "$tmp/err" ] || sed 's/^/# /' "$tmp/err"
		# 100000 bytes are 7 commands of 16 KiB, and a header.
		is "$(of r store.objects) $(of r store.commands) $(of r load.objects) $(of r load.commands)" '28 224 28 196' \
			"$engine $path: objects and commands"
		is "$(of r store.command_bytes) $(of r load.bytes)" "$((28 * (4096 + 102400))) 2800000" "$engine $path: bytes"
		is "$(jq -r .most_in_flight "$tmp/r.json")" 8 "$engine $path: as deep as stores go"
	done
done
rm -f "$store"

# The semantic trace: as the recorder's other half needs it.
"$KVIO" workload -q --json $small --num-chunks 3 --tp 2 --no-evict --sem "$tmp/sem" --record "$tmp/rec" >"$tmp/r.json"
is "$(head -n 1 "$tmp/sem" | jq -r '[.event_type, .kvio_schema, .header_bytes, .block_align, .slot_bytes] | join(" ")')" \
	'kvio_meta 2 4096 4096 1048576' 'the head of the semantic trace'
is "$(jq -c 'select(.op) | [.trace_id, .op, .bytes, .slot_offset, .kv_rank]' "$tmp/sem" | sed -n '1p;6p;7p')" \
	"$(printf '[1,"store",100000,1048576,0]\n[6,"store",100000,6291456,1]\n[7,"load",100000,1048576,0]')" 'its operations'
is "$(jq -r 'select(.op) | select(.ts_start_ns > .ts_ns or (.ts_ns / 1e9 - .ts | fabs) > 1e-6)' "$tmp/sem")" '' \
	'whole nanoseconds beside the seconds'
is "$(stat -c %a "$tmp/sem" "$tmp/rec" "$store" | sort -u)" 600 'files are private'
LMCACHE_KVIO_TRACE=$tmp/env "$KVIO" workload -q $small --num-chunks 1 >/dev/null
LMCACHE_KVIO_TRACE=$tmp/env "$KVIO" workload -q $small --num-chunks 1 >/dev/null
is "$(grep -c kvio_meta "$tmp/env") $(jq -r 'select(.op) | .instance' "$tmp/env" | sort -u | wc -l)" '2 2' \
	'LMCACHE_KVIO_TRACE is appended to, each run with an instance of its own'

# The same seed, the same requests; the manifest, replayed, does the same at the same places.
shape() {
	jq -c 'select(.op) | [.op, .key, .slot_offset, .bytes]' "$1"
}
some="--payload-bytes 60000 --capacity-bytes 8M --requests 40 --median-tokens 300 --verify"
"$KVIO" workload -q --device "$store" $some --sem "$tmp/a" --record "$tmp/rec" >/dev/null
is $? 0 'a workload that evicts'
"$KVIO" workload -q --device "$store" $some --sem "$tmp/b" >/dev/null
shape "$tmp/a" >"$tmp/a.shape"
shape "$tmp/b" >"$tmp/b.shape"
ok 'the same seed gives the same operations' cmp "$tmp/a.shape" "$tmp/b.shape"
ok '... some of each kind' sh -c 'for op in store load delete; do grep -q "\"$op\"" "$0" || exit 1; done' "$tmp/a.shape"
"$KVIO" replay -q "$tmp/rec" --device "$tmp/other" --verify --sem "$tmp/c" --json >"$tmp/r.json"
is "$? $(of r complete)" '0 true' 'replay'
shape "$tmp/c" >"$tmp/c.shape"
ok 'replay does the same operations at the same places' cmp "$tmp/a.shape" "$tmp/c.shape"
"$KVIO" manifest "$tmp/a" -o "$tmp/made" 2>/dev/null
is "$(jq -c '.operations | map([.op, .object]) | length' "$tmp/made")" \
	"$(jq -c '.operations | map([.op, .object]) | length' "$tmp/rec")" 'kvio manifest makes as much of the semantic trace'
"$KVIO" replay -q "$tmp/made" --device "$tmp/other" --verify --sem "$tmp/d" >/dev/null
is $? 0 'and that one can be replayed'
shape "$tmp/d" >"$tmp/d.shape"
ok '... to the same' sh -c 'sort "$0" | cmp - "$1"' "$tmp/d.shape" "$(sort "$tmp/a.shape" >"$tmp/a.sorted"; echo "$tmp/a.sorted")"
"$KVIO" replay -q "$tmp/rec" --device "$tmp/other" --passes 2 --warmup 1 --json >"$tmp/r.json"
is "$(of r store.objects) $(of r store.commands)" \
	"$((2 * $(grep -c '"store"' "$tmp/a.shape"))) $((3 * 2 * $(grep -c '"store"' "$tmp/a.shape")))" \
	'passes are measured, warm-up is not'
is "$(of r 'store | (.commands_per_second * .busy_ns / 1e9 | round)' | tail -n 1)" "$((2 * 2 * $(grep -c '"store"' "$tmp/a.shape")))" \
	'commands a second are of what was measured'

# Older manifests, and what is none.
printf '{"schema_version": 1, "device_geometry": {"block_align": 4096, "header_bytes": 4096}, "objects": [
	{"index": 0, "payload_bytes": 5000, "ops": ["load"]}, {"index": 1, "payload_bytes": 9000, "ops": ["store", "load"]}]}' >"$tmp/v1"
"$KVIO" replay -q "$tmp/v1" --device "$tmp/third" --verify --json >"$tmp/r.json"
is "$? $(of r store.objects) $(of r load.objects) $(of r load.missed)" '0 1 2 0' \
	'version 1: what is only loaded is stored before, unmeasured'
refuses 1 'no times' replay "$tmp/v1" --speed 1 --device "$tmp/third"
refuses 1 'cannot use' replay "$tmp/sem" --device "$tmp/third"
refuses 1 'cannot read' replay "$tmp/nothing" --device "$tmp/third"
refuses 1 'no-such-dir/x: No such file' workload $small --record "$tmp/no-such-dir/x"
: >"$tmp/nothing"
refuses 1 'it is empty' replay "$tmp/nothing" --device "$tmp/third"
printf '{"schema_version": 1,\n "objects": [' >"$tmp/bad"
refuses 1 'line 2: it is no JSON' replay "$tmp/bad" --device "$tmp/third"
echo '{"objects": 18446744073709551616}' >"$tmp/bad"
refuses 1 'line 1: a number of more than 64 bits' replay "$tmp/bad" --device "$tmp/third"
echo '{"schema_version": 1, "objects": [{"index": 0, "payload_bytes": 50, "ops": ["explode"]}]}' >"$tmp/bad"
refuses 1 'objects.0..op is none of store' replay "$tmp/bad" --device "$tmp/third"
"$KVIO" run -o "$tmp/dir" workload -h >"$tmp/out"
is "$? $(grep -c '^Usage: kvio workload' "$tmp/out")" '0 1' 'kvio run workload -h: its help'
refuses 2 'one manifest' replay --device "$tmp/third"
refuses 2 '--speed' replay "$tmp/rec" --device "$tmp/third" --speed fast

# Lengths from a file, and the requests of agents: a shared prefix is loaded, what is new is stored.
printf '300\n{"num_tokens": 40, "x": 1}\r\n{"tokens": 5, "prompt_tokens": 700}\n\n' >"$tmp/tokens"
"$KVIO" workload -q $small --trace "$tmp/tokens" --requests 6 --hit-rate 0 --json >"$tmp/r.json"
is "$(of r tokens) $(of r store.objects)" '2080 12' '--trace: tokens of a file, over and over'
echo '{"size": 3}' >>"$tmp/tokens"
refuses 1 'line 5 has no num_tokens' workload $small --trace "$tmp/tokens"
: >"$tmp/nothing"
refuses 1 'has no lines' workload $small --trace "$tmp/nothing"
refuses 2 'do not go together' workload $small --trace "$tmp/tokens" --num-chunks 3
now_ns() { # by the clock of the trace
	perl -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC -e 'printf "%d", clock_gettime(CLOCK_MONOTONIC) * 1e9'
}
agent() { # TIME SESSION FIRST LAST: a request of these token ids
	jq -nc "{session_id: \"$2\", timestamp: (1750000000 + $1), token_ids: [range($3; $4)]}"
}
{
	agent 0 a 0 1024
	agent 0.1 b 0 512
	agent 0.2 a 0 1536
} >"$tmp/agent"
before=$(now_ns)
"$KVIO" workload -q $small --agent-trace "$tmp/agent" --speed 1 --verify --json --sem "$tmp/sem" >"$tmp/r.json"
is "$? $(of r requests) $(of r store.objects) $(of r load.objects) $(of r complete)" '0 3 6 6 true' '--agent-trace: prefixes are found'
like "$(jq -r 'select(.op == "load") | .key' "$tmp/sem" | head -n 1)" '^kvoffload@0x01000100@0@[0-9a-f]{64}$' 'with the keys of its chunks'
# Since before it began: between two requests it is less when the first one is late.
is "$(jq -s --argjson before "$before" '[.[] | select(.request_index == 2)][0].ts_start_ns - $before >= 1.99e8' "$tmp/sem")" true \
	'--speed 1: at their times'
"$KVIO" workload -q --payload-bytes 100000 --device "$tmp/tiny" --capacity-bytes 5M --agent-trace "$tmp/agent" --verify --json >"$tmp/r.json"
is "$? $(of r evicted) $(of r load.missed)" "0 $(($(of r store.objects) - 4)) 0" 'through a cache that is as large as the device'

# A full device, wrong data, data of an earlier run.
"$KVIO" workload -q --payload-bytes 60000 --capacity-bytes 4M --device "$tmp/full" --num-chunks 9 --no-evict --json >"$tmp/r.json" 2>/dev/null
is "$? $(of r store.objects) $(of r store.failed) $(of r load.missed)" '1 3 6 6' 'a full device: counted, exit 1'
is "$(of r 'errors[0].text')" 'No space left on device' 'and named'
"$KVIO" workload -q $small --num-chunks 3 --verify --checkpoint --payload-sum --device "$store" >/dev/null
"$KVIO" workload -q $small --num-chunks 3 --recover --verify --payload-sum --json >"$tmp/r.json" 2>"$tmp/err"
is "$? $(of r store.stored_already) $(of r load.objects)" '0 3 3' 'what a checkpoint tells is found, and right'
printf x | dd of="$store" bs=1 seek=$((1048576 * 2 + 4096 + 50000)) conv=notrunc 2>/dev/null
"$KVIO" workload -q $small --num-chunks 3 --recover --verify --json >"$tmp/r.json" 2>"$tmp/err"
is "$? $(of r wrong_objects)" '1 1' 'one wrong byte is found: exit 1'
"$KVIO" workload -q $small --num-chunks 3 --recover --payload-sum --json >"$tmp/r.json" 2>"$tmp/err"
is "$? $(of r load.failed) $(of r load.objects)" '1 1 2' 'by the sum as well'
like "$(of r 'errors[0].text')" 'sum is wrong' 'and named'
"$KVIO" workload -q $small --num-chunks 3 --recover --slot-bytes 2M >/dev/null 2>"$tmp/err"
is $? 1 'a checkpoint of another layout is refused'
like "$(cat "$tmp/err")" 'slot_bytes is 1048576, not 2097152' 'and why'


# What was recovered: checked on request, torn objects are forgotten; it makes room for what is new, unless that is forbidden.
refuses 2 'something to check by' workload $small --check-recovered
kept="--payload-bytes 60000 --capacity-bytes 9M --device $tmp/kept --payload-sum --verify --json"
"$KVIO" workload -q $kept --num-chunks 8 --checkpoint-every 1ns --seed 5 >"$tmp/r.json"
is "$? $(of r 'checkpoints > 0') $(of r recovered)" '0 true null' 'checkpoints between calls, none at the end'
"$KVIO" workload -q $kept --check-recovered --requests 0 >"$tmp/r.json"
is "$? $(jq -c '[.recovered.objects, .recovered.whole, .recovered.torn, .load.objects]' "$tmp/r.json")" '0 [8,8,0,0]' \
	'--check-recovered: all whole'
printf x | dd of="$tmp/kept" bs=1 seek=$((1048576 * 3 + 4096 + 50000)) conv=notrunc 2>/dev/null
"$KVIO" workload $kept --check-recovered --requests 0 --checkpoint >"$tmp/r.json" 2>"$tmp/err"
is "$? $(jq -c '[.recovered.whole, .recovered.torn, .wrong_objects, .checkpoints]' "$tmp/r.json")" '0 [7,1,0,1]' \
	'... a torn one is found'
like "$(cat "$tmp/err")" '7 whole, 1 torn and forgotten' '... and told'
"$KVIO" workload -q $kept --recover --num-chunks 4 --seed 6 --no-evict >"$tmp/r.json" 2>/dev/null
is "$? $(of r recovered.objects) $(of r store.objects) $(of r store.failed)" '1 7 1 3' '... and forgotten; no room with --no-evict'
"$KVIO" workload -q $kept --recover --num-chunks 4 --seed 6 --sem "$tmp/sem" --record "$tmp/rec" >"$tmp/r.json"
is "$? $(of r store.objects) $(of r evicted) $(of r load.objects)" '0 4 3 4' 'what nobody asked for makes room'
is "$(jq -s 'map(select(.op == "delete")) | length' "$tmp/sem")" 3 '... and the trace says so'
"$KVIO" replay -q "$tmp/rec" --device "$tmp/other" --verify --json >"$tmp/r.json"
is "$? $(of r store.objects) $(of r complete)" '0 4 true' '... and the manifest can be replayed'
"$KVIO" workload -q $kept --num-chunks 3 --seed 6 --checkpoint >/dev/null
"$KVIO" workload -q $kept --recover --num-chunks 5 --seed 5 --checkpoint >/dev/null
"$KVIO" workload -q $kept --recover --num-chunks 6 --seed 6 >"$tmp/r.json"
is "$? $(of r store.stored_already) $(of r evicted) $(of r load.missed)" '0 3 3 0' '... but what was asked for stays'
"$KVIO" workload -q $kept --num-chunks 39 --meta-bytes 16k --capacity-bytes 40M --checkpoint >/dev/null 2>"$tmp/err"
is $? 1 'a checkpoint that does not fit: exit 1'
like "$(cat "$tmp/err")" '--meta-bytes' 'and what to do'

# Stopped: what was done is told, exit 3.
stored() { # MIB: so many are on the device
	[ "$(stat -c %b "$tmp/endless" 2>/dev/null || echo 0)" -gt $(($1 * 2048)) ]
}
bounded "$KVIO" workload --payload-bytes 1M --device "$tmp/endless" --capacity-bytes 64M --requests 1000000 --json >"$tmp/r.json" 2>"$tmp/err" &
pid=$!
soon stored 16
interrupt $pid
wait $pid
is "$? $(of r complete)" '3 false' 'SIGINT: incomplete, exit 3'
ok '... with what was done' sh -c 'test "$(jq .store.objects "$0")" -gt 0' "$tmp/r.json"
done_testing
