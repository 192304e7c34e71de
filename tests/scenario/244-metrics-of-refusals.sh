#!/bin/sh
# An aggregator accepts partitions of acct only.  Two senders bring a batch each for other$pool:
# it is not the owner of that one, twice.  A third one's batch for acct$pool is stored: nothing is
# refused.  Before the first, there is no such series.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

refused() {
	timeout 60 poolscope stats metrics "$@" >"$TMP/metrics" || return
	sed -n 's/^poolscope_refused_frames{place="ipc:.*",reason="\(.*\)"} /\1 /p' "$TMP/metrics"
}
aggregate --accept 'acct$*'
answer "nothing" "" refused
for sender in 1 2; do
	echo "event $sender n1 work:a" | PARTITION='other$pool' send_records >"$TMP/sender" 2>&1 && fail "sender $sender is refused"
done
echo "event 3 n1 work:a" | records
answer "two batches" "nack_owner 2" refused
check "the strict parser reads it" /usr/bin/python3 "$ROOT/tests/attack/metrics.py" "$TMP/metrics"
