#!/bin/sh
# An archive that has lost records: `archive verify --repair` has the aggregator send
# them again, from row blocks and compacted, while new ones arrive.  Nothing is
# there twice, also not for a reader of the archive that had them all the time.
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
archive_alone
archive_start || exit 1

# verify [OPTION...]: of the store that the aggregator has.
verify() {
	poolscope-archive verify --to "$CLUSTER/pool" --archive-password "$TMP/writer" "$@"
}

# lose: every record that the server has.
lose() {
	query "SELECT DISTINCT table, partition FROM system.parts WHERE active AND database = 'pool'
		AND table IN ('events', 'spans', 'samples', 'gaps')" >"$TMP/partitions"
	while read -r _table _partition; do
		query "ALTER TABLE pool.$_table DROP PARTITION $_partition" </dev/null || return 1
	done <"$TMP/partitions"
}

# records: how many there are, and how many different ones.
records() {
	query "SELECT sum(n), sum(u) FROM (
		SELECT count() AS n, uniqExact(part, ts, node, session, seq, idx) AS u FROM pool.events FINAL UNION ALL
		SELECT count() AS n, uniqExact(part, ts, node, track, session, seq, idx) AS u FROM pool.samples FINAL)"
}

# gateway_has N: a gateway to the archive has N events of the runs.
gateway_has() {
	[ "$(poolscope-dump -q -p 'demo$farm' --kind event --connect "ipc://$TMP/reader/run/reader.ipc" | wc -l)" = "$1" ]
}
# looked_ns: up to when the gateway has read the archive.
looked_ns() {
	"$ROOT/tests/flow/counters.py" --connect "ipc://$TMP/reader/run/reader.ipc" >"$TMP/counters" &&
		sed -n 's/.*"read_until_ns": \([0-9]*\).*/\1/p' "$TMP/counters"
}

# Two hosts' reports are samples; each run is 10 records.
check "reports are imported" poolscope-import perf -p 'a$perf' \
	"$ROOT/tests/golden/perf/r02_four_nodes/reports.json"
check "runs are made up" load 200
check "all of it is archived" settled
check "the archive is the store" verify
check_printed "... whole" " 0 times a replica is not equal, 0 times it waits"
mkdir -m 700 "$TMP/reader"
start gateway poolscope-aggregator --dir "$TMP/reader" --archive-only "$CLUSTER/pool" \
	--archive-password "$TMP/writer" || exit 1
check "a reader of the archive has the 2,000 events of the runs" gateway_has 2000
records >"$TMP/before"
check "there are records" grep -q '^[1-9][0-9]*' "$TMP/before"

check "the records are lost" lose
check_text "... all" "0	0" "$(records)"
check_status 3 "they are lacking" verify
check_printed "... by partition, table and hour" "^a.perf *samples *2022-04-15T05:00:00Z *1 .*lacking$"
check_printed "... each" "^demo.farm *events .*lacking$"
check_status 1 "a store that is in use is not repaired" verify --repair
check_printed "... but who uses it is named" "in use by process"
stop broker
stop aggregator
check "they are marked" verify --repair
check_printed "... hour by hour" "poolscope-archive: [1-9][0-9]* hours are sent again"
check "then they wait for the aggregator" verify
check_printed "... which is no fault" " 0 times a replica is not equal, [1-9][0-9]* times it waits"
check "the store is whole" poolscope-admin verify
check "an aggregator starts" aggregator_serve
check "... and a broker" start broker poolscope-broker
check "more runs arrive meanwhile" load 20
check "all of it is archived again" settled
check "nothing is lacking" verify
check_printed "... of what was and what came" " 0 times a replica is not equal, 0 times it waits"
check_text "what came are 200 records, and none is there twice" \
	"$(awk '{ print $1 + 200 "\t" $1 + 200 }' "$TMP/before")" "$(records)"

check "the reader has the events that came" wait_until 'gateway_has 2200' 60
# shellcheck disable=SC2034 # used in the condition
looked=$(looked_ns)
check "... it looks for more" wait_until '[ "$(looked_ns)" -gt "$looked" ]' 60
check "... and still has them" gateway_has 2200

# Compacted, and lost.
stop broker
stop aggregator
check "everything is compacted" poolscope-admin compact --models "$ROOT/deploy/models"
records >"$TMP/before"
check "they are lost" lose
check "they are marked, compacted as they are" verify --repair
check "an aggregator starts again" aggregator_serve
check "... and a broker again" start broker poolscope-broker
check "the compacted ones are archived" settled
check "nothing of them is lacking" verify
check_printed "... nor waits" " 0 times a replica is not equal, 0 times it waits"
check_text "... nor is twice there" "$(cat "$TMP/before")" "$(records)"
stop broker
stop aggregator

# Nobody would send what a store without an archive has marked.
check "the store forgets its archive" poolscope-admin end-archive
check "the records are lost again" lose
check_status 1 "nothing is marked" verify --repair
check_printed "... which says what to do" "the store has no archive; start the aggregator with --archive"
