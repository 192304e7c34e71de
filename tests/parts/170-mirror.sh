#!/bin/sh
# One archive of two aggregators, in a cluster of two shards with two replicas,
# read in place: by programs that know its address alone.
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
cluster_start || exit 1

# there COMMAND...: asks the archive.
there() {
	"$@" --connect "$CLUSTER/pool" --archive-password "$TMP/writer"
}

# aggregator NAME: one more, with an instance of its own.
aggregator() {
	DIR=$TMP/$1
	POOLSCOPE_DIR=$DIR
	mkdir -p "$DIR/run"
	start "$1" poolscope-aggregator --archive "$CLUSTER/pool" --archive-password "$TMP/writer" \
		--archive-after 200ms --models "$ROOT/deploy/models" &&
		start "broker-$1" poolscope-broker
}

# settled: everything of the present instance is archived.
settled() {
	wait_until 'indexed && "$ROOT/tests/flow/counters.py" >"$TMP/status" &&
		grep -q "\"archive_lag\": 0," "$TMP/status" && grep -q "\"archive_lag_ns\": 0," "$TMP/status"' 60
}

# events HOURS FROM: 40 events of 7 nodes in each of HOURS hours, from the hour
# of FROM on (seconds since 1970).
events() {
	python3 -c 'import json, sys
for hour in range(int(sys.argv[1])):
    for i in range(40):
        print(json.dumps({"ts": "%d.25" % (int(sys.argv[2]) + hour * 3600 + i * 7), "source": "test", "event": "e%d" % (i % 3),
            "node": "n%d" % (i % 7), "message": "%d of hour %d" % (i, hour)}))' "$1" "$2"
}

check "the tables are made" poolscope-archive create --to "$CLUSTER/pool" --archive-password "$TMP/writer"
aggregator first || exit 1
events 12 1700000000 >"$TMP/events"
check "events of 12 hours are imported" poolscope-import emits -p 'acct$one' "$TMP/events"
check "... and of 12 hours more, of another pool" poolscope-import emits -p 'acct$two' "$TMP/events"
settled || fail "they are archived" "$TMP/status"
poolscope-dump -q -p 'acct$one' >"$TMP/one"
poolscope-dump -q -p 'acct$two' >"$TMP/two"
aggregator second || exit 1
check "events of a third pool go to another aggregator" poolscope-import emits -p 'acct$three' "$TMP/events"
settled || fail "they are archived" "$TMP/status"
poolscope-dump -q -p 'acct$three' >"$TMP/three"

for pool in one two three; do
	check "acct\$$pool is read from the archive" there poolscope-dump -q -p "acct\$$pool" -o "$TMP/got"
	check "... byte by byte as from its aggregator" cmp "$TMP/$pool" "$TMP/got"
done
check_text "... all 480 events" 480 "$(grep -c '"kind": "event"' "$TMP/got")"
check "a pattern lists the pools of both" there poolscope-stats pools --format jsonl -p 'acct$t*'
check_text "... which match" 'acct$three acct$two' \
	"$(sed -n 's/.*"partition": "\([^"]*\)".*/\1/p' "$TMP/out" | sort | xargs)"
check "an hour is read" there poolscope-dump -q -p 'acct$one' --from 2023-11-15T00:00:00Z --to 2023-11-15T01:00:00Z -o "$TMP/hour"
check_text "... which has its 40 events" 40 "$(wc -l <"$TMP/hour")"
check "a pool that is not there has no records" there poolscope-dump -p 'acct$four'
check_printed "... which is printed" "there is no partition acct.four; did you mean acct.one"

# Half here and half there: 12 hours that ended 88 hours ago, which the aggregator
# then deletes, and 4 hours of today.
now=$(date +%s)
{
	events 12 $((now - 360000))
	events 4 $((now - 15000))
} >"$TMP/events"
check "older and newer events are imported" poolscope-import emits -p 'acct$old' "$TMP/events"
settled || fail "they are archived" "$TMP/status"
# all FILE: what is asked of it, of all, and of times before, across and after, which
# are the same each time.
all() {
	poolscope-dump -q -p 'acct$old' --kind event,span,gap &&
		poolscope-dump -q -p 'acct$old' --node n3 --kind event --format csv &&
		poolscope-dump -q -p 'acct$old' --kind event --name 'test:e1' --from "$((now - 342000))" &&
		poolscope-dump -q -p 'acct$old' --kind event --to "$((now - 216000))" &&
		poolscope-dump -q -p 'acct$old' --kind event --from "$((now - 72000))"
}
all >"$TMP/old"
check_text "all 640 events are there" 640 "$(poolscope-dump -q -p 'acct$old' --kind event | wc -l)"
stop second
start second poolscope-aggregator --archive "$CLUSTER/pool" --archive-password "$TMP/writer" \
	--archive-after 200ms --models "$ROOT/deploy/models" --retain 50h || exit 1
check "the aggregator deletes the older ones" wait_until \
	'[ "$(poolscope-dump -q -p "acct\$old" --kind event --store "$DIR/store" | wc -l)" = 160 ]' 60
all >"$TMP/after"
check "it answers as before, byte by byte" cmp "$TMP/old" "$TMP/after"
check "so does the archive" there poolscope-dump -q -p 'acct$old' --kind event -o "$TMP/got"
check_text "... with all 640" 640 "$(wc -l <"$TMP/got")"

# mirror BYTES: what a mirror with room for BYTES prints of two passes.
mirror() {
	"$B/parts/archive_mirror" "$CLUSTER/pool" "$TMP/writer" "$1" 2 'acct$one' 2>&1
}

# Without room it drops the oldest of more than 4 hours: in the first pass 8 of
# 12, in the second one also the 4 that were left.
mirror 0 >"$TMP/room"
mirror 1 >"$TMP/none"
check_text "a mirror with room reads each hour once" \
	"480 hours 12 fetched 12 dropped 0 480 hours 12 fetched 12 dropped 0" \
	"$(sed 's/ [0-9a-f]\{16\}//' "$TMP/room" | xargs)"
check_text "one without room has no more than four" \
	"480 hours 4 fetched 12 dropped 8 480 hours 4 fetched 24 dropped 20" \
	"$(sed 's/ [0-9a-f]\{16\}//' "$TMP/none" | xargs)"
check_text "... and all of it is the same" 1 "$(cut -d' ' -f2 "$TMP/room" "$TMP/none" | sort -u | wc -l)"

# A replica that does not answer, and one that is gone.
kill -STOP "$(cat "$TMP/ch1.pid")"
check "while a replica is frozen" there poolscope-dump -q -p 'acct$one' -o "$TMP/got"
check "... everything is there" cmp "$TMP/one" "$TMP/got"
kill -CONT "$(cat "$TMP/ch1.pid")"
stop ch1 KILL
stop ch3 KILL
check "while two are gone" there poolscope-dump -q -p 'acct$two' -o "$TMP/got"
check "... everything is there" cmp "$TMP/two" "$TMP/got"
stop ch4 KILL
check_status 1 "without a shard there is no answer" there poolscope-dump -q -p 'acct$one' -o "$TMP/half"
check_printed "... and it has a name" "shard 2"
check "... nothing is written" test ! -e "$TMP/half"
check "the aggregator still has the hours that it has read" poolscope-dump -q -p 'acct$old' --kind event --to -60h
check_text "... all 480" 480 "$(wc -l <"$TMP/out")"
stop second
start second poolscope-aggregator --archive "$CLUSTER/pool" --archive-password "$TMP/writer" \
	--archive-after 200ms --models "$ROOT/deploy/models" --retain 50h || exit 1
check_status 1 "... and does not answer for those that it cannot read" poolscope-dump -q -p 'acct$old' --to -60h
check_printed "... which it explains" "archive: .*shard 2"
check "... but for those that it has" poolscope-dump -q -p 'acct$old' --kind event --from -20h
check_text "... all 160" 160 "$(wc -l <"$TMP/out")"
