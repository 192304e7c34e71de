# report - the size of a report of 60 and of 10,000 nodes, and when Chromium has painted it out
# of a file, without a graphics processor.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # partitions' names
. "$(dirname "$0")/lib.sh"
PAGE=$PWD/build/parts/page
/usr/bin/python3 tests/golden/cascade/p13_generated_1000/gen.py --nodes 10000 --out "$TMP" --no-emits
poolscope up >/dev/null
poolscope-import cascade "$TMP/entities.jsonl" --quiet
poolscope-import cascade deploy/demo/render-60.jsonl --quiet
wait_indexed
: >"$TMP/screens"
for pool in 'prodacct$render-60' 'bigacct$bigpool'; do
	GOAL="  (goal: 60 nodes 250 KB, 10,000 nodes 400 KB)"
	measure "$pool" poolscope-report -p "$pool" -o "$TMP/r.html" --quiet
	echo "$pool: $(wc -c <"$TMP/r.html") bytes$GOAL"
	if ! command -v chromium >/dev/null || [ ! -e "$PAGE/complete" ]; then
		echo "SKIPPED: make test T=web installs Chromium and what drives it"
		continue
	fi
	for _run in $(seq "$RUNS"); do
		echo "$pool: $(node tests/web/report.mjs "$PAGE" "$TMP/r.html" "$(command -v chromium)" "$TMP/screens" | grep painted)"
	done
done
echo "goal: data within 300 ms"
