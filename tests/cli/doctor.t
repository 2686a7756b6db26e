#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kvio doctor on machines made of files, and what it says of this one.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
sys=$tmp/sys proc=$tmp/proc dev=$tmp/dev

# A machine where all is well, with one drive of two namespaces and a multipath one.
mkdir -p "$sys/kernel/security" "$sys/kernel/btf" "$sys/kernel/tracing/events" "$proc/self/ns" "$proc/sys/kernel" "$dev"
echo '[none] integrity confidentiality' >"$sys/kernel/security/lockdown"
echo 0 >"$proc/sys/kernel/io_uring_disabled"
printf 'Name:\tkvio\nNSpid:\t17\nCapEff:\t000001ffffffffff\n' >"$proc/self/status"
printf 'HugePages_Total:       0\nHugePages_Free:        0\nHugepagesize:       2048 kB\n' >"$proc/meminfo"
ln -s 'pid:[4026531836]' "$proc/self/ns/pid"
echo '1 1 0:1 / / rw - rootfs rootfs rw' >"$proc/self/mountinfo"

ctrl() {
	mkdir -p "$sys/class/nvme/$1"
	echo "Test Drive   " >"$sys/class/nvme/$1/model"
	echo "$2" >"$sys/class/nvme/$1/serial"
}
disk() { # NAME CONTROLLER LBA NUMBER
	mkdir -p "$sys/block/$1/queue" "$sys/block/$1/mq/0"
	echo 2097152 >"$sys/block/$1/size"
	echo 1 >"$sys/block/$1/nsid"
	echo "$3" >"$sys/block/$1/queue/logical_block_size"
	echo 128 >"$sys/block/$1/queue/max_hw_sectors_kb"
	echo 33 >"$sys/block/$1/queue/max_segments"
	echo 1023 >"$sys/block/$1/queue/nr_requests"
	echo '[none]' >"$sys/block/$1/queue/scheduler"
	[ -z "$4" ] || echo "$4" >"$sys/block/$1/dev"
	[ -z "$2" ] || ln -s "../../class/nvme/$2" "$sys/block/$1/device"
	: >"$dev/$1"
}
generic() {
	mkdir -p "$sys/class/nvme-generic/$1"
	echo "$2" >"$sys/class/nvme-generic/$1/dev"
}
ctrl nvme0 SERIAL7
ctrl nvme1 SERIAL8
disk nvme0n1 nvme0 4096 259:0
disk nvme0n2 nvme0 512 259:1
disk nvme1n1 '' 4096 259:2
disk nvme1c1n1 nvme1 4096 ''
disk nvme1c2n1 nvme1 4096 ''
generic ng0n1 246:0
generic ng0n2 246:1
generic ng1n1 246:2

doctor() {
	out=$("$KVIO" doctor --sysfs "$sys" --proc "$proc" --dev "$dev" "$@" 2>"$tmp/err")
	rc=$?
}

tracers=$("$KVIO" version --json | grep -c '"tracers":true')
# The kernel's types, as a file: real BTF from the compiler, with the driver's tracepoints.
types() { # FILE TYPEDEF...
	file=$1
	shift
	for t in "$@"; do
		printf 'typedef void (*%s)(void *);\n%s v_%s;\n' "$t" "$t" "$t"
	done >"$tmp/types.c"
	clang -target bpf -g -O2 -c -o "$file" "$tmp/types.c" 2>/dev/null
}

types "$sys/kernel/btf/vmlinux" btf_trace_nvme_setup_cmd btf_trace_nvme_complete_rq
if [ "$tracers" = 1 ] && [ -s "$sys/kernel/btf/vmlinux" ]; then
	doctor
	is "$rc" 0 'a machine where all is well: exit 0'
	like "$out" '^ok +nvme hooks: .* types from vmlinux$' 'a driver built in is found in vmlinux'
	is "$(echo "$out" | grep -c '^FAIL')" 0 'nothing fails'
	is "$(echo "$out" | grep -vcE '^(ok|warn|FAIL) +[^:]+: ')" 0 'each line is level, what, finding'

	for mode in '[none] integrity confidentiality' 'none [integrity] confidentiality'; do
		echo "$mode" >"$sys/kernel/security/lockdown"
		doctor
		is "$rc" 0 "lockdown '$mode' passes"
	done
	echo 'none integrity [confidentiality]' >"$sys/kernel/security/lockdown"
	doctor
	is "$rc" 3 'lockdown in confidentiality mode: exit 3'
	like "$out" '^FAIL +lockdown: confidentiality' 'and the word is named'
	rm "$sys/kernel/security/lockdown"
	doctor
	is "$rc" 0 'no lockdown file is no lockdown'
	like "$out" '^ok +lockdown: mode not readable' 'and is told'

	types "$sys/kernel/btf/vmlinux" something_else
	doctor
	is "$rc" 3 'no driver: exit 3'
	like "$out" '^FAIL +nvme hooks: no NVMe driver' 'no driver is told from ...'
	mkdir -p "$sys/module/nvme_core"
	echo live >"$sys/module/nvme_core/initstate"
	doctor
	like "$out" '^FAIL +nvme hooks: .* types are missing; .*CONFIG_DEBUG_INFO_BTF_MODULES' '... a driver without types'
	types "$sys/kernel/btf/vmlinux" btf_trace_nvme_setup_cmd btf_trace_nvme_complete_rq
	doctor --btf /nonexistent
	is "$rc" 3 'no BTF: exit 3'
	is "$(echo "$out" | grep -ci btf)" 1 'no BTF: one line'
	like "$out" '^FAIL +btf: .*/nonexistent.*CONFIG_DEBUG_INFO_BTF.*pahole' 'no BTF: option and pahole named'
	echo garbage >"$tmp/garbage"
	doctor --btf "$tmp/garbage"
	is "$rc" 3 'garbage instead of BTF: exit 3'
else
	echo "# SKIP the kernel's types: built without tracers, or no clang to make BTF"
fi

# Rights.
printf 'NSpid:\t1234\t1\nCapEff:\t0000000000000000\n' >"$proc/self/status"
ln -sfn 'pid:[4026532001]' "$proc/self/ns/pid"
echo 1 >"$proc/sys/kernel/io_uring_disabled"
mv "$sys/kernel/tracing" "$sys/kernel/tracing.off"
(ulimit -S -l 64 2>/dev/null; "$KVIO" doctor --sysfs "$sys" --proc "$proc" --dev "$dev" >"$tmp/out" 2>/dev/null; echo $? >"$tmp/rc")
out=$(cat "$tmp/out")
is "$(cat "$tmp/rc")" 3 'no capabilities: exit 3'
like "$out" '^FAIL +capabilities: .*CAP_BPF.*; .*sudo' 'missing capabilities are named, with a remedy'
like "$out" 'ns pid 1 = host pid 1234' 'both pid numbers of a container'
like "$out" '^warn +io_uring: kernel.io_uring_disabled is 1' 'io_uring for a group only'
like "$out" '^warn +tracefs: not mounted' 'no tracefs'
like "$out" '^warn +memlock: 65536 bytes; .* 4194304' 'a low RLIMIT_MEMLOCK: both numbers'
printf 'NSpid:\t1\nCapEff:\t000000c000000000\n' >"$proc/self/status"
echo 2 >"$proc/sys/kernel/io_uring_disabled"
doctor
like "$out" '^warn +pid namespace: .*not those that the kernel reports' 'a container that does not see the host: says so'
like "$out" '^warn +io_uring: kernel.io_uring_disabled is 2' 'io_uring off'
like "$out" '^warn +capabilities: have CAP_BPF CAP_PERFMON, lack' 'enough to record'
mv "$sys/kernel/tracing.off" "$sys/kernel/tracing"

# Devices.
like "$out" '^ok +nvme0n1: ng0n1, Test Drive, 4096-byte blocks, 1.00 GiB; largest command 128 KiB \(max_hw_sectors_kb\), 1 queues of 1023; not in use' 'a drive in one line'
like "$out" 'nvme1n1: .*multipath of 2' 'multipath: one namespace'
is "$(echo "$out" | grep -c 'nvme1c')" 0 'the paths are no drives'
mkdir -p "$sys/block/nvme0n2/nvme0n2p1"
echo 1 >"$sys/block/nvme0n2/nvme0n2p1/partition"
echo 259:7 >"$sys/block/nvme0n2/nvme0n2p1/dev"
printf '%s\n' '22 1 259:7 / /mnt/kv\040ca\033che rw - ext4 /dev/x rw' >>"$proc/self/mountinfo"
doctor
like "$out" 'nvme0n2: .*used: nvme0n2p1 partition, nvme0n2p1 mount /mnt/kv ca\?che' 'a mounted partition is a use, and no terminal escape'
doctor --json
is "$(echo "$out" | wc -l)" 1 'JSON is one line'
like "$out" '^\{"schema":"kvio_doctor","schema_version":1,"status":"fail|warn' 'with a schema version'
like "$out" '"name":"nvme1n1".*"paths":\["nvme1c1n1","nvme1c2n1"\]' 'paths in JSON'
like "$out" '"used_by":\[\{"kind":"partition","node":"nvme0n2p1","what":""\},\{"kind":"mount"' 'users in JSON'
ok 'the serial is not shown' sh -c '! printf "%s" "$1" | grep -q SERIAL' - "$out"
is "$(cat "$tmp/err")" '' '--json says nothing on stderr'
if command -v python3 >/dev/null; then
	ok 'a JSON parser reads it' sh -c 'printf "%s" "$1" | python3 -m json.tool >/dev/null' - "$out"
fi
rm -rf "$sys/block"
mkdir "$sys/block"
rm -rf "$sys/class"
doctor
like "$out" '^warn +devices: no NVMe namespace' 'no drive'

# Usage, and this machine.
"$KVIO" doctor something >"$tmp/out" 2>"$tmp/err"
is "$?" 2 'an operand: exit 2'
is "$(cat "$tmp/out")" '' 'and nothing on stdout'
"$KVIO" doctor >"$tmp/out" 2>"$tmp/err"
rc=$?
fails=$(grep -c '^FAIL' "$tmp/out")
is "$rc" "$([ "$fails" = 0 ] && echo 0 || echo 3)" 'on this machine: exit 3 if and only if a line says FAIL'
done_testing
