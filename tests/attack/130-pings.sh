#!/bin/sh
# Readers that ask more than is answered, each question with a PING behind it, and go.
# The aggregator has 60,000 events; each of 40 readers asks for them a thousand times,
# reads nothing, and resets its connection within a second; and five at a time who ask ten
# times and reset at once.  Without a key, and with one.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

reader=tcp://127.0.0.1:25632
/usr/bin/python3 -c 'for i in range(60000):
    print("event %d n1 work:step number=%d" % (i, i))' >"$TMP/events"
check "an aggregator with a TCP listener for readers" start aggregator poolscope-aggregator \
	--insecure --reader "ipc://$DIR/run/reader.ipc" --reader "$reader"
check "60,000 events" sh -c '/usr/bin/python3 "$ROOT/tests/scenario/records.py" \
	"ipc://$DIR/run/intake.ipc" "acct\$pool" <"$TMP/events"'
check "readers whose PINGs wait when they go end no service" \
	/usr/bin/python3 "$ROOT/tests/attack/pings.py" "$reader" "$(pid aggregator)"
stop aggregator
check_text "the aggregator ends as it should" 0 "$STATUS"

# ---- with a key
{
	poolscope-keys new server --role server
	poolscope-keys new reports --role reader -p 'acct$pool' -o "$TMP/reports.key"
} >/dev/null || exit 1
check "an aggregator whose listener has keys" start aggregator poolscope-aggregator \
	--reader "ipc://$DIR/run/reader.ipc" --reader "$reader"
check "readers with a key whose PINGs wait end no service" \
	/usr/bin/python3 "$ROOT/tests/attack/pings.py" "$reader" "$(pid aggregator)" "$TMP/reports.key"
stop aggregator
check_text "the aggregator ends as it should" 0 "$STATUS"
