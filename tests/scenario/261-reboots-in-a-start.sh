#!/bin/sh
# Nodes that begin more than once.  A model with two required phases, prep and join, and one
# that is not, play; a node is ready at the later one of its prepared and joined.
#
#	n1 begins at 0, is prepared at 10; reboots to load a driver, begins again at 60, is
#	prepared at 70, joins from 80 to 90: not ready before it began again, ready after 90 s.
#	n2 begins at 5, is prepared at 15, joins from 20 to 40: ready after 40 s.  It reboots at
#	300, after it was ready, and is ready once more at 350: it was ready after 40 s.
#	n3 joins from 30 to 50 and is prepared at 55; when it began is lost: it is in no start.
#	n4 begins at 10, and its join ends at 320 though its start is lost; it is prepared at
#	330: ready after 330 s.
#	n5 begins at 350 and begins again at 400, at the same time as its join of 360 ends: that
#	join belongs to what was before, when it was not prepared; then it is prepared at 410
#	and does not join.  Not ready.
#
# Begins: 0 5 10 60 300 350 400.  Four nodes (n1, n2, n4, n5), of which three began again; the
# last begin is that of n5 at 400.  Ready: n2 40, n1 90, n4 330: three of four.
#
# The last sign is prepared of n5, 410; play at 900 is none.  n1 begins again at 1010, which is
# 600 s later, not more than 10 min: the same start, in which n1 was ready.  With a gap of 599 s
# it is one of its own, of n1 alone.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model farm <<-'END'
	phase "play" {
		start = "s:play"
		end = "s:played"
	}
	phase "prep" {
		start = "s:prep"
		end = "s:prepared"
		required = true
	}
	phase "join" {
		start = "s:join"
		end = "s:joined"
		required = true
	}
END
aggregate --models "$TMP/models"
records <<-'END'
	event 400 n5 s:prep
	event 400 n5 s:joined
	event 410 n5 s:prepared
	event 360 n5 s:join
	event 350 n5 s:prep
	event 0 n1 s:prep
	event 10 n1 s:prepared
	event 60 n1 s:prep
	event 70 n1 s:prepared
	event 80 n1 s:join
	event 90 n1 s:joined
	event 300 n2 s:prep
	event 310 n2 s:prepared
	event 320 n2 s:join
	event 350 n2 s:joined
	----
	event 5 n2 s:prep
	event 15 n2 s:prepared
	event 20 n2 s:join
	event 40 n2 s:joined
	event 30 n3 s:join
	event 50 n3 s:joined
	event 55 n3 s:prepared
	event 10 n4 s:prep
	event 320 n4 s:joined
	event 330 n4 s:prepared
	event 900 n1 s:play
	event 950 n1 s:played
END
starts() {
	columns start,nodes,ready,again,last_begin,first_ready,last_ready,duration \
		poolscope stats starts --format csv "$@"
}
answer "one start" "2023-11-14T22:13:20Z,4,3,3,400.0,40.0,330.0," starts
echo "event 1010 n1 s:prep" | records
answer "a pause of 10 min" "2023-11-14T22:13:20Z,4,3,4,1010.0,40.0,330.0," starts
answer "... is longer than one of 599 s" "2023-11-14T22:30:10Z,1,0,0,0.0,,,
2023-11-14T22:13:20Z,4,3,3,400.0,40.0,330.0," starts --gap 599
stop aggregator
