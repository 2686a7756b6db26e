#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The program as a whole: commands, help, completion, older names, install.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
KVIO=${KVIO:-build/kvio}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

"$KVIO" >"$dir/out" 2>&1
is $? 2 "no command: exit 2"
like "$(cat "$dir/out")" '^  record ' "no command: lists the commands"
like "$("$KVIO" --version)" '^kvio [0-9a-z]' "--version"
ok "version --json is JSON" sh -c '"$0" version --json | jq -e .version >/dev/null' "$KVIO"
out=$("$KVIO" reocrd 2>&1)
is $? 2 "unknown command: exit 2"
like "$out" "did you mean 'record'" "unknown command: the nearest is suggested"
out=$("$KVIO" report --jsn x 2>&1)
is $? 2 "unknown option: exit 2"
like "$out" "did you mean '--json'" "unknown option: the nearest is suggested"
out=$("$KVIO" report -o 2>&1)
is $? 2 "missing argument: exit 2"
like "$out" "needs an argument" "missing argument: said"
out=$("$KVIO" version --json=yes 2>&1)
is $? 2 "a flag takes no argument"

"$KVIO" completion bash >"$dir/completion"
for c in $("$KVIO" help --names); do
	out=$("$KVIO" "$c" --help 2>&1)
	is $? 0 "$c --help: exit 0"
	like "$out" '^Examples:' "$c --help: has examples"
	is "$(printf '%s\n' "$out" | awk 'length > 80' | wc -l)" 0 "$c --help: within 80 columns"
	is "$("$KVIO" help "$c")" "$out" "help $c is the same"
	if command -v groff >/dev/null; then
		is "$("$KVIO" help --man "$c" | groff -man -Tutf8 -ww 2>&1 >/dev/null)" "" "$c: man page has no warning"
	fi
	# Each option of --help is known to completion.
	missing=''
	for o in $(printf '%s\n' "$out" | sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p'); do
		grep -q -- " $o\b" "$dir/completion" || missing="$missing $o"
	done
	is "$missing" "" "$c: completion knows every option"
done

for s in bash zsh fish; do
	ok "completion $s" sh -c '"$0" completion "$1" >"$2"' "$KVIO" $s "$dir/$s"
	if command -v $s >/dev/null; then
		ok "completion $s: the shell takes it" $s -n "$dir/$s"
	else
		echo "# SKIP $s is not installed: its completion is not parsed"
	fi
done
is "$(bash -c '. "$1"; COMP_WORDS=(kvio rec); COMP_CWORD=1; _kvio; echo "${COMPREPLY[@]}"' x "$dir/bash")" record \
	"completion bash: completes a command"
is "$(bash -c '. "$1"; COMP_WORDS=(kvio record --dur); COMP_CWORD=2; _kvio; echo "${COMPREPLY[@]}"' x "$dir/bash")" \
	--duration "completion bash: completes an option"
"$KVIO" completion csh >/dev/null 2>&1
is $? 2 "completion: an unknown shell is a usage error"

# Older names select a command; only exact ones do.
abs=$(realpath "$KVIO")
ln -s "$abs" "$dir/kvio2perfetto"
ln -s "$abs" "$dir/nvme_uring_cmd_monitor"
ln -s "$abs" "$dir/nvme_uring_cmd_smoke"
ln -s "$abs" "$dir/my_kvio2perfetto"
like "$("$dir/kvio2perfetto" --help)" '^kvio perfetto:' "kvio2perfetto is kvio perfetto"
like "$("$dir/nvme_uring_cmd_monitor" --help)" '^kvio record:' "nvme_uring_cmd_monitor is kvio record"
like "$("$dir/nvme_uring_cmd_smoke" --help)" '^kvio smoke:' "nvme_uring_cmd_smoke is kvio smoke"
like "$("$dir/my_kvio2perfetto" version)" '^kvio ' "another name is kvio itself"

"$KVIO" help >/dev/full 2>"$dir/err"
is $? 1 "a full disk under stdout is a failure"
like "$(cat "$dir/err")" 'cannot write' "a full disk under stdout is said"
done_testing
