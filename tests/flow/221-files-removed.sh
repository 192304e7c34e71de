#!/bin/sh
# Somebody removes or replaces files that a program has open: what it says to
# have kept is there after a restart, nobody gets a store twice, and whoever
# cannot be reached any more makes its socket again or ends with a sentence.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
# shellcheck disable=SC2016 # a partition's name
. "$(dirname "$0")/lib.sh"

agent() {
	start agent poolscope-agent --no-samples --no-clock -p 'acct$pool' -n n1 --drain 10ms \
		--pid-file "$DIR/run/agent.pid" "$@" || exit 1
}
emit() { poolscope-emit -q s "$@"; }
stored() { emit "$1" --wait stored --timeout 2s; }
there() { poolscope-dump -q -p 'acct$pool' --kind event | grep -q "\"name\": \"$1\""; }
# ends NAME FILE WHAT: it ends by itself, with 1, and its log names the file.
ends() {
	wait_until "! kill -0 $(pid "$1")" 20 || {
		fail "$3: $1 ends"
		return
	}
	stop "$1"
	check_text "$3: $1 ends with 1" 1 "$STATUS"
	check "... and says why" grep -q "critical: $2 was removed or replaced while it was in use" "$TMP/$1.log"
	: >"$TMP/$1.log"
}

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
agent
check "the pool works" stored first

# ---- the store
number=0
while read -r file way; do
	number=$((number + 1))
	(cd "$DIR/store" && eval "$way")
	# What is acknowledged until it ends is not known; afterwards all is kept.
	ends aggregator "$DIR/store/$file" "$way"
	check_status 3 "... status is critical" poolscope-stats status
	check_printed "... and says so" '^critical: the aggregator is not running'
	[ ! -f "$DIR/store/aside" ] || mv "$DIR/store/aside" "$DIR/store/$file"
	start aggregator poolscope-aggregator || exit 1
	check "... after the next start records are stored" stored "kept$number"
	check "... and are there" wait_until "there kept$number"
done <<END
[a-z]*/[a-z]*.mdb rm -r tables journal
tables/data.mdb rm tables/data.mdb
journal/data.mdb mv journal/data.mdb aside
tables/lock.mdb rm tables/lock.mdb
journal/lock.mdb mv journal/lock.mdb aside
tables/data.mdb cp -p tables/data.mdb copy && mv copy tables/data.mdb
END
mv "$DIR/store" "$DIR/store.old"
ends aggregator "$DIR/store.*" "the store under another name"
start aggregator poolscope-aggregator || exit 1
check "... after the next start records are stored" stored another

# ---- one store, one aggregator
second() {
	timeout 20 poolscope-aggregator --store "$DIR/store" --listen "ipc://$TMP/in" --reader "ipc://$TMP/out.ipc"
}
check_status 1 "a second aggregator is refused" second
for way in 'rm LOCK' 'echo 1 >other && mv other LOCK' 'rm LOCK && mkdir LOCK && rmdir LOCK'; do
	(cd "$DIR/store" && eval "$way")
	check_status 1 "$way: a second one is refused, too" second
	check_printed "... as one of a store in use" "is in use by"
	check_status 1 "... and so is a compaction" poolscope-admin compact
	check "... the lock is there again" wait_until '[ "$(cat "$DIR/store/LOCK")" = "$(pid aggregator)" ]'
	check "... and the first one goes on" stored "first$number"
done

# ---- sockets and their locks
for each in 'aggregator reader.ipc' 'aggregator intake.ipc' 'broker broker.ipc'; do
	name=${each% *}
	rm "$DIR/run/${each#* }"
	ends "$name" "$DIR/run/${each#* }" "no ${each#* }"
	start "$name" "poolscope-$name" || exit 1
	check "... after the next start all is well" stored "again"
done
rm "$DIR/run/broker.ipc.lock" "$DIR/run/agent.sock.lock" "$DIR/run/agent.pid" "$DIR/run/agent.sock"
check "the agent makes its socket again" wait_until 'emit socket --fallback /dev/null/x'
check "... and its lock" wait_until '[ "$(cat "$DIR/run/agent.sock.lock")" = "$(pid agent)" ]'
check "... and its pid file" wait_until '[ "$(cat "$DIR/run/agent.pid")" = "$(pid agent)" ]'
check "... the broker its lock" wait_until '[ "$(cat "$DIR/run/broker.ipc.lock")" = "$(pid broker)" ]'
check "... and records arrive" stored socket2

# ---- the fallback queue
rm -r "$DIR/fallback"
ends agent "$DIR/fallback/[a-z]*" "no fallback queue"
agent
mv "$DIR/run/agent.sock" "$DIR/run/aside"
check "an event goes past the socket, to the fallback queue" emit past
check "... and arrives" wait_until 'there past' 20

# ---- the spool
stop broker
check "an event is in the spool" emit waits
rm "$DIR/spool/LOCK"
check_status 1 "a second agent is refused without the file, too" timeout 20 poolscope-agent --no-samples \
	--socket "$TMP/other.sock" -p 'acct$pool' -n n2
check_printed "... as one of a spool in use" "another process has it open"
rm -r "$DIR/spool"
_accepted=
for i in 1 2 3 4 5 6 7 8; do emit "spool$i" --fallback /dev/null/x 2>/dev/null && _accepted="$_accepted spool$i"; done
check_text "nothing is accepted into a spool that was removed" "" "$_accepted"
wait_until '! kill -0 "$(pid agent)"' 20 || fail "the agent ends"
stop agent
check "... and the agent says why" grep -q "spool.* removed" "$TMP/agent.log"
start broker poolscope-broker || exit 1
agent
check "... after the next start it accepts records" stored after
stop agent
agent
mv "$DIR/spool" "$DIR/spool.old"
ends agent "$DIR/spool" "the spool under another name"
