#!/bin/sh
# What poolscope-receiver has answered with 200 is there once, whatever is killed when: a
# client sends its bytes again until they are taken.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/agent.sh
. "$ROOT/tests/flow/agent.sh"

# 127.0.0.1:24320
start_receiver() {
	start receiver poolscope-receiver --otlp 24320 --timeout 2s
}
start_agent() {
	start agent poolscope-agent --no-samples --no-clock --broker "$AGGREGATOR" -p 'acct$pool' -n node1
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
    n += 1
print(n)' "$TMP/stop" >"$TMP/requests" 2>"$TMP/client.err" &
client=$!
random=$SEED
for i in 1 2 3 4 5 6 7 8; do
	random=$(((random * 1103515245 + 12345) % 2147483648))
	timeout "0.$((random / 65536 % 700 + 100))" tail -f /dev/null
	if [ $((i % 2)) = 0 ]; then
		stop agent KILL
		start_agent || exit 1
	else
		stop receiver KILL
		start_receiver || exit 1
	fi
done
touch "$TMP/stop"
check "the client ends" wait "$client"
requests=$(cat "$TMP/requests")
check "several requests were taken" test "${requests:-0}" -gt 3
# Behind all others.
check "an event comes last" poolscope-emit last one --wait stored
judge() { # KIND LETTER
	stored 'r["record"][3 if r["kind"] == 3 else 2]' "r['kind'] == $1 and len(str(r['record'])) > 60 and 'last' not in r['record']" |
		sort | uniq -c | awk -v n="$((requests * 400))" '{ all++; again += $1 > 1 } END {
			print all == n ? "all" : "only " all " of " n, again + 0 " twice" }'
}
# The file of the aggregator is written behind its answers.
wait_until 'case $(judge 3) in all*) ;; *) false ;; esac'
check_text "each span is there once" "all 0 twice" "$(judge 3)"
check_text "... and each event" "all 0 twice" "$(judge 1)"
stop receiver
stop agent
stop aggregator
