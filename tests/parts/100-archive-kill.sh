#!/bin/sh
# kill -9 of the aggregator, a replica, or ZooKeeper, while records arrive: what
# was killed comes back soon or late, and others are killed meanwhile.  After the
# last of KILLS (20) the archive on each replica is the store.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
rounds=${KILLS:-20}
SEED=${SEED:-$(date +%s)}
echo "seed $SEED, $rounds rounds"
{ archive_cluster && archive_start; } || exit 1

# Who dies, after how many ms, and for how many rounds it stays away.
/usr/bin/python3 -c 'import random, sys
pick = random.Random(int(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    print(pick.choice(["aggregator"] * 5 + ["ch1", "ch2", "ch3", "ch4"] + ["zookeeper"] * 2),
          pick.randrange(1000), pick.choice([0, 0, 1, 2]))' "$SEED" "$rounds" >"$TMP/plan"

# A replica may end, or stand still for good, because ZooKeeper ends while it starts: then it is
# started again later.  If ZooKeeper does not know most rows that it has of a table, it starts with
# a flag only (deploy/clickhouse/operate.md).
serve_again() {
	case $1 in
	aggregator) aggregator_serve ;;
	zookeeper) zookeeper_serve ;;
	*) serve "$1" clickhouse-server "--config-file=$TMP/$1/config.xml" ;;
	esac
}

# Load until the file is removed.
touch "$TMP/loading"
(
	trap - EXIT
	while [ -e "$TMP/loading" ]; do
		load 5 || echo "a load failed" >>"$TMP/loads.failed"
		echo $RUNS >"$TMP/loads"
	done
) &
loading=$!

all="aggregator zookeeper ch1 ch2 ch3 ch4"
round=0
while read -r who ms later; do
	sleep "$(printf '0.%03d' "$ms")"
	alive "$who" && stop "$who" KILL
	eval "back_$who=$((round + later))"
	for each in $all; do
		back=$(eval "echo \${back_$each:-0}")
		alive "$each" || [ "$back" -gt "$round" ] || serve_again "$each" || exit 1
	done
	round=$((round + 1))
done <"$TMP/plan"
for each in zookeeper ch1 ch2 ch3 ch4 aggregator; do
	alive "$each" || serve_again "$each" || exit 1
done
# Each load is a session: in the time in which one that stands still is noticed, there would be
# more new ones than an aggregator takes in an hour.
rm "$TMP/loading"
wait $loading
check "records were sent all the time" test "$(cat "$TMP/loads")" -gt 4
check "... and accepted" test ! -e "$TMP/loads.failed"
for each in 1 2 3 4; do
	answers "http://127.0.0.1:$(_port_of $each)/ping" ch$each 15 >"$TMP/slow" ||
		cluster_serve $each || { touch "$TMP/ch$each/data/flags/force_restore_data" && cluster_serve $each; } || exit 1
done
check "after $rounds kills it settles" settled 45
judge "the archive is the store"
check "... also after one more start" stop aggregator
check "... of the aggregator" aggregator_serve
load 1
check "what comes then is archived too" settled 45
judge "the archive is the store again"
# ClickHouse 18 may abort while it starts; that is not our memory error.
for each in 1 2 3 4; do
	stop ch$each KILL
	: >"$TMP/ch$each.log"
done
