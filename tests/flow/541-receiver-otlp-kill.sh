#!/bin/sh
# What poolscope-receiver has answered with 200 is in the store once, whichever of receiver,
# agent and aggregator is killed when: a client sends its bytes again until they are taken.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
pool='acct$pool'
SEED=${SEED:-$(date +%s)}
echo "seed $SEED"

# 127.0.0.1:24320
start_receiver() {
	start receiver poolscope-receiver --otlp 24320 --timeout 2s
}
start_agent() {
	start agent poolscope-agent --no-samples --no-clock --broker "ipc://$DIR/run/intake.ipc" -p "$pool" -n node1
}
start_aggregator() {
	start aggregator poolscope-aggregator
}
start_aggregator || exit 1
start_agent || exit 1
start_receiver || exit 1
# 400 spans a request: several submissions, so that a kill falls between them.
PYTHONPATH=$ROOT/tests/flow /usr/bin/python3 -c '
import http.client, pathlib, struct, sys, time
from otlp import *
stop, n = pathlib.Path(sys.argv[1]), 0
while not stop.exists():
    body = request([span(b"\1" * 16, struct.pack(">Q", n << 10 | i), "k%d.%d" % (n, i), 10 ** 18 + i, 10 ** 18 + i,
                         pairs={"filler": "x" * 300}, events=[fixed(1, 10 ** 18) + data(2, "e%d.%d" % (n, i))])
                    for i in range(1, 401)])
    while True:
        try:
            if post("/v1/traces", body, port=24320)[0] == 200:
                break
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.01)
    time.sleep(0.03)
    n += 1
print(n)' "$TMP/stop" >"$TMP/requests" 2>"$TMP/client.err" &
client=$!
random=$SEED
for victim in receiver agent aggregator agent receiver aggregator aggregator receiver agent; do
	random=$(((random * 1103515245 + 12345) % 2147483648))
	timeout "0.$((random / 65536 % 400 + 100))" tail -f /dev/null
	stop $victim KILL
	start_$victim || exit 1
done
touch "$TMP/stop"
check "the client ends" wait "$client"
requests=$(cat "$TMP/requests")
check "several requests were taken" test "${requests:-0}" -gt 3
# Agents that were killed left sessions behind, which are sent after the last one's.
check "the agent sends all" wait_until '[ -z "$(poolscope-spool cat -u "$DIR/spool")" ]' 30
wait_until indexed 30 || exit 1
judge() { # KIND LETTER
	poolscope-dump -q -p "$pool" --kind "$1" --format jsonl | grep -o "\"name\": \"$2[0-9]*\.[0-9]*\"" | sort | uniq -c |
		awk -v n="$((requests * 400))" '{ all++; again += $1 > 1 } END {
			print all == n ? "all" : "only " all + 0 " of " n, again + 0 " twice" }'
}
check_text "each span is there once" "all 0 twice" "$(judge span k)"
check_text "... and each event" "all 0 twice" "$(judge event e)"
stop receiver
stop agent
stop aggregator
