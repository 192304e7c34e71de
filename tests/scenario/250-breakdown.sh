# Four nodes start, and their owner asks how long each was in which phase, first as a
# whole, then as two rows.
#
#        0    10        40   50   60      100  110
#   n1   [prep ][  pull  ]
#   n2        [prep   ....  ][ pull ]            prep 10..50, pull 50..60
#   n10            (waits 20..40 between)        prep 0..20, pull 40..100
#   n9   nothing but an end: left out
#   n3                       prep 60..110
#
# n1: prep 0..10, pull 10..40: total 40.   n10: prep 20, pull 60, no phase 20: 100.
# n2 begins at 10, total 50.               n3 begins at 60, total 50.
# All: prep 10 + 20 + 40 + 50 = 120, pull 30 + 60 + 10 = 100, no phase 20.
# The longest first, then by name: n10, n2, n3, n1.  Two rows of two nodes each: the
# middle one of (n10, n2) is n10, of (n3, n1) n3; of one row of all four n2.
# By prep: n3 50, n2 40, n10 20, n1 10.  Rows are made of nodes in that order, after
# --top: (n3, n2) and (n10, n1).
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"

model start <<-'END'
	phase "prep" {
		start = "s:prep"
		end = "s:prepared"
	}
	phase "pull" {
		start = "s:pull"
		end = "s:pulled"
	}
END
aggregate --models "$TMP/models"
records <<-'END'
	event 0 n1 s:prep
	event 10 n1 s:prepared
	event 10 n1 s:pull
	event 40 n1 s:pulled
	event 10 n2 s:prep
	event 50 n2 s:prepared
	event 50 n2 s:pull
	event 60 n2 s:pulled
	event 0 n10 s:prep
	event 20 n10 s:prepared
	event 40 n10 s:pull
	event 100 n10 s:pulled
	event 60 n3 s:prep
	event 110 n3 s:prepared
	event 5 n9 s:pulled
END
lines() {
	poolscope-stats breakdown --format csv "$@"
}
HEAD="node,nodes,begin,total,longest,longest_seconds,start:prep,start:pull,no_phase"
answer "each node" "$HEAD
n10,1,0.0,100.0,start:pull,60.0,20.0,60.0,20.0
n2,1,10.0,50.0,start:prep,40.0,40.0,10.0,0.0
n3,1,60.0,50.0,start:prep,50.0,50.0,0.0,0.0
n1,1,0.0,40.0,start:pull,30.0,10.0,30.0,0.0" lines
answer "two rows stand for two nodes each" "$HEAD
n10,2,0.0,100.0,start:pull,60.0,20.0,60.0,20.0
n3,2,60.0,50.0,start:prep,50.0,50.0,0.0,0.0" lines --rows 2
answer "one row stands for all" "$HEAD
n2,4,10.0,50.0,start:prep,40.0,40.0,10.0,0.0" lines --rows 1
nodes() {
	columns node,nodes poolscope-stats breakdown --format csv "$@"
}
answer "the last to begin first" "n3,1
n2,1
n10,1" nodes --sort begin --top 3
answer "by name" "n1,1
n2,1
n3,1
n10,1" nodes --sort node
answer "by the time in a phase" "n3,1
n2,1
n10,1
n1,1" nodes --sort start:prep
answer "... rows stand for nodes that follow each other in that order" "n3,2
n10,2" nodes --sort start:prep --rows 2
answer "... of those that --top leaves" "n3,2" nodes --sort start:prep --top 2 --rows 1
answer "by the longest phase" "n2,1
n3,1
n10,1
n1,1" nodes --sort longest
# Colours: pull has number 1 in every model, prep the first that is free.
answer "the time of all nodes" "band,title,seconds,colour
start:prep,prep,120.0,0
start:pull,pull,100.0,1
no_phase,no phase,20.0," lines --table bands --rows 1
answer "as JSON" '{"question": "breakdown", "partition": "acct$pool", "from": null, "to": null, "start": null, "start_number": null, "starts": null, "model": "start", "clock": null, "t0": "2023-11-14T22:13:20Z", "nodes": 4, "rows": {"node": ["n10","n3"], "nodes": [2,2], "begin": [0.0,60.0], "total": [100.0,50.0], "longest": ["start:pull","start:prep"], "longest_seconds": [60.0,50.0], "start:prep": [20.0,50.0], "start:pull": [60.0,0.0], "no_phase": [20.0,0.0]}, "bands": {"band": ["start:prep","start:pull","no_phase"], "title": ["prep","pull","no phase"], "seconds": [120.0,100.0,20.0], "colour": [0,1,null]}, "models": {"model": ["start"]}, "notes": [{"key": "left_out", "count": 1, "text": "left out: 1 without an end or a start"}], "complete": true}' \
	sh -c 'poolscope-stats breakdown --format json --rows 2 --shape columns | tr -d "\n" | sed "s/  */ /g; s/\([[{]\) /\1/g; s/ \([]}]\)/\1/g"'
check "as a table" poolscope-stats breakdown
check_printed "... what it is" "^time of acct.pool in each phase of model start, added up, in seconds"
check_printed "... the longest of a node" "^n10  *1  *0\.00  *100\.00  *start:pull  *60\.00$"
check_status 1 "a model that is none" poolscope-stats breakdown --model stat
check_printed "has a near name" "no model stat; did you mean start"
wrong_usage "too many rows" "rows is at most 2000" poolscope-stats breakdown --rows 2001
wrong_usage "a model without a name" "model is empty: name a model" poolscope-stats breakdown --model ''
wrong_usage "a column that cannot come" "is not one of node, nodes, begin, total" poolscope-stats breakdown --sort ms
check_status 1 "a phase that is none" poolscope-stats breakdown --sort start:boot
check_printed "... is no column" "sort: the answer has no column 'start:boot'"
check_status 1 "a time without phases" poolscope-stats breakdown --from "$(at 500)"
check_printed "is an error" "no complete phases that begin in that time"
stop aggregator
