#!/bin/sh
# A pool of 60 nodes with 120 metrics each: its report has ten of them with a curve, is a file that a mail
# can carry, and says in one line what it lacks; its text is no longer than a ticket.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate --models "$ROOT/deploy/models"
awk 'BEGIN { srand(7)
	for (n = 1; n <= 60; n++) {
		print "event 0 n" n " nodeprep:start"
		print "event " 20 + rand() " n" n " nodeprep:end"
		printf "group n" n " app"
		for (m = 1; m <= 120; m++)
			printf " app.metric%d:1:gauge", m
		print ""
		print "----" # a batch has a bound
		for (t = 0; t < 600; t += 15) {
			printf "sample " t " n" n " app"
			for (m = 1; m <= 120; m++)
				printf " %.6f", rand() * m
			print ""
		}
	} }' | records

# keys PATTERN: how many answers of the page have such a key.
keys() {
	/usr/bin/python3 "$ROOT/tests/flow/report_judge.py" keys "$TMP/r.html" | grep -c "$1"
}
check "a report" poolscope-report -o "$TMP/r.html"
check_printed "one line says what is left out" "110 other metrics (poolscope stats samples -p 'acct\\\$pool')"
check_text "... one" 1 "$(grep -c "left out" "$TMP/err")"
check_text "ten metrics have a curve" 10 "$(keys '/series?')"
check_text "... and their nodes" 1 "$(keys '/samples?by=node')"
check "it has at most 250 KB" test "$(wc -c <"$TMP/r.html")" -le 250000
for format in md text; do
	check "as $format" poolscope-report -q --format $format -o "$TMP/r.$format"
	check "... of at most 80 lines" test "$(wc -l <"$TMP/r.$format")" -le 80
	check_text "... without braces" "" "$(grep '[{}]' "$TMP/r.$format")"
	check_text "... with ten metrics" 10 "$(grep -c '^[| ]*app.metric' "$TMP/r.$format")"
done
stop aggregator
