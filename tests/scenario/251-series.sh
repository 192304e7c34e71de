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
answer "a line for each node" "group,metric,time,node,mean
app/p,app.load,2023-11-14T22:13:00.000Z,n1,11.0
app/p,app.load,2023-11-14T22:13:30.000Z,n1,14.0
app/p,app.load,2023-11-14T22:13:00.000Z,n3,31.0
app/p,app.load,2023-11-14T22:13:30.000Z,n3," series -n n1,n3
answer "how they are distributed" "group,metric,time,min,p10,p50,p90,max,nodes
app/p,app.load,2023-11-14T22:13:00.000Z,11.0,11.0,21.0,31.0,31.0,3
app/p,app.load,2023-11-14T22:13:30.000Z,14.0,14.0,14.0,24.0,24.0,2" series --as bands
check_status 1 "no metric" poolscope-stats series
check_printed "says what is needed" "name a metric"
check_status 1 "a metric that is none" poolscope-stats series -m app.lod
check_printed "has a near name" "did you mean app.load"
check_status 2 "a form that is none" poolscope-stats series -m app.load --as pie
stop aggregator
