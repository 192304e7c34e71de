#!/bin/sh
# poolscope(7), "My node does not appear": each command that it names, where nothing is
# wrong and where something is.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
trap 'poolscope down >/dev/null 2>&1; _end' EXIT
export POOLSCOPE_PARTITION=acct/render POOLSCOPE_NODE=cn001 POOLSCOPE_PERIOD=1s
check "an instance" poolscope up --agent || exit 1
check "an event gets to the store" poolscope emit test hello --wait stored
check_text "... without a word" "" "$(cat "$TMP/out" "$TMP/err")"
check "... the node is live" wait_until 'poolscope nodes -p acct/render --from -7d 2>/dev/null | grep -q "^cn001  *live "' 30
check "all is well" poolscope status
check_printed "... in words" "^ok: all is well"
check "partitions are listed" poolscope partition list
check_printed "... by name" '^acct.render  *1  *[0-9]*$'
check "names and broker of the agent" sh -c "poolscope config show agent | grep -cE ' (partition|node|broker) '"
check_printed "... are three lines" "^3$"
kill "$(cat "$DIR/run/broker.pid")"
check_status 75 "without a broker" poolscope emit test hello --wait stored --timeout 10s
check_printed "... the event waits" "on disk in the agent's spool, but not stored within 10 s"
check "... the log says why" wait_until 'grep -q "warn poolscope-agent: lost broker ipc:" "$DIR/log/agent.log"' 10
check "... the spool has it" poolscope spool ls "$DIR/spool"
check_printed "... in a batch" "^acct.render  *[0-9a-f]* *1 "
kill "$(cat "$DIR/run/agent.pid")"
check "the agent ends" wait_until '! test -S "$DIR/run/agent.sock"' 30
check_status 75 "without an agent" poolscope emit test hello --wait stored
check_printed "... the event is left for it" "no agent at .*; left in "
