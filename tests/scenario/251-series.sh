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
# What all use together.  n1 has 4 processors, of which 2 are idle and 1 waits for I/O: 1 is used.
# n2 has 8, of which 2 are idle: 6 are used.  n1 uses 1,000 KiB of 4,000, n2 3,000 of 8,000.  n2 stops after
# 30 s.  A rate is known between two samples, a gauge holds until the next one.
#
#	second		0 10 20 | 30 40 50
#	processors	7 of 12 | 1 of 4
#	memory, 1,000 KiB	4 of 12 | 4 of 12 at second 30, then 1 of 4
#
# usage adds up the same: n1 60 s and n2 30 s, 60 + 180 = 240 CPU s, 180 + 60 = 240 unused.
awk 'BEGIN { for (n = 1; n <= 2; n++) {
	print "group n" n " cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter system.cpu.time.idle:cs:counter system.cpu.time.iowait:cs:counter system.cpu.logical.count:{cpu}:gauge"
	print "group n" n " memory system.memory.limit:By:gauge system.memory.usage.used:By:gauge"
	for (k = 0; k <= (n == 1 ? 6 : 3); k++) {
		print "sample " 10 * k " n" n " cpu 7 " (n == 1 ? 1000 : 6000) * k " " 2000 * k " " (n == 1 ? 1000 : 0) * k " " 4 * n
		print "sample " 10 * k " n" n " memory " 4096000 * n " " 1024000 * (2 * n - 1)
	}
} }' | PARTITION='acct$used' records
together() {
	poolscope-stats series -p 'acct$used' --as used --format csv "$@" | tr -d '\r'
}
answer "what all use together, and have" "cpu,used,2023-11-14T22:13:00Z,7.0,2,{cpu}
cpu,used,2023-11-14T22:13:30Z,1.0,1,{cpu}
cpu,all,2023-11-14T22:13:00Z,12.0,2,{cpu}
cpu,all,2023-11-14T22:13:30Z,4.0,1,{cpu}
memory,used,2023-11-14T22:13:00Z,4096000.0,2,By
memory,used,2023-11-14T22:13:30Z,4096000.0,2,By
memory,used,2023-11-14T22:14:00Z,1024000.0,1,By
memory,all,2023-11-14T22:13:00Z,12288000.0,2,By
memory,all,2023-11-14T22:13:30Z,12288000.0,2,By
memory,all,2023-11-14T22:14:00Z,4096000.0,1,By" columns group,metric,time,mean,nodes,unit together --step 30s
seconds() {
	awk '{ printf "%.6g %.6g\n", $1 * 3600, $2 * 3600 }'
}
check_text "... as much as usage says" "240 240" "$(columns cpu_hours_used,cpu_hours_unused poolscope-stats usage -p 'acct$used' \
	--table all --format csv | tr -d '\r' | tr , ' ' | seconds)"
answer "of one node" "cpu,used,6.0
cpu,all,8.0
memory,used,3072000.0
memory,used,3072000.0
memory,all,8192000.0
memory,all,8192000.0" columns group,metric,mean together --step 30s -n n2
check_status 2 "with a metric of its own" poolscope-stats series --as used -m app.load
check_printed "... it says what to leave out" "leave out --metric"
stop aggregator
