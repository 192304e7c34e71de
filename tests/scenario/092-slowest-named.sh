#!/bin/sh
# Of 70 nodes, too many for a bar each, node K takes 100 + K seconds from the start of
# its preparation to its global resources.  The three slowest, n70, n69 and n68, are
# named in the picture with their 170, 169 and 168 s; it is the picture without --view.
# A node that hangs has no length: n71, which began and did not end, is named in the first line, and
# of three such nodes two.
# Labels stand above the bands and hide none: the axis ends at 170 s and a fifth, 204 s.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
seq 70 | awk '{
	print "event 0 n" $1 " nodeprep:start"
	print "event 50 n" $1 " nodeprep:end"
	print "event 60 n" $1 " cascade:start"
	print "event", 100 + $1, "n" $1, "cascade:gr-done"
}' | records
check "a picture of 70 nodes" poolscope-plot cascade --no-png -o "$TMP/out.d"
grep -o 'set label ".* s  n[0-9]*"' "$TMP/out.d/acct-pool-phases.plot" | sed 's/\\072/:/; s/^set label //' >"$TMP/named"
check_text "names the slowest" '"slowest: 170.0 s  n70"
"169.0 s  n69"
"168.0 s  n68"' "$(cat "$TMP/named")"
check "room for labels" grep -qx 'set yrange \[0:204\]' "$TMP/out.d/acct-pool-phases.plot"

first_line() {
	grep -o 'set label "[^"]* of acct[^"]*"' "$TMP/out.d/acct-pool-$1.plot" | sed 's|\\072|:|g; s|\\073|;|g; s|\\044|$|g; s|^set label ||'
}
check_text "all are drawn" '"Startup of acct$pool"' "$(first_line phases)"
echo "event 0 n71 nodeprep:start" | records
check "a picture with a node that hangs" poolscope-plot cascade --no-png --view all -o "$TMP/out.d"
check_text "names it" '"Startup of acct$pool; 1 incomplete node is not drawn: n71"' "$(first_line phases)"
check_text "... by phases, too" '"Durations of the startup of acct$pool; 1 incomplete node is not drawn: n71"' "$(first_line distribution)"
printf 'event 0 n%s nodeprep:start\n' 72 73 | records
check "a picture with three of them" poolscope-plot cascade --no-png -o "$TMP/out.d"
check_text "names two" '"Startup of acct$pool; 3 incomplete nodes are not drawn: n71, n72 ..."' "$(first_line phases)"
