# SPDX-License-Identifier: Apache-2.0
# Shared by run, base and kernel in this directory, which source it after
# setting `here` to that directory.

say() {
	echo "vm/${0##*/}: $*" >&2
}

die() { # CODE MESSAGE...
	code=$1
	shift
	say "$@"
	exit "$code"
}

need() { # PROGRAM PACKAGE
	command -v "$1" >/dev/null ||
		die 77 "$1 not found: install the package $2 (scripts/deps installs all of them)"
}

cache=${KVIO_VM_CACHE:-${here%/*}/build/vm}
cache=$(mkdir -p "$cache" && cd "$cache" && pwd) ||
	die 125 "cannot use the cache folder ${KVIO_VM_CACHE:-build/vm}"

# Shared libraries of programs, the loader included; scripts and static
# programs have none.
libraries_of() {
	[ $# = 0 ] || ldd "$@" 2>/dev/null | awk '
		$2 == "=>" && $3 ~ /^\// { print $3 }
		$1 ~ /^\// && $2 ~ /^\(0x/ { print $1 }' | sort -u
}

# Both archives need these links: a folder in the second would replace a link
# of the first, and with it all that is behind it.
make_root() { # ROOT
	mkdir -p "$1/usr/lib" "$1/usr/lib64" "$1/usr/local/bin" "$1/etc"
	ln -s usr/lib "$1/lib"
	ln -s usr/lib64 "$1/lib64"
}

# Libraries keep their host paths, so run paths inside them stay right.
add_libraries() { # ROOT FILE...
	root=$1
	shift
	libraries_of "$@" | while read -r lib; do
		mkdir -p "$root${lib%/*}" && cp -L "$lib" "$root$lib" || return
	done
}

# The newc format is the one the kernel reads; owner root whoever runs this.
pack() { # ROOT
	(cd "$1" && find . -mindepth 1 | cpio -o -H newc -R 0:0 --quiet)
}
