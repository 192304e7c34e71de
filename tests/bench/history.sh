# history - what compacted records cost: the start-up of the corpus's 10,000
# nodes, and this project's host samples as those of some nodes; as batches of
# a minute, and as one a second; and as if they were 10 s apart.
#
#   NODES=1000 HOSTS=10 sh tests/bench/history.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
nodes=${NODES:-10000}
hosts=${HOSTS:-40}

python3 tests/golden/cascade/p13_generated_1000/gen.py --nodes "$nodes" --out "$TMP" --no-emits
poolscope up >/dev/null
poolscope-import cascade "$TMP/entities.jsonl" --quiet
poolscope down
poolscope-admin compact --quiet
"$B/bench/history" events "$TMP/i/store" bigacct\$bigpool
for rows in 60 1; do
	mkdir "$TMP/$rows"
	"$B/bench/history" samples "$TMP/$rows" tests/bench/data/host-samples.jsonl "$hosts" "$rows"
done
mkdir "$TMP/10"
"$B/bench/history" samples "$TMP/10" tests/bench/data/host-samples.jsonl "$hosts" 60 10
