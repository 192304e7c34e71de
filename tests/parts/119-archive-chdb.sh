#!/bin/sh
# An archive in the engine of today's ClickHouse, which a Python process serves by
# HTTP: one server, one copy.  It takes the statements with codecs, the blocks and
# the questions, and gives the store back.  Prints the bytes a row needs there.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
need_python chdb chdb-core || skip "the package chdb-core cannot be installed"
SEED=${SEED:-$(date +%s)}
HOURS=${HOURS:-2}
echo "seed $SEED"
port=$(free_port)
serve front "$PARTS/chdb/bin/python" tests/parts/chdb_front.py "$port" "$TMP/engine"
answers "http://127.0.0.1:$port/ping" front || exit 1
url=clickhouse://127.0.0.1:$port/pool

ask() {
	curl -sS --fail-with-body -m 60 --data-binary "$1" "http://127.0.0.1:$port/"
}
archive() {
	_verb=$1
	shift
	poolscope-archive "$_verb" "$@"
}
settled() {
	wait_until 'indexed && grep -q "\"archive_lag_ns\": 0[,}]" "$TMP/status" &&
		grep -q "\"archive_failing\": false" "$TMP/status"' 60
}
values() {
	_verb=$1
	shift
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 tests/parts/archive_values.py "$_verb" "$SEED" 1000 "$@"
}

check "the engine is a new one" test "$(ask 'SELECT version()' | cut -d. -f1)" -ge 24
check "the tables are made, with codecs" archive create --to "$url"
check_printed "... all of them" "created 20 tables"
check_text "... which compress" DoubleDelta "$(ask "SELECT extract(compression_codec, 'DoubleDelta') FROM system.columns
	WHERE database = 'pool' AND table = 'samples' AND name = 'ts'")"
check "again, nothing is made" archive create --to "$url"
check "nothing must be done" archive check --to "$url"

# What is confirmed is on the disk: the page cache is no copy.
check_text "every table is written to the disk before it confirms" 20 \
	"$(ask "SELECT countIf(position(create_table_query, 'fsync_after_insert = 1') > 0 AND position(create_table_query, 'fsync_part_directory = 1') > 0) FROM system.tables WHERE database = 'pool'")"
ask "ALTER TABLE pool.names MODIFY SETTING fsync_after_insert = 0"
check_status 3 "one that does not must be changed" archive check --to "$url"
check_printed "... by create" "table names confirms rows before they are on the disk; run poolscope archive create"
check "it is changed" archive create --to "$url"
check_printed "... alone" "names is written to the disk before it is confirmed"
check "nothing must be done again" archive check --to "$url"

# The views for SQL; 209-questions.sh asks them.  The engine has no cluster: Distributed
# tables are Merge here.
check "an archive is made for the views" archive create --to "clickhouse://127.0.0.1:$port/poolscope"
check "the views are made" /usr/bin/python3 tests/parts/archive_questions.py views "http://127.0.0.1:$port/" --merge
ask "INSERT INTO poolscope.partitions (part, name, pos) VALUES (7, 'acct\$pool', 1)"
# An event on each of seven days from 1970-01-11 on, whose first hour is 240.
for day in 0 1 2 3 4 5 6; do
	ask "INSERT INTO poolscope.events (part, hour, node, ts, seq, name) VALUES (7, 240 + 24 * $day, 'n1', (864000 + 86400 * $day) * 1000000000, $day, 'e$day')"
done
check_text "an event has its names, its hour and its day" "1970-01-12 00:00:00 264 1970-01-12 acct\$pool n1 e1" \
	"$(ask "SELECT time, hour, day, partition, node, name FROM poolscope.event WHERE hour = 264" | tr '\t' ' ')"
for condition in 'hour = 264' 'hour BETWEEN 263 AND 265' "day = '1970-01-12'"; do
	check_text "$condition reads one day of seven" "Parts: 1/7" \
		"$(ask "EXPLAIN indexes = 1 SELECT count() FROM poolscope.event WHERE $condition" | grep -o 'Parts: [0-9]*/7' | head -n 1)"
done

# The dashboard asks them, and joins of its own.
ask "INSERT INTO poolscope.samples (part, hour, node, track, ts, v) VALUES (7, 240, 'n1', 'job', 864000000000000, [1.5, 2])"
ask "INSERT INTO poolscope.entities (part, kind, id, keys, vals) VALUES (7, 'set', 'job', ['names'], ['m1'])"
ask "INSERT INTO poolscope.spans (part, hour, node, track, ts, end_ns, name) VALUES (7, 240, 'n1', 'job', 864000000000000, 864001000000000, 'x')"
ask "INSERT INTO poolscope.commits (tbl, at_ns) VALUES ('commit', 864009000000000)"
/usr/bin/python3 tests/parts/clickhouse_dashboard.py deploy/clickhouse/dashboard.json "http://127.0.0.1:$port/" x y \
	863900 864100 'partition=acct$pool' group=job metric=m1 span=x >"$TMP/dashboard" 2>&1
check_text "each question of the dashboard has an answer" "10 0" \
	"$(grep -c ': 1 rows: ' "$TMP/dashboard") $(grep -c 'failed' "$TMP/dashboard")"

start aggregator poolscope-aggregator --archive "$url" --archive-after 200ms \
	--models "$ROOT/deploy/models" || exit 1
start broker poolscope-broker || exit 1
check "random records are sent" values send "ipc://$DIR/run/intake.ipc"
# Samples of one host each second, of ten hosts each 10 seconds: a processor's time,
# memory in use, load, and bytes sent, as hosts have them; events of a farm; phases
# of a pool.
samples() {
	/usr/bin/python3 - "$@" <<'END'
import random, sys
group, hosts, step, hours = sys.argv[1], *map(int, sys.argv[2:])
pick = random.Random(7)
print("group n0 %s cpu:ns:counter memory:By:gauge load:1:gauge sent:By:counter" % group)
now = [[0, 1 << 21, 100, 0] for _ in range(hosts)]
for t in range(0, hours * 3600, step):
    for n, host in enumerate(now):
        host[0] += 10**7 * pick.randrange(20 * step)
        host[1] = max(1 << 18, host[1] + int(pick.gauss(0, 30)))
        host[2] = max(0, host[2] + pick.randint(-3, 3))
        host[3] += pick.randrange(2000) * step
        print("sample %d n%d %s %d %d %s %d" % (t, n, group, host[0], host[1] * 4096, host[2] / 100, host[3]))
END
}
samples app/second 1 1 "$HOURS" >"$TMP/second"
samples app/ten 10 10 "$HOURS" >"$TMP/ten"
for each in second ten; do
	check "samples each $each are sent" /usr/bin/python3 tests/scenario/records.py \
		"ipc://$DIR/run/intake.ipc" "samples\$$each" <"$TMP/$each"
done
mkdir -p "$TMP/pool"
/usr/bin/python3 tests/golden/cascade/p13_generated_1000/gen.py --nodes 200 --out "$TMP/pool" --no-emits >"$TMP/made"
check "a pool is imported" poolscope-import cascade "$TMP/pool/entities.jsonl"
check "test runs are sent" poolscope-generate testrun --runs 500 --first 0 --base now --seed 7 -p 'runs$farm' --timeout 60s
settled || fail "all is in the archive" "$TMP/status"
stop broker
stop aggregator
check "the archive has what the store has" archive verify --to "$url" --store "$DIR/store"
check "a store is made of it" archive restore --from "$url" "$TMP/copy"
check "it is right" poolscope-admin verify --store "$TMP/copy"
printed() {
	{ values partitions && printf '%s\n' 'samples$second' 'samples$ten' 'runs$farm' 'bigacct$bigpool'; } | while IFS= read -r _p; do
		poolscope-dump -q --store "$1" -p "$_p" --format jsonl --kind event --kind sample --kind span \
			--kind entity --kind gap --kind rejected --kind phase --kind run || exit 1
	done >"$2"
}
check "the first store is dumped" printed "$DIR/store" "$TMP/first"
check "the other one is dumped" printed "$TMP/copy" "$TMP/other"
check "... with the same result" cmp "$TMP/first" "$TMP/other"
mkdir -p "$TMP/restored/run"
start restored poolscope-aggregator --dir "$TMP/restored" --store "$TMP/copy" || exit 1
check "it answers with what was sent, bit by bit" values served "ipc://$TMP/restored/run/reader.ipc"

# alone NAME VALUES COLUMNS TABLE WHERE: the bytes of VALUES in a table of these rows
# alone, merged.
alone() {
	ask "CREATE TABLE pool.one_$1 AS pool.$4"
	ask "INSERT INTO pool.one_$1 SELECT $3 FROM pool.$4 WHERE $5"
	ask "OPTIMIZE TABLE pool.one_$1 FINAL"
	ask "SELECT '$1', sum(rows), $2, round(sum(data_compressed_bytes) / $2, 2) FROM system.parts
		WHERE database = 'pool' AND table = 'one_$1' AND active" | sed 's/^/    /'
}
echo "kind, rows, events or values or starts and ends of phases, bytes of each:"
alone event 5000 '*' events "part = sipHash64('runs\$farm')"
alone second $((HOURS * 3600 * 4)) '*' samples "part = sipHash64('samples\$second')"
alone ten $((HOURS * 3600 * 4)) '*' samples "part = sipHash64('samples\$ten')"
alone phase "$(ask "SELECT count() FROM pool.phases WHERE part = sipHash64('bigacct\$bigpool')")" '*' phases "part = sipHash64('bigacct\$bigpool')"
check "it is dropped" archive drop --to "$url" --yes
