#!/bin/sh
# The disk of a head node is lost while 100 agents send: kill -9, and its directory
# is removed at once.  A store is made of the archive, takes over and goes on at the
# same places.  HEADS (2) times, every second time with a replica that is lost at
# the same moment.  In the end each event is there once.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/clickhouse_cluster.sh
. "$(dirname "$0")/clickhouse_cluster.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "ClickHouse and ZooKeeper cannot be installed"
rounds=${HEADS:-2}
agents=${AGENTS:-100}
SEED=${SEED:-$(date +%s)}
echo "seed $SEED, $rounds rounds"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
cluster_start || exit 1

archive() {
	_verb=$1
	shift
	poolscope-archive "$_verb" --archive-password "$TMP/writer" "$@"
}

# head STORE: the aggregator of that store.
head_of() {
	start aggregator poolscope-aggregator --store "$1" --archive "$CLUSTER/pool" \
		--archive-password "$TMP/writer" --archive-after 200ms --models "$ROOT/deploy/models"
}

# dump OPTION...: events and gaps.
dump() {
	# shellcheck disable=SC2016 # the $ is a partition's
	poolscope-dump -q -p 'fault$pool' --kind event,gap --format jsonl "$@"
}

judged() {
	/usr/bin/python3 tests/parts/head_lost.py judge "$TMP/ledger" "$TMP/dump" >"$TMP/judged"
}

# once NAME OPTION...: each event is there once.
once() {
	_name=$1
	shift
	dump "$@" >"$TMP/dump" || fail "$_name is read"
	if judged; then
		pass "$_name has each event once ($(head -n 1 "$TMP/judged"))"
	else
		fail "$_name has each event once" "$TMP/judged"
	fi
}

# Which replica is lost in a round, 0: none, and ms until the loss.
/usr/bin/python3 -c 'import random, sys
pick = random.Random(int(sys.argv[1]))
for i in range(int(sys.argv[2])):
    print(i + 1, pick.randint(1, 4) if i % 2 else 0, pick.randrange(3000, 7000))' "$SEED" "$rounds" >"$TMP/plan"

check "the tables are made" archive create --to "$CLUSTER/pool"
{ head_of "$TMP/store0" && start broker poolscope-broker; } || exit 1
for i in $(seq 0 $((agents - 1))); do
	mkdir -p "$TMP/agents/$i/run"
	# shellcheck disable=SC2016 # the $ is a partition's
	start "agent$i" poolscope-agent --dir "$TMP/agents/$i" --no-samples -p 'fault$pool' \
		-n "n$i" --broker "ipc://$DIR/run/broker.ipc" || exit 1
done
pass "$agents agents run"
touch "$TMP/loading"
/usr/bin/python3 tests/parts/head_lost.py load "$TMP/agents" "$agents" "$SEED" \
	"$TMP/loading" "$TMP/ledger" >"$TMP/load.log" 2>&1 &
loading=$!

while read -r round replica ms; do
	sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
	lag=$(archive_word archive_lag_ns)
	stop aggregator KILL
	rm -r "$TMP/store$((round - 1))"
	[ "$replica" = 0 ] || stop "ch$replica" KILL
	began=$(date +%s%N)
	check "round $round: a store is made of the archive" \
		archive restore --from "$CLUSTER/pool" "$TMP/store$round"
	check "... takes over" archive takeover --to "$CLUSTER/pool" --store "$TMP/store$round"
	check "... and goes on" head_of "$TMP/store$round" || exit 1
	echo "replica $replica away, archive $((${lag:-0} / 1000000)) ms behind, $((($(date +%s%N) - began) / 1000000)) ms without a head"
	[ "$replica" = 0 ] || cluster_serve "$replica" || cluster_serve "$replica" || exit 1
done <"$TMP/plan"
sleep 3
rm "$TMP/loading"
wait $loading || fail "records were sent all the time" "$TMP/load.log"
cat "$TMP/load.log"
check "all of them arrive" wait_until 'dump >"$TMP/dump" && judged' 60
check "... and are archived" settled 60
once "the aggregator"
once "the archive" --connect "$CLUSTER/pool" --archive-password "$TMP/writer"
stop broker
stop aggregator
check "every row of the store is right" poolscope-admin verify --store "$TMP/store$rounds"
once "the store" --store "$TMP/store$rounds"
# Rows of passes that a lost head did not finish are there, too: they do not count.
check "every replica has the records of the store, and no others that count" \
	archive verify --to "$CLUSTER/pool" --store "$TMP/store$rounds"
for each in 1 2 3 4; do
	stop ch$each KILL
	: >"$TMP/ch$each.log"
done
