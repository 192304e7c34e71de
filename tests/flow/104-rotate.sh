#!/bin/sh
# Keys are rotated while everybody publishes: nothing is lost, nothing is stored
# twice, and nobody is started again.  ROTATIONS of it (3).
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a dollar is part of the name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

ROTATIONS=${ROTATIONS:-3}
RUNS=${RUNS:-60000}
listener=tcp://127.0.0.1:25750
intake=tcp://127.0.0.1:25751
key=$TMP/nodes.key
node=$TMP/node

check "a head with keys for its own broker, for nodes and for imports" sh -c '
	poolscope-keys new server --role server && poolscope-keys new broker --role broker &&
	poolscope-keys new agent && poolscope-keys new nodes -o "$0"' "$key"
check "an aggregator behind a TCP listener" start aggregator poolscope-aggregator \
	--pid-file "$DIR/run/aggregator.pid" --listen "$intake" --reader "ipc://$DIR/run/reader.ipc"
check "a broker that connects to it with a key" start broker poolscope-broker \
	--pid-file "$DIR/run/broker.pid" --listen "$listener" --aggregator "$intake"
check "an agent elsewhere" start agent poolscope-agent --dir "$node" --no-samples --no-clock \
	-p 'acct$p' -n n1 --broker "$listener" --key "$key"

# load FROM: numbered events, some at a time, until $TMP/enough is there; the
# next number is then in $TMP/next.
load() {
	_next=$1
	while :; do
		seq "$_next" $((_next + 49)) |
			sed 's/.*/{"source":"test","event":"load","message":"&"}/' |
			poolscope-emit --dir "$node" --stdin --timeout 60s || return 1
		_next=$((_next + 50))
		echo "$_next" >"$TMP/next"
		[ ! -e "$TMP/enough" ] || return 0
	done
}
events() { touch "$TMP/enough" && load "$(cat "$TMP/next")" >"$TMP/load" 2>&1; }

public() { sed -n 's/^public: //p' "$1"; }

# logged NAME PATTERN: how often.
logged() { grep -c "$2" "$TMP/$1.log"; }

rotate_client() {
	_before=$(logged agent "the key has changed: reconnecting")
	poolscope-keys rotate nodes -o "$key" && kill -HUP "$(pid agent)" || return 1
	wait_until '[ "$(logged agent "the key has changed: reconnecting")" -gt "$_before" ]' || return 1
	poolscope-keys rotate nodes --finish
}

echo 1 >"$TMP/next"
for round in $(seq "$ROTATIONS"); do
	rm -f "$TMP/enough"
	load "$(cat "$TMP/next")" >"$TMP/load" 2>&1 &
	loading=$!
	was=$(public "$key")
	check "round $round: the agent's key is rotated under load" rotate_client
	check "... and is another one" test "$was" != "$(public "$key")"
	_before=$(logged broker "the key has changed: reconnecting")
	check "the broker's own key is rotated, and it reloads" poolscope-keys rotate broker
	check "... and goes by it" wait_until \
		'[ "$(logged broker "the key has changed: reconnecting")" -gt "$_before" ]'
	check "... the old one goes" poolscope-keys rotate broker --finish
	check "the server's key is rotated" poolscope-keys rotate server "$key"
	check "... the old one goes, too" poolscope-keys rotate server --finish "$key"
	touch "$TMP/enough"
	wait "$loading"
	check_text "all was accepted meanwhile" 0 $?
done

# Connections survive when a listener is bound again; a client that connects
# again must know the new key.
kill -HUP "$(pid agent)"
stop broker
check "a broker that begins again" start broker poolscope-broker \
	--pid-file "$DIR/run/broker.pid" --listen "$listener" --aggregator "$intake"
events
total=$(($(cat "$TMP/next") - 1))
echo "$total events"

stored() { poolscope-dump -p 'acct$p' --kind event --format jsonl | wc -l; }
check "everything arrives" wait_until '[ "$(stored)" -ge "$total" ]' 60
poolscope-dump -p 'acct$p' --kind event --format jsonl |
	sed -n 's/.*"message": "\([0-9]*\)".*/\1/p' | sort -n >"$TMP/numbers"
check_text "... each event once" "$(seq "$total" | cksum)" "$(cksum <"$TMP/numbers")"
check "nobody ended" sh -c 'kill -0 "$1" && kill -0 "$2"' - "$(pid agent)" "$(pid aggregator)"

# ---- a sender without an agent, whose key goes under way
# The status would wait until all of it is indexed; the file of the journal grows at once.
received() {
	stat -c %b "$DIR/store/journal/data.mdb"
}
# shellcheck disable=SC2034 # wait_until evaluates it
taken=$(received)
poolscope-generate testrun --broker "$listener" -p 'a$long' --runs "$RUNS" --base 0 >"$TMP/long" 2>&1 &
sender=$!
check "batches arrive" wait_until '[ "$(received)" -gt $((taken + 200)) ]'
check "its key is rotated and finished meanwhile" sh -c \
	'poolscope-keys rotate agent && poolscope-keys rotate agent --finish'
check "... and more are under way" kill -0 "$sender"
wait "$sender"
check_text "it ends well, with the new key" 0 $? || cat "$TMP/long"
check_text "... which it says" 1 "$(grep -c "the key has changed: reconnecting to $listener" "$TMP/long")"
check "all of it is indexed" wait_until indexed 60
check_text "... each row is there once" "$(sed -n 's/^\([0-9]*\) rows, .*/\1/p' "$TMP/long")" \
	"$(poolscope-dump -p 'a$long' --format jsonl | wc -l)"

# ---- a file that is no key changes nothing
_before=$(logged agent "client key unchanged")
echo nonsense >"$TMP/bad" && chmod 600 "$TMP/bad" && mv "$TMP/bad" "$key"
kill -HUP "$(pid agent)"
check "a file that is no key is logged" wait_until '[ "$(logged agent "client key unchanged: .*nodes.key")" -gt "$_before" ]'
events
check "... and the agent goes on with what it had" wait_until '[ "$(stored)" -eq $((total + 50)) ]' 30
