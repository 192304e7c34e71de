# agent - what the tests of the agent share: a small aggregator, and what it stored.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck shell=sh

AGGREGATOR=ipc://$DIR/run/aggregator.ipc
OUT=$TMP/stored
SEED=${SEED:-$(date +%s)}
echo "seed $SEED"

start_aggregator() {
	start aggregator "$ROOT/tests/flow/small_aggregator.py" "$AGGREGATOR" "$OUT"
}

# stored EXPRESSION [CONDITION]: of each record that the aggregator has, `r`; in
# python, several values are separated by blanks.
stored() {
	[ -e "$OUT" ] || return 0
	/usr/bin/python3 -c '
import json, sys
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["kind"] != "lost" and eval(sys.argv[3]):
        v = eval(sys.argv[2])
        print(*(v if isinstance(v, tuple) else (v,)))
' "$OUT" "$1" "${2:-True}"
}

# How many events the aggregator has under this name, and how many are different.
count_events() {
	stored 'r["record"][3].get("message")' "r['kind'] == 1 and r['record'][2] == '$1'" |
		sort | uniq -c | awk '{ n += $1; d++ } END { print n + 0, d + 0 }'
}
