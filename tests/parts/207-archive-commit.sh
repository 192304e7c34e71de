#!/bin/sh
# A commit is all there or not: an aggregator is killed before its rows are looked at,
# before the commit arrives, while it is on its way (it arrives when its sender has ended),
# and when it is sent twice because nobody answered.  Each time, what the archive says was
# committed is what was, counted once, and what the store forgets is committed.
# Rows that change are counted later, by the next start, too, and no count hides a loss.
# Rollups are counted, too: when their samples were deleted, half of them is an error, until
# another archive has what is left.
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
proxy=$(free_port 1)
echo pass >"$TMP/manner"
serve proxy /usr/bin/python3 tests/parts/archive_proxy.py "$proxy" "${CLICKHOUSE##*:}" "$TMP/manner" 1
through=clickhouse://writer@127.0.0.1:$proxy/pool
archive_start "$through" || exit 1

manner() {
	wc -l <"$TMP/proxy.log" >"$TMP/proxy.seen"
	echo "$1" >"$TMP/manner.new"
	mv "$TMP/manner.new" "$TMP/manner"
}
# says WORD: the proxy has, since the manner is this one.
says() { tail -n +$(($(cat "$TMP/proxy.seen") + 1)) "$TMP/proxy.log" | grep -q "$1"; }
# more N: N events more, one a second of an hour; all are all so far.
all=0
more() {
	/usr/bin/python3 -c 'import json, sys
first, count = map(int, sys.argv[1:])
for i in range(first, first + count):
    print(json.dumps({"ts": "%d.25" % (1650020400 + i), "source": "test", "event": "e", "node": "n%d" % (i % 3),
        "message": str(i)}))' $all "$1" >"$TMP/events"
	all=$((all + $1))
	poolscope-import emits -p 'a$one' "$TMP/events"
}
# What counts as committed, and up to which entry of the journal.
committed() {
	query "SELECT sum(n) FROM (SELECT since, argMax(rows, pos) AS n FROM pool.commits WHERE tbl = 'events' GROUP BY since)"
}
# What was committed has as many rows and the same hash, as a reader would find it.
sound() {
	_said=$(query "SELECT sum(n), sum(h) FROM (SELECT since, argMax(rows, pos) AS n, argMax(hash, pos) AS h
		FROM pool.commits WHERE tbl = 'events' GROUP BY since)")
	_there=$(query "SELECT count(), sum($1) FROM (SELECT DISTINCT part, hour, node, ts, session, seq, idx FROM pool.events
		WHERE pos <= (SELECT max(pos) FROM pool.commits WHERE part = 0))")
	[ "$_said" = "$_there" ] || { echo "committed $_said, there $_there" && false; }
}
# rows/typed.h: the identity of an event.
hash=0
for column in part 'toUInt64(hour)' 'sipHash64(node)' 'toUInt64(ts)' 'sipHash64(session)' seq 'toUInt64(idx)'; do
	hash="intHash64(bitXor($hash, $column))"
done
hash=$(echo "$hash" | sed 's/bitXor(0, part)/part/')
dump() { poolscope-dump -q -p 'a$one' --kind event --connect "$CLUSTER/pool" --archive-password "$TMP/writer" | wc -l; }
entry() { query "SELECT max(entry) FROM pool.commits WHERE part = 0"; }

check "40 events come" more 40
check "... and are archived" settled
check_text "40 are committed" 40 "$(committed)"
check "... with their hash" sound "$hash"

# ---- it is killed
for step in 'count() pos' 'INSERT commits' 'INSERT commits late'; do
	was=$(entry)
	echo "# at $step"
	manner "hold ${step% late}"
	check "30 more come" more 30
	check "... the request is held" wait_until 'says "^held"' 60
	stop aggregator KILL
	case $step in
	*late)
		manner pass
		check "... it arrives after its sender has ended" wait_until 'says "^delivered"' 60
		check "... and so the commit is there" test "$(entry)" -gt "$was"
		;;
	*)
		stop proxy KILL
		check_text "... nothing was committed" "$was" "$(entry)"
		manner pass
		serve proxy /usr/bin/python3 tests/parts/archive_proxy.py "$proxy" "${CLICKHOUSE##*:}" "$TMP/manner" 1
		;;
	esac
	check "... what it says is so" sound "$hash"
	aggregator_serve "$through"
	check "... another start archives all" settled
	check_text "... and counts it once" $all "$(committed)"
	check "... with its hash" sound "$hash"
	check_text "... readers get it" $all "$(dump)"
done

# ---- nobody answers, so it is sent again
manner half
check "30 more come" more 30
check "... the archive answers badly" wait_until 'says "^bad"' 60
manner pass
check "... then all is archived" settled
manner "hold INSERT commits"
check "30 more come" more 30
check "... a commit is held" wait_until 'says "^held"' 60
check "... 30 more come" more 30
manner pass
check "... it arrives" wait_until 'says "^delivered"' 60
check "all is archived" settled
check_text "... and counted once" $all "$(committed)"
check "... with its hash" sound "$hash"

# ---- a pass fails in the middle: what it had to send is sent by the next one
manner "hold INSERT events"
check "30 more come" more 30
check "... are held" wait_until 'says "^held"' 60
check "... 30 more come" more 30
check "... and are stored" wait_until indexed 60
stop proxy KILL
manner pass
serve proxy /usr/bin/python3 tests/parts/archive_proxy.py "$proxy" "${CLICKHOUSE##*:}" "$TMP/manner" 1
check "all is archived" settled
check_text "... and counted once" $all "$(committed)"
check "... with its hash" sound "$hash"
check_text "... readers get it" $all "$(dump)"
# The store says so if it has forgotten what was not committed.
check_status 1 "... and nothing else was sent again" grep "everything is sent again" "$TMP/aggregator.log"

# ---- an hour of the last day, which ends after the last time
last=2562046
query "INSERT INTO pool.commits SELECT part, tbl, $last AS hour, name, shard, since, pos, 1 AS rows, hash, row, entry, at_ns
	FROM pool.commits WHERE tbl = 'events' ORDER BY pos DESC LIMIT 1" >"$TMP/inserted"
check_status 1 "an event of it is missed" poolscope-dump -q -p 'a$one' --kind event \
	--connect "$CLUSTER/pool" --archive-password "$TMP/writer"
check_printed "... by its hour" "0 of 1 committed rows of table events, hour 2262-04-11T22:00:00Z"
check "... and no day before is to be deleted" test "$(grep -c "retain --before" "$TMP/err")" = 0
query "ALTER TABLE pool.commits DELETE WHERE hour = $last" >"$TMP/deleted"
check "... it is forgotten" wait_until '[ "$(query "SELECT count() FROM pool.commits WHERE hour = $last")" = 0 ]' 60

# ---- what the archive has lost is found after a kill, too
query "ALTER TABLE pool.events DELETE WHERE seq >= 0 AND idx % 2 = 0" >"$TMP/deleted"
check "events are lost" wait_until '[ "$(query "SELECT count() FROM pool.events")" -lt $all ]' 60
check_status 1 "... which a reader misses" poolscope-dump -q -p 'a$one' --kind event --connect "$CLUSTER/pool" \
	--archive-password "$TMP/writer"

# ---- rows that change
runs() { poolscope-dump -q -p 'demo$farm' --kind run --connect "$CLUSTER/pool" --archive-password "$TMP/writer"; }
counted() { query "SELECT max(rows) FROM pool.commits WHERE tbl = '$1' AND name = ''"; }
check "5 test runs come" load 5
check "... are archived" settled
check "... and counted" wait_until '[ "$(counted runs)" = 5 ]' 60
manner "hold DISTINCT part, model, no"
check "5 more come" load 5
check "... to count them takes long" wait_until 'says "^held"' 60
sleep 2
manner pass
check "... and ends" settled
check_text "... all are counted" 10 "$(counted runs)"
check "5 more come" load 5
check "... and are archived" settled
check_text "... not counted: that would take too long" 10 "$(counted runs)"
stop aggregator KILL
aggregator_serve "$through"
check "another start counts what is not" wait_until '[ "$(counted runs)" = 15 ]' 60
check_text "... once" 0 "$(query "SELECT count() FROM (SELECT since FROM pool.commits WHERE tbl = 'runs' GROUP BY since
	HAVING max(if(name = 'uncounted', pos, 0)) > max(if(name = '', pos, 0)))")"
check_text "readers get them" 15 "$(runs | wc -l)"
# What has a mark is sent once more with the first change after the start.
echo '{"ts": "1650020400.25", "source": "test", "event": "note", "node": "n1"}' >"$TMP/one"
check "a change comes" poolscope-import emits -p 'a$two' "$TMP/one"
check "... is archived" settled
query "ALTER TABLE pool.runs DELETE WHERE no % 2 = 0" >"$TMP/deleted"
check "some are lost" wait_until '[ "$(query "SELECT uniqExact(run) FROM pool.runs")" -lt 10 ]' 60
check_status 1 "... which a reader misses" runs
check "5 more come" load 5
check "... are archived" settled
check "... and counted" wait_until '[ "$(query "SELECT max(pos) FROM pool.commits WHERE tbl = '"'runs'"' AND name = '"''"'")" = "$(query "SELECT max(pos) FROM pool.runs")" ]' 60
check_text "what there is now is not all that was" 15 "$(counted runs)"
check_status 1 "... which a reader misses still" runs

# ---- a phase of which the store cannot read all events
steps() {
	/usr/bin/python3 -c 'import json, sys
first, count = map(int, sys.argv[1:])
for i in range(first, first + count):
    for at, event in (0, "step:start"), (1, "step:end"):
        print(json.dumps({"ts": "%d.25" % (1650020400 + 2 * i + at), "source": "test", "event": event, "node": "n1",
            "message": "id=%d" % i}))' "$@" >"$TMP/steps"
	poolscope-import emits -p 'a$steps' "$TMP/steps"
}
durations() {
	poolscope-dump -q -p 'a$steps' --kind phase --connect "$CLUSTER/pool" --archive-password "$TMP/writer" >"$TMP/durations"
}
there() { query "SELECT count() FROM (SELECT DISTINCT phase, form, key_hash, scope, ts, role, session, seq, idx, node FROM pool.phases
	WHERE phase = 'none:test:step')"; }
manner "hold INSERT phases"
check "300 steps come" steps 0 300
check "... are held" wait_until 'says "^held" && indexed' 60
check "... and 300 more" steps 300 300
check "... are there" wait_until indexed 60
stop aggregator KILL
stop proxy KILL
manner pass
serve proxy /usr/bin/python3 tests/parts/archive_proxy.py "$proxy" "${CLICKHOUSE##*:}" "$TMP/manner" 1
check "a row of them is damaged" "$PARTS/archive_change" "$DIR/store" phase
aggregator_serve "$through"
check "the others are archived" settled
check "... not all" test "$(there)" -lt 1200 -a "$(there)" -gt 0
check "... which is logged" grep -q "1 rows of the store cannot be read and are not archived" "$TMP/aggregator.log"
check_text "... and counted" 1 "$(archive_word archive_damaged)"
check "readers get the others" durations
stop aggregator
aggregator_serve "$through"
was=$(there)
check "100 more come" steps 600 100
check "... and are archived" settled
check_text "... 200 events" $((was + 200)) "$(there)"
check "readers get them" durations
check "... all" test "$(grep -c step "$TMP/durations")" -ge 100

# ---- rollups
hours() {
	poolscope-stats series -p 'a$perf' -m '*disk*' --step 1h --format csv --connect "$CLUSTER/pool" \
		--archive-password "$TMP/writer"
}
check "reports of four nodes come" poolscope-import perf -p 'a$perf' "$ROOT/tests/golden/perf/r02_four_nodes/reports.json"
check "... and are archived" settled
stop aggregator
check "... compacted" poolscope-admin compact --models "$ROOT/deploy/models"
aggregator_serve "$through"
check "... and so archived" settled
hourly() { query "SELECT count() FROM pool.commits WHERE tbl = 'rollups' AND name = ''"; }
check "rollups are counted, by hour" wait_until '[ "$(hourly)" -gt 0 ]' 60
check_text "... as many as there are" "$(query "SELECT count() FROM pool.rollups FINAL")" \
	"$(query "SELECT sum(rows) FROM pool.commits FINAL WHERE tbl = 'rollups' AND name = ''")"
stop aggregator
hours >"$TMP/before"
check "there are values by the hour" test "$(wc -l <"$TMP/before")" -gt 3
check "the archive deletes the samples" poolscope-archive retain --to "$CLUSTER/pool" --archive-password "$TMP/writer" \
	--before 2022-05-01
check "... they are gone" wait_until '[ "$(query "SELECT count() FROM pool.samples")" = 0 ]' 60
hours >"$TMP/after"
check "... the hours are still answered" cmp "$TMP/before" "$TMP/after"
node=$(query "SELECT min(node) FROM pool.rollups")
query "ALTER TABLE pool.rollups DELETE WHERE node = '$node'" >"$TMP/deleted"
check "those of a node are lost" wait_until '[ "$(query "SELECT uniqExact(node) FROM pool.rollups")" = 3 ]' 60
check_status 1 "... which a reader misses" hours
check_printed "... and says so" "committed rows of table rollups, hour"
check_status 3 "... and verify" poolscope-archive verify --to "$CLUSTER/pool" --archive-password "$TMP/writer"
check_printed "... too" "rollups"

# ---- what nobody has any more: another archive, of what is left
check_status 1 "a store that lacks them is refused" poolscope-archive restore --from "$CLUSTER/pool" \
	--archive-password "$TMP/writer" "$TMP/left"
check "... but by --incomplete" poolscope-archive restore --from "$CLUSTER/pool" \
	--archive-password "$TMP/writer" --incomplete "$TMP/left"
check "another archive is made" poolscope-archive create --to "$CLUSTER/left" --archive-password "$TMP/writer"
check "an aggregator of that store" start aggregator poolscope-aggregator --archive "$CLUSTER/left" \
	--archive-password "$TMP/writer" --archive-after 200ms --store "$TMP/left" --models "$ROOT/deploy/models"
check "... archives it" settled
check "the hours are answered again" poolscope-stats series -p 'a$perf' -m '*disk*' --step 1h --to 2022-05-01 \
	--format csv --connect "$CLUSTER/left" --archive-password "$TMP/writer"
cp "$TMP/out" "$TMP/left.csv"
grep -v "Z,$node," "$TMP/before" >"$TMP/wanted"
check "... those of the others" cmp "$TMP/wanted" "$TMP/left.csv"
