# top - what poolscope-top takes in a terminal of 200x60 that shows 10,000 nodes, of which a tenth
# is heard each second: processor time, the time from a key to the screen, the greatest resident
# set; and what of that is its own, without the mapped files.
#
#   NODES=1000 SECONDS_EACH=60 sh tests/bench/top.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
nodes=${NODES:-10000}
seconds=${SECONDS_EACH:-90}

poolscope up >/dev/null
BASE=$(date +%s)
export BASE
send() {
	/usr/bin/python3 tests/scenario/records.py "ipc://$POOLSCOPE_DIR/run/intake.ipc" 'acct$pool'
}
/usr/bin/python3 tests/bench/top.py first "$nodes" | send
wait_indexed
# They go on until the instance stops.
/usr/bin/python3 tests/bench/top.py each "$nodes" "$((seconds + 60))" 2>/dev/null | send 2>/dev/null &
sender=$!
trap 'kill "$sender" 2>/dev/null; poolscope down >/dev/null 2>&1; rm -rf "$TMP"' EXIT
echo "$nodes nodes for $seconds s"
/usr/bin/python3 tests/bench/top.py watch "$seconds" poolscope-top -p 'acct$pool'
echo "goal: 1 % of a core, 50 ms, 16 MiB"
