#!/bin/sh
# A farm's test runs, in the order in which they arrive, and the hour in which they flash:
#
#	a 10	b 30	c 20	d (described, no event yet)	e 70
#
# The newest first: e 70, b 30, c 20, a 10, d.  Then come late records: b was requested in hour
# 5 already, a ends in hour 90, which is no beginning, and f flashed in hour 25:
#
#	e 70	f 25	c 20	a 10	b 5	d
#
# From hour 8 to hour 26 began f, c and a; of them a and c are of group phones.  Then records
# older than 50 hours are deleted, which are those before hour 50: of a the end of hour 90 is
# left, of e all, d has no time, and nothing is left of b, c and f:
#
#	a 90	e 70	d
#
# The order is the same when runs are derived again, also by way of models without runs, and
# when all is compacted.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
# Records are deleted by whole hours: not while one ends.
while [ "$(date +%M)" -ge 57 ]; do sleep 1; done
BASE=$(($(date +%s) / 3600 * 3600 - 100 * 3600))
. "$(dirname "$0")/lib.sh"

# hour H EVENT RUN [PROPERTY]: an event in the middle of that hour.
hour() {
	echo "event $(($1 * 3600 + 1800)) n1 run:$2 run=$3 ${4-}"
}

# newest N [OPTION...]: the ids of the newest runs.
newest() {
	ids --newest "$@"
}

# ids [OPTION...]: the ids of runs, in the order of the answer.
# shellcheck disable=SC2120 # answer passes options
ids() {
	poolscope-stats runs --format json "$@" >"$TMP/newest" || return
	/usr/bin/python3 -c 'import json, sys
print(*(row["run"] for row in json.load(open(sys.argv[1]))["rows"]))' "$TMP/newest"
}

aggregate --models "$ROOT/deploy/models"
{
	hour 10 flash_start a device_group=phones
	hour 30 flash_start b device_group=tablets
	hour 20 flash_start c device_group=phones
	echo "entity n1 run d device_group=phones"
	hour 70 flash_start e device_group=tablets
} | records
answer "all" "e b c a d" newest 10
answer "the newest two" "e b" newest 2
answer "the two after them" "c a" newest 2 --after b
answer "the one after these, which has no time" "d" newest 2 --after a
answer "the newest one by its durations" "e,tablets" columns run,group \
	poolscope-stats runs --format csv --newest 1
{
	hour 5 request b
	hour 90 flash_end a
	hour 25 flash_start f device_group=tablets
} | records
answer "after e, what has come meanwhile does not move the rest" "f c" newest 2 --after e
answer "of group phones d follows a" "d" newest 2 --after a --group phones
check_status 1 "after a run that is none of these" newest 2 --after b --group phones
check_printed "says so" "no run 'b' is among these; begin again with the newest"
wrong_usage "--after without --newest" "goes with --newest" poolscope-stats runs --after b -p "$PARTITION"
answer "late events" "e f c a b d" newest 10
answer "... the newest three" "e f c" newest 3
answer "... of a window" "f c" newest 2 --from "$(at 28800)" --to "$(at 93600)"
answer "... of a group" "c a" newest 2 --group phones
answer "... of both" "c a" newest 10 --group phones --from "$(at 28800)" --to "$(at 93600)"
answer "... sorted" "c
e
f" columns run poolscope-stats runs --format csv --newest 3 --sort run
answer "without --newest the order is that of appearance" "a b c d e f" ids
check_status 2 "--newest is not for runs by name" poolscope-stats deltas --newest 2 --run a
check_status 2 "... nor for groups" poolscope-stats groups --newest 2
stop aggregator

aggregate --models "$ROOT/deploy/models" --retain 50h
LEFT="a e d"
is_left() {
	[ "$(newest 10)" = "$LEFT" ]
}
wait_until is_left 30
answer "what is left" "$LEFT" newest 10
stop aggregator
check "verify finds nothing" poolscope-admin verify
check "all is derived again" poolscope-admin rebuild --models "$ROOT/deploy/models"
answer "... which changes nothing" "$LEFT" newest 10 --store "$DIR/store"
check "... and verify finds nothing" poolscope-admin verify
check "all is compacted" poolscope-admin compact --models "$ROOT/deploy/models"
answer "... which changes nothing" "$LEFT" newest 10 --store "$DIR/store"
model empty <<-'END'
	phase "step" {
		start = "work:start"
		end = "work:end"
	}
END
check "all is derived again with models that have no runs" poolscope-admin rebuild --models "$TMP/models"
check "... and verify finds nothing" poolscope-admin verify
check "... and with those that have some" poolscope-admin rebuild --models "$ROOT/deploy/models"
answer "... which changes nothing" "$LEFT" newest 10 --store "$DIR/store"
check "the partition is dropped" poolscope-partitions drop --yes "$PARTITION"
check "... and verify finds nothing" poolscope-admin verify
