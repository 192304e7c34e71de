#!/bin/sh
# Two aggregators get records of the same new partition at the same moment, while
# inserts take some time: exactly one writes it to the archive, the other one is
# refused by name, and goes on when it has dropped the partition.  After CLAIMS of
# them the archive has each partition from one, and can be read back.  Then ZooKeeper
# loses its data for good: the status says so, and the written way out heals it.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck disable=SC2034 # SEED is of load
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
SEED=${SEED:-$(date +%s)}
CLAIMS=${CLAIMS:-3}
echo "seed $SEED"
archive_cluster || exit 1
proxy=$(free_port)
echo slow >"$TMP/manner"
serve proxy /usr/bin/python3 tests/parts/archive_proxy.py "$proxy" "$PORT1" "$TMP/manner" "$SEED"
through=$(echo "$CLUSTER" | sed "s/:$PORT1/:$proxy/")/pool

# as NAME COMMAND...: with the instance of that head.
as() {
	(
		POOLSCOPE_DIR=$TMP/$1 DIR=$TMP/$1
		shift
		"$@"
	)
}
head_start() {
	mkdir -p "$TMP/$1/run"
	start "$1" poolscope-aggregator --dir "$TMP/$1" --archive "$through" --archive-password "$TMP/writer" \
		--archive-after 100ms --models "$ROOT/deploy/models" &&
		start "$1-broker" poolscope-broker --dir "$TMP/$1"
}
send() { as "$1" poolscope-generate testrun --runs 1 --base now -p "$2" -n "$1" --timeout 60s >"$TMP/$1.sent" 2>&1; }
refused() { [ "$(as "$1" archive_word archive_refused)" = "$2" ]; }
at_rest() { as "$1" settled 1; }
# one_of PARTITION: one has archived all that it has, the other one is refused.
one_of() {
	if refused first True; then
		! at_rest second || { winner=second loser=first && return 0; }
	elif refused second True; then
		! at_rest first || { winner=first loser=second && return 0; }
	fi
	return 1
}

poolscope-archive create --to "$CLUSTER/pool" --archive-password "$TMP/writer" >"$TMP/created" || exit 1
head_start first &
claiming=$!
head_start second && wait $claiming || exit 1
STARTED="$STARTED first first-broker"
round=0 firsts=0
while [ $round -lt "$CLAIMS" ]; do
	round=$((round + 1))
	send first "race\$$round" &
	sending=$!
	send second "race\$$round"
	wait $sending
	wait_until one_of 60 || { fail "one of two is the owner (round $round)" "$TMP/status" && break; }
	[ "$winner" = second ] || firsts=$((firsts + 1))
	grep -q "a partition of this store belongs to another aggregator" "$TMP/$loser.log" ||
		fail "the other one says so"
	as "$loser" poolscope-partitions drop "race\$$round" --yes >"$TMP/dropped" 2>&1 ||
		fail "it drops the partition" "$TMP/dropped"
	wait_until "refused $loser False && at_rest $loser" 60 || fail "... and goes on" "$TMP/status"
done
check_text "$CLAIMS times one of two was the owner (the first one $firsts times)" "$CLAIMS" "$round"
# whole: which partitions are not from one of them, as readers see it.
whole() {
	for _each in $(seq "$round"); do
		_has=$(poolscope-dump -q -p "race\$$_each" --kind event --format jsonl --connect "$CLUSTER/pool" \
			--archive-password "$TMP/writer" | sed -n 's/.*"node": "\([a-z]*\)".*/\1/p' | sort | uniq -c |
			sed 's/^ *//' | paste -sd,)
		case $_has in
		"10 first" | "10 second") ;;
		*) echo "race\$$_each: $_has" ;;
		esac
	done
}
check_text "readers have each partition from one of them, whole" "" "$(whole)"
check_text "both are owners" "ok ok" "$(poolscope-archive owners --to "$CLUSTER/pool" --archive-password "$TMP/writer" \
	--format jsonl | sed -n 's/.*"state": "\([a-z ]*\)".*/\1/p' | paste -sd' ')"

# ---- deploy/clickhouse/README.md, "ZooKeeper's data was lost"
stop zookeeper KILL
rm -rf "$TMP/zookeeper"
zookeeper_serve || exit 1
check "without its data records are taken" send first 'race$1000'
check "... and the status says what to do" wait_until \
	'as first archive_word archive_problem | grep -q "ZooKeeper has lost the tables.*deploy/clickhouse/README.md"' 90
mkdir "$TMP/aside"
for n in 1 2 3 4; do
	stop ch$n KILL
	mkdir "$TMP/aside/$n"
	mv "$TMP/ch$n/data/data/pool" "$TMP/aside/$n/data"
	mv "$TMP/ch$n/data/metadata/pool" "$TMP/ch$n/data/metadata/pool.sql" "$TMP/aside/$n"
	cluster_serve $n || exit 1
done
check "the tables are made again" poolscope-archive create --to "$CLUSTER/pool" --archive-password "$TMP/writer"
check "the first one sends all that it has" wait_until 'at_rest first' 90
check "... and the second one" wait_until 'at_rest second' 90
check_text "readers have each partition again" "" "$(whole)"
check "nothing must be done" poolscope-archive check --to "$CLUSTER/pool" --archive-password "$TMP/writer"
