#!/bin/sh
# Records that were committed and are gone are never left out in silence.  A replica that
# lost a day is not asked: the other one answers; if no replica has them, the answer is an
# error that names the hour (or the phase), not a short one; so are statistics of phases.
# A replica that lost the lists of pools or of test runs hides none; a pool whose row nobody
# has is refused, others are not.
# What `archive retain` has deleted is not missed.
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

# steps N: of 2022-04-15 and of 2022-04-16, N steps of one second each: 2 N events a day.
steps() {
	/usr/bin/python3 -c 'import json, sys
for second in (1650020400, 1650106800):
    for i in range(int(sys.argv[1])):
        for at, event in (0, "step:start"), (1, "step:end"):
            print(json.dumps({"ts": "%d.25" % (second + 2 * i + at), "source": "test", "event": event,
                "node": "n%d" % (i % 3), "message": "id=%d" % i}))' "$1"
}
from="$(echo "$CLUSTER" | sed s/_writer/_reader/)/pool"
# dump [POOL]: what readers of the archive get; "short" if it is an error.
dump() {
	if poolscope-dump -q -p "${1:-a\$one}" --kind event --connect "$from" --archive-password "$TMP/reader" \
		>"$TMP/dumped" 2>"$TMP/said"; then
		wc -l <"$TMP/dumped"
	else
		echo short
	fi
}
durations() {
	poolscope-dump -q -p 'a$one' --kind phase --connect "$from" --archive-password "$TMP/reader" 2>"$TMP/said"
}
# alter N TABLE WHAT: on both replicas of the shard of replica N; one of them leads.
alter() {
	for _n in "$1" $(($1 + 1)); do
		[ -n "$(ask "$_n" "ALTER TABLE pool.$2 $3")" ] || return 0
	done
	return 1
}
# drop N TABLE: the first day.
drop() { alter "$1" "$2" "DROP PARTITION $day"; }
day=$((1650020400 / 86400))

steps 100 >"$TMP/steps"
check "events of two days are imported" poolscope-import emits -p 'a$one' "$TMP/steps"
check "test runs are made up" load 20
check "all of it is archived" settled
check "readers get all of it" test "$(dump)" = 400
durations >"$TMP/durations"
check "... and its phases" test "$(wc -l <"$TMP/durations")" -ge 200

# ---- a replica of each shard has lost the pools and test runs, and cannot get them
# Of a busy machine a commit may lack its counts; one of its own has them.
counted() {
	[ "$(ask 1 "SELECT max(rows) FROM pool.commits WHERE tbl = 'runs'")$(ask 3 "SELECT max(rows) FROM pool.commits WHERE tbl = 'runs'")" != 00 ]
}
check "test runs are counted" wait_until counted 60
pools() {
	poolscope-stats pools --connect "$from" --archive-password "$TMP/reader" --format csv --columns partition \
		>"$TMP/pools" 2>"$TMP/said"
}
runs() {
	poolscope-dump -q -p 'demo$farm' --kind run --connect "$from" --archive-password "$TMP/reader" 2>"$TMP/said" | wc -l
}
check "readers get the pools" pools
cp "$TMP/pools" "$TMP/pools.was"
check_text "... both" 2 "$(grep -c '\$' "$TMP/pools")"
check_text "... and test runs" 20 "$(runs)"
# It would send test runs again.
stop aggregator
for n in 1 3; do
	stop "ch$n" KILL
	stop "ch$((n + 1))" KILL
	for table in partitions runs; do
		rm -rf "$TMP/ch$n/data/data/pool/$table/all_"*
	done
	cluster_serve "$n" || exit 1
	ask "$n" "SYSTEM STOP FETCHES" >"$TMP/stopped"
	check_text "replica $n gets no rows" "" "$(cat "$TMP/stopped")"
done
check_status 1 "pools that nobody has are an error" pools
cp "$TMP/said" "$TMP/said0"
check "... that names one" grep -q "no replica has the row of pool .*[$].* in table partitions, although it was committed" "$TMP/said0"
cluster_serve 2 && cluster_serve 4 || exit 1
check "the others have them" wait_until pools 60
check "... all" cmp "$TMP/pools.was" "$TMP/pools"
check_text "... and test runs" 20 "$(runs)"
check_text "the first ones do not" "0 0 0 0" "$(for n in 1 3; do
	ask $n "SELECT count() FROM pool.partitions"
	ask $n "SELECT count() FROM pool.runs"
done | paste -sd' ')"
check "a store is made" poolscope-archive restore --from "$CLUSTER/pool" --archive-password "$TMP/writer" "$TMP/copy"
check_text "... with all pools" 2 "$(poolscope-stats pools --store "$TMP/copy" --format csv --columns partition | grep -c '\$')"
for n in 1 3; do
	ask "$n" "SYSTEM START FETCHES" >"$TMP/started"
	check "replica $n gets them" wait_until 'complete $n $((n + 1))' 60
done

# ---- a replica of each shard has lost a day, while it cannot get it from the other one
for n in 1 3; do
	stop "ch$n" KILL
	stop "ch$((n + 1))" KILL
	rm -rf "$TMP/ch$n/data/data/pool/events/${day}_"*
	cluster_serve "$n" || exit 1
done
check_text "replicas that lost a day are no answer" short "$(dump)"
cp "$TMP/said" "$TMP/said1"
check "... which names the hour" grep -q "0 of [0-9]* committed rows of table events, hour 2022-04-15T1[01]:00:00Z" "$TMP/said1"
cluster_serve 2 && cluster_serve 4 || exit 1
check "the others have it" wait_until '[ "$(dump)" = 400 ]' 60

# ---- the row of one pool, on both replicas
aggregator_serve || exit 1
for pool in two three; do
	check "events of a\$$pool are imported" poolscope-import emits -p "a\$$pool" "$TMP/steps"
done
check "they are archived" settled
check_text "... and answered" 400 "$(dump 'a$three')"
home=$(ask 1 "SELECT sipHash64('a\$three') % 2 * 2 + 1")
lose_row() { alter "$home" partitions "DELETE WHERE name = '$1'"; }
is_counted() {
	[ "$(ask "$home" "SELECT max(rows) FROM pool.commits WHERE part = sipHash64('a\$three') AND tbl = 'partitions'")" = 1 ]
}
check "the row of a pool is counted" wait_until is_counted 60
# Of a gateway, which has read the pool before.
host=$TMP/host
mkdir -m 700 "$host"
listen=tcp://127.0.0.1:$(free_port 1)
for role in server reader; do
	check "a key for a $role" poolscope-keys new "$role" --dir "$host" --role "$role"
done
start gateway poolscope-aggregator --dir "$host" --archive-only "$from" --archive-password "$TMP/reader" \
	--reader "$listen" || exit 1
# through POOL: what readers of the gateway get; "short" if it is an error.
through() {
	if poolscope-dump -q -p "$1" --kind event --connect "$listen" --key "$host/keys/reader.key" \
		>"$TMP/passed" 2>"$TMP/said"; then
		wc -l <"$TMP/passed"
	else
		echo short
	fi
}
check_text "a gateway answers" "400 400" "$(through 'a$three') $(through 'a$two')"
check "it is deleted" wait_until 'lose_row "a\$three"' 60
check "its records are an error" wait_until '[ "$(dump "a\$three")" = short ] && grep -q "row of pool a.three in table" "$TMP/said"' 60
check_text "... those of other pools are none" "400 400" "$(dump 'a$two') $(dump)"
check "... so it is of a gateway that had it" wait_until \
	'[ "$(through "a\$three")" = short ] && grep -q "row of pool a.three in table" "$TMP/said"' 60
check_text "... other pools are not" 400 "$(through 'a$two')"
check_status 1 "the list of pools is an error" pools
cp "$TMP/said" "$TMP/said4"
check "... that names it" grep -q "no replica has the row of pool a.three in table partitions" "$TMP/said4"
check "but not that of others" poolscope-stats pools -p 'a$two' --connect "$from" --archive-password "$TMP/reader"
check_status 1 "a store of all pools is refused" poolscope-archive restore --from "$CLUSTER/pool" \
	--archive-password "$TMP/writer" "$TMP/all"
cp "$TMP/err" "$TMP/said5"
check "... by the name of the pool" grep -q "row of pool a.three in table partitions" "$TMP/said5"
check "one of another pool is made" poolscope-archive restore --from "$CLUSTER/pool" --archive-password "$TMP/writer" \
	-p 'a$two' "$TMP/two"
restore() {
	poolscope-archive restore --from "$CLUSTER/pool" --archive-password "$TMP/writer" --incomplete --format json "$@"
}
check "one of what is there is made" restore "$TMP/part"
check_json "... which is not complete" "lacking" "a['notes'][0]['key']"
check_status 1 "nothing is left of that pool" restore -p 'a$three' "$TMP/none"
check_printed "... which says why" "no partition is left to restore: the rows of 1 were deleted or lost"

# ---- deleted by SQL, on all replicas
for n in 1 3; do
	check "a day of replica $n's shard is dropped" wait_until "drop $n events" 60
done
check "a short answer is an error" wait_until '[ "$(dump)" = short ]' 60
cp "$TMP/said" "$TMP/said3"
check "... that names the hour" grep -q "of table events, hour 2022-04-15T1[01]:00:00Z: they were deleted or lost" "$TMP/said3"
check "... and both ways out" grep -q "verify --repair .* the day 2022-04-15 .* retain --before 2022-04-16 " "$TMP/said3"
check "what was archived later is no reason to answer" poolscope-import emits -p 'a$four' "$TMP/steps"
check "... it is archived" settled
check_text "... and answered" 400 "$(dump 'a$four')"
check_text "... alone" short "$(dump)"
for n in 1 3; do
	check "phases of replica $n's shard are dropped" wait_until "drop $n phases" 60
done
check "phases that are gone are an error" wait_until '! durations >"$TMP/durations"' 60
check "... that names the phase" grep -q "events of phase none:test:step that were committed" "$TMP/said"

# ---- half of the test runs, of both replicas
halve() { alter "$1" runs "DELETE WHERE no % 2 = 0"; }
check_text "there are test runs" 20 "$(runs)"
for n in 1 3; do
	check "every other run of replica $n's shard is deleted" wait_until "halve $n" 60
done
check "test runs that are gone are an error" wait_until '[ "$(runs)" = 0 ]' 60
cp "$TMP/said" "$TMP/said2"
check "... that names the table" grep -q "has [0-9]* of 20 committed rows of table runs" "$TMP/said2"

# ---- the row of another pool, of which the commits lack the count
home=$(ask 1 "SELECT sipHash64('a\$two') % 2 * 2 + 1")
of="part = sipHash64('a\$two') AND tbl = 'partitions' AND name = ''"
counts() { for n in 1 2 3 4; do ask "$n" "SELECT count() FROM pool.commits WHERE $of"; done | paste -sd' '; }
for n in 1 3; do
	ask "$n" "INSERT INTO pool.commits SELECT part, tbl, hour, 'uncounted', shard, since, pos, 0, 0, row, entry, at_ns
		FROM pool.commits WHERE $of" >"$TMP/uncounted"
	check_text "commits of replica $n's shard lack the count" "" "$(cat "$TMP/uncounted")"
	check "... which they had" wait_until 'alter "$n" commits "DELETE WHERE $of"' 60
done
check "... everywhere" wait_until '[ "$(counts)" = "0 0 0 0" ]' 60
check "the row is deleted" wait_until 'lose_row "a\$two"' 60
check "its records are an error" wait_until '[ "$(dump "a\$two")" = short ] && grep -q "row of pool a.two in table" "$TMP/said"' 60

# ---- all of it is in the store
verify() {
	poolscope-archive verify --to "$CLUSTER/pool" --archive-password "$TMP/writer" "$@"
}
check_status 3 "verify finds what is gone" verify
cp "$TMP/out" "$TMP/verified"
check "... records" grep -q "^a\$one *events .* lacking" "$TMP/verified"
check "... the row of the pool" grep -q "^a\$three *partitions .* lacking" "$TMP/verified"
check "... and the one that was not counted" grep -q "^a\$two *partitions .* lacking" "$TMP/verified"
check "... test runs" grep -q "^demo\$farm *runs .* lacking" "$TMP/verified"
check "... events of phases" grep -q "^a\$one *phases .* lacking" "$TMP/verified"
stop aggregator
check "it is to be sent again" verify --repair
aggregator_serve || exit 1
check "the aggregator does so" settled 120
check "... records are there again" wait_until '[ "$(dump)" = 400 ]' 60
check_text "... the pool" 400 "$(dump 'a$three')"
check_text "... the other one" 400 "$(dump 'a$two')"
check "... of the gateway, too" wait_until '[ "$(through "a\$three")" = 400 ]' 60
check "... which is in the list" pools
check_text "... of all" 5 "$(grep -c '\$' "$TMP/pools")"
check_text "... test runs" 20 "$(runs)"
durations >"$TMP/again"
check "... phases" test "$(wc -l <"$TMP/again")" -ge 200
check "... and verify finds that" verify

# ---- an archive that does not keep the day
check "the day is not kept" poolscope-archive retain --to "$CLUSTER/pool" --archive-password "$TMP/writer" \
	--before 2022-04-16
check "readers get the next day" wait_until '[ "$(dump)" = 200 ]' 60
