#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio report --html: one file, nothing from outside, bounded, the same bytes for the same capture, hostile text escaped.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
D=tests/data/perfetto
MAX=3000000
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

html() { # ARGUMENTS...: makes $tmp/page, sets status
	rm -f "$tmp/page"
	"$KVIO" report "$@" --html "$tmp/page" >"$tmp/out" 2>&1
	status=$?
}

# The data of the page as JSON, one line.
data() { perl -0777 -ne 'print $1 if m{<script type="application/json" id="data">(.*?)</script>}s' "$tmp/page"; }
# json EXPRESSION: a Perl expression over $j, the data
json() { perl -MJSON::PP -0777 -ne "\$j = decode_json(m{<script type=\"application/json\" id=\"data\">(.*?)</script>}s); print $1" "$tmp/page"; }

# What a page refers to outside of itself; the name of a licence in a comment of dygraphs is no reference.
outside() {
	perl -0777 -pe 's{/\*! \@license .*? \*/}{}; s{<script type="application/json".*?</script>}{}s' "$1" |
		grep -oiE "https?:[^ ]{0,40}|[^a-z]//[a-z0-9.-]+\.(com|org|net|io)[^ ]{0,20}|\b(src|href|srcset|action|data|poster)=[\"'][^\"'#d][^\"']{0,40}|@import[^;]{0,40}|url\([^)]{0,40}|sourceMappingURL.{0,20}"
}

# --- all kinds of captures ---
page_of() { # STATUS NAME ARGUMENTS...
	want=$1 name=$2
	shift 2
	html "$@"
	is $status "$want" "$name: status $want"
	is "$(json 'ref $j->{arms}')" ARRAY "$name: the data is sound JSON"
	is "$(outside "$tmp/page" | grep -v '^href="data:,')" '' "$name: refers to nothing outside"
	is "$(data | grep -ciE '[:,]-?(nan|inf)')" 0 "$name: no NaN"
}
page_of 0 'both sides' $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl $D/qd1/serving.jsonl
is "$(head -n 1 "$tmp/page")" '<!doctype html>' 'it is a page'
is "$(grep -c '@@[A-Z-]*@@' "$tmp/page")" 0 'every place of the template is filled'
like "$(cat "$tmp/page")" "default-src 'none'; script-src 'sha256-[A-Za-z0-9+/]{43}='; style-src 'unsafe-inline'; img-src data:" 'a policy that lets in nothing'
if command -v openssl >/dev/null; then
	is "$(sed -n "s/.*script-src 'sha256-\([^']*\)'.*/\1/p" "$tmp/page")" \
		"$(perl -0777 -ne 'print $1 if m{<script>(.*?)</script>}s' "$tmp/page" | openssl dgst -sha256 -binary | openssl base64)" \
		'and names the one script, as openssl does'
fi
is "$(json '"$j->{arms}[0]{level} $j->{arms}[0]{verdict}"')" 'bad Loads and stores send one command at a time' 'the verdict in plain words'
like "$(json '$j->{arms}[0]{why}[0]{cost}')" '^Time lost by waiting: 4\.21 ms, 78\.1 % of the time that they take\.$' 'and what it costs'
is "$(json 'join " ", map { sprintf "%.1f", 100 * $_->{idle} / ($_->{idle} + $_->{busy}) } @{$j->{arms}[0]{bars}}')" '78.1 48.3' 'the bars show the shares that the sentences name'
is "$(json 'join " ", scalar @{$j->{arms}[0]{depth}{max}}, scalar @{$j->{arms}[0]{objects}{rows}}, $j->{arms}[0]{objects}{total}, scalar @{$j->{arms}[0]{requests}{rows}}')" '500 18 18 4' 'series, objects, requests'
"$KVIO" report --json $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl $D/qd1/serving.jsonl >"$tmp/json"
is "$(json 'join " ", map { "@$_[3,4,6]" } @{$j->{arms}[0]{tables}{latency}{rows}}')" \
	"$(perl -MJSON::PP -0777 -ne '$j = decode_json($_)->{capture}; print join " ", map { "$j->{$_}{p50} $j->{$_}{p95} $j->{$_}{max}" } "lat_write", "lat_read"' "$tmp/json")" \
	'latencies are those of the JSON report'
page_of 0 'no semantic side' $D/tpmon/ebpf.jsonl
is "$(json '$j->{arms}[0]{objects}{total}')" 0 'no semantic side: no objects'
page_of 0 'no device side' $D/qd1/sem.jsonl
is "$(json 'exists $j->{arms}[0]{depth} ? "depth" : "none"')" none 'no device side: no series'
: >"$tmp/nothing.jsonl"
page_of 3 'nothing at all' "$tmp/nothing.jsonl"
like "$(json '$j->{arms}[0]{verdict}')" '^Nothing recorded' 'nothing at all: says so'
page_of 3 'lost events' $D/missing-cmp/sem.jsonl $D/missing-cmp/ebpf.jsonl
like "$(json '$j->{arms}[0]{warnings}[0]')" '^LOSSY: 23 of 205 events \(11.2 %\) dropped' 'lost events: the warning'
page_of 3 'a cut capture' $D/truncated/sem.jsonl $D/truncated/ebpf.jsonl
page_of 3 'a key-value namespace' $D/kv-key/sem.jsonl $D/kv-key/ebpf.jsonl
page_of 0 'shards' $D/tp4/sem.jsonl $D/tp4/ebpf.jsonl
is "$(json '"$j->{arms}[0]{barrier}{shards} $j->{arms}[0]{barrier}{p50}"')" '4 54957' 'shards: how long the last one takes'
page_of 0 'two captures' --arm one=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl --arm two=$D/batched/sem.jsonl,$D/batched/ebpf.jsonl
is "$(json '$j->{compare}{against}[0]{comparable} ? "yes" : "no"')" yes 'two captures: equal work'
arms=$(for i in 1 2 3 4 5 6 7; do printf -- '--arm a%s=%s ' $i $D/qd1/ebpf.jsonl; done)
page_of 0 'seven captures' $arms
is "$(json 'scalar(@{$j->{arms}}) . " " . $j->{left_out}')" '4 3' 'seven captures: four are drawn, and it says so'

# --- the same bytes for the same capture ---
html $D/tp4/sem.jsonl $D/tp4/ebpf.jsonl
cp "$tmp/page" "$tmp/first"
html $D/tp4/ebpf.jsonl $D/tp4/sem.jsonl
ok 'the same bytes, whatever the order of the files' cmp "$tmp/page" "$tmp/first"

# --- as large as it gets ---
# Every cell of the map, every bucket of latency, more objects and names than are listed, each of text that JSON makes long.
perl -e '
	srand(7);
	my $ts = 1e9;
	for my $i (1 .. 60000) {
		my ($op, $name) = rand() < .5 ? (1, "write") : (2, "read");
		$name = "<" x 60 . $i if $i % 100 == 0;
		$ts += int(rand(20000)) + 1;
		my $lat = int(exp(rand(20)));
		my $ud = (int($i / 20) + 1) * 4294967296 + $i;
		printf "{\"event_type\":\"nvme_cmd\",\"user_data\":%d,\"nvme_opcode\":%d,\"op_name\":\"%s\",\"nsid\":1,\"slba\":%d,\"nlb\":8,\"data_len\":4096,\"ts\":%d}\n", $ud, $op, $name, int(rand(4e9)), $ts;
		printf "{\"event_type\":\"nvme_cmp\",\"user_data\":%d,\"err\":0,\"lat_ns\":%d,\"ts\":%d}\n", $ud, $lat, $ts + $lat;
	}
	print "{\"event_type\":\"drops\",\"dropped\":0}\n"' >"$tmp/large.jsonl"
perl -e '
	my $long = "<&\x01" x 300;
	$long =~ s/\x01/\\u0001/g;
	for my $i (1 .. 3000) {
		printf "{\"trace_id\":%d,\"op\":\"%s\",\"key\":\"%s%d\",\"bytes\":1,\"ts_start\":%.6f,\"ts\":%.6f,\"error\":\"%s%d\"}\n", $i, $i % 3 ? "load" : "$long$i", $long, $i, 1 + $i * 2e-4, 1.0001 + $i * 2e-4, $long, $i;
		printf "{\"op\":\"%s%d\",\"request_id\":\"%s%d\",\"ts_start\":%.6f,\"ts\":%.6f}\n", $long, $i, $long, $i, 1 + $i * 2e-4, 1.0001 + $i * 2e-4 if $i % 10 == 0;
	}' >"$tmp/large.sem.jsonl"
html "$tmp/large.jsonl" "$tmp/large.sem.jsonl"
ok 'large: under 3 MB' test "$(wc -c <"$tmp/page")" -lt $MAX
is "$(json 'join " ", scalar @{$j->{arms}[0]{objects}{rows}}, $j->{arms}[0]{objects}{total}, scalar @{$j->{arms}[0]{errors}}')" '300 3000 24' 'large: lists are cut, and the totals told'
files="$tmp/large.jsonl,$tmp/large.sem.jsonl"
if size_counts 'four large arms'; then
	html --arm a=$files --arm b=$files --arm c=$files --arm d=$files
	ok 'large, four times: under 3 MB' test "$(wc -c <"$tmp/page")" -lt $MAX
fi

# --- hostile text ---
printf '%s\n' '{"event_type":"kvio_meta","kvio_schema":2,"hostname":"</script><script>alert(1)</script>","device_path":"<!--","pid":1,"ts_monotonic":1.0}' \
	'{"trace_id":1,"op":"load","key":"</SCRIPT ><img src=x>\u2028\u2029\u0000\u001b[2J","bytes":1,"ts_start":1.0,"ts":1.5,"error":"</script>\ud800"}' >"$tmp/hostile.jsonl"
html "$tmp/hostile.jsonl" --label '</script>@@DATA@@"'
is "$(data | grep -c '<')" 0 'hostile text: no < in the data'
is "$(data | LC_ALL=C tr -d '\012\040-\377' | wc -c)" 0 'hostile text: no control characters'
is "$(data | grep -c "$(printf '\342\200\250\|\342\200\251')")" 0 'hostile text: no line separators of JavaScript'
is "$(json '$j->{arms}[0]{label}')" '</script>@@DATA@@"' 'hostile text: the label is what it was'
is "$(grep -o '</script>' "$tmp/page" | wc -l)" 2 'hostile text: two scripts end, as always'

# --- how it fails ---
html $D/qd1/sem.jsonl -o /dev/null
"$KVIO" report $D/qd1/sem.jsonl --html "$tmp/none/x" >"$tmp/out" 2>&1
is $? 1 'a missing directory: status 1'
like "$(cat "$tmp/out")" 'cannot write .*none/x' 'a missing directory: says where'
"$KVIO" report $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl --html "$tmp/page.gz" >/dev/null
ok '.gz is compressed' gzip -t "$tmp/page.gz"

done_testing
