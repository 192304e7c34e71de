#!/bin/sh
# The view of a node, against what the terminal says.
#
# acct$pool: four nodes in a phase from 0 to 100 s.  The depth of n1 is 1, at 50 s it is 5; that of
# n2 is 3, of n3 4, of n4 10 all the time.  So the median of the four is 3 (the second of 1 3 4 10),
# at 50 s it is 4 (of 3 4 5 10).  n1's limit is always 7; its boot is at 1700000000, which is a
# time, 2023-11-14 22:13:20 UTC, and no duration of 19,676 days.  Group fixed did not change, and
# comes last though its name is the first.
#
# Curves and phases have one axis: a time is at the same place in all of them.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_steps
{
	for n in 1 2 3 4; do
		echo "group n$n queue app.depth:{thing}:gauge app.limit:{thing}:gauge app.boot:s:gauge"
		echo "group n$n fixed app.fixed:{kill}/s:gauge"
		echo "event 0 n$n work:start"
		echo "event 100 n$n work:end"
	done
	for t in 0 10 20 30 40 50 60 70 80 90 100; do
		depth=1
		[ $t != 50 ] || depth=5
		echo "sample $t n1 queue $depth 7 1700000000"
		echo "sample $t n2 queue 3 7 1700000000"
		echo "sample $t n3 queue 4 7 1700000000"
		echo "sample $t n4 queue 10 7 1700000000"
		echo "sample $t n1 fixed 0"
	done
} | records
poolscope-stats samples --by node -n n1 --format json >"$TMP/samples" || exit 1
poolscope-stats series -m app.depth --as bands --format json >"$TMP/bands" || exit 1
page_start
page_judge node.mjs "$TMP/samples" "$TMP/bands" ${SHOTS:+"$SHOTS"}
stop web
stop aggregator
