# mcp - what each tool of poolscope mcp takes for an answer of at most 4 KB: of the demo's pool of
# 60 nodes, and of 10,000; the best and the worst of $RUNS.
#
#   NODES=1000 RUNS=5 sh tests/bench/mcp.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # partitions' names
. "$(dirname "$0")/lib.sh"
nodes=${NODES:-10000}

poolscope up >/dev/null
poolscope-import cascade deploy/demo/render-60.jsonl --quiet
poolscope-generate pool --quiet --nodes "$nodes" --starts 1 -p 'big$many'
wait_indexed
for pool in 'prodacct$render-60' 'big$many'; do
	echo "$pool"
	/usr/bin/python3 tests/bench/mcp.py "$RUNS" "$pool"
done
echo "goal: 100 ms where the question itself allows it (last column: what the command takes)"
