#!/bin/sh
# The critical path of each recorded pool of which a node became ready: it is that of path.py, which
# searches through all phases, and its pieces follow each other from the start until the pool was ready,
# to the nanosecond.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

unset POOLSCOPE_PARTITION
aggregate
start broker poolscope-broker || exit 1
check "a pool of 1,000 nodes is made" /usr/bin/python3 "$ROOT/tests/golden/cascade/p13_generated_1000/gen.py" \
	--nodes 1000 --out "$TMP" --no-emits
n=0
for pool in "$ROOT"/tests/golden/cascade/p*/entities.jsonl "$TMP/entities.jsonl"; do
	[ -s "$pool" ] || continue
	n=$((n + 1))
	check "pool $n is imported" poolscope-import cascade "$pool" -p "acct\$p$n" --quiet
done
wait_until indexed 60
pools=0
poolscope stats pools --columns partition --format csv | tail -n +2 >"$TMP/pools"
while IFS= read -r partition; do
	poolscope stats starts -p "$partition" --format csv --columns ready,last_ready >"$TMP/starts" 2>"$TMP/why" || continue
	[ "$(sed -n '2s/,.*//p' "$TMP/starts")" -gt 0 ] || continue
	pools=$((pools + 1))
	poolscope dump -p "$partition" --kind phase --format jsonl -o "$TMP/phases" -q
	/usr/bin/python3 "$ROOT/tests/scenario/path.py" "$TMP/phases" >"$TMP/wanted" || fail "$partition has a path"
	check "the path of $partition" poolscope stats critical -p "$partition" --table critical --format csv \
		--columns offset,duration,kind,node,phase
	/usr/bin/python3 -c '
import csv, decimal, sys
for row in csv.DictReader(open(sys.argv[1])):
    offset, duration = (int(decimal.Decimal(row[name]).scaleb(9)) for name in ("offset", "duration"))
    print(offset, duration, row["kind"], row["node"], row["phase"], sep=",")' "$TMP/out" >"$TMP/found"
	check_text "... is that of all phases" "$(cat "$TMP/wanted")" "$(cat "$TMP/found")"
	check_text "... adds up" "$(sed -n '2s/.*,//p' "$TMP/starts" | awk '{ printf "%.6f", $1 }')" \
		"$(awk -F, '{ gap += $1 != sum; sum += $2 } END { printf "%.6f", gap ? -1 : sum / 1e9 }' "$TMP/found")"
done <"$TMP/pools"
check "... of several pools" test "$pools" = 12
