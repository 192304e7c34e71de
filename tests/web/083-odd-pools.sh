#!/bin/sh
# Pools that a layout must stand, in the words and the pictures of the page.
#
# acct$pool, seconds after BASE: ten nodes work for 20 s, n6 for 900 s: +880 s, which is 14.7 min, and is on
# one line at any width.  The node called U+202E and "kcab" turns nothing but itself; it works for 60 s, +40 s.
# acct$years: n1 works in 1976, n2 fifty years later: labels of the axis are next to each other.
# acct$many: 300 names of phases: the legend has 40 of them.
# The imported pool of 60 nodes: nobody waits for them, so their map is not that of states; the phase in which
# one differs most from the median is that of which the terminal says so.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate
start broker poolscope-broker || exit 1
PARTITION='acct$pool'
{
	for node in n1 n2 n3 n4 n5 n7 n8 n9 n10 n11; do
		printf 'event %s %s work:%s\n' 0 $node start 20 $node end
	done
	printf 'event 0 n6 work:start\nevent 900 n6 work:end\n'
	printf 'event 0 \342\200\256kcab work:start\nevent 60 \342\200\256kcab work:end\n'
} | records
PARTITION='acct$years'
printf 'event -1480000000 n1 work:start\nevent -1479999990 n1 work:end\nevent 0 n2 work:start\nevent 9 n2 work:end\n' | records
PARTITION='acct$many'
i=0
while [ $i -lt 300 ]; do
	i=$((i + 1))
	printf 'event %s n1 work:phase%s:start\nevent %s n1 work:phase%s:end\n' $i $i $((i + 1)) $i
done | records
check "an imported pool" poolscope-import cascade -p 'acct$imported' "$ROOT/deploy/demo/render-60.jsonl" --quiet
wait_until indexed 60 || exit 1
# The phase that differs most: max - p50 of phases by the terminal.
most=$(poolscope-stats phases -p 'acct$imported' --format csv --columns phase,p50,max |
	awk -F, 'NR > 1 && $3 - $2 > most { most = $3 - $2; name = $1 } END { print name }')
page_start
page_judge odd.mjs "$most" ${SHOTS:+"$SHOTS"}
stop web
stop broker
stop aggregator
