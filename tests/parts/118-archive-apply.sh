#!/bin/sh
# What is committed of table changes moves to table state, while new changes come;
# then the partitions of changes below it are gone, and the store that is made of
# the archive is the one that was archived.  At most LOADS of 2000 test runs.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/clickhouse_server.sh
. "$(dirname "$0")/clickhouse_server.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "ClickHouse cannot be installed"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
LOADS=${LOADS:-200}
serve_clickhouse ch || exit 1
url=clickhouse://${CLICKHOUSE#http://}/pool
archiving() {
	start aggregator poolscope-aggregator --archive "$url" --archive-after 200ms --models "$ROOT/deploy/models"
}
# applied: positions of epoch E are E * 2^48 + the number of a change.
applied() {
	query "SELECT max(applied) FROM pool.checkpoints"
}
partitions() {
	query "SELECT DISTINCT partition FROM system.parts WHERE database = 'pool' AND table = 'changes' AND active
		ORDER BY partition" | paste -sd' '
}
poolscope-archive create --to "$url" >"$TMP/created" 2>&1 || exit 1
{ archiving && start broker poolscope-broker; } || exit 1
# A move begins after 200,000 rows; how many loads these are depends on how many
# rows of a load replace each other before they are sent.
loads=0
until [ "$(applied)" -gt 0 ] || [ $loads -ge "$LOADS" ]; do
	check "2000 runs more are sent" load 2000
	loads=$((loads + 1))
done
check "they were moved while others came" wait_until '[ "$(applied)" -gt 0 ]' 60
check "... others come" load 2000
check "they are committed" settled 120
first=$(applied)
check_text "table state has all that were moved, in their newest form" 0 \
	"$(query "SELECT count() FROM (SELECT part, tbl, k, max(pos) AS newest FROM pool.changes
		WHERE bitAnd(pos, 281474976710655) <= $first GROUP BY part, tbl, k)
		WHERE (part, tbl, k, newest) NOT IN (SELECT part, tbl, k, pos FROM pool.state)")"
check_text "no partition of changes is complete" "(1,0)" "$(partitions)"

# A partition has 65,536 positions: the store goes on before its end.
stop broker
stop aggregator
check "the store counts from 65,530 on" "$B/parts/archive_change" "$DIR/store" 65530
{ archiving && start broker poolscope-broker; } || exit 1
for _ in 1 2 3 4 5 6 7 8 9 10; do
	check "runs more are sent" load 20
	settled 120 || fail "they are committed" "$TMP/status"
done
check "the count is above 65,536" test "$(query "SELECT max(bitAnd(pos, 281474976710655)) FROM pool.changes")" -gt 65536
# The first one may be gone: what an aggregator finds when it starts it moves at
# its first commit, however late that is.
check "there is a second partition" test "$(partitions | sed 's/^(1,0) //')" = "(1,1)"
# When it starts, an aggregator moves all that it finds.
stop broker
stop aggregator
{ archiving && start broker poolscope-broker; } || exit 1
check "runs more are sent" load 20
check "all is moved" wait_until '[ "$(applied)" -gt 65536 ]' 60
check "the first partition is gone" wait_until '[ "$(partitions)" = "(1,1)" ]' 60
check "runs more are sent" load 20
check "they are committed" settled 120
stop broker
stop aggregator

check "a store is made of the archive" poolscope-archive restore --from "$url" "$TMP/copy"
check "every row is right" poolscope-admin verify --store "$TMP/copy"
printed() {
	poolscope-dump -q --store "$1" -p 'demo$farm' --format jsonl --kind event --kind phase --kind run --kind entity >"$2"
}
check "the first store is dumped" printed "$DIR/store" "$TMP/first"
check "the other one is dumped" printed "$TMP/copy" "$TMP/other"
check "... with the same result" cmp "$TMP/first" "$TMP/other"
