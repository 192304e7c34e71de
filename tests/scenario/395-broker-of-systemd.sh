#!/bin/sh
# A broker that systemd runs has no log in the instance, and when it ends, nothing of it is left:
# `status` knows from the aggregator that it brought batches, and warns.  The aggregator alone, to
# which senders connect directly, misses no broker; neither does one to which a broker of another
# instance is connected.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"
# emit ENDPOINT: one record of now, another one each time.
run=0
emit() {
	run=$((run + 1))
	check "a record through $2" poolscope-generate testrun --runs 1 --first $run --base now -p 'acct$pool' -n n1 --broker "$1" --quiet
	wait_until indexed
}
first() {
	check_text "... in words, first" "$1" "$(head -1 "$TMP/out")"
}
peers() {
	"$ROOT/tests/flow/counters.py" | /usr/bin/python3 -c 'import json, sys
print(json.load(sys.stdin)["aggregator"]["peers"])'
}

# shellcheck disable=SC2119 # no arguments
aggregate
emit "ipc://$DIR/run/intake.ipc" "no broker"
check "a store without a broker" poolscope status
check_printed "... which is listed" "^broker  *not running"

start broker poolscope-broker || exit 1
emit "ipc://$DIR/run/broker.ipc" "the broker"
check "with the broker" poolscope status
stop broker
check_text "nothing of the broker is left" "" "$(find "$DIR" -name '*broker*')"
check "its connection ends" wait_until '[ "$(peers)" = 0 ]'
check_status 3 "the broker has ended" poolscope status
first "warning: the broker is not running, agents that send to it keep their records; poolscope up"

start other poolscope-broker --listen "ipc://$TMP/other.ipc" || exit 1
emit "ipc://$TMP/other.ipc" "a broker that listens elsewhere"
check "... may be the one" poolscope status
stop other
stop aggregator
