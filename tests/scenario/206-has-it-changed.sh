#!/bin/sh
# Two pools of one store send batches in turns; the journal numbers them 1, 2, ...
#
#	1	acct$pool	two events
#	2	acct$other	one event
#	3	acct$pool	one event
#	4	acct$other	one event
#	5	acct$other	one event
#
# The last entry of a pool is that of its last batch: what others send does not change it.  It
# stays when all is compacted or derived again.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2016 # a partition's name
MINE=$PARTITION OTHER='acct$other'
# last [OPTION...]: the last entries of both pools.
last() {
	"$ROOT/tests/flow/counters.py" "$@" >"$TMP/status"
	/usr/bin/python3 -c 'import json, sys
pools = json.load(open(sys.argv[1]))["partitions"]
print(*[pools[name]["last_entry"] if name in pools else "-" for name in sys.argv[2:]])' \
		"$TMP/status" "$MINE" "$OTHER"
}
# in_pool NAME: send the records of standard input to this pool.
in_pool() {
	PARTITION=$1
	records
}

# shellcheck disable=SC2119 # no arguments
aggregate
in_pool "$MINE" <<-'END'
	event 1 n1 work:start
	event 2 n1 work:end
END
answer "one pool" "1 -" last
echo "event 3 n1 work:start" | in_pool "$OTHER"
answer "another pool is no change" "1 2" last
echo "event 4 n1 work:start" | in_pool "$MINE"
answer "a change" "3 2" last
echo "event 5 n1 work:start" | in_pool "$OTHER"
echo "event 6 n1 work:end" | in_pool "$OTHER"
answer "changes of the other one" "3 5" last
stop aggregator
check "verify finds nothing" poolscope-admin verify
check "all is compacted" poolscope-admin compact
check "all is derived again" poolscope-admin rebuild
answer "... which changes nothing" "3 5" last --store "$DIR/store"
