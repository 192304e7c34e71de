#!/bin/sh
# What a pool of four nodes waited for until it was ready.  Seconds after the start:
#
#	a	prepared 0-10, resources 10-70: pulls redis 12-30, saves it 30-35,
#		pulls big 31-60
#	b	prepared 2-12, resources 14-65: pulls redis 32-50 (a place is free at 30, when a
#		has it; one of a key at once)
#	c	prepared 5-20, resources 22-90: torrent of redis 40-60 (after any save: 35, of a),
#		load 60-85
#	d	begins at 50, prepared 50-55, resources 57-80
#
# Ready last: c, at 90.  Backwards from there:
#
#	85-90	end	its resources end 5 s after the load
#	60-85	in	load of redis on c, after its torrent
#	40-60	in	torrent of redis on c
#	35-40	wait	the first save had ended at 35
#	30-35	in	save of redis on a, after its pull
#	12-30	in	pull of redis on a
#	10-12	wait	the pull lies in the resources of a, which began at 10
#	0-10	in	a is prepared; its resources are after that, at once
#
# 10 + 2 + 18 + 5 + 5 + 20 + 25 + 5 = 90.
#
# a has the first four of them, 10 + 2 + 18 + 5 = 35, and c the others, 55.
#
# In a second pool there is no torrent: x pulls 5-25, y 27-47, z 49-60, one at once, and z
# has to wait from 4 on.  Ready last: z, at 62.
#
#	60-62	end
#	49-60	in	z pulls, 2 s after y
#	47-49	wait
#	27-47	place	y pulls
#	25-27	wait
#	5-25	place	x pulls
#	3-5	wait	its resources had begun at 3, as those of all
#	1-3	in	x is prepared
#	0-1	began	the start is that of z, which is prepared 0-3
#
# x has 1 + 2 + 2 + 20 = 25, y 2 + 20 = 22, z 2 + 11 + 2 = 15.
#
# In another one x is prepared 0-10; its resources, 10-40, say that they took 29.75, by another clock.  It is ready at
# 40, when they ended, and they are all of the path after 10.
#
# In another one x begins again when it has been ready at 20: it is prepared 0-10 and 30-35, resources 10-20 and
# 35-50.  Of y the resources end first, twice, at 10 and 20, and then its preparation, 0-25: it is ready at 25, and
# so is the pool.
#
# A third pool is no more ready than two of three nodes, and begins twice.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/scenario/pulls.sh
. "$ROOT/tests/scenario/pulls.sh"
aggregate --models "$TMP/models"

path() {
	columns offset,duration,kind,node,phase,key poolscope stats critical --format csv "$@"
}

by_node() {
	columns node,duration,starts poolscope stats critical --table by_node --format csv "$@"
}

# shellcheck disable=SC2119 # no arguments
{
	phase a prep 0 10
	phase a res 10 70
	phase a pull 12 30 redis
	phase a save 30 35 redis
	phase a pull 31 60 big
	phase b prep 2 12
	phase b res 14 65
	phase b pull 32 50 redis
	phase c prep 5 20
	phase c res 22 90
	phase c torrent 40 60 redis
	phase c load 60 85 redis
	phase d prep 50 55
	phase d res 57 80
} | records
wait_until indexed 30
answer "across nodes" "0,10,in,a,pool:prep,
10,2,wait,a,pool:pull,redis
12,18,in,a,pool:pull,redis
30,5,in,a,pool:save,redis
35,5,wait,c,pool:torrent,redis
40,20,in,c,pool:torrent,redis
60,25,in,c,pool:load,redis
85,5,end,c,pool:resources," path

answer "by node" "a,35,1
c,55,1" by_node

PARTITION='acct$places'
three_pulls | records
wait_until indexed 30
answer "places, by node" "x,25,1
y,22,1
z,15,1" by_node -p 'acct$places'
answer "places" "0,1,began,x,,
1,2,in,x,pool:prep,
3,2,wait,x,pool:pull,redis
5,20,place,x,pool:pull,redis
25,2,wait,y,pool:pull,redis
27,20,place,y,pool:pull,redis
47,2,wait,z,pool:pull,redis
49,11,in,z,pool:pull,redis
60,2,end,z,pool:resources," path -p 'acct$places'

answer "the same in a picture, with the rows of the nodes" "0,1,began,x,0
1,2,in,x,0
3,2,wait,x,0
5,20,place,x,0
25,2,wait,y,1
27,20,place,y,1
47,2,wait,z,2
49,11,in,z,2
60,2,end,z,2" columns offset,duration,kind,node,row poolscope stats timeline -p 'acct$places' --pixels 100 \
	--order name --table path --format csv
check "the sentence of a timeline" poolscope stats timeline -p 'acct$places'
check_printed "... has it" "; path to ready: node z, 62.0 s"
check "a node of which the path is not" poolscope stats timeline -p 'acct$places' -n x
check_printed "... has the same" "; path to ready: node z, 62.0 s"

# The path is 40 s on x, a day later 70 s on y, and after two days 90 s on x again.
PARTITION='acct$days'
{
	phase x prep 0 10
	phase x res 10 40
	phase y prep 0 5
	phase y res 5 20
	phase y prep 86400 86420
	phase y res 86420 86470
	phase y prep 172800 172820
	phase y res 172820 172860
	phase x prep 172800 172830
	phase x res 172830 172890
} | records
wait_until indexed 30
answer "over three starts" "x,130,2
y,70,1" by_node -p "$PARTITION" --newest 3

PARTITION='acct$measured'
{
	phase x prep 0 10
	echo "event 10 x res:start"
	echo "event 40 x res:end took=29.75"
} | records
wait_until indexed 30
answer "the end is that of the start, whatever was measured" "0,10,in,x,pool:prep,
10,30,in,x,pool:resources," path -p "$PARTITION"

PARTITION='acct$again'
{
	phase x prep 0 10
	phase x res 10 20
	phase x prep 30 35
	phase x res 35 50
	phase y prep 0 25
	phase y res 5 10
	phase y res 12 20
} | records
wait_until indexed 30
answer "ready for the first time, with the first end of each" "0,25,in,y,pool:prep," path -p "$PARTITION"

# 8,000 pulls, one behind the other, of 2 s and 1 s: each drag goes through all of them.
PARTITION='acct$many'
export POOLSCOPE_PARTITION="$PARTITION"
seq 0 2 7998 | awk '
BEGIN { print "event 0 z prep:start\nevent 1 z prep:end\nevent 1 z res:start\nevent 16010 z res:end" }
{
	at = 2 + 2 * $1
	print "event", at, "z pull:start img=i\nevent", at + 2, "z pull:end img=i"
	print "event", at + 2.5, "z pull:start img=i\nevent", at + 3.5, "z pull:end img=i"
}' | records
wait_until indexed 60
check "a path of many" poolscope stats critical --format csv --columns duration,kind,drag
check_printed "... counts those without a drag" "pieces of a path of many phases without a drag"
check_text "... the longest have one" "4000 of 4000" \
	"$(awk -F, '$1 == 2 { n++; with += $3 != "" } END { print with, "of", n }' "$TMP/out")"
