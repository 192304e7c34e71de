#!/bin/sh
# 400 nodes begin a step at 0; that of node K takes K seconds.  A trace may have
# 20,000 bytes.  A node has some 600 bytes in it, so about thirty nodes fit: those
# with the longest steps, n400, n399, n398 ..., and at least 16,000 bytes (80 %) are
# used, because more nodes are there than fit.
# Of one node alone with 1000 events, 10 s apart, the first events fit.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_steps
seq 400 | awk '{ print "event 0 n" $1 " work:start"; print "event", $1, "n" $1, "work:end" }' | records
seq 1000 | awk '{ print "event", 10 * $1, "busy work:tick" }' | records

check "a trace of at most 20,000 bytes" poolscope-trace -n 'n*' --max-size 20000 -o "$TMP/nodes.json"
check_printed "says how many nodes are left out" "3[0-9][0-9] of 400 nodes are left out"
bytes=$(wc -c <"$TMP/nodes.json")
check "it is not larger, and fills 80 % ($bytes)" test "$bytes" -le 20000 -a "$bytes" -ge 16000
/usr/bin/python3 -c 'import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
place = {e["pid"]: e["args"]["sort_index"] for e in events if e["name"] == "process_sort_index"}
names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
print(*[names[pid] for pid in sorted(names, key=place.get)][:20])' "$TMP/nodes.json" >"$TMP/names"
check_text "the twenty worst are there, the worst one first" \
	"n400 n399 n398 n397 n396 n395 n394 n393 n392 n391 n390 n389 n388 n387 n386 n385 n384 n383 n382 n381" \
	"$(cat "$TMP/names")"

check "a node that is too large alone" poolscope-trace -n busy --max-size 20000 -o "$TMP/busy.json"
check_printed "is cut in time, and says where to go on" "use --from 20.*Z for the rest"
bytes=$(wc -c <"$TMP/busy.json")
check "it is not larger, and fills 80 % ($bytes)" test "$bytes" -le 20000 -a "$bytes" -ge 16000
check_status 1 "a size without room for a record" poolscope-trace -n busy --max-size 300 -o "$TMP/none.json"
check_printed "is refused" "max-size is too small for any record"
