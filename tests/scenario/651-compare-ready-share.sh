#!/bin/sh
# A pool of two nodes that is ready with one of them: its model says so.  Its starts, one every 10,000 s:
# seven in which n1 is prepared after 100, 101 ... 106 s, then seven after 112, 113 ... 118 s.  n2 is never
# prepared in the first, always after 500 s in the others.
#
# The pool is ready with n1.  As in 646: worse, the limits are 113 / 106 = 1.0660 and 117 / 100 = 1.17; the medians
# are 103 and 115.  An eighth, in which none is prepared, is not compared.  The median of what the nodes spent
# in the phase is of n1 alone, then of both: (112 + 500) / 2 = 306, 306.5 ... 309, so 103 and 307.5, and
# the limits are 306.5 / 106 = 2.8915 and 308.5 / 100.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model pool <<'END'
	pool {
		ready_share = 0.5
	}
	phase "prep" {
		start = "prep:start"
		end = "prep:end"
		required = true
	}
END
aggregate --models "$TMP/models"
for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
	echo "event $((i * 10000)) n1 prep:start"
	echo "event $((i * 10000)) n2 prep:start"
	[ $i != 14 ] || continue
	took=$((100 + i))
	if [ $i -ge 7 ]; then
		took=$((105 + i))
		echo "event $((i * 10000 + 500)) n2 prep:end"
	fi
	echo "event $((i * 10000 + took)) n1 prep:end"
done | records
answer "worse" "ready worse 1.0660 1.1700 103.0000 115.0000 7 7 -
p50:pool:prep worse 2.8915 3.0850 103.0000 307.5000 7 7 -" compared 3 poolscope-stats compare --format csv --with last:7
check "... but for one in which none was ready" grep -q '1 run failed or did not end' "$TMP/notes"
stop aggregator
