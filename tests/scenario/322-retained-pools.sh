#!/bin/sh
# Retention goes through all pools, and through what was merged.
#
# Records of 100 hours ago and of an hour ago; --retain is 50 h.
# Pools one and two have an old and a new event each: 1 is left of each.
# Pool a has 3 old test runs, each with an entity that describes it: none is left, and
# none of the entities.  Pool b has 3 old ones and 5 new ones, which stay.
# In pool long a step begins 100 hours ago and ends an hour ago.  The store was compacted,
# so that both events are in one part; the start is deleted: 0 steps, 1 open end.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/scenario/lib.sh
# Records are deleted by whole hours: not while one ends.
while [ "$(date +%M)" = 59 ]; do sleep 1; done
BASE=$(($(date +%s) / 3600 * 3600 - 100 * 3600))
. "$(dirname "$0")/lib.sh"

new=$((99 * 3600))
# into POOL: the records of standard input.
into() {
	PARTITION="acct\$$1"
	records
}
# runs FROM TO SECONDS: test runs with their entities.
runs() {
	i=$1
	while [ "$i" -le "$2" ]; do
		echo "event $(($3 + i)) n1 run:request run=r$i"
		echo "entity n1 run r$i device_group=g"
		i=$((i + 1))
	done
}
events() {
	poolscope-dump -p "acct\$$1" --kind event --format jsonl | wc -l
}
entities() {
	field "partitions/acct\$$1/records_entity" "$ROOT/tests/flow/counters.py"
}

cp -r "$ROOT/deploy/models" "$TMP/models"
model work <<-'END'
	phase "step" {
		start = "work:start"
		end = "work:end"
	}
END
aggregate --models "$TMP/models"
for pool in one two; do
	into "$pool" <<-END
		event 10 n1 other:old
		event $new n1 other:new
	END
done
runs 1 3 10 | into a
{
	runs 1 3 10
	runs 4 8 $new
} | into b
into long <<-END
	event 10 n1 work:start
	event $new n1 work:end
END
check_text "3 entities, and 8" "3 8" "$(entities a) $(entities b)"
stop aggregator
check "the store is compacted" poolscope-admin compact --models "$TMP/models"

aggregate --models "$TMP/models" --retain 50h
check "retention ends" wait_until '[ "$(field aggregator/retained_ns "$ROOT/tests/flow/counters.py")" -gt 0 ]' 30
check_text "an event of each pool is left" "1 1" "$(events one) $(events two)"
check_text "no entity of pool a, 5 of pool b" "0 5" "$(entities a) $(entities b)"
PARTITION='acct$long'
answer "the end of the step is left" "0,0,1" columns count,open_starts,open_ends \
	poolscope-stats phases -p 'acct$long' --name work:step --format csv
stop aggregator
check "verify finds nothing" poolscope-admin verify
