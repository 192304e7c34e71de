#!/bin/sh
# A store and its archive of two shards answer the same questions, page by page
# with the same bytes, and so does a store that is made of the archive: records,
# phases, statistics, test runs, their groups, entities and nodes of a pool, a job, a
# farm and a tree of starts.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/clickhouse_cluster.sh
. "$(dirname "$0")/clickhouse_cluster.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "ClickHouse and ZooKeeper cannot be installed"
{ cluster_start && archive_start; } || exit 1
golden=$ROOT/tests/golden

# equal PARTITION: both answer the same; prints how much was compared.
store=$DIR/store raw='' questions=400
equal() {
	# shellcheck disable=SC2086 # a word, or none
	"$B/parts/archive_read" "$CLUSTER/pool" "$TMP/writer" "$store" "$1" "$middle" $raw
}

check "test runs are made up" load 60
check "a pool starts" poolscope-generate pool --nodes 40 --starts 2 --base -3h --period 3s --seed "${SEED:-7}" -p 'demo$pool' \
	--timeout 120s
for case in "$golden"/cascade/p0[1-4]*; do
	check "$(basename "$case") is imported" poolscope-import cascade "$case/entities.jsonl"
done
for case in "$golden"/testrun/m01*; do
	check "$(basename "$case") is imported" poolscope-import -p 'testrun$one' testrun "$case"
done
start agent poolscope-agent -p 'live$agent' -n n1 || exit 1
check "a host is sampled" wait_until \
	"poolscope-dump -q -p 'live\$agent' --kind sample >'$TMP/sampled' && test -s '$TMP/sampled'" 30
stop agent
check "all is in the archive" settled
stop broker
middle=$(poolscope-dump -q -p 'demo$pool' --kind event --format jsonl | sed -n '200s/.*"time_ns": \([0-9]*\).*/\1/p')
poolscope-stats pools -q --format jsonl >"$TMP/pools"
sed -n 's/^{"partition": "\([^"]*\)".*/\1/p' "$TMP/pools" >"$TMP/partitions"
check "there are pools" test "$(wc -l <"$TMP/partitions")" -ge 6
each_equal() {
	while read -r partition; do
		check "$partition is equal$1" equal "$partition"
		check_printed "... all of it" "$questions questions"
	done <"$TMP/partitions"
}
each_equal ""
stop aggregator
check "all is compacted" poolscope-admin compact --models "$ROOT/deploy/models"
aggregator_serve || exit 1
check "... and in the archive" settled
each_equal ", compacted"
check "a store is made of the archive" poolscope-archive restore --from "$CLUSTER/pool" \
	--archive-password "$TMP/writer" "$TMP/copy"
store=$TMP/copy
raw=raw questions=390
each_equal " to it"
