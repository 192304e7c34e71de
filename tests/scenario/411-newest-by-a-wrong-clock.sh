#!/bin/sh
# Now is 0.  The clock of n1, the only node of acct$behind, is 100,000 s behind, as it measured: its
# sample of -100010 was made at -10.  The clock of n2 of acct$ahead is 100,000 s ahead: its sample of
# 99980 was made at -20.  The newest record of each pool is as old as it was made: an alert about pools that are
# silent must not begin because of the one, nor never come because of the other.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
CLOCK="poolscope.clock.offset:ns:gauge poolscope.clock.error:ns:gauge poolscope.clock.drift:ns/s:gauge poolscope.clock.drift.error:ns/s:gauge poolscope.clock.round_trip:ns:gauge poolscope.clock.generation:1:gauge poolscope.clock.generation.begin:ns:gauge"
PARTITION='acct$behind'
records <<-END
	group n1 clock $CLOCK
	sample -100010 n1 clock 100000000000000 1000 0 0 1000 1 0
END
PARTITION='acct$ahead'
records <<-END
	group n2 clock $CLOCK
	sample 99980 n2 clock -100000000000000 1000 0 0 1000 1 0
END
# newest POOL: the metric, as seconds from now on.
newest() {
	poolscope-stats metrics -p "$1" | awk -v base="$BASE" \
		'/^poolscope_pool_newest_record_timestamp_seconds/ { printf "%d\n", $2 - base }'
}
answer "a clock behind" -10 newest 'acct$behind'
answer "a clock ahead" -20 newest 'acct$ahead'
