#!/bin/sh
# The clock of n1 is 100 s fast, and the aggregator knows it: to the times of n1, -100 s are
# added.  One processor works from 300 to 360 s, when the clock of n1 shows 400 to 460.
# On the clock of the aggregator, the window from 290 to 330 s has 30 s of work, the one
# from 350 to 370 s has 10 s, and they are the same whatever the step; the two windows from
# 0 to 320 and from 320 to 600 s have 20 and 40, together 60.  The greatest value of a gauge
# that shows the second of the aggregator is 329 before 330 s.
# With the raw clock the window from 290 to 330 s has nothing, and 400 to 430 s has 30 s.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=1699999200 # a whole hour
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
/usr/bin/python3 - <<'END' | records
base = 1699999200 * 10 ** 9
print("group n1 cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter")
print("group n1 memory system.memory.usage.used:By:gauge")
print("group n1 clock poolscope.clock.offset:ns:gauge poolscope.clock.error:ns:gauge"
      " poolscope.clock.drift:ns/s:gauge poolscope.clock.drift.error:ns/s:gauge"
      " poolscope.clock.round_trip:ns:gauge poolscope.clock.generation:1:gauge"
      " poolscope.clock.generation.begin:ns:gauge")
for t in range(0, 601):
    if t % 60 == 0:
        print("sample", t + 100, "n1 clock", -100 * 10 ** 9, 1000000, 0, 0, 2000000, 1, base)
    print("sample", t + 100, "n1 cpu 7", 100 * min(max(t - 300, 0), 60))
    print("sample", t + 100, "n1 memory", t)
END
# used ARGUMENT...: CPU seconds, peak of memory.
used() {
	poolscope-stats usage --format csv "$@" >"$TMP/use.csv" || return
	/usr/bin/python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print("%g %g" % (round(float(row["cpu_hours_used"]) * 3600, 6), float(row["memory_peak_bytes"])))' "$TMP/use.csv"
}
for step in 1s 10s 1m; do
	answer "the begin of the work in steps of $step" "30 329" \
		used --from "$(at 290)" --to "$(at 330)" --step $step
	answer "the end of it in steps of $step" "10 369" \
		used --from "$(at 350)" --to "$(at 370)" --step $step
	answer "a part in steps of $step" "20 319" used --from "$(at 0)" --to "$(at 320)" --step $step
	answer "the rest in steps of $step" "40 599" used --from "$(at 320)" --to "$(at 600)" --step $step
done
answer "raw, nothing" "0 229" used --clock raw --from "$(at 290)" --to "$(at 330)"
answer "raw, 100 s later" "30 329" used --clock raw --from "$(at 390)" --to "$(at 430)"
