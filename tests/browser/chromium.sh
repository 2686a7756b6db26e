# SPDX-License-Identifier: Apache-2.0
# Opens pages in headless Chromium; to be sourced.  Needs $tmp.
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}

# page FILE[#FRAGMENT] [FLAG...]: the page as it is after its scripts have run is in $tmp/dom, what it told the
# console in $tmp/console.  Each run has a profile of its own.
page() {
	page_url=$1
	shift
	page_profile=$(mktemp -d "$tmp/profile.XXXXXX") || return 1
	timeout 120 "$CHROMIUM" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync --disable-default-apps \
		--user-data-dir="$page_profile" --enable-logging=stderr --virtual-time-budget=5000 \
		--window-size=1280,900 "$@" --dump-dom "file://$page_url" >"$tmp/dom" 2>"$tmp/log"
	page_status=$?
	grep 'CONSOLE' "$tmp/log" >"$tmp/console"
	rm -rf "$page_profile"
	return $page_status
}

# drawn: "name=pixels" of each chart, one a line
drawn() {
	sed -n 's/.*<html[^>]* data-drawn="\([^"]*\)".*/\1/p' "$tmp/dom" | tr ' ' '\n'
}
