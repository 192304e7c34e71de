#!/bin/sh
# A machine does a step of 60 s every 1,000 s, ten times, and crashes in the third:
# the end of that one never comes.  The other nine took 60 s each; one start is open.
# A second machine does the same with events sent twice: the start of the fifth
# step was sent again 10 s later, which is when the step really began (50 s), and the
# end of the seventh was sent again 5 s later, which ends nothing.  So it has nine
# steps of 60 s and one of 50 s: a mean of 59 s; one start and one end are alone.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_steps
for i in 0 1 2 3 4 5 6 7 8 9; do
	echo "event $((i * 1000)) n1 work:start"
	[ $i = 2 ] || echo "event $((i * 1000 + 60)) n1 work:end"
	echo "event $((i * 1000)) n2 work:start"
	echo "event $((i * 1000 + 60)) n2 work:end"
done >"$TMP/lines"
echo "event 4010 n2 work:start
event 6065 n2 work:end" >>"$TMP/lines"
records <"$TMP/lines"
answer "nine steps of a minute, and one that was never ended" "n1,9,60.0,60.0,60.0,1,0
n2,10,50.0,60.0,59.0,1,1" \
	columns node,count,min,max,mean,open_starts,open_ends \
	poolscope-stats phases --by node --format csv
phases() {
	poolscope-dump -n "$1" --kind phase --format csv >"$TMP/csv" && /usr/bin/python3 -c '
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(row["time"][11:19] or "-", row["end"][11:19] or "-")' "$TMP/csv" | sed -n "$2"
}
# BASE is 22:13:20; 2,000 s later it is 22:46:40.
answer "the third is the one that is open" "22:30:00 22:31:00
22:46:40 -
23:03:20 23:04:20" phases n1 2,4p
# 4,000 s: 23:20:00; 6,000 s: 23:53:20.
answer "the start that was repeated is open" "23:20:00 -
23:20:10 23:21:00" phases n2 5,6p
