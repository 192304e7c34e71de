# history - what sealed records cost: the start-up of the corpus's 10,000
# nodes, and this project's host samples as those of some nodes; as batches of
# a minute, and as one a second.
#
#   NODES=1000 HOSTS=10 sh tests/bench/history.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
PATH=$PWD/$B/bin:$PATH
export PATH
nodes=${NODES:-10000}
hosts=${HOSTS:-40}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/poolscope.XXXXXX")
POOLSCOPE_DIR=$tmp/i
export POOLSCOPE_DIR
trap 'poolscope down >/dev/null 2>&1; rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

python3 tests/golden/cascade/p13_generated_1000/gen.py --nodes "$nodes" --out "$tmp" --no-emits
poolscope up >/dev/null
poolscope-import cascade "$tmp/entities.jsonl" --quiet
poolscope down
poolscope-aggregator --seal --quiet
"$B/bench/history" events "$tmp/i/store" bigacct\$bigpool
for rows in 60 1; do
	mkdir "$tmp/$rows"
	"$B/bench/history" samples "$tmp/$rows" tests/bench/data/host-samples.jsonl "$hosts" "$rows"
done
