#!/bin/sh
# Stories of metrics in which one line too few counts.
#
# n1 is in two pools; in the one its last record is of now - 50, in the other of
# now - 30: it was heard of 20 s later there.  The values of one pool are not those of
# the other.  The second pool has two nodes, the first three.
#
# Of a run only its flash_end has come: it is a run all the same, of a group that
# nobody knows.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
PARTITION='acct$one'
records <<-'END'
	event -50 n1 work:a
	event -47 n2 work:a
	event -41 n3 work:a
END
PARTITION='acct$two'
records <<-'END'
	event -30 n1 work:a
	event -22 n2 work:a
END
PARTITION='acct$farm'
records <<-'END'
	event -5 n1 run:flash_end run=a
END
PARTITION='acct$pool'
# heard: when each node was, after BASE - 100.
heard() {
	poolscope stats metrics --metrics nodes >"$TMP/metrics" || return
	sed -n 's/^poolscope_node_heard_timestamp_seconds{partition="acct$\(.*\)",node="\(.*\)"} \(.*\)$/\1 \2 \3/p' \
		"$TMP/metrics" | awk -v base="$BASE" '{ printf "%s %s %.0f\n", $1, $2, $3 - base + 100 }' |
		LC_ALL=C sort
}
answer "each node of each pool was heard at its own time" "farm n1 95
one n1 50
one n2 53
one n3 59
two n1 70
two n2 78" heard
runs() {
	poolscope stats metrics >"$TMP/metrics" || return
	sed -n 's/^poolscope_runs{partition="acct$farm",model="testrun".*} \(.*\)$/\1/p' "$TMP/metrics" |
		awk '{ sum += $1 } END { print sum + 0 }'
}
answer "a run of which only an end has come is a run" "1" runs
