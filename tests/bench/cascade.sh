# cascade - the start-up of 10,000 nodes (163,005 events) from the store: the
# table, the script and all numbers, beside what Python needs only to read the
# same rows.
#
#   NODES=1000 RUNS=5 sh tests/bench/cascade.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
PATH=$PWD/$B/bin:$PATH
export PATH
nodes=${NODES:-10000}
runs=${RUNS:-5}
pool=bigacct\$bigpool
tmp=$(mktemp -d "${TMPDIR:-/tmp}/poolscope.XXXXXX")
POOLSCOPE_DIR=$tmp/i
export POOLSCOPE_DIR
trap 'poolscope down >/dev/null 2>&1; rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

python3 tests/golden/cascade/p13_generated_1000/gen.py --nodes "$nodes" --out "$tmp" --no-emits
rows=$(wc -l <"$tmp/entities.jsonl")
poolscope up >/dev/null
poolscope-import cascade "$tmp/entities.jsonl" --quiet
tries=600
until [ "$(poolscope-stats status --format json --quiet |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["store"]["lag"])')" = 0 ]; do
	tries=$((tries - 1))
	[ "$tries" -gt 0 ] || { echo "the fold does not end" >&2; exit 1; }
	sleep 0.1
done

# measure NAME COMMAND...
measure() {
	/usr/bin/python3 tests/bench/measure.py "$runs" "$@"
}

out=$tmp/out
echo "$nodes nodes, $rows events, best of $runs"
measure "stats + .dat + .plot, aggregator" poolscope-plot cascade -p "$pool" --no-png --numbers -q -o "$out"
measure "  stats alone" poolscope-stats cascade -p "$pool" --format json -o "$out/t.json"
measure "  .dat + .plot alone" poolscope-plot cascade -p "$pool" --no-png -q -o "$out"
measure "  both pictures" poolscope-plot cascade -p "$pool" --view all -q -o "$out"
poolscope down
measure "stats + .dat + .plot, store (mapped)" poolscope-plot cascade -p "$pool" --store "$tmp/i/store" \
	--no-png --numbers -q -o "$out"
measure "  stats alone" poolscope-stats cascade -p "$pool" --store "$tmp/i/store" --format json -o "$out/t.json"
measure "python3: json.loads of the rows" python3 -c 'import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]' "$tmp/entities.jsonl"
echo "goal: 0.25 s; 32 MiB, mapped pages of the store not counted"
if [ "$nodes" = 10000 ]; then
	python3 tests/golden/compare.py sha tests/golden/cascade/p13_generated_1000/expected_10000/summary.json \
		bigacct-bigpool.dat "$out/bigacct-bigpool.dat"
fi
