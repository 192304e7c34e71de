#!/bin/sh
# A cluster that is away for long: the store deletes nothing that the archive lacks,
# until it is full.  Then senders wait and agents keep what they accept in their
# spools.  When the cluster is back, the archive gets everything, the store deletes
# what it should, agents send, and each event is there once.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
agents=8
SEED=${SEED:-$(date +%s)}
echo "seed $SEED"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
archive_cluster || exit 1

# Room for some ten thousand events; what is above 2 MiB may be deleted.
aggregator_serve() {
	start aggregator poolscope-aggregator --archive "$CLUSTER/pool" --archive-after 200ms \
		--archive-password "$TMP/writer" --models "$ROOT/deploy/models" \
		--map-bytes 12MiB --retain-bytes 2MiB --journal-bytes 4MiB --compact-after 1s
}
# word NAME VALUE: the status has it.
word() {
	[ "$(archive_word "$1")" = "$2" ]
}
# dump OPTION...: events and gaps.
dump() {
	# shellcheck disable=SC2016 # the $ is a partition's
	poolscope-dump -q -p 'fault$pool' --kind event,gap --format jsonl "$@"
}
# waiting NUMBER: agents have at least NUMBER batches that nobody acknowledged.
waiting() {
	for _i in $(seq 0 $((agents - 1))); do
		poolscope-spool ls "$TMP/agents/$_i/spool" --format json || return 1
	done >"$TMP/spools"
	grep -q '"acknowledged"' "$TMP/spools" || return 1
	/usr/bin/python3 -c 'import json, sys
text, left, at = open(sys.argv[1]).read(), 0, 0
while text[at:].strip():
    found, at = json.JSONDecoder().raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
    left += sum((s["last"] or 0) - s["acknowledged"] for s in found["streams"])
print(left, "batches wait")
sys.exit(left < int(sys.argv[2]))' "$TMP/spools" "$1"
}
judged() {
	/usr/bin/python3 tests/parts/head_lost.py judge "$TMP/ledger" "$TMP/dump" >"$TMP/judged"
}

archive_start || exit 1
for i in $(seq 0 $((agents - 1))); do
	mkdir -p "$TMP/agents/$i/run"
	# shellcheck disable=SC2016 # the $ is a partition's
	start "agent$i" poolscope-agent --dir "$TMP/agents/$i" --no-samples -p 'fault$pool' \
		-n "n$i" --broker "ipc://$DIR/run/broker.ipc" || exit 1
done
began=$(date +%s)
touch "$TMP/loading"
/usr/bin/python3 tests/parts/head_lost.py load "$TMP/agents" "$agents" "$SEED" \
	"$TMP/loading" "$TMP/ledger" >"$TMP/load.log" 2>&1 &
loading=$!
# first OPTION...: the number of events of the first minute.
first() {
	dump --to 2023-11-14T22:14:20Z "$@" | wc -l
}
check "the first events are stored" wait_until '[ "$(first)" -gt 0 ]' 60
check "... and deleted, when they are archived" wait_until '[ "$(first --store "$DIR/store")" = 0 ]' 120
echo "after $(($(date +%s) - began)) s"
for n in 1 2 3 4; do stop ch$n KILL; done
check "without a cluster the store becomes full" wait_until 'word full True' 120
echo "after $(($(date +%s) - began)) s"
check "... because of the archive, as the status says" word archive_failing True
# More than what finds room when the store is compacted once more.
check "... and agents keep what it has no room for" wait_until 'waiting 2000' 120
rm "$TMP/loading"
wait $loading || fail "records were sent all the time" "$TMP/load.log"
cat "$TMP/load.log"
check "agents accept all that comes" grep -q " 0 not answered, 0 puts refused" "$TMP/load.log"
check "... and keep it" waiting 1
check "readers of the store are answered" dump --store "$DIR/store"
check_status 1 "... but of what it has deleted, only the archive knows" dump
check_printed "... which is printed" "refused: .*127.0.0.1"

for n in 1 2 3 4; do cluster_serve $n || cluster_serve $n || exit 1; done
began=$(date +%s)
check "with a cluster the store has room again" wait_until 'word full False' 120
echo "after $(($(date +%s) - began)) s"
check "... and everything arrives" wait_until 'dump --connect "$CLUSTER/pool" \
	--archive-password "$TMP/writer" >"$TMP/dump" && judged' 120
cat "$TMP/judged"
check "... is archived" settled 90
echo "caught up in $(($(date +%s) - began)) s"
check "... and is there once, as the aggregator says" wait_until 'dump >"$TMP/dump" && judged' 60
check "every row of it is right" poolscope-admin verify
for each in 1 2 3 4; do
	stop ch$each KILL
	: >"$TMP/ch$each.log"
done
