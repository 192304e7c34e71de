#!/bin/sh
# Now is 0.  The nodes of a pool, and what is received of them, in this order:
#
#	n1	an event of -7200, then, received later, a span that began at -30
#	n2	a span of -30, then, received later, an event of -7200: it waited in a spool
#	n3	an entity alone: it has no last record
#	n4	a sample of -100000, more than a day ago, and no other
#	n5	two events of one batch, of -20 and of -10
#
# So the last record of n1 is that of -30, of n2 that of -7200, although one of -30 is stored,
# of n5 that of -10, whatever the order in the batch; all were received less than a minute ago.
# n1 and n5 were heard in the last minute.  n2 was received just now, but what it sends was made
# 2 h ago: until it has sent the rest, it was heard then: gone.  n4 is gone, and left out
# when --from asks for a day.  No agent says how much it has not sent: SPOOL is unknown.
#
# Then records of more than 30 hours are deleted, which is the one of n4: that it was the last
# one, and when it was received, stays known.  A dropped partition leaves nothing behind.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate
records <<-'END'
	event -7200 n1 boot:start
	span -30 -20 n2 main work
	entity n3 host h3
	group n4 depth level:1:gauge
	sample -150000 n4 depth 7
	event -10 n5 boot:end
	event -20 n5 boot:start
END
records <<-'END'
	span -30 -20 n1 main work
	event -7200 n2 boot:start
END

# last [OPTION...]: node, state, and how many seconds before now its last record was made; whether
# it was received in the last minute.
last() {
	poolscope nodes --format json --sort node "$@" >"$TMP/nodes"
	/usr/bin/python3 -c 'import datetime, json, sys
def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
base = int(sys.argv[2])
for row in json.load(open(sys.argv[1]))["rows"]:
    age = seconds(row["received"]) - base
    print(row["node"], row["state"], round(seconds(row["last_record"]) - base),
          "now" if -1 <= age < 60 else age)' "$TMP/nodes" "$BASE"
}
WANTED="n1 live -30 now
n2 gone -7200 now
n4 gone -150000 now
n5 live -10 now"
answer "the last records" "$WANTED" last
answer "... of a day" "n1 live -30 now
n2 gone -7200 now
n5 live -10 now" last --from '1 day ago'
answer "... of one node" "n2 gone -7200 now" last -n n2
answer "in CSV" "n2,gone,,none" sh -c "poolscope nodes --format csv -n n2 >'$TMP/csv'
/usr/bin/python3 -c '
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(row[\"node\"], row[\"state\"], row[\"spool_bytes\"], row[\"received\"] and \"none\", sep=\",\")' '$TMP/csv'"
check_status 3 "the table" poolscope nodes
check_printed "... has both times" "^n2 *gone *2.00 h *[0-9.]* m\\?s "
check_text "... and fits 80 columns" 1 "$(awk 'length > 80 { wide = 1 } END { print !wide }' "$TMP/out")"
stop aggregator
check "verify finds nothing" poolscope-admin verify
# shellcheck disable=SC2119 # no arguments
aggregate --retain 30h
no_sample() {
	[ -z "$(poolscope-dump --kind sample)" ]
}
wait_until no_sample 30
answer "what was the last record stays known" "n1 live -30 now
n2 gone -7200 now
n4 gone -150000 now
n5 live -10 now" last --from '2 days ago'
stop aggregator
check "verify finds nothing" poolscope-admin verify
check "all is compacted" poolscope-admin compact
check "... and verify finds nothing" poolscope-admin verify
answer "... which changes nothing" "$WANTED" last --store "$DIR/store"
check "the partition is dropped" poolscope-partitions drop --yes "$PARTITION"
check "... and verify finds nothing" poolscope-admin verify
