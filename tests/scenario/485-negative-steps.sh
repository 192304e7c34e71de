#!/bin/sh
# Clocks of test runs that are off.  Two flashes of r1, 20 s and 40 s long:
#
#	emitted   100  120  200  240
#	received  150  130  210  260    by receive_ns
#
# The first start was delayed by 50 s and its end by 10 s, so that by the times received
# it lasts 130 - 150 = -20 s; the second one 260 - 210 = 50 s; both together 30 s.  r2
# has one flash of 67 s, of which the start was delayed by 70 s and the end not at all:
# 467 - 470 = -3 s, which is its sum, too.
#
# By the times received no duration is credible whose difference from the one emitted is
# more than half of that: -20 for 20 and -3 for 67 are not, 50 for 40 is: 2 of 3.
#
# r3 is one event of another node, received 2.5 s after it was emitted: the mean of one
# delay is that delay, its deviation 0, and that of a sample of one is unknown.  Its
# end was emitted by n3 before it: they are no pair, by whichever times.  The delays of
# the three starts on n1 are 50, 10 and 70 s.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# event SECONDS NAME RUN DELAY [NODE]: an event that was received DELAY ns later.
event() {
	/usr/bin/python3 -c 'import sys
at, name, run, delay, node, base = sys.argv[1:]
print(f"event {at} {node} run:{name} run={run} receive_ns={(int(base) + int(at)) * 10**9 + int(delay)}")' \
		"$1" "$2" "$3" "$4" "${5:-n1}" "$BASE"
}

aggregate --models "$ROOT/deploy/models"
{
	event 100 flash_start r1 50000000000
	event 120 flash_end r1 10000000000
	event 200 flash_start r1 10000000000
	event 240 flash_end r1 20000000000
	event 400 flash_start r2 70000000000
	event 467 flash_end r2 0
	event 490 flash_end r3 20000000000 n3
	event 500 flash_start r3 2500000000 n2
} >"$TMP/records"
records <"$TMP/records"

answer "as emitted" "r1,20
r1,40
r2,67
r3," columns run,step.flash poolscope-stats deltas --format csv
answer "as received an iteration may be negative" "r1,-20
r1,50
r2,-3
r3," columns run,step.flash poolscope-stats deltas --time receive --format csv
answer "... and it is sorted as a number" "r1,50
r2,-3
r1,-20
r3," columns run,step.flash poolscope-stats deltas --time receive --sort step.flash --format csv
answer "the sum of a run" "r1,30
r2,-3
r3," columns run,step.flash poolscope-stats runs --time receive --format csv
answer "JSON has the number" "-20" \
	field rows/0/step.flash poolscope-stats deltas --time receive --format json
answer "a note says that it cannot be what happened" "2" \
	field notes/0/count poolscope-stats deltas --time receive --format json
answer "nothing is doubtful as emitted" "[]" \
	field notes poolscope-stats deltas --format json

# of OPTION...: lines of a table, one blank between words.
of() {
	poolscope-stats "$@" >"$TMP/table" 2>&1 || return
	sed -n 's/  */ /g; s/ $//; /^[Rr][0-9U]/p' "$TMP/table"
}
answer "a table has seconds with two decimals, of one unit, in a column" "RUN flash
r1 20.00
r1 40.00
r2 67.00
r3 -" of deltas --columns run,step.flash
answer "... also where they are negative" "RUN flash
r1 30.00
r2 -3.00
r3 -" of runs --time receive --columns run,step.flash

answer "the deviation of one delay is 0, that of a sample of one unknown" "1,2.5,0.0," \
	columns count,mean,std_population,std_sample poolscope-stats skew -n n2 --format csv
answer "... null in JSON" "null" field rows/0/std_sample poolscope-stats skew -n n2 --format json
answer "three delays" "3,0,10.0,70.0" columns count,negative,min,max \
	poolscope-stats skew -n n1 --sort max --top 1 --format csv
