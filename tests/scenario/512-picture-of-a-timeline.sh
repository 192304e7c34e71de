#!/bin/sh
# The picture of what nodes did when.
#
#	n1	loads from 0 to 10, pulls from 10 to 40, and loads again until 50
#	n2	pulls from 5 on, without an end, and is heard at 25 for the last time: an open bar,
#		and the first one
#	n3	loads from 20 to 30, and pulls meanwhile from 22 to 24
#	n4	pulls from 30 on, and begins that again at 35, until 36: the first is open until
#		35, but it does not hang
#
# acct$many: 1,120 nodes are 560 rows of two, and the axis of 1,000 pixels goes from 0 to 1,000 s.
# All load until 500; those of even numbers, one of each row, then pull until 1,000: half of the
# time of their row.
#
# acct$hang: the same 1,120 nodes load until 500; z loads without an end and is heard at 1,000 for the last
# time.  It has the first row, and the others share 559.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model work <<-'END'
	phase "load" {
		start = "work:load"
		end = "work:loaded"
		key = "img"
	}
	phase "pull" {
		start = "work:pull"
		end = "work:pulled"
		key = "img"
	}
END
aggregate --models "$TMP/models"
records <<-'END'
	event 0 n1 work:load img=a
	event 10 n1 work:loaded img=a
	event 10 n1 work:pull img=b
	event 40 n1 work:pulled img=b
	event 40 n1 work:load img=c
	event 50 n1 work:loaded img=c
	event 5 n2 work:pull img=a
	event 25 n2 work:note
	event 20 n3 work:load img=a
	event 22 n3 work:pull img=a
	event 24 n3 work:pulled img=a
	event 30 n3 work:loaded img=a
	event 30 n4 work:pull img=a
	event 35 n4 work:pull img=a
	event 36 n4 work:pulled img=a
END
check "a picture" poolscope-plot phases -o "$TMP/plot"
check "... is one" /usr/bin/python3 "$ROOT/tests/golden/compare.py" png "$TMP/plot/acct-pool-work-phases.png"
check_text "... of the segments at their times, what hangs first" "Row First Last Nodes Phase Name Begin End Open Share
1 n2 n2 1 2 work:pull 5 25 1 1
2 n1 n1 1 1 work:load 0 10 0 1
2 n1 n1 1 2 work:pull 10 40 0 1
2 n1 n1 1 1 work:load 40 50 0 1
3 n3 n3 1 1 work:load 20 22 0 1
3 n3 n3 1 2 work:pull 22 24 0 1
3 n3 n3 1 1 work:load 24 30 0 1
4 n4 n4 1 2 work:pull 30 35 1 1
4 n4 n4 1 2 work:pull 35 36 0 1" "$(sed 's/\.0*\( \|$\)/\1/g' "$TMP/plot/acct-pool-work-phases.dat")"
check "... and says how many" grep -q 'What 4 nodes did when, those with a phase that has no end first (1)\.' \
	"$TMP/plot/acct-pool-work-phases.plot"
for term in svg pdf; do
	check "as $term" poolscope-plot phases --term $term --style dark -o "$TMP/$term"
	check "... it is there" test -s "$TMP/$term/acct-pool-work-phases.$term"
done
check "letters" poolscope-plot phases --term dumb
check_printed "... are a picture, too" "seconds since 2023-11-14T22:13:20"

PARTITION='acct$many'
i=1
while [ $i -le 1120 ]; do
	echo "event 0 n$i work:load"
	echo "event 500 n$i work:loaded"
	[ $((i % 2)) = 1 ] || printf 'event 500 n%s work:pull\nevent 1000 n%s work:pulled\n' $i $i
	i=$((i + 1))
done | records
check "a picture of many" poolscope-plot phases -p 'acct$many' -o "$TMP/plot"
check_text "... has rows of two nodes" "560 2 1 work:load 0 500 0 1
560 2 2 work:pull 500 1000 0 0.5" "$(sed '1d; s/\.0*\( \|$\)/\1/g' "$TMP/plot/acct-many-work-phases.dat" |
	cut -d ' ' -f 4- | sort | uniq -c | sed 's/^ *//')"
check_text "... in the order of their names" "2 n3 n4" "$(sed -n '/^2 /{ p; q; }' "$TMP/plot/acct-many-work-phases.dat" | cut -d ' ' -f 1-3)"
check "... and says so" grep -q 'What 1120 nodes did when, each row several nodes\.' "$TMP/plot/acct-many-work-phases.plot"

PARTITION='acct$hang'
i=1
while [ $i -le 1120 ]; do
	printf 'event 0 n%s work:load\nevent 500 n%s work:loaded\n' $i $i
	i=$((i + 1))
done | records
records <<-'END'
	event 0 z work:load
	event 1000 z work:note
END
check "a picture of many of which one hangs" poolscope-plot phases -p 'acct$hang' -o "$TMP/plot"
check_text "... which has the first row" "1 z z 1 1 work:load 0 1000 1 1
2 n1 n2 2 1 work:load 0 500 0 1" "$(sed '1d; s/\.0*\( \|$\)/\1/g; 3q' "$TMP/plot/acct-hang-work-phases.dat")"
check_text "... of 560" "560 n1118 n1120 3 1 work:load 0 500 0 1" \
	"$(sed -n '$ s/\.0*\( \|$\)/\1/gp' "$TMP/plot/acct-hang-work-phases.dat")"
check "... and says so" grep -q 'those with a phase that has no end first (1), each row several nodes' "$TMP/plot/acct-hang-work-phases.plot"
