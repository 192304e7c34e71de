#!/bin/sh
# For 100 hours, each hour in its middle, a farm's node reports an event, a span of 10 s, a
# sample, an entity, and a test run of its own that flashes for 60 s.  Then --retain is 50 h.
# Records are deleted by whole hours of their own time: those of the 50 newest hours stay.
#
#	events: 1 and 2 of a run an hour	150 left of 300
#	spans, samples, runs			50 left of 100, each
#	flashes					50 left, 50 x 60 = 3000 s
#	entities of kind host			100, they are no records of a time
#	entities of kind run			50, they go with their run
#
# One more run flashes from 30 s before the oldest hour that is left to 30 s after it: its
# start is deleted and its end stays, so that it is a run with an event and no flash: 51 runs,
# 151 events.  What is left is the same when runs are derived again, and when all is compacted.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
# Records are deleted by whole hours: not while one ends.
while [ "$(date +%M)" -ge 57 ]; do sleep 1; done
BASE=$(($(date +%s) / 3600 * 3600 - 100 * 3600))
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
/usr/bin/python3 - <<'END' | records
print("group n1 depth level:1:gauge")
for i in range(100):
    t = 3600 * i + 1800
    print("event", t, "n1 other:thing")
    print("span", t, t + 10, "n1 main work")
    print("sample", t, "n1 depth", i)
    print("entity n1 host h%d" % i)
    print("entity n1 run r%d device_group=phones" % i)
    print("event", t, "n1 run:flash_start run=r%d" % i)
    print("event", t + 60, "n1 run:flash_end run=r%d" % i)
print("event", 50 * 3600 - 30, "n1 run:flash_start run=cut")
print("event", 50 * 3600 + 30, "n1 run:flash_end run=cut")
END

# left OPTION...: how many of each kind, and the flashes of the group.
# shellcheck disable=SC2120 # answer passes options
left() {
	for _kind in event span sample run; do
		echo "$_kind $(poolscope-dump --kind $_kind "$@" | wc -l)"
	done
	for _kind in host run; do
		echo "$_kind $(poolscope-dump --kind entity --name "$_kind:*" "$@" | wc -l)"
	done
	poolscope-stats groups --table steps --format csv "$@" >"$TMP/groups.csv" || return
	/usr/bin/python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if (row["group"], row["phase"], row["time"], row["of"]) == ("phones", "flash", "event_emit", "per_iteration"):
        print("flash", row["count"], row["sum"])' "$TMP/groups.csv"
}
answer "all is there" "event 302
span 100
sample 100
run 101
host 100
run 100
flash 100 6000.0" left
stop aggregator
aggregate --models "$ROOT/deploy/models" --retain 50h
LEFT="event 151
span 50
sample 50
run 51
host 100
run 50
flash 50 3000.0"
is_left() {
	# shellcheck disable=SC2119 # no options
	[ "$(left)" = "$LEFT" ]
}
wait_until is_left 30
answer "what is left" "$LEFT" left
answer "... of the run that was cut" 'flash_end,1' \
	columns event,count poolscope-stats iterations --format csv --run cut
stop aggregator
check "verify finds nothing" poolscope-admin verify
check "all is derived again" poolscope-admin rebuild --models "$ROOT/deploy/models"
answer "... which changes nothing" "$LEFT" left --store "$DIR/store"
check "all is compacted" poolscope-admin compact --models "$ROOT/deploy/models"
answer "... which changes nothing" "$LEFT" left --store "$DIR/store"
