#!/bin/sh
# A report opens from a file without a network: each of its screens, on the screen and on paper,
# at 60 nodes, 10,000 nodes, with samples, runs, results, and with names that would be markup.
#
#	SHOTS=DIR make test T=web/040	also saves each screen there, and as paper
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
. "$(dirname "$0")/lib.sh"

# report POOL BYTES: write it, with at most BYTES bytes, and open it with the screens of the input.
report() {
	cat >"$TMP/screens"
	check "a report of $1" poolscope report -p "$1" --with-trace -o "$TMP/report.html" --quiet
	check "... of at most $2 bytes" test "$(wc -c <"$TMP/report.html")" -le "$2"
	ADDRESS=$TMP/report.html
	page_judge report.mjs "$TMP/screens" ${SHOTS:+"$SHOTS/${1##*\$}"}
}

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
check "a recorded pool of 60 nodes" poolscope-import cascade "$ROOT/deploy/demo/render-60.jsonl" --quiet
python3 "$ROOT/tests/golden/cascade/p13_generated_1000/gen.py" --nodes 10000 --out "$TMP" --no-emits
check "a pool of 10,000 nodes" poolscope-import cascade "$TMP/entities.jsonl" --quiet
BASE=$(($(date +%s) - 1000)) /usr/bin/python3 "$ROOT/tests/viewers/pools.py" 60 60 | grep -v ' farm ' >"$TMP/records"
BASE=$(($(date +%s) - 1000)) /usr/bin/python3 "$ROOT/tests/scenario/records.py" \
	"ipc://$DIR/run/intake.ipc" 'acct$pool-60' <"$TMP/records" || exit 1
check "a farm" poolscope-generate testrun --runs 60 --base now -p 'demo$farm'
mkdir "$TMP/bench" "$TMP/archive-bench"
poolscope-generate results --files 24 --tests 2 --entries 2 --spacing 21600 --base now -o "$TMP/bench" --quiet
check "results of benchmarks" poolscope-upload results -p 'demo$benches' --target store -d "$TMP/bench" -a "$TMP/archive-bench"
PYTHONPATH=$ROOT/tests/attack:$ROOT/tests/flow /usr/bin/python3 "$ROOT/tests/web/hostile.py" "$TMP" || exit 1
check "nodes with hostile names" poolscope-import cascade "$TMP/nodes.jsonl" --quiet
wait_until indexed 60
one=$(poolscope-stats nodes -p 'acct$pool-60' --format json |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["rows"][0]["node"])')

report 'prodacct$render-60' 250000 <<'END'
pools #/pools
status #/status
overview #/pool/prodacct%24render-60
breakdown #/pool/prodacct%24render-60/breakdown
some #/pool/prodacct%24render-60/breakdown?node=tvm-1392786949_2*
none #/pool/prodacct%24render-60/breakdown?node=tvm-1392786949_2 nothing
by-model #/pool/prodacct%24render-60/breakdown?model=cascade
other-model #/pool/prodacct%24render-60/breakdown?model=testrun nothing
map #/pool/prodacct%24render-60/map
node #/pool/prodacct%24render-60/node/tvm-1392786949_21-20171014t165320z
no-runs #/pool/prodacct%24render-60/runs nothing
END
report 'bigacct$bigpool' 400000 <<'END'
overview #/pool/bigacct%24bigpool
breakdown #/pool/bigacct%24bigpool/breakdown
map #/pool/bigacct%24bigpool/map
END
report 'acct$pool-60' 290000 <<END
overview #/pool/acct%24pool-60
breakdown #/pool/acct%24pool-60/breakdown
map #/pool/acct%24pool-60/map
node #/pool/acct%24pool-60/node/$one
END
report 'demo$farm' 190000 <<'END'
runs #/pool/demo%24farm/runs
failed #/pool/demo%24farm/runs?state=failed
run #/pool/demo%24farm/runs/49
groups #/pool/demo%24farm/groups
END
report 'demo$benches' 165000 <<'END'
results #/pool/demo%24benches/results
entries #/pool/demo%24benches/results?test=%2F%2Fbench:test_0
timings #/pool/demo%24benches/results?test=%2F%2Fbench:test_0&entry=BM_0
END
report 'acct$texts' 170000 <<'END'
pools #/pools
overview #/pool/acct%24texts
breakdown #/pool/acct%24texts/breakdown
map #/pool/acct%24texts/map
node #/pool/acct%24texts/node/%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E
node-2 #/pool/acct%24texts/node/%3C%2Fscript%3E%3Cscript%3Ealert%284%29%3C%2Fscript%3E
END
