#!/bin/sh
# What the timeline of the page shows: small pools, and pixels worked out by hand.
#
# acct$bars: the window is 1,200 px wide, so that the axis has 1200 - 48 - 18 - 150 = 984 pixels.  The
# phases go from 0 to 984 s: a pixel is a second.
#   n1 loads, pulls from 100 to 400, and loads again.
#   n2 pulls for 0.2 s at 100: a mark of one pixel.
#   n3 loads for 0.4 s and pulls for 0.6 s at 200: the pixel is of the pull.  At 300 it loads for a
#   half and pulls for the other half of the second: the pull began later.
#   n4 pulls from 500 on, without an end, and is heard at 600 for the last time.
# BASE is 22:13:20: 100 s later it is 22:15:00.
#
# acct$lanes: n1 pulls a from 0 to 1,068 s and b from 0 to 534 s: two lanes, the second half as long.
# The axis is that of the curves below, of 1134 - 66 = 1,068 pixels.
#
# acct$many: 640 nodes, two a row, load from 0 to 492 s; those of even numbers then pull until 984.
# So the left half is of loads, the right half of pulls, paler because half of the time is in none;
# in the area above all are in loads at first, then half of them in pulls and half in no phase.
#
# acct$hang: 640 nodes load from 0 to 492 s, and z, the last by name, loads without an end and is heard
# at 984 for the last time.  It has the first of 320 rows; the others share 319, two or three a row.
#
# acct$path: x, y and z pull one image, one after the other (tests/scenario/601-what-if.sh), in rows of 44
# pixels; 62 s have 984.  The path goes through x from 0 (dashed until 1, and from 3 to 5), y from 25 (dashed
# until 27) and z from 47 (dashed until 49).
#
# acct$more: the same, and zz is ready at 5: the path is not on it.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
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
# shellcheck source=tests/scenario/pulls.sh
. "$ROOT/tests/scenario/pulls.sh"
aggregate --models "$TMP/models"
PARTITION='acct$bars'
records <<-'END'
	event 0 n1 work:load img=a
	event 100 n1 work:loaded img=a
	event 100 n1 work:pull img=b
	event 400 n1 work:pulled img=b
	event 400 n1 work:load img=c
	event 984 n1 work:loaded img=c
	event 100 n2 work:pull img=a
	event 100.2 n2 work:pulled img=a
	event 200 n3 work:load img=a
	event 200.4 n3 work:loaded img=a
	event 200.4 n3 work:pull img=a
	event 201 n3 work:pulled img=a
	event 300 n3 work:load img=b
	event 300.5 n3 work:loaded img=b
	event 300.5 n3 work:pull img=b
	event 301 n3 work:pulled img=b
	event 500 n4 work:pull img=z
	event 600 n4 work:note
END
PARTITION='acct$lanes'
records <<-'END'
	event 0 n1 work:pull img=a
	event 1068 n1 work:pulled img=a
	event 0 n1 work:pull img=b
	event 534 n1 work:pulled img=b
END
PARTITION='acct$many'
i=1
while [ $i -le 640 ]; do
	echo "event 0 n$i work:load"
	echo "event 492 n$i work:loaded"
	[ $((i % 2)) = 1 ] || printf 'event 492 n%s work:pull\nevent 984 n%s work:pulled\n' $i $i
	i=$((i + 1))
done | records
PARTITION='acct$hang'
i=1
while [ $i -le 640 ]; do
	printf 'event 0 n%s work:load\nevent 492 n%s work:loaded\n' $i $i
	i=$((i + 1))
done | records
records <<-'END'
	event 0 z work:load
	event 984 z work:note
END
PARTITION='acct$path'
three_pulls | records
PARTITION='acct$more'
{
	three_pulls
	phase zz prep 0 3
	phase zz res 3 5
} | records
page_start
page_judge timeline.mjs "$BASE" ${SHOTS:+"$SHOTS"}
stop web
