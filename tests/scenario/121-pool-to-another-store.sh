#!/bin/sh
# A pool goes to another store while its agent stays.  The first store is dumped and
# imported into the second, the broker leads new records there, and the first is dumped
# and imported once more.
#
# The agent's first step begins and ends before the first dump; the second begins
# after it, still at the first store, and ends at the second.  Four events were
# emitted: the second store has these four, once each, though the agent sends those
# again that its spool still has, and the second dump has them, too.  Both steps are
# whole: 2 pairs, none open.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016,SC2119 # a partition's name
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

second=$TMP/second
aggregate_steps
printf 'poolscope-partitions 1\nversion 1\n*\tipc://%s/run/intake.ipc\n' "$DIR" >"$DIR/partitions"
start broker poolscope-broker || exit 1
start agent poolscope-agent --no-samples -n n1 -p "$PARTITION" || exit 1
for each in start end; do
	check "work:$each at the first store" poolscope-emit work "$each" --wait stored
done
mkdir "$second"
start other poolscope-aggregator --dir "$second" --models "$TMP/models" || exit 1
# import_first: dump the first store, and import it into the second.
import_first() {
	wait_until indexed 30
	poolscope-dump -q --kind event -o "$TMP/dump.jsonl" &&
		poolscope-import records --broker "ipc://$second/run/intake.ipc" "$TMP/dump.jsonl"
}
check "the first store is imported into the second" import_first
check_text "... two events" "2 records, 0 bad lines" "$(cat "$TMP/out")"
check "work:start at the first store" poolscope-emit work start --wait stored
printf 'poolscope-partitions 1\nversion 2\n*\tipc://%s/run/intake.ipc\n' "$second" >"$DIR/partitions.new"
mv "$DIR/partitions.new" "$DIR/partitions"
kill -HUP "$(pid broker)"
wait_until 'grep -q "version 2" "$TMP/broker.log"' 10 || fail "the broker reads the table"
check "work:end at the second" poolscope-emit work end --wait stored
check "the first store is imported once more" import_first
check_text "... three events" "3 records, 0 bad lines" "$(cat "$TMP/out")"
POOLSCOPE_DIR=$second
DIR=$second
wait_until indexed 30
answer "both steps are whole" "2,0" columns count,open_starts poolscope-stats phases --format csv
answer "the four events are there once" "$(printf 'start\nend\nstart\nend')" \
	columns name poolscope-dump --kind event --format csv
stop agent
stop broker
stop other
check "the store is whole" poolscope-admin verify
