#!/bin/sh
# Causes that no sample shows: places that others had, and more to fetch.
#
# 14 nodes are prepared 0-3 and wait for their images from 3 on.  n01 to n12 each pull an image
# of their own, for 15 s, and wait 21 22 23 24 20 21 22 23 24 20 21 22 s in all.  n13 pulls
# another image, 5-65, and waits 67 s; n14 wants that one, too, and there is one place: it
# pulls it 65-85, and waits 87 s.
#
#	In order: 20 20 21 21 21 22 22 22 23 23 24 24 67 87, the median is 22.  Above it are
#	23 23 24 24 67 87: the spread is 1.4826 ln(24/22) = 0.129; n13 is ln(67/22) = 1.114
#	and n14 ln(87/22) = 1.375 above: 8.6 and 10.7 spreads.
#	n14 could have pulled from 3 on and got the place at 65: of 65 s lost it waited 62.
#	Had it waited for its images 22 s, the pool had been ready with n13, at 70, and not
#	at 90.  Had n13, n14 had got the place 45 s earlier.
#	Of their pulls of this image, two, nobody can judge; each of 12 others has its own
#	and took 15 s, also alone: 14 are not judged.
#
# In a second pool 14 nodes fetch 220 MB in 21 22 23 24 20 21 22 23 24 20 21 22 23 s, n14 600
# MB in 60 s.  The median is 22 s, and of the rates 220 / 22 = 10 MB/s: 380 MB more are 38 s, all
# that it lost.  The event says the size of one as a text.
#
# In a third one node fetches alone, in 13 starts 2 h apart: 20 s each time, then 40 s.  There
# are 12 earlier ones, their median is 20; 0.03 is the least spread.  It lost 20 s.  A second
# phase took 20 s, too, and was there 11 times before: it cannot be judged.
#
# In a fourth one node is prepared in 44 starts 2 h apart: in the first 14 for 20 s each, in the
# 15th for 60 s, in later ones for 60 s, in the 40th for 120 s.  An old start is judged by what
# was before it: the 15th by 14 times of 20 s, it lost 40 s; the 40th by the 20 before.
# Twice more one node alone: once the wait for its images in the fourth start has no end, so that there are 11 earlier
# times; once each start pulls an image in 20 s, and the last one that of the first one again, in 40 s: one time before.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model pool <<-'END'
	phase "prep" {
		start = "prep:start"
		end = "prep:end"
		required = true
	}
	phase "images" {
		start = "res:start"
		end = "res:end"
		required = true
		after = { "prep" }
		end_after = { "pull" }
	}
	phase "pull" {
		start = "pull:start"
		end = "pull:end"
		key = "img"
		places = 1
	}
END
model fetch <<-'END'
	phase "fetch" {
		start = "fetch:start"
		end = "fetch:end"
		bytes = "size"
	}
	phase "check" {
		start = "check:start"
		end = "check:end"
	}
END
aggregate --models "$TMP/models"

# pair NODE NAME BEGIN END [ATTRIBUTE]
pair() {
	echo "event $3 $1 $2:start ${5:-}"
	echo "event $4 $1 $2:end ${5:-}"
}
stragglers() {
	columns node,phase,key,time,usual,lost,drag,usual_of,of,cause,why \
		poolscope stats stragglers --format csv "$@"
}

{
	for i in 01 02 03 04 05 06 07 08 09 10 11 12; do
		pair "n$i" prep 0 3
		pair "n$i" res 3 $((23 + ${i#0} % 5))
		pair "n$i" pull 5 20 "img=i$i"
	done
	pair n13 prep 0 3
	pair n13 res 3 70
	pair n13 pull 5 65 img=big
	pair n14 prep 0 3
	pair n14 res 3 90
	pair n14 pull 65 85 img=big
} | records
wait_until indexed 30
UNMEASURED="unmeasured,there are no samples of the node in this time"
answer "places" "n13,pool:images,,67,22,45,45,peers,14,$UNMEASURED
n14,pool:images,,87,22,65,20,peers,14,place,it waited 62.0 s for places, for the last one until n13 had done with it; others 0 s" stragglers
check "..." poolscope stats stragglers
check_printed "... and what is not judged" "cannot judge 14 phases"
answer "... with its share" "0.9538461538461539" columns share poolscope stats stragglers -n n14 --format csv

PARTITION='acct$fetch'
export POOLSCOPE_PARTITION="$PARTITION"
{
	for i in 01 02 03 04 05 06 07 08 09 10 11 12; do
		pair "n$i" fetch 0 $((20 + ${i#0} % 5)) size=220000000
	done
	pair n13 fetch 0 23 size=2.2e8
	pair n14 fetch 0 60 size=600MB
} | records
wait_until indexed 30
answer "more to fetch" "n14,fetch:fetch,,60,22,38,,peers,14,bytes,it had 572.2 MiB to move, others 209.8 MiB" stragglers --model fetch
answer "... is all" "1.0" columns share poolscope stats stragglers --model fetch --format csv

PARTITION='acct$alone'
export POOLSCOPE_PARTITION="$PARTITION"
i=0
while [ $i -lt 13 ]; do
	pair n1 prep $((7200 * i)) $((7200 * i + 5))
	pair n1 res $((7200 * i + 5)) $((7200 * i + 25 + 20 * (i == 12)))
	[ $i = 0 ] || pair n1 pull $((7200 * i + 5)) $((7200 * i + 25)) img=i
	i=$((i + 1))
done | records
wait_until indexed 30
answer "a node alone" "n1,pool:images,,40,20,20,20,node,12,$UNMEASURED" stragglers
check "..." poolscope stats stragglers
check_printed "... and what is not judged" "cannot judge 1 phase:"

PARTITION='acct$often'
export POOLSCOPE_PARTITION="$PARTITION"
awk 'BEGIN { for (i = 1; i <= 44; i++) {
	print "event", 7200 * i, "n01 prep:start"
	print "event", 7200 * i + (i < 15 ? 20 : i == 40 ? 120 : 60), "n01 prep:end"
} }' | records
wait_until indexed 30
# start_of NUMBER
start_of() {
	columns start poolscope stats starts --newest 44 --format csv | sort | sed -n "$1p"
}
answer "an old start, by those before it" "n01,pool:prep,,60,20,40,,node,14,$UNMEASURED" stragglers --start "$(start_of 15)"
answer "... by 20 at most" "n01,pool:prep,,120,60,60,,node,20,$UNMEASURED" stragglers --start "$(start_of 40)"
answer "... and not by what came later" "" stragglers --start "$(start_of 41)"

PARTITION='acct$unended'
export POOLSCOPE_PARTITION="$PARTITION"
i=0
while [ $i -lt 13 ]; do
	pair n1 prep $((7200 * i)) $((7200 * i + 5))
	if [ $i = 3 ]; then
		echo "event $((7200 * i + 5)) n1 res:start"
	else
		pair n1 res $((7200 * i + 5)) $((7200 * i + 25 + 20 * (i == 12)))
	fi
	i=$((i + 1))
done | records
wait_until indexed 30
answer "eleven ends are too few" "" stragglers
check "..." poolscope stats stragglers
check_printed "... as a note has it" "cannot judge 1 phase:"

PARTITION='acct$images'
export POOLSCOPE_PARTITION="$PARTITION"
i=0
while [ $i -lt 13 ]; do
	pair n1 prep $((7200 * i)) $((7200 * i + 5))
	pair n1 res $((7200 * i + 5)) $((7200 * i + 25))
	pair n1 pull $((7200 * i + 5)) $((7200 * i + 25 + 20 * (i == 12))) img=$((i == 0 || i == 12))
	i=$((i + 1))
done | records
wait_until indexed 30
answer "another image is something else" "" stragglers
