#!/bin/sh
# A broker that names itself, and three that name each other: somebody says that they
# form a circle.  Brokers in a row do not, and records that waited arrive when one of
# the circle leads to an aggregator.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

at() { echo "ipc://$DIR/run/$1.ipc"; }
broker() { start "$1" poolscope-broker --pid-file "$DIR/run/$1.pid" --listen "$(at "$1")" --aggregator "$2"; }
agent() {
	start agent poolscope-agent --dir "$TMP/node" --no-samples --no-clock -n n1 -p 'acct$p' --broker "$1"
}
circle="brokers form a circle"
logged() { cat "$@" | grep -c "$circle"; }

check "a broker that names itself" broker self "$(at self)"
check "an agent of it" agent "$(at self)"
check "an event is accepted" poolscope-emit --dir "$TMP/node" t e1
check "the broker says that it is a circle" wait_until '[ "$(logged "$TMP/self.log")" -eq 1 ]' 30
check "... of which partition, and what to do" grep -q "partition 'acct\$p'.*--aggregator, --route" "$TMP/self.log"
stop agent
stop self

check "three that name each other" broker a "$(at b)"
check "... the second" broker b "$(at c)"
check "... the third" broker c "$(at a)"
check "an agent of one" agent "$(at b)"
check "one of them says so" wait_until '[ "$(logged "$TMP/a.log" "$TMP/b.log" "$TMP/c.log")" -ge 1 ]' 30
check "... at most once a minute each" test "$(logged "$TMP/a.log" "$TMP/b.log" "$TMP/c.log")" -le 3
check "an aggregator" start aggregator poolscope-aggregator --pid-file "$DIR/run/aggregator.pid"
before=$(logged "$TMP/a.log" "$TMP/b.log" "$TMP/c.log")
stop a
check "the circle ends there" broker a "ipc://$DIR/run/intake.ipc"
check "an event goes the whole way" poolscope-emit --dir "$TMP/node" t e2 --wait stored --timeout 60s
names() { poolscope-dump -q -p 'acct$p' --kind event --format jsonl | sed -n 's/.*"name": "\([^"]*\)".*/\1/p' | sort | tr '\n' ' '; }
# The agent asks again after a minute at most.
check "what waited arrives, too" wait_until '[ "$(names)" = "e1 e2 " ]' 90
check_text "three in a row are no circle" "$before" "$(logged "$TMP/a.log" "$TMP/b.log" "$TMP/c.log")"
stop agent
for one in c b a aggregator; do
	stop $one
	check_text "$one ends well" 0 "$STATUS"
done
