#!/bin/sh
# An archive may have more than an answer or a range of rows holds, and test runs of two
# stores: an hour of one node of 75 MB, one of 6,000 nodes, buckets of 20,000 nodes, and of a pool
# that was dropped and made again runs that had one number.  Readers get all of it.
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

# again TABLE TIMES CONDITION COLUMN EXPRESSION...: rows once more, with other values.
again() {
	_table=$1 _times=$2 _condition=$3
	shift 3
	_columns=$(query "SELECT arrayStringConcat(groupArray(name), ', ') FROM system.columns WHERE database = 'pool' AND table = '$_table'")
	_values=", $_columns,"
	while [ $# -gt 0 ]; do
		_values=$(echo "$_values" | sed "s|, $1,|, $2,|")
		shift 2
	done
	_values=${_values#, }
	query "INSERT INTO pool.$_table ($_columns) SELECT ${_values%,} FROM pool.$_table
		CROSS JOIN (SELECT number FROM system.numbers LIMIT $_times) WHERE $_condition"
}
# of COMMAND: what it says of the archive.
of() { timeout 300 "$@" --connect "$CLUSTER/pool" --archive-password "$TMP/writer"; }

# ---- test runs of two stores
check "test runs are made up" load 20
check "... and archived" settled
runs() { of poolscope-dump -q -p 'demo$farm' --kind run | wc -l; }
check_text "there are 20" 20 "$(runs)"
check "20 others had the same numbers" again runs 1 1 run "concat(run, '-was')"
check_text "there are 40" 40 "$(runs)"

# ---- an hour of one node
events() { of poolscope-dump -q -p 'demo$farm' --kind event | wc -l; }
events=$(events)
check "50,000 large events come" again events 50000 \
	"(seq, idx, session) IN (SELECT seq, idx, session FROM pool.events LIMIT 1)" seq "number + 1000000" ts "ts + number" \
	keys "['a']" types "'t'" vals "[arrayStringConcat(arrayMap(x -> 'xxxxxxxxxx', range(150)))]"
check_text "all are read" $((events + 50000)) "$(events)"

# ---- a phase of large events
printf '{"ts": "%s", "source": "own", "event": "x:%s", "node": "n", "message": ""}\n' 1660000000.5 start 1660000001.5 end >"$TMP/own"
check "a phase without a model comes" poolscope-import emits -q -p 'a$own' "$TMP/own"
check "... and is archived" settled
check "50,000 large ends come" again phases 50000 "role < 2" seq "number + 1000000" ts "ts + number" \
	keys "['a']" types "'t'" vals "[arrayStringConcat(arrayMap(x -> 'xxxxxxxxxx', range(150)))]"
check_text "they are read" 50001 "$(of poolscope-dump -q -p 'a$own' --kind phase | wc -l)"

# ---- an hour of many nodes, too large for one answer: of 4,000 the names are more than a
# statement may have (256 KiB)
awk 'BEGIN { for (x = "x"; length(x) < 4500; x = x x); for (i = 0; i < 6000; i++)
	printf "{\"ts\": \"1660000000.5\", \"source\": \"test\", \"event\": \"e\", \"node\": \"a-node-of-a-large-pool-with-a-long-name-in-rack-%06d\", \"message\": \"%s\"}\n", i, x }' >"$TMP/many"
check "6,000 nodes say something" poolscope-import emits -q -p 'a$many' "$TMP/many"
check "... and are archived" settled
check_text "all are read" 6000 "$(of poolscope-dump -q -p 'a$many' --kind event | wc -l)"

# ---- buckets of many nodes
check "reports of four nodes come" poolscope-import perf -p 'a$perf' "$ROOT/tests/golden/perf/r02_four_nodes/reports.json"
echo '{"ts": "1660000000.25", "source": "test", "event": "e", "node": "0", "message": "later"}' >"$TMP/later"
check "... and an event" poolscope-import emits -p 'a$perf' "$TMP/later"
check "... and are archived" settled
stop aggregator
check "... compacted" poolscope-admin compact --models "$ROOT/deploy/models"
aggregator_serve || exit 1
check "... and so archived" settled
stop aggregator
check "the archive deletes the samples" poolscope-archive retain --to "$CLUSTER/pool" --archive-password "$TMP/writer" \
	--before 2022-05-01 -p 'a$perf'
check "... they are gone" wait_until '[ "$(query "SELECT count() FROM pool.samples")" = 0 ]' 60
# count NODES COMMAND: how many metrics have that many nodes.
count() {
	_nodes=$1
	shift
	"$@" -q -p 'a$perf' -m '*disk*' --from 2022-04-15 --to 2022-04-16 --step 1h --format csv | grep -c ",$_nodes,"
}
check "20,000 more nodes come" again rollups 5000 "step = 2" node "concat(node, 'x', toString(number))"
check_text "all are read" 3 "$(count 20004 of poolscope-stats series)"
check "a store is made of them" poolscope-archive restore --from "$CLUSTER/pool" \
	--archive-password "$TMP/writer" -p 'a$perf' "$TMP/copy"
check_text "... with all" 3 "$(count 20004 poolscope-stats series --store "$TMP/copy")"
