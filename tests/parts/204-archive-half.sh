#!/bin/sh
# A head is lost while the archive has records of passes that were not committed: a
# replica was away, so they had too few copies.  Their senders send them again to the
# store that is made of the archive, so it must not have them yet.  In the end each event
# is there once, in statistics and test runs, too.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
SEED=${SEED:-$(date +%s)}
echo "seed $SEED"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
{ archive_cluster && archive_start; } || exit 1

archive() {
	_verb=$1
	shift
	poolscope-archive "$_verb" --archive-password "$TMP/writer" "$@"
}

# both SQL: the sum of what a replica of each shard answers.
both() {
	echo $(($(ask 1 "$1") + $(ask 3 "$1")))
}

# once OPTION...: each event is there once.
once() {
	# shellcheck disable=SC2016 # the $ is a partition's
	poolscope-dump -q -p 'fault$pool' --kind event,gap --format jsonl "$@" >"$TMP/dump" &&
		/usr/bin/python3 tests/parts/head_lost.py judge "$TMP/ledger" "$TMP/dump" >"$TMP/judged"
}

for i in 0 1 2 3; do
	mkdir -p "$TMP/agents/$i/run"
	# shellcheck disable=SC2016 # the $ is a partition's
	start "agent$i" poolscope-agent --dir "$TMP/agents/$i" --no-samples -p 'fault$pool' \
		-n "n$i" --broker "ipc://$DIR/run/broker.ipc" || exit 1
done
touch "$TMP/loading"
/usr/bin/python3 tests/parts/head_lost.py load "$TMP/agents" 4 "$SEED" \
	"$TMP/loading" "$TMP/ledger" >"$TMP/load.log" 2>&1 &
loading=$!
check "some events are committed" wait_until '[ "$(both "SELECT sum(rows) FROM pool.commits")" -gt 300 ]' 60

stop ch2 KILL
# What comes from now on has one copy in its shard.
# shellcheck disable=SC2034 # used in the condition
before=$(both "SELECT count() FROM pool.events")
check "others come, and are not" wait_until '[ "$(both "SELECT count() FROM pool.events")" -gt $((before + 300)) ]' 60
stop aggregator KILL
rm -r "$DIR/store"
cluster_serve 2 || exit 1
check "a store is made of the archive" archive restore --from "$CLUSTER/pool" "$DIR/store"
check "... whose rows are right" poolscope-admin verify --store "$DIR/store"
check "... takes over" archive takeover --to "$CLUSTER/pool" --store "$DIR/store"
check "... and goes on" aggregator_serve || exit 1
rm "$TMP/loading"
wait $loading || fail "records were sent all the time" "$TMP/load.log"
cat "$TMP/load.log"
check "each event arrives, once" wait_until once 60
cat "$TMP/judged"
check "... and is archived" settled 60
check "... once" once --connect "$CLUSTER/pool" --archive-password "$TMP/writer"
stop broker
stop aggregator
check "statistics are those of the events" poolscope-admin verify --store "$DIR/store"
check "every replica has the records of the store" \
	archive verify --to "$CLUSTER/pool" --store "$DIR/store"
