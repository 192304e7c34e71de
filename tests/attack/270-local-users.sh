#!/bin/sh
# What a user of the machine may try at an agent that others use, too: be
# another, fill the agent's own metric groups, hold its socket, block its
# fallback queue.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	echo "not root: other users cannot be tried"
	exit 0
fi
SOCK=$DIR/run/agent.sock
new=$DIR/fallback/new

agent() { # agent [OPTION...]: its socket and queue are open to all
	start agent poolscope-agent --no-samples --no-clock --broker "ipc://$DIR/run/intake.ipc" \
		-p acct/pool -n node1 "$@" || exit 1
	chmod 755 "$TMP"
	chmod 711 "$DIR" "$DIR/run" "$DIR/fallback"
	chmod 666 "$SOCK"
	chmod 3777 "$new" "$DIR/fallback/tmp"
}
# as UID COMMAND...
as() {
	_uid=$1
	shift
	setpriv --reuid "$_uid" --regid "$_uid" --clear-groups env HOME=/nonexistent "$@"
}
user() { # user UID ARGUMENT...: tests/attack/local_users.py
	_uid=$1
	shift
	as "$_uid" env PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$TMP/local_users/attack/local_users.py" "$@"
}
# Others may not reach the tree.
mkdir -p "$TMP/local_users/attack" "$TMP/local_users/fault" "$TMP/local_users/flow"
cp "$ROOT/tests/attack/local_users.py" "$TMP/local_users/attack"
cp "$ROOT/tests/fault/pool.py" "$TMP/local_users/fault"
cp "$ROOT/tests/flow/counters.py" "$TMP/local_users/flow"
chmod -R a+rX "$TMP"

records() {
	poolscope-dump -p acct/pool --format jsonl --quiet "$@"
}
start aggregator poolscope-aggregator || exit 1
agent
poolscope-emit test begin --wait stored || fail "an event is stored"

# ---- the agent's own metric groups, and gaps
for group in clock cpu disk/sda self; do
	check "samples of $group by another user" user 1234 "$SOCK" put "" "[[2, now, '$group', [1, 2, 3, 4, 5, 6, 7]]]"
	check_printed "... are refused, by name" "^nack metric group $group is the agent's own"
done
check "a definition of one" user 1234 "$SOCK" put "" \
	"[[4, 'set', 'clock', {'names': 'poolscope.clock.offset', 'units': 'ns'}]]"
check_printed "... is, too" "^nack metric group clock"
check "a group of his own" user 1234 "$SOCK" put "" \
	"[[4, 'set', 'app/x', {'names': 'v', 'units': '1'}], [2, now, 'app/x', [1]]]"
check_printed "... is not" "^ack"
check "the agent's user fills them" user 0 "$SOCK" put "" "[[2, now, 'load', [1, 2, 3]]]"
check_printed "... as ever" "^ack"
check "a gap of 2^62 events" user 1234 "$SOCK" put "" "[[5, now - 1000, now, 'event', 'full', 1 << 62]]"
check "one of root" user 0 "$SOCK" put "" "[[5, now - 1000, now, 'event', 'full', 7]]"
check "a sample of clock through the fallback queue" user 1234 "$new" leave "$(printf '%032x' 1)" "[[2, now, 'clock', [1]]]"
check "... is set aside" wait_until '[ -e "$DIR/fallback/bad/$(printf %032x 1)" ]'
check "an event" poolscope-emit test after --wait stored
wait_until indexed
check_text "no sample of clock is stored" 0 "$(records --kind sample | jq -r 'select(.set == "clock")' | wc -l)"
check_text "the only gap is root's" 7 "$(records --kind gap | jq -c .count)"
check_text "the other is a user's word" "[1234,\"event\",\"full\",true]" \
	"$(records --kind event | jq -c 'select(.source == "poolscope" and .name == "lost") | .attributes | [.["submitter.uid"], .class, .reason, .count == 4611686018427387904]')"

# ---- the identities of others
uuid="bytes(range(16))"
check "an event with a uuid" user 1234 "$SOCK" put "" "[[1, now, 'test', 'mine', {}, $uuid]]"
check "another user's with the same" user 1235 "$SOCK" put "" "[[1, now, 'test', 'his', {}, $uuid]]"
check "the first again" user 1234 "$SOCK" put "" "[[1, now, 'test', 'mine', {}, $uuid]]"
check_printed "... is accepted" "^ack"
stop agent
poolscope-emit --quiet -p acct/pool -n node1 test waits --message 1 || fail "an event waits in the queue"
waits=$(ls "$new")
check_text "its name is 32 digits" 32 "${#waits}"
uuid_of=$(/usr/bin/python3 -c '
import re, sys
sys.stdout.write(re.search(b"\xc4\x10(.{16})$", open(sys.argv[1], "rb").read(), re.S).group(1).hex())' "$new/$waits")
check_status 1 "and not the uuid" test "$waits" = "$uuid_of"
# The other one knows it all the same, and his comes first in the directory or not.
for i in 2 3 4; do
	user 1235 "$new" leave "$(printf '%032x' $i)" "[[1, now, 'test', 'stolen', {}, bytes.fromhex('$uuid_of')]]" \
		"$uuid_of" || fail "a file of another user"
done
agent
check "the owner's event is stored" wait_until '[ "$(records --kind event | jq -r "select(.name == \"waits\")" | wc -l)" -gt 0 ]'
stop agent KILL
agent
user 1234 "$SOCK" put "" "[[1, now, 'test', 'mine', {}, $uuid]]" >/dev/null
check "an event" poolscope-emit test last --wait stored
wait_until indexed
check_text "what a user repeats after a crash is there once, and so is another's" '"his" "mine"' \
	"$(records --kind event | jq -c 'select(.name == "mine" or .name == "his") | .name' | sort | tr '\n' ' ' | sed 's/ $//')"
check "what was skipped is counted in the log" grep -q 'skipped records that their user has submitted before: uid=1234 repeated=' "$TMP/agent.log"

# ---- places at the socket
for manner in bad good; do
	user 1234 "$SOCK" hold 600 $manner >"$TMP/held" 2>&1 &
	echo $! >"$TMP/hold.pid"
	STARTED="$STARTED hold"
	wait_until '[ -s "$TMP/held" ]' 60
	check "600 connections are made" grep -qx '[0-9]*' "$TMP/held"
	before=$(find "$new" -mindepth 1 | wc -l)
	for i in 1 2 3; do
		check "with 600 connections with $manner packets another user's event is stored" \
			as 1235 "$B/bin/poolscope-emit" --dir "$DIR" -p acct/pool -n node1 test "beside-$manner" --wait stored --timeout 60s
	done
	check_text "... without the queue" "$before" "$(find "$new" -mindepth 1 | wc -l)"
	[ $manner = good ] || check "bad packets end a connection" wait_until '[ "$(tail -1 "$TMP/held")" = 0 ]' 20
	stop hold KILL
done
stop agent
printf '#!/bin/sh\nexec prlimit --nofile=64:64 %s "$@"\n' "$B/bin/poolscope-agent" >"$TMP/poolscope-agent"
chmod 755 "$TMP/poolscope-agent"
: >"$TMP/agent.log"
PATH=$TMP:$PATH agent
user 1234 "$SOCK" hold 200 good >"$TMP/held" 2>&1 &
echo $! >"$TMP/hold.pid"
wait_until '[ -s "$TMP/held" ]' 60
check "with 64 descriptors, too" as 1235 "$B/bin/poolscope-emit" --dir "$DIR" -p acct/pool -n node1 test few --wait stored --timeout 60s
stop hold KILL
check_status 1 "and the log does not repeat itself" test "$(wc -l <"$TMP/agent.log")" -gt 20
check_status 1 "... about descriptors" grep -q 'Too many open files' "$TMP/agent.log"
stop agent

# ---- the fallback queue, of an agent that is not root
chown -R 1300:1300 "$DIR/fallback"
find "$new" "$DIR/fallback/tmp" "$DIR/fallback/bad" -mindepth 1 -delete
rm -rf "$TMP/spool"
mkdir -m 700 "$TMP/spool" "$TMP/run"
chown 1300:1300 "$TMP/spool" "$TMP/run"
chmod 777 "$DIR/run/intake.ipc"
printf '#!/bin/sh\nexec setpriv --reuid 1300 --regid 1300 --clear-groups env HOME=/nonexistent %s --socket %s --spool %s "$@"\n' \
	"$B/bin/poolscope-agent" "$TMP/run/agent.sock" "$TMP/spool" >"$TMP/poolscope-agent"
emit() { # emit UID NAME: through the queue
	as "$1" "$B/bin/poolscope-emit" --quiet --dir "$DIR" --socket "$TMP/none" -p acct/pool -n node1 test "$2"
}
for what in file dir full; do
	chmod 3777 "$new" "$DIR/fallback/tmp"
	user 1234 "$new" block 10000 $what || fail "10000 of $what"
	check "with 10,000 of $what another user leaves an event" emit 1235 "queued-$what"
	: >"$TMP/agent.log"
	SOCK=$TMP/run/agent.sock
	PATH=$TMP:$PATH start agent poolscope-agent --no-samples --no-clock --broker "ipc://$DIR/run/intake.ipc" \
		-p acct/pool -n node1 || exit 1
	check "... which the agent takes" wait_until '[ "$(records --kind event | jq -r "select(.name == \"queued-'$what'\") | .name" | wc -l)" = 1 ]' 60
	for i in 1 2 3 4 5; do
		emit 1235 "more-$what" || fail "an event is left meanwhile"
	done
	check "... and those after it" wait_until '[ "$(records --kind event | jq -r "select(.name == \"more-'$what'\") | .name" | wc -l)" = 5 ]' 60
	[ $what != file ] || check "no file stays" wait_until '[ -z "$(ls "$new")" ]' 60
	check_text "... bad/ has at most 64" 1 "$(($(find "$DIR/fallback/bad" -mindepth 1 -maxdepth 1 | wc -l) <= 64))"
	check_status 1 "... and the log is short" test "$(wc -l <"$TMP/agent.log")" -gt 15
	stop agent
	find "$new" -mindepth 1 -delete
done
# A user's share when no agent reads.
user 1235 "$new" block 2500 file
check_status 75 "a user has a quarter of the queue" emit 1235 over
check_status 75 "... and no more" as 1235 "$B/bin/poolscope-emit" --dir "$DIR" --socket "$TMP/none" -p acct/pool -n node1 test over
check_printed "... which is reported" "2500 files of user 1235 wait there already"
check "others have theirs" emit 1236 other
stop aggregator
