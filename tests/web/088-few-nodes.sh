#!/bin/sh
# Curves of a pool, in steps of which few nodes say something.
#
# acct$pool: the records of scenario/536: fifteen steps of 10 s, of which the steps 0, 1, 5 to 7 and
# 11 to 14 are of fewer than half of the 14 nodes.  The line of the median and the band go from
# step 2 to 4 and from 8 to 10; the others are points.
#
# acct$gap: 14 nodes report 5 in the steps 0 to 2 and 7 to 9, and nobody in between: two bands, with
# nothing between them.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate
awk -f "$ROOT/tests/scenario/few_nodes.awk" | records
awk 'BEGIN { for (k = 1; k <= 14; k++) {
	printf "group n%02d app/p app.depth:{thing}:gauge\n", k
	for (step = 0; step <= 9; step++)
		if (step < 3 || step > 6)
			printf "sample %d n%02d app/p 5\n", 10 * step, k
} }' >"$TMP/gap"
check "a pool that was silent" /usr/bin/python3 "$ROOT/tests/scenario/records.py" "ipc://$DIR/run/intake.ipc" 'acct$gap' <"$TMP/gap"
wait_until indexed 60
check "a report" poolscope-report -p 'acct$pool' -o "$TMP/report.html" --quiet
page_start
page_judge few.mjs ${SHOTS:+"$SHOTS"}
ADDRESS=$TMP/report.html
page_judge few.mjs ${SHOTS:+"$SHOTS"}
stop web
stop aggregator
