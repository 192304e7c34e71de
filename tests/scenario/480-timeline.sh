#!/bin/sh
# What nodes did when.  Seconds after the beginning; every moment of a node is in one phase,
# of several in the one that began last; "(" is a phase that has no end.
#
#	a	prep 0-10, load x 10-20, pull x 20-50: it loads before it pulls
#	b	prep 100-105, load x 105-110, pull x 110-120, load y 120-125, pull y 125-140: twice
#	c	prep 200-210, pull x 210-240, pull y 220-250: two images at once
#			cut: pull x 210-220, pull y 220-250; lanes: x and y are in two
#	d	prep 300-310, pull x (310, load z 320-330, a note at 360: x goes on to 360,
#			but for the time of z
#	e	prep 400-410, pull x (410, load w (415, then the node boots: prep 430-440,
#			pull x 440-470: what was before the boot ends at 430
#	f	prep 500-510, pull x (510, pull x 520-540: it begins again
#	g	prep 600.000000001-600.000000003, load k 601 to 601, which is no moment; an end
#			of load q without a start is left out
#	a, g	begin again at 10000: prep 10000-10005 and 10002-10010, pull x of g (10010; the
#			last record of g is at 10050, that of a at 10060
#
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model boot <<-'END'
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
	phase "load" {
		start = "s:load"
		end = "s:loaded"
		key = "img"
	}
	phase "hint" {
		start = "s:hint"
		end = "s:hinted"
		unmatched = "ignore"
	}
END
aggregate --models "$TMP/models"
records <<-'END'
	event 0 a s:prep
	event 10 a s:prepared
	event 10 a s:load img=x
	event 20 a s:loaded img=x
	event 20 a s:pull img=x
	event 50 a s:pulled img=x
	event 100 b s:prep
	event 105 b s:prepared
	event 105 b s:load img=x
	event 110 b s:loaded img=x
	event 110 b s:pull img=x
	event 120 b s:pulled img=x
	event 120 b s:load img=y
	event 125 b s:loaded img=y
	event 125 b s:pull img=y
	event 140 b s:pulled img=y
	event 200 c s:prep
	event 210 c s:prepared
	event 210 c s:pull img=x
	event 220 c s:pull img=y
	event 240 c s:pulled img=x
	event 250 c s:pulled img=y
	event 300 d s:prep
	event 310 d s:prepared
	event 310 d s:pull img=x
	event 320 d s:load img=z
	event 330 d s:loaded img=z
	event 340 d s:hint
	event 360 d s:note
	event 400 e s:prep
	event 410 e s:prepared
	event 410 e s:pull img=x
	event 415 e s:load img=w
	event 430 e s:prep
	event 440 e s:prepared
	event 440 e s:pull img=x
	event 470 e s:pulled img=x
	event 500 f s:prep
	event 510 f s:prepared
	event 510 f s:pull img=x
	event 520 f s:pull img=x
	event 540 f s:pulled img=x
	event 600.000000001 g s:prep
	event 600.000000003 g s:prepared
	event 601 g s:load img=k
	event 601 g s:loaded img=k
	event 602 g s:loaded img=q
	event 10000 a s:prep
	event 10005 a s:prepared
	event 10002 g s:prep
	event 10010 g s:prepared
	event 10010 g s:pull img=x
	event 10050 g s:note
	event 10060 a s:note
END
# timeline OPTION...: of each segment its node, from and to after the beginning, phase, key,
# "open" and lane.
timeline() {
	poolscope-stats timeline --format csv "$@" >"$TMP/csv" || return
	/usr/bin/python3 -c 'import calendar, csv, sys, time
from decimal import Decimal as D
def after(text):
    whole, _, fraction = text.rstrip("Z").partition(".")
    at = D(calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S"))) + D("0." + (fraction or "0")) - D(sys.argv[2])
    return format(at.normalize(), "f")
for of in csv.DictReader(open(sys.argv[1])):
    print(of["node"], after(of["begin"]), after(of["end"]), of["phase"].replace("boot:", ""), of["key"],
          {"true": "open", "false": ""}[of["open"]], of["lane"], sep=",")' "$TMP/csv" "$BASE"
}
FIRST="--to $(at 9000)"
# shellcheck disable=SC2086 # words
of_first() {
	timeline $FIRST "$@"
}
answer "a loads before it pulls" "a,0,10,prep,,,
a,10,20,load,x,,
a,20,50,pull,x,," of_first -n a
answer "b does both twice" "b,100,105,prep,,,
b,105,110,load,x,,
b,110,120,pull,x,,
b,120,125,load,y,,
b,125,140,pull,y,," of_first -n b
answer "c pulls two images at once" "c,200,210,prep,,,
c,210,220,pull,x,,
c,220,250,pull,y,," of_first -n c
answer "... in lanes of its own" "c,200,210,prep,,,0
c,210,240,pull,x,,0
c,220,250,pull,y,,1" of_first -n c --lanes
answer "d has a phase that never ends" "d,300,310,prep,,,
d,310,320,pull,x,,
d,320,330,load,z,,
d,330,360,pull,x,open," of_first -n d
answer "e boots in the middle" "e,400,410,prep,,,
e,410,415,pull,x,,
e,415,430,load,w,open,
e,430,440,prep,,,
e,440,470,pull,x,," of_first -n e
answer "... what it did before has no end in its lane either" "e,400,410,prep,,,0
e,410,430,pull,x,open,0
e,415,430,load,w,open,1
e,430,440,prep,,,0
e,440,470,pull,x,,0" of_first -n e --lanes
answer "f begins a phase again" "f,500,510,prep,,,
f,510,520,pull,x,open,
f,520,540,pull,x,," of_first -n f
answer "times are exact" "g,600.000000001,600.000000003,prep,,," of_first -n g
answer "... also of a phase without length, in its lane" "g,600.000000001,600.000000003,prep,,,0
g,601,601,load,k,,0" of_first -n g --lanes
answer "after the first of all" "0,10
10,10
20,30" columns offset,duration poolscope-stats timeline -n a --to "$(at 9000)" --format csv
answer "what hangs, then nodes in the order of their begin" "d a b c e f g" sh -c \
	'poolscope-stats timeline --to "$0" --format csv | tail -n +2 | cut -d, -f1 | uniq | paste -sd " "' "$(at 9000)"
answer "the second start" "g,10002,10010,prep,,,
g,10010,10050,pull,x,open,
a,10000,10005,prep,,," timeline --start now
answer "the first one has nothing of it" "$(of_first)" timeline --start "$(at 0)"
answer "both" "a,0,10,prep,,,
a,10,20,load,x,,
a,20,50,pull,x,,
a,10000,10005,prep,,," timeline --start all -n a
check "a table" poolscope-stats timeline --start all -n d
check_printed "... says what is open" "1 without an end: drawn to the last record"
check "of g" poolscope-stats timeline --start all -n g
check_printed "... what is left out" "left out: 1 without a start"
answer "the phases of the model" "phase,colour
boot:prep,0
boot:pull,1
boot:load,5" poolscope-stats timeline --start all --table phases --format csv
answer "... of which these begin in 15 s" "phase,colour
boot:prep,0
boot:load,5" poolscope-stats timeline --table phases --format csv -n a --to "$(at 15)"
answer "times are of the clocks of nodes" null field clock poolscope-stats timeline --format json -n a
check_status 1 "a model that is none" poolscope-stats timeline --model bot
check_printed "has a near name" "no model bot; did you mean boot"
check_status 1 "a time without phases" poolscope-stats timeline --from "$(at 20000)"
check_printed "is an error" "no phases that begin in that time"
stop aggregator
