#!/bin/sh
# Which image took long, and which node was slow because of it.  Seconds of each node:
#
#	        prep      pull small  pull large   set-up, around them: alone
#	a       0-10      10-14       14-36 (22)   0-40: 4; so did a1 to a7
#	b       0-10      10-13       13-34 (21)   0-40: 6
#	c       0-11      11-15       15-38 (23)   0-40: 2
#	d       0-12      12-17       17-41 (24)   0-45: 4
#	e       0-10      10-14       14-102 (88)  0-106: 4
#	f       0-30                               0-35: 5
#	g       0-10      10-         no more, but a note at 70: the pull has no end, set-up
#	                                           neither
#	h       0-10      10-13       13-23 other (10)   0-28: 5
#
# Medians of what has ended, by nearest rank, the 8th of 15 and so on:
#	prep           12 times 10, 11 12 30: 10
#	pull small     3 3, 10 times 4, 5: the 7th of 13 is 4
#	pull large     21, 8 times 22, 23 24 88: the 6th of 12 is 22
#	pull other     one value only: pulls of all kinds, 3 3, 10 times 4, 5 10 21 and so on: the
#	               13th of 26 is 5
#	set-up alone   2, 10 times 4, 5 5 6: the 7th of 14 is 4; of g nothing: it is no moment outside
#	               of the pull
# Above them:
#	e              large +66
#	g              small +56
#	f              prep +20, set-up +1
#	h              other +5, set-up +1
#	d              prep +2, large +2, small +1
#	b              set-up +2
#	c              prep +1, large +1
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
	for n in a a1 a2 a3 a4 a5 a6 a7; do
		node $n 10 14 36 40
	done
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
answer "by key" "boot:prep,,15,173.0,10.0,30.0,10.0,0
boot:pull,large,12,332.0,21.0,88.0,22.0,0
boot:pull,other,1,10.0,10.0,10.0,10.0,0
boot:pull,small,13,51.0,3.0,5.0,4.0,1
boot:set-up,,14,614.0,28.0,106.0,40.0,1" columns phase,key,count,sum,min,max,p50,open \
	poolscope-stats phases --by key --format csv
answer "... of some nodes" "boot:pull,large,2,111.0
boot:pull,small,2,8.0" columns phase,key,count,sum \
	poolscope-stats phases --by key --name 'boot:pull' -n c,e --format csv
answer "... the worst of each phase" "boot:pull,large" columns phase,key \
	poolscope-stats phases --by key --name 'boot:pull' --sort p50 --top 1 --format csv
answer "the pool has no key" "boot:pull,,26,393.0" columns phase,key,count,sum \
	poolscope-stats phases --name 'boot:pull' --format csv
slow="columns node,phase,key,time,usual,above,of,open poolscope-stats slow --format csv"
# shellcheck disable=SC2086 # words
{
	answer "slow nodes" "e,boot:pull,large,88,22,66,12,false
g,boot:pull,small,60,4,56,13,true
f,boot:prep,,30,10,20,15,false
h,boot:pull,other,10,5,5,26,false
b,boot:set-up,,6,4,2,14,false
d,boot:prep,,12,10,2,15,false
c,boot:prep,,11,10,1,15,false" $slow
	answer "two of them" "e,boot:pull,large,88,22,66,12,false
g,boot:pull,small,60,4,56,13,true" $slow --top 2
	answer "all that d lost" "d,boot:prep,,12,10,2,15,false
d,boot:pull,large,24,22,2,12,false
d,boot:pull,small,5,4,1,13,false" $slow -n d --by phase
}
check "a table" poolscope-stats slow
check_printed "... says what they are slow against" "longer in a phase than nodes usually are, by model boot"
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
check_printed "... says so" "not judged: 16 times in phases of which fewer than 12 are known"
stop aggregator
