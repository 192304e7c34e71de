# cascade - the start-up of 10,000 nodes (163,005 events) from the store: the
# table, the script and all numbers, next to what Python needs only to read the
# same rows.
#
#   NODES=1000 RUNS=5 sh tests/bench/cascade.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
nodes=${NODES:-10000}
pool=bigacct\$bigpool

python3 tests/golden/cascade/p13_generated_1000/gen.py --nodes "$nodes" --out "$TMP" --no-emits
rows=$(wc -l <"$TMP/entities.jsonl")
poolscope up >/dev/null
poolscope-import cascade "$TMP/entities.jsonl" --quiet
wait_indexed

out=$TMP/out
echo "$nodes nodes, $rows events, best of $RUNS"
measure "stats + .dat + .plot, aggregator" poolscope-plot cascade --view reference -p "$pool" --no-png --numbers -q -o "$out"
measure "  stats alone" poolscope-stats cascade -p "$pool" --format json -o "$out/t.json"
measure "  .dat + .plot alone" poolscope-plot cascade --view reference -p "$pool" --no-png -q -o "$out"
measure "  both pictures" poolscope-plot cascade -p "$pool" --view all -q -o "$out"
poolscope down
measure "stats + .dat + .plot, store (mapped)" poolscope-plot cascade --view reference -p "$pool" --store "$TMP/i/store" \
	--no-png --numbers -q -o "$out"
measure "  stats alone" poolscope-stats cascade -p "$pool" --store "$TMP/i/store" --format json -o "$out/t.json"
measure "python3: json.loads of the rows" python3 -c 'import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]' "$TMP/entities.jsonl"
echo "goal: 0.25 s; 32 MiB, mapped pages of the store not counted"
if [ "$nodes" = 10000 ]; then
	python3 tests/golden/compare.py sha tests/golden/cascade/p13_generated_1000/expected_10000/summary.json \
		bigacct-bigpool.dat "$out/bigacct-bigpool.dat"
fi
