# viewers - our JSON traces in the Performance panel of Chromium's developer
# tools, with pictures to look at.  By hand (make viewers): it takes Debian's
# chromium, node, and playwright-core from the npm registry.
#
#	sh tests/viewers/run.sh [DIR]		the pictures go there (build/viewers)
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # the $ is a partition's
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
PATH=$PWD/$B/bin:$PATH
out=${1:-build/viewers}
mkdir -p "$out" build/viewers
for program in chromium node npm; do
	command -v $program >/dev/null || { echo "viewers: there is no $program" >&2; exit 1; }
done
[ -d build/viewers/node_modules/playwright-core ] ||
	npm install --silent --ignore-scripts --prefix build/viewers playwright-core >/dev/null
NODE_PATH=$PWD/build/viewers/node_modules
tmp=$(mktemp -d "${TMPDIR:-/tmp}/poolscope.XXXXXX")
POOLSCOPE_DIR=$tmp/i
export PATH NODE_PATH POOLSCOPE_DIR
trap 'poolscope down >/dev/null 2>&1; rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

poolscope up >/dev/null
poolscope-import -q cascade deploy/demo/render-60.jsonl
poolscope-import -q scanner -p 'demo$scanner' tests/golden/scanner/s02_two_workers/db --job 3
tries=600
until tests/flow/counters.py |
	python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)["store"]["indexing_lag"] != 0)'; do
	tries=$((tries - 1))
	[ "$tries" -gt 0 ] || { echo "viewers: indexing does not end" >&2; exit 1; }
	sleep 0.1
done
poolscope-trace -q -p 'prodacct$render-60' -o "$tmp/render-60.json"
poolscope-trace -q -p 'prodacct$render-60' -o "$tmp/render-60.json.gz"
poolscope-trace -q -p 'demo$scanner' -o "$tmp/scanner.trace"
cp "$tmp/scanner.trace" "$tmp/scanner.json"
poolscope-trace -q -p 'demo$scanner' scanner --job 3 -o "$tmp/scanner-older.trace"
cp "$tmp/scanner-older.trace" "$tmp/scanner-older.json"
for trace in render-60.json render-60.json.gz scanner.json scanner-older.json; do
	printf '%s: ' "$trace"
	timeout 120 node tests/viewers/devtools.js "$tmp/$trace" "$out/$trace.png"
done
echo "look at $out/*.png"
