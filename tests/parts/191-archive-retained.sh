#!/bin/sh
# What `archive retain` has deleted nobody answers any more: neither a gateway nor an
# aggregator that had read these hours from the archive, of all pools by days, and of
# one pool, whose rows the server deletes later.  What comes late stays.
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

archive() {
	_verb=$1
	shift
	poolscope-archive "$_verb" --to "$CLUSTER/pool" --archive-password "$TMP/writer" "$@"
}
# Reports of four nodes of 2022-04-15, which are samples.
reports() { poolscope-import perf -p "$1" "$ROOT/tests/golden/perf/r02_four_nodes/reports.json"; }
# events N: of 2022-04-15 and of 2022-04-16, N each.
events() {
	/usr/bin/python3 -c 'import json, sys
for second in (1650020400, 1650106800):
    for i in range(int(sys.argv[1])):
        print(json.dumps({"ts": "%d.25" % (second + i), "source": "test", "event": "e", "node": "n%d" % (i % 3),
            "message": str(i)}))' "$1"
}
gateway="ipc://$TMP/reader/run/reader.ipc"
# records POOL KIND [OPTION...]: how many are answered.
records() {
	_pool=$1 _kind=$2
	shift 2
	poolscope-dump -q -p "$_pool" --kind "$_kind" "$@" | wc -l
}
# both POOL KIND N: gateway and aggregator answer N.
both() {
	[ "$(records "$1" "$2" --connect "$gateway")" = "$3" ] && [ "$(records "$1" "$2")" = "$3" ]
}
archive_start || exit 1
for pool in one two; do
	check "reports of a\$$pool are imported" reports "a\$$pool"
	events 30 >"$TMP/events"
	check "... and events of two days" poolscope-import emits -p "a\$$pool" "$TMP/events"
done
check "all of it is archived" settled
samples=$(records 'a$one' sample)
check "there are samples" test "$samples" -gt 20
stop aggregator
check "they are compacted" poolscope-admin compact --models "$ROOT/deploy/models"
# The store deletes all of it, the archive keeps it.
start aggregator poolscope-aggregator --archive "$CLUSTER/pool" --archive-password "$TMP/writer" \
	--archive-after 200ms --models "$ROOT/deploy/models" --retain 50h
check "the store deletes its records" wait_until \
	'[ "$(records "a\$two" event,sample --store "$DIR/store")" = 0 ]' 60
# Until the store has looked for them nothing waits to be sent.
sums() {
	[ "$(query "SELECT uniq(part) FROM pool.rollups")" = 2 ] && settled 1
}
check "the sums of its hours are archived, too" wait_until sums 60
mkdir -m 700 "$TMP/reader"
start gateway poolscope-aggregator --dir "$TMP/reader" --archive-only "$CLUSTER/pool" \
	--archive-password "$TMP/writer" || exit 1
for pool in one two; do
	check "gateway and aggregator answer 60 events of a\$$pool" both "a\$$pool" event 60
	check "... and its samples" both "a\$$pool" sample "$samples"
done

check "records of a pool are deleted" archive retain --before 2022-04-16 -p 'a/one'
check "... nobody answers them any more" wait_until 'both "a\$one" event 30 && both "a\$one" sample 0' 60
check "... but those of the other pool" both 'a$two' event 60

check "records of all are deleted" archive retain --before 2022-04-16
check "... nobody answers them any more" wait_until 'both "a\$two" event 30 && both "a\$two" sample 0' 60
check "... but those of the next day" both 'a$one' event 30
series() {
	poolscope-stats series -p 'a$two' -m mem_percent --connect "$gateway" --as bands --top 5 "$@"
}
check "sums of hours are left" wait_until 'series --step 1h' 60
check_status 1 "samples of minutes are gone" series --step 1m
check_printed "... and it says which step is left" "only sums of hours are left: poolscope stats series --step 1h has these"
check_status 1 "so are single values" poolscope-stats samples -p 'a$two' -m mem_percent --connect "$gateway"
check_printed "... and it says what is left" "only sums of hours are left"

query "ALTER TABLE pool.events ADD COLUMN newer UInt8"
events 40 | sed -n 1,40p >"$TMP/events"
# A newer version has added a column.
check "late events of the deleted day come to a third pool" poolscope-import emits -p 'a$three' "$TMP/events"
check "... are archived" settled
check "... and answered by the gateway" wait_until '[ "$(records "a\$three" event --connect "$gateway")" = 40 ]' 60

# ---- a day that was dropped by SQL, not by retain
query "ALTER TABLE pool.events DROP PARTITION $((1650106800 / 86400))"
from="$CLUSTER/pool"
direct() {
	poolscope-dump -q -p "$1" --kind event --connect "$from" --archive-password "$TMP/writer" 2>"$TMP/said" | wc -l
}
direct 'a$one' >"$TMP/direct"
cp "$TMP/said" "$TMP/said1"
check "a dropped day is missed by name" grep -q "the day 2022-04-16 was dropped on purpose, poolscope archive retain --before 2022-04-17" "$TMP/said1"
check_status 3 "... by verify, too" archive verify --store "$DIR/store"
check "it is noted" archive retain --before 2022-04-17
check "... nobody misses it any more" wait_until 'both "a\$one" event 0 && both "a\$three" event 0' 60
check_text "... nor a new reader" "0 " "$(direct 'a$one') $(cat "$TMP/said")"
check "... nor verify" archive verify --store "$DIR/store"
check "... nor check" archive check
check "... nor a restore" poolscope-archive restore --from "$from" --archive-password "$TMP/writer" "$TMP/copy"

# ---- words
check_status 1 "a pool that nobody has is not moved" archive move -p 'no$such' "$TMP/moved"
check_printed "... which is named" 'no partition of the archive matches no$such: poolscope stats pools'
check "... and nothing is left" test ! -e "$TMP/moved"
check_status 1 "its records are not deleted" archive retain --before -1d -p 'no$such'
check_printed "... which is named" 'no partition of the archive matches no$such: poolscope stats pools'
check_status 1 "a store is not restored over another one" poolscope-archive restore --from "$from" \
	--archive-password "$TMP/writer" "$DIR/store"
check_printed "... which it says" "store exists: give another directory"
check_status 1 "a store that runs takes nothing over" archive takeover --store "$DIR/store"
check_printed "... which it says" "is in use by process"
check_status 1 "what is no store is not compared" archive verify --store "$TMP/nowhere"
check_printed "... which it says" "no store in .*nowhere"
mkdir -m 700 "$TMP/alone"
start other poolscope-aggregator --dir "$TMP/alone" --models "$ROOT/deploy/models" || exit 1
start brother poolscope-broker --dir "$TMP/alone" || exit 1
stop other
check_status 1 "a store without a pool takes nothing over" archive takeover --store "$TMP/alone/store"
check_printed "... which it says" "has no partition: there is nothing to take over"
start other poolscope-aggregator --dir "$TMP/alone" --models "$ROOT/deploy/models" || exit 1
check "another store has a pool that the archive lacks" sh -c 'poolscope-import emits --dir "$0" -p "x\$y" "$1"' \
	"$TMP/alone" "$TMP/events"
stop brother
stop other
check "it takes over a pool that nobody has" archive takeover --store "$TMP/alone/store"
check_printed "... and nothing of others" "1 partitions, 0 claims of others ended"
check "an archive is dropped while an aggregator writes" archive drop --yes
check "... which says so" wait_until 'grep -q "the database pool of .* has no archive; run poolscope archive create" \
	"$TMP/aggregator.log"' 60
check "... until it is made again" archive create
check "everything is sent again" settled 90
check_text "... and answered" 40 "$(direct 'a$three')"
