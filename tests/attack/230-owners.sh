#!/bin/sh
# A session belongs to the key and node that began it.  Everybody else sends every
# kind of message under it: other keys of the same partition, other nodes of the
# same key, members of the group on a Unix socket, brokers of other nodes; at the
# aggregator, through a broker, after a rotation, a restart, a restore.  The owner's
# records are all there once, and its acknowledgements are its own.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

export PYTHONDONTWRITEBYTECODE=1
listener=tcp://127.0.0.1:25710 intake=tcp://127.0.0.1:25711
k=$DIR/keys
owners() { SLOW=$SLOW /usr/bin/python3 "$ROOT/tests/attack/owners.py" "$@"; }
{
	poolscope-keys new server --role server
	poolscope-keys new victim -p 'acct$*'
	poolscope-keys new other -p 'acct$*'
	poolscope-keys new front --role broker -p 'acct$*'
	poolscope-keys new side --role broker -p 'acct$*' -n 'n9'
} >/dev/null || exit 1
begin() {
	start aggregator poolscope-aggregator --listen "ipc://$DIR/run/intake.ipc" --listen "$intake" \
		--pid-file "$DIR/run/aggregator.pid" &&
		start broker poolscope-broker --listen "$listener" --listen "ipc://$DIR/run/broker.ipc" \
			--pid-file "$DIR/run/broker.pid"
}
check "an aggregator and a broker, both with keys" begin || exit 1

# strangers WHEN: all of them, for the two sessions of the key and that of a
# local peer without one.
strangers() {
	for session in direct brokered; do
		for at in "$intake" "$listener"; do
			check "$1: another key, the owner's node ($session, $at)" \
				owners stranger "$at" "$k/other.key" n1 "$session"
			check "... another key and node" owners stranger "$at" "$k/other.key" n2 "$session"
			check "... the owner's key, another node" owners stranger "$at" "$k/victim.key" n2 "$session"
		done
		for at in intake broker; do
			check "... a local peer without a key ($at.ipc)" \
				owners stranger "ipc://$DIR/run/$at.ipc" - n1 "$session"
		done
		check "... a broker of other nodes that names the owner" \
			owners stranger "$intake" "$k/side.key" n1 "$session" "$k/victim.key"
		check "... a broker that names another key" \
			owners stranger "$intake" "$k/front.key" n1 "$session" "$k/other.key"
	done
	check "... a key, under the session of a local peer" owners stranger "$intake" "$k/other.key" n1 local
	check "... through the broker" owners stranger "$listener" "$k/other.key" n1 local
	check "... another node of the local peer" owners stranger "ipc://$DIR/run/broker.ipc" - n2 local
	[ "$(id -u)" -eq 0 ] || return 0
	for at in intake broker; do
		check "... another user of the machine ($at.ipc)" \
			owners stranger "ipc://$DIR/run/$at.ipc" - n1 local "" 65534
	done
}

# own FROM TO: the owners go on, the first one each time by the other way.
own() {
	check "the owner of a session goes on ($1 .. $2)" owners goes-on "$3" "$k/victim.key" n1 direct "$1" "$2"
	check "... of the other" owners goes-on "$4" "$k/victim.key" n1 brokered "$1" "$2"
	check "... without a key" owners goes-on "ipc://$DIR/run/$5.ipc" - n1 local "$1" "$2"
}
chmod 0711 "$TMP" "$DIR" "$DIR/run"

own 1 3 "$intake" "$listener" broker
strangers "first"
own 4 4 "$intake" "$listener" broker
own 5 6 "$listener" "$intake" intake

check "the owner's key is rotated" poolscope-keys rotate victim
own 7 7 "$intake" "$listener" broker
check "... the old one goes" poolscope-keys rotate victim --finish
own 8 8 "$listener" "$intake" broker
strangers "after the rotation"

# One line of each key in a minute, however many were refused.
lines=$(grep -c 'forbidden (session)' "$TMP/aggregator.log")
check "the log says it, once for a key" test "$lines" -ge 1 -a "$lines" -le 5
"$ROOT/tests/flow/counters.py" >"$TMP/status"
check "it is counted" /usr/bin/python3 -c 'import json, sys
n = json.load(open(sys.argv[1]))["aggregator:refused"]["forbidden_session"]
assert n >= 500, n' "$TMP/status"

stop broker
stop aggregator
check "they start again" begin
strangers "after a restart"
own 9 9 "$intake" "$listener" broker

check "a backup" poolscope-admin backup "$TMP/backup"
stop broker
stop aggregator
rm -rf "$DIR/store"
check "... is restored" poolscope-admin restore "$TMP/backup"
check "... and served" begin
strangers "after the restore"
own 10 10 "$intake" "$listener" broker

# All that was sent by its owner, once; nothing of the others.
wait_until indexed 20
poolscope-dump -q --kind event -p 'acct$pool' --format jsonl >"$TMP/dump"
check "each record of an owner is there once, no other" /usr/bin/python3 -c 'import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
got = sorted((r["node"], r["name"]) for r in rows)
want = sorted(("n1", "event-%d" % n) for n in range(1, 11) for _ in range(3))
assert got == want, (got, want)' "$TMP/dump"
check_text "no gap but that of the restore" 1 \
	"$(poolscope-dump -q --kind gap -p 'acct$pool' --format jsonl | wc -l)"
stop broker
stop aggregator
check "the store is whole" poolscope-admin verify
