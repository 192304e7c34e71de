#!/bin/sh
# An aggregator is busy, then stores a batch, then does not answer any more: the program
# that gives up says that nobody answers, not that somebody is busy.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/agent.sh
. "$ROOT/tests/flow/agent.sh"

generate() {
	# shellcheck disable=SC2016 # a partition's name
	poolscope-generate testrun --runs 2000 --base 0 -p 'a$pool' --broker "$AGGREGATOR" \
		--timeout $((5 * SLOW))s
}
echo once >"$OUT.mode"
start_aggregator || exit 1
check_status 1 "who is busy, then silent, is given up" generate
check_printed "... as silent" "no answer from $AGGREGATOR for"
check_text "... when a batch was stored" 1 "$(stored 'r["seq"]' | sort -u | wc -l)"
stop aggregator KILL
echo busy >"$OUT.mode"
start_aggregator || exit 1
check_status 1 "who is always busy is given up" generate
check_printed "... as busy" "busy for .*run the same import again"
