#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio report --html in a browser: every chart is drawn, nothing fails, text of a capture stays text.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
. tests/browser/chromium.sh
[ -n "$CHROMIUM" ] || skip_all 'no chromium: scripts/deps test'
KVIO=${KVIO:-build/kvio}
D=tests/data/perfetto
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

html() { # NAME ARGUMENTS...: makes $tmp/NAME.html
	name=$1
	shift
	"$KVIO" report "$@" --html "$tmp/$name.html" >/dev/null 2>&1
	[ -s "$tmp/$name.html" ]
}

# with_drive NAME: $tmp/NAME-driven.html, the same page with tests/browser/drive.js and a policy that allows it
with_drive() {
	perl -0777 -pe '
		BEGIN { open my $f, "<", "tests/browser/drive.js"; local $/; $js = <$f> }
		s/script-src \x27sha256-[^\x27]*\x27/script-src \x27unsafe-inline\x27/;
		s{</body>\s*</html>\s*$}{<script>$js</script></body></html>}' "$tmp/$1.html" >"$tmp/$1-driven.html"
}

html one $D/qd1/sem.jsonl $D/qd1/ebpf.jsonl $D/qd1/serving.jsonl
html two --arm "one=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl" --arm "many=$D/batched/sem.jsonl,$D/batched/ebpf.jsonl"
html shards $D/tp4/sem.jsonl $D/tp4/ebpf.jsonl
html lossy $D/missing-cmp/sem.jsonl $D/missing-cmp/ebpf.jsonl
html device $D/tpmon/ebpf.jsonl
html calls tests/data/calls/uring-file.kvt
{
	echo '{"event_type":"path","dev":4294967294,"ino":9,"ts":1,"piece":0,"last":true,"text":"/box"}'
	echo '{"event_type":"task","tid":3000,"pid":2999,"ns_pid":7,"comm":"fio","ts":1,"cgroup":9}'
	echo '{"event_type":"task","tid":4000,"pid":4000,"ns_pid":4000,"comm":"host","ts":1,"cgroup":1}'
	echo '{"event_type":"syscall","call":"read","pid":2999,"tid":3000,"comm":"fio","ts":2000,"lat_ns":5,"ret":1,"fd":3,"size":1,"dev":1,"ino":1,"path":"/f"}'
} >"$tmp/box.jsonl"
html boxes "$tmp/box.jsonl"
html semantic $D/qd1/sem.jsonl
: >"$tmp/nothing.jsonl"
html empty "$tmp/nothing.jsonl"

# charts NAME CHART...: the page draws these charts and no other, and the console stays silent
charts() {
	name=$1
	shift
	page "$tmp/$name.html#selftest"
	is "$(cat "$tmp/console")" '' "$name: nothing on the console"
	is "$(drawn | sed 's/=.*//' | sort | tr '\n' ' ')" "$(printf '%s\n' "$@" | sort | tr '\n' ' ')" "$name: its charts"
	is "$(drawn | awk -F= '$2 < ($1 ~ /^(objects|requests|barrier|layers)-/ ? 1 : 30)')" '' "$name: each has ink in its own colors"
}
charts one depth-0 throughput-0 latency-0 lba-0 objects-0 requests-0
charts two depth-0 depth-1 throughput-0 throughput-1 latency-0 latency-1 lba-0 lba-1 objects-0 objects-1
charts shards depth-0 throughput-0 latency-0 lba-0 objects-0 barrier-0
charts lossy depth-0 throughput-0 latency-0 lba-0 objects-0
ok 'lossy: the banner is before the verdict' perl -0777 -ne 'exit !(/class="banner bad".*class="card verdict/s)' "$tmp/dom"
like "$(cat "$tmp/dom")" 'LOSSY' 'lossy: and says so'
charts device depth-0 throughput-0 latency-0 lba-0
charts semantic objects-0
charts calls depth-0 throughput-0 latency-0 lba-0 layers-0
like "$(sed 's/<[^>]*>/ /g' "$tmp/dom")" '82 +of 82 commands have a call' 'calls: how many commands are joined'
like "$(cat "$tmp/dom")" 'n/a: kvio record mmap' 'calls: what no witness saw is not made up'
ok 'calls: calls, files and requests are in tables' perl -0777 -ne \
	'exit !(m{id="calls".*<td class="text">pread64</td>.*<td class="text">/out/furing.fio</td>.*id="uring".*<td class="text">read</td>}s)' "$tmp/dom"
page "$tmp/boxes.html#selftest"
is "$(cat "$tmp/console")" '' 'boxes: nothing on the console'
is "$(perl -0777 -ne 'print $1 =~ s/<[^>]*>/ /gr if m{id="containers".*?<tbody>(.*?)</tbody>}s' "$tmp/dom" | tr -s ' \n' ' ')" ' 2999 7 fio /box ' \
	'boxes: the program of a container, with both its pids'
like "$(cat "$tmp/dom")" '<a href="#containers">' 'boxes: a link leads there'
is "$(grep -c 'id="containers"' "$tmp/calls.html")" 0 'no container: no such part'
charts empty
like "$(cat "$tmp/dom")" 'Nothing recorded' 'empty: says so'

# --- dark, narrow, used ---
page "$tmp/two.html#selftest" --blink-settings=preferredColorScheme=0
like "$(cat "$tmp/dom")" '<html[^>]* data-theme="dark"' 'dark when the reader likes it dark'
is "$(drawn | wc -l)" 10 'dark: all charts'
# driven NAME WIDTH [STEP...]: all steps of drive.js do something, but for those named, which have nothing to do it to
driven() {
	name=$1 width=$2
	shift 2
	with_drive $name
	page "$tmp/$name-driven.html" --window-size=$width,900
	like "$(cat "$tmp/dom")" ' data-driven="' "$name, $width wide: used to the end"
	is "$(sed -n 's/.* data-driven="\([^"]*\)".*/\1/p' "$tmp/dom" | tr ' ' '\n' | sed -n 's/=FAILED$//p')" \
		"$([ $# -eq 0 ] || printf '%s\n' "$@")" "$name, $width wide: all of it works"
	is "$(grep -v willReadFrequently "$tmp/console")" '' "$name, $width wide: nothing on the console"
}
driven one 1280
driven two 1280
driven two 390
driven shards 390
driven calls 390
driven boxes 390 dark-redraws cumulative values
driven semantic 390 dark-redraws cumulative values

# --- text of a capture stays text ---
evil='</script><script>document.title=1</script><img src=x onerror=alert(1)><!--<b>&amp;'
perl -MJSON::PP -e '
	my ($evil, $dir) = @ARGV;
	my $j = JSON::PP->new->canonical;
	my $more = "\x{2028}\x{2029}\x{202e}\0\e[31m";
	open my $s, ">:utf8", "$dir/evil.sem.jsonl";
	print $s $j->encode({event_type => "kvio_meta", kvio_schema => 2, hostname => "host$evil$more", device_path => "/dev/$evil", io_engine => $evil, pid => 1, ts_monotonic => 1}), "\n";
	for my $i (1 .. 9) {
		print $s $j->encode({trace_id => $i, op => $i % 2 ? "load" : "op$evil", key => "m\@f$evil\@0\@h$evil$more$i", bytes => 4096 * 8, ts_start => 1 + $i, ts => 1.5 + $i, $i % 3 ? () : (error => "err$evil$more")}), "\n";
	}
	open my $r, ">:utf8", "$dir/evil.srv.jsonl";
	print $r $j->encode({op => "req$evil", request_id => "id$evil", ts_start => 1, ts => 9}), "\n";
	open my $d, ">:utf8", "$dir/evil.dev.jsonl";
	for my $i (1 .. 9) { for my $k (0 .. 7) {
		my $ts = (1 + $i) * 1e9 + $k * 1e6 + 1e6;
		my $ud = $i * 4294967296 + $k;
		print $d $j->encode({event_type => "nvme_cmd", user_data => $ud, nvme_opcode => 2, op_name => $k % 4 ? "read" : "do$evil", nsid => 1, slba => $k, nlb => 8, data_len => 4096, comm => "c$evil", device => $evil, pid => 1, tid => 2, ts => $ts}), "\n";
		print $d $j->encode({event_type => "nvme_cmp", user_data => $ud, err => 0, lat_ns => 80000, ts => $ts + 80000}), "\n";
	} }
	print $d $j->encode({event_type => "syscall", call => "read", pid => 1, tid => 3, comm => "c$evil$more", ts => 2e9 + $_, lat_ns => 5, ret => 1, fd => 3, size => 1, dev => 1, ino => $_, path => "/p$evil$more"}), "\n" for 1 .. 30;
	print $d $j->encode({event_type => "uring", op => "x$evil", opcode => 22, pid => 1, tid => 3, comm => "c$evil", ts => 3e9, lat_ns => 5, res => 1, user_data => 1, ring => 1, fd => 3, size => 1, dev => 1, ino => 1, path => "/p$evil"}), "\n";
	print $d $j->encode({event_type => "path", dev => 4294967294, ino => 5, ts => 1, piece => 0, last => JSON::PP::true, text => "/box</script><b>&"}), "\n";
	print $d $j->encode({event_type => "task", tid => 3, pid => 1, ns_pid => 2, comm => "c$evil$more", ts => 1, cgroup => 5}), "\n";
	print $d "not json $evil\n", q({"event_type":"drops","dropped":3}), "\n"' "$evil" "$tmp"
html evil --arm "L$(echo "$evil" | sed 's/=/\\=/g')=$tmp/evil.sem.jsonl,$tmp/evil.dev.jsonl,$tmp/evil.srv.jsonl" --arm "other=$D/qd1/sem.jsonl,$D/qd1/ebpf.jsonl"
page "$tmp/evil.html#selftest"
is "$(cat "$tmp/console")" '' 'hostile text: nothing on the console'
like "$(drawn)" '^objects-0=[1-9]' 'hostile text: all is drawn'
like "$(drawn)" '^layers-0=[1-9]' 'hostile text: bytes by layer, too'
like "$(cat "$tmp/dom")" '<td class="text">/p&lt;/script&gt;' 'hostile text: a path is shown as it is'
like "$(cat "$tmp/dom")" '<td class="text">/box&lt;/script&gt;' 'hostile text: so is a cgroup'
is "$(grep -c '<img\|<b>&' "$tmp/dom")" 0 'hostile text: makes no element'
is "$(grep -o '<script' "$tmp/dom" | wc -l)" 2 'hostile text: makes no script'
like "$(cat "$tmp/dom")" '<title>kvio report: L&lt;/script&gt;&lt;script&gt;document.title=1' 'hostile text: the label is shown as it is'
like "$(cat "$tmp/dom")" 'err&lt;/script&gt;' 'hostile text: the error is shown as it is'
is "$(perl -0777 -pe 's{<script type="application/json".*?</script>}{}s' "$tmp/dom" | grep -c "$(printf '\342\200\256')")" 0 'hostile text: does not turn around what stands beside it'

# --- a script that got in would not run ---
perl -0777 -pe 's{</body>}{<script>document.documentElement.dataset.intruder = 1</script></body>}' "$tmp/one.html" >"$tmp/intruder.html"
page "$tmp/intruder.html"
is "$(grep -c 'data-intruder' "$tmp/dom")" 0 'another script does not run'
like "$(cat "$tmp/console")" 'Content Security Policy' 'its policy stops it'

# --- paper ---
browse "$tmp/two.pdf" --no-pdf-header-footer --print-to-pdf="$tmp/two.pdf" "file://$tmp/two.html"
is "$(head -c 5 "$tmp/two.pdf" 2>/dev/null)" '%PDF-' 'it prints'

done_testing
