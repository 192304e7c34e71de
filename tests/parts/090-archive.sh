#!/bin/sh
# The tables of an archive in a real cluster of two shards with two replicas:
# made, checked, brought up to date and removed; with a replica away, with an
# archive of a newer version, and with tables that somebody else made.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # $0 of sh -c
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

# archive VERB [OPTION...]: of the database pool on the four replicas.
archive() {
	_verb=$1
	shift
	poolscope-archive "$_verb" --to "$CLUSTER/pool" --archive-password "$TMP/writer" "$@"
}

# states FORMAT...: how many tables of all replicas are in each state.
states() {
	archive status --format jsonl 2>/dev/null | grep -v '^{"poolscope"' >"$TMP/rows"
	/usr/bin/python3 -c 'import collections, json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
print(*(f"{k} {n}" for k, n in sorted(collections.Counter(r["state"] for r in rows).items())))' "$TMP/rows"
}

check_status 3 "where nothing is, something must be done" archive check
check_printed "... which it says" "run poolscope archive create"
check_status 1 "there is nothing to drop" archive drop --yes

# 4 replicas with 20 tables.
check "the tables are made" archive create
check_printed "... on every replica" "created 80 tables, 2 shards"
check "again, nothing is made" archive create
check_printed "... and it says so" "everything is there"
# Each format of one verb; the names of the replicas are those of clickhouse_cluster.sh.
check_text "... in a table" "1 r1 0 1 r2 0 2 r3 0 2 r4 0" \
	"$(sed 1,3d "$TMP/out" | sort -n | xargs)"
check "... in csv" archive create --format csv
check_text "... with all columns" "shard,replica,created,synced 1,r1,0,0 1,r2,0,0 2,r3,0,0 2,r4,0,0" \
	"$(sort -n "$TMP/out" | paste -sd' ')"
check "... in jsonl" archive create --format jsonl
check_text "... an object a line" "pool 2 0 0 0 0 4 True" "$(/usr/bin/python3 -c 'import json, sys
head, *rows, end = map(json.loads, open(sys.argv[1]))
end = end["poolscope"]
print(head["poolscope"]["database"], head["poolscope"]["shards"], *(r["created"] for r in rows), end["rows"], end["complete"])' \
	"$TMP/out" 2>&1)"
check "... in md" archive create --format md
check_text "... with its own titles" "| SHARD | REPLICA | CREATED |" "$(grep '^| S' "$TMP/out")"
check_text "... and rows" 4 "$(grep -c '^| [12] | r.* | 0 |$' "$TMP/out")"
check "... in json" archive create --format json
check_json "... the same" "pool 2 [(1, 'r1', 0), (1, 'r2', 0), (2, 'r3', 0), (2, 'r4', 0)] True" \
	"'%s %d %s %s' % (a['database'], a['shards'], sorted((r['shard'], r['replica'], r['created']) for r in rows), a['complete'])"
check "nothing must be done" archive check --format csv
check_text "each replica has a line" "1,20,ok 1,20,ok 2,20,ok 2,20,ok" \
	"$(cut -d, -f1,4,10 "$TMP/out" | sed 1d | paste -sd' ')"
check_text "all tables are in order" "ok 80" "$(states)"
check_text "each shard has its meta on both replicas" "format 2,shards 2 format 2,shards 2 format 2,shards 2 format 2,shards 2" \
	"$(for n in 1 2 3 4; do ask $n "SELECT name, value FROM pool.meta WHERE name IN ('format', 'shards') ORDER BY name" | tr '\t' ' ' | paste -sd,; done | paste -sd' ')"

# A row that one replica gets is on the other one of its shard, and on no other.
ask 1 "INSERT INTO pool.names (part, no, name, pos) VALUES (1, 1, 'a', 1)" >"$TMP/inserted"
check_text "a row is taken" "" "$(cat "$TMP/inserted")"
check "the other replica gets it" wait_until \
	'[ "$(ask 2 "SELECT count() FROM pool.names")" = 1 ]' 60
check_text "the other shard does not" "0 0" \
	"$(ask 3 'SELECT count() FROM pool.names') $(ask 4 'SELECT count() FROM pool.names')"
states >/dev/null
check "the rows are counted" sh -c '[ "$(grep -c "\"table\": \"names\", \"rows\": 1," "$0")" = 2 ]' "$TMP/rows"

# Who writes to it.  Store 0x12 comes with claim 1, and has partitions 2, 3 and 5
# since claim 3; 0x13 comes with claim 2, and takes 5 over with claim 4.  Epoch 1 has a
# checkpoint: of an odd epoch it is on shard 2.  Its position is 2^48 + 5.
claim() {
	_replica=$1
	_claim=$2
	shift 2
	ask "$_replica" "CREATE TABLE pool.claim_$_claim ($(printf ', %s UInt8' "$@" | cut -c3-))
		ENGINE = ReplicatedMergeTree('/clickhouse/tables/{cluster}/{shard}/pool/claim_$_claim', '{replica}') ORDER BY tuple()"
}
zeros=00000000000000
check_text "a claim is made" "" "$(claim 1 1 id_${zeros}a1 of_${zeros}12 epoch_1 at_7463703a2f2f683a31)"
check_text "another one does not take its place" 122 \
	"$(claim 2 1 id_${zeros}b1 of_${zeros}13 epoch_1 | sed -n 's/^Code: \([0-9]*\).*/\1/p')"
claim 2 2 id_${zeros}b1 of_${zeros}13 epoch_2 at_7463703a2f2f683a32
claim 1 3 id_${zeros}a1 of_${zeros}12 epoch_1 part_${zeros}02 part_${zeros}03 part_${zeros}05
claim 2 4 id_${zeros}b1 of_${zeros}13 epoch_2 part_${zeros}05
ask 3 "INSERT INTO pool.commits (since, pos, row, entry, at_ns) VALUES (281474976710660, 281474976710660, 1, 6, 1), (281474976710661, 281474976710661, 1, 7, $(($(date +%s) - 100))000000000)"
owners() {
	archive owners --format jsonl | grep -v '^{"poolscope"' | /usr/bin/python3 -c 'import json, sys
for r in map(json.loads, sys.stdin):
    print(r["epoch"], r["store"][-4:], r["endpoint"], r["partitions"], r["entry"], r["change"], r["copies"],
          r["state"], 100 <= (r["age_s"] or 0) < 400)'
}
check "each epoch has its partitions and its last commit, on two copies" wait_until \
	'[ "$(owners)" = "1 0012 tcp://h:1 2 7 5 2 ok True
2 0013 tcp://h:2 1 0 0 0 new False" ]' 60
check "owners are in order" archive owners
check_text "every table has two copies" 80 "$(archive status --format jsonl | grep -c '"copies": 2,')"

# An archive that an older version made.
ask 3 'ALTER TABLE pool.events DROP COLUMN uuid'
check_status 3 "a column is missing" archive check
check_printed "... which it says" "table events lacks a column, or has one of another type: another version made it"
check_text "both replicas lack it" "ok 78 old 2" "$(states)"
ask 3 'ALTER TABLE pool.events ADD COLUMN uuid FixedString(16) AFTER name'
check_status 3 "a column has another type" archive check
check_printed "... which it says" "table events lacks a column, or has one of another type: another version made it"
check_status 1 "nobody reads it" archive owners
check_printed "... which is named" "table pool.events of .* lacks a column, or has one of another type"
ask 3 'ALTER TABLE pool.events DROP COLUMN uuid'
ask 3 'ALTER TABLE pool.events ADD COLUMN uuid String AFTER name'

# A newer version may add a column.
ask 3 'ALTER TABLE pool.events ADD COLUMN newer UInt8'
check "a column more is no fault" archive check
check "... nor for readers" archive owners
ask 3 'ALTER TABLE pool.events DROP COLUMN newer'

# A table that one replica lacks, that no replica has.
states_of_gaps() { archive status --format csv --columns table,state | grep -c '^gaps,missing'; }
ask 4 'DROP TABLE pool.gaps'
check_status 3 "a table is missing" archive check
check_printed "... which it says" "has no table gaps; run poolscope archive create"
check "readers have another replica" archive owners
ask 3 'DROP TABLE pool.gaps'
check_text "no replica of the shard has it" 2 "$(states_of_gaps)"
check_status 1 "readers are refused" archive owners
check_printed "... by name" "no replica of shard 2 has table pool.gaps: run poolscope archive create"
stop ch4 KILL
check_status 1 "one that is down may have it" archive owners
check_printed "... and is named" "no replica of shard 2 that answers has table pool.gaps: start those that do not answer (127.0.0.1) before"
cluster_serve 4 || exit 1
check "it comes back" wait_until '[ "$(states)" = "missing 2 ok 78" ]' 60
check "it is made again" archive create
check "... and nothing is behind" wait_until '! archive check 2>&1 | grep -q " s behind"' 60
check "... and that is all" archive check

# An address of one server leads to those that have the same port only, so the
# others are not known here; nothing is taken for complete.
check_status 3 "from one server, others are not reached" \
	poolscope-archive check --to "clickhouse://poolscope_writer@127.0.0.1:$PORT1/pool" \
	--archive-password "$TMP/writer"
check_printed "... and are reported as down" "does not answer"

# A replica away, and back.
stop ch2 KILL
check_status 3 "a replica is away" archive check
check_printed "... which is reported" "shard 1, replica 127.0.0.1: it does not answer"
check_text "the others are in order" "down 1 ok 60" "$(states)"
check_text "of its shard, tables have one copy" "20 40" \
	"$(grep -c '"copies": 1,' "$TMP/rows") $(grep -c '"copies": 2,' "$TMP/rows")"
ask 1 "INSERT INTO pool.commits (since, pos, entry) VALUES (562949953421313, 562949953421313, 1)"
check_status 3 "one copy of a commit is too few" archive owners
check_printed "... which it says" "epoch 2: one replica has its last commit"
check_status 1 "create does not leave it out" archive create
check_printed "... but must be repeated" "repeat this when it is back"
cluster_serve 2 || exit 1
check "it comes back" wait_until '[ "$(states)" = "ok 80" ]' 60
stop zookeeper KILL
check "without ZooKeeper the tables are read-only" wait_until \
	'archive check 2>&1 | grep -q "is read-only; see whether its ZooKeeper runs"' 90
check_status 1 "no tables are made" poolscope-archive create --to "$CLUSTER/later" --archive-password "$TMP/writer"
check_printed "... and it says why" "ZooKeeper does not serve it: see whether it runs; exception 999"
check_status 1 "claims are not read" archive owners
check_printed "... and it says why" "ZooKeeper does not serve it: see whether it runs; exception 999"
check_status 1 "nothing is deleted" archive retain --before -1d
check_printed "... and it says why" "see whether it.* runs; exception 2[24][25]"
zookeeper_serve || exit 1
check "with it they are not" wait_until '[ "$(states)" = "ok 80" ]' 60

# Who may not.
printf 'wrong\n' >"$TMP/writer.wrong"
chmod 600 "$TMP/writer.wrong"
check_status 1 "a wrong password is refused" poolscope-archive check \
	--to "$CLUSTER/pool" --archive-password "$TMP/writer.wrong"
check_text "... in one sentence" 1 "$(wc -l <"$TMP/err")"
check_status 1 "a reader makes no tables" poolscope-archive create \
	--to "$(echo "$CLUSTER" | sed s/_writer/_reader/)/other" --archive-password "$TMP/reader"
check_printed "... as it is read-only" "readonly"

# Somebody else's table, another number of shards, a newer version.
ask 1 'CREATE DATABASE foreign_one'
ask 1 'CREATE TABLE foreign_one.events (a UInt8) ENGINE = Log'
check_status 1 "a foreign table is not touched" poolscope-archive create \
	--to "$CLUSTER/foreign_one" --archive-password "$TMP/writer"
check_printed "... but named" "has a table events that is not an archive's"
check_status 1 "... nor dropped" poolscope-archive drop --yes \
	--to "$CLUSTER/foreign_one" --archive-password "$TMP/writer"
check_text "it is still there" 1 "$(ask 1 'EXISTS TABLE foreign_one.events')"
ask 1 "INSERT INTO pool.meta (name, value) VALUES ('shards', '3')"
check_status 1 "an archive of three shards is refused" archive create
check_printed "... by number" "was made for 3 shards, the cluster has 2"
ask 1 "INSERT INTO pool.meta (name, value) VALUES ('format', '3')"
check_status 1 "an archive of a newer format is refused" archive check
check_printed "... by name" "has format 3, this program knows formats up to 2"
ask 1 'CREATE DATABASE older_one'
ask 1 'CREATE TABLE older_one.meta (name String, value String) ENGINE = Log'
ask 1 "INSERT INTO older_one.meta VALUES ('format', '1')"
check_status 1 "an archive of an older format is refused" poolscope-archive owners \
	--to "$CLUSTER/older_one" --archive-password "$TMP/writer"
check_printed "... by name" "older_one has format 1, an older one than 2, and cannot be used: make one in another database"

check "it is dropped" archive drop --yes --format json
check_json "... whole" "[(1, 20), (1, 20), (2, 20), (2, 20)]" "sorted((r['shard'], r['dropped']) for r in rows)"
check_text "nothing is left" "0 0 0 0" \
	"$(for n in 1 2 3 4; do ask $n "SELECT count() FROM system.tables WHERE database = 'pool'"; done | paste -sd' ')"
check "it can be made again" archive create --format json
check_json "... from the beginning" "[(1, 20), (1, 20), (2, 20), (2, 20)]" "sorted((r['shard'], r['created']) for r in rows)"

# The views for SQL: records of both shards with the name of the partition.
views() {
	sed -e '/^--/d' deploy/clickhouse/views.sql >"$TMP/views.sql"
	clickhouse-client --host 127.0.0.1 --port "$1" --user poolscope_writer \
		--password 'writes!' --multiquery <"$TMP/views.sql"
}
for n in 1 2 3 4; do
	check "replica $n has an archive named poolscope" poolscope-archive create \
		--to "$CLUSTER/poolscope" --archive-password "$TMP/writer"
	check "... and its views" views "$(sed -n 's/.*<tcp_port>\([0-9]*\)<.*/\1/p' "$TMP/ch$n/config.xml")"
done
ask 1 "INSERT INTO poolscope.partitions (part, name, pos) VALUES (7, 'acct\$pool', 1)"
ask 3 "INSERT INTO poolscope.events (part, node, ts, source, name, keys, vals) VALUES (7, 'n1', 1500000000123456789, 's', 'e', ['job', 'x'], ['4711', 'y'])"
ask 3 "INSERT INTO poolscope.spans (part, node, track, ts, end_ns, name, category) VALUES (7, 'n1', 'job', 1500000000000000000, 1500000001500000000, 'cc', 'c')"
ask 1 "INSERT INTO poolscope.samples (part, node, track, ts, v) VALUES (7, 'n1', 'job', 1500000000000000000, [1.5, 2])"
# 1500000000 is 2017-07-14T02:40:00Z.
check_text "an event has its names" "2017-07-14 02:40:00 acct\$pool n1 s e 4711" \
	"$(ask 2 "SELECT time, partition, node, source, name, vals[indexOf(keys, 'job')] FROM poolscope.event" | tr '\t' ' ')"
# 1,000 events of 1970-01-11, 10 of 1970-01-21: hours 240 and 480.
ask 3 "INSERT INTO poolscope.events (part, hour, node, ts, seq, name) SELECT 7, 240, 'n1', 864000000000000 + number, number, 'old' FROM system.numbers LIMIT 1000"
ask 3 "INSERT INTO poolscope.events (part, hour, node, ts, seq, name) SELECT 7, 480, 'n1', 1728000000000000 + number, number, 'new' FROM system.numbers LIMIT 10"
# read_rows CONDITION: how many rows are counted, and whether few are read.
read_rows() {
	ask 3 "SELECT count(), any(day) FROM poolscope.event WHERE $1 FORMAT JSONCompact" \
		"?enable_optimize_predicate_expression=1" | /usr/bin/python3 -c 'import json, sys
answer = json.load(sys.stdin)
print(*answer["data"][0], answer["statistics"]["rows_read"] < 500)'
}
check_text "a question about an hour reads its day alone" "10 1970-01-21 True" "$(read_rows "hour = 480")"
check_text "... also about hours and a pool" "10 1970-01-21 True" \
	"$(read_rows "hour BETWEEN 479 AND 481 AND partition = 'acct\$pool'")"
check_text "a span has its seconds" "2017-07-14 02:40:00 acct\$pool n1 job cc c 1.5" \
	"$(ask 2 "SELECT time, partition, node, track, name, category, seconds FROM poolscope.span" | tr '\t' ' ')"
check_text "a sample has its values" "2017-07-14 02:40:00 acct\$pool n1 job [1.5,2]" \
	"$(ask 4 "SELECT time, partition, node, metric_group, v FROM poolscope.sample" | tr '\t' ' ')"

# A server of its own: no macros, no ZooKeeper; by TLS.
# shellcheck disable=SC2046 # numbers
set -- $(free_port 3)
mkdir -p "$TMP/single"
cp -r "$TMP/ch1/users.xml" "$TMP/ch1/users.d" "$TMP/single"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
	-keyout "$TMP/single/key.pem" -out "$TMP/single/cert.pem" 2>/dev/null
# The lines of a cluster are gone, those of TLS are new.
sed -e '/<remote_servers>/,/<session_timeout_ms>/d' -e "s|$TMP/ch1|$TMP/single|g" \
	-e "s|<http_port>.*|<http_port>$1</http_port><tcp_port>$2</tcp_port><https_port>$3</https_port>|" \
	-e '/<interserver/d' -e '/^<\/yandex>/d' "$TMP/ch1/config.xml" >"$TMP/single/config.xml"
cat >>"$TMP/single/config.xml" <<END
<openSSL><server><certificateFile>$TMP/single/cert.pem</certificateFile>
<privateKeyFile>$TMP/single/key.pem</privateKeyFile><verificationMode>none</verificationMode>
<loadDefaultCAFile>true</loadDefaultCAFile><cacheSessions>true</cacheSessions>
<disableProtocols>sslv2,sslv3</disableProtocols><preferServerCiphers>true</preferServerCiphers>
</server></openSSL>
</yandex>
END
serve single clickhouse-server "--config-file=$TMP/single/config.xml"
answers "http://127.0.0.1:$1/ping" single || exit 1
single=clickhouses://poolscope_writer@localhost:$3/alone
check_status 1 "its certificate is not that of an authority" poolscope-archive create \
	--to "$single" --archive-password "$TMP/writer"
check_printed "... which is the reason" "certificate"
check "with its own one, an archive is made" poolscope-archive create --to "$single" \
	--archive-password "$TMP/writer" --archive-cacert "$TMP/single/cert.pem"
check_printed "... of one copy" "there is one copy only"
check "nothing must be done" poolscope-archive check --to "$single" \
	--archive-password "$TMP/writer" --archive-cacert "$TMP/single/cert.pem"
check "it is dropped" poolscope-archive drop --yes --to "$single" \
	--archive-password "$TMP/writer" --archive-cacert "$TMP/single/cert.pem"
check_printed "... whole" "dropped 20 tables"
check_status 1 "of several hosts one alone is none" poolscope-archive check \
	--to "clickhouse://poolscope_writer@127.0.0.1:$1,127.0.0.1:$PORT1/alone" \
	--archive-password "$TMP/writer"
check_printed "... as it has no macro" "no macro {cluster}"
