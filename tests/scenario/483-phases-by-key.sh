#!/bin/sh
# Which image took long, and which node was slow because of it.  Seconds of each node:
#
#	        prep      pull small  pull large   set-up, around them: alone
#	a       0-10      10-14       14-36 (22)   0-40: 4
#	b       0-10      10-13       13-34 (21)   0-40: 6
#	c       0-11      11-15       15-38 (23)   0-40: 2
#	d       0-12      12-17       17-41 (24)   0-45: 4
#	e       0-10      10-14       14-102 (88)  0-106: 4
#	f       0-30                               0-35: 5
#	g       0-10      10-         no more, but a note at 70: the pull has no end, set-up
#	                                           neither
#	h       0-10      10-13       13-23 other (10)   0-28: 5
#
# Medians, by nearest rank, the 4th of 8 and so on:
#	prep           10 10 10 10 10 11 12 30: 10
#	pull small     3 3 4 4 4 5 60: 4
#	pull large     21 22 23 24 88: 23
#	pull other     one node only: pulls of all kinds, 3 3 4 4 4 5 10 21 22 23 24 60 88:
#	               the 7th of 13 is 10: not longer than usual
#	set-up alone   0 2 4 4 4 5 5 6, of g nothing: it is no moment outside of the pull;
#	               of seven 2 4 4 4 5 5 6: 4
# Above them:
#	e              large +65
#	g              small +56
#	f              prep +20, set-up +1
#	d              prep +2, small +1, large +1
#	b              set-up +2
#	c              prep +1
#	h              set-up +1
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model boot <<-'END'
	phase "set-up" {
		start = "s:begin"
		end = "s:ready"
	}
	phase "prep" {
		start = "s:prep"
		end = "s:prepared"
		required = true
	}
	phase "pull" {
		start = "s:pull"
		end = "s:pulled"
		key = "img"
	}
END
aggregate --models "$TMP/models"
# node NAME PREP SMALL LARGE READY [IMAGE]: when each ended.
node() {
	echo "event 0 $1 s:begin"
	echo "event 0 $1 s:prep"
	echo "event $2 $1 s:prepared"
	[ "$3" = - ] || printf 'event %s %s\n' "$2" "$1 s:pull img=small" "$3" "$1 s:pulled img=small"
	[ "$4" = - ] || printf 'event %s %s\n' "$3" "$1 s:pull img=${6:-large}" "$4" "$1 s:pulled img=${6:-large}"
	echo "event $5 $1 s:ready"
}
{
	node a 10 14 36 40
	node b 10 13 34 40
	node c 11 15 38 40
	node d 12 17 41 45
	node e 10 14 102 106
	node f 30 - - 35
	node h 10 13 23 28 other
	cat <<-'END'
		event 0 g s:begin
		event 0 g s:prep
		event 10 g s:prepared
		event 10 g s:pull img=small
		event 70 g s:note
	END
} | records
answer "by key" "boot:prep,,8,103.0,10.0,30.0,10.0,0
boot:pull,large,5,178.0,21.0,88.0,23.0,0
boot:pull,other,1,10.0,10.0,10.0,10.0,0
boot:pull,small,6,23.0,3.0,5.0,4.0,1
boot:set-up,,7,334.0,28.0,106.0,40.0,1" columns phase,key,count,sum,min,max,p50,open \
	poolscope-stats phases --by key --format csv
answer "... of some nodes" "boot:pull,large,2,111.0
boot:pull,small,2,8.0" columns phase,key,count,sum \
	poolscope-stats phases --by key --name 'boot:pull' -n c,e --format csv
answer "... the worst of each phase" "boot:pull,large" columns phase,key \
	poolscope-stats phases --by key --name 'boot:pull' --sort p50 --top 1 --format csv
answer "the pool has no key" "boot:pull,,12,211.0" columns phase,key,count,sum \
	poolscope-stats phases --name 'boot:pull' --format csv
slow="columns node,phase,key,time,usual,above,of,open poolscope-stats slow --format csv"
# shellcheck disable=SC2086 # words
{
	answer "slow nodes" "e,boot:pull,large,88,23,65,5,false
g,boot:pull,small,60,4,56,7,true
f,boot:prep,,30,10,20,8,false
b,boot:set-up,,6,4,2,7,false
d,boot:prep,,12,10,2,8,false
c,boot:prep,,11,10,1,8,false
h,boot:set-up,,5,4,1,7,false" $slow
	answer "two of them" "e,boot:pull,large,88,23,65,5,false
g,boot:pull,small,60,4,56,7,true" $slow --top 2
	answer "all that d lost" "d,boot:prep,,12,10,2,8,false
d,boot:pull,large,24,23,1,5,false
d,boot:pull,small,5,4,1,7,false" $slow -n d --by phase
}
check "a table" poolscope-stats slow
check_printed "... says what they are slow against" "longer in a phase than the median of all, by model boot"
stop aggregator

# Four nodes are too few to say what is usual.
# shellcheck disable=SC2016 # a partition's name
export POOLSCOPE_PARTITION='acct$few'
# shellcheck disable=SC2016 # a partition's name
PARTITION='acct$few'
aggregate --models "$TMP/models"
{ node a 1 2 3 4; node b 1 2 3 4; node c 1 2 3 4; node d 1 2 90 91; } | records
answer "nothing is usual" "" columns node poolscope-stats slow --format csv
check "... and a table" poolscope-stats slow
check_printed "... says so" "not judged: 16 times in phases that fewer than 5 nodes were in"
stop aggregator
