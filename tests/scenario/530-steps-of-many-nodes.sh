# A pool of 2,000 nodes.  All report 0 at second 0; n1 goes on for an hour, and reports k at
# second 10 k.
#
#   A picture has at most 360 steps, and cells for 600,000 of all nodes: 2,000 nodes have 300.
#   3,590 s in 300 steps are 11.97 s each, rounded up to 20 s: step j of n1 has 2 j and
#   2 j + 1, mean 2 j + 0.5.  In the first step 2,000 nodes have a value, 1,999 of them 0,
#   and n1 0.5; in the others n1 alone.
#   Of n1 alone, 360 steps of 10 s: what it reported.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
export BASE=1700002800 # 23:00:00
. "$(dirname "$0")/lib.sh"

aggregate
awk 'BEGIN {
	for (n = 1; n <= 2000; n++) {
		print "group n" n " app/p app.load:1:gauge"
		print "sample 0 n" n " app/p 0"
	}
	for (k = 1; k < 360; k++)
		print "sample " 10 * k " n1 app/p " k
}' | records
first() {
	poolscope-stats series -m app.load --format csv "$@" | tr -d '\r' | sed -n '2,4p'
}
answer "all have longer steps" "20,2000" columns step,nodes poolscope-stats series -m app.load --table lines --format csv
answer "... and their numbers are of these" "2023-11-14T23:00:00Z,0.0,0.0,0.5,2000
2023-11-14T23:00:20Z,2.5,2.5,2.5,1
2023-11-14T23:00:40Z,4.5,4.5,4.5,1" first --columns time,min,p50,max,nodes
answer "one has those of its period" "2023-11-14T23:00:00Z,0.0
2023-11-14T23:00:10Z,1.0
2023-11-14T23:00:20Z,2.0" first -n n1 --columns time,mean
answer "a step that is asked for is taken" "10,2000" columns step,nodes poolscope-stats series -m app.load --step 10s --table lines --format csv
stop aggregator
