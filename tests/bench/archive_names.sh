# archive_names - a pool of very many nodes, each of which sends a batch every 10 s:
# does the memory of an aggregator with an archive stay as it is, does it lose
# nothing, and how many times as fast as the pool can time go?  Cluster and programs
# share the machine.
#
#	NAMES=100000 SECONDS_OF_POOL=3600 SPEED=10 sh tests/bench/archive_names.sh
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
	echo "SKIPPED archive_names: make test T=parts installs ClickHouse and ZooKeeper"
	exit 0
fi
cluster_start || exit 1
names=${NAMES:-100000}
seconds=${SECONDS_OF_POOL:-600}
speed=${SPEED:-10}

poolscope-archive create --quiet --to "$CLUSTER/pool" --archive-password "$TMP/writer" >/dev/null
start aggregator poolscope-aggregator --archive "$CLUSTER/pool" --archive-password "$TMP/writer" || exit 1
start broker poolscope-broker || exit 1
# Every 10 s: resident memory without files in MiB, and descriptors, of both.
(
	while sleep 10; do
		for each in aggregator broker; do
			_pid=$(cat "$TMP/$each.pid")
			printf '%s %d MiB %d descriptors  ' "$each" \
				"$(($(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$_pid/status") / 1024))" \
				"$(find "/proc/$_pid/fd" | wc -l)"
		done
		date +%T
	done
) >"$TMP/watch" 2>&1 &
watching=$!
part=$((names / 8 - names / 8 % 16)) # of each of 8 processes, for 16 senders
senders=
for i in 0 1 2 3 4 5 6 7; do
	"${B:-$ROOT/build}/bench/archive_names" $((i * part)) $part "$seconds" "$speed" "$DIR" >"$TMP/sent.$i" &
	senders="$senders $!"
done
for sender in $senders; do
	wait "$sender" || exit 1
done
sort -n "$TMP"/sent.* | tail -n 1
began=$(date +%s)
until "$ROOT/tests/flow/counters.py" >"$TMP/status" &&
	grep -q '"archive_lag": 0,' "$TMP/status" && grep -q '"archive_lag_ns": 0' "$TMP/status"; do
	sleep 1
done
kill $watching
echo "archived $(($(date +%s) - began)) s later; memory and descriptors meanwhile:"
awk 'NR % 6 == 1 || NR < 4 { print "  " $0 } { last = $0 } END { print "  " last }' "$TMP/watch"
wanted=$((8 * part * (seconds / 10)))
stored=$(poolscope-stats pools -q --format jsonl | sed -n 's/.*"samples": \([0-9]*\).*/\1/p')
for replicas in "1 2" "3 4"; do
	for replica in $replicas; do
		ask "$replica" "SELECT count() FROM (SELECT DISTINCT part, hour, node, track, ts, stream, seq, idx FROM pool.samples)"
	done | xargs
done >"$TMP/counts"
echo "of $wanted samples the store has $stored; replicas of each shard: $(tr '\n' ';' <"$TMP/counts")"
