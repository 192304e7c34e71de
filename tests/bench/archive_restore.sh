# archive_restore - a head node is lost that had the test runs of a large farm: how
# long until another one has made a store of the archive, taken over, and acknowledged
# the first batch?  Cluster and programs share the machine.
#
#	RUNS=500000 sh tests/bench/archive_restore.sh
#
# A run has 10 events; rows of keys and values are those of its phases, runs and names.
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
	echo "SKIPPED archive_restore: make test T=parts installs ClickHouse and ZooKeeper"
	exit 0
fi
cluster_start || exit 1
runs=${RUNS:-100000}

archive() {
	_verb=$1
	shift
	poolscope-archive "$_verb" -q --archive-password "$TMP/writer" "$@"
}
head_of() {
	start aggregator poolscope-aggregator --store "$1" --archive "$CLUSTER/pool" \
		--archive-password "$TMP/writer" --models "$ROOT/deploy/models"
}
since() {
	/usr/bin/python3 -c "import sys; print('%.1f' % (float(sys.argv[2]) - float(sys.argv[1])))" "$1" "$(date +%s.%N)"
}

archive create --to "$CLUSTER/pool" >/dev/null
head_of "$DIR/store" && start broker poolscope-broker &&
	start agent poolscope-agent -p 'acct$farm' -n other --no-samples || exit 1
poolscope-generate testrun -q --runs "$runs" --spacing 1 --base now -p 'acct$farm' --timeout 600s || exit 1
wait_until 'indexed && "$ROOT/tests/flow/counters.py" >"$TMP/status" &&
	grep -q "\"archive_lag\": 0," "$TMP/status" && grep -q "\"archive_lag_ns\": 0," "$TMP/status"' 1800
stop aggregator KILL
began=$(date +%s.%N)
archive restore --from "$CLUSTER/pool" "$TMP/second" >"$TMP/out.restore" || exit 1
restored=$(since "$began")
archive takeover --to "$CLUSTER/pool" --store "$TMP/second" >/dev/null || exit 1
head_of "$TMP/second" || exit 1
poolscope-emit test event --wait stored --timeout 60s || exit 1
echo "restored after $restored s, the first batch acknowledged after $(since "$began") s (goal for 10^7 rows: 60 s):"
sed 's/^/  /' "$TMP/out.restore"
