#!/bin/sh
# Three starts of an agent without an aggregator, 20 events each; a byte of the
# header of the second one's segment flips on the disk, then both copies of the
# header, then its end is lost: every event arrives or is in a gap of its
# partition, and the log says that a segment is damaged.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
# shellcheck disable=SC2016 # a partition's name
. "$(dirname "$0")/lib.sh"

agent() { start agent poolscope-agent --no-samples --no-clock -p 'acct$pool' -n n1; }
for session in 1 2 3; do
	agent || exit 1
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		poolscope-emit -q s "e-$session-$i" || fail "event $session-$i is not on disk"
	done
	stop agent
done
second=$(find "$DIR/spool" -name '*.seg' | sort | sed -n 2p)
cp -r "$DIR/spool" "$TMP/spool"
dump() { poolscope-dump -q -p 'acct$pool' --kind "$1" --format jsonl; }
damage() {
	rm -rf "$DIR/spool" "$DIR/store"
	cp -r "$TMP/spool" "$DIR/spool"
	python3 - "$second" "$@" <<'END'
import os, sys
with open(sys.argv[1], "r+b") as file:
    if sys.argv[2] == "cut":
        file.truncate(os.path.getsize(sys.argv[1]) // 2)
    for at in sys.argv[2:] if sys.argv[2] != "cut" else []:
        file.seek(int(at))
        byte = file.read(1)[0] ^ 4
        file.seek(int(at))
        file.write(bytes([byte]))
END
}
# How many numbers of the second session's stream arrived, and are in a gap.
sent() { dump event | grep -c '"name": "e-2-'; }
lost() {
	dump gap >"$TMP/gaps"
	python3 -c 'import json, sys
print(sum(json.loads(line)["count"] for line in sys.stdin))' <"$TMP/gaps"
}

one() {
	damage "$@"
	poolscope-spool verify "$DIR/spool" 2>"$TMP/verify" && fail "verify finds it"
	start aggregator poolscope-aggregator && start broker poolscope-broker && agent || exit 1
	check "the last session arrives" wait_until 'dump event | grep -q "\"name\": \"e-3-20\""' 30
	check_text "the first one is there" 20 "$(dump event | grep -c '"name": "e-1-')"
	check "the second one is sent or in a gap" wait_until '[ $(($(sent) + $(lost))) -eq 20 ]' 30
	stop agent
	stop broker
	stop aggregator
}
one 33
check_text "with one copy of the header all is there" 20 "$(sent)"
check "the log says that a segment is damaged" grep -q 'segments are damaged' "$TMP/agent.log"
one 4 516
check "without a header the log says so, too" grep -q 'segments are damaged' "$TMP/agent.log"
one cut
