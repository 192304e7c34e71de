#!/bin/sh
# 14 nodes are sampled once, in the same second, at 14 moments.  How long a value holds is
# not known, so the picture is one step with all nodes, not 14 rows of one spot each among
# holes.  12 nodes or fewer are lines, which show each sample where it is.
# The picture in letters has a legend that can be read: a line for each band.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir "$TMP/models"
cp "$ROOT"/deploy/models/*.conf "$TMP/models"
model work <<-'END'
	phase "rest-of-all-resources" {
		start = "work:start"
		end = "work:end"
	}
END
aggregate --models "$TMP/models"
{
	seq 14 | awk '{ print "group n" $1 " app load:1:gauge"; print "sample", 10 + $1 / 16, "n" $1, "app", $1 }'
	printf 'event %s a-node-with-a-long-name-of-36-letters %s\n' 0 nodeprep:start 50 nodeprep:end \
		55 cascade:start 100 cascade:gr-done
	printf 'event %s n1 %s\n' 0 work:start 50 work:end
} | records
check "a picture" poolscope-plot samples -m load --no-png -o "$TMP/out.d"
check_text "is one step of all" "14 1" "$(/usr/bin/python3 -c 'import sys
rows = [line.split() for line in open(sys.argv[1]).read().split("\n\n\n")[1].splitlines()[1:]]
assert [row[0] for row in rows] == [str(n) for n in range(1, 15)], rows
print(len(rows), len(rows[0]))' "$TMP/out.d/acct-pool-load-app.dat")"
check "five nodes" poolscope-plot samples -m load --no-png -o "$TMP/out.d" -q -n 'n1?'
check_text "... are lines, a point each" "10 11 12 13 14" \
	"$(awk '/^[0-9]/ { print $2 }' "$TMP/out.d/acct-pool-load-app.dat" | xargs)"
check "letters" poolscope-plot cascade --term dumb
check_printed "name each band whole" '[*#$%@]nodeprep *$'
check_printed "... of the model" '[*#$%@]global-resources *$'
check "letters of another model" poolscope-plot phases --model work --view breakdown --term dumb
check_printed "... name one shortened" '[*#$%@]rest-of-\.\.esources *$'
