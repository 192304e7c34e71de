#!/bin/sh
# `status` is asked after each of the things that a monitor is for: a broker that was stopped, a
# node that is not heard, an aggregator without models; and on a node, which has an
# agent and no store.
#
# Now is 0.  n1's newest record is of -5 s, n2's of -1800 s (silent), n3's of -7200 s (gone): two
# were not heard for 10 minutes.  In the other pool nothing was heard for two days, since its
# node was stopped: that is no failure.  2 + 1 + 1 records, and a gap, which is a record, too: 5.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

# first WORDS NAME: the first line, after `status`.
first() {
	check_text "... in words, first" "$1" "$(head -1 "$TMP/out")"
}

# shellcheck disable=SC2119 # no arguments
aggregate
BASE=$(date +%s)
PARTITION='old$pool'
records <<-'END'
	event -172800 n1 work:a
	bye n1
END
check "a pool whose node was stopped" poolscope status
first "ok: all is well"
check_printed "... with the age of its newest record" "^newest  *2\.00 d old$"
PARTITION='acct$pool'
records <<-'END'
	event -5 n1 work:a
	event -5 n1 work:b
END
check "a node that is heard" poolscope status
check_printed "... some seconds ago" "^newest  *[0-9.]* s old$"

records <<-'END'
	event -1800 n2 work:a
	event -7200 n3 work:a
END
check_status 3 "two nodes are not heard" poolscope status
first "warning: nodes need attention (1 gone, 1 silent): poolscope nodes -p 'acct\$pool'"
check_text "... in 80 columns" 1 "$(awk 'length > 80 { wide = 1 } END { print !wide }' "$TMP/out")"
records <<-'END'
	event 0 n2 work:b
	event 0 n3 work:b
END
check "they are back" poolscope status
stop aggregator

# ---- a broker that was stopped
poolscope up >"$TMP/up" || exit 1
check "with a broker" poolscope status
kill "$(cat "$DIR/run/broker.pid")"
check "it is stopped" wait_until '! test -e "$DIR/run/broker.ipc"'
check_status 3 "a broker that was stopped" poolscope status
first "warning: the broker is not running, agents that send to it keep their records; poolscope up"
poolscope up >"$TMP/up" || exit 1
check "it is back" poolscope status
poolscope down >"$TMP/down"
rm "$DIR/log/broker.log"

# ---- no models
mkdir "$TMP/none"
aggregate --models "$TMP/none"
check_status 3 "no models" poolscope status
first "warning: the aggregator has no models, so there are no runs, and only phases without a model; --models names their directory"
stop aggregator

# ---- a node
DIR=$TMP/node
export POOLSCOPE_DIR="$DIR"
mkdir "$DIR"
start agent poolscope-agent --no-samples --no-clock --broker "ipc://$TMP/none/broker.ipc" -p 'acct$pool' -n node1 || exit 1
check "a node: its agent runs" poolscope status
first "ok: the agent runs; poolscope status on the head says what was received"
check_text "... nothing of an aggregator" "" "$(grep aggregator "$TMP/out")"
stop agent
check_status 3 "its agent was stopped" poolscope status
first "critical: the agent is not running, nothing is sampled"
check_text "... no aggregator is to be started here" "" "$(grep 'poolscope up' "$TMP/out")"
