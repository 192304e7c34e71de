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
wrong_usage "testrun alone is wrong usage" "missing argument: poolscope-stats testrun list|groups|deltas" \
	poolscope-stats testrun
wrong_usage "so is what there is not" "'speed' is not one of list, deltas" poolscope-stats testrun speed
wrong_usage "groups are not of one run" "covers all runs and takes no RUN" poolscope-stats testrun groups 1
wrong_usage "a run's id is not empty" "id is empty" poolscope-stats testrun deltas ''
wrong_usage "there are no lines of JSON" "the formats table, json and csv" poolscope-stats testrun deltas --format jsonl
wrong_usage "skew is not of groups" "group is not for testrun skew" poolscope-stats testrun skew --group a
wrong_usage "the number of events has no clock" "time is for testrun list, deltas and groups" \
	poolscope-stats testrun iterations --time emit
wrong_usage "only skew is of nodes" "node is for testrun skew" poolscope-stats testrun deltas -n a
wrong_usage "other numbers have no model" "model is for breakdown, starts, timeline, testrun, skew, not for usage" \
	poolscope-stats usage --model testrun
wrong_usage "other numbers are of no run" "unexpected argument '1'" poolscope-stats usage 1
for pages in 0 2..1 1-2 x ..0 99999999999999999999; do
	wrong_usage "pages are not $pages" "'$pages' is not A..B" poolscope-plot testrun --pages "$pages"
done
wrong_usage "a cascade has no pages" "cascade has no such picture" poolscope-plot cascade --view pages
wrong_usage "runs have no phases" "testrun has no such picture" poolscope-plot testrun --view phases
wrong_usage "use has no groups of runs" "group is for testrun, not for usage" poolscope-plot usage --group a
wrong_usage "runs have no job" "job is for samples, usage, not for testrun" poolscope-plot testrun --job 1

start aggregator poolscope-aggregator --models "$ROOT/deploy/models" || exit 1
start broker poolscope-broker || exit 1
check_status 1 "before there are runs it is an error" poolscope-stats testrun deltas -p 'lab$farm'
check_printed "... that says of what" "no runs of model 'testrun' in partition lab\$farm"
check "a farm is imported" poolscope-import -p 'lab$farm' testrun "$farm"
wait_until indexed 60 || fail "... and indexed"

# ---- one run, some, all
check "one run has numbers" poolscope-stats testrun deltas -p 'lab$farm' --format json --time receive "$first"
check_text "... only its own" "{\"$first\":{\"initialisation\":[3],\"queue\":[843],\"flash\":[152],\"boot\":[58],\"test\":[5580],\"publish\":[2],\"testrun\":[6645]}}" \
	"$(cat "$TMP/out")"
check "as emitted they are others" poolscope-stats testrun deltas -p 'lab$farm' --format csv "$first"
check_printed "... of which one is" "^$first,alpha,queue,1,844"
check "the same run twice is one" poolscope-stats testrun iterations -p 'lab$farm' --format csv "$first" "$first"
check_text "... with a row for each name, below the titles" 11 "$(wc -l <"$TMP/out")"
check_status 1 "a run that is not there is an error" \
	poolscope-stats testrun deltas -p 'lab$farm' "$first" '*'
check_printed "... by its name" "no run '\*' of model testrun"
check_status 1 "a run of another group is, too" \
	poolscope-stats testrun deltas -p 'lab$farm' --group beta "$first"
check_printed "... in such a group" "no run '$first' of model testrun in a matching group"
check "all runs are a table" poolscope-stats testrun deltas -p 'lab$farm'
check_text "... of a row each" 63 "$(wc -l <"$TMP/out")"
check_text "... that fits a terminal" "" "$(awk 'length > 80' "$TMP/out")"
check "groups are tables" poolscope-stats testrun groups -p 'lab$farm'
check_text "... that fit a terminal" "" "$(awk 'length > 80' "$TMP/out")"
check_printed "... with what is under way" "^26 runs: 14 finished, 4 ongoing, 6 queued"
check_printed "... and errors" "^2 with an error: 12.5 % of the ended runs, 7.7 % of all"
check "a group can be named" poolscope-stats testrun groups -p 'lab$farm' --group 'b*'
check_text "... and is the only one" beta "$(sed -n 3p "$TMP/out")"
check_status 1 "one that is not there is an error" poolscope-stats testrun groups -p 'lab$farm' --group c
check "skew is a table" poolscope-stats testrun skew -p 'lab$farm'
check_printed "... of each event" "^testrun  *request  *60  *0.00  *1.00  *2.00"

cp "$TMP/out" "$TMP/skew"
check "skew alone is the same" poolscope-stats skew -p 'lab$farm' -o "$TMP/alone"
check "... table" cmp "$TMP/skew" "$TMP/alone"

# ---- live: a run of which only an event came is unknown
start agent poolscope-agent --no-samples -p 'lab$farm' -n lab || exit 1
check "an event comes" poolscope-emit -p 'lab$farm' --wait stored run queue_end --run 'new "one"'
stop agent
wait_until indexed 60 || fail "... and is indexed"
check "groups have a row of such runs" poolscope-stats testrun groups -p 'lab$farm' --format json -o "$TMP/groups"
check "... that lists it" /usr/bin/python3 -c 'import json, sys
unknown = json.load(open(sys.argv[1]))["(unknown)"]
sys.exit(unknown["unknown"] != ["new \"one\""] or unknown["ongoing"] != unknown["unknown"])' "$TMP/groups"
check "it has numbers like others" poolscope-stats testrun iterations -p 'lab$farm' --format json 'new "one"'
check_text "... of what came" '{"new \"one\"":{"queue_end":1}}' "$(cat "$TMP/out")"

# ---- pictures
check "the newest runs are drawn" poolscope-plot testrun -p 'lab$farm' -o "$TMP/newest"
check_printed "... three pages, and how many runs are older" "1 older runs are on further pages"
check_text "... of which the third is the last" "lab-farm-testrun-0001.dat lab-farm-testrun-0002.dat lab-farm-testrun-0003.dat" \
	"$(cd "$TMP/newest" && echo *.dat)"
check "runs are drawn" poolscope-plot testrun -p 'lab$farm' -o "$TMP/pictures" --pages 1..
check_text "... each page is logged when it is written" \
	"$(for i in 1 2 3 4; do for s in dat plot png; do
		echo "info poolscope-plot: wrote $TMP/pictures/lab-farm-testrun-000$i.$s"
	done; done)" "$(cat "$TMP/err")"
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
check "a run of many steps has a row a step" \
	poolscope-stats testrun deltas -p 'lab$bakery' --model bakery
check_printed "... with its time" "^rolls  *s3  *1  *1.10$"
check_printed "... as the whole run has" "^rolls  *all  *1  *8.80$"
check "it is drawn" poolscope-plot testrun -p 'lab$bakery' --model bakery -o "$TMP/own.d"
check_text "... of its steps, the newest first" "Rank Run State s1 s2 s3 s4 s5 s6 s7 s8
1 bread queued - - - - - - - -
2 rolls finished 1.1 1.1 1.1 1.1 1.1 1.1 1.1 1.1" "$(cat "$TMP/own.d/lab-bakery-bakery-0001.dat")"
check_text "... each in a colour of its own" 8 \
	"$(grep -o 'lc rgb "#......"' "$TMP/own.d/lab-bakery-bakery-0001.plot" | sort -u | wc -l)"
check "its groups have numbers" poolscope-stats testrun groups -p 'lab$bakery' --model bakery --format csv
check_printed "... of what was reported" "^north,true,1,0,0,1,0,0.0,0.0,s1,event_emit,per_iteration,1,1.1,"
check_status 1 "it has no test runs" poolscope-stats testrun groups -p 'lab$bakery'
check_printed "... and says so" "no runs of model 'testrun'"
stop broker
stop aggregator
