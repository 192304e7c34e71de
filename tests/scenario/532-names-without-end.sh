#!/bin/sh
# Somebody makes a name of everything: models with thousands of phases, and 300 events of one's own.
#
# Two models have 200 phases each; all models together may have 256, so one of them is refused, by its name.
# Of the events on n1 and n2, task-1 to task-300 of 2 s each, one after the other, 256 names are phases.  A
# picture names 40 of them, which is what the page does, and says that there are 216 more; its table has all.
# The picture of one node is high enough for three columns of names: 14 lines of 22 pixels, 40/3 + 4 = 17 rows.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

for name in one two; do
	seq 200 | awk '{ printf "phase \"p%d\" { start = \"s:a%d\" end = \"s:b%d\" }\n", $1, $1, $1 }' | model $name
done
check_status 3 "400 phases in two models" poolscope-admin models check "$TMP/models/one.conf" "$TMP/models/two.conf"
check_printed "... the second is refused" "two.conf:1: more than 256 phases in all models"
mkdir "$TMP/none"
aggregate --models "$TMP/none"
seq 300 | awk '{ for (n = 1; n <= 2; n++)
	printf "event %d n%d task-%d:start\nevent %d n%d task-%d:end\n", 2 * $1, n, $1, 2 * $1 + 2, n, $1 }' | records

# named FILE: how many phases a script names, how many it counts, how many series read the table.
named() {
	echo "$(grep -c ' title "task-' "$1") $(grep -o '"and [0-9]* more"' "$1" | tr -d '"') $(grep -c ' skip 1 using' "$1")"
}
check "a picture" poolscope-plot phases -o "$TMP/plot"
check "... is one" /usr/bin/python3 "$ROOT/tests/golden/compare.py" png "$TMP/plot/acct-pool-none-phases.png"
# All once as colours, and those from the 9th to the 40th as patterns.
check_text "... names 40, and counts the others" "40 and 216 more 33" "$(named "$TMP/plot/acct-pool-none-phases.plot")"
check_text "... and its table has all, of both nodes" 512 "$(grep -c none:task- "$TMP/plot/acct-pool-none-phases.dat")"
check "a picture of a node" poolscope-plot phases -n n2 --no-png -o "$TMP/one"
check "... has room for the names" grep -q "yrange \[17.5:0.5\]" "$TMP/one/acct-pool-none-phases.plot"
check "as characters" poolscope-plot phases --term dumb
check_printed "..." "and 216 more"
check_text "... within 80 columns" "" "$(awk 'length > 80' "$TMP/out")"
check_text "statistics have all" 256 "$(poolscope-stats phases --format csv | grep -c none:task-)"
check "a report" poolscope-report -o "$TMP/report.html"
