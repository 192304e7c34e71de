#!/bin/sh
# Jobs pass from node to node.  The clock of s1 is right, that of n1 is 100 s fast, that of
# n2 50 s slow, and the aggregator knows it: to the times of n1, -100 s are added, to those
# of n2, 50 s.  What happened, and what the clocks of the nodes showed:
#
#	j1	sent by s1 at 10 (10), taken by n1 at 17 (117)		 7 s
#	j2	sent by s1 at 20 (20), taken by n2 at 25 (-25)		 5 s
#	j3	sent by n1 at 30 (130), taken by n2 at 42 (-8)		12 s
#	j4	sent by n1 at 50 (150), taken by n1 at 53 (153)		 3 s
#	j5	sent by s1 at 60 (60), taken by n1 at 64 (164)		 4 s
#		sent by s1 at 70 (70), taken by n1 at 79 (179)		 9 s
#
# So there are six, 40 s in all, the median is the third of them: 5 s; nothing is open.  By
# the clocks of the nodes j2 and j3 were taken before they were sent, which is no pair, j1
# took 107 s, and of j5 the end at 164 belongs to the nearest start, 70: 94 s.  These are
# three with 107 + 3 + 94 = 204 s, and three starts and three ends without the other.
#
# Laps overlap, the first that began ends first: s1 began at 100 and 102, n1 ended at 105
# and 106: 5 and 4 s.  An epoch that n2 measured, 6 s, counts so: from 200 to 207, by the
# clocks of s1 and n2 to 157.  Steps of test runs are alike: r1 waited from 1 (s1) to 8 (n1),
# and was published from 15 (n1) to 20 (s1).
#
# Of 5000 more jobs, and as many test runs, each waits for 2 s from s1 to n2, an answer of
# many pages: 10,000 s.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

cp -r "$ROOT/deploy/models" "$TMP/models"
model way <<-'END'
	phase "way" { start = "job:sent" end = "job:taken" scope = "run" run = "job" }
	phase "lap" { start = "lap:begin" end = "lap:end" scope = "run" run = "job" pairing = "fifo" }
	phase "epoch" {
		start = "epoch:begin"
		end = "epoch:end"
		scope = "run"
		run = "job"
		key = "epoch"
		measured = "took"
	}
	phase "many" { start = "many:sent" end = "many:taken" scope = "run" run = "job" }
	phase "alone" { start = "alone:begin" end = "alone:end" }
END
aggregate --models "$TMP/models"
/usr/bin/python3 - <<'END' | records
fast = {"s1": 0, "n1": 100, "n2": -50}
for node in "n1", "n2":
    print("group", node, "clock poolscope.clock.offset:ns:gauge poolscope.clock.error:ns:gauge"
          " poolscope.clock.drift:ns/s:gauge poolscope.clock.drift.error:ns/s:gauge"
          " poolscope.clock.round_trip:ns:gauge poolscope.clock.generation:1:gauge"
          " poolscope.clock.generation.begin:ns:gauge")
    for t in range(0, 1201, 60):
        print("sample", t + fast[node], node, "clock", -fast[node] * 10 ** 9, 1000000, 0, 0,
              2000000, 1, 1699999000 * 10 ** 9)
for line in """
s1 10 job:sent job=j1
n1 17 job:taken job=j1
s1 20 job:sent job=j2 from=depot
n2 25 job:taken job=j2 to=hall
n1 30 job:sent job=j3
n2 42 job:taken job=j3
n1 50 job:sent job=j4
n1 53 job:taken job=j4
s1 60 job:sent job=j5
n1 64 job:taken job=j5
s1 70 job:sent job=j5
n1 79 job:taken job=j5
s1 100 lap:begin job=j6
s1 102 lap:begin job=j6
n1 105 lap:end job=j6
n1 106 lap:end job=j6
s1 200 epoch:begin job=j7 epoch=1
n2 207 epoch:end job=j7 epoch=1 took=6
n1 300 alone:begin
n1 308 alone:end
s1 1 run:queue_start run=r1
n1 8 run:queue_end run=r1
n1 15 run:test_end run=r1
s1 20 run:publish run=r1
""".split("\n"):
    if line:
        node, when, name, *rest = line.split()
        print("event", int(when) + fast[node], node, name, *rest)
END

numbers() {
	columns count,sum,min,p50,max,open_starts,open_ends poolscope-stats phases --format csv "$@"
}
# durations ARGUMENT...: job, node of the start and seconds of each way.
durations() {
	poolscope-dump --kind phase --name way:way --format jsonl "$@" >"$TMP/ways" || return
	/usr/bin/python3 -c 'import json, sys
for line in open(sys.argv[1]):
    way = json.loads(line)
    both = None not in (way["begin_ns"], way["end_ns"])
    print(way["attributes"]["job"], way["node"],
          "%g" % ((way["end_ns"] - way["begin_ns"]) / 1e9) if both else "-")' "$TMP/ways"
}
# histogram OPTION...: how many ways took at most that many seconds: 3 is j4, 5, 7, 4 and 9 are
# below 10, 12 is j3.
histogram() {
	poolscope stats metrics "$@" |
		sed -n 's/^poolscope_phase_duration_seconds_bucket{.*,phase="way:way",le="\(1.0\|3.0\|10.0\|30.0\|+Inf\)"} /\1 /p'
}
ways_of_all() {
	columns phase,count,sum poolscope-stats phases --format csv --name 'way:*' "$@" | sort
}
for from in "--connect ipc://$DIR/run/reader.ipc" "--store $DIR/store"; do
	# shellcheck disable=SC2086 # an option and its value
	{
		answer "the six ways, ${from%% *}" "6,40.0,3.0,5.0,12.0,0,0" numbers $from --name way:way
		answer "... as a histogram" "1.0 0
3.0 1
10.0 5
30.0 6
+Inf 6" histogram $from
		answer "... in a window that has all" "6,40.0,3.0,5.0,12.0,0,0" \
			numbers $from --name way:way --from "$(at 0)" --to "$(at 80)"
		answer "... in one that has j3 and j4" "2,15.0,3.0,3.0,12.0,0,0" \
			numbers $from --name way:way --from "$(at 25)" --to "$(at 55)"
		answer "... by the clocks of the nodes" "3,204.0,3.0,107.0,3,3" \
			columns count,sum,min,max,open_starts,open_ends \
			poolscope-stats phases --format csv $from --clock raw --name way:way
		answer "... of one node that sent, in a window" "4,25.0,4.0,5.0,9.0,0,0" \
			numbers $from --name way:way --node s1 --from "$(at 0)"
		answer "... by job" "1,7.0
1,5.0
1,12.0
1,3.0
2,13.0" columns count,sum poolscope-stats phases --format csv $from --name way:way --by node
		answer "one by one" "j1 s1 7
j2 s1 5
j3 n1 12
j4 n1 3
j5 s1 4
j5 s1 9" durations $from --clock auto
		answer "... of one node that sent" "j3 n1 12
j4 n1 3" durations $from --clock auto --node n1
		answer "... of two that took: none" "" durations $from --clock auto --node n2
		answer "laps" "2,9.0,4.0,4.0,5.0,0,0" numbers $from --name way:lap
		answer "what a node measured" "1,6.0,6.0,6.0,6.0,0,0" numbers $from --name way:epoch
		answer "on one node" "1,8.0,8.0,8.0,8.0,0,0" numbers $from --name way:alone
		answer "the queue of a test run" "1,7.0,7.0,7.0,7.0,0,0" numbers $from --name testrun:queue
		answer "its publication" "1,5.0,5.0,5.0,5.0,0,0" numbers $from --name testrun:publish
		answer "the same in a window" "1,5.0,5.0,5.0,5.0,0,0" \
			numbers $from --name testrun:publish --from "$(at 14)" --to "$(at 16)"
		answer "all rows have their own numbers" "way:alone,1,8.0
way:epoch,1,6.0
way:lap,2,9.0
way:many,0,0.0
way:way,6,40.0" ways_of_all $from
	}
done

attributes() {
	durations --clock auto --node s1 >"$TMP/none" || return
	/usr/bin/python3 -c 'import json, sys
way = [json.loads(line) for line in open(sys.argv[1])][1]
print(json.dumps(way["attributes"], sort_keys=True), way["raw_begin_ns"] // 10**9, way["raw_end_ns"] // 10**9)' "$TMP/ways"
}
answer "a pair has the attributes of both, and the times of both clocks" \
	'{"from": "depot", "job": "j2", "to": "hall"} 1700000020 1699999975' attributes
check "a picture of the model" poolscope-plot phases --model way --view distribution --no-png -q -o "$TMP/drawn"
check_text "... has the corrected durations" "way 6 3 4 5 9 12 12
lap 2 4 4 4 5 5 5
epoch 1 6 6 6 6 6 6
alone 1 8 8 8 8 8 8" "$(sed -n 's/^[0-9]* \([a-z]* [0-9]* [0-9]\)/\1/p' "$TMP/drawn"/*-distribution.dat)"
check "a trace" poolscope-trace --kind phase -q -o "$TMP/trace.json"
check_text "... has the corrected durations" "3 4 5 7 9 12" "$(/usr/bin/python3 -c 'import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
print(*sorted(round(e["dur"] / 1e6) for e in events if e["ph"] == "X" and e["name"] == "way"))' "$TMP/trace.json")"

seq 5000 | awk '{
	print "event", 2000 + $1, "s1 many:sent job=m" $1
	print "event", 2000 + $1, "s1 run:flash_start run=m" $1
	print "event", 1952 + $1, "n2 many:taken job=m" $1
	print "event", 1952 + $1, "n2 run:flash_end run=m" $1
}' | records
for from in "--connect ipc://$DIR/run/reader.ipc" "--store $DIR/store"; do
	# shellcheck disable=SC2086 # an option and its value
	for name in way:many testrun:flash; do
		answer "5000 of $name, ${from%% *}" "5000,10000.0,2.0,2.0,2.0,0,0" numbers $from --name $name
		answer "... 10 of them in a window" "10,20.0,2.0,2.0,2.0,0,0" \
			numbers $from --name $name --from "$(at 2101)" --to "$(at 2111)"
	done
done
