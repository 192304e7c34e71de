#!/bin/sh
# Two nodes that begin together, twice.  The clock of n1 is right, that of n2 is two hours fast,
# and the aggregator knows it.  What happened, and what the clock of n2 showed:
#
#	first	n1 begins at 0, is ready at 100; n2 begins at 10 (7210), is ready at 60 (7260)
#	second	n1 begins at 3000, is ready at 3050; n2 begins at 3005 (10205), is ready at
#		3080 (10280)
#
# So there are two starts of two nodes, ready after 100 and 80 s.  By the clocks as they were
# there are four, and the two of n2 are two hours late: 0, 3000 of n1, 7210, 10205 of n2.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate --models "$ROOT/deploy/models"
/usr/bin/python3 - <<'END' | records
print("group n2 clock poolscope.clock.offset:ns:gauge poolscope.clock.error:ns:gauge"
      " poolscope.clock.drift:ns/s:gauge poolscope.clock.drift.error:ns/s:gauge"
      " poolscope.clock.round_trip:ns:gauge poolscope.clock.generation:1:gauge"
      " poolscope.clock.generation.begin:ns:gauge")
for t in range(0, 3601, 60):
    print("sample", t + 7200, "n2 clock", -7200 * 10 ** 9, 1000000, 0, 0, 2000000, 1, 1699999000 * 10 ** 9)
for node, begin, ready, fast in ("n1", 0, 100, 0), ("n2", 10, 60, 7200), ("n1", 3000, 3050, 0), ("n2", 3005, 3080, 7200):
    for t, what in (begin, "nodeprep:start"), (begin + 5, "nodeprep:end"), (begin + 10, "cascade:start"), (ready, "cascade:gr-done"):
        print("event", t + fast, node, what)
END
starts() {
	columns start,nodes,last_begin,first_ready,last_ready poolscope stats starts --format csv "$@"
}
answer "two starts" "2023-11-14T23:03:20Z,2,5.0,50.0,80.0
2023-11-14T22:13:20Z,2,10.0,60.0,100.0" starts
answer "by the clocks as they were" "2023-11-15T01:03:25Z,1,0.0,75.0,75.0
2023-11-15T00:13:30Z,1,0.0,50.0,50.0
2023-11-14T23:03:20Z,1,0.0,50.0,50.0
2023-11-14T22:13:20Z,1,0.0,100.0,100.0" starts --clock raw
nodes_of() {
	columns node,begin,total poolscope stats breakdown --sort node --format csv "$@"
}
answer "what belongs to the first" "n1,0.0,100.0
n2,10.0,50.0" nodes_of --start "$(at 0)"
answer "... to the second" "n1,0.0,50.0
n2,5.0,75.0" nodes_of --start now
check "the table" poolscope stats starts
check_printed "... has its clock" "^starts of acct.pool, in seconds; clock corrected (4 of 8), within"
stop aggregator
