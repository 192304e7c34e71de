# archive - records a second that the archiver writes until two replicas of each
# shard have them, next to curl, which posts the same blocks and waits for the
# same; and what a record takes there.  Cluster, archiver and curl share the
# machine.
#
#	RUNS=90000 NODES=50 sh tests/bench/archive.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/parts/clickhouse_cluster.sh
. "$(dirname "$0")/../parts/clickhouse_cluster.sh"
if [ ! -x /usr/sbin/clickhouse-server ] && [ ! -x /usr/bin/clickhouse-server ]; then
	echo "SKIPPED archive: make test T=parts installs ClickHouse and ZooKeeper"
	exit 0
fi
cluster_start || exit 1
runs=${RUNS:-90000}
nodes=${NODES:-50}

now() {
	date +%s.%N
}

# archive_as DATABASE: make the tables, start an aggregator that writes there, and
# wait until the archive has everything.
archive_as() {
	poolscope-archive create --quiet --to "$CLUSTER/$1" --archive-password "$TMP/writer" >/dev/null
	start aggregator poolscope-aggregator --archive "$CLUSTER/$1" \
		--archive-password "$TMP/writer" --archive-after 1s
	wait_until 'poolscope stats status --format json --quiet |
		grep -q "\"archive_passes\": [1-9]" &&
		poolscope stats status 2>/dev/null | grep -q "^archive *has everything"' 600
}

# count DATABASE TABLE: the rows of the worse replica of each shard.
count() {
	for _replicas in "1 2" "3 4"; do
		for _replica in $_replicas; do
			ask "$_replica" "SELECT count() FROM $1.$2"
		done | sort -n | head -n 1
	done | awk '{ n += $1 } END { print n }'
}

# bytes DATABASE TABLE: of one copy.
bytes() {
	for _replica in 1 3; do
		ask "$_replica" "SELECT sum(bytes_on_disk) FROM system.parts
			WHERE active AND database = '$1' AND table = '$2'"
	done | awk '{ n += $1 } END { print n }'
}

# by_curl TABLE ROWS: post what the archive has of it, as blocks, to another
# database; prints the seconds.
by_curl() {
	poolscope-archive create --quiet --to "$CLUSTER/limit" --archive-password "$TMP/writer" >/dev/null
	for _shard in 1 3; do
		_at=0
		while :; do
			ask "$_shard" "SELECT * FROM pool.$1 ORDER BY part, hour, node, track, ts, seq, idx
				LIMIT $_at, 250000 FORMAT Native" >"$TMP/block.$_shard.$_at"
			[ -s "$TMP/block.$_shard.$_at" ] || break
			_at=$((_at + 250000))
		done
		rm -f "$TMP/block.$_shard.$_at"
	done
	_begin=$(now)
	for _block in "$TMP"/block.*; do
		_shard=${_block#"$TMP"/block.}
		curl -sS -f -H 'X-ClickHouse-User: poolscope_writer' -H 'X-ClickHouse-Key: writes!' \
			--data-binary "@$_block" \
			"http://127.0.0.1:$(_port_of "${_shard%%.*}")/?query=INSERT%20INTO%20limit.$1%20FORMAT%20Native" ||
			exit 1
	done
	wait_until "[ \"\$(count limit $1)\" = $2 ]" 600
	/usr/bin/python3 -c "print($(now) - $_begin)"
	rm -f "$TMP"/block.*
	poolscope-archive drop --yes --quiet --to "$CLUSTER/limit" --archive-password "$TMP/writer" >/dev/null
}

# report WHAT TABLE VALUES-A-ROW SECONDS
report() {
	_rows=$(count pool "$2")
	_limit=$(by_curl "$2" "$_rows")
	/usr/bin/python3 -c "
rows, values, seconds, limit, size = $_rows, $3, $4, $_limit, $(bytes pool "$2")
print(f'$1: {rows} rows in {seconds:.1f} s: {rows / seconds:,.0f} rows/s, {rows * values / seconds:,.0f} values/s; '
      f'curl {rows / limit:,.0f} rows/s; {size / rows:.1f} bytes a row on 18.16')"
}

# catch_up: seconds until the archive has everything that the store has.
catch_up() {
	_begin=$(now)
	archive_as pool
	/usr/bin/python3 -c "print($(now) - $_begin)"
	stop aggregator
}

echo "-- events of $runs test runs (goal: 300,000 rows/s, half of curl's)"
export POOLSCOPE_DIR="$TMP/events"
DIR=$POOLSCOPE_DIR
start aggregator poolscope-aggregator
wait_until '[ -S "$DIR/run/intake.ipc" ]'
poolscope-generate testrun -q --runs "$runs" --base now -p 'acct$farm' \
	--broker "ipc://$DIR/run/intake.ipc"
wait_until indexed 120
stop aggregator
seconds=$(catch_up)
report events events 1 "$seconds"
poolscope-archive drop --yes --quiet --to "$CLUSTER/pool" --archive-password "$TMP/writer" >/dev/null

echo "-- samples of $nodes nodes, an hour at 1 Hz (goal: 3,000,000 values/s)"
export POOLSCOPE_DIR="$TMP/samples"
DIR=$POOLSCOPE_DIR
"${B:-$ROOT/build}/bench/series" fill "$DIR" "$nodes" 3600
seconds=$(catch_up)
values=$(ask 1 "SELECT sum(length(v)) / count() FROM pool.samples")
report samples samples "$values" "$seconds"
exit 0
