# Steps in which most nodes say nothing.  Fourteen nodes, n01 to n14; node k reports 10 k
# every 10 s, when it reports:
#
#   second    0-10   20-40     50-70      80-90     100      110-140
#   who       n01    all       n09-n14    all       n01-n07  n01
#   nodes     1      14        6          14        7        1
#   few?      yes    no        yes        no        no       yes
#   p50       10     70        110        70        40       10
#
# Few is fewer than half of 14: 6 are, 7 are not.  Nearest rank: of 14 values the 7th, of 6 the
# 3rd, of 7 the 4th.  That is 2 + 3 + 4 = 9 steps.  A value holds until the next one for at most
# two steps: none does here.
#
# From second 110 on n01 is all that there is: then it is the pool, and not few.
#
# The picture's median is the mean of the two middle ones: 75 of 14, 115 of 6.  A file has the
# middle of each step, and 1 where it is few.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"

aggregate
awk -f "$ROOT/tests/scenario/few_nodes.awk" | records
depth() {
	poolscope-stats series -m app.depth --as bands --format csv "$@" | tr -d '\r' | sed 1d
}
answer "each step says of how many nodes it is" "1,10.0,true
1,10.0,true
14,70.0,false
14,70.0,false
14,70.0,false
6,110.0,true
6,110.0,true
6,110.0,true
14,70.0,false
14,70.0,false
7,40.0,false
1,10.0,true
1,10.0,true
1,10.0,true
1,10.0,true" depth --columns nodes,p50,few
check "a table" poolscope-stats series -m app.depth
check_printed "... says how many" "^few nodes in 9 steps: fewer than half of those of another step; of the others nothing is known there$"
answer "when the others are gone for good, those that are left are the pool" "1,10.0,false
1,10.0,false
1,10.0,false
1,10.0,false" depth --columns nodes,p50,few --from 2023-11-14T22:15:10Z
check "... and the table" poolscope-stats series -m app.depth --from 2023-11-14T22:15:10Z
check_text "... says nothing of few" "" "$(grep few "$TMP/out")"
answer "a line of a node is whole" "10.0," depth --columns mean,few -n n01 --as lines --from 2023-11-14T22:15:40Z

check "a picture" poolscope-plot samples -m app.depth --term png -o "$TMP/plots" --quiet
check_text "... has them in its file" "# time least median greatest nodes few
1700000005.00 10 10 10 1 1
1700000015.00 10 10 10 1 1
1700000025.00 10 75 140 14 0
1700000035.00 10 75 140 14 0
1700000045.00 10 75 140 14 0
1700000055.00 90 115 140 6 1" "$(sed -n 1,7p "$TMP"/plots/*.dat)"
check "... and draws no band there" grep -q 'using 1:(\$6>0?NaN:\$2)' "$TMP"/plots/*.plot
check "... and a legend" grep -q 'median of fewer than half' "$TMP"/plots/*.plot
stop aggregator
