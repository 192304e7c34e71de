#!/bin/sh
# Now is 0.  n1 began 40 min ago and has only begun to prepare: its last sign is longer ago
# than 10 min, so that its start is incomplete; with a gap of an hour it is starting.  n2 began
# 5 min ago and was prepared a minute later: starting.  Then it is done: ready, after 120 s.
# The first start has no ready node, and no time of one.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate --models "$ROOT/deploy/models"
records <<-'END'
	event -2400 n1 nodeprep:start
	event -300 n2 nodeprep:start
	event -240 n2 nodeprep:end
END
starts() {
	columns state,nodes,ready,first_ready,last_ready,duration poolscope stats starts --format csv "$@"
}
answer "one is starting" "starting,1,0,,,
incomplete,1,0,,," starts
answer "both, and they are one" "starting,2,0,,," starts --gap 1h
records <<-'END'
	event -230 n2 cascade:start
	event -180 n2 cascade:gr-done
END
answer "it is ready" "ready,1,1,120.0,120.0,120.0
incomplete,1,0,,," starts
stop aggregator
