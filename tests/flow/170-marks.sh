#!/bin/sh
# Marks of what an archive lacks: a store without one has none; with one it keeps
# them through restarts, backup and restore, and hours wait for the archive before
# they are compacted.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

store=$DIR/store
marks() {
	"$B/flow/marks" "$@"
}
rows() {
	marks "$store" rows "$1"
}
# events FIRST LAST: one of each of these nodes, hours ago.
events() {
	seq "$1" "$2" | awk '{
		printf "{\"PartitionKey\":\"acct$pool\",\"RowKey\":\"%d\",\"Event\":\"work:start\",\"NodeId\":\"n%d\"}\n", 1700000000 + $1, $1 }'
}
begin() {
	start aggregator poolscope-aggregator "$@" && start broker poolscope-broker
}
end() {
	stop broker
	stop aggregator
}

begin --compact-after 1h || exit 1
events 1 500 >"$TMP/first"
check "events come in" poolscope-import -q cascade "$TMP/first"
wait_until indexed 60
end
check_text "without an archive nothing is marked" "0 0" "$(rows marks) $(rows streams)"
check "... and all is compacted" poolscope-admin compact
check_text "... " 0 "$(rows row_blocks)"

check "the store gets an archive" marks "$store" begin
first=$(rows marks)
check "... all that is in it is marked" [ "$first" -gt 500 ]
begin --compact-after 1h || exit 1
events 501 900 >"$TMP/more"
check "more events come in" poolscope-import -q cascade "$TMP/more"
wait_until indexed 60
end
check "what is new is marked, too" [ "$(rows marks)" -gt "$((first + 400))" ]
check "... and how far the streams are" [ "$(rows streams)" -gt 0 ]
check "the store is whole" poolscope-admin verify
chunks=$(rows chunks)
check "compaction" poolscope-admin compact
check "... waits" [ "$(rows row_blocks)" -gt 0 ]
check_text "... with all of it" "$chunks" "$(rows chunks)"

kept=$(rows marks)
check "a backup" poolscope-admin backup "$TMP/backup"
check_text "... has the marks" "$kept" "$(marks "$TMP/backup" rows marks)"

poolscope-dump -q -p 'acct$pool' --format jsonl >"$TMP/before"
begin --compact-after 1s || exit 1
check "when the archive has it all" marks "$store" clear
check "... the hour is compacted" wait_until '[ "$(rows row_blocks)" = 0 ]' 60
end
check_text "... no mark is left of it" 0 "$(rows marks)"
poolscope-dump -q -p 'acct$pool' --format jsonl >"$TMP/after"
check "... and no record is gone" cmp "$TMP/before" "$TMP/after"
check "the store is still whole" poolscope-admin verify

# Who forgets the option must not find a full disk later.
begin --compact-after 1h || exit 1
check_text "a start without the archive warns" 1 \
	"$(grep -c "has an archive, but --archive is not given" "$TMP/aggregator.log" | awk '{ print ($1 > 0) }')"
events 901 1000 >"$TMP/late"
check "more events come in" poolscope-import -q cascade "$TMP/late"
wait_until indexed 60
check_status 1 "the archive is not ended while an aggregator runs" poolscope-admin end-archive
end
check "marks are kept" [ "$(rows marks)" -gt 0 ]
poolscope-dump -q -p 'acct$pool' --format jsonl >"$TMP/before"
check "the archive is ended" poolscope-admin end-archive
check_text "... no mark is left" "0 0" "$(rows marks) $(rows streams)"
check "again, nothing happens" poolscope-admin end-archive
check "compaction does not wait" poolscope-admin compact
check_text "... for anything" 0 "$(rows row_blocks)"
poolscope-dump -q -p 'acct$pool' --format jsonl >"$TMP/after"
check "... and no record is gone" cmp "$TMP/before" "$TMP/after"
check "the store is whole without an archive" poolscope-admin verify
begin || exit 1
check "the same events come in again" poolscope-import -q cascade "$TMP/late"
wait_until indexed 60
end
check_text "what comes later is not marked" 0 "$(rows marks)"
