#!/bin/sh
# Runs of a farm on the page: what describes them, the top errors, filters, and the view of a run.
#
# acct$farm, run 1 to 6, begun at 100 to 600 s: 1 and 4 failed by "flash:timeout", 3 by
# "<b>boot</b>", 5 without a text.  So the most frequent error is flash:timeout, of 2 runs, 4 the
# newest.  1, 2 and 4 are of queue nightly, and waited 10, 20 and 40 s for a device, which is the
# step initialisation to queue; the median of the group is 20 s.
#
# acct$many: 60 runs, of which those of an even number failed by a text of 1,000 letters without a
# blank: a page has 20, so the 30 failed ones are 20 and 10.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
PARTITION='acct$farm'
records <<-'END'
	event 100 n1 run:queue_start run=1
	event 110 n1 run:queue_end run=1
	event 160 n1 run:publish run=1
	event 200 n1 run:queue_start run=2
	event 220 n1 run:queue_end run=2
	event 260 n1 run:publish run=2
	event 300 n1 run:queue_start run=3
	event 400 n1 run:queue_start run=4
	event 440 n1 run:queue_end run=4
	event 460 n1 run:publish run=4
	event 500 n1 run:queue_start run=5
	event 600 n1 run:queue_start run=6
	entity n1 run 1 device_group=phones queue=nightly configuration=c1 requestor=ada error=flash:timeout
	entity n1 run 2 device_group=phones queue=nightly configuration=c2 requestor=bob
	entity n1 run 3 device_group=phones queue=hotfix configuration=c1 requestor=ада error=<b>boot</b>
	entity n1 run 4 device_group=phones queue=nightly configuration=c1 requestor=ada error=flash:timeout
	entity n1 run 5 device_group=phones queue=7 configuration=c1 requestor=<i>bob</i> error=1.5
END
poolscope-stats runs --format json --newest 20 -p "$PARTITION" >"$TMP/answer" || exit 1
PARTITION='acct$many'
long=$(printf 'x%.0s' $(seq 1000))
for i in $(seq 60); do
	echo "event $((100 * i)) n1 run:queue_start run=r$i"
	[ $((i % 2)) = 1 ] || echo "entity n1 run r$i queue=$long error=$long"
done | records
page_start
page_judge runs.mjs "$TMP/answer" ${SHOTS:+"$SHOTS"}
stop web
stop aggregator
