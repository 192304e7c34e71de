# stored - what programs with libpoolscope left in the pool $pool, after lib.sh:
#
#	settle; stored span 'r["name"]'    of each span `r` in the store
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh

# stored KIND EXPRESSION [CONDITION]: of each record `r`, with its attributes `a`, in the store.
# shellcheck disable=SC2154 # the pool is that of who sources this
stored() {
	poolscope-dump -p "$pool" --kind "$1" --format jsonl --quiet >"$TMP/stored"
	/usr/bin/python3 -c '
import json, sys
records = [json.loads(line) for line in open(sys.argv[1])]
for r in records:
    a = r.get("attributes", {})
    def parent(r):
        return next((p["name"] for p in records if p["attributes"]["span.id"] == r["attributes"].get("parent.id")), None)
    if eval(sys.argv[3]):
        v = eval(sys.argv[2])
        print(*(v if isinstance(v, tuple) else (v,)))
' "$TMP/stored" "$2" "${3:-True}"
}
# What is in the agent's spool is in the store when this returns.
# shellcheck disable=SC2154
settle() {
	poolscope-emit -p "$pool" test settled --wait stored --timeout 60s && wait_until indexed 30
}
