#!/bin/sh
# Five nodes prepare themselves for 5, 50 and 20 s, for ever, and 7 s.  The pool has no
# private registry, so that the phase docker-install (from nodeprep:start to
# privateregistry:start) has no end on any node, which its model ignores: it says
# nothing about a node.  The last record of all is that of a sixth node, 300 s after the
# first, so the preparation that was never ended has lasted about 300 s: the worst
# three are w3, w1 (50 s) and w2 (20 s).
# On the sixth node a preparation was begun twice, at 100 s and at 290 s, and took 10 s
# the second time: the first one did not last to the end, so the node is not among them.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
records <<-'END'
	event   0 w0 nodeprep:start
	event   5 w0 nodeprep:end
	event   0 w1 nodeprep:start
	event  50 w1 nodeprep:end
	event   0 w2 nodeprep:start
	event  20 w2 nodeprep:end
	event   0 w3 nodeprep:start
	event   0 w4 nodeprep:start
	event   7 w4 nodeprep:end
	event 100 w5 nodeprep:start
	event 290 w5 nodeprep:start
	event 300 w5 nodeprep:end
END
worst() {
	poolscope-trace -q --nodes "worst:$1" -o "$TMP/t.json" && /usr/bin/python3 -c '
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
name = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
order = {e["pid"]: e["args"]["sort_index"] for e in events if e["name"] == "process_sort_index"}
print(*(name[pid] for pid in sorted(name, key=order.get)))' "$TMP/t.json"
}
answer "the worst three" "w3 w1 w2" worst 3
answer "all of them" "w3 w1 w2 w5 w4 w0" worst 6
