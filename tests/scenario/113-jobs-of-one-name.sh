#!/bin/sh
# Nodes of one processor, which works all of the time from 0 to 4000 s: a CPU second a second.
#
#	job a, on n1 from 100 to 200 and on n2 from 150 to 350: 100 s and 200 s
#	job b, on n1 from 1000 to 2000, and in it job c from 1200 to 1300: 1000 and 100, the
#		node's use is that of each job that runs on it
#	job d, on n1 from 2500 to 2700, overlaps job e, from 2600 to 2900: 200 and 300
#	job f, on n1 three times, tasks 1 to 3: from 3000 to 3100, from 3050 to 3200 and from
#		3150 to 3250: once from 3000 to 3250, 250, not 100 + 150 + 100
#	job g, on n2 from 3500, has not ended: to the last sample at 4000: 500
#	job i, on n1 from 3300 to 3900 and on n2 from 3300 to 3400, so that the node that comes
#		last ends first: 600 and 100
#	job h, on n2, ended at 3000 and its start was lost: unknown, no row
#
# Each is the same asked for alone, from the store, and when all is compacted.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_jobs
/usr/bin/python3 - <<'END' | records
print("group n1 cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter"
      " system.cpu.time.idle:cs:counter system.cpu.logical.count:{cpu}:gauge")
for t in range(0, 4001, 10):
    for node in "n1", "n2":
        print("sample", t, node, "cpu 7", 100 * t, 0, 1)
for line in """
a n1 100 200
a n2 150 350
b n1 1000 2000
c n1 1200 1300
d n1 2500 2700
e n1 2600 2900
f n1 3000 3100 task=1
f n1 3050 3200 task=2
f n1 3150 3250 task=3
g n2 3500 -
h n2 - 3000
i n1 3300 3900
i n2 3300 3400
""".split("\n"):
    if line:
        job, node, begin, end, *more = line.split()
        for when, name in (begin, "start"), (end, "end"):
            if when != "-":
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
ALL="a n1 100
a n2 200
b n1 1000
c n1 100
d n1 200
e n1 300
f n1 250
g n2 500
i n1 600
i n2 100"
answer "all jobs" "$ALL" jobs
for job in a b c d e f g i; do
	answer "job $job alone" "$(echo "$ALL" | grep "^$job ")" jobs --job $job
done
check_status 1 "a job whose start was lost" poolscope-stats usage --job h
answer "a window that cuts b and c" "b n1 250
c n1 50" jobs --from "$(at 1250)" --to "$(at 1500)"
stop aggregator
answer "from the store" "$ALL" jobs --store "$DIR/store"
check "all is compacted" poolscope-admin compact --models "$TMP/models"
answer "compacted" "$ALL" jobs --store "$DIR/store"
