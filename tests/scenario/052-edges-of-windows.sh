#!/bin/sh
# n1 has one processor, which works from second 600 to 660, and samples 10 s apart, at 3,
# 13, 23 ... s.  Its counter of ticks of 10 ms grows by 100 a second then.
# A rate stands over the interval that it was measured in: (593, 603] has 3 s of work in
# 10 s, 0.3; (603, 613] to (643, 653] have 1; (653, 663] has 7 s, 0.7.  In steps of 10 s,
# that is 7/10 of an interval and 3/10 of the next one:
#
#	590   0.7 x 0   + 0.3 x 0   ... from 590 to 593 0, from 593 to 600 0.3: 0.21
#	600   0.3 x 0.3 + 0.7 x 1   = 0.79
#	610 to 640                    1
#	650   0.3 x 1   + 0.7 x 0.7 = 0.79
#	660   0.3 x 0.7 + 0.7 x 0   = 0.21
#
# A trace writes the rate of a step at its begin, a plot at its middle.
# The sum of the steps is 0.21 + 0.79 + 4 + 0.79 + 0.21 = 6 steps of 10 s: the minute.
#
# n2 has a gauge whose value is the second, each second.  A window from 90 to 210 has the
# values 90 to 209, whatever the step: half-open, exact at both edges.  The first step of
# a minute begins at 60, its least value is 90, and the last one's greatest is 209.
# A window from 610 to 620 has 10 s of work, and the sample at 603 before it is read.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=1699999200 # a whole hour, so that steps begin with the story
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
{
	echo "group n1 cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter"
	echo "group n2 app app.second:s:gauge"
	for t in $(seq 3 10 1203); do
		busy=$((t < 600 ? 0 : t > 660 ? 60 : t - 600))
		echo "sample $t n1 cpu 7 $((busy * 100))"
	done
	for t in $(seq 0 400); do
		echo "sample $t n2 app $t"
	done
} | records

# trace ARGUMENT...: SECOND=VALUE of each point.
trace() {
	poolscope-trace -o "$TMP/trace.json" "$@" || return
	/usr/bin/python3 -c 'import json, sys
events = json.load(open(sys.argv[1]))
events = events["traceEvents"] if isinstance(events, dict) else events
print(" ".join("%g=%g" % (e["ts"] / 1e6, value) for e in events if e["ph"] == "C"
               for value in e["args"].values() if value))' "$TMP/trace.json"
}
# plot METRIC ARGUMENT...: SECOND=MEAN,LOW,HIGH of each step of the table.
plot() {
	_metric=$1
	shift
	rm -rf "$TMP/plot"
	poolscope-plot samples -m "$_metric" -o "$TMP/plot" "$@" >"$TMP/log" 2>&1 || return
	awk -v base="$BASE" 'NF == 4 && $1 + 0 > 0 && $2 != 0 {
		printf "%s%g=%g,%g,%g", n++ ? " " : "", $1 - base, $2, $3, $4
	} END { print "" }' "$TMP"/plot/*.dat
}
answer "the trace has the work where it was done" \
	"590=0.21 600=0.79 610=1 620=1 630=1 640=1 650=0.79 660=0.21" \
	trace -n n1 --metric system.cpu.time.user --step 10s --from "$(at 0)"
answer "and the plot" \
	"595=0.21,0,0.3 605=0.79,0.3,1 615=1,1,1 625=1,1,1 635=1,1,1 645=1,1,1 655=0.79,0.7,1 665=0.21,0,0.7" \
	plot system.cpu.time.user -n n1 --step 10s
answer "a window has the values of its time" "90=104.5,90,119 150=149.5,120,179 210=194.5,180,209" \
	plot app.second -n n2 --step 1m --from "$(at 90)" --to "$(at 210)"
answer "with another step too" "1800=149.5,90,209" \
	plot app.second -n n2 --step 1h --from "$(at 90)" --to "$(at 210)"
# used ARGUMENT...: CPU seconds.
used() {
	poolscope-stats usage --format csv "$@" >"$TMP/use.csv" || return
	/usr/bin/python3 -c 'import csv, sys
print("%g" % (float(next(csv.DictReader(open(sys.argv[1])))["cpu_hours_used"]) * 3600))' "$TMP/use.csv"
}
answer "an interval that the window cuts counts in part" "10" used -n n1 --from "$(at 610)" --to "$(at 620)"
