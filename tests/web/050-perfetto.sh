#!/bin/sh
# A trace goes from the page to a window of Perfetto, for which another server stands in: the bytes
# are those of poolscope trace, of the slowest 8 nodes, of one, and of all; saved they are the same.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
. "$(dirname "$0")/lib.sh"

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
check "a recorded pool" poolscope-import cascade "$ROOT/deploy/demo/render-60.jsonl" --quiet
wait_until indexed 60
node=tvm-1392786949_21-20171014t165320z
pool='prodacct$render-60'
check "a trace of 8 nodes" poolscope-trace -p "$pool" --nodes worst:8 -o "$TMP/whole.pftrace" --quiet
check "a trace of one" poolscope-trace -p "$pool" -n "$node" -o "$TMP/node.pftrace" --quiet
port=$(free_port)
page_start --perfetto-url "http://127.0.0.1:$port"
page_judge perfetto.mjs "$port" "$TMP/whole.pftrace" "$TMP/node.pftrace" "$node"
stop web
