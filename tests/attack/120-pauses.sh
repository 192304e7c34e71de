#!/bin/sh
# Readers that ask more than is answered, and go: the aggregator has 60,000 events, each
# of 40 readers asks for them a thousand times, reads nothing, and is gone within two
# seconds.  While it answers them, the listener for readers does not read from most.
# SPDX-License-Identifier: MIT
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

reader=tcp://127.0.0.1:25620
check "an aggregator with a TCP listener for readers" start aggregator poolscope-aggregator \
	--insecure --reader "ipc://$DIR/run/reader.ipc" --reader "$reader"
/usr/bin/python3 -c 'for i in range(60000):
    print("event %d n1 work:step number=%d" % (i, i))' >"$TMP/events"
# shellcheck disable=SC2016 # a partition's name
check "60,000 events" sh -c '/usr/bin/python3 "$ROOT/tests/scenario/records.py" \
	"ipc://$DIR/run/intake.ipc" "acct\$pool" <"$TMP/events"'
check "40 readers that ask much and go end no service" \
	/usr/bin/python3 "$ROOT/tests/attack/pauses.py" "$reader" "$(pid aggregator)"
stop aggregator
check_text "the aggregator ends as it should" 0 "$STATUS"
