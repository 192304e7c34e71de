#!/bin/sh
# What each way to leave a pool looks like, in all faces: n1's agent is stopped in order, n2's
# is killed, n3's is killed and the node is retired, "testrun" only imports.  n2 and n3 sent their last
# record 30 min ago, so n2 is silent; n4 lives.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

export POOLSCOPE_PARTITION='acct$pool'
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
for n in n1 n2 n3 n4; do
	start "$n" poolscope-agent --no-samples --no-clock -n "$n" --spool "$TMP/$n" \
		--socket "$TMP/$n.sock" --fallback "$TMP/$n.left" || exit 1
	ago=0
	case $n in n2 | n3) ago=1800 ;; esac
	check "an event of $n" poolscope-emit --socket "$TMP/$n.sock" --wait stored \
		--ts "$(($(date +%s) - ago))" work one
done
stop n1
stop n2 KILL
stop n3 KILL
check "a farm is imported" poolscope-import testrun -p "$POOLSCOPE_PARTITION" "$ROOT/tests/golden/testrun/m01_twenty"
check "n3 is retired" poolscope nodes retire n3
# node,state,attention
WANTED="n1,stopped,false n2,silent,true n3,stopped,false n4,live,false testrun,imported,false"
nodes() {
	poolscope nodes --format csv --sort node >"$TMP/nodes.csv"
	/usr/bin/python3 -c 'import csv, sys
print(*[",".join((row["node"], row["state"], row["attention"])) for row in csv.DictReader(open(sys.argv[1]))])' "$TMP/nodes.csv"
}
are_so() {
	[ "$(nodes)" = "$WANTED" ]
}
check "the nodes" wait_until are_so 30
check_text "... are so" "$WANTED" "$(nodes)"
check_status 3 "status misses one" poolscope status
check_text "... and says which pool" "warning: node needs attention (1 silent): poolscope nodes -p 'acct\$pool'" "$(head -1 "$TMP/out")"
check_text "metrics and alerts count one" "silent 1" "$(poolscope stats metrics |
	sed -n 's/^poolscope_pool_attention{.*reason="\(.*\)"} \([1-9]\)/\1 \2/p')"
poolscope top --once -p "$POOLSCOPE_PARTITION" >"$TMP/top"
check_text "top lists it first" "n2 silent" "$(sed -n '/^NODE/{n;p;}' "$TMP/top" | awk '{ print $1, $2 }')"
check_text "... and counts the others" "1 live, 0 late, 1 silent, 0 gone, 2 stopped, 1 imported" "$(head -1 "$TMP/top")"

start web poolscope-web --listen 127.0.0.1:0 || exit 1
wait_until "grep -qo 'http://[^ ]*#k=[^ ]*' '$TMP/web.log'" || exit 1
address=$(grep -o 'http://[^ ]*#k=[^ ]*' "$TMP/web.log" | head -n 1)
origin=${address%%/#*}
token=${address#*#k=}
curl -sS -o "$TMP/answer" -H "Authorization: Bearer $token" "$origin/v1/pools/acct%24pool/nodes?sort=node" 2>"$TMP/err"
check_text "the route of the page has the same" "$WANTED" "$(/usr/bin/python3 -c 'import json, sys
print(*[",".join((row["node"], row["state"], str(row["attention"]).lower())) for row in json.load(open(sys.argv[1]))["rows"]])' "$TMP/answer")"
