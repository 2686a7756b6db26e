# SPDX-License-Identifier: Apache-2.0
# TAP for shell tests: source it, call is/ok/like, end with done_testing.
tap_n=0 tap_failed=0

# ok DESCRIPTION COMMAND...: passes when the command succeeds.
ok() {
	tap_what=$1
	shift
	tap_n=$((tap_n + 1))
	if "$@"; then
		echo "ok $tap_n - $tap_what"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_n - $tap_what"
		echo "# failed: $*" | head -c 2000
		echo
	fi
}

# size_counts WHAT: tests of how much it takes say nothing more under sanitizers, where they are slow.
size_counts() {
	case ${B:-build} in *san) ;; *) return 0 ;; esac
	[ -z "$KVIO_TEST_LONG" ] || return 0
	echo "# SKIP $1, under sanitizers: KVIO_TEST_LONG=1 has it"
	return 1
}

# is GOT WANTED DESCRIPTION
is() {
	tap_n=$((tap_n + 1))
	if [ "$1" = "$2" ]; then
		echo "ok $tap_n - $3"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_n - $3"
		printf '%s\n' "got:    $1" "wanted: $2" | sed 's/^/# /'
	fi
}

# like TEXT PATTERN DESCRIPTION: the text has a line that matches (extended regular expression).
like() {
	tap_n=$((tap_n + 1))
	if printf '%s\n' "$1" | grep -qE -- "$2"; then
		echo "ok $tap_n - $3"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_n - $3"
		printf '%s\n' "text:" "$1" "has no: $2" | sed 's/^/# /'
	fi
}

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

done_testing() {
	echo "1..$tap_n"
	[ "$tap_failed" -eq 0 ]
	exit
}
