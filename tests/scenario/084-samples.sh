#!/bin/sh
# What nodes measured.  The mean of a gauge is by time: a value counts until the next.
#
# n1, 10 degrees each 10 s from 0 to 40 s, then its period becomes 60 s: 38 degrees at
# 100, 160 and 220 s.  10 degrees count from 0 to 100 s, 38 from 100 to 220 s, and the
# last one as long as the one before it, 60 s:
#	(100 x 10 + 180 x 38) / 280 = 28		(by sample it would be 20.5)
# 8 values in order: 10 10 10 10 10 38 38 38.  p50 is the 4th, p99 the 8th.
#
# n2, 1 degree at 0, 10 and 20 s, 9 at 1000, 1010 and 1020 s: it was away in between.  The
# value at 20 s counts for 10 s, as far as its neighbours are apart, not for 980 s: six
# values of 10 s each, mean 5.
#
# n3, 2 degrees at 0 s, no value at 10 s, 8 at 20 and 30 s.  Three values, for 20, 10 and
# 10 s: (2 x 20 + 8 x 10 + 8 x 10) / 40 = 5.
#
# n4, 1 at 0 s, NaN at 10 s, infinite at 20 s, 3 at 30 s.  NaN is no value; what is
# infinite is left out, and counted.  Two values, mean 2.
#
# n5, a single value, 7: that is its mean, too.
#
# All of them: 8 + 6 + 3 + 2 + 1 = 20 values.  Time: 280 + 60 + 40 + 60 (n4: two values
# of 30 s) = 440 s, of 19 values; the single one counts as these do on average, 440/19 s.
#	(280 x 28 + 60 x 5 + 40 x 5 + 60 x 2) / 440 = 8460 / 440, and with the single one
#	(19 x 8460 / 440 + 7) / 20 = 18.62
# p50 is the 10th of 1 1 1 1 2 3 7 8 8 9 9 9 10 ...: 9.
#
# n6 counts bytes: 1000 at 0 s, 2000 at 10 s (100 By/s), 500 at 20 s (it started again: not
# known), 5500 at 40 s (250 By/s for 20 s).  Two rates, (100 x 10 + 250 x 20) / 30 = 200.
#
# n7 counts 0, 100, 500 and 800 at 0, 10, 20 and 30 s: 10, 40, 30 By/s.  In the window from
# 5 to 25 s they stand for 5, 10 and 5 s: (50 + 400 + 150) / 20 = 30; its halves have
# (50 + 200) / 10 = 25 and (200 + 150) / 10 = 35, and 25 and 35 are 30 on average.
#
# n8 has one sample of the counter: there is no rate.
#
# In another pool n9 and n10 have a group of two metrics: front is 1 and 3, back 20 and 10.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
records <<-'END'
	group n1 room temperature:Cel:gauge
	group n6 disk/sda poolscope.boot:1:gauge system.disk.io.read:By:counter
	sample 0 n1 room 10
	sample 10 n1 room 10
	sample 20 n1 room 10
	sample 30 n1 room 10
	sample 40 n1 room 10
	sample 100 n1 room 38
	sample 160 n1 room 38
	sample 220 n1 room 38
	sample 0 n2 room 1
	sample 10 n2 room 1
	sample 20 n2 room 1
	sample 1000 n2 room 9
	sample 1010 n2 room 9
	sample 1020 n2 room 9
	sample 0 n3 room 2
	sample 10 n3 room -
	sample 20 n3 room 8
	sample 30 n3 room 8
	sample 0 n4 room 1
	sample 10 n4 room nan
	sample 20 n4 room inf
	sample 30 n4 room 3
	sample 50 n5 room 7
	sample 0 n6 disk/sda 7 1000
	sample 10 n6 disk/sda 7 2000
	sample 20 n6 disk/sda 7 500
	sample 40 n6 disk/sda 7 5500
	sample 0 n7 disk/sda 7 0
	sample 10 n7 disk/sda 7 100
	sample 20 n7 disk/sda 7 500
	sample 30 n7 disk/sda 7 800
	sample 15 n8 disk/sda 7 4000
	END
PARTITION='acct$pair'
records <<-'END'
	group n9 pair front:1:gauge back:1:gauge
	sample 0 n9 pair 1 20
	sample 0 n10 pair 3 10
END
PARTITION='acct$pool'

# of NAMES ARGUMENT...: columns of the rows.
of() {
	_wanted_columns=$1
	shift
	columns "$_wanted_columns" poolscope-stats samples --format csv "$@"
}
numbers=count,min,mean,p50,p99,max,last,left_out
answer "gauges of each node" "n1,Cel,8,10.0,28.0,10.0,38.0,38.0,38.0,0
n2,Cel,6,1.0,5.0,1.0,9.0,9.0,9.0,0
n3,Cel,3,2.0,5.0,8.0,8.0,8.0,8.0,0
n4,Cel,2,1.0,2.0,1.0,3.0,3.0,3.0,1
n5,Cel,1,7.0,7.0,7.0,7.0,7.0,7.0,0" of node,unit,$numbers --by node -m temperature
answer "... in a window, from its begin on and before its end" "n1,4,10.0,10.0
n2,2,1.0,1.0
n3,2,8.0,8.0
n4,1,3.0,3.0" of node,count,min,last --by node -m temperature --from "$(at 10)" --to "$(at 50)"
answer "the two with the greatest means" "n1,28.0
n5,7.0" of node,mean --by node -m temperature --sort mean --top 2
answer "... with the most values, of each metric" "n7,3
n1,8" of node,count --by node --sort count --top 1
answer "... unknown numbers are the last" "n7
n6
n8" of node --by node --metric-group 'disk/*' --sort count
answer "of all nodes" "room,temperature,20,1.0,9.0,38.0,38.0,,1" \
	of group,metric,count,min,p50,p99,max,last,left_out -m 'temp*'
answer "... and their mean" "18.62" sh -c 'poolscope-stats samples -m "temp*" --format json |
	/usr/bin/python3 -c "import json, sys
print(\"%.2f\" % json.load(sys.stdin)[\"rows\"][0][\"mean\"])"'
answer "a counter that started again" "By/s,2,100.0,200.0,100.0,250.0,250.0,250.0,1" \
	of unit,$numbers -n n6 -m '*.read'
answer "a window that cuts rates" "3,10.0,30.0,30.0,40.0,40.0,30.0,0" \
	of $numbers -n n7 --from "$(at 5)" --to "$(at 25)"
answer "... its first half" "2,25.0" of count,mean -n n7 --from "$(at 5)" --to "$(at 15)"
answer "... its second half" "2,35.0" of count,mean -n n7 --from "$(at 15)" --to "$(at 25)"
answer "a single sample of a counter has no rate" "0,,,,,,,0" of $numbers -n n8
answer "... nor has the last one, from its time on" "0,,,,,,,0" of $numbers -n n7 --from "$(at 30)" --to "$(at 35)"
answer "... null in JSON" "null" field rows/0/mean poolscope-stats samples -n n8 --format json
answer "... of a row of all nodes, too" "null" field rows/0/node poolscope-stats samples -m temperature --format json
answer "the node with the greatest mean of each metric of a group" "back,n9,20.0
front,n10,3.0" of metric,node,mean -p 'acct$pair' --by node --sort mean --top 1
answer "patterns that overlap count once" "8" of count -n n1 -m temperature -m 'temp*'
answer "the number of the boot is no measurement" "system.disk.io.read" of metric -n n6
answer "the same in lines" '["room", 18.62]' sh -c 'poolscope-stats samples \
	--metric-group room --format jsonl | /usr/bin/python3 -c "import json, sys
row = json.loads(sys.stdin.read().splitlines()[1])
print(json.dumps([row[\"group\"], round(row[\"mean\"], 2)]))"'

check "the table" poolscope-stats samples
check_printed "... has the numbers of a metric" "^room  *temperature  *Cel  *20  *1.00  *18.62  *9.00  *38.00  *38.00$"
check_printed "... says what is left out" "2 values do not count: rates of counters that started again, or infinite"
check_printed "... and how to see the nodes" "each row is of all nodes (8); --by node shows"
check "the table of nodes" poolscope-stats samples --by node
check_printed "... says of what" "^room  *temperature  *n1  *Cel "
check "the table of the worst" poolscope-stats samples --by node -m temperature --sort max --top 2
check_text "... has these" "n1 n2 " "$(awk '$3 ~ /^n[1-8]$/ { printf "%s ", $3 }' "$TMP/out")"
wrong_usage "a column that samples do not have" "not one of group, metric, node, unit, count, min.*did you mean mean" \
	poolscope-stats samples --sort meen
check "the table of nodes, once more" poolscope-stats samples --by node
check_printed "... and the newest value" " n1  *Cel  *8  *10.00  *28.00  *10.00  *38.00  *38.00  *38.00$"
check_printed "... of a counter, too" " n8  *By/s  *0  *-  *-  *-  *-  *-  *-$"
check_status 1 "no such metric" poolscope-stats samples -m nothing
check_printed "... says what to do" "no samples of such metrics .*--name 'set:\*' lists the metric groups"
wrong_usage "no tracks" "--by of samples must be one of metric.node" poolscope-stats samples --by track

# More samples in a second than usual: shorter steps have them one by one, but not
# four within 0.1 s.  Then the quantiles are unknown, and nothing else is.
PARTITION=acct\$dense
POOLSCOPE_PARTITION=$PARTITION
records <<-'END'
	group n1 fast a:1:gauge
	group n1 faster b:1:gauge
	sample 0.0 n1 fast 5
	sample 0.2 n1 fast 1
	sample 0.4 n1 fast 4
	sample 0.6 n1 fast 2
	sample 0.8 n1 fast 3
	sample 0.01 n1 faster 5
	sample 0.03 n1 faster 1
	sample 0.05 n1 faster 4
	sample 0.07 n1 faster 2
	END
answer "five samples in a second" "5,1.0,3.0,3.0,5.0,5.0,exact" of count,min,mean,p50,p99,max,quantiles -m a
answer "four in 0.1 s" "4,1.0,3.0,,,5.0,too dense" of count,min,mean,p50,p99,max,quantiles -m b
check "the table of these" poolscope-stats samples
check_printed "... says why" "rows without p50 and p99: 1; samples are less than 0.1 s apart"

# 10,000 nodes with a value each, 1 to 10,000, on average 5000.5.
PARTITION=acct\$large
POOLSCOPE_PARTITION=$PARTITION
/usr/bin/python3 -c '
print("group c1 room temperature:Cel:gauge")
for node in range(1, 10001):
    print(f"sample 0 c{node} room {node}")' | records
answer "10,000 nodes" "10000,1.0,5000.5,5000.0,9900.0,10000.0" of count,min,mean,p50,p99,max
check "a table of 10,000 nodes" poolscope-stats samples --by node
check_text "... has the 20 with the greatest means" "c10000 c9999 c9981" "$(awk '$3 ~ /^c[0-9]/ { print $3 }' "$TMP/out" |
	sed -n '1p;2p;$p' | xargs)"
check_printed "... says what is left out" "left out: 9980 rows, of nodes with smaller means; select with "
