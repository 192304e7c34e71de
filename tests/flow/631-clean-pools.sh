#!/bin/sh
# Ten pools of 60 nodes in which nothing is wrong have at most one straggler, and one that
# is slow is found among them.  tests/bench/clean_pools.sh asks more of them, and larger
# ones.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

named() {
	for pool in 0 1 2 3 4 5 6 7 8 9; do
		poolscope-stats stragglers -q -p "clean\$$pool" --format csv --table stragglers "$@" | tail -n +2
	done
}
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
/usr/bin/python3 "$ROOT/tests/bench/clean_pools.py" 1 10 60 rough >"$TMP/rows"
check "ten pools" poolscope-import cascade "$TMP/rows"
# In one of them n7 takes 40 s longer to be prepared, and all that follows is later.
sed -n 's/clean\$3/slow$3/p' "$TMP/rows" | /usr/bin/python3 -c 'import json, sys
for row in map(json.loads, sys.stdin):
    late = row["NodeId"] == "n7" and row["Event"] not in ("nodeprep:start", "privateregistry:start")
    print(json.dumps(dict(row, RowKey="%.6f" % (float(row["RowKey"]) + 40 * late))))' >"$TMP/slow"
check "one with a slow node" poolscope-import cascade "$TMP/slow"
wait_until indexed 60
named >"$TMP/named"
check "at most one straggler is named" test "$(wc -l <"$TMP/named")" -le 1
check_text "what was planted is" "n7 cascade:private-registry" "$(
	poolscope-stats stragglers -q -p 'slow$3' --format csv --table stragglers --columns node,phase | tail -n +2 | tr -d '\r' | tr ',' ' ')"
