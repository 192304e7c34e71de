#!/bin/sh
# Spans in place of phases.  Seconds after the beginning:
#
#	cn1 build	cc 0-10, cc 10-30, and ld 12-15 in the second one: two lanes
#	cn1 net		get 0-5, get 31-32: a lane of its own, although that of build is free at 31
#	cn2 build	cc 20-25, and a mark of no length at 26
#
# cut, a moment of cn1 is in the span that began last: get 0-5 (of those that begin at once the shorter),
# cc 5-10, cc 10-12, ld 12-15, cc 15-30, get 31-32.
#
# many: names s1 to s30 on n1, of 1 to 30 s, one after the other: of 24 names those with most time, which are
# s7 to s30, have names of their own, and s1 to s6 are 21 s of others.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate
records <<-'END'
	span 0 10 cn1 build cc
	span 10 30 cn1 build cc
	span 12 15 cn1 build ld
	span 0 5 cn1 net get
	span 31 32 cn1 net get
	span 20 25 cn2 build cc
	span 26 26 cn2 build mark
END
PARTITION='acct$many'
i=0 begin=0
while [ $i -lt 30 ]; do
	i=$((i + 1))
	echo "span $begin $((begin + i)) n1 main s$i"
	begin=$((begin + i))
done | records
# spans OPTION...: offset, duration, node, name, track, lane of each.
spans() {
	poolscope-stats timeline -p 'acct$pool' --model span --format csv "$@" >"$TMP/spans" || return
	columns offset,duration,node,phase,key,lane cat "$TMP/spans" | sed 's/span://'
}
answer "lanes of tracks" "0,10,cn1,cc,build,0
0,5,cn1,get,net,1
10,20,cn1,cc,build,0
12,3,cn1,ld,build,2
31,1,cn1,get,net,1
20,5,cn2,cc,build,0
26,0,cn2,mark,build,0" spans --lanes
answer "one at a moment" "0,5,cn1,get,net,
5,5,cn1,cc,build,
10,2,cn1,cc,build,
12,3,cn1,ld,build,
15,15,cn1,cc,build,
31,1,cn1,get,net,
20,5,cn2,cc,build," spans
answer "of some names" "0,5,cn1,get,net,
31,1,cn1,get,net," spans --name 'g*'
# bars OPTION...: the rows of a picture of 32 pixels.
bars() {
	poolscope-stats timeline -p 'acct$pool' --model span --pixels 32 --lanes --table bars --format csv "$@"
}
answer "a picture has a row for each lane" "first,last,nodes,lane,key
cn1,cn1,1,0,build
cn1,cn1,1,1,net
cn1,cn1,1,2,build
cn2,cn2,1,0,build" bars
answer "... where a node has eight rows" "cn1,cn1,1,0,build" sh -c \
	'poolscope-stats timeline -p "acct\$pool" --model span --pixels 32 --lanes --rows 16 --table bars --format csv | sed -n 2p'
answer "... else a row for each node" "first,last,nodes,lane,key
cn1,cn1,1,,
cn2,cn2,1,," bars --rows 15
answer "24 names and the others" "24 21" sh -c \
	'poolscope-stats timeline -p "acct\$many" --model span --format csv --columns phase,duration | awk -F, "
		NR > 1 && \$1 == \"span:others\" { others += \$2 }
		NR > 1 && \$1 != \"span:others\" { named++ }
		END { print named, others }"'
answer "... the one of most time first" "span:s30" sh -c \
	'poolscope-stats timeline -p "acct\$many" --model span --table phases --format csv | sed -n "2s/,.*//p"'
check_status 1 "a name that no span has" poolscope-stats timeline -p 'acct$pool' --model span --name 'x*'
check_printed "... is an error" "no such spans in partition"
check_status 2 "a name of phases" poolscope-stats timeline -p 'acct$pool' --name 'x*'
check_printed "... needs spans" "name needs model span"
stop aggregator
