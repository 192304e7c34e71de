#!/bin/sh
# Ten questions of an analyst (deploy/clickhouse/questions.sql), asked of the views by SQL,
# on two shards of two replicas of version 18.16 and in the engine of today's ClickHouse:
# the answers are those of poolscope.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/archive.sh
. "$ROOT/tests/parts/archive.sh"
SEED=${SEED:-$(date +%s)}
echo "seed $SEED"
export BASE=1700000000 # 2023-11-14

questions() {
	/usr/bin/python3 "$ROOT/tests/parts/archive_questions.py" "$@"
}
# as_writer COMMAND...: of the cluster.
as_writer() {
	CLICKHOUSE_USER=poolscope_writer CLICKHOUSE_KEY='writes!' "$@"
}
sql() {
	curl -sS --fail-with-body -m 60 --data-binary "$1" "$engine"
}
all_equal() {
	check "$1" questions compare "$2"
	check_text "... all ten" 10 "$(grep -c ': equal, ' "$TMP/out")"
	sed 's/^/    /' "$TMP/out"
}

archive_cluster || exit 1
check "an archive is made" poolscope-archive create --to "$CLUSTER/poolscope" --archive-password "$TMP/writer"
for n in 1 2 3 4; do
	check "... with views on replica $n" as_writer questions views "http://127.0.0.1:$(_port_of $n)/"
done
aggregator_serve "$CLUSTER/poolscope" || exit 1
check "records are sent" sh -c '/usr/bin/python3 tests/parts/archive_questions.py load "$1" |
	/usr/bin/python3 tests/scenario/records.py "ipc://$DIR/run/intake.ipc" "acct\$pool"' - "$SEED"
settled || fail "all is in the archive" "$TMP/status"
export CLICKHOUSE_USER=poolscope_reader CLICKHOUSE_KEY='reads!'
# Facts that are sent twice, as on a busy machine, are two rows until these are merged.
facts="events spans samples gaps rejected phases"
send_twice() {
	for _table in $facts; do
		for _n in 1 3; do
			as_writer ask "$_n" "INSERT INTO poolscope.$_table SELECT * FROM poolscope.$_table" '?insert_deduplicate=0' || return 1
		done
	done
}
merge() {
	for _n in 1 2 3 4; do
		for _table in $facts; do
			as_writer ask "$_n" "OPTIMIZE TABLE poolscope.$_table FINAL" || return 1
		done
		[ "$(ask "$_n" "SELECT count() FROM (SELECT table, partition FROM system.parts WHERE active AND database = 'poolscope'
			AND table IN ('$(echo "$facts" | sed "s/ /', '/g")')
			GROUP BY table, partition HAVING count() > 1)")" = 0 ] || return 1
	done
}
has_rows() {
	merge && [ "$(ask 3 'SELECT count() FROM poolscope.event')" = "$(poolscope-dump -q -p 'acct$pool' --kind event --format jsonl | wc -l)" ]
}
check "... some facts twice" send_twice
check "... which are merged" wait_until has_rows 60
all_equal "a replica of the cluster answers as poolscope does" "http://127.0.0.1:$PORT3/"

# What a view says of a rollup and of a gap.
ask 1 "INSERT INTO poolscope.rollups (part, hour, step, track, node, bucket, pos, metric, n, low, high, sum, seconds) VALUES (sipHash64('acct\$pool'), 472222, 1, 'memory', 'n9', 14, 5, [1, 2], [6, 0], [10, 0], [30, 0], [120, 0], [60, 0])"
check_text "a rollup has its metric, its unit and its minute" \
	"2023-11-14 22:14:00 60 n9 system.memory.usage.used By gauge 6 10 30 120" \
	"$(ask 1 "SELECT time, period, node, metric, unit, type, samples, least, greatest, total FROM poolscope.rollup WHERE node = 'n9'" | tr '\t' ' ')"
check_text "the views have the nodes" 5 "$(ask 2 "SELECT count() FROM poolscope.node WHERE partition = 'acct\$pool'")"
check_text "... and the test runs" "60 0" \
	"$(ask 2 "SELECT count(), sum(failed) FROM poolscope.run WHERE model = 'testrun'" | tr '\t' ' ')"
check_text "... and what is known of them" g3 \
	"$(ask 2 "SELECT vals[indexOf(keys, 'device_group')] FROM poolscope.entity WHERE kind = 'run' AND id = 'r7'")"
stop aggregator

need_python chdb chdb-core || skip "the package chdb-core cannot be installed"
unset CLICKHOUSE_USER CLICKHOUSE_KEY
port=$(free_port)
engine=http://127.0.0.1:$port/
serve front "$PARTS/chdb/bin/python" tests/parts/chdb_front.py "$port" "$TMP/engine"
answers "${engine}ping" front || exit 1
check "the engine is a new one" test "$(sql 'SELECT version()' | cut -d. -f1)" -ge 24
check "an archive is made there" poolscope-archive create --to "clickhouse://127.0.0.1:$port/poolscope"
check "... with views" questions views "$engine" --merge
start aggregator poolscope-aggregator --archive "clickhouse://127.0.0.1:$port/poolscope" \
	--archive-after 200ms --models "$ROOT/deploy/models" || exit 1
settled || fail "all is in the other archive" "$TMP/status"
all_equal "today's engine answers as poolscope does" "$engine"
stop aggregator
