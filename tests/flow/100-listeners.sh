#!/bin/sh
# Listeners with keys: who is accepted, what each key may do, forwarded
# identities, and that a revoked key is refused at once.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

listener=tcp://127.0.0.1:25700
intake=tcp://127.0.0.1:25701
desk=tcp://127.0.0.1:25702
keys=$DIR/keys

# rows FILE PARTITION NODE EVENTS
rows() {
	awk -v part="$2" -v node="$3" -v events="$4" 'BEGIN {
		for (e = 0; e < events; e++)
			printf "{\"PartitionKey\":\"%s\",\"RowKey\":\"%d.000000\",\"Event\":\"e:%d\",\"NodeId\":\"%s\",\"Message\":\"\"}\n",
				part, 1508000000 + e, e, node
	}' >"$1"
}

send() {
	_key=$1
	_node=$2
	shift 2
	timeout 60 poolscope-import --key "$keys/$_key.key" -n "$_node" \
		--timeout 5s cascade "$@"
}

stored() {
	timeout 60 poolscope-dump -q -p "$1" --kind event | wc -l
}

# status NAME: a counter of broker, or of the aggregator.
status() {
	"$ROOT/tests/flow/counters.py" >"$TMP/status" &&
		python3 -c 'import json, sys
status = json.load(open(sys.argv[1]))
print(int(status[sys.argv[2]][sys.argv[3]]))' "$TMP/status" "$1" "$2"
}

# ---- keys
check_status 1 "a TCP listener does not open without a key" \
	poolscope-broker --listen "$listener"
check_printed "... and says what is missing" "keys/server.key"
check "a server has a key" poolscope-keys new server --role server
check "an agent has one, of a node and a partition" \
	poolscope-keys new n1 -p 'acct$p' -n n1
check "another may speak for all" poolscope-keys new any
check "readers have one" poolscope-keys new boss --role reader
check "... of some partitions" poolscope-keys new some --role reader -p 'other$*'
check "brokers have one" poolscope-keys new front --role broker
check "and who is not on the list" poolscope-keys new gone
check "... since it was revoked" poolscope-keys revoke gone

start aggregator poolscope-aggregator --pid-file "$DIR/run/aggregator.pid" \
	--listen "ipc://$DIR/run/intake.ipc" --listen "$intake" \
	--reader "$desk" --reader "ipc://$DIR/run/reader.ipc" || exit 1
start broker poolscope-broker --pid-file "$DIR/run/broker.pid" \
	--listen "ipc://$DIR/run/broker.ipc" --listen "$listener" || exit 1

# ---- who is accepted
rows "$TMP/p" 'acct$p' n1 5
rows "$TMP/q" 'acct$q' n1 5
rows "$TMP/r" 'acct$r' n1 5
check "the right key is accepted, through the broker" \
	send n1 n1 --broker "$listener" "$TMP/p"
check_text "... and its rows are there" 5 "$(stored 'acct$p')"
check "... and at the aggregator itself" \
	send any n1 --broker "$intake" "$TMP/r"
check "a Unix socket of the same broker needs none" \
	poolscope-import -q cascade "$TMP/r"
check_status 1 "a key that is not on the list is refused" \
	send gone n1 --broker "$listener" "$TMP/q"
check_printed "... and the message says what to do" "refuses the key gone: .*poolscope keys allow"
check_status 1 "a client without a key is refused" \
	timeout 60 poolscope-import --insecure --timeout 5s --broker "$listener" cascade "$TMP/q"
check_printed "... and the message says what to do" "(--key), not --insecure"
check_status 1 "a client without a key does not try" \
	timeout 60 poolscope-import --broker "$listener" cascade "$TMP/q"
check_printed "... and says how to get one" "needs a key: give --key FILE"
mkdir "$TMP/other" || exit 1
POOLSCOPE_DIR=$TMP/other poolscope-keys new server --role server >/dev/null
POOLSCOPE_DIR=$TMP/other poolscope-keys new away -o "$keys/away.key" >/dev/null
check_status 1 "a key for another server is refused" \
	send away n1 --broker "$listener" "$TMP/q"
check_printed "... and says what seems wrong" "made for another server"
check_text "not a record of all these is there" 0 "$(stored 'acct$q')"

# ---- what a key may do
check_status 1 "another partition than the key's is refused" \
	send n1 n1 --broker "$listener" "$TMP/q"
check_printed "... in a word" forbidden
check_status 1 "... and another node" send n1 n2 --broker "$listener" "$TMP/p"
rows "$TMP/stray" 'acct$p' n2 3
check_status 1 "... and another node in a record of a batch" \
	send n1 n1 --broker "$listener" "$TMP/stray"
check "... which the aggregator finds" grep -q \
	'forbidden (node): key=n1 .* node=n2' "$TMP/aggregator.log"
check_status 1 "a reader's key publishes nothing" \
	send boss n1 --broker "$listener" "$TMP/q"
check_status 1 "nor does a broker's without a forwarded identity" \
	send front n1 --broker "$intake" "$TMP/q"
check_text "not a record of these is there" 0 "$(stored 'acct$q')"
check_text "... nor of the other node" 5 "$(stored 'acct$p')"
check "the log names the key" grep -q \
	'forbidden (partition): key=n1 public=.* partition=acct$q node=n1' "$TMP/broker.log"
check "... and the node that it spoke for" grep -q \
	'forbidden (node): key=n1 .* node=n2' "$TMP/broker.log"
check "... each a line a minute" test "$(grep -c 'forbidden (partition)' "$TMP/broker.log")" -eq 1
check "status counts what was forbidden" test "$(status broker forbidden)" -ge 3
check "... and handshakes that failed" test "$(status broker handshakes_refused)" -ge 1
check_text "... and that the listeners have keys" 0 "$(status broker insecure)"

check "a reader reads" timeout 60 poolscope-dump -q --connect "$desk" \
	--key "$keys/boss.key" -p 'acct$p' --kind event
check_text "... everything" 5 "$(wc -l <"$TMP/out")"
check "... and the status" timeout 60 poolscope-stats status --connect "$desk" \
	--key "$keys/boss.key"
check_status 1 "one of other partitions is refused" \
	timeout 60 poolscope-dump -q --connect "$desk" --key "$keys/some.key" -p 'acct$p'
check_printed "... and the message says why" "forbidden: the key may not read this partition"
check "... of the status it is shown what it may read" \
	timeout 60 poolscope-stats status --connect "$desk" --key "$keys/some.key"
check_printed "... which is nothing" "^store  *0 partitions, 0 nodes, 0 records$"
check_status 3 "an agent's key sees no status" \
	timeout 60 poolscope-stats status --connect "$desk" --key "$keys/n1.key"
check_status 1 "an agent's key reads nothing" \
	timeout 60 poolscope-dump -q --connect "$desk" --key "$keys/n1.key" -p 'acct$p'

# ---- a distant broker, which forwards identities
start far poolscope-broker --aggregator "$intake" --key "$keys/front.key" \
	--listen "ipc://$TMP/far.ipc" --listen tcp://127.0.0.1:25703 || exit 1
rows "$TMP/p2" 'acct$p' n1 7
check "an agent is accepted through a broker that forwards its identity" \
	send n1 n1 --broker tcp://127.0.0.1:25703 "$TMP/p2"
check_text "... its rows are there: 2, and the 5 of before" 7 "$(stored 'acct$p')"
stop far

# ---- a broker that may forward only some nodes, in headers and in records
check "a broker has a key of one rack" poolscope-keys new rack --role broker -n 'rack1-*'
start rack poolscope-broker --aggregator "$intake" --key "$keys/rack.key" \
	--listen tcp://127.0.0.1:25703 || exit 1
rows "$TMP/rack1" 'acct$rack' rack1-2 4
rows "$TMP/rack2" 'acct$rack' rack2-5 3
check "it forwards nodes of its rack" \
	send any rack1-1 --broker tcp://127.0.0.1:25703 "$TMP/rack1"
check_text "... their rows are there" 4 "$(stored 'acct$rack')"
check_status 1 "it does not forward a record of another one, though its sender may be any node" \
	send any rack1-1 --broker tcp://127.0.0.1:25703 "$TMP/rack2"
check_printed "... in a word" forbidden
check "... and the log names the broker's key, not the sender's" grep -q \
	'forbidden (node): key=rack .* node=rack2-5' "$TMP/aggregator.log"
check_status 1 "... nor a whole batch of another one" \
	send any rack2-7 --broker tcp://127.0.0.1:25703 "$TMP/rack2"
check_text "not a row of the other rack is there" 4 "$(stored 'acct$rack')"
stop rack

# ---- an agent, and its key revoked while it is connected
start agent poolscope-agent --no-samples --no-clock --broker "$listener" \
	--key "$keys/n1.key" -p 'acct$p' -n n1 || exit 1
check "an agent's event arrives" timeout 60 poolscope-emit key first --wait stored
check "its key is revoked" poolscope-keys revoke n1
check "the broker knows of one key less" wait_until \
	'test "$(status broker keys)" -eq 5'
check "the agent accepts an event" timeout 60 poolscope-emit key second
check "... and the broker forbids it, though the connection stands" wait_until \
	'grep -q "forbidden (key): key=- " "$TMP/broker.log"' 20
check_text "... and not there" 0 \
	"$(timeout 60 poolscope-dump -q -p 'acct$p' --name 'key:second' --kind event | wc -l)"
stop agent

# ---- a bad list changes nothing
printf 'nonsense\n' >>"$keys/allow"
kill -HUP "$(pid broker)"
check "a bad list is reported, with its line" wait_until \
	'grep -q "keys/allow:[0-9]*: " "$TMP/broker.log"'
check "... and the old one stays in effect" send any n1 --broker "$listener" "$TMP/r"
sed -i '/^nonsense$/d' "$keys/allow"

# ---- a key revoked while the configuration is bad
check "a key that is to be revoked" poolscope-keys new leaver
check "... is accepted" send leaver n1 --broker "$listener" "$TMP/r"
echo 'broker { oops }' >"$DIR/poolscope.conf"
check "it is revoked" poolscope-keys revoke leaver
check_status 1 "... and refused, though the configuration is bad" \
	send leaver n1 --broker "$listener" "$TMP/r"
check "the log says that the keys were reloaded" \
	grep -q "authorized keys and server key reloaded" "$TMP/broker.log"
check "... and the configuration was not, and why" \
	grep -q "configuration unchanged: .*poolscope.conf:1" "$TMP/broker.log"
rm "$DIR/poolscope.conf"

# ---- another server's key
check "the server's key is another one" poolscope-keys rotate server
check "a client with both is accepted" wait_until \
	'timeout 60 poolscope-import -q --key "$keys/any.key" -n n1 --timeout 5s --broker "$listener" cascade "$TMP/r"' 20

stop broker
check_text "the broker ends well" 0 "$STATUS"
stop aggregator
check_text "the aggregator ends well" 0 "$STATUS"
