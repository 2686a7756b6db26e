#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio validate: formats, what a capture can have wrong, hostile input.  The older tool's cases are in validate_golden.t.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
B=${B:-$(dirname "$KVIO")}
D=tests/data/kv/validate
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

validate() { # ARGUMENTS...: sets text and status
	text=$("$KVIO" validate "$@" 2>&1)
	status=$?
}
json() { printf '%s' "$text" | perl -MJSON::PP -0777 -ne "\$j = decode_json(\$_); print $1"; }

# A store of 256 KiB and its load, tag 1 and 2, in a slot at 1 MiB with a header of 4 KiB; complete.
meta='{"event_type":"kvio_meta","kvio_schema":2,"pid":100,"instance":"a","block_align":4096,"header_bytes":4096,"max_data_transfer_size":131072}'
op() { # ID OP TIME [MORE]
	printf '{"trace_id":%s,"op":"%s","key":"k","part":"kv","bytes":262144,"slot_offset":1048576,"ts_start":%s.0,"ts":%s.5,"pid":100,"instance":"a"%s}\n' \
		"$1" "$2" "$3" "$3" "$4"
}
cmd() { # ID NUMBER OPCODE SLBA BLOCKS TIME
	printf '{"event_type":"nvme_cmd","pid":100,"tid":101,"user_data":%s,"nvme_opcode":%s,"op_name":"%s","nsid":1,"slba":%s,"nlb":%s,"data_len":%s,"rdev":5,"ts":%s}\n' \
		$(($1 * 4294967296 + $2)) "$3" "$([ "$3" = 1 ] && echo write || echo read)" "$4" "$5" $(($5 * 4096)) "$6"
}
{ echo "$meta"; op 1 store 1; op 2 load 2; } >"$tmp/sem.jsonl"
{
	cmd 1 1 1 256 1 1100000000
	cmd 1 2 1 257 32 1200000000
	cmd 1 3 1 289 32 1300000000
} >"$tmp/store"
{
	cmd 2 4 2 257 32 2100000000
	cmd 2 5 2 289 32 2200000000
} >"$tmp/load"
echo '{"event_type":"drops","dropped":0}' >"$tmp/end"
cat "$tmp/store" "$tmp/load" "$tmp/end" >"$tmp/good.jsonl"

validate "$tmp/good.jsonl" "$tmp/sem.jsonl"
is $status 0 'all exact, and complete: status 0'
like "$text" '^exact: 2 of 2 operations are exact$' '... said first'
is "$(printf '%s\n' "$text" | awk 'length > 79' | wc -l)" 0 'text is less than 80 columns wide'

# --- formats ---
"$KVIO" cat -o "$tmp/good.kvt" "$tmp/good.jsonl" 2>/dev/null
for f in good.kvt good.jsonl.gz good.jsonl.zst; do
	[ -e "$tmp/$f" ] || "$KVIO" cat -o "$tmp/$f" "$tmp/good.jsonl" 2>/dev/null
	validate "$tmp/$f" "$tmp/sem.jsonl"
	is "$status $(printf '%s\n' "$text" | head -n 1)" '0 exact: 2 of 2 operations are exact' "the same from $f"
done
gzip -c "$tmp/sem.jsonl" >"$tmp/sem.jsonl.gz"
validate --tracer "$tmp/good.kvt" --semantic "$tmp/sem.jsonl.gz"
is $status 0 'a compressed semantic trace'
text=$("$KVIO" validate "$tmp/good.jsonl" - <"$tmp/sem.jsonl" 2>&1)
is $? 0 'a semantic trace from standard input'
text=$("$B/kvio_validate" --tracer "$tmp/good.jsonl" --semantic "$tmp/sem.jsonl" --header-bytes 4096 --lba-bytes 4096 --mdts-bytes 131072 --max-xfer 0)
is $? 0 'kvio_validate: the older command line'

# --- what can be wrong: LINES, then the first line, the status ---
wrong() { # STATUS PATTERN DESCRIPTION: of $tmp/wrong.jsonl
	validate "$tmp/wrong.jsonl" "$tmp/sem.jsonl"
	is $status "$1" "$3: status $1"
	like "$text" "$2" "... $2"
}
{ cat "$tmp/store" "$tmp/load"; echo '{"event_type":"drops","dropped":3}'; } >"$tmp/wrong.jsonl"
wrong 3 '^incomplete: 3 events were lost' 'fault 29: drops, though all is exact'
cat "$tmp/store" "$tmp/load" >"$tmp/wrong.jsonl"
wrong 3 '^incomplete: it does not say' 'fault 29: no count of losses'
{ cat "$tmp/store"; head -n 1 "$tmp/load"; cat "$tmp/end"; } >"$tmp/wrong.jsonl"
wrong 1 '^ +2 load .* too few$' 'fault 5: a missing command is a failure'
{ cat "$tmp/store"; head -n 1 "$tmp/load"; } >"$tmp/wrong.jsonl"
wrong 3 '^incomplete: 1 of 2' 'a missing command of an incomplete capture is not known to be missing'
{ cat "$tmp/store" "$tmp/load"; cmd 2 6 2 289 32 2300000000; } >"$tmp/wrong.jsonl"
wrong 1 'too many$' 'an extra command fails, complete or not'
{ cat "$tmp/store"; cmd 2 4 2 257 32 2100000000; cmd 2 5 2 257 32 2200000000; cat "$tmp/end"; } >"$tmp/wrong.jsonl"
wrong 1 'holes, overlaps$' 'fault 2: the right sizes over one half of the slot'
validate "$tmp/wrong.jsonl" "$tmp/sem.jsonl" --json
is "$(json 'join " ", @{ $j->{deviations}[0] }{qw(hole_bytes overlap_bytes outside_bytes)}')" '131072 131072 0' '... hole and overlap in bytes'
{ cat "$tmp/store"; cmd 2 4 2 256 32 2100000000; cmd 2 5 2 288 32 2200000000; cat "$tmp/end"; } >"$tmp/wrong.jsonl"
wrong 1 'outside its slot$' 'fault 2: a load that begins with the header'
{ cat "$tmp/store"; cmd 2 4 2 257 16 2100000000; cmd 2 5 2 273 48 2200000000; cat "$tmp/end"; } >"$tmp/wrong.jsonl"
wrong 1 'other sizes$' 'another split of the same bytes'
{ cat "$tmp/store"; cmd 2 4 2 289 32 2100000000; cmd 2 5 2 257 32 2200000000; cat "$tmp/end"; } >"$tmp/wrong.jsonl"
wrong 0 '^order \(not required\) +1 of 2$' 'another order is told, and no failure'
{ cat "$tmp/store" "$tmp/load"; cmd 9 1 2 9999 1 2300000000; cat "$tmp/end"; } >"$tmp/wrong.jsonl"
wrong 1 '^orphans +1 commands' 'fault 4: an orphan'
{ cat "$tmp/store" "$tmp/load"; cmd 0 1 2 9999 1 2300000000; cat "$tmp/end"; } >"$tmp/wrong.jsonl"
wrong 0 '^untagged +1 commands' 'an untagged command is no failure'
{
	cat "$tmp/store" "$tmp/load"
	printf '{"event_type":"nvme_cmp","user_data":%s,"err":-5,"status":2,"lat_ns":1000,"ts":2200001000}\n' $((2 * 4294967296 + 5))
	cat "$tmp/end"
} >"$tmp/wrong.jsonl"
wrong 1 '^ +2 load .* 1 failed$' 'a failed command'
{ cat "$tmp/store"; printf 'x\n'; cat "$tmp/load" "$tmp/end"; } >"$tmp/wrong.jsonl"
wrong 3 '^incomplete: lines could not' 'fault 6: a bad line in the middle'
{ cat "$tmp/store" "$tmp/load"; printf '{"event_type":"nvme_cmd","pid"'; } >"$tmp/wrong.jsonl"
wrong 3 '^incomplete: an input is cut' 'fault 6: a cut tail'
true >"$tmp/wrong.jsonl"
wrong 3 '^no data: not one command' 'fault 3: an empty capture'
{ echo "$meta"; op 1 store 1; op 1 store 1; } >"$tmp/dup.jsonl"
validate "$tmp/good.jsonl" "$tmp/dup.jsonl"
is $status 1 'fault 4: one trace id twice in one producer: status 1'
like "$text" '^duplicates +1 operations' '... is told'

# --- hostile input ---
{ echo "$meta"; printf '{"trace_id":1,"op":"store","bytes":18446744073709551615,"slot_offset":18446744073709551615,"ts":1}\n'
	printf '{"trace_id":2,"op":"load","bytes":18446744073709551615,"ts":1,"components":{"k_bytes":18446744073709551615,"v_bytes":18446744073709551615}}\n'; } >"$tmp/huge.jsonl"
validate "$tmp/good.jsonl" "$tmp/huge.jsonl"
is $status 1 'bytes and offsets of 2^64 - 1: graded, not crashed'
{ echo "$meta"; op 1 store 1 ',"components":{"k_bytes":-1}'; op 2 load 2 ',"components":[]'; } >"$tmp/odd.jsonl"
validate "$tmp/good.jsonl" "$tmp/odd.jsonl"
is $status 0 'components that are none are as if absent'
{ echo "$meta"; printf '{"trace_id":1,"op":"store","part":"\\u001b[31m","bytes":1,"ts":1}\n'; } >"$tmp/esc.jsonl"
validate "$tmp/good.jsonl" "$tmp/esc.jsonl"
is "$(printf '%s' "$text" | tr -dc '\033' | wc -c)" 0 'a part cannot talk to the terminal'
n=1
while [ $n -lt 400 ]; do
	head -c $n "$tmp/sem.jsonl" >"$tmp/cut.jsonl"
	"$KVIO" validate "$tmp/good.jsonl" "$tmp/cut.jsonl" >/dev/null 2>&1
	status=$?
	[ $status -le 3 ] || break
	n=$((n + 13))
done
ok 'a semantic trace cut anywhere is no crash' [ $status -le 3 ]
perl -e 'srand 7; print map { chr int rand 256 } 1 .. 3000' >"$tmp/random"
validate "$tmp/random" "$tmp/sem.jsonl"
is $status 1 'random bytes are no capture'
validate "$tmp/none" "$tmp/sem.jsonl"
is $status 1 'no such file'
for args in '' '--tracer x' '--join key2 a b' '--mdts-bytes 1000 a b'; do
	validate $args
	[ "$args" = '--mdts-bytes 1000 a b' ] && validate --mdts-bytes 1000 "$tmp/good.jsonl" "$tmp/sem.jsonl"
	is $status 2 "usage: '$args'"
done
validate "$tmp/good.jsonl" "$tmp/sem.jsonl" -o "$tmp/out.json" --json
is "$status $(grep -c schema "$tmp/out.json") $(stat -c %a "$tmp/out.json")" '0 1 600' 'to a file, private'

done_testing
