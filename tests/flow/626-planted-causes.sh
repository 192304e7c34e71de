#!/bin/sh
# poolscope-generate pool --cause: what is planted is there, in the events and in the
# samples, by numbers worked out by hand; nothing else is; and it comes through the
# pipeline as it was written.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
BASE=2026-11-20T10:00:00Z

make_pool() {
	poolscope-generate pool --nodes 60 --base $BASE "$@"
}

# ---- wrong usage
wrong_usage "a cause has a kind" "'wish' is not one of clock, late, places, size" make_pool --cause wish:1:2 -o "$TMP/x"
wrong_usage "... a node" "KIND:NODE:FACTOR is expected" make_pool --cause disk -o "$TMP/x"
wrong_usage "... of the pool" "disk: the pool has nodes 1 to 60" make_pool --cause disk:61:2 -o "$TMP/x"
wrong_usage "... and not node 0" "the pool has nodes 1 to 60" make_pool --cause disk:0:2 -o "$TMP/x"
wrong_usage "... a factor" "the factor must be from 1.1 to 100" make_pool --cause disk:1:1 -o "$TMP/x"
wrong_usage "... that is a number" "KIND:NODE:FACTOR is expected" make_pool --cause disk:1:much -o "$TMP/x"
wrong_usage "a node has one cause" "node 3 has two causes" make_pool --cause disk:3:2 --cause cpu:3:2 -o "$TMP/x"
wrong_usage "no cause has no node" "none has no node and no factor" make_pool --cause none:1:2 -o "$TMP/x"
wrong_usage "who waits needs others who pull" "all places are held for so long only in a pool of [0-9]* nodes" \
	make_pool --cause places:3:50 -o "$TMP/x"
check "... and none of them has made a directory" test ! -e "$TMP/x"

# ---- each kind
seed=1
for kind in none clock late places size memory steal cpu disk errors network hidden; do
	seed=$((seed + 1))
	cause=$kind:$((10 + seed)):x2.5
	[ $kind = none ] && cause=none
	check "$kind is generated" make_pool --seed $seed --cause $cause -o "$TMP/$kind"
	check "... and shows" /usr/bin/python3 "$ROOT/tests/flow/planted_judge.py" \
		"$TMP/$kind" $kind $((10 + seed)) 2.5
done
check "the truth is in a file of its own" /usr/bin/python3 -c 'import json, sys
truth = json.load(open(sys.argv[1]))
cause, = truth["causes"]
assert (truth["nodes"], truth["starts"], truth["seed"]) == (60, 1, 10)
assert (cause["kind"], cause["node"], cause["factor"]) == ("disk", "cn020", 2.5)
assert (cause["phase"], cause["key"]) == ("pull", "gcr.io/ml/train:2.1")
assert abs(cause["took_ns"] - 2.5 * cause["usual_ns"]) < 1e6' "$TMP/disk/truth.json"
make_pool --seed 10 --cause disk:20:2.5 -o "$TMP/again"
check "the same options give the same pool" cmp "$TMP/disk/records.jsonl" "$TMP/again/records.jsonl"
make_pool --seed 11 --cause disk:20:2.5 -o "$TMP/again"
check_status 1 "... another seed another one" cmp -s "$TMP/disk/records.jsonl" "$TMP/again/records.jsonl"
check "two causes are planted in two starts" make_pool --seed 10 --starts 2 \
	--cause disk:20:2.5 --cause cpu:7:3 -o "$TMP/two"
check "... in both" /usr/bin/python3 -c 'import json, sys
pulls = {}
for row in map(json.loads, open(sys.argv[1])):
    if row["kind"] == "event" and row["name"] == "pull-end" and "train" in row["attributes"]["img"]:
        pulls.setdefault(row["node"], []).append(float(row["attributes"]["diff"]))
assert {node for node, took in pulls.items() if min(took) > 50} == {"cn020", "cn007"}
assert all(len(took) == 2 for took in pulls.values())' "$TMP/two/records.jsonl"

check "without a time the last start ends now" poolscope-generate pool --nodes 60 --starts 2 --cause none -o "$TMP/now"
check "... to ten seconds, as long as that took" /usr/bin/python3 -c 'import json, os, sys
last = max(json.loads(row).get("time_ns", 0) for row in open(sys.argv[1]))
age = os.stat(sys.argv[1]).st_mtime - last / 1e9
assert -1 <= age <= 10, age' "$TMP/now/records.jsonl"

# ---- through the pipeline
start aggregator poolscope-aggregator --models "$ROOT/deploy/models" || exit 1
start broker poolscope-broker || exit 1
check "it is published" make_pool --seed 10 --cause disk:20:2.5 -p 'demo$slow'
check_text "... once" "$(grep -vc '"kind": "entity"' "$TMP/disk/records.jsonl") rows, 0 already there" "$(cat "$TMP/out")"
check "its file is imported" poolscope-import records "$TMP/disk/records.jsonl"
for pool in 'demo$slow' 'generated$pool'; do
	wait_until indexed
	poolscope-dump -p "$pool" --format jsonl 2>"$TMP/err" | /usr/bin/python3 -c '
import json, sys
for row in sorted(json.dumps([row.get(k) for k in ("kind", "node", "time_ns", "source", "name", "set", "id", "attributes", "values")])
                  for row in map(json.loads, sys.stdin)):
    print(row)' >"$TMP/of.$pool"
done
check "both ways store the same" cmp "$TMP/of.demo\$slow" "$TMP/of.generated\$pool"
check "... something" test -s "$TMP/of.demo\$slow"

# 2.5 times 22 s, within the 7 percent by which nodes differ.
check "the slow node is the slowest" poolscope-stats phases -p 'demo$slow' --name 'cascade:pull' --by node \
	--sort max --top 1 --columns node,max --format json
check_json "... by 2.5" "cn020 True" '" ".join((rows[0]["node"], str(51.1 < rows[0]["max"] < 58.9)))'
# While it pulls its tasks wait for the disk for 0.95 of 45 of 55 seconds; a usual
# node for a quarter, and when it loads for 0.95 of 5 of 12 seconds.
check "its disk is what its tasks wait for" poolscope-stats samples -p 'demo$slow' --by node \
	-m 'system.linux.pressure.io.some' --sort max --top 2 --columns node,max --format json
check_json "... and nobody else's" "cn020 True True" '" ".join((rows[0]["node"],
	str(75 < rows[0]["max"] < 100), str(rows[1]["max"] < 55)))'

stop broker
stop aggregator
