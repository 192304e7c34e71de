#!/bin/sh
# A run of a farm passes from the scheduler s1, whose clock is right, to the worker n1,
# whose clock is 100 s fast, and back.  The aggregator knows it: to the times of n1,
# -100 s are added.  What happened, and who reported it:
#
#	r1	  0 request s1	  1 queue_start s1	  8 queue_end n1	 10 flash_start n1
#		 13 flash_end n1	 15 test_end n1	 20 publish s1
#	r2	1000 flash_start n1	1004 flash_end n1
#
# So r1 waited 8 - 1 = 7 s in the queue, flashed for 3, was published in 20 - 15 = 5 and
# took 20 in all.  By the clocks of the nodes it waited 107 s, and its publication was 95 s
# before the end of its test: no step at all.  r2 began at 1000, by its node's clock at
# 1100, and flashed for 4 s by either.
# All that shows durations says so: deltas, groups, pages, distributions; asked of the
# aggregator, and read from its store.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
/usr/bin/python3 - <<'END' | records
print("group n1 clock poolscope.clock.offset:ns:gauge poolscope.clock.error:ns:gauge"
      " poolscope.clock.drift:ns/s:gauge poolscope.clock.drift.error:ns/s:gauge"
      " poolscope.clock.round_trip:ns:gauge poolscope.clock.generation:1:gauge"
      " poolscope.clock.generation.begin:ns:gauge")
for t in range(0, 1201, 60):
    print("sample", t + 100, "n1 clock", -100 * 10 ** 9, 1000000, 0, 0, 2000000, 1, 1700000000 * 10 ** 9)
for line in """
s1 r1 0 request
s1 r1 1 queue_start
n1 r1 8 queue_end
n1 r1 10 flash_start
n1 r1 13 flash_end
n1 r1 15 test_end
s1 r1 20 publish
n1 r2 1000 flash_start
n1 r2 1004 flash_end
""".split("\n"):
    if line:
        node, run, when, name = line.split()
        print("event", int(when) + (100 if node == "n1" else 0), node, "run:" + name, "run=" + run,
              "device_group=phones")
END

deltas() {
	steps run,step,seconds poolscope-stats deltas --format csv "$@"
}
# means ARGUMENT...: step, count and mean of the emission of single durations.
means() {
	poolscope-stats groups --table steps --format csv "$@" >"$TMP/groups.csv" || return
	/usr/bin/python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if (row["time"], row["of"]) == ("event_emit", "per_iteration") and row["count"] != "0":
        print(row["phase"], row["count"], row["min"], row["mean"], row["max"])' "$TMP/groups.csv"
}
RIGHT="r1,queue,7
r1,flash,3
r1,publish,5
r1,testrun,20"
for from in "--connect ipc://$DIR/run/reader.ipc" "--store $DIR/store"; do
	# shellcheck disable=SC2086 # an option and its value
	{
		answer "r1 by what happened, ${from%% *}" "r1,initialisation,1
$RIGHT" deltas $from --run r1
		answer "r2, ${from%% *}" "r2,flash,4" deltas $from --run r2
		answer "by the clocks of the nodes, ${from%% *}" "r1,initialisation,1
r1,queue,107
r1,flash,3
r1,testrun,20" deltas $from --clock raw --run r1
		answer "their group, ${from%% *}" "initialisation 1 1.0 1.0 1.0
queue 1 7.0 7.0 7.0
flash 2 3.0 3.5 4.0
publish 1 5.0 5.0 5.0
testrun 1 20.0 20.0 20.0" means $from
		answer "their group by the clocks of the nodes, ${from%% *}" "initialisation 1 1.0 1.0 1.0
queue 1 107.0 107.0 107.0
flash 2 3.0 3.5 4.0
testrun 1 20.0 20.0 20.0" means $from --clock raw
	}
done
answer "r2 began at 1000" "r2,flash,4" deltas --from "$(at 999)" --to "$(at 1001)"
answer "by its node at 1100" "r2,flash,4" deltas --clock raw --from "$(at 1099)" --to "$(at 1101)"
check "the pages are drawn" poolscope-plot testrun --no-png -q -o "$TMP/drawn" --view all
check_text "... with the corrected steps of r1" "1 7 3 - - 5" \
	"$(awk '$2 == "r1" { print $4, $5, $6, $7, $8, $9 }' "$TMP/drawn"/*-0001.dat)"
check_text "... and in the distribution" "publish 1 5 5 5 5 5 5" \
	"$(sed -n 's/^[0-9]* \(publish\) /\1 /p' "$TMP/drawn"/*-distribution.dat)"
