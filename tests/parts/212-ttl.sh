#!/bin/sh
# Today's engine deletes records by itself, by the TTL that create or the site's own SQL
# has given the tables, and has them on a volume of a storage policy.  What it deleted is
# not missed: readers, a gateway and a restored store have the rest.  A TTL that deletes
# more than can be understood is reported by check.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/archive.sh
. "$ROOT/tests/parts/archive.sh"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
need_python chdb chdb-core || skip "the package chdb-core cannot be installed"
port=$(free_port)
serve front "$PARTS/chdb/bin/python" tests/parts/chdb_front.py "$port" "$TMP/engine"
answers "http://127.0.0.1:$port/ping" front || exit 1
url=clickhouse://127.0.0.1:$port/pool

ask() {
	curl -sS --fail-with-body -m 60 --data-binary "$1" "http://127.0.0.1:$port/"
}
clauses() {
	ask "SELECT replaceAll(engine_full, char(39), '') FROM system.tables WHERE database = 'pool' AND name = '$1'" |
		sed 's/\\//g' | grep -o 'TTL.*SETTINGS\|storage_policy = [^,]*\|ttl_only_drop_parts = 1' | paste -sd' '
}
events() {
	poolscope-dump -q -p "$1" --kind event --format jsonl --connect "$url" | wc -l
}

wrong_usage "a time that is no number of days is wrong" "whole days" poolscope-archive create --to "$url" --ttl 36h
wrong_usage "so is a name with other characters" "letters" poolscope-archive create --to "$url" --storage-policy "a'b"
check "an archive is made" poolscope-archive create --to "$url" --ttl 400d --ttl-move 30d \
	--volume default --storage-policy default
check_text "records are moved, then deleted" \
	"TTL toDateTime((toInt64(hour) + 1) * 3600) + toIntervalDay(30) TO VOLUME default, toDateTime((toInt64(hour) + 1) * 3600) + toIntervalDay(400) SETTINGS ttl_only_drop_parts = 1 storage_policy = default" \
	"$(clauses events)"
check_text "phases are moved alone" \
	"TTL toDateTime((toInt64(hour) + 1) * 3600) + toIntervalDay(30) TO VOLUME default SETTINGS storage_policy = default" \
	"$(clauses phases)"
check_text "names are not" "storage_policy = default" "$(clauses names)"
ask 'SYSTEM STOP TTL MERGES'

start aggregator poolscope-aggregator --archive "$url" --archive-after 200ms --models "$ROOT/deploy/models" || exit 1
start broker poolscope-broker || exit 1
export BASE=1700000000 # 2023-11-14: more than 400 days ago
check "old records are sent" sh -c '/usr/bin/python3 tests/parts/archive_questions.py load 7 |
	/usr/bin/python3 tests/scenario/records.py "ipc://$DIR/run/intake.ipc" "acct\$pool"'
check "new ones, too" load 5
settled || fail "all is in the archive" "$TMP/status"
# Two hours after they ended, 400 days ago, while the rest of their day is kept.
BASE=$(($(date +%s) - 400 * 86400 - 3 * 3600))
check "so are some of hours that ended just before" sh -c '/usr/bin/python3 tests/parts/archive_questions.py load 7 |
	/usr/bin/python3 tests/scenario/records.py "ipc://$DIR/run/intake.ipc" "acct\$edge"'
settled || fail "they are in the archive" "$TMP/status"
old=$(ask "SELECT count() FROM pool.events WHERE hour < 480000")
check "the archive has old ones" test "$old" -gt 0
edge_sent=$(ask "SELECT count() FROM pool.events WHERE part = sipHash64('acct\$edge')")
check "... and some of today 400 days ago" test "$edge_sent" -gt 0
ask 'SYSTEM START TTL MERGES'
for table in events spans samples gaps; do
	ask "OPTIMIZE TABLE pool.$table FINAL"
done
check "the engine deletes them" wait_until \
	'[ "$(ask "SELECT count() FROM pool.events WHERE hour < 480000")" = 0 ]' 120
edge=$(ask "SELECT count() FROM pool.events WHERE part = sipHash64('acct\$edge')")
check "... and of the others those whose time has come" test "$edge" -lt "$edge_sent"
check "nothing is lacking" poolscope-archive verify --to "$url"
check_text "a reader has what is left of the hour" "$edge" "$(events 'acct$edge')"
check_text "a reader has the new ones" "0 50" "$(events 'acct$pool') $(events 'demo$farm')"
check "the phases are there" sh -c 'poolscope-stats phases -p "acct\$pool" --start all --connect "$0" | grep -q cascade:pull' "$url"
check "a store can be made" poolscope-archive restore --from "$url" "$TMP/copy"
check_text "... of the new ones" 50 \
	"$(poolscope-dump -q --store "$TMP/copy" -p 'demo$farm' --kind event --format jsonl | wc -l)"
check "check finds nothing" poolscope-archive check --to "$url"

# ---- a TTL of the site's own SQL, of an archive that was made without one
new=clickhouse://127.0.0.1:$port/own
stop aggregator
rm -rf "$DIR/store"
check "an archive is made that keeps all" poolscope-archive create --to "$new"
start aggregator poolscope-aggregator --archive "$new" --archive-after 200ms --models "$ROOT/deploy/models" || exit 1
export BASE=1700000000
check "old records are sent" sh -c '/usr/bin/python3 tests/parts/archive_questions.py load 7 |
	/usr/bin/python3 tests/scenario/records.py "ipc://$DIR/run/intake.ipc" "acct\$pool"'
RUNS=0
check "new ones, too" load 5
settled || fail "all is in the archive" "$TMP/status"
mkdir -m 700 "$TMP/reader"
start gateway poolscope-aggregator --dir "$TMP/reader" --archive-only "$new" || exit 1
gateway="ipc://$TMP/reader/run/reader.ipc"
# seen POOL: what archive and gateway answer.
seen() {
	for _from in "$new" "$gateway"; do
		poolscope-dump -q -p "$1" --kind event --format jsonl --connect "$_from" 2>>"$TMP/said" | wc -l
	done | paste -sd' '
}
sent=$(ask "SELECT count() FROM own.events WHERE hour < 480000")
check_text "old ones are answered" "$sent $sent" "$(seen 'acct$pool')"
for table in events spans samples gaps rejected; do
	ask "ALTER TABLE own.$table MODIFY TTL toDate(fromUnixTimestamp64Nano(ts)) + INTERVAL 13 MONTH DELETE,
		toDateTime(toInt64(hour) * 3600) + INTERVAL 1 MONTH TO VOLUME 'default'"
	ask "OPTIMIZE TABLE own.$table FINAL"
done
check "the engine deletes them" wait_until \
	'[ "$(ask "SELECT count() FROM own.events WHERE hour < 480000")" = 0 ]' 120
check "archive and gateway have none" wait_until '[ "$(seen "acct\$pool")" = "0 0" ]' 60
check_text "... but the new ones" "50 50" "$(seen 'demo$farm')"
check "nothing is lacking" poolscope-archive verify --to "$new"
check "check finds nothing" poolscope-archive check --to "$new"
check "a store can be made" poolscope-archive restore --from "$new" "$TMP/own"
check_text "... of the new ones" 50 \
	"$(poolscope-dump -q --store "$TMP/own" -p 'demo$farm' --kind event --format jsonl | wc -l)"

# ---- what cannot be understood
ask "ALTER TABLE own.gaps MODIFY TTL toDateTime(toInt64(hour) * 3600) + INTERVAL 1 MONTH DELETE WHERE count > 5"
check_status 3 "a TTL with a condition is found" poolscope-archive check --to "$new"
cp "$TMP/err" "$TMP/said1"
check "... and printed what to set" grep -q "TTL of table gaps has a condition.*set one such as TTL toDateTime" "$TMP/said1"
ask "ALTER TABLE own.gaps MODIFY TTL toDateTime(toInt64(hour) * 3600) + INTERVAL 13 MONTH"
ask "ALTER TABLE own.rollups MODIFY TTL toDateTime(toInt64(hour) * 3600) + INTERVAL 13 MONTH"
check_status 3 "one of a table that is not of records" poolscope-archive check --to "$new"
cp "$TMP/err" "$TMP/said2"
check "... and printed that it is to be removed" grep -q "TTL of table rollups deletes rows.*ALTER TABLE own.rollups REMOVE TTL" "$TMP/said2"
ask "ALTER TABLE own.rollups REMOVE TTL"
check "then check finds nothing" poolscope-archive check --to "$new"
stop gateway
stop broker
stop aggregator
