#!/bin/sh
# A store that is made of the archive: of a cluster of two shards with two
# replicas, while one of them is away or lacks rows.  Whatever is asked, it
# answers as the store that was archived.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/clickhouse_cluster.sh
. "$(dirname "$0")/clickhouse_cluster.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "ClickHouse and ZooKeeper cannot be installed"
golden=$ROOT/tests/golden
cluster_start || exit 1

# restore [OPTION...] STORE: of the archive pool.
restore() {
	poolscope-archive restore --from "$CLUSTER/pool" --archive-password "$TMP/writer" "$@"
}

# settled: everything is indexed, and committed to the archive.
settled() {
	wait_until 'indexed && python3 -c "import json, sys
text = open(sys.argv[1]).read()
sys.exit(0 if \"\\\"archive_lag_ns\\\": 0,\" in text and \"\\\"archive_failing\\\": false\" in text else 1)" "$TMP/status"' 60
}

# printed STORE TO: what commands print of a store.
printed() {
	mkdir -p "$2"
	for _p in 'a$perf' 'a$scanner' 'a$testrun' 'a$emits' 'a$values' $partitions; do
		_to=$2/$(echo "$_p" | tr '$' '-')
		for _kind in event sample span gap rejected entity phase run; do
			poolscope-dump -q --store "$1" -p "$_p" --kind "$_kind" >"$_to-$_kind" || return 1
		done
		poolscope-dump -q --store "$1" -p "$_p" --kind sample --format csv >"$_to.csv" || return 1
		poolscope-stats phases -q --store "$1" -p "$_p" --format json >"$_to-phases.json" 2>/dev/null
	done
	poolscope-stats perf -q --store "$1" -p 'a$perf' --format json -o "$2/perf.json" &&
		poolscope-stats scanner -q --store "$1" -p 'a$scanner' --job 3 --format json -o "$2/scanner.json" &&
		poolscope-stats groups -q --store "$1" -p 'a$testrun' --format json -o "$2/groups.json"
}

# same NAME STORE: it answers as the store that was archived, and is whole.
same() {
	rm -rf "$TMP/again"
	check "$1: commands answer" printed "$2" "$TMP/again"
	check "$1: ... byte by byte as before" diff -r "$TMP/first" "$TMP/again"
	check "$1: every row is right" poolscope-admin verify --store "$2"
}

check "the tables are made" poolscope-archive create --to "$CLUSTER/pool" \
	--archive-password "$TMP/writer"
check_status 1 "nothing can be made of an empty archive" restore "$TMP/none"
check_printed "... which it prints" "the archive is empty"
check_status 1 "... and no store is left" test -e "$TMP/none/tables"

{ start aggregator poolscope-aggregator --archive "$CLUSTER/pool" \
	--archive-password "$TMP/writer" --archive-after 200ms \
	--models "$ROOT/deploy/models" && start broker poolscope-broker; } || exit 1
check "reports of hosts are imported" poolscope-import perf -p 'a$perf' "$golden/perf/r02_four_nodes/reports.json"
check "profiles of a job are imported" poolscope-import scanner -p 'a$scanner' --job 3 "$golden/scanner/s02_two_workers/db"
check "test runs are imported" poolscope-import testrun -p 'a$testrun' "$golden/testrun/m02_fortyfive"
check "events of a cascade are imported" poolscope-import emits -p 'a$emits' "$golden/cascade/p02_pool8_p2p_private/emits.jsonl"
partitions=
for case in "$golden"/cascade/p0* "$golden"/cascade/p1[0-2]*; do
	check "$(basename "$case") is imported" poolscope-import cascade "$case/entities.jsonl"
	partitions="$partitions $(sed -n 's/.*"partition_key": *"\([^"]*\)".*/\1/p' "$case/case.json")"
done
partitions=$(echo "$partitions" | tr ' ' '\n' | sort -u | paste -sd' ')
# Texts as long as may be, integers at the edges, names with quotes.
python3 -c 'import json
for i in range(200):
    print(json.dumps({"ts": "%d.5" % (1700000000 + i * 100), "source": "a\"b", "event": "e%d" % i,
        "node": "n%d" % (i % 7), "message": "x" * 32000 if i % 10 == 0 else "tab\t\n\u00e9 \\N"}))' >"$TMP/values"
check "large texts are imported" poolscope-import emits -p 'a$values' "$TMP/values"
settled || fail "everything is archived" "$TMP/status"
stop broker
stop aggregator
check "the store answers" printed "$DIR/store" "$TMP/first"

check "a store is made of the archive" restore --format json "$TMP/copy"
# Times of the 200 events: each 100 s from 2023-11-14T22:13:20.5Z on.
check_json "... which prints what it has" \
	"[(200, 0, 0, '2023-11-14T22:13:20.500Z', '2023-11-15T03:45:00.500Z', 0)] True" \
	"'%s %s' % ([tuple(r[k] for k in ('events', 'spans', 'samples', 'from', 'to', 'left_out')) for r in rows
		if r['partition'] == 'a\$values'], a['complete'] and not a['notes'])"
check_json "... of each partition" "$(echo "a\$perf a\$scanner a\$testrun a\$emits a\$values$partitions" | tr ' ' '\n' | LC_ALL=C sort | paste -sd' ')" \
	"' '.join(r['partition'] for r in rows)"
same "the copy" "$TMP/copy"
check "a store is made of some hours" restore -p 'a/values' --since 2023-11-15T00:00:00Z --format json "$TMP/late"
check_json "... without the 64 events before" "2023-11-15T00:00:00Z [(136, 64, '2023-11-15T00:00:00.500Z')]" \
	"'%s %s' % (a['since'], [(r['events'], r['left_out'], r['from']) for r in rows])"
check_status 1 "an existing store is not touched" restore "$TMP/copy"
check_printed "... and named" "exists: give another directory"

stop ch2 KILL
check "a store is made while a replica is away" restore "$TMP/away"
same "while a replica is away" "$TMP/away"

# The other one ends while it is read.
cluster_serve 2 || exit 1
rm -rf "$TMP/away"
poolscope-archive restore --from "$CLUSTER/pool" --archive-password "$TMP/writer" \
	"$TMP/away" >"$TMP/restored" 2>&1 &
restoring=$!
check "the restore has begun" wait_until \
	'test -e "$TMP/away.restoring/tables" || test -e "$TMP/away/tables"' 60
stop ch1 KILL
check "a replica ends during the restore" wait "$restoring"
same "after that" "$TMP/away"

# No replica of a shard: nothing, and it says so.
stop ch2 KILL
check_status 1 "without a shard there is no store" restore "$TMP/half"
check_printed "... which it prints" "shard 1"
check_status 1 "... and nothing is left" test -e "$TMP/half.restoring"
