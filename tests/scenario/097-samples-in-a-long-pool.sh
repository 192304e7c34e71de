#!/bin/sh
# A pool of 14 nodes whose names differ only in the middle was sampled every 10 s, from
# 1000 to 1190 s: 20 samples, at slightly different times on each node.  Its events reach
# from 0 to 5 days, later to 20 years.  The picture is that of the time of the samples,
# not one step in five days: 20 columns of 10 s.  In no row is a hole, neither at the
# left, where not every node has its sample in the first second, nor in the middle.
# No two names are equal.
# A window that is asked for is shown as asked: one of 2 h has steps of 20 s or more.
# A single sample of each node is a picture too: lines need two, so it has points and
# bars.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_steps
awk 'BEGIN {
	for (n = 0; n < 14; n++)
		print "group tvm-1392786944_" n "-20171014t165320z-autoscaled-p app load:1:gauge"
	print "event 0 n work:start"
	for (t = 1000; t < 1200; t += 10)
		for (n = 0; n < 14; n++)
			print "sample", t + n / 15, "tvm-1392786944_" n "-20171014t165320z-autoscaled-p app", n
	print "event 432000 n work:end"
}' | records
picture=$TMP/out.d/acct-pool-load-app

# columns_of FILE: of the map, and the number of its holes.
columns_of() {
	/usr/bin/python3 -c 'import sys
rows = [line.split() for line in open(sys.argv[1]).read().split("\n\n\n")[1].splitlines()[1:]]
print(len(rows), len(rows[0]), sum(row.count("nan") for row in rows))' "$1"
}
names() {
	grep '^set ytics ("tvm' "$picture.plot" | grep -o '"tvm[^"]*"' | sort -u | wc -l
}

check "a picture" poolscope-plot samples -m load -o "$TMP/out.d"
check_text "14 rows of 20 steps without a hole" "14 20 0" "$(columns_of "$picture.dat")"
check_text "... with 14 names" 14 "$(names)"
check "... in steps of 10 s" grep -q 'steps of 10 s' "$picture.plot"

check "a window of two hours" poolscope-plot samples -m load -o "$TMP/out.d" --from "$(at 0)" --to "$(at 7200)"
check "... has longer steps" grep -q 'steps of 20 s' "$picture.plot"

echo "event 630720000 n work:start" | records
check "a pool of twenty years" poolscope-plot samples -m load -o "$TMP/out.d"
check_text "... has the same picture" "14 20 0" "$(columns_of "$picture.dat")"

check "a single sample" poolscope-plot samples -m load -o "$TMP/out.d" --from "$(at 1000)" --to "$(at 1001)" --step 10s
check_text "... is a column" "14 1 0" "$(columns_of "$picture.dat")"
# drawn PATTERN...: in how many lines of the script each is.
drawn() {
	for pattern; do grep -c "$pattern" "$picture.plot"; done | xargs
}
check_text "... that is drawn in both halves" "1 2 1" "$(drawn 'with points pt 7' 'with boxxyerror' 'with boxxyerror .* palette$')"
