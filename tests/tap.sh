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

# soon COMMAND...: waits until the command succeeds, a minute at most: a slow machine is no failure.
soon() {
	tap_until=$(($(date +%s) + 60))
	until "$@"; do
		[ "$(date +%s)" -lt "$tap_until" ] || return 1
		sleep 0.05
	done
}

# bounded COMMAND...: is ended after two minutes; it keeps its process, so "bounded x &" can be signalled as $!.
bounded() {
	exec perl -e 'alarm 120; exec @ARGV' "$@"
}

# interrupt PID: SIGINT, as soon as the program handles it.  What a script runs behind it ignores the signal until then.
interrupt() {
	soon grep -q '^SigCgt:.*[2367abef]$' "/proc/$1/status"
	kill -INT "$1"
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
