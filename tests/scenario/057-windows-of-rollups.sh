#!/bin/sh
# n1 samples every 2 s for 2.5 hours: a gauge whose value is the second, and a counter of
# 100 ticks a second (one processor at work), from -600 to 8400 s.
#
# A window from 91 to 211.5 s has the values 92 to 210, so the greatest is 210, and 120.5 s
# of work.  The answer is the same in each step, through the aggregator, from the store, and
# after the hours are compacted into rollups of 1 min and 1 h; the window cuts a bucket
# of them at both edges.  The two hours from 0 to 7200 s come from the rollups: 7200 s of
# work, and the greatest value before 7200 s is 7198.  From 30 to 7170 s, edges of rollups
# of no kind: 7140 s, and 7168.  All: 9000 s, and 8400.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=1699999200 # a whole hour
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
{
	echo "group n1 cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter"
	echo "group n1 memory system.memory.usage.used:By:gauge"
	for t in $(seq -600 2 8400); do
		echo "sample $t n1 cpu 7 $(((t + 600) * 100))"
		echo "sample $t n1 memory $t"
	done
} | records

# used ARGUMENT...: CPU seconds, peak of memory.
used() {
	poolscope-stats usage --format csv "$@" >"$TMP/use.csv" || return
	/usr/bin/python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print("%g %g" % (round(float(row["cpu_hours_used"]) * 3600, 6), float(row["memory_peak_bytes"])))' "$TMP/use.csv"
}
windows() {
	for step in 1s 10s 1m 10m 1h; do
		answer "$1: 120.5 s in steps of $step" "120.5 210" \
			used --from "$(at 91)" --to "$(at 211.5)" --step $step
		answer "$1: two whole hours in steps of $step" "7200 7198" \
			used --from "$(at 0)" --to "$(at 7200)" --step $step
		answer "$1: the middle of them in steps of $step" "7140 7168" \
			used --from "$(at 30)" --to "$(at 7170)" --step $step
		answer "$1: all in steps of $step" "9000 8400" used --step $step
	done
}
# from STEP: what two whole hours were read from.
from() {
	field rollup poolscope-stats usage --format json --from "$(at 0)" --to "$(at 7200)" --step "$1"
}
windows "from the aggregator"
answer "the head has the step" 600 field step poolscope-stats usage --format json --from "$(at 0)" --to "$(at 7200)" --step 10m
stop aggregator
windows "from the store"
check "the hours are compacted" poolscope-admin compact
answer "there are rollups" '"1h"' from 1h
answer "ten minutes are made of minutes" '"1min"' from 10m
answer "of a minute, too" '"1min"' from 1m
windows "from rollups"
