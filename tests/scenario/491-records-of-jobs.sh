#!/bin/sh
# Jobs on three nodes.  [begin, end) of each of their runs, and who started it:
#
#	a (ada)		n1 [100, 200)	n2 [150, 350), whose start names nobody
#	b (bob)		n1 [200, 260)	n3 [120, 300)	on n1 at the moment when a ends
#	c (ada)		n2 [400, ...	has not ended
#	d (bob)		n3 [400, 450)	n3 [500, 560)	queued again
#	e		n1 [300, 320) of ada, n1 [600, 620) of bob: the batch system used the id again
#	17 (1000)	n1 [700, 720)	an id and a user that are numbers
#
# The end of a on n1 says user=eve: it is the start that counts.
#
# Steps (phases work:step), of which each belongs to the jobs that ran when it began:
#
#	s0 n1  99-105	-			s8 n2 350-351	-
#	s1 n1 100-110	a: as it began		s9 n2 410-	c, has no end
#	s2 n1 199-205	a: 6 s, also after it	s11 n3 130-140	b
#	s3 n1 200-215	b: as a ended		s12 n3 420-430	d
#	s4 n1 270-280	-			s13 n3 455-456	- : between the runs of d
#	s5 n1 310-312	e, ada			s14 n3 505-515	d
#	s6 n1 610-615	e, bob			s15 n3 440-	d, has no end
#	s7 n2 340-345	a
#
# So a has 3 steps, 10 + 6 + 5 = 21 s, and ran twice, 100 + 200 = 300 s.  d has 10 + 10 and one that
# is open, b 15 + 10; ada has a, c and the first e: 21 + 2 = 23 s in 4, one open, and ran 300 + 20 s
# in 3, one open; bob has b, d and the second e: 25 + 20 + 5 = 50 s in 5, one open, and ran
# 60 + 180 + 50 + 60 + 20 = 370 s in 5.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model job <<-'END'
	phase "run" {
		start = "job:start"
		end = "job:stop"
		key = "job"
	}
END
model work <<-'END'
	phase "step" {
		start = "work:start"
		end = "work:end"
		key = "k"
	}
END
aggregate --models "$TMP/models"
records <<-'END'
	event 100 n1 job:start job=a user=ada
	event 150 n2 job:start job=a
	event 200 n1 job:stop job=a user=eve
	event 350 n2 job:stop job=a
	event 200 n1 job:start job=b user=bob
	event 260 n1 job:stop job=b
	event 120 n3 job:start job=b user=bob
	event 300 n3 job:stop job=b
	event 400 n2 job:start job=c user=ada
	event 400 n3 job:start job=d user=bob
	event 450 n3 job:stop job=d
	event 500 n3 job:start job=d user=bob
	event 560 n3 job:stop job=d
	event 300 n1 job:start job=e user=ada
	event 320 n1 job:stop job=e
	event 600 n1 job:start job=e user=bob
	event 620 n1 job:stop job=e
	event 700 n1 job:start job=17 user=1000
	event 720 n1 job:stop job=17
	event 99 n1 work:start k=s0
	event 105 n1 work:end k=s0
	event 100 n1 work:start k=s1
	event 110 n1 work:end k=s1
	event 199 n1 work:start k=s2
	event 205 n1 work:end k=s2
	event 200 n1 work:start k=s3
	event 215 n1 work:end k=s3
	event 270 n1 work:start k=s4
	event 280 n1 work:end k=s4
	event 310 n1 work:start k=s5
	event 312 n1 work:end k=s5
	event 610 n1 work:start k=s6
	event 615 n1 work:end k=s6
	event 340 n2 work:start k=s7
	event 345 n2 work:end k=s7
	event 350 n2 work:start k=s8
	event 351 n2 work:end k=s8
	event 410 n2 work:start k=s9
	event 480 n2 other:last
	event 130 n3 work:start k=s11
	event 140 n3 work:end k=s11
	event 420 n3 work:start k=s12
	event 430 n3 work:end k=s12
	event 455 n3 work:start k=s13
	event 456 n3 work:end k=s13
	event 505 n3 work:start k=s14
	event 515 n3 work:end k=s14
	event 440 n3 work:start k=s15
	event 900 n3 other:last
	span 100 101 n1 track x
	span 199 230 n1 track x
	span 200 202 n1 track x
	span 349 350 n2 track x
	span 350 351 n2 track x
	span 125 126 n3 track x
	span 701 704 n1 track x
	entity n1 rack r1
	entity n3 rack r3
	gap 90 100 n1 events full 1
	gap 90 110 n1 events full 2
	gap 350 360 n2 events full 4
	gap 120 121 n3 events full 8
	group n1 depth level:1:gauge
	sample 95 n1 depth 1
	sample 105 n1 depth 2
	sample 205 n1 depth 3
	sample 205 n2 depth 4
	sample 205 n3 depth 5
END

# of NAMES COMMAND...: as columns, numbers without the .0 of a whole one.
of() {
	columns "$@" >"$TMP/columns" || return
	sed 's/\.0*\(,\|$\)/\1/g' "$TMP/columns"
}
# phases OPTION...: phase, how many that ended, their sum, how many that have no end.
phases() {
	of phase,count,sum,open poolscope-stats phases --format csv "$@"
}
# when OPTION...: node and time of each record, in order.
when() {
	poolscope-dump --format jsonl "$@" >"$TMP/jsonl" || return
	/usr/bin/python3 -c 'import json, sys
for r in sorted(((r["node"], (r.get("time_ns") or r.get("begin_ns") or r.get("from_ns")) // 10 ** 9 - int(sys.argv[2]))
                 for r in map(json.loads, open(sys.argv[1])))):
    print(*r)' "$TMP/jsonl" "$BASE"
}
ask_all() {
	answer "$1, phases of a" "job:run,2,300,0
work:step,3,21,0" phases --job a
	answer "$1, of b" "job:run,2,240,0
work:step,2,25,0" phases --job b
	answer "$1, of c, which runs" "job:run,0,0,1
work:step,0,0,1" phases --job c
	answer "$1, of d, which ran twice" "job:run,2,110,0
work:step,2,20,1" phases --job d
	answer "$1, of ada" "job:run,3,320,1
work:step,4,23,1" phases --user ada
	answer "$1, of bob" "job:run,5,370,0
work:step,5,50,1" phases --user bob
	answer "$1, of e of both" "job:run,2,40,0
work:step,2,7,0" phases --job e
	answer "$1, of e of ada" "job:run,1,20,0
work:step,1,2,0" phases --job e --user ada
	answer "$1, of a user who is a number" "job:run,1,20,0
work:step,0,0,0" phases --user 1000
	answer "$1, of the job that is one" "job:run,1,20,0
work:step,0,0,0" phases --job 17 --user 1000
	answer "$1, of a from 150 on" "job:run,1,200,0
work:step,2,11,0" phases --job a --from "$(at 150)"
	answer "$1, of a on n1" "job:run,1,100,0
work:step,2,16,0" phases --job a -n n1
	answer "$1, of a by node" "job:run,n1,1,100
job:run,n2,1,200
work:step,n1,2,16
work:step,n2,1,5" of phase,node,count,sum poolscope-stats phases --by node --job a --format csv
	answer "$1, of a by key" "job:run,a,2,300
work:step,s1,1,10
work:step,s2,1,6
work:step,s7,1,5" of phase,key,count,sum poolscope-stats phases --by key --job a --format csv
	answer "$1, spans of a" "n1,2,32
n2,1,1" of node,count,sum poolscope-stats spans --by node --job a --format csv
	answer "$1, spans of bob" "x,2,3" of name,count,sum poolscope-stats spans --user bob --format csv
	# t0 is when s12 began.  s15 lasts until its run of d ended, s9 until the last record of n2.
	answer "$1, the timeline of d" "n3,0,10,false
n3,20,10,true
n3,85,10,false" of node,offset,duration,open poolscope-stats timeline --model work --job d --format csv
	answer "$1, the timeline of c" "n2,0,70,true" of node,offset,duration,open \
		poolscope-stats timeline --model work --job c --format csv
	answer "$1, its picture" '"2023-11-14T22:21:55Z"' field t1 poolscope-stats timeline --model work --job d --pixels 100 --format json
	# n1: 100-110 and 199-205, n2: 340-345.
	answer "$1, the breakdown of a" "n1,105,16,89
n2,5,5,0" of node,total,work:step,no_phase poolscope-stats breakdown --model work --job a --format csv
	answer "$1, events of a" "n1 100
n1 100
n1 105
n1 110
n1 199
n2 150
n2 340
n2 345" when --job a --kind event
	answer "$1, spans of 17" "n1 701" when --user 1000 --kind span
	answer "$1, samples of b" "n1 205
n3 205" when --job b --kind sample
	answer "$1, values of a" "depth,level,2
depth,level,4" of group,metric,value poolscope-dump --format long --job a
	answer "$1, gaps that overlap a" "n1 90" when --job a --kind gap
	answer "$1, phases of d" "n3 400
n3 420
n3 440
n3 500
n3 505" when --job d --kind phase
	check "$1, entities of a" poolscope-dump --job a --kind entity --name 'rack:*' --format csv
	check_text "... are of its nodes" "r1" "$(/usr/bin/python3 -c 'import csv, sys
print(*[row["name"] for row in csv.DictReader(open(sys.argv[1]))])' "$TMP/out")"
	# 5 samples, of each job those of its nodes and times.
	answer "$1, statistics of samples of bob" "2,3,5" of count,min,max \
		poolscope-stats samples -m level --user bob --format csv
	answer "$1, of a" "2,2,4" of count,min,max poolscope-stats samples -m level --job a --format csv
}
ask_all "by an aggregator"

# Names that are not there.
check_status 1 "a job that is not there" poolscope-stats phases --job bb
check_printed "... is reported, with the one that is near" "no job 'bb' in partition acct\$pool; did you mean b?"
check_status 1 "a user who is not there" poolscope-stats spans --user add
check_printed "... is reported, with the one who is near" "no job of user 'add' in partition acct\$pool; did you mean ada?"
check_status 1 "a job of another user" poolscope-dump --job a --user bob
check_printed "... is reported" "no job 'a' of user 'bob' in partition acct\$pool"
check_status 1 "a user of an end only" poolscope-stats timeline --user eve
check_status 1 "a job without such phases" poolscope-stats breakdown --job 17 --model work
check_status 2 "kinds without a node" poolscope-dump --job a --kind run
check_status 2 "a job to follow" poolscope-dump --follow --job a

stop aggregator
POOLSCOPE_STORE=$DIR/store
export POOLSCOPE_STORE
ask_all "from the store"
check "all is compacted" poolscope-admin compact --models "$TMP/models"
ask_all "compacted"
