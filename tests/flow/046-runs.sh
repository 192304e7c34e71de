#!/bin/sh
# Test runs as people ask about them: numbers and pictures, of one run, some or
# all, and the messages about a wrong question.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
farm=$ROOT/tests/golden/testrun/m03_irregular_60
first=c645aba704abce2c712e8d05f07719ba # of its runs

# ---- wrong usage is one line and 2
wrong_usage "what there is not" "'delta' is not one of .*did you mean deltas" poolscope-stats delta
wrong_usage "groups are not of one run" "run is for .*, not for groups" poolscope-stats groups --run 1
wrong_usage "a run's id is not empty" "run takes the id of a run" poolscope-stats deltas --run ''
wrong_usage "skew is not of groups" "group is for .*, not for skew" poolscope-stats skew --group a
wrong_usage "the number of events has no clock" "time is for .*, not for iterations" poolscope-stats iterations --time emit
wrong_usage "only skew is of nodes" "node is for .*, not for deltas" poolscope-stats deltas -n a
wrong_usage "other numbers have no model" "model is for .*groups, .*runs, .*skew, .*not for usage" \
	poolscope-stats usage --model testrun
wrong_usage "other numbers are of no run" "unexpected argument '1'" poolscope-stats usage 1
for pages in 0 2..1 1-2 x ..0 99999999999999999999; do
	wrong_usage "pages are not $pages" "'$pages' is not A..B" poolscope-plot testrun --pages "$pages"
done
wrong_usage "a cascade has no pages" "cascade has no such picture" poolscope-plot cascade --view pages
wrong_usage "runs have no phases" "testrun has no such picture" poolscope-plot testrun --view phases
wrong_usage "use has no groups of runs" "group is for testrun, not for usage" poolscope-plot usage --group a
wrong_usage "runs have no job" "job is for phases, samples, usage, not for testrun" poolscope-plot testrun --job 1

start aggregator poolscope-aggregator --models "$ROOT/deploy/models" || exit 1
start broker poolscope-broker || exit 1
check_status 1 "before there are runs it is an error" poolscope-stats deltas -p 'lab$farm'
check_printed "... that says of what" "no runs of model 'testrun' in partition lab\$farm"
check "a farm is imported" poolscope-import -p 'lab$farm' testrun "$farm"
wait_until indexed 60 || fail "... and indexed"

# ---- one run, some, all
check "one run has numbers" poolscope-stats deltas -p 'lab$farm' --format csv --time receive --run "$first"
check_text "... only its own" "$first,alpha,1,3,843,152,58,5580,2,6645" "$(sed 1d "$TMP/out")"
check "as emitted they are others" poolscope-stats deltas -p 'lab$farm' --format csv --run "$first"
check_printed "... of which one is" "^$first,alpha,1,[0-9]*,844,"
check "the same run twice is one" poolscope-stats iterations -p 'lab$farm' --format csv --run "$first" --run "$first"
check_text "... with a row for each name, below the titles" 11 "$(wc -l <"$TMP/out")"
check_status 1 "a run that is not there is an error" \
	poolscope-stats deltas -p 'lab$farm' --run "$first" --run '*'
check_printed "... by its name" "no run '\*' of model testrun"
check_status 1 "a run of another group is, too" \
	poolscope-stats deltas -p 'lab$farm' --group beta --run "$first"
check_printed "... in such a group" "no run '$first' of model testrun in a matching group"
check "all runs are a table" poolscope-stats runs -p 'lab$farm'
check_text "... of a row each" 63 "$(wc -l <"$TMP/out")"
check "groups are tables" poolscope-stats groups -p 'lab$farm'
check_printed "... with what is under way, and errors" "^[a-z]*  *26  *6  *4  *14  *2  *12.50  *7.69$"
check "a group can be named" poolscope-stats groups -p 'lab$farm' --group 'b*'
check_text "... and is the only one" beta "$(sed -n '4s/ .*//p' "$TMP/out")"
check_status 1 "one that is not there is an error" poolscope-stats groups -p 'lab$farm' --group c
check "skew is a table" poolscope-stats skew -p 'lab$farm'
check_printed "... of each event" "^testrun  *request  *60  *0  *0.00  *1.00  *2.00"

# ---- live: a run of which only an event came is unknown
start agent poolscope-agent --no-samples -p 'lab$farm' -n lab || exit 1
check "an event comes" poolscope-emit -p 'lab$farm' --wait stored run queue_end --run 'new "one"'
stop agent
wait_until indexed 60 || fail "... and is indexed"
check "groups have a row of such runs" poolscope-stats groups -p 'lab$farm' --format json -o "$TMP/groups"
check "... that lists it" /usr/bin/python3 -c 'import json, sys
answer = json.load(open(sys.argv[1]))
(group,) = (row for row in answer["rows"] if not row["known"])
listed = [row for row in answer["unfinished"] if row["group"] is None]
sys.exit(group["group"] is not None or group["ongoing"] != 1 or listed != [{"group": None, "state": "ongoing", "run": "new \"one\""}])' "$TMP/groups"
check "it has numbers like others" poolscope-stats iterations -p 'lab$farm' --format csv --run 'new "one"'
check_text "... of what came" '"new ""one""",,queue_end,1,false' "$(sed 1d "$TMP/out")"

# ---- pictures
check "the newest runs are drawn" poolscope-plot testrun -p 'lab$farm' -o "$TMP/newest"
check_printed "... three pages, and how many runs are older" "1 older runs are on further pages"
check_text "... of which the third is the last" "lab-farm-testrun-0001.dat lab-farm-testrun-0002.dat lab-farm-testrun-0003.dat" \
	"$(cd "$TMP/newest" && echo *.dat)"
check "runs are drawn" poolscope-plot testrun -p 'lab$farm' -o "$TMP/pictures" --pages 1..
check_text "... each page is logged when it is written" \
	"$(for i in 1 2 3 4; do
		echo "info poolscope-plot: wrote $TMP/pictures/lab-farm-testrun-000$i.png: SIZE, with .plot and .dat"
	done)" "$(sed 's/: [0-9.]* KiB,/: SIZE,/' "$TMP/err")"
for i in 1 2 3 4; do
	check "page $i is a picture" /usr/bin/python3 "$ROOT/tests/golden/compare.py" png \
		"$TMP/pictures/lab-farm-testrun-000$i.png"
done
check_text "the last has the run that is left" 2 "$(wc -l <"$TMP/pictures/lab-farm-testrun-0004.dat")"
check "a page can be asked for" poolscope-plot testrun -p 'lab$farm' -o "$TMP/some" --pages 2..3 --term svg
check_text "... and a range of them" "lab-farm-testrun-0002.dat
lab-farm-testrun-0002.plot
lab-farm-testrun-0002.svg
lab-farm-testrun-0003.dat
lab-farm-testrun-0003.plot
lab-farm-testrun-0003.svg" "$(ls "$TMP/some")"
check "the second picture is a tree of XML" /usr/bin/python3 -c 'import sys, xml.etree.ElementTree as t
t.parse(sys.argv[1])' "$TMP/some/lab-farm-testrun-0002.svg"
check_status 1 "behind the last there is none" poolscope-plot testrun -p 'lab$farm' -o "$TMP/none" --pages 5..
check_printed "... and it says so" "the last page is 4"
check "a group is drawn by itself" poolscope-plot testrun -p 'lab$farm' -o "$TMP/group" --group alpha --no-png
check_text "... under its name" 28 "$(cat "$TMP/group"/lab-farm-testrun-alpha-000[12].dat | wc -l)"
mkdir "$TMP/empty"
cd "$TMP/empty" || exit 1
check "a page is drawn on a terminal" poolscope-plot testrun -p 'lab$farm' --pages 1 --term dumb
check_printed "... in letters" "Time / min"
check "series are only numbers" poolscope-plot testrun -p 'lab$farm' --series "$TMP/series.json" -q
check_text "... and no file comes with either" "" "$(ls)"
cd "$ROOT" || exit 1
check "other views are drawn" poolscope-plot testrun -p 'lab$farm' -o "$TMP/views" --view errors -q
check "... of steps" poolscope-plot testrun -p 'lab$farm' -o "$TMP/views" --view distribution -q
check "... day by day" poolscope-plot testrun -p 'lab$farm' -o "$TMP/views" --view days -q
for picture in "$TMP/views"/*.png; do
	check "$(basename "$picture") is a picture" \
		/usr/bin/python3 "$ROOT/tests/golden/compare.py" png "$picture"
done
check "runs are in the dump, too" poolscope-dump -p 'lab$farm' --kind run --name "testrun:$first"
check_printed "... with their events" '"group": "alpha", "known": true, "error": false, "state": "finished", "overflow": 0, "events": \[\[0, 1300000168000000000,'

# ---- a farm of one's own: a file says what a run is
stop broker
stop aggregator
DIR=$TMP/own
POOLSCOPE_DIR=$DIR
mkdir -p "$DIR/run" "$TMP/models"
{
	echo 'run { attribute = "order" kind = "order" group = "shop" begun = "desk:e1" ended = "desk:e8"
		properties = { "shop" } }'
	for i in 1 2 3 4 5 6 7 8; do
		echo "phase \"s$i\" { start = \"desk:e$((i - 1))\" end = \"desk:e$i\" scope = \"run\" run = \"order\" }"
	done
	echo 'phase "all" { start = "desk:e0" end = "desk:e8" scope = "run" run = "order" }'
} >"$TMP/models/bakery.conf"
start aggregator poolscope-aggregator --models "$TMP/models" || exit 1
start broker poolscope-broker || exit 1
start agent poolscope-agent --no-samples -p 'lab$bakery' -n oven || exit 1
check "orders are reported" sh -c 'for i in 0 1 2 3 4 5 6 7 8; do
	poolscope-emit desk e$i --attr order=rolls --attr shop=north --ts 10$i.$i || exit 1
done
poolscope-emit desk e0 --attr order=bread --ts 200 --wait stored'
wait_until indexed 60 || fail "... and indexed"
stop agent
check "a run of many steps has a column a step" \
	poolscope-stats deltas -p 'lab$bakery' --model bakery --format csv
check_text "... with its time, and that of the whole run" "run,group,iteration,step.s1,step.s2,step.s3,step.s4,step.s5,step.s6,step.s7,step.s8,step.all
rolls,north,1,1.1,1.1,1.1,1.1,1.1,1.1,1.1,1.1,8.8
bread,,,,,,,,,,," "$(cat "$TMP/out")"
check "it is drawn" poolscope-plot testrun -p 'lab$bakery' --model bakery -o "$TMP/own.d"
check_text "... of its steps, the newest first" "Rank Run State s1 s2 s3 s4 s5 s6 s7 s8
1 bread queued - - - - - - - -
2 rolls finished 1.1 1.1 1.1 1.1 1.1 1.1 1.1 1.1" "$(cat "$TMP/own.d/lab-bakery-bakery-0001.dat")"
check_text "... each in a colour of its own" 8 \
	"$(grep -o 'lc rgb "#......"' "$TMP/own.d/lab-bakery-bakery-0001.plot" | sort -u | wc -l)"
check "its groups have numbers" poolscope-stats groups -p 'lab$bakery' --model bakery --format csv --table steps
check_printed "... of what was reported" "^north,s1,event_emit,per_iteration,1,1.1,"
check_status 1 "it has no test runs" poolscope-stats groups -p 'lab$bakery'
check_printed "... and says so" "no runs of model 'testrun'"
stop broker
stop aggregator
