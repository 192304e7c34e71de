#!/bin/sh
# A pool is ready when 90 % of its nodes are, and a pause of five minutes parts two starts: its
# model says so.  Seconds after the first start, of ten nodes:
#
#	n1 ... n9	prepared from 0 until 10, 20 ... 90
#	n10		begins at 0 and is prepared at 250
#
# 90 % of ten are nine: the pool is ready at 90, with n9, and the path is that of n9.  The last
# sign is at 250.
#
#	n1, n2		begin again at 550, are prepared at 560 and 570
#	n3		begins again at 560, and is never prepared
#
# The pause is of 300 s: it is the same start, in which nothing is ready later.  Where they
# begin one second later each, it is another one: 90 % of three are 2.7, so all three are needed,
# and it is incomplete.  A third one, at 2000, has one node, which is ready at 2007; 90 % of one is
# one.
#
# What if: without n1 there are nine, of which 8.1, so nine are needed: ready at 250.  If n9
# begins at 200, it is prepared at 290, and the ninth is n10.
# Of another pool ten more nodes, m1 to m10, are prepared at 5: 18 of 20 are needed, and the 18th is n8, at 80.  Without
# these ten nine of ten are: n9, at 90.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model pool <<'END'
	pool {
		ready_share = 0.9
		gap = "5m"
	}
	phase "prep" {
		start = "prep:start"
		end = "prep:end"
		required = true
	}
	phase "rest" {
		start = "rest:start"
		end = "rest:end"
		after = { "prep" }
	}
END
check "the model" poolscope models check "$TMP/models/pool.conf"
check_printed "... says what a pool is" "^  pool        ready when 90 % of its nodes are, a pause of 300 s parts two starts$"

# What a model without a word is not good for: lacks WORD... are the words, of the model on standard input.
lacks() {
	cat >"$TMP/some.conf"
	poolscope models check "$TMP/some.conf" | sed -n 's/^  no \([a-z_]*\)[:, ].*/\1/p' | tr '\n' ' '
}
some='start = "a:start" end = "a:end"'
answer "no start" "required " lacks <<-END
	phase "a" { $some }
END
answer "no order" "after " lacks <<-END
	phase "a" { $some required = true }
END
answer "nothing of other nodes, of places and of bytes" "after_any places bytes " lacks <<-END
	phase "a" { $some required = true }
	phase "b" { start = "b:start" end = "b:end" key = "img" after = { "a" } }
END
answer "nothing is lacking" "" lacks <<-END
	phase "a" { $some required = true }
	phase "b" { start = "b:start" end = "b:end" key = "img" after = { "a" } places = 3 bytes = "size" }
	phase "c" { start = "c:start" end = "c:end" key = "img" after_any = { "b" } }
END
answer "of test runs nothing is" "" lacks <"$ROOT/deploy/models/testrun.conf"
answer "of the installed model of pools, too" "" lacks <"$ROOT/deploy/models/cascade.conf"
aggregate --models "$TMP/models"

first() {
	for i in 1 2 3 4 5 6 7 8 9; do
		echo "event 0 n$i prep:start"
		echo "event ${i}0 n$i prep:end"
	done
	echo "event 0 n10 prep:start"
	echo "event 250 n10 prep:end"
}
again() {
	echo "event $1 n1 prep:start"
	echo "event $(($1 + 10)) n1 prep:end"
	echo "event $1 n2 prep:start"
	echo "event $(($1 + 20)) n2 prep:end"
	echo "event $(($1 + 10)) n3 prep:start"
}
starts() {
	columns state,nodes,ready,last_ready,duration poolscope stats starts --format csv "$@"
}
what_if() {
	columns what,ready,earlier,node poolscope stats whatif --format csv "$@"
}

first | records
wait_until indexed 20
answer "ready with the ninth" "ready,10,10,250.0,90.0" starts
answer "the path is that of the ninth" "0,90,in,n9" \
	columns offset,duration,kind,node poolscope stats critical --format csv
answer "without the first, nine of nine are needed" "recorded,90,0,n9
best,250,-160,n10" what_if --without n1
answer "all in half the time" "recorded,90,0,n9
best,45,45,n9" what_if --length prep=0.5
answer "another is the ninth" "recorded,90,0,n9
best,250,-160,n10" what_if --begin n9=200
again 550 | records
wait_until indexed 25
answer "a pause of five minutes" "ready,10,10,250.0,90.0" starts
answer "... parts them if somebody says less" "incomplete,3,2,20.0,
ready,10,10,250.0,90.0" starts --gap 299

PARTITION='acct$apart'
export POOLSCOPE_PARTITION="$PARTITION"
{
	first
	again 551
	echo "event 2000 n1 prep:start"
	echo "event 2007 n1 prep:end"
} | records
wait_until indexed 27
answer "one second more parts them" "ready,1,1,7.0,7.0
incomplete,3,2,20.0,
ready,10,10,250.0,90.0" starts
answer "... unless somebody says more" "ready,1,1,7.0,7.0
ready,10,10,250.0,90.0" starts --gap 10m
check_text "the share and the gap are in the answer" "0.9 300" \
	"$(poolscope stats starts --format json | /usr/bin/python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(answer["ready_share"], answer["gap"])')"

PARTITION='acct$twenty'
export POOLSCOPE_PARTITION="$PARTITION"
{
	first
	for i in 1 2 3 4 5 6 7 8 9 10; do
		echo "event 0 m$i prep:start"
		echo "event 5 m$i prep:end"
	done
} | records
wait_until indexed 20
answer "the same share of fewer nodes" "recorded,80,0,n8
best,90,-10,n9" what_if --without 'm*'
stop aggregator

for wrong in 'ready_share = 0' 'ready_share = 1.01' 'ready_share = -1' 'gap = "5 apples"' 'gap = "0s"'; do
	{
		echo "pool { $wrong }"
		cat "$TMP/models/pool.conf"
	} | sed '2,/}/{/pool/,/}/d;}' >"$TMP/wrong.conf"
	check_status 3 "$wrong" poolscope models check "$TMP/wrong.conf"
	check_printed "... has a sentence" "wrong.conf:1: pool has a ${wrong%% *} that is"
done
