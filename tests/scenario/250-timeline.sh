# Four nodes start, and their owner asks what each did when, first as a whole,
# then as two rows.
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
# Order by begin, then name: n1, n10, n2, n3.  Two rows of two nodes each: the
# middle one of (n1, n10) is n1, of (n2, n3) n2; of one row of all four n10.
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
	poolscope-stats timeline --format csv "$@" | tr -d '\r'
}
answer "each node" "node,nodes,begin,total,prep,pull,no phase
n1,1,0.0,40.0,10.0,30.0,0.0
n10,1,0.0,100.0,20.0,60.0,20.0
n2,1,10.0,50.0,40.0,10.0,0.0
n3,1,60.0,50.0,50.0,0.0,0.0" lines
answer "two rows stand for two nodes each" "node,nodes,begin,total,prep,pull,no phase
n1,2,0.0,40.0,10.0,30.0,0.0
n2,2,10.0,50.0,40.0,10.0,0.0" lines --rows 2
answer "one row stands for all" "node,nodes,begin,total,prep,pull,no phase
n10,4,0.0,100.0,20.0,60.0,20.0" lines --rows 1
answer "the longest first" "n10 n2 n3" sh -c \
	'poolscope-stats timeline --format csv --sort total --top 3 | tail -n +2 | cut -d, -f1 | paste -sd " "'
# Columns of milliseconds.
answer "as JSON" '{"model": "start", "models": ["start"], "clock": "", "t0": "2023-11-14T22:13:20.000Z", "t0_ns": "1700000000000000000", "nodes": 4, "left_out": 1, "node": ["n1", "n2"], "of": [2, 2], "begin": [0, 10000], "total": [40000, 50000], "bands": [{"name": "prep", "ms": [10000, 40000]}, {"name": "pull", "ms": [30000, 10000]}, {"name": "no phase", "ms": [0, 0]}]}' \
	poolscope-stats timeline --format json --rows 2
check_status 1 "a model that is none" poolscope-stats timeline --model stat
check_printed "has a near name" "no model stat; did you mean start"
check_status 1 "too many rows" poolscope-stats timeline --rows 2001
check_printed "are refused with the limit" "at most 2000"
check_status 1 "a time without phases" poolscope-stats timeline --from "$(at 500)"
check_printed "is an error" "no complete phases that begin in that time"
stop aggregator
