#!/bin/sh
# What is shown is as old as it says, on a page that is left open: without a record ages and
# states count on; then broker and aggregator are killed and come back, the page is asleep while a third
# node is heard, and poolscope-web is killed.
# n1 is heard as soon as the page shows the pool, so that it is late 60 s after; n2 was heard 5 min
# ago; of the other pool nothing was heard for 110 s, so that it is quiet (2 min) in 10 s.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate
start broker poolscope-broker || exit 1
BASE=$(date +%s)
records <<-'END'
	event -300 n2 work:other
END
PARTITION='acct$quiet'
records <<-'END'
	event -110 n1 work:other
END
page_start
PARTITION='acct$pool'
(
	wait_until 'test -e "$TMP/shown"' 300
	BASE=$(date +%s)
	records <<-'END'
		event 0 n1 work:other
	END
	wait_until 'test -e "$TMP/asleep"' 300
	records <<-'END'
		event 0 n3 work:other
	END
	touch "$TMP/asleep.sent"
) &
page_judge old.mjs "$(pid aggregator)" "$(pid broker)" "$(pid web)" "$TMP/shown" "$TMP/asleep" ${SHOTS:+"$SHOTS"}
rm -f "$TMP/aggregator.pid" "$TMP/broker.pid" "$TMP/web.pid"
wait
