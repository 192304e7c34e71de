#!/bin/sh
# A pool is imported, dropped as a mistake, and imported again, as it is and with more
# rows: its rows are there.  A pool that was dropped does not come back by a backup and
# its restore.  Agents go on, and what was dropped of theirs does not come again.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

unset POOLSCOPE_PARTITION
# rows PARTITION COUNT: an event each, of 13 nodes.
rows() {
	seq "$2" | awk -v p="$1" '{
		printf "{\"PartitionKey\":\"%s\",\"RowKey\":\"%d\",\"Event\":\"work:e%d\",\"NodeId\":\"n%d\"}\n", p, 1700000000 + $1, $1, $1 % 13 }'
}
events() { poolscope-dump -q -p "$1" --kind event --format jsonl | wc -l; }
names() { poolscope-partitions list --format jsonl | sed -n 's/.*"partition": "\([^"]*\)".*/\1/p' | sort | tr '\n' ' '; }

aggregate || exit 1
start broker poolscope-broker || exit 1
rows 'acct$wrong' 130 >"$TMP/wrong"
rows 'acct$right' 20 >"$TMP/right"
check "an import of two pools" poolscope-import cascade "$TMP/wrong" "$TMP/right"
check_printed "... of 150 rows" "^150 events, 0 bad lines$"
wait_until indexed 30
check_text "... that are there" "130 20" "$(events 'acct$wrong') $(events 'acct$right')"

# Without a terminal it must be confirmed; on one it is asked.
wrong_usage "a drop must be confirmed" "confirm it with --yes" poolscope partition drop 'acct$wrong'
check_text "... and nothing is gone" 130 "$(events 'acct$wrong')"
terminal() { printf '%s\n' "$1" | script -qec "poolscope partition drop 'acct\$wrong'" /dev/null; }
check_status 1 "on a terminal it is asked, and not confirmed" terminal n
check_printed "... what goes is printed" 'acct$wrong of .*: 130 records of 13 nodes? \[y/N\]'
check_printed "... and that nothing went" "nothing was deleted"
check_status 1 "... by nothing" terminal ''
check_text "... nothing is gone" 130 "$(events 'acct$wrong')"
check "... and confirmed" terminal yes
check_printed "... it says what is gone" "was dropped: 130 records of 13 nodes"
check_text "... it is" 'acct$right ' "$(names)"

for round in 1 2; do
	check "the same import ($round)" poolscope-import cascade "$TMP/wrong"
	check_printed "... stores its rows" "^130 events, 0 bad lines$"
	wait_until indexed 30
	check_text "... all of them" 130 "$(events 'acct$wrong')"
	check "... a repetition" poolscope-import cascade "$TMP/wrong" "$TMP/right"
	check_printed "... has all already" "^150 events, 0 bad lines, 150 already there$"
	check "it is dropped" poolscope partition drop --yes 'acct$wrong'
done
check_status 1 "there is nothing more to drop" poolscope partition drop --yes 'acct$wrong'
check_printed "... it says" "has no records of this partition"

# An agent has sent to it, too; its stream goes on.
start agent poolscope-agent --no-samples --no-clock -n n1 -p 'acct$wrong' --retain-bytes 64M || exit 1
check "an event of an agent" poolscope-emit work a1 --wait stored
wait_until indexed 30
check "it is dropped" poolscope partition drop --yes 'acct$wrong'
check_text "... and away" 'acct$right ' "$(names)"
check "a backup" poolscope-admin backup "$TMP/backup"
check "the agent goes on" poolscope-emit work a2 --wait stored
wait_until indexed 30
check_text "... with what comes next" 1 "$(events 'acct$wrong')"
check_text "... without a gap" 0 "$(poolscope-dump -q -p 'acct$wrong' --kind gap --format jsonl | wc -l)"
stop agent
stop broker
stop aggregator
rm -rf "$DIR/store"
check "the backup is restored" poolscope-admin restore "$TMP/backup"
aggregate || exit 1
wait_until indexed 30
check_text "the pool that was dropped does not come back" 'acct$right ' "$(names)"
check_text "... the other is as it was, with the gap of the restore" "20 1" \
	"$(events 'acct$right') $(poolscope-dump -q -p 'acct$right' --kind gap --format jsonl | wc -l)"
check "... which an answer says, as nobody knows how many" poolscope-stats nodes -p 'acct$right'
check_printed "... in words" "^records of this time may be lost (1 gap): "
start broker poolscope-broker || exit 1
check "and the same import" poolscope-import cascade "$TMP/wrong"
check_printed "... stores its rows" "^130 events, 0 bad lines$"
stop broker
stop aggregator
check "the store is whole" poolscope-admin verify
