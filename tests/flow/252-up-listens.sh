# What `up` says about its listeners is true, and an `up` that fails leaves nothing of
# its own running.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a dollar is part of the name
. "$(dirname "$0")/lib.sh"
trap 'poolscope down -q; _end' EXIT
port=25840 # 127.0.0.1:25840 is locked by one.sh

check "an instance that listens on loopback" poolscope up --listen "tcp://127.0.0.1:$port"
advice=$(sed -n 's/^On this host only: *poolscope-agent -p PARTITION --broker \([^ ]*\) .*/\1/p' "$TMP/out")
check_text "it says which address is for this host only" "tcp://127.0.0.1:$port" "$advice"
check "a key" poolscope keys new nodes -p 'acct$p' -o "$TMP/nodes.key"
check "an agent comes up with that" start agent poolscope-agent --dir "$TMP/node" --no-samples --no-clock \
	-p 'acct$p' --broker "$advice" --key "$TMP/nodes.key"
check "... and its event is stored" poolscope emit --dir "$TMP/node" a b --wait stored
stop agent
poolscope down -q
check "one that listens everywhere" poolscope up --listen "tcp://0.0.0.0:$port" --listen "tcp://127.0.0.1:$((port + 1))"
check_text "names the host, and each listener" "On a node tcp://$(uname -n):$port
On this host only tcp://127.0.0.1:$((port + 1))" \
	"$(sed -n 's/^\(On [^:]*\): *poolscope-agent .*--broker \([^ ]*\) .*/\1 \2/p' "$TMP/out")"
poolscope down -q

# ---- a port that is taken
mkfifo "$TMP/go"
python3 -c '
import os, socket, sys
held = socket.create_server(("127.0.0.1", int(sys.argv[1])))
open(sys.argv[2], "w").close()
os.read(os.open(sys.argv[3], os.O_RDONLY), 1)' "$port" "$TMP/held" "$TMP/go" &

wait_until '[ -e "$TMP/held" ]'
check_status 1 "up fails where a port is taken" poolscope up --listen "tcp://127.0.0.1:$port"
check_printed "... and says what it stopped again" "poolscope-broker did not start.*stopped again: aggregator"
check "... which has ended" test ! -e "$DIR/run/aggregator.pid"
check "an aggregator" poolscope up
poolscope_broker=$(cat "$DIR/run/broker.pid")
kill "$poolscope_broker"
wait_until '[ ! -e "$DIR/run/broker.pid" ]'
aggregator=$(cat "$DIR/run/aggregator.pid")
check_status 1 "up fails again" poolscope up --listen "tcp://127.0.0.1:$port"
check_text "what ran before runs still" "$aggregator" "$(cat "$DIR/run/aggregator.pid")"
check "... really" kill -0 "$aggregator"
echo go >"$TMP/go"
