#!/bin/sh
# The colours of phases: the first eight, and no phase, are seen apart by people with each
# kind of colour blindness, on light and on dark ground; and a phase has one name and one
# colour in plots of start-ups, plots of phases, and on the page.  A model of twelve phases
# has patterns from the ninth on.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
judge() {
	/usr/bin/python3 "$ROOT/tests/flow/palette_judge.py" "$@"
}

# web: start it; sets address and token.
web() {
	start web poolscope-web --listen 127.0.0.1:0 || exit 1
	wait_until 'grep -q "^http://" "$TMP/web.log"'
	address=$(sed -n 's|^\(http://.*\)/#k=.*|\1|p' "$TMP/web.log")
}

mkdir "$TMP/models"
cp "$ROOT"/deploy/models/*.conf "$TMP/models"
for n in 01 02 03 04 05 06 07 08 09 10 11 12; do
	echo "phase \"step-$n\" {"
	echo "	start = \"s$n:start\""
	echo "	end = \"s$n:end\""
	echo "}"
done | model twelve
aggregate --models "$TMP/models"
start broker poolscope-broker || exit 1
# Two nodes are in the twelve phases, one after the other; in each for another time, so
# that the order is known.
for node in n1 n2; do
	for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
		printf 'event %d %s s%02d:start\nevent %d %s s%02d:end\n' $((100 * n)) $node $n $((100 * n + 70 - n)) $node $n
	done
done | records
check "a recorded pool" env -u POOLSCOPE_PARTITION poolscope-import cascade "$ROOT/deploy/demo/render-60.jsonl" --quiet
check "test runs" poolscope-generate testrun --runs 30 --base now -p 'demo$farm'
wait_until indexed

# all STYLE: the scripts of each picture.
all() {
	check "$1: start-up" poolscope-plot cascade -p 'prodacct$render-60' --view phases --style "$1" --term svg -q -o "$TMP/$1"
	check "$1: phases" poolscope-plot phases -p 'prodacct$render-60' --model cascade --view all --style "$1" --term svg -q -o "$TMP/$1"
	check "$1: twelve phases" poolscope-plot phases -p 'acct$pool' --model twelve --view all --style "$1" --term svg -q -o "$TMP/$1"
	check "$1: phases of runs" poolscope-plot phases -p 'demo$farm' --model testrun --view all --style "$1" --term svg -q -o "$TMP/$1"
	check "$1: test runs" poolscope-plot testrun -p 'demo$farm' --style "$1" --term svg -q -o "$TMP/$1"
}
all light
all dark
web
check "the page has the palette" curl -sS -f -o "$TMP/palette.js" "$address/palette.js"
check "... and a ground" curl -sS -f -o "$TMP/style.css" "$address/style.css"
check "eight colours are seen apart on light and dark ground" judge told "$TMP/palette.js" "$TMP/style.css" \
	"$TMP/light/prodacct-render-60-phases.plot" "$TMP/dark/prodacct-render-60-phases.plot"

# asked PARTITION MODEL: the numbers of the page.
asked() {
	poolscope-stats breakdown -p "$1" --model "$2" --format json >"$TMP/$2.bands"
	poolscope-stats timeline -p "$1" --model "$2" --format json >"$TMP/$2.timeline"
}
asked 'prodacct$render-60' cascade
asked 'demo$farm' testrun
asked 'acct$pool' twelve
for style in light dark; do
	name=$(echo $style | tr '[:lower:]' '[:upper:]')
	check "$style: the phases of a start-up are the same in all pictures" judge same "$TMP/palette.js" "$name" \
		"$TMP/cascade.bands" "$TMP/cascade.timeline" "$TMP/$style/prodacct-render-60-phases.plot" \
		"$TMP/$style/prodacct-render-60-cascade-breakdown.plot" "$TMP/$style/prodacct-render-60-cascade-phases.plot"
	check "$style: the steps of test runs, too" judge same "$TMP/palette.js" "$name" \
		"$TMP/testrun.bands" "$TMP/testrun.timeline" "$TMP/$style/demo-farm-testrun-0001.plot" \
		"$TMP/$style/demo-farm-testrun-breakdown.plot" "$TMP/$style/demo-farm-testrun-phases.plot"
	check "$style: phases of one's own" judge same "$TMP/palette.js" "$name" \
		"$TMP/twelve.bands" "$TMP/twelve.timeline" \
		"$TMP/$style/acct-pool-twelve-breakdown.plot" "$TMP/$style/acct-pool-twelve-phases.plot"
done
# The order of the model; 9 to 12 have the first four colours again.
check_text "twelve phases have twelve places" "0 1 2 3 4 5 6 7 8 9 10 11" "$(/usr/bin/python3 -c '
import json, sys
print(*[row["colour"] for row in json.load(sys.stdin)["phases"]])' <"$TMP/twelve.timeline")"
check_text "... and two of ten bands a pattern" 2 "$(grep -c 'fs pattern [0-9]* lc' "$TMP/light/acct-pool-twelve-breakdown.plot")"
check_text "... and four of twelve phases, in their boxes and in the legend" 8 \
	"$(grep -c 'fs pattern [0-9]* lc' "$TMP/light/acct-pool-twelve-phases.plot")"
