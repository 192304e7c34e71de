#!/bin/sh
# What an archiver meets: connections that are cut, bad answers, a replica that is
# frozen or lost, ZooKeeper without its data, no cluster, another aggregator with
# the same partition.  Intake goes on, each has one sentence, and after it the
# archive on each replica is the store.  FAULTS=all: also those that take a minute
# each.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2034 # SEED is of load
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
SEED=${SEED:-$(date +%s)}
FAULTS=${FAULTS:-some}
echo "seed $SEED"
archive_cluster || exit 1

# Replica 1 is behind a proxy, for the aggregator.
proxy=$(free_port)
manner() {
	echo "$1" >"$TMP/manner.new"
	mv "$TMP/manner.new" "$TMP/manner"
}
manner pass
serve proxy /usr/bin/python3 tests/parts/archive_proxy.py "$proxy" "$PORT1" "$TMP/manner" "$SEED"
through=$(echo "$CLUSTER" | sed "s/:$PORT1/:$proxy/")/pool
archive_start "$through" || exit 1
check "records are sent" load 2
check "... and committed" settled
judge "the archive is the store"

# logged PATTERN: has the aggregator logged it since the last `listen`?
listen() {
	before=$(wc -l <"$TMP/aggregator.log")
}
logged() {
	tail -n +$((before + 1)) "$TMP/aggregator.log" | grep -q -e "$1"
}
errors() {
	tail -n +$((before + 1)) "$TMP/aggregator.log" | grep -c ' error '
}

# metric NAME VALUE: poolscope_archive_NAME has it.
metric() {
	poolscope-stats metrics --quiet >"$TMP/metrics" &&
		/usr/bin/python3 tests/attack/metrics.py "$TMP/metrics" &&
		grep -q "^poolscope_archive_$1{place=\".*\"} $2\$" "$TMP/metrics"
}

# replicas CONDITION: is it true of the change c that each of them has, and of the one that
# is committed?
replicas() {
	"$ROOT/tests/flow/counters.py" >"$TMP/status"
	/usr/bin/python3 - "$TMP/status" "$@" <<'END'
import json, sys
have, committed, found = [], [], json.load(open(sys.argv[1]))
def walk(of):
    for name, value in of.items() if isinstance(of, dict) else enumerate(of):
        if isinstance(value, (dict, list)):
            walk(value)
        elif str(name).startswith("archive_replica:"):
            have.append(value)
        elif name == "archive_change":
            committed.append(value)
walk(found)
assert len(have) == 4 and len(committed) == 1, (have, committed)
print(all(eval(sys.argv[2], {"c": c, "committed": committed[0]}) for c in have))
END
}
check_text "each of the four replicas has what is committed" True "$(replicas "c == committed > 0")"

# 15 bits of bytes: within requests, blocks and answers.
manner cuts
for _ in 1 2 3 4 5; do
	load 2 || fail "records are sent while connections are cut"
	sleep 0.5
done
check "many connections were cut" wait_until '[ "$(grep -c ^cut "$TMP/proxy.log")" -ge 4 ]' 60
echo "cut: $(grep -c 'cut asked' "$TMP/proxy.log") when asking, $(grep -c 'cut answered' "$TMP/proxy.log") when answering"
manner pass
check "with whole connections it settles" settled
check "the metrics have no lag" metric lag_batches 0
judge "no block is there in part, no row twice"

kinds="exception half"
[ "$FAULTS" = some ] || kinds="$kinds garbage redirect nothing"
for how in $kinds; do
	listen
	manner "$how"
	check "with answers of the kind $how records are taken" load 1
	check "... the status says that it fails" wait_until '[ "$(archive_word archive_failing)" = True ]' 90
	check "... and so do the metrics" metric failing 1
	check "... it was because of them" grep -q "bad $how" "$TMP/proxy.log"
	check "... there is a sentence" logged "127.0.0.1:$proxy\|shard 1"
	check "... and not one a second" test "$(errors)" -le 4
	manner pass
	check "... and it recovers" settled
done
judge "nothing of the bad answers stays"

# Another aggregator has the same partition.
first=$POOLSCOPE_DIR
POOLSCOPE_DIR=$TMP/second
mkdir -p "$POOLSCOPE_DIR/run"
rows_of="SELECT count() FROM pool.names WHERE name = 'second'"
start second poolscope-aggregator --archive "$CLUSTER/pool" \
	--archive-password "$TMP/writer" --archive-after 200ms &&
	start second_broker poolscope-broker || exit 1
check "the second one has records of the partition" poolscope-generate testrun --runs 1 --first 90000 --base now -p "demo\$farm" -n second --timeout 30s
check "... and its status says that it is refused" wait_until '[ "$(archive_word archive_refused)" = True ]' 90
check "... as do its metrics" metric refused 1
check "... as does its log" grep -q "a partition of this store belongs to another aggregator" "$TMP/second.log"
stop second
stop second_broker
POOLSCOPE_DIR=$first
check_text "nothing of it is in the archive" "0 0 0 0" \
	"$(for n in 1 2 3 4; do ask $n "$rows_of"; done | paste -sd' ')"
check "the first one is not disturbed" load 1
check "... as the archive settles" settled
judge "... and is the store"

slow() {
	# A replica that is frozen: the kernel still takes connections to it.
	listen
	kill -STOP "$(pid ch3)"
	check "with a frozen replica records are taken" load 2
	sleep 20
	check "... the status says that it fails" wait_until '[ "$(archive_word archive_failing)" = True ]' 90
	check "... in a sentence with the shard" logged "shard 2"
	check "... readers are answered" "$ROOT/tests/flow/counters.py"
	kill -CONT "$(pid ch3)"
	check "it settles when the replica goes on" settled
	judge "... and nothing is lost"

	# A replica whose disk was lost comes back under a new name.
	stop ch2 KILL
	check "with a replica away records are taken" load 1
	rm -rf "$TMP/ch2/data"
	mkdir -p "$TMP/ch2/data/tmp"
	sed -i 's/r2</r5</' "$TMP/ch2/config.d/macros.xml"
	cluster_serve 2 || exit 1
	check "a new replica gets its tables" poolscope-archive create --to "$CLUSTER/pool" --archive-password "$TMP/writer"
	check "... and it settles" settled
	judge "... with all that the lost one had"

	# ZooKeeper loses its data, which come back.
	listen
	stop zookeeper KILL
	mv "$TMP/zookeeper" "$TMP/zookeeper.kept"
	zookeeper_serve || exit 1
	check "with an empty ZooKeeper records are taken" load 1
	check "... the status says that it fails" wait_until '[ "$(archive_word archive_failing)" = True ]' 90
	check "... in a sentence" logged "127.0.0.1:.*exception\|shard"
	check "... and not one a second" test "$(errors)" -le 4
	stop zookeeper KILL
	rm -rf "$TMP/zookeeper"
	mv "$TMP/zookeeper.kept" "$TMP/zookeeper"
	zookeeper_serve || exit 1
	check "it settles when the data are back" settled
	judge "... and nothing is lost"
}
[ "$FAULTS" = some ] || slow

# The cluster is away while much arrives.
away=$(date +%s%N)
for n in 1 2 3 4; do stop ch$n KILL; done
check "without a cluster 50,000 records are taken" load 5000
check "... and indexed" wait_until indexed 180
check "... and the status says since when nothing was written" wait_until '[ "$(archive_word archive_failing)" = True ] &&
	[ "$(archive_word archive_failing_since_ns)" -gt "$away" ]' 60
for n in 1 3 4; do cluster_serve $n || exit 1; done
check "with a replica away what is sent has one copy" wait_until '[ "$(archive_word archive_one_copy)" = True ]' 90
check "... waits" test "$(archive_word archive_records_pending)" -gt 0
check_text "... and not every replica has it" False "$(replicas "c > committed")"
cluster_serve 2 || exit 1
began=$(date +%s%N)
check "it catches up" settled
check_text "each replica has what is committed again" True "$(replicas "c == committed")"
echo "caught up with 50,000 records in $((($(date +%s%N) - began) / 1000000)) ms"
judge "... and the archive is the store"
for each in 1 2 3 4; do
	stop ch$each KILL
	: >"$TMP/ch$each.log"
done
