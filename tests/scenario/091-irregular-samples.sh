#!/bin/sh
# 13 nodes report their load every 4, 5 or 6 s in turns, n7 reports 100 each time, the
# others 5.  The usual gap is 5 s: no node was ever away, so the picture has no hole
# in any row, and the greatest of the nodes is 100 in each step.  Only n2 reports
# nothing from 100 s until 200 s.  Its last sample is one of 94 to 100 s and holds for
# a usual gap, until 99 to 105 s; then its row is empty until 200 to 206 s.  Steps of
# at most 6 s make that 93 to 111 s, and 194 to 212 s.
# 400 nodes have 200 rows, two nodes a row: n399 at 100 is the greatest of its row,
# not lost in a mean of 52.5.  Nodes are in the order in which people count.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
/usr/bin/python3 -c '
rows = []
for node in range(1, 14):
    print(f"group n{node} app load:1:gauge")
    at, turn = node / 10, node
    while at < 600:
        if not (node == 2 and 100 <= at < 200):
            rows.append((at, node))
        at += 4 + turn % 3
        turn += 1
for at, node in sorted(rows):
    print(f"sample {at:.1f} n{node} app {100 if node == 7 else 5}")' | records
check "a picture of 13 nodes" poolscope-plot samples -m load --no-png --to "$(at 598)" -o "$TMP/few"
check "... has no hole but that of n2" /usr/bin/python3 -c 'import sys
band, rows = open(sys.argv[1]).read().split("\n\n\n")
band = [line.split() for line in band.splitlines()[1:]]
rows = [line.split() for line in rows.splitlines()[1:]]
step = float(band[1][0]) - float(band[0][0])
assert 4 <= step <= 6, step
assert {line[3] for line in band} == {"100"}, band
assert len(rows) == 13
for node, row in enumerate(rows, 1):
    values = set(row)
    # A node is not there before its first sample.
    assert node == 2 or "nan" not in row[1:], (node, row)
    assert values - {"nan"} == {"100" if node == 7 else "5"}, (node, row)
holes = [i for i, value in enumerate(rows[1]) if value == "nan" and i > 1]
assert holes == list(range(holes[0], holes[-1] + 1))
assert 93 <= holes[0] * step <= 111 and 194 <= (holes[-1] + 1) * step <= 212, holes' \
	"$TMP/few/acct-pool-load-app.dat"

PARTITION=acct\$large
POOLSCOPE_PARTITION=$PARTITION
/usr/bin/python3 -c '
for node in range(1, 401):
    print(f"group n{node} app load:1:gauge")
for at in range(0, 60, 10):
    for node in range(1, 401):
        print(f"sample {at} n{node} app {100 if node == 399 else 5}")' | records
check "a picture of 400 nodes" poolscope-plot samples -m load --no-png -o "$TMP/many"
check "... shows the greatest of each row, in natural order" /usr/bin/python3 -c 'import sys
rows = open(sys.argv[1]).read().split("\n\n\n")[1].splitlines()[1:]
assert len(rows) == 200
assert [i for i, row in enumerate(rows) if "100" in row.split()] == [199]
assert set(rows[199].split()) == {"100"}' "$TMP/many/acct-large-load-app.dat"
check "... and says so" grep -q "a row shows the greatest of 2 nodes\|a row shows the greatest of 2\\\\" \
	"$TMP/many/acct-large-load-app.plot"
grep "set ytics (" "$TMP/many/acct-large-load-app.plot" | tail -1 >"$TMP/names"
check "... n2 before n10" grep -q '"n1" 0, "n25" 12' "$TMP/names"
