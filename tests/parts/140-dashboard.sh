#!/bin/sh
# The dashboard of an archive: each of its questions, asked of a real cluster as its
# reader, has the answer that was worked out by hand.  And a tenant's reader, who
# sees the archive of this tenant only.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # dollars are Grafana's
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

# views PORT: those of deploy/clickhouse.
views() {
	clickhouse-client --host 127.0.0.1 --port "$1" --user poolscope_writer \
		--password 'writes!' --multiquery <deploy/clickhouse/views.sql
}
check "an archive is made" poolscope-archive create --to "$CLUSTER/poolscope" \
	--archive-password "$TMP/writer"
for n in 1 2 3 4; do
	check "... and the views of replica $n" views \
		"$(sed -n 's/.*<tcp_port>\([0-9]*\)<.*/\1/p' "$TMP/ch$n/config.xml")"
done

# Two events of source s and one of r in the 10 s from 1500000000 on: 0.2 and 0.1
# a second.  Samples 1.5 and 2.5 of n1: 2 in the mean.  100 spans of 1, 2, ... 100 ms.
# What was received at 1500000001 was committed at 1500000004.
at=1500000000
hour=$((at / 3600))
pos=281474976710661 # change 5 of epoch 1
ask 1 "INSERT INTO poolscope.partitions (part, name, pos) VALUES (7, 'acct\$pool', 1), (8, 'acct\$other', 1)"
for row in "7, 's', ${at}1" "7, 's', ${at}2" "7, 'r', ${at}3" "8, 's', ${at}4"; do
	ask 3 "INSERT INTO poolscope.events (hour, node, pos, recv, part, source, ts) VALUES ($hour, 'n1', $pos, ${at}000000000 + 1000000000, ${row}00000000)"
done
ask 3 "INSERT INTO poolscope.commits (tbl, since, pos, entry, at_ns) VALUES ('commit', $pos, $pos, 9, ${at}000000000 + 4000000000)"
ask 1 "INSERT INTO poolscope.samples (hour, part, node, track, ts, v) VALUES ($hour, 7, 'n1', 'cpu', ${at}000000001, [7, 1.5]), ($hour, 7, 'n1', 'cpu', ${at}000000002, [7, 2.5]), ($hour, 7, 'n1', 'load', ${at}000000002, [7, 99])"
ask 1 "INSERT INTO poolscope.entities (part, kind, id, keys, vals) VALUES (7, 'set', 'cpu', ['names'], ['m1 m2'])"
ask 1 "INSERT INTO poolscope.spans (hour, part, node, ts, end_ns, name) SELECT $hour, 7, 'n1', ${at}000000000 + number, ${at}000000000 + number + (number + 1) * 1000000, 'cc' FROM system.numbers LIMIT 100"

# asked: every question, with a pool, a metric group and its second metric, by name.
asked() {
	/usr/bin/python3 "$ROOT/tests/parts/clickhouse_dashboard.py" "$ROOT/deploy/clickhouse/dashboard.json" \
		"http://127.0.0.1:$PORT2" poolscope_reader 'reads!' "$at" "$((at + 600))" \
		'partition=acct$pool' group=cpu metric=m2 span=cc >"$TMP/asked" 2>&1
}
check "rows come to the other replica" wait_until 'asked && ! grep -q ": 0 rows" "$TMP/asked"' 60
check "every question is asked" asked
check_text "... and answered" "" "$(grep -E 'failed|: 0 rows' "$TMP/asked")"
answer() { sed -n "s/^$1: //p" "$TMP/asked"; }
check_text "the pools are offered" '2 rows: {"name": "acct$pool"}' "$(answer partition)"
check_text "... and the metric groups that have samples" '2 rows: {"text": "load"}' "$(answer group)"
check_text "... and its metrics" '2 rows: {"metric": "m2"}' "$(answer metric)"
check_text "events have a rate, by source" \
	'1 rows: {"t": "1500000000000", "groupArray(tuple(source, rate))": [["r", 0.1], ["s", 0.2]]}' \
	"$(answer "Events per second" | sed 's/\[\["s", 0.2\], \["r", 0.1\]\]/[["r", 0.1], ["s", 0.2]]/')"
check_text "a metric has its mean, by node" \
	'1 rows: {"t": "1500000000000", "groupArray(tuple(node, value))": [["n1", 2]]}' "$(answer "A metric by node")"
# Of 1 to 100 ms, between two of them or one of them.
check "spans have percentiles" sh -c 'echo "$1" | grep -q "p50\": 0.05.*p95\": 0.09[56].*p99\": 0.099\|p50\": 0.05.*p95\": 0.09[56].*p99\": 0.1"' - \
	"$(answer "Duration of spans")"
check "... and by name" sh -c 'echo "$1" | grep -q "^1 rows: {\"partition\": \"acct.pool\", \"name\": \"cc\", \"spans\": \"100\", .*\"slowest\": 0.1}$"' - \
	"$(answer "Slowest spans")"
check_text "the archive was 3 s behind" '1 rows: {"t": "1500000000000", "lag": 3}' \
	"$(answer "Seconds from receipt to the archive")"
check "the last commit is known" sh -c 'echo "$1" | grep -q "\"epoch\": 1, \"entry\": \"9\", \"commits\": \"1\", \"last\": \"1500000004000\", \"age_s\": "' - \
	"$(answer Commits)"

# ---- tenants
check "a tenant has an archive" poolscope-archive create --to "$CLUSTER/poolscope_acct" \
	--archive-password "$TMP/writer"
sed "s/HASH-OF-THE-TENANT/$(printf %s mine! | sha256sum | cut -d' ' -f1)/" \
	deploy/clickhouse/poolscope-tenant.xml >"$TMP/ch1/users.d/poolscope-tenant.xml"
tenant() {
	curl -s -m 30 -H 'X-ClickHouse-User: poolscope_acct_reader' -H 'X-ClickHouse-Key: mine!' \
		--data-binary "$1" "http://127.0.0.1:$PORT1/"
}
check "its reader is known after a while" wait_until '[ "$(tenant "SELECT 1")" = 1 ]' 30
check_text "... and reads its records" 0 "$(tenant 'SELECT count() FROM poolscope_acct.events')"
check_text "... but not those of others" "Code: 291" \
	"$(tenant 'SELECT count() FROM poolscope.events' | cut -d, -f1)"
check_text "... also not through a view" "Code: 291" \
	"$(tenant 'SELECT count() FROM poolscope.event' | cut -d, -f1)"
check_text "... and does not see their tables" 0 \
	"$(tenant "SELECT count() FROM system.tables WHERE database = 'poolscope'")"
check_text "... and writes nothing" "Code: 164" \
	"$(tenant 'INSERT INTO poolscope_acct.meta (name) VALUES (1)' | cut -d, -f1)"
