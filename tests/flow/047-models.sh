#!/bin/sh
# Models that users write: a made-up farm that no program knows, defined by a
# file alone; checked, added to the others, changed; before its events and
# after them.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a dollar is part of the name of a partition
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

arms() {
	/usr/bin/python3 "$ROOT/tests/flow/arms.py" "$@"
}

# answers PARTITION DIR: all that the store says of the orders there.
answers() {
	wait_until indexed 60 || return
	mkdir -p "$2"
	for _what in deltas iterations groups; do
		timeout 60 poolscope-stats "$_what" -q -p "$1" --model arms \
			--format json >"$2/$_what.json" || return
	done
	timeout 60 poolscope-dump -q -p "$1" --kind phase --name 'arms:*' >"$2/phases.jsonl" &&
		timeout 60 poolscope-dump -q -p "$1" --kind entity --name 'order:*' >"$2/orders.jsonl"
}

# answers_right PARTITION NAME [STEP=START,END]: as a slow pass over the events.
answers_right() {
	answers "$1" "$TMP/$2" || return
	_events=$TMP/events.jsonl
	_answers=$TMP/$2
	shift 2
	arms judge "$_events" "$_answers" "$@"
}

# same DIR DIR: the same of each run, in whatever order they are listed; the
# statistics of groups but for the times of receipt.
same() {
	/usr/bin/python3 -c 'import json, os, sys
for name in "deltas.json", "iterations.json", "groups.json":
    one, other = ({k: sorted(map(str, (row for row in v if row.get("time") != "event_receive"))) if isinstance(v, list) else v
                   for k, v in json.load(open(os.path.join(d, name))).items() if k != "partition"} for d in sys.argv[1:])
    assert one == other and len(one["rows"]) > 3, name' "$@"
}

send() {
	poolscope-emit --stdin -p "$1" --wait stored <"$TMP/events.jsonl"
}

begin() {
	start aggregator poolscope-aggregator --models "$TMP/models" || exit 1
}

# ---- what a file says
mkdir "$TMP/models" "$TMP/mine"
cp "$ROOT"/deploy/models/*.conf "$TMP/models"
cp "$ROOT/tests/flow/arms.conf" "$TMP/mine"
check "a model is checked" poolscope models check "$TMP/mine/arms.conf"
check_text "... and says what it defines, steps in their order" "$TMP/mine/arms.conf: model arms
  runs        by attribute job, described by entities of kind order
  group       cell
  requestor   buyer
  error       fault
  states      queued until arm:taken, finished with arm:sent
  properties  cell, buyer, fault, part
  step        waiting: arm:ordered to arm:taken
  step        handling: arm:grip to arm:release
  step        inspection: eye:look to eye:verdict
  step        dispatch: arm:packed to arm:sent
  step        order: arm:ordered to arm:sent
  phase       tool-change: arm:tool-off to arm:tool-on, by node and tool, first start first
  view        hands: handling + tool-change
  events      arm:ordered, arm:taken, arm:grip, arm:release, eye:look, eye:verdict, arm:packed, arm:sent, arm:tool-off, arm:tool-on" \
	"$(cat "$TMP/out")"
check "it can be used with the installed models" \
	poolscope models check "$TMP"/models/*.conf "$TMP/mine/arms.conf"
check_text "... each of which is listed" "arms cascade job testrun" \
	"$(sed -n 's/.*: model //p' "$TMP/out" | sort | tr '\n' ' ' | sed 's/ $//')"

sed '/^run/,/^}/s/"arm:taken"/"taken"/' "$TMP/mine/arms.conf" >"$TMP/mine/wrong.conf"
line=$(awk '/^}/ { print NR; exit }' "$TMP/mine/wrong.conf")
check_status 3 "a wrong model is an error" \
	poolscope models check "$TMP/mine/wrong.conf" "$TMP/mine/arms.conf"
check_printed "... and the message gives file and line" \
	"^$TMP/mine/wrong.conf:$line: run has a begun or ended that is not \"source:name\""
check_printed "... and the others are checked all the same" "^$TMP/mine/arms.conf: model arms"
check_printed "... and counted" "1 of 2 models cannot be used"
sed '/^phase "waiting"/,/^}/s/"arm:taken"/"taken"/' "$TMP/mine/arms.conf" >"$TMP/mine/wrong.conf"
line=$(awk '/^phase "waiting"/ { seen = 1 } seen && /^}/ { print NR; exit }' "$TMP/mine/wrong.conf")
check_status 3 "a phase without an event is one" poolscope models check "$TMP/mine/wrong.conf"
check_printed "... and the message gives its line" \
	"^$TMP/mine/wrong.conf:$line: phase \"waiting\" needs start and end"
check_text "... and nothing is printed on standard output" "" "$(cat "$TMP/out")"
check_status 3 "two models have not one name" \
	poolscope models check "$TMP/models/job.conf" "$ROOT/deploy/models/job.conf"
check_printed "... and the message says so" ":1: a model of this name is already in $TMP/models/job.conf"
check_status 3 "a model is a file NAME.conf" poolscope models check "$ROOT/README.md"
check_printed "... and the message says so" "README.md:1: a model file must be called NAME.conf"
check_status 1 "a file has to be there" poolscope models check "$TMP/none.conf"
check_printed "... and the message says so" "^$TMP/none.conf: No such file"
: >"$TMP/mine/nothing.conf"
check "a model without phases is one" poolscope models check "$TMP/mine/nothing.conf"
check_printed "... with a remark" "no phases: this model derives nothing"
check_status 2 "no file is wrong usage" poolscope models check
check_status 2 "models does nothing else" poolscope models change
check_status 1 "no store has no models" poolscope models list

# ---- an aggregator that knows nothing of it
arms make 46 60 >"$TMP/events.jsonl"
begin
start broker poolscope-broker || exit 1
start agent poolscope-agent --no-samples || exit 1
check "events of no model are taken" send 'hall$before'
check "what it follows is listed while it runs" poolscope models list
check_text "... by name" "cascade job testrun" \
	"$(sed -n 's/^model //p' "$TMP/out" | sort | tr '\n' ' ' | sed 's/ $//')"
wait_until indexed 60
check_text "they are in no phase" "" "$(poolscope-dump -q -p 'hall$before' --kind phase)"
check_status 1 "nothing is known of its runs" \
	poolscope-stats groups -p 'hall$before' --model arms
stop aggregator

# ---- a model that came later
cp "$TMP/mine/arms.conf" "$TMP/models"
begin
check "an aggregator with another model says what to do" grep -q \
	'the models have changed; phases of stored records follow the old models until a rebuild (poolscope-admin rebuild)' \
	"$TMP/aggregator.log"
check "what comes now follows it" send 'hall$after'
check "... runs, groups and phases are those of its events" answers_right 'hall$after' after
check_text "... and all are counted" "60 orders, $(wc -l <"$TMP/events.jsonl") events" \
	"$(cat "$TMP/out")"
check_text "what came before does not" "" "$(poolscope-dump -q -p 'hall$before' --kind phase)"
stop aggregator
check "phases are rebuilt" poolscope-admin rebuild --models "$TMP/models"
check_status 1 "... without the advice to rebuild them" grep 'models have changed' "$TMP/err"
begin
check_status 1 "... which needs no second time" sh -c \
	'sed "1,/were rebuilt/d" "$1" | tail -n 5 | grep -q "models have changed"' x "$TMP/aggregator.log"
check "what came before is there too" answers_right 'hall$before' before
check "... with the same answers as what it was there for from the beginning" \
	same "$TMP/before" "$TMP/after"
check "what came later is as it was" answers_right 'hall$after' again
check "... to the byte" diff -r "$TMP/after" "$TMP/again"
check "verify finds nothing wrong" poolscope-admin verify
check "the orders are drawn as any runs are" \
	poolscope-plot testrun -q -p 'hall$before' --model arms -o "$TMP/pictures"
check_text "... in their steps" "Rank Run State waiting handling inspection dispatch" \
	"$(head -n 1 "$TMP/pictures/hall-before-arms-0001.dat")"
check_text "... each of them" 60 \
	"$(sed -s 1d "$TMP"/pictures/hall-before-arms-000?.dat | cut -d' ' -f2 | sort -u | wc -l)"
check "... as pictures" test -s "$TMP/pictures/hall-before-arms-0003.png"

# ---- by hand
check "an order is reported as it proceeds" sh -c '
	poolscope-emit arm ordered -p "hall\$hand" --attr job=7 --attr cell=north --ts 1795000000 &&
	poolscope-emit arm taken -p "hall\$hand" --attr job=7 --attr buyer=ada --ts 1795000002.5 --wait stored'
wait_until indexed 60
check "... and waited" poolscope-stats deltas --run 7 -p 'hall$hand' --model arms --format json
check_printed "... so long" '"step.waiting": 2.5,'
check "... in its group" poolscope-stats groups -p 'hall$hand' --model arms --format table
check_printed "... for one who is known" '^north  *ada  *1$'

# ---- a model that changes
stop aggregator
cat >>"$TMP/models/arms.conf" <<'END'
phase "work" {
	start = "arm:taken"
	end = "arm:sent"
	scope = "run"
	run = "job"
}
END
: >"$TMP/aggregator.log"
begin
check "a changed model is logged" grep -q 'the models have changed' "$TMP/aggregator.log"
stop aggregator
check "phases are rebuilt" poolscope-admin rebuild --models "$TMP/models"
: >"$TMP/aggregator.log"
begin
check_status 1 "... and only once" grep 'the models have changed' "$TMP/aggregator.log"
check "the new step is there, of all that is stored" answers_right 'hall$before' more work=arm:taken,arm:sent
check "the store's models have it" poolscope models list
check_printed "... as a step" 'step  *work: arm:taken to arm:sent'

# ---- a model that is wrong
stop aggregator
echo 'phase "open" {' >>"$TMP/models/arms.conf"
check_status 1 "an aggregator does not start with a wrong model" \
	poolscope-aggregator --models "$TMP/models"
wrong=$(grep -o "$TMP/models/arms.conf:.*" "$TMP/err")
check_status 3 "... the check finds the same" poolscope models check "$TMP/models/arms.conf"
check_text "... and says it in the same words" "$wrong" "$(head -n 1 "$TMP/err")"
