#!/bin/sh
# An aggregator refuses a batch of an agent for good: a gap of reason "refused" (33 in
# proto/wire.md) is in its place, the batch is set aside on the disk, and others arrive.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/agent.sh
. "$ROOT/tests/flow/agent.sh"

start_aggregator || exit 1
start agent poolscope-agent --no-samples --no-clock --broker "$AGGREGATOR" -p 'a$pool' -n n1 || exit 1
check "an event is stored" poolscope-emit a before --wait stored --timeout $((30 * SLOW))s
echo malformed >"$OUT.mode"
poolscope-emit a refused
check "a refused one is set aside" wait_until 'ls "$DIR/spool/refused" | grep -q "seg$"' 60
rm "$OUT.mode"
check "another is stored" poolscope-emit a after --wait stored --timeout $((30 * SLOW))s
# before, the gap, after
check_text "what is between them is lost, as refused" "1 event before
2 lost 33
3 event after" "$(/usr/bin/python3 -c 'import json, sys
for r in map(json.loads, open(sys.argv[1])):
    print(r["seq"], "lost %d" % r["reason"] if r["kind"] == "lost" else "event " + r["record"][2])' "$OUT")"
check "the log says why" grep -q 'refused batch seq=2 for good: malformed' "$TMP/agent.log"
