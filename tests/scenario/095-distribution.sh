#!/bin/sh
# How long each phase took, in one picture with a row for each.
#
#	step z	100 times: 1, 2 ... 100 s.  Nearest rank: p25 is the 25th, 25 s, p50 50,
#		p75 75, p99 99, the greatest 100.
#	step a	4 times: 10, 20, 30, 40 s: p25 is the first, 10 s, p50 the second, 20,
#		p75 the third, 30, p99 the fourth, 40.
#
# The rows are in the order of the model, z before a.  The node measured the second a
# as 25 s ("measured"), though its events are 20 s apart: p50 is then 25 s.
# Test runs and the start-up of pools have the same picture: four runs flash for 10, 20,
# 30 and 40 s, four nodes prepare for 10 to 40 s.
# A step of 1 to 100 s and one of 1000 h fit only a logarithmic axis.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

cp -r "$ROOT/deploy/models" "$TMP/models"
model work <<-'END'
	phase "z" { start = "z:start" end = "z:end" }
	phase "a" { start = "a:start" end = "a:end" measured = "took" }
	phase "long" { start = "l:start" end = "l:end" }
END
aggregate --models "$TMP/models"
{
	seq 100 | awk '{ print "event", 1000 * $1, "n1 z:start"; print "event", 1001 * $1, "n1 z:end" }'
	seq 4 | awk '{
		print "event", 100 * $1, "n1 a:start"
		print "event", 110 * $1, "n1 a:end", ($1 == 2 ? "took=25" : "")
		print "event", 100 * $1, "farm run:flash_start run=" $1
		print "event", 110 * $1, "farm run:flash_end run=" $1
		print "event 0 m" $1, "nodeprep:start"
		print "event", 10 * $1, "m" $1, "nodeprep:end"
		print "event 60 m" $1, "cascade:start"
		print "event 61 m" $1, "cascade:gr-done"
	}'
} | records

rows() {
	sed -n "s/^[0-9]* \($1\) /\1 /p" "$TMP/out.d/acct-pool-$2distribution.dat"
}
check "a model" poolscope-plot phases --model work --view distribution -o "$TMP/out.d"
check_text "... has a row for each phase" "z 100 1 25 50 75 99 100
a 4 10 10 25 30 40 40" "$(rows '[a-z]*' work-)"
check "... and the number of durations" grep -q '"z  n \\075 100" 1, "a  n \\075 4" 2' \
	"$TMP/out.d/acct-pool-work-distribution.plot"
check "... on one scale" grep -qx 'set xlabel "duration, seconds"' "$TMP/out.d/acct-pool-work-distribution.plot"
answer "a window has the durations that nodes measured" 25.0 \
	columns p50 poolscope-stats phases --name work:a --format csv --from "$(at 0)"
answer "... as statistics of all time" 105.0 columns sum poolscope-stats phases --name work:a --format csv
check "test runs" poolscope-plot testrun --view distribution -o "$TMP/out.d"
check_text "... alike" "flash 4 10 10 20 30 40 40" "$(rows flash testrun-)"
check "the start-up of a pool" poolscope-plot cascade --view distribution -o "$TMP/out.d"
check_text "... alike" "nodeprep 4 10 10 20 30 40 40
global-resources 4 1 1 1 1 1 1" "$(rows 'nodeprep\|global-resources' '')"
for picture in "$TMP/out.d"/*.png; do
	check "$(basename "$picture") is a picture" \
		/usr/bin/python3 "$ROOT/tests/golden/compare.py" png "$picture"
done

records <<-'END'
	event 0 n1 l:start
	event 3600000 n1 l:end
END
check "a long one" poolscope-plot phases --model work --view distribution --no-png -o "$TMP/out.d"
check "... makes the axis logarithmic, and says so" grep -q 'Logarithmic axis' "$TMP/out.d/acct-pool-work-distribution.plot"
check "... with round durations" grep -q '"1 s" 1, "10 s" 10, "1 min" 60' "$TMP/out.d/acct-pool-work-distribution.plot"
