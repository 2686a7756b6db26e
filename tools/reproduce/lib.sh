# SPDX-License-Identifier: Apache-2.0
# What the studies share: their options, and where they issue: on a drive of the user's, or on an emulated one.
# A study has set $what, and defines issue(), which runs kvio with $target into the current directory.
here=$(cd "$(dirname "$0")" && pwd)

usage() {
	cat <<END
usage: ${0##*/} -o DIR [--device NODE --yes-destroy-data NAME] [--kernel 6.1|6.12]

$what

Without --device it runs in a VM with an emulated drive (of --kernel, 6.12): the
driver and the counts are real, speeds mean nothing. With it, it runs on that
drive, as root: ALL OF ITS DATA IS OVERWRITTEN.

DIR is new; captures and results stay there. Needs jq, and kvio: KVIO=PATH, or as
built in this tree, or on the PATH.
END
}

bad_usage() {
	echo "${0##*/}: $* (see --help)" >&2
	exit 2
}

parse() { # OPTION...
	out='' device='' destroy='' kernel=6.12
	while [ $# -gt 0 ]; do
		case $1 in
		--help | -h) usage && exit ;;
		-o | --output | --device | --yes-destroy-data | --kernel)
			[ $# -ge 2 ] || bad_usage "$1 needs a value"
			option=$1 value=$2
			shift 2
			;;
		--*=*)
			option=${1%%=*} value=${1#*=}
			shift
			;;
		*) bad_usage "unknown option '$1'" ;;
		esac
		case $option in
		-o | --output) out=$value ;;
		--device) device=$value ;;
		--yes-destroy-data) destroy=$value ;;
		--kernel) kernel=$value ;;
		*) bad_usage "unknown option '$option'" ;;
		esac
	done
	[ -n "$out" ] || bad_usage '-o DIR is missing: where the results go'
	[ -z "$device" ] || [ -n "$destroy" ] || bad_usage '--yes-destroy-data must name the drive again'
	[ ! -e "$out" ] || bad_usage "$out is there already"
	command -v jq >/dev/null || bad_usage 'jq is not installed'
	: "${KVIO:=$here/../../../build/kvio}"
	[ -x "$KVIO" ] || KVIO=$(command -v kvio) || bad_usage 'there is no kvio: build it, or give KVIO=PATH'
	KVIO=$(realpath "$KVIO")
}

# Issues, into $out.  What kvio says goes on; the status is that of the first that failed.
study() { # OPTION...
	# In the guest, where it was begun by the lines below.
	[ "${1-}" != --guest ] || {
		cd /out || exit 1
		KVIO=kvio target='--device /dev/ng0n1 --yes-destroy-data=ng0n1'
		issue
		exit
	}
	parse "$@"
	if [ -z "$device" ]; then
		KVIO=$KVIO "$here/../../../vm/run" --kernel "$kernel" --nvme 1G --timeout 300 --in "$0" --in "$here/../lib.sh" --out "$out" \
			-- sh "/in/${0##*/}" --guest || exit
	else
		mkdir "$out" || exit 1
		target="--device $device --yes-destroy-data=$destroy"
		(cd "$out" && issue) || exit
	fi
	echo
	"$KVIO" version | head -n 1
	[ -n "$device" ] && echo "$device, Linux $(uname -r)" || echo "VM, emulated drive of MDTS 128 KiB, Linux $kernel"
}
