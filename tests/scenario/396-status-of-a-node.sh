#!/bin/sh
# On a node, `status` says how much its spool has, and whether the broker acknowledges.  The times
# of the files are set here, as if an hour had passed: ACKED is of -3600 s, the segment of -10 s,
# so that for 3590 s, which are 59.8 min, what was stored was not acknowledged.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"
NOW=$(date +%s)

start agent poolscope-agent --no-samples --no-clock --spool-bytes 1MiB --segment-bytes 64KiB \
	--broker "ipc://$TMP/none/broker.ipc" -p 'acct$pool' -n n1 || exit 1
check "a record is stored" poolscope-emit work start
check "nothing was stored for long" poolscope status
check_printed "the size of the segments" "^spool  *64.0 KiB of segments\$"
touch -d "@$((NOW - 3600))" "$DIR/spool/ACKED"
find "$DIR/spool" -name '*.seg' -exec touch -d "@$((NOW - 10))" {} +
check_status 3 "nothing is acknowledged" poolscope status
check_text "... in words, first" "warning: the broker acknowledged nothing of what the agent stored for 59.8 min, the records wait in the spool; the agent's log has the reason" \
	"$(head -1 "$TMP/out")"
touch -d "@$((NOW - 10))" "$DIR/spool/ACKED"
check "all is acknowledged" poolscope status
stop agent
