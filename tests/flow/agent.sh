# agent - what the tests of the agent share: a keeper, and what it kept.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck shell=sh

KEEPER=ipc://$DIR/run/keeper.ipc
OUT=$TMP/kept
SEED=${SEED:-$(date +%s)}
echo "seed $SEED"

start_keeper() {
	start keeper "$ROOT/tests/flow/keeper.py" "$KEEPER" "$OUT"
}

# kept EXPRESSION [CONDITION]: of each record that the keeper has, `r`; in
# python, several values are separated by blanks.
kept() {
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

# How many events the keeper has under this name, and how many are different.
count_events() {
	kept 'r["record"][3].get("message")' "r['kind'] == 1 and r['record'][2] == '$1'" |
		sort | uniq -c | awk '{ n += $1; d++ } END { print n + 0, d + 0 }'
}
