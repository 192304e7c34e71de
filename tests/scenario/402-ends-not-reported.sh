#!/bin/sh
# Nodes of one processor, which works all of the time: a CPU second a second, sampled each
# 10 s.  n1 dies after its sample at 1000 and samples again at 2000, with another boot; n2 and n3 do
# not boot.
#
#	job a, on n1, starts at 500 and is not reported to end; it is queued again and starts on n1 at
#		2100, ends at 2300: 500 until it died, and 200: 700
#	job b, on n1, starts at 600, starts once more at 650 (a prolog that ran twice), is not reported
#		to end: 400
#	job c, on n1, starts at 700; its end comes at 2400, when the batch system has
#		cleaned up: the end was reported, 10 s at a time until 1000 (300), what the
#		counter grew by since the boot, 40 s by 2000, and 400 until 2400: 740
#	job d, on n2, starts at 100, again at 150 with the same user, ends at 400: 300
#	job e, on n2, two tasks: 1 from 1000, 2 from 1100; one ends at 1200: the other still runs, to
#		the last sample at 2500: 1500
#	job g, on n4, from 100, has not ended.  n4 slept before its sample of 1000: its counters jump, and
#		its agent says so in the upper bits of the boot; it did not boot.  To the last sample
#		at 2500, without the 10 s before 1000, of which nothing is known: 2390
#	job f, on n3, from 2200, has not ended: 300
#
# A trace draws a from 500 for 500 s and from 2100 for 200 s, not across what came between.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_jobs
/usr/bin/python3 - <<'END' | records
print("group n1 cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter"
      " system.cpu.time.idle:cs:counter system.cpu.logical.count:{cpu}:gauge")
for t in range(0, 2501, 10):
    print("sample", t, "n4 cpu", 7 + (t >= 1000) * 2 ** 48, 100 * t, 0, 1)
    for node in "n2", "n3":
        print("sample", t, node, "cpu 7", 100 * t, 0, 1)
    if t <= 1000:
        print("sample", t, "n1 cpu 7", 100 * t, 0, 1)
    elif t >= 2000:
        print("sample", t, "n1 cpu 8", 100 * (t - 1960), 0, 1)
for line in """
a n1 500 start
a n1 2100 start
a n1 2300 end
b n1 600 start
b n1 650 start
c n1 700 start
c n1 2400 end
d n2 100 start user=ada
d n2 150 start user=ada
d n2 400 end user=ada
e n2 1000 start task=1
e n2 1100 start task=2
e n2 1200 end task=1
f n3 2200 start
g n4 100 start
""".split("\n"):
    if line:
        job, node, when, name, *more = line.split()
        print("event", when, node, "job:" + name, "job=" + job, *more)
END
# jobs OPTION...: CPU seconds of each job and node.
jobs() {
	poolscope-stats usage --format csv "$@" >"$TMP/use.csv" || return
	/usr/bin/python3 -c 'import csv, sys
for row in sorted(csv.DictReader(open(sys.argv[1])), key=lambda r: (r["job"], r["node"])):
    if row["job"]:
        print(row["job"], row["node"], "%g" % round(float(row["cpu_hours_used"]) * 3600, 6))' "$TMP/use.csv"
}
ALL="a n1 700
b n1 400
c n1 740
d n2 300
e n2 1500
f n3 300
g n4 2390"
answer "all jobs" "$ALL" jobs
answer "the jobs of ada" "d n2 300" jobs --user ada
for job in a b c d e f g; do
	answer "job $job alone" "$(echo "$ALL" | grep "^$job ")" jobs --job $job
done
stop aggregator
check "all is compacted" poolscope-admin compact --models "$TMP/models"
answer "compacted" "$ALL" jobs --store "$DIR/store"
# drawn JOB: begin and length of its bars on n1.
drawn() {
	poolscope-trace -q --store "$DIR/store" -o "$TMP/trace.json" || return
	/usr/bin/python3 -c 'import json, sys
for e in sorted(json.load(open(sys.argv[1]))["traceEvents"], key=lambda e: e.get("ts", 0)):
    if e["ph"] == "X" and e["name"] == sys.argv[2]:
        print("%g %g" % (e["ts"] / 1e6, e["dur"] / 1e6))' "$TMP/trace.json" "$1"
}
answer "the bars of a" "500 500
2100 200" drawn a
answer "the bar of f" "2200 300" drawn f
