# lib - what the benches begin with that are shell and have an instance.
#
#	. "$(dirname "$0")/lib.sh"
#	poolscope up >/dev/null
#	wait_indexed
#	measure "all metrics" poolscope-stats perf -q -o "$TMP/out"
#
# The instance is in a directory $TMP of the bench's own; at the end it is
# stopped and the directory goes.
#
#	B=build		the variant to measure
#	RUNS=5		the best of 5 is printed
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
PATH=$PWD/$B/bin:$PATH
export PATH
RUNS=${RUNS:-5}
TMP=$(mktemp -d "${TMPDIR:-/tmp}/poolscope.XXXXXX")
POOLSCOPE_DIR=$TMP/i
export POOLSCOPE_DIR
trap 'poolscope down >/dev/null 2>&1; rm -rf "$TMP"' EXIT
trap 'exit 1' INT TERM

# measure NAME COMMAND...: what the best of $RUNS took, followed by $GOAL.
measure() {
	/usr/bin/python3 tests/bench/measure.py "$RUNS" "$@"
}

# Until everything that was acknowledged is in the tables.
wait_indexed() {
	tries=1200
	until [ "$(tests/flow/counters.py |
		/usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["store"]["indexing_lag"])')" = 0 ]; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || { echo "indexing does not end" >&2; exit 1; }
		sleep 0.1
	done
}
