# stragglers - who was slow in a start, and why: a pool of 60 nodes from the aggregator, and one
# of 10,000 from the store, with a sample of each node each 10 s.
#
#	NODES=1000 RUNS=5 sh tests/bench/stragglers.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
nodes=${NODES:-10000}

poolscope up >/dev/null
poolscope-generate pool --nodes 60 --cause disk:17:4 --quiet -p 'acct$small'
[ "$nodes" -eq 0 ] || poolscope-generate pool --nodes "$nodes" --cause disk:17:4 --quiet -p 'acct$big'
wait_indexed
echo "best of $RUNS"
measure "60 nodes, aggregator" poolscope-stats stragglers -p 'acct$small' --format json -q -o "$TMP/small.json"
measure "  without the causes: slow" poolscope-stats slow -p 'acct$small' --format json -q -o "$TMP/slow.json"
if [ "$nodes" -gt 0 ]; then
	measure "$nodes nodes, aggregator" poolscope-stats stragglers -p 'acct$big' --format json -q -o "$TMP/big.json"
	poolscope down
	measure "$nodes nodes, store" poolscope-stats stragglers -p 'acct$big' --store "$TMP/i/store" --format json -q -o "$TMP/big.json"
fi
echo "goals: 60 nodes 0.05 s, 10,000 nodes from the store 1 s"
