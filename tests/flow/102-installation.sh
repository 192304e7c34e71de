# The first installation: a head and nodes that reach it with a key; keys of
# both sides are changed while agents work, and nothing is lost.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

judge() {
	/usr/bin/python3 "$ROOT/tests/flow/keys_judge.py" "$@"
}
trap 'emitting=; poolscope down --dir "$HEAD"; _end' EXIT
HEAD=$TMP/head
# Below the ports that the system gives to others; 127.0.0.1:25810 is locked by one.sh.
listener=25810 desk=25811
# shellcheck disable=SC2016 # a dollar is part of the name
pool='acct$pool'

# node NAME KEY: an agent with an instance of its own.
node() {
	start "$1" poolscope-agent --dir "$TMP/$1" -p "$pool" -n "$1" --no-samples --no-clock \
		--broker "tcp://127.0.0.1:$listener" --key "$2"
}
stored() {
	poolscope-dump --dir "$HEAD" -p "$pool" --kind event --format jsonl --log error "$@"
}

# ---- three commands
check "the head comes up with TCP listeners" poolscope up --dir "$HEAD" \
	--listen "tcp://127.0.0.1:$listener" --reader "tcp://127.0.0.1:$desk"
check_printed "... and says where" "^agents     tcp://127.0.0.1:$listener\$"
check_printed "... and what to do next" "poolscope keys new nodes"
check_text "it has keys for them" "agent.key allow reader.key server.key" \
	"$(find "$HEAD/keys" -type f -printf '%f\n' | sort | xargs)"
check "up again does no harm" poolscope up --dir "$HEAD" --listen "tcp://127.0.0.1:$listener"
check_status 1 "up does not open another listener while it runs" \
	poolscope up --dir "$HEAD" --listen tcp://127.0.0.1:19999
check_printed "... and says why" "the broker runs already, without --listen=tcp://127.0.0.1:19999"
check "a key for nodes" poolscope keys new nodes --dir "$HEAD" -p "$pool" -o "$TMP/nodes.key"
check_printed "... holds at once" "the broker .*has reloaded its keys"
check "a node comes up with it" node n1 "$TMP/nodes.key"
check "its event is stored on the head" poolscope emit --dir "$TMP/n1" first light --wait stored
check_text "... and read there" 1 "$(stored --name first:light | wc -l)"
check "a program of the head uses its own key" \
	poolscope-generate testrun --dir "$HEAD" --broker "tcp://127.0.0.1:$listener" -p "$pool" --runs 2 --base now
check "a reader's key" poolscope keys new ada --dir "$HEAD" --role reader -p "$pool" -o "$TMP/ada.key"
check "the results are read elsewhere with it" poolscope-dump --connect "tcp://127.0.0.1:$desk" \
	--key "$TMP/ada.key" -p "$pool" --name first:light --format jsonl
check_text "... the same" 1 "$(grep -c '"light"\|first:light' "$TMP/out")"
check_status 1 "an agent's key reads nothing" timeout 60 poolscope-dump --connect "tcp://127.0.0.1:$desk" \
	--key "$TMP/nodes.key" -p "$pool" --format jsonl
check_status 1 "without a key nobody connects" timeout 60 poolscope-dump \
	--connect "tcp://127.0.0.1:$desk" -p "$pool" --format jsonl
check_printed "... and the message says so" "needs a key"

# ---- secrets are nowhere else
for file in "$HEAD/keys/server.key" "$TMP/nodes.key" "$HEAD/keys/reader.key"; do
	sed -n 's/^secret: //p' "$file"
done >"$TMP/secrets"
seen() {
	for process in $(cat "$HEAD/run/broker.pid" "$HEAD/run/aggregator.pid") $(pid n1); do
		cat "/proc/$process/cmdline" "/proc/$process/environ"
	done
	cat "$HEAD"/log/*.log "$TMP"/*.log
}
check_text "there are three secrets to look for" 3 "$(wc -l <"$TMP/secrets")"
check "no secret is in arguments, environment or logs" sh -c "! grep -aqF -f '$TMP/secrets'" <<-SEEN
	$(seen | tr '\0' '\n')
SEEN
check "... where the way to the key is" sh -c 'grep -aqF -e nodes.key' <<-SEEN
	$(seen | tr '\0' '\n')
SEEN
for process in $(cat "$HEAD/run/broker.pid" "$HEAD/run/aggregator.pid") $(pid n1); do
	check "$(cat "/proc/$process/comm") leaves no core" \
		grep -q '^Max core file size  *0  *0 ' "/proc/$process/limits"
done

# ---- keys are changed while an agent works
: >"$TMP/ledger"
emit_on() {
	while [ -e "$TMP/emitting" ]; do
		n=$((${n:-0} + 1))
		poolscope-emit --dir "$TMP/n1" -p "$pool" count up --attr "n=$n" --log error 2>>"$TMP/emit.err" &&
			echo "$n" >>"$TMP/ledger"
	done
}
: >"$TMP/emitting"
emit_on &
emitter=$!
# more LINES: the emitter is so far beyond where it was.
more() {
	_lines=$(($(wc -l <"$TMP/ledger") + $1))
	wait_until "[ \$(wc -l <'$TMP/ledger') -ge $_lines ]" 60
}
again() {
	stop n1
	node n1 "$TMP/nodes.key"
}
more 10
cp -p "$TMP/nodes.key" "$TMP/old.key"
check "the nodes' key is changed" poolscope keys rotate nodes --dir "$HEAD" -o "$TMP/nodes.key"
more 10
check "the old one still does" poolscope emit --dir "$TMP/n1" still one --wait stored
check "the agent starts with the new one" again
check "... which does" poolscope emit --dir "$TMP/n1" still two --wait stored
check "the old one is no longer needed" poolscope keys rotate nodes --dir "$HEAD" --finish
check "the new one does" poolscope emit --dir "$TMP/n1" still three --wait stored
check "who has only the old one is not let in" node n2 "$TMP/old.key"
poolscope emit --dir "$TMP/n2" too late
check "... and says what to do" wait_until "grep -qE 'key|allow' '$TMP/n2.log'" 30
more 10
cp -p "$TMP/nodes.key" "$TMP/old-server.key"
check "the server's key is changed" poolscope keys rotate server "$TMP/nodes.key" --dir "$HEAD"
check "the agent starts with both" again
check "... which does" poolscope emit --dir "$TMP/n1" still four --wait stored
more 10
check "the listeners have the new one" poolscope keys rotate server --finish "$TMP/nodes.key" --dir "$HEAD"
check "... and who is connected stays" poolscope emit --dir "$TMP/n1" still five --wait stored
check "... and comes again" again
check "... with the new one" poolscope emit --dir "$TMP/n1" still six --wait stored
check "who knows only the old server is not served" node n3 "$TMP/old-server.key"
poolscope emit --dir "$TMP/n3" too late
check "the head's own programs have the new one" \
	poolscope-generate testrun --dir "$HEAD" --broker "tcp://127.0.0.1:$listener" -p "$pool" --runs 2 --base now
more 10
rm -f "$TMP/emitting"
wait "$emitter"
check "the last one is stored" poolscope emit --dir "$TMP/n1" last one --wait stored
check_text "... after at least fifty" yes "$([ "$(wc -l <"$TMP/ledger")" -ge 50 ] && echo yes)"
# What was accepted while there was no agent comes from the fallback queue.
all_came() {
	[ "$(stored --name count:up | wc -l)" -ge "$(wc -l <"$TMP/ledger")" ]
}
check "all others are, too" wait_until all_came 60
stored --name count:up >"$TMP/stored"
check "what was accepted is there, and once" /usr/bin/python3 -c '
import json, sys
accepted = [line.strip() for line in open(sys.argv[1])]
stored = [json.loads(line)["attributes"]["n"] for line in open(sys.argv[2])]
assert len(stored) == len(set(stored)), "twice"
assert not set(accepted) - set(map(str, stored)), "lost"
print(len(accepted), "accepted,", len(stored), "stored")' "$TMP/ledger" "$TMP/stored"
cat "$TMP/out"
check_text "nothing came with the old keys" 0 "$(stored --name too:late | wc -l)"

# ---- revoked
check "the nodes' key is revoked" poolscope keys revoke nodes --dir "$HEAD"
check_status 77 "who is connected is out" poolscope emit --dir "$TMP/n1" after all --wait stored --timeout 2s
check_text "... and stores nothing" 0 "$(stored --name after:all | wc -l)"
check "allowed again" poolscope keys allow "$TMP/nodes.key" -p "$pool" --dir "$HEAD"
is_stored() {
	[ "$(stored --name after:all | wc -l)" -eq 1 ]
}
check "... what waited is stored" wait_until is_stored 60
check "the head goes down" poolscope down --dir "$HEAD"
