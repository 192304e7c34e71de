#!/bin/sh
# A user of the machine fills the agent's spool with a partition that nobody takes:
# one that the key may not send, one that no aggregator accepts.  Whatever waits there,
# the samples and events of the agent's own partition are stored.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"
listen=127.0.0.1:25790
quarter=$((2 << 20))

unwanted() {
	env PYTHONDONTWRITEBYTECODE=1 SLOW="$SLOW" /usr/bin/python3 "$ROOT/tests/attack/unwanted.py" "$DIR/run/agent.sock" "$@"
}
services() { # services [OPTION OF THE AGGREGATOR...]
	start aggregator poolscope-aggregator "$@" || exit 1
	start_broker
}
start_broker() {
	start broker poolscope-broker --listen "ipc://$DIR/run/broker.ipc" --listen "tcp://$listen" || exit 1
}
agent() {
	start agent poolscope-agent -p 'a$b' -n n1 --broker "tcp://$listen" --key "$TMP/nodes.key" --period 1s \
		--no-compress --spool-bytes 8MiB --segment-bytes 512KiB "$@" || exit 1
}
count() { # count PARTITION ARGUMENT...: of records
	poolscope-dump --format jsonl --quiet -p "$@" | wc -l
}
samples() { count 'a$b' --kind sample; }

# flows WHEN: the agent's own partition does, after now.
flows() {
	check "$1 an event is stored" poolscope-emit test own --wait stored --timeout 60s
	check "... and samples are" wait_until "[ \"\$(samples)\" -gt $(samples) ]" 30
	check_status 1 "... without a pause" grep -q "sampling paused" "$TMP/agent.log"
}

# fills NAME WHY: WHY is the end of the sentence
fills() {
	agent
	# Nobody knows yet, or everybody does.
	check "$1: a trickle with 12 MiB of the own partition" unwanted trickle 'foreign$pool' 12582912
	check_printed "... is accepted" " 0$"
	accepted=$(cut -d' ' -f1 "$TMP/out")
	check_text "... and becomes gaps, which the log says once a minute" 1 "$(grep -c 'gave up .* batches' "$TMP/agent.log")"
	flows "$1: after that"
	check "$1: a user fills" unwanted fill 'foreign$pool'
	check_printed "... until he has his share" "^[0-9]* [0-9]* 9 partition 'foreign\$pool' may not be sent, and its share of the spool is full: permit it (poolscope keys), or use another one: $2"
	accepted=$((accepted + $(cut -d' ' -f1 "$TMP/out")))
	filled=$(cut -d' ' -f2 "$TMP/out")
	check "... which is a quarter" test "$filled" -le $quarter -a "$filled" -gt $((quarter - (256 << 10)))
	check_status 75 "emit says the same" poolscope-emit -p 'foreign$pool' test more --message "$(head -c 30000 /dev/zero | tr '\0' x)"
	check_printed "... who refuses what" "its share of the spool is full: .*$2"
	check "the log says it" grep -q "refusing records: uid=$(id -u): partition 'foreign\$pool' may not be sent" "$TMP/agent.log"
	check_text "... once" 1 "$(grep -c 'refusing records' "$TMP/agent.log")"
	flows "$1: with that"
}

check "a server has a key" poolscope-keys new server --role server
check "so has the node, for its pool" poolscope-keys new nodes -p 'a$b' -o "$TMP/nodes.key"
services
fills forbidden "tcp://$listen: key 'nodes' has role agent and may use partition 'a\$b'"

# ---- what earlier sessions have does not wait for it, either
stop agent
stop broker
agent --no-samples --no-clock
check "an event of another session" poolscope-emit test between --wait accepted
stop agent
start_broker
agent
check "... is sent before what is forbidden in the one before" wait_until \
	'[ "$(count "a\$b" --name test:between)" = 1 ]' 60
check_text "nothing of the other partition is stored" 0 "$(count 'foreign$pool')"

# ---- the key may send it
stop broker
sed -i 's/\ta\$b\t/\t*\t/' "$DIR/keys/allow"
kill -HUP "$(pid aggregator)"
start_broker
check "once the key may send it, what is left is stored" wait_until \
	'[ "$(count "foreign\$pool" --name test:unwanted)" -gt 10 ]' 60
lost() { # what gaps say
	poolscope-dump --format jsonl --quiet -p 'foreign$pool' --kind gap | jq -s 'map(.count) | add // 0'
}
check "... and the rest is counted as lost" wait_until \
	'[ $(($(count "foreign\$pool" --name test:unwanted) + $(lost))) -eq "$accepted" ]' 60
echo "# $accepted accepted, $(lost) lost"
check "... some" test "$(lost)" -gt 0
check "... and the partition has its room back" poolscope-emit -p 'foreign$pool' test again --wait stored --timeout 60s
stop agent
stop broker
stop aggregator

# ---- no aggregator accepts it
rm -rf "$DIR/spool" "$DIR/store"
: >"$TMP/agent.log"
services --accept 'a$b'
fills "not accepted" "no aggregator takes it"
stop agent
rm -rf "$DIR/spool"

# ---- more partitions than there are places
agent
check "one event of each of 300 partitions" unwanted partitions 300
check_printed "... the last ones are refused, and why" \
	"^255 9 no room for partition 'many\$255': the agent had records of 256 since its start, the maximum; use one of them, or restart it"
check_status 75 "emit says the same" poolscope-emit -p 'many$299' test more
check_printed "... of its own" "no room for partition 'many\$299'"
flows "many partitions: with them"
stop agent
stop broker
stop aggregator
