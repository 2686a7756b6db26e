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

# drawn CASE FILES... [OPTIONS]: a timeline of ours gives the figures of its captures, all but what no timeline tells:
# counts of input records, how the join went, namespace numbers, threads, and first attempts.
drawn() {
	name=$1
	shift
	rm -f "$tmp/own.pftrace"
	case " $* " in
	*' --join offset '*) "$KVIO" perfetto "$2" "$1" --join-by-offset -o "$tmp/own.pftrace" >"$tmp/said" 2>&1 ;;
	*) "$KVIO" perfetto "$@" -o "$tmp/own.pftrace" >"$tmp/said" 2>&1 ;;
	esac
	report "$tmp/captures.json" "$@"
	report "$tmp/timeline.json" "$tmp/own.pftrace"
	for f in captures timeline; do
		perl -MJSON::PP -0777 -ne '
			sub cut {
				my ($x) = @_;
				return [ map { cut($_) } @$x ] if ref $x eq "ARRAY";
				return $x unless ref $x eq "HASH";
				return { map { $_ => cut($x->{$_}) } grep { !/^(inputs|join|devices|threads|thread_switches|reissued|label)$/ } keys %$x };
			}
			my ($r) = values %{ decode_json($_) };
			delete $r->{health}{$_} for "malformed", "tail_cut", "warnings";
			print JSON::PP->new->canonical->pretty->encode(cut($r))' "$tmp/$f.json" >"$tmp/$f.cut"
	done
	quiet "$name: our timeline gives the figures of its captures" diff "$tmp/captures.cut" "$tmp/timeline.cut"
}

# packed CASE FILES...: the same in one .kvt.  The older tracers count records of commands and completions, a .kvt
# commands, so of the account only the outcome is the same.
packed() {
	name=$1
	shift
	"$KVIO" cat "$@" -o "$tmp/packed.kvt" >"$tmp/said" 2>&1
	report "$tmp/captures.json" --label x "$@"
	report "$tmp/packed.json" --label x "$tmp/packed.kvt"
	for f in captures packed; do
		perl -MJSON::PP -0777 -ne '
			my $r = decode_json($_);
			$_ = { lossy => $_->{lossy}, incomplete => $_->{incomplete} } for $r->{x}{health};
			delete $r->{x}{inputs}{other};
			print JSON::PP->new->canonical->pretty->encode($r)' "$tmp/$f.json" >"$tmp/$f.cut"
	done
	quiet "$name: the same from a .kvt with all of it" diff "$tmp/captures.cut" "$tmp/packed.cut"
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
	drawn ${c%.*} $D/${c%.*}/sem.jsonl $D/${c%.*}/ebpf.jsonl --join offset
done
both header-lba512.lba512 --lba-bytes 512
both qd1.norebase --label qd1
both qd1.tid3-5 --label qd1 --trace-id 3-5
both qd1.window --label qd1 --time-range 0.004,0.009
golden merge-ab.out --arm stock=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl,$D/qd1/serving.jsonl \
	--arm batched=$D/batched/sem.jsonl,$D/batched/ebpf.jsonl,$D/batched/serving.jsonl --arm devonly=$D/batched/ebpf.jsonl

for c in "$D"/*/ebpf.jsonl; do
	d=${c%/ebpf.jsonl} files=$c
	for f in sem serving; do [ ! -f "$d/$f.jsonl" ] || files="$files $d/$f.jsonl"; done
	# shellcheck disable=SC2086 # files are words
	packed "${d##*/}" $files
done

# --- every report above is what the schema says ---
"$KVIO" schema report >"$tmp/schema"
quiet 'the reports are as the schema says' perl tests/schema_check.pl "$tmp/schema" "$tmp"/*.out.json "$tmp"/*.devonly.json

done_testing
