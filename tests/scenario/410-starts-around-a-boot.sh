#!/bin/sh
# A node of one processor, which works all of the time, sampled each 10 s.  It dies after its sample
# at 1000 and samples again at 2000, with another boot, since which it used 40 s: 0.04 s in
# each second between the two.
#
#	job a starts at 500, is not reported to end and queued again: it starts at 1990, before the
#		first sample, ends at 2300: 500, and 0.4 + 300: 800.4
#	job b starts at 1005, after the last sample, and dies with the node; starts again at 2100,
#		ends at 2200: 100
#	job c starts at 1995 and runs still, to the last sample at 2500: 0.2 + 500 = 500.2
#
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_jobs
/usr/bin/python3 - <<'END' | records
print("group n1 cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter"
      " system.cpu.time.idle:cs:counter system.cpu.logical.count:{cpu}:gauge")
for t in range(0, 1001, 10):
    print("sample", t, "n1 cpu 7", 100 * t, 0, 1)
for t in range(2000, 2501, 10):
    print("sample", t, "n1 cpu 8", 100 * (t - 1960), 0, 1)
for job, when, name in (("a", 500, "start"), ("a", 1990, "start"), ("a", 2300, "end"), ("b", 1005, "start"),
                        ("b", 2100, "start"), ("b", 2200, "end"), ("c", 1995, "start")):
    print("event", when, "n1", "job:" + name, "job=" + job)
END
# jobs OPTION...: CPU seconds of each job.
jobs() {
	poolscope-stats usage --format csv "$@" >"$TMP/use.csv" || return
	/usr/bin/python3 -c 'import csv, sys
for row in sorted(csv.DictReader(open(sys.argv[1])), key=lambda r: r["job"]):
    if row["job"]:
        print(row["job"], "%g" % round(float(row["cpu_hours_used"]) * 3600, 6))' "$TMP/use.csv"
}
answer "all jobs" "a 800.4
b 100
c 500.2" jobs
for job in "a 800.4" "b 100" "c 500.2"; do
	answer "job ${job% *} alone" "$job" jobs --job "${job% *}"
done
# drawn JOB: begin and length of its bars.
drawn() {
	poolscope-trace -q -o "$TMP/trace.json" || return
	/usr/bin/python3 -c 'import json, sys
for e in sorted(json.load(open(sys.argv[1]))["traceEvents"], key=lambda e: e.get("ts", 0)):
    if e["ph"] == "X" and e["name"] == sys.argv[2]:
        print("%g %g" % (e["ts"] / 1e6, e["dur"] / 1e6))' "$TMP/trace.json" "$1"
}
answer "the bars of a" "500 500
1990 310" drawn a
