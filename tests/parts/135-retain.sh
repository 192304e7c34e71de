#!/bin/sh
# Old records of an archive are deleted: of all partitions by days, of one by its rows,
# on both replicas of each shard.  What was deleted is not lacking, a store that is
# made of the archive has the rest, and late records of an old day do no harm.
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

archive() {
	_verb=$1
	shift
	poolscope-archive "$_verb" --to "$CLUSTER/pool" --archive-password "$TMP/writer" "$@"
}
# reports PARTITION: import reports of 2022-04-15, which are samples.
reports() {
	poolscope-import perf -p "$1" "$ROOT/tests/golden/perf/r02_four_nodes/reports.json"
}
# rows TABLE [CONDITION]: of each replica.
rows() {
	for n in 1 2 3 4; do
		ask $n "SELECT count() FROM pool.$1 WHERE ${2:-1}"
	done | paste -sd' '
}
# both TABLE CONDITION: the two replicas of each shard have as many, and some have any.
both() {
	# shellcheck disable=SC2046 # numbers
	set -- $(rows "$@")
	[ "$1" = "$2" ] && [ "$3" = "$4" ] && [ $(($1 + $3)) -gt 0 ]
}
# old TABLE VALUES [CONDITION]: of its days before 2022-04-16 on both shards, day 19098.
old() {
	for n in 1 3; do
		ask $n "SELECT $2 FROM $1 WHERE ${3:-1}"
	done | awk '{ for (i = 1; i <= NF; i++) sum[i] += $i } END { for (i = 1; i <= NF; i++) printf "%s%d", (i > 1 ? " " : ""), sum[i] }'
}
part() { ask 1 "SELECT sipHash64('$1')"; }

check "reports of two pools are imported" reports 'a$one'
check "... of the same day" reports 'a$two'
check "runs of today are made up" load 50
check "all of it is archived" settled
check "both replicas have the samples" wait_until 'both samples && both events' 60
events=$(rows events)

wrong_usage "what is old must be given" "retain needs --before" archive retain
wrong_usage "... and be past" "in the future" archive retain --before 2100-01-01
check "a day that has not ended stays" archive retain --before 2022-04-15T23:00:00Z
check_printed "... which it says" "dropped 0 days of tables before 2022-04-15"
check_status 1 "no partition is no success" archive retain --before 2022-04-16 -p 'a/none*'
check_printed "... which it says" "no partition of the archive matches a/none"

# ---- of one
had=$(old pool.samples 'count()' "hour < 458352 AND part = $(part 'a$one')")
check "records of a partition are deleted" archive retain --before 2022-04-16 -p 'a/one' --format json
check_json "... of this one" "2022-04-16T00:00:00Z [('a\$one', None, None, $had)]" \
	"'%s %s' % (a['before'], [tuple(r[k] for k in ('partition', 'table', 'days', 'rows')) for r in rows])"
check "... also again" archive retain --before 2022-04-16 -p 'a/one'
check_printed "... as a sentence" "records of 1 partitions before 2022-04-16"
check "... on each replica" wait_until \
	'[ "$(rows samples "part = $(part "a\$one")")" = "0 0 0 0" ]' 60
check "... but not those of another" both samples "part = $(part 'a$two')"
check_text "... nor those of later days" "$events" "$(rows events)"
check "nothing of it is lacking" archive verify
check_printed "... at all" " 0 times a replica is not equal, 0 times it waits"

# ---- of all
had=$(old system.parts 'uniqExact(partition), sum(rows)' \
	"active AND database = 'pool' AND table = 'samples' AND toInt64OrZero(partition) < 19098")
check "records of all are deleted" archive retain --before 2022-04-16 --format json
check_json "... a day of the samples of the shards that had one" \
	"events 0 0 spans 0 0 samples $had gaps 0 0 rejected 0 0" \
	"' '.join('%s %d %d' % (r['table'], r['days'], r['rows']) for r in rows)"
check "... on each replica" wait_until '[ "$(rows samples)" = "0 0 0 0" ]' 60
check_text "... but not those of later days" "$events" "$(rows events)"
check "again, nothing is to be done" archive retain --before 2022-04-16
check_printed "... and it says so" "dropped 0 days"
check "nothing of them is lacking" archive verify
# Half a million hours since 1970: 2022-04-16 is day 19098.
check_text "each shard knows what is kept" "458352 458352" \
	"$(for n in 1 3; do ask $n "SELECT max(toInt64OrZero(value)) FROM pool.meta WHERE name = 'kept_from'"; done | paste -sd' ')"
check "an earlier time brings nothing back" archive retain --before 2022-01-01
for n in 1 3; do ask $n 'OPTIMIZE TABLE pool.meta FINAL'; done
check_text "... the later time stays" "458352 458352" \
	"$(for n in 1 3; do ask $n "SELECT value FROM pool.meta WHERE name = 'kept_from'"; done | paste -sd' ')"
check "... and nothing is lacking" archive verify

# ---- what comes later
check "a late report of an old day is taken" reports 'a$three'
check "... and archived" settled
check "the archive is complete" archive verify
check "new runs are, too" load 5
check "... archived" settled
check "and the archive is still complete" archive verify

# ---- what a restore has
stop broker
stop aggregator
check "a store is made of what is left" poolscope-archive restore --from "$CLUSTER/pool" \
	--archive-password "$TMP/writer" "$TMP/copy"
dumped() { poolscope-dump -q --store "$1" -p "$2" --kind "$3" --format jsonl; }
dumped "$DIR/store" 'demo$farm' event >"$TMP/wanted"
dumped "$TMP/copy" 'demo$farm' event >"$TMP/got"
check "records of later days are the same" cmp "$TMP/wanted" "$TMP/got"
check_text "records of the old days are gone" 0 "$(dumped "$TMP/copy" 'a$one' sample | wc -l)"
check "the store is whole" poolscope-admin verify --store "$TMP/copy"
stop ch1 KILL
stop ch4 KILL
check "one replica of each shard lacks nothing" poolscope-archive restore --from "$CLUSTER/pool" \
	--archive-password "$TMP/writer" "$TMP/alone"
dumped "$TMP/alone" 'demo$farm' event >"$TMP/got"
check "... its records are the same" cmp "$TMP/wanted" "$TMP/got"
cluster_serve 1 || exit 1
cluster_serve 4 || exit 1
check "nothing of it is lacking in the archive" archive verify --store "$TMP/copy"
