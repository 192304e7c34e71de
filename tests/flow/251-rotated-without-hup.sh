# Keys are rotated without a signal to those who have them: a connection that stands is
# answered "forbidden", and the key is read again.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a dollar is part of the name
. "$(dirname "$0")/lib.sh"

listener=tcp://127.0.0.1:25830 intake=tcp://127.0.0.1:25831
key=$TMP/nodes.key
node() {
	start "$1" poolscope-agent --dir "$TMP/$1" --no-samples --no-clock -p 'acct$p' -n "$1" \
		--broker "$listener" --key "$2"
}
emit() {
	poolscope-emit --dir "$TMP/$1" test "$2" --wait stored --timeout 60s
}
logged() { grep -c "$2" "$TMP/$1.log"; }

check "keys for a broker, for nodes" sh -c 'poolscope-keys new server --role server &&
	poolscope-keys new broker --role broker && poolscope-keys new nodes -o "$0"' "$key"
check "an aggregator behind a TCP listener" start aggregator poolscope-aggregator \
	--pid-file "$DIR/run/aggregator.pid" --listen "$intake" --reader "ipc://$DIR/run/reader.ipc"
# Without a pid file: poolscope keys sends it no signal.
check "a broker with a key" start broker poolscope-broker --listen "$listener" --aggregator "$intake"
check "a node" node n1 "$key"
check "another one, whose file is a copy" sh -c 'cp -p "$0" "$0.copy"' "$key"
check "... with an agent" node n2 "$key.copy"
check "an event of it" emit n1 first
check "an event of the other" emit n2 first
# The listeners of the broker know the list of nodes.
renew() { kill -HUP "$(pid broker)"; }

check "the nodes' key is rotated" poolscope-keys rotate nodes -o "$key"
check "... and finished, before any agent knows it" poolscope-keys rotate nodes --finish
before=$(logged broker "authorized keys and server key reloaded")
renew
check "the broker has the new list" wait_until \
	"[ \"\$(logged broker 'authorized keys and server key reloaded')\" -gt $before ]"
check "an event is stored with the new key" emit n1 second
check "... which the agent has read by itself" test "$(logged n1 "the key has changed: reconnecting")" -eq 1
check_status 77 "who has the old file only waits" poolscope-emit --dir "$TMP/n2" test second --wait stored --timeout 2s
cp -p "$key" "$key.new" && mv "$key.new" "$key.copy"
check "... until the file is replaced, as by those who roll out secrets" wait_until \
	'poolscope-dump -p "acct\$p" -n n2 --name test:second | grep -q second' 90
check "nobody had to start again" sh -c 'kill -0 "$1" && kill -0 "$2"' - "$(pid n1)" "$(pid n2)"

# The broker's own key; renew() would make it read that, too.
check "the broker's key is rotated" poolscope-keys rotate broker
check "... and finished" poolscope-keys rotate broker --finish
check "an event passes" emit n1 third
check "... with the new key" test "$(logged broker "the key has changed: reconnecting to aggregator")" -ge 1
