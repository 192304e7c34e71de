# A program on three nodes reports its load every 10 s for a minute; node 3 stops
# after 30 s.  Node n reports 10 n + k at second 10 k.
#
#   second   0   10  20 | 30  40  50
#   n1      10   11  12 | 13  14  15     steps of 30 s: 11, 14
#   n2      20   21  22 | 23  24  25                    21, 24
#   n3      30   31  32 |  -   -   -                    31, -
#
# Bands, nearest rank: of 11, 21, 31 the least is min and p10, 21 is p50, 31 is p90
# and max; of 14 and 24 p50 is 14 (rank 1 of 2), p90 is 24.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
export BASE=1699999980 # 22:13:00
. "$(dirname "$0")/lib.sh"

aggregate
awk 'BEGIN { for (n = 1; n <= 3; n++) {
	print "group n" n " app/p app.load:1:gauge"
	for (k = 0; k < (n == 3 ? 3 : 6); k++)
		print "sample " 10 * k " n" n " app/p " 10 * n + k
} }' | records
series() {
	poolscope-stats series -m app.load --step 30s --format csv "$@" | tr -d '\r'
}
answer "a line for each node" "group,metric,time,node,mean,min,p10,p50,p90,max,nodes,few,unit,labels
app/p,app.load,2023-11-14T22:13:00Z,n1,11.0,,,,,,,,1,
app/p,app.load,2023-11-14T22:13:30Z,n1,14.0,,,,,,,,1,
app/p,app.load,2023-11-14T22:13:00Z,n3,31.0,,,,,,,,1,
app/p,app.load,2023-11-14T22:13:30Z,n3,,,,,,,,,1," series -n n1,n3
answer "how they are distributed" "group,metric,time,node,mean,min,p10,p50,p90,max,nodes,few,unit,labels
app/p,app.load,2023-11-14T22:13:00Z,,,11.0,11.0,21.0,31.0,31.0,3,false,1,
app/p,app.load,2023-11-14T22:13:30Z,,,14.0,14.0,14.0,24.0,24.0,2,false,1," series --as bands
# The page draws from columns: two lines of two steps, and what they are.
answer "by column" "[[11.0, 14.0, 31.0, None], None, ['n1', 'n3'], [2, 2], [30, 30], '2023-11-14T22:13:00Z']" sh -c '
	poolscope-stats series -m app.load --step 30s -n n1,n3 --format json --shape columns --columns mean,min |
	/usr/bin/python3 -c "import json, sys
a = json.load(sys.stdin)
print([a[\"rows\"][\"mean\"], a[\"rows\"][\"min\"], *(a[\"lines\"][n] for n in (\"node\", \"steps\", \"step\")), a[\"lines\"][\"begin\"][0]])"'
answer "what the lines are of" "n1,1,raw
n3,1,raw" columns node,unit,rollup poolscope-stats series -m app.load --step 30s -n n1,n3 --table lines --format csv
check "a table has the spread" poolscope-stats series -m app.load --step 30s
check_printed "... of all nodes" " 11.00  11.00  21.00  31.00  31.00      3  1$"
check_status 2 "columns of a table" poolscope-stats series -m app.load --shape columns
check_printed "are for JSON" "shape columns is for --format json"
check_status 2 "no metric" poolscope-stats series
check_printed "says what is needed" "name a metric"
check_status 1 "a metric that is none" poolscope-stats series -m app.lod
check_printed "has a near name" "did you mean app.load"
check_status 2 "a form that is none" poolscope-stats series -m app.load --as pie
stop aggregator
