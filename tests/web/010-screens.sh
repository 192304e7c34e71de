#!/bin/sh
# Every screen at 1, 60 and 10,000 nodes, light and dark, 360, 800 and 1,600 pixels wide, with
# pictures and with tables: no violation that axe-core knows, fewer than 3,000 elements, nothing
# wider than the window, nothing asked of another host, no refused script or style.
#
#	SHOTS=DIR make test T=web/010	also saves each screen there
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
. "$(dirname "$0")/lib.sh"

# What a browser loads, which is all but what only a report has; what crosses the wire stands below.
cd "$ROOT/exporters/web/page" || exit 1
check "the page has at most 190 KB" test \
	"$(find . "$ROOT/$B/exporters/web/palette.js" -type f ! -name report.js -exec cat {} + | wc -c)" -le 190000
check_text "index.html asks for all modules at once" "$({ echo palette.js; find . -name '*.js' ! -name app.js ! -name report.js; } | sed 's,./,,' | sort)" \
	"$(sed -n 's/.*modulepreload" href="\([^"]*\)".*/\1/p' index.html | sort)"
cd "$ROOT" || exit 1

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
# Start-ups: 60 nodes as recorded, 1 and 10,000 generated.
check "a recorded pool of 60 nodes" poolscope-import cascade "$ROOT/deploy/demo/render-60.jsonl" --quiet
python3 "$ROOT/tests/golden/cascade/p13_generated_1000/gen.py" --nodes 10000 --out "$TMP" --no-emits
check "a pool of 10,000 nodes" poolscope-import cascade "$TMP/entities.jsonl" --quiet
# Samples, of now.
for nodes in 1 60; do
	BASE=$(($(date +%s) - 1000)) /usr/bin/python3 "$ROOT/tests/viewers/pools.py" $nodes 60 |
		grep -v ' farm ' >"$TMP/records"
	BASE=$(($(date +%s) - 1000)) /usr/bin/python3 "$ROOT/tests/scenario/records.py" \
		"ipc://$DIR/run/intake.ipc" "acct\$pool-$nodes" <"$TMP/records" || exit 1
done
check "a farm" poolscope-generate testrun --runs 230 --spacing 100 --base now -p 'demo$farm'
mkdir "$TMP/results" "$TMP/archive"
poolscope-generate results --files 96 --tests 2 --entries 3 --spacing 21600 --base now -o "$TMP/results" --quiet
check "results of benchmarks" poolscope-upload results -p 'demo$benches' --target store -d "$TMP/results" -a "$TMP/archive"
wait_until indexed 60
page_start
crossing=0
for each in exporters/web/page/* palette.js; do
	[ "${each##*/}" != report.js ] || continue
	bytes=$(curl -sS -f -o /dev/null -w '%{size_download}' -H 'Accept-Encoding: gzip' "${ADDRESS%%/#*}/${each##*/}") ||
		fail "$each is served"
	crossing=$((crossing + bytes))
done
check "of the page at most 75 KB cross the wire ($crossing)" test "$crossing" -gt 0 -a "$crossing" -le 75000

node=tvm-1392786949_21-20171014t165320z
big=$(poolscope-stats cascade -p 'bigacct$bigpool' --format json |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["rows"][0]["node"])')
one=$(poolscope-stats nodes -p 'acct$pool-1' --format json |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["rows"][0]["node"])')
cat >"$TMP/screens" <<END
pools #/pools
status #/status
overview-1 #/pool/acct%24pool-1
samples-60 #/pool/acct%24pool-60
overview-60 #/pool/prodacct%24render-60
overview-10000 #/pool/bigacct%24bigpool
timeline-1 #/pool/acct%24pool-1/timeline
timeline-60 #/pool/prodacct%24render-60/timeline
timeline-10000 #/pool/bigacct%24bigpool/timeline
breakdown-1 #/pool/acct%24pool-1/breakdown
breakdown-60 #/pool/prodacct%24render-60/breakdown
breakdown-10000 #/pool/bigacct%24bigpool/breakdown
map-1 #/pool/acct%24pool-1/map
map-60 #/pool/acct%24pool-60/map
heard-60 #/pool/acct%24pool-60/map?value=heard
map-10000 #/pool/bigacct%24bigpool/map?value=phase:cascade:load
node-1 #/pool/acct%24pool-1/node/$one
node-60 #/pool/prodacct%24render-60/node/$node
node-10000 #/pool/bigacct%24bigpool/node/$big
runs #/pool/demo%24farm/runs
runs-older #/pool/demo%24farm/runs?skip=220
runs-failed #/pool/demo%24farm/runs?state=failed
run #/pool/demo%24farm/runs/49
groups #/pool/demo%24farm/groups
results #/pool/demo%24benches/results
entries #/pool/demo%24benches/results?test=%2F%2Fbench:test_0
timings #/pool/demo%24benches/results?test=%2F%2Fbench:test_0&entry=BM_0
no-runs #/pool/acct%24pool-1/runs nothing
no-pool #/pool/acct%24nowhere nothing
END
page_judge page.mjs "$TMP/screens" ${SHOTS:+"$SHOTS"}
stop web
