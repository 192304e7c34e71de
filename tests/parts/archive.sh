# archive - an aggregator that writes to the archive of a cluster:
#
#	{ archive_cluster && archive_start; } || exit 1
#	load 3			# 3 more runs, each of 10 records
#	settled && judge "after that the archive is the store"
#
# The database is pool; what the aggregator says is in $TMP/aggregator.log.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh

RUNS=0

# aggregator_serve [URL]: start it (again).
aggregator_serve() {
	start aggregator poolscope-aggregator --archive "${1:-$CLUSTER/pool}" \
		--archive-password "$TMP/writer" --archive-after 200ms \
		--models "$ROOT/deploy/models"
}

# archive_cluster: a cluster with ZooKeeper, made of what can be installed.
archive_cluster() {
	. "$ROOT/tests/parts/clickhouse_cluster.sh"
	. "$ROOT/deploy/packages.sh"
	need_packages parts || skip "ClickHouse and ZooKeeper cannot be installed"
	cluster_start
}

# archive_alone: a server of its own in place of a cluster, after clickhouse_server.sh.
archive_alone() {
	. "$ROOT/deploy/packages.sh"
	need_packages parts || skip "ClickHouse cannot be installed"
	unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
	serve_clickhouse ch || exit 1
	printf 's3cret\n' >"$TMP/writer"
	chmod 600 "$TMP/writer"
	CLUSTER=clickhouse://writer@${CLICKHOUSE#http://}
}

# archive_start [URL]: the tables, an aggregator and a broker.
archive_start() {
	poolscope-archive create --to "$CLUSTER/pool" --archive-password "$TMP/writer" \
		>"$TMP/created" 2>&1 || { cat "$TMP/created" && return 1; }
	aggregator_serve "$@" && start broker poolscope-broker
}

# load N: N runs more, in the partition demo$farm.
load() {
	poolscope-generate testrun --runs "$1" --first $RUNS --spacing 1 --base now \
		--seed "${SEED:-7}" -p "demo\$farm" --timeout 120s >"$TMP/load.log" 2>&1
	_status=$?
	RUNS=$((RUNS + $1))
	return $_status
}

# archive_word NAME: what the status says of the archive.
archive_word() {
	"$ROOT/tests/flow/counters.py" >"$TMP/status" 2>/dev/null
	/usr/bin/python3 -c 'import json, sys
def find(of):
    if isinstance(of, dict):
        if sys.argv[2] in of: return of[sys.argv[2]]
        of = list(of.values())
    for each in of if isinstance(of, list) else []:
        found = find(each)
        if found is not None: return found
print(find(json.load(open(sys.argv[1]))))' "$TMP/status" "$1" 2>/dev/null
}

# settled [SECONDS]: everything is indexed, and committed to the archive.
settled() {
	wait_until 'indexed && [ "$(archive_word archive_lag)" = 0 ] &&
		[ "$(archive_word archive_lag_ns)" = 0 ] &&
		[ "$(archive_word archive_failing)" = False ]' "${1:-60}"
}

# judge NAME [SECONDS]: the archive on each replica is the store, soon.
judge() {
	_epoch=$(archive_word archive_epoch)
	if wait_until 'PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 tests/parts/archive_judge.py \
		"$DIR/store" "$TMP/writer" pool "$_epoch" "$PORT1" "$PORT2" "$PORT3" "$PORT4" \
		>"$TMP/judged" 2>&1' "${2:-20}"; then
		pass "$1 ($(tail -n 1 "$TMP/judged"))"
	else
		fail "$1" "$TMP/judged"
	fi
}
