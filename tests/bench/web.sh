# web - what poolscope-web takes for its answers: small ones a second over connections that
# stay open, and the processor time of each view of 10,000 nodes, cold and warm (from memory,
# and when the client knows it).
#
#   NODES=1000 RUNS=5 sh tests/bench/web.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
nodes=${NODES:-10000}

/usr/bin/python3 tests/golden/cascade/p13_generated_1000/gen.py --nodes "$nodes" --out "$TMP" --no-emits
poolscope up >/dev/null
poolscope-import cascade "$TMP/entities.jsonl" --quiet
poolscope-generate testrun -q --runs 1000 --base now -p 'acct$farm'
wait_indexed
poolscope-web --quiet --request-rate 0 --listen 127.0.0.1:0 --cache-bytes 64MiB >"$TMP/url" &
web=$!
trap 'kill "$web"; poolscope down >/dev/null 2>&1; rm -rf "$TMP"' EXIT
until grep -qs '#k=' "$TMP/url"; do sleep 0.05; done
echo "$nodes nodes, best of $RUNS"
/usr/bin/python3 tests/bench/web.py "$web" "$(cat "$TMP/url")" "$RUNS"
echo "goal: 10,000 small answers/s; a view of 10,000 nodes 20 ms warm, 150 ms cold; pools, runs, status 2 ms"
