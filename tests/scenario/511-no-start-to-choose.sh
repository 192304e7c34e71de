#!/bin/sh
# Pools of which nothing says that they started twice.
#
# In the first no model requires a phase: a step of 10 s and one of 20 s, a day apart, are two
# steps, 30 s.
#
# In the second, a pool of containers, the event with which n2 began was lost.  n1 began at 0 and
# had its global resources from 10 to 40, n2 from 15 to 35.  It is one start, of which n1 is
# known to be; both are shown.  n1 begins again a day later, resources from 86,410 to 86,415: then
# the newest start is n1 alone, and n2 is in no start, but in all.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir -p "$TMP/models"
cp "$ROOT/deploy/models/cascade.conf" "$TMP/models"
model work <<-'END'
	phase "step" {
		start = "work:start"
		end = "work:end"
	}
END
aggregate --models "$TMP/models"
records <<-'END'
	event 0 n1 work:start
	event 10 n1 work:end
	event 86400 n1 work:start
	event 86420 n1 work:end
	END
steps_of() {
	columns count,sum poolscope stats phases --name 'work:*' --format csv "$@"
}
answer "a pool without starts is whole" 2,30.0 steps_of
answer "... also as its newest" 2,30.0 steps_of --start newest
answer "... also as all" 2,30.0 steps_of --start all
answer "... and is of no start" null field start poolscope stats phases --format json
check_status 1 "its start of a time" poolscope stats phases --start "$(at 100)"
check_printed "... is an error" "no node of partition .* began"

# shellcheck disable=SC2016 # a partition's name
PARTITION='acct$containers' POOLSCOPE_PARTITION='acct$containers'
# node NAME BEGIN FROM TO: its global resources; BEGIN -: it was lost.
node() {
	[ "$2" = - ] || echo "event $2 $1 nodeprep:start"
	echo "event $3 $1 cascade:start"
	echo "event $4 $1 cascade:gr-done"
}
{
	node n1 0 10 40
	node n2 - 15 35
} | records
resources() {
	columns node,global_resources_loaded poolscope stats cascade --sort node --format csv "$@"
}
answer "one start is all" "n1,30.0
n2,20.0" resources
answer "... and the only one" 1 field starts poolscope stats cascade --format json
node n1 86400 86410 86415 | records
answer "the newest of two" "n1,5.0" resources
answer "... of all" "n1,5.0
n2,20.0" resources --start all
