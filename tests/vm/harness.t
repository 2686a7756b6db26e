#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vm/run itself: what goes in and comes out of the guest, exit statuses, drives.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

run() { # OPTION... -- COMMAND...: sets `status`
	vm/run "$@" >"$tmp/stdout" 2>"$tmp/err"
	status=$?
}

# is_status WANTED DESCRIPTION: of the last run, whose words explain a failure.
is_status() {
	is $status "$1" "$2"
	[ $status = "$1" ] || sed 's/^/# /' "$tmp/err"
}

# One guest for all that can be seen in one. 997 and 4099 are prime, so that no
# rounding to a batch hides.
cat >"$tmp/guest" <<'EOF'
#!/bin/sh
printf '%s\0' "$@" >/out/arguments
cat /in/bytes
echo "to stderr" >&2
mkdir /out/folder
echo hidden >"/out/folder/a file"
chmod 640 "/out/folder/a file"
dd if=/dev/urandom of=/out/large bs=4099 count=997 2>/dev/null
sha256sum </out/large >/out/large.sha256
{
	uname -r
	for disk in nvme0n1 nvme1n1 nvme1n2; do
		cat /sys/block/$disk/queue/logical_block_size /sys/block/$disk/size
	done
	cat /sys/block/nvme1n1/queue/max_hw_sectors_kb
	cat /sys/class/nvme/nvme*/serial
} >/out/drives
ls -l /sys/kernel/btf/vmlinux /sys/fs/bpf /proc/self >/out/places 2>&1 || exit
ulimit -l >/out/memlock

cd /sys/kernel/tracing
echo 65536 >buffer_size_kb
echo 1 >events/nvme/nvme_setup_cmd/enable
fio --name=passthrough --ioengine=io_uring_cmd --cmd_type=nvme --filename=/dev/ng0n1 \
	--rw=randread --bs=4k --iodepth=8 --size=64M --number_ios=997 \
	--output-format=json >/out/passthrough.json
grep -c nvme_cmd_read trace >/out/traced
echo 0 >events/nvme/nvme_setup_cmd/enable
for engine in io_uring psync; do
	fio --name=$engine --ioengine=$engine --direct=1 --filename=/dev/nvme1n1 \
		--rw=randwrite --bs=4k --size=16M --number_ios=101 \
		--output-format=json >/out/$engine.json
done
sleep 1000 &
exit 7
EOF
chmod 755 "$tmp/guest"
head -c 70001 /dev/urandom >"$tmp/bytes"
printf 'a\r\nb\004\003\000\377no newline' >>"$tmp/bytes"
newline='
'
set -- 'two words' "it's" '"quoted"' '' '$HOME `id` \n *' "a${newline}b$newline" --out

run --nvme 256M,lba=4096 --nvme 64M,lba=512,mdts=3,ns=2 --in "$tmp/guest" --in "$tmp/bytes" \
	--out "$tmp/out" -- /in/guest "$@"
[ $status != 77 ] || skip_all "$(tail -n 1 "$tmp/err")"
total() { # JSON: what fio counted
	sed -n 's/.*"total_ios" : \([1-9][0-9]*\).*/\1/p' "$tmp/out/$1.json"
}
is_status 7 "exit status 7 is passed on"
ok "stdout is byte for byte what the command wrote" cmp "$tmp/stdout" "$tmp/bytes"
ok "stderr arrives apart" grep -qx "to stderr" "$tmp/err"
printf '%s\0' "$@" >"$tmp/arguments"
ok "arguments arrive as they are" cmp "$tmp/arguments" "$tmp/out/arguments"
is "$(cat "$tmp/out/folder/a file")" hidden "files in folders come back"
is "$(stat -c %a "$tmp/out/folder/a file")" 640 "with their mode"
is "$(sha256sum <"$tmp/out/large")" "$(cat "$tmp/out/large.sha256")" "large files come back whole"
is "$(stat -c %a "$tmp/out")" 700 "the folder is private"
is "$(sed 1d "$tmp/out/drives" | xargs)" "4096 524288 512 131072 512 131072 32 kvio0 kvio1" \
	"block sizes, sizes, mdts and order of the drives are as asked for"
is "$(sed 's/\(6\.1\)\..*/\1/; q' "$tmp/out/drives")" 6.1 "the default kernel is 6.1"
is "$(cat "$tmp/out/memlock")" unlimited "locked memory is unlimited"
ok "BTF, bpffs and proc are there" grep -q vmlinux "$tmp/out/places"
is "$(total passthrough)" 997 "fio counts 997 passthrough reads"
is "$(cat "$tmp/out/traced")" 997 "the driver's tracepoint counts the same"
is "$(total io_uring)" 101 "fio does io_uring"
is "$(total psync)" 101 "fio does psync"

# Errors that need no guest.
run --nvme 1G,colour=red -- true
is_status 2 "an unknown drive property is a usage error"
ok "and it is named" grep -q "'colour=red'" "$tmp/err"
run --nvme 1G
is_status 2 "no command is a usage error"

# Two paths to one namespace, a module, and the other kernel.
run --kernel 6.12 --nvme 64M,multipath --modules xfs -- sh -c '
	uname -r | cut -d . -f 1-2; cat /sys/class/nvme/nvme*/serial; ls /dev | grep ^ng
	grep -o "^xfs" /proc/modules'
if [ $status = 77 ]; then
	echo "# SKIP kernel 6.12: $(tail -n 1 "$tmp/err")"
else
	is_status 0 "exit status 0 is passed on"
	is "$(xargs <"$tmp/stdout")" "6.12 kvio0 kvio0 ng0n1 xfs" \
		"kernel 6.12 sees two paths to one namespace, and the module"
fi

began=$(date +%s)
run -- sh -c 'echo c >/proc/sysrq-trigger'
is_status 125 "a kernel panic ends with status 125"
ok "the kernel's words are shown" grep -q 'Kernel panic - not syncing' "$tmp/err"

# Time enough to boot, however busy the machine is.
limit=$((5 + 2 * ($(date +%s) - began)))
run --timeout $limit -- sh -c 'echo alive; sleep 1000'
is_status 124 "a hang ends with status 124"
is "$(cat "$tmp/stdout")" alive "its output so far is there"
ok "the limit is reported" grep -q "time limit of $limit s reached" "$tmp/err"

done_testing
