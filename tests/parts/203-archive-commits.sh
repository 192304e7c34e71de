#!/bin/sh
# What counts as committed: a row that is there twice does not hide one that is not; what a
# head wrote after another one had taken over (a late pass) is neither counted nor an
# error; what is sent again is counted once; and several starts of an aggregator add up, if
# they did not count the same.
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

# events FIRST N: N events of an hour, one a second.
events() {
	/usr/bin/python3 -c 'import json, sys
first, count = map(int, sys.argv[1:])
for i in range(first, first + count):
    print(json.dumps({"ts": "%d.25" % (1650020400 + i), "source": "test", "event": "e", "node": "n%d" % (i % 3),
        "message": str(i)}))' "$@" >"$TMP/events"
}
# dump: how many events readers get; "short" if it is an error.
dump() {
	if poolscope-dump -q -p 'a$one' --kind event --connect "$CLUSTER/pool" --archive-password "$TMP/writer" \
		>"$TMP/dumped" 2>"$TMP/said"; then
		wc -l <"$TMP/dumped"
	else
		echo short
	fi
}
# committed: of events, as readers count them.
committed() {
	query "SELECT sum(n) FROM (SELECT since, argMax(rows, pos) AS n FROM pool.commits WHERE tbl = 'events' GROUP BY since)"
}
# position_of EPOCHS: what they add to a position.
position_of() { query "SELECT bitShiftLeft(toUInt64($1), 48)"; }
part=$(query "SELECT sipHash64('a\$one')")
hour=$((1650020400 / 3600))

# ---- several starts, and a repair
events 0 100
check "100 events are imported" poolscope-import emits -p 'a$one' "$TMP/events"
check "... and archived" settled
stop aggregator
aggregator_serve
events 100 50
check "after another start 50 more" poolscope-import emits -p 'a$one' "$TMP/events"
check "... and archived" settled
check "150 are committed" wait_until '[ "$(committed)" = 150 ]' 30
check_text "... by two starts" 2 "$(query "SELECT uniqExact(since) FROM pool.commits WHERE tbl = 'events'")"
check_text "readers get them" 150 "$(dump)"
stop aggregator
query "ALTER TABLE pool.events DELETE WHERE idx % 2 = 0" >"$TMP/deleted"
check "half of them are deleted" wait_until '[ "$(query "SELECT count() FROM pool.events")" -lt 150 ]' 60
check_text "they are missed" short "$(dump)"
query "INSERT INTO pool.events SELECT * FROM pool.events" >"$TMP/doubled"
check "those that are left are there twice" test "$(query "SELECT count() FROM pool.events")" -ge 150
check_text "... the others are missed all the same" short "$(dump)"
check "they are to be sent again" poolscope-archive verify --to "$CLUSTER/pool" --archive-password "$TMP/writer" --repair
aggregator_serve
check "the aggregator sends them again" wait_until '[ "$(dump)" = 150 ]' 60
check "all is archived" settled
check_text "what was sent again counts once" 150 "$(committed)"
stop aggregator

# ---- a start that did not see the last commit of the one before, and counts again
query "INSERT INTO pool.commits (part, tbl, hour, name, shard, since, pos, rows, hash)
	SELECT $part, 'events', $hour, '', 0, min(since), max(pos), 150, 7 FROM pool.commits WHERE tbl = 'events'" >"$TMP/again"
check_text "what two starts counted is there once" 150 "$(dump)"
query "INSERT INTO pool.owners (part, name, epoch, who, until)
	SELECT part, any(name), max(epoch) + 1, any(who), 0 FROM pool.owners WHERE part = $part GROUP BY part" >"$TMP/again"
query "INSERT INTO pool.commits (part, tbl, hour, name, shard, since, pos, rows, hash)
	SELECT $part, 'events', $hour, '', 0, max(since) + $(position_of 1), max(pos) + $(position_of 1), 50, 7
	FROM pool.commits WHERE tbl = 'events'" >"$TMP/again"
check_text "... of two epochs of a store, too" 150 "$(dump)"
query "INSERT INTO pool.commits (part, tbl, hour, name, shard, since, pos, rows, hash)
	SELECT $part, 'events', $hour, '', 0, min(since) + 1, max(pos), 151, 7 FROM pool.commits WHERE tbl = 'events'" >"$TMP/again"
check_text "... but what one of them counted must be there" short "$(dump)"
check "... all of it" grep -q "the server has 150 of 151 committed rows of table events" "$TMP/said"
query "ALTER TABLE pool.commits DELETE WHERE tbl = 'events' AND rows = 151" >"$TMP/again"
check "without it events are read" wait_until '[ "$(dump)" = 150 ]' 30

# ---- a head that was replaced: epoch 99 has ended at its change 5
position() { query "SELECT bitShiftLeft(toUInt64(99), 48) + $1"; }
commit() {
	query "INSERT INTO pool.commits (part, tbl, hour, name, shard, since, pos, rows, hash) VALUES ($part, 'events', $hour, '', 0, $(position 0), $(position "$1"), 1000, 7)"
}
query "INSERT INTO pool.owners (part, name, epoch, who, until) VALUES ($part, 'a\$one', 99, 1, $(position 5))"
commit 9
check_text "what it committed later does not count" 150 "$(dump)"
commit 5
query "OPTIMIZE TABLE pool.commits FINAL" >"$TMP/optimized"
check_text "... and was the newest of its rows" 150 "$(dump)"
query "INSERT INTO pool.commits (part, tbl, hour, name, shard, since, pos, rows, hash) VALUES ($part, 'events', $hour, '', 0, $(position 1), $(position 5), 1000, 7)"
check_text "what it committed before does" short "$(dump)"
check "... and is missed" grep -q "the server has [0-9]* of 1150 committed rows of table events" "$TMP/said"
stop broker
