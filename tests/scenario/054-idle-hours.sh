#!/bin/sh
# n1: 4 processors, 30 hours, in turns 5 minutes of nothing and 5 minutes of work.  Half of
# the time at least 95 % of the processors were idle: 15 hours, whatever the step.
#
# n2: 4 idle processors for an hour, then 2 of them are unplugged, and the other 2 stay idle
# for an hour: 2 idle hours.  4 + 2 = 6 unused CPU hours.  Between the samples at 3600 and
# 3610 s there were 4 or 2: (360 x 4 + 3 + 359 x 2) / 720 = 3.001 processors by time.
#
# n3: 2 idle processors for an hour, then 2 more are plugged in, and all 4 are idle for an
# hour: 2 idle hours, 2 + 4 = 6 unused CPU hours, (360 x 2 + 3 + 359 x 4) / 720 = 2.999.
#
# n4: its samples do not say how many processors there are (an import).  How long nearly
# all of them were idle is unknown, not 0.
#
# A job of 8 s between two samples of the idle n2 was idle for 8 s.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_jobs
/usr/bin/python3 - <<'END' | records
print("group n1 cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter"
      " system.cpu.time.idle:cs:counter system.cpu.logical.count:{cpu}:gauge")
print("event 1001 n2 job:start job=a")
print("event 1009 n2 job:end job=a")
user = idle = 0
for t in range(0, 30 * 3600 + 10, 10):
    print("sample", t, "n1 cpu 7", user, idle, 4)
    if t % 600 < 300:
        idle += 4 * 1000
    else:
        user += 4 * 1000
for node, before, behind in ("n2", 4, 2), ("n3", 2, 4):
    idle = 0
    for t in range(0, 7210, 10):
        print("sample", t, node, "cpu 7 0", idle, before if t <= 3600 else behind)
        idle += (before if t < 3600 else behind) * 1000
for t in range(0, 7210, 10):
    print("sample", t, "n4 cpu 7 0", t * 100, "-")
END
usage() {
	columns node,job,idle_hours,cpus,cpu_hours_unused poolscope-stats usage --format csv "$@" |
		sed 's/\(\.[0-9]*[1-9]\)0*\b/\1/g' | /usr/bin/python3 -c 'import sys
for line in sys.stdin:
    words = line.rstrip("\n").split(",")
    print(",".join(words[:2] + [w and "%.4g" % float(w) for w in words[2:]]))'
}
answer "half of 30 hours" "n1,,15,4,60" usage -n n1
for step in 1s 30s 1m 5m 10m 1h; do
	answer "in steps of $step" "n1,,15,4,60" usage -n n1 --step $step
done
answer "processors that are unplugged" "n2,,2,3.001,6
n2,a,0.002222,4,0.008889" usage -n n2
answer "processors that are plugged in" "n3,,2,2.999,6" usage -n n3
answer "a number that is not known" "n4,,,,2" usage -n n4
answer "the first hour of n2" "n2,,1,4,4
n2,a,0.002222,4,0.008889" usage -n n2 --from "$(at 0)" --to "$(at 3600)"
answer "a job between two samples" "n2,a,0.002222,4,0.008889" usage --job a
