#!/bin/sh
# The clock of n1 is 100 s fast, and the aggregator knows it.  n1 samples each second: a
# gauge that shows the second of the aggregator, and one processor that works from 300 to
# 360 s.
#
# In the window from 290 to 330 s on the aggregator's clock the gauge has the 40 values 290
# to 329: mean 309.5, p50 is the 20th, 309, p99 the 40th, 329.  The processor has 40 rates,
# ten of 0 and thirty of 1: mean 30/40, p50 1.  `stats usage` has the same 30 s.
# The answer is the same from the store, and after the hour is compacted.
# With the raw clock the values from 290 to 329 are those of 190 to 229 s, and no work.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=1699999200 # a whole hour
. "$(dirname "$0")/lib.sh"

# numbers ARGUMENT...: in the order of metric groups, cpu and memory.
numbers() {
	columns metric,count,min,mean,p50,p99,max,last poolscope-stats samples --format csv -m 'system.*' "$@"
}
answers() {
	answer "$1: on the clock of the aggregator" "system.cpu.time.user,40,0.0,0.75,1.0,1.0,1.0,1.0
system.memory.usage.used,40,290.0,309.5,309.0,329.0,329.0,329.0" \
		numbers --from "$(at 290)" --to "$(at 330)"
	answer "$1: raw" "system.cpu.time.user,40,0.0,0.0,0.0,0.0,0.0,0.0
system.memory.usage.used,40,190.0,209.5,209.0,229.0,229.0,229.0" \
		numbers --clock raw --from "$(at 290)" --to "$(at 330)"
}

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
answers "through the aggregator"
used() {
	poolscope-stats usage --format json --from "$(at 290)" --to "$(at 330)" >"$TMP/use.json" || return
	/usr/bin/python3 -c 'import json, sys
print(round(json.load(open(sys.argv[1]))["rows"][0]["cpu_hours_used"] * 3600, 6))' "$TMP/use.json"
}
answer "stats usage agrees: 40 s of 0.75" "30.0" used
stop aggregator
answers "from the store"
check "the hour is compacted" poolscope-admin compact
answers "compacted"
