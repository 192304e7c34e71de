#!/bin/sh
# The page has the colours, the names and the units of the plots: each swatch of Breakdown,
# Timeline and Runs, light and dark, is compared with the gnuplot script of the same pool.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
. "$(dirname "$0")/lib.sh"

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
check "a recorded pool" poolscope-import cascade "$ROOT/deploy/demo/render-60.jsonl" --quiet
check "test runs" poolscope-generate testrun --runs 30 --base now -p 'demo$farm'
check "a pool with samples" poolscope-generate pool --nodes 3 --base now -p 'demo$pool'
wait_until indexed 60
for style in light dark; do
	check "$style: plots of phases" poolscope-plot phases -p 'prodacct$render-60' --model cascade --view breakdown --style $style --term svg -q -o "$TMP/$style"
	check "$style: of runs" poolscope-plot testrun -p 'demo$farm' --style $style --term svg -q -o "$TMP/$style"
done
check "the colours of the plots" /usr/bin/python3 -c 'import json, re, sys
screens = {"prodacct%24render-60/breakdown": "prodacct-render-60-cascade-breakdown",
           "prodacct%24render-60/timeline": "prodacct-render-60-cascade-breakdown", "demo%24farm/runs": "demo-farm-testrun-0001"}
def of(style, plot):
    found = re.findall("boxxyerror(?: fs pattern [0-9]+)? lc rgb \"(#[0-9a-f]+)\" title \"([^\"]*)\"",
                       open("%s/%s/%s.plot" % (sys.argv[1], style, plot)).read())
    return {title: colour for colour, title in found}
json.dump({style: {screen: of(style, plot) for screen, plot in screens.items()} for style in ("light", "dark")},
          open(sys.argv[1] + "/plots.json", "w"))' "$TMP"
node=$(poolscope-stats nodes -p 'demo$pool' --format json |
	python3 -c 'import json, sys; print([row["node"] for row in json.load(sys.stdin)["rows"] if row["node"] != "farm"][0])')
page_start
page_judge palette.mjs "$TMP/plots.json" "$node"
