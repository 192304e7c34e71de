#!/bin/sh
# A farm reports more than its model knows: packages that it installs.
#
# r1 flashes twice, and installs package_1 three times and package_2 once, from two nodes.
# One package_1 is of the run, but from another source (lab), which is no event of the
# farm's runs.  r2 has nothing but a package_1.  r3 has a run of 70 packages with 70
# names, and r4 starts 600 flashes.
#   r1: flash_start 2, flash_end 2, package_1 3, package_2 1: 8 events
#   r2: package_1 1                                 r4: flash_start 600
#   r3: the first 64 names once each, and 70 - 64 = 6 events as _other
# r5 reports that it is out of order with an event that no model knows: its error counts.
#
# The counts are the same from the aggregator, from its store, compacted, derived again,
# and restored from a backup.  Before r1's first hour was over it had two events; when
# retention has deleted that hour, 8 - 2 events are left, also when all is derived again.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"
BASE=$(($(date +%s) / 3600 * 3600 - 72 * 3600)) # a whole hour, three days ago

start aggregator poolscope-aggregator --models "$ROOT/deploy/models" || exit 1
/usr/bin/python3 - <<'END' | records
for line in """
event  100 n1 run:package_1   run=r1
event  200 n1 run:flash_start run=r1
event 3600 n1 run:flash_end   run=r1
event 3700 n2 run:package_1   run=r1
event 3800 n1 run:flash_start run=r1
event 3803 n1 run:flash_end   run=r1
event 3900 n1 run:package_1   run=r1
event 3901 n1 run:package_2   run=r1
event 3902 n1 lab:package_1   run=r1
event 4000 n2 run:package_1   run=r2
event 7300 n2 run:broken      run=r5 error=smoke device_group=phones
""".split("\n"):
    print(line)
for i in range(70):
    print("event", 7200 + i, "n1 run:p%d" % i, "run=r3")
for i in range(600):
    print("event", 7200 + i, "n1 run:flash_start run=r4")
END

# counts [OPTION...]: of each run, the names of its events and how many.
# shellcheck disable=SC2120 # unchanged passes options
counts() {
	poolscope-stats iterations --format json "$@" >"$TMP/counts.json" || return
	/usr/bin/python3 -c 'import json, sys
runs = {}
for row in json.load(open(sys.argv[1]))["rows"]:
    runs.setdefault(row["run"], {})[row["event"]] = row["count"]
for run in sorted(runs):
    of = runs[run]
    if run == "r3":
        print(run, len(of), sum(of.values()), of.get("_other"), of.get("p0"), of.get("p63"), of.get("p64"))
    else:
        print(run, *sorted("%s=%d" % item for item in of.items()))' "$TMP/counts.json"
}
LATER="r2 package_1=1
r3 65 70 6 1 1 None
r4 flash_start=600
r5 broken=1"
ALL="r1 flash_end=2 flash_start=2 package_1=3 package_2=1
$LATER"

unchanged() {
	_where=$1
	shift
	answer "the counts, $_where" "$ALL" counts "$@"
	answer "the durations, $_where" "r1,1,3400
r1,2,3" steps run,iteration,seconds poolscope-stats deltas --run r1 --format csv "$@"
	answer "an error that an unknown event reports, $_where" "1" \
		columns errors poolscope-stats groups --group phones --format csv "$@"
}
unchanged "asked of the aggregator" --connect "ipc://$DIR/run/reader.ipc"
check "counts of r3" poolscope-stats iterations --format json --run r3
check_printed "... what has no name of its own is reported" "6 events are counted as _other.*64 names"
answer "CSV has a row for each name" "r1,flash_start,2
r1,flash_end,2
r1,package_1,3
r1,package_2,1" columns run,event,count poolscope-stats iterations --run r1 --format csv
check "the table" poolscope-stats iterations --run r1 --sort other
check_printed "... has what the model does not name" "^r1  *- *package_1  *3  *yes$"
check_text "... and fits 80 columns" "" "$(awk 'length > 80' "$TMP/out")"
answer "the first event of r1 is a package" 'r1,flash_start,2
r1,flash_end,2
r1,package_1,3
r1,package_2,1' \
	columns run,event,count poolscope-stats iterations --format csv --from "$(at 100)" --to "$(at 101)"
check "a dump of r2" poolscope-dump --kind run --name testrun:r2
check_printed "... has it" '"events": \[\], "others": {"run:package_1": 1}'
unchanged "read from its store" --store "$DIR/store"
check "a backup is made" poolscope-admin backup "$TMP/backup"
stop aggregator
check "all hours are compacted" poolscope-admin compact --models "$ROOT/deploy/models"
check "runs are derived again" poolscope-admin rebuild --models "$ROOT/deploy/models"
unchanged "derived again" --store "$DIR/store"
check "verify finds nothing" poolscope-admin verify
check "the backup is installed" poolscope-admin restore "$TMP/backup" --set-aside
unchanged "restored" --store "$DIR/store"

# ---- what is older than the second hour of the story is deleted
start aggregator poolscope-aggregator --models "$ROOT/deploy/models" \
	--retain "$(($(date +%s) - BASE - 3600 - 1))s" || exit 1
LEFT="r1 flash_end=2 flash_start=1 package_1=2 package_2=1
$LATER"
left() {
	# shellcheck disable=SC2119 # no options
	[ "$(counts)" = "$LEFT" ]
}
wait_until left 30 || fail "the first hour is deleted"
answer "what is left of the runs" "$LEFT" counts
answer "... and of their durations" "r1,1,3" steps run,iteration,seconds \
	poolscope-stats deltas --run r1 --format csv
stop aggregator
check "verify finds nothing" poolscope-admin verify
check "all is derived again" poolscope-admin rebuild --models "$ROOT/deploy/models"
answer "... which changes nothing" "$LEFT" counts --store "$DIR/store"
