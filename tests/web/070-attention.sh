#!/bin/sh
# The overview lists the nodes that need attention, as `poolscope nodes` does, and no others.
#
# Now is 0.  acct$pool: n1 to n13 were prepared for 20 s; n9 is prepared again since -600, which is 10 min
# and more while the test runs: longer than three times 20 s.  n10 was heard at -300: it is late, no
# reason.  n12 was heard at -1800: silent.  acct$late: a node that is late, and one that is live.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_steps
PARTITION='acct$pool'
{
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
		echo "event -8020 n$i work:start"
		echo "event -8000 n$i work:end"
	done
	for i in 1 2 3 4 5 6 7 8 11 13; do
		echo "event 0 n$i work:note"
	done
	cat <<-'END'
		event -600 n9 work:start
		event 0 n9 work:note
		event -300 n10 work:note
		event -1800 n12 work:note
	END
} | records
PARTITION='acct$late'
records <<-'END'
	event -300 n1 work:note
	event 0 n2 work:note
END
page_start
page_judge attention.mjs ${SHOTS:+"$SHOTS"}
stop web
stop aggregator
