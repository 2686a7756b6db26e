#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The 26 outputs of the older report against ours, from its captures and from
# its timelines; our figures against those of another program; and our own
# timelines against the captures that they were drawn from.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
D=tests/data/perfetto R=tests/data/report
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

quiet() { # DESCRIPTION COMMAND...: succeeds, and shows what it printed when it does not
	what=$1
	shift
	if "$@" >"$tmp/said" 2>&1; then
		ok "$what" true
	else
		sed 's/^/# /' "$tmp/said" | head -n 40
		ok "$what" false
	fi
}

report() { # OUT ARGUMENTS...: status 0 or 3
	out=$1
	shift
	"$KVIO" report --json --percentile floor "$@" >"$out"
	[ $? -ne 1 ] && [ -s "$out" ]
}

# golden NAME ARGUMENTS...
golden() {
	name=$1
	shift
	quiet "$name: a report" report "$tmp/ours.json" "$@"
	quiet "$name: the older report's numbers, but for those in the table" \
		perl tests/report_cmp.pl "$R/$name.json" "$tmp/ours.json" docs/report-differences.md 'From captures' "$name"
	report "$tmp/timeline.json" "$R/$name.pftrace.gz"
	quiet "$name: the same from its timeline" \
		perl tests/report_cmp.pl "$R/$name.json" "$tmp/timeline.json" docs/report-differences.md \
		'From timelines of the older converter' "$name"
	cp "$tmp/ours.json" "$tmp/$name.json"
}

# derived NAME OPTIONS FILES...: what golden() left against another program's figures
derived() {
	name=$1 options=$2
	shift 2
	# shellcheck disable=SC2086 # options are words
	perl tests/report_derive.pl $options "$@" >"$tmp/derived.json"
	quiet "$name: another program comes to the same" perl tests/report_cmp.pl "$tmp/derived.json" "$tmp/$name.json"
}

# drawn CASE FILES...: a timeline of ours gives the figures of its captures
drawn() {
	name=$1
	shift
	"$KVIO" perfetto "$@" -o "$tmp/own.pftrace" >"$tmp/said" 2>&1
	report "$tmp/captures.json" "$@"
	report "$tmp/timeline.json" "$tmp/own.pftrace"
	# What the older report has, in ours from the captures: the keys that a timeline must keep.
	perl -MJSON::PP -e '
		sub slurp { local (@ARGV, $/) = @_; decode_json(<>) }
		sub cut { my ($x, $y) = @_; ref $x eq "HASH" && ref $y eq "HASH" ? { map { $_ => cut($x->{$_}, $y->{$_}) } grep { exists $y->{$_} } keys %$x } : $y }
		my ($golden) = values %{ slurp($ARGV[0]) };
		my ($ours) = values %{ slurp($ARGV[1]) };
		print encode_json({ x => cut($golden, $ours) })' "$R/$name.out.json" "$tmp/captures.json" >"$tmp/kept.json"
	quiet "$name: our timeline gives the figures of its captures" perl tests/report_cmp.pl "$tmp/kept.json" "$tmp/timeline.json"
}

both() { # NAME [OPTIONS]: a case with both streams and no more
	dir=$D/${1%%.*}
	golden "$1" "$dir/sem.jsonl" "$dir/ebpf.jsonl" ${2:+"$2"} ${3:+"$3"} ${4:+"$4"} ${5:+"$5"}
}

for c in cq-overflow dup-trace-id eagain edge-ties header-lba512 legacy missing-cmp slot-reuse truncated untagged; do
	both $c.out
	derived $c.out '' $D/$c/sem.jsonl $D/$c/ebpf.jsonl
	drawn $c $D/$c/sem.jsonl $D/$c/ebpf.jsonl
done
for c in qd1 batched; do
	golden $c.out $D/$c/sem.jsonl $D/$c/ebpf.jsonl $D/$c/serving.jsonl --label $c
	derived $c.out '' $D/$c/sem.jsonl $D/$c/ebpf.jsonl
	drawn $c $D/$c/sem.jsonl $D/$c/ebpf.jsonl $D/$c/serving.jsonl --label $c
done
both tp4.out --label tp4
derived tp4.out '' $D/tp4/sem.jsonl $D/tp4/ebpf.jsonl
drawn tp4 $D/tp4/sem.jsonl $D/tp4/ebpf.jsonl --label tp4
golden tpmon.out $D/tpmon/ebpf.jsonl --label tp
derived tpmon.out '' $D/tpmon/ebpf.jsonl
drawn tpmon $D/tpmon/ebpf.jsonl --label tp
for c in kv-key untagged; do
	golden $c.devonly $D/$c/ebpf.jsonl
	derived $c.devonly '' $D/$c/ebpf.jsonl
done
golden truncated.semonly $D/truncated/sem.jsonl
derived truncated.semonly '' $D/truncated/sem.jsonl
both kv-key.out --join key
derived kv-key.out --key $D/kv-key/sem.jsonl $D/kv-key/ebpf.jsonl
drawn kv-key $D/kv-key/sem.jsonl $D/kv-key/ebpf.jsonl
for c in offset-join.out offset-parity.out slot-reuse.offset; do
	both $c --join offset
	derived $c --place $D/${c%.*}/sem.jsonl $D/${c%.*}/ebpf.jsonl
done
both header-lba512.lba512 --lba-bytes 512
both qd1.norebase --label qd1
both qd1.tid3-5 --label qd1 --trace-id 3-5
both qd1.window --label qd1 --time-range 0.004,0.009
golden merge-ab.out --arm stock=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl,$D/qd1/serving.jsonl \
	--arm batched=$D/batched/sem.jsonl,$D/batched/ebpf.jsonl,$D/batched/serving.jsonl --arm devonly=$D/batched/ebpf.jsonl

# --- every report above is what the schema says ---
"$KVIO" schema report >"$tmp/schema"
quiet 'the reports are as the schema says' perl tests/schema_check.pl "$tmp/schema" "$tmp"/*.out.json "$tmp"/*.devonly.json

done_testing
