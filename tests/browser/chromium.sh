# SPDX-License-Identifier: Apache-2.0
# Opens pages in headless Chromium; to be sourced.  Needs $tmp.
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}

# browse OUTPUT FLAG...: one run with a profile of its own, what it prints in $tmp/dom; made again when OUTPUT stays
# empty, as it does when the browser dies under load
browse() {
	browse_out=$1
	shift
	for browse_try in 1 2 3; do
		browse_profile=$(mktemp -d "$tmp/profile.XXXXXX") || return 1
		timeout 120 "$CHROMIUM" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run \
			--disable-background-networking --disable-component-update --disable-sync --disable-default-apps \
			--user-data-dir="$browse_profile" --enable-logging=stderr --virtual-time-budget=5000 \
			"$@" >"$tmp/dom" 2>"$tmp/log"
		rm -rf "$browse_profile"
		[ ! -s "$browse_out" ] || return 0
		echo "# chromium gave nothing (try $browse_try)"
	done
	return 1
}

# page FILE[#FRAGMENT] [FLAG...]: the page as it is after its scripts have run is in $tmp/dom, what it told the
# console in $tmp/console
page() {
	page_url=$1
	shift
	browse "$tmp/dom" --window-size=1280,900 "$@" --dump-dom "file://$page_url"
	grep 'CONSOLE' "$tmp/log" >"$tmp/console"
}

# drawn: "name=pixels" of each chart, one a line
drawn() {
	sed -n 's/.*<html[^>]* data-drawn="\([^"]*\)".*/\1/p' "$tmp/dom" | tr ' ' '\n'
}
