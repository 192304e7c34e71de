# live - how long it takes from an event at an agent until it stands on the page in a browser,
# what 64 live streams cost, and whether memory grows while ten clients ask.
#
#	EVENTS=60 MINUTES=60 sh tests/bench/live.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
PAGE=$PWD/build/parts/page
if ! command -v chromium >/dev/null || [ ! -e "$PAGE/complete" ]; then
	echo "SKIPPED live: make test T=web installs Chromium and what drives it"
	exit 0
fi
POOLSCOPE_PARTITION='acct$farm' poolscope up --agent >/dev/null
poolscope-import cascade deploy/demo/render-60.jsonl --quiet
poolscope-generate testrun -q --runs 1000 --base now -p 'acct$farm'
wait_indexed
poolscope-web --quiet --request-rate 0 --listen 127.0.0.1:0 >"$TMP/url" &
web=$!
trap 'kill "$web"; poolscope down >/dev/null 2>&1; rm -rf "$TMP"' EXIT
until grep -qs '#k=' "$TMP/url"; do sleep 0.05; done
node tests/bench/live.mjs "$PAGE" "$(cat "$TMP/url")" "$(command -v chromium)" "${EVENTS:-60}"
echo "goal: p99 1,000 ms"
/usr/bin/python3 tests/bench/live.py "$web" "$(cat "$TMP/url")" "${MINUTES:-6}"
echo "goal: 64 streams 5 % of a core; memory 64 MiB, flat"
