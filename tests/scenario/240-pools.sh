#!/bin/sh
# Now is 0.  Three pools, and what was last heard of their nodes.  What is to be live here has a
# clock that is half an hour ahead, so that it stays so however long this takes; its records are
# 0 s old.
#
#	acct$blue	n1 at 1800: live.  n2 5 min ago (1 to 10 min): late.  n3 and n4 30 min
#			(10 min to 1 h): silent.  n5 3 h, n6 two days ago: gone.  The clock of n7 is 2.5 h behind: its sample of -7205 was
#			made at 1795, so that it is live.  7 nodes; 8 records: 6 events and 1
#			sample, and the definition of its metric group, which is an entity.
#	acct$red	r1 5 min ago: late.  1 event, of 300 s ago.
#	other$gold	g1 and g10 at 1800: live.  2 spans, one event.
#
# By silent nodes, acct$blue comes first (2, the others 0).  acct$* are the first two; acct/r*
# is acct$red.  A pool in the environment is a default for other questions, and hides no pool
# here.  Seen through two aggregators, of which the second one has an acct$red with one event of
# 1800 and a purple$one with an event of 3 h ago: acct$red is that of the second one, because
# its record is newer: live.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate
check "without a record" poolscope stats pools
check_printed "... there is no pool" '^no pool has records yet: start an agent'
answer "... and none as JSON" '[] ["none"] True' sh -c 'poolscope stats pools --format json | /usr/bin/python3 -c "
import json, sys
answer = json.load(sys.stdin)
print(answer[\"rows\"], json.dumps([n[\"key\"] for n in answer[\"notes\"]]), answer[\"complete\"])"'
PARTITION='other$gold'
records <<-'END'
	span 1790 1795 g1 main work
	span 1800 1810 g10 main work
	event -30 g10 work:a
END
PARTITION='acct$red'
records <<-'END'
	event -300 r1 work:a
END
PARTITION='acct$blue'
records <<-'END'
	event -172800 n6 work:a
	event -10800 n5 work:a
	event -1800 n4 work:a
	event -1800 n3 work:a
	event -300 n2 work:a
	event 1800 n1 work:a
	group n7 clock poolscope.clock.offset:ns:gauge
	sample -7205 n7 clock 9000000000000
END

# rows [OPTION...]: the counts of each pool, and whether the age of the newest record is that
# of the story (the machine may take a while).
rows() {
	timeout 60 poolscope stats pools --format json "$@" >"$TMP/pools" || return
	/usr/bin/python3 -c 'import json, sys, time
late = time.time() - int(sys.argv[2])
for row in json.load(open(sys.argv[1]))["rows"]:
    story = {"acct$blue": 0, "acct$red": 300, "other$gold": 0, "purple$one": 10800}[row["partition"]]
    if row["place"].startswith(sys.argv[3]):
        story = 0
    print(row["partition"], *(row[name] for name in "nodes live late silent gone records events samples spans".split()),
          "ok" if story <= row["age"] <= story + late * (story > 0) else row["age"])' "$TMP/pools" "$BASE" "${SECOND:-none}"
}
BLUE='acct$blue 7 2 1 2 2 8 6 1 0 ok'
RED='acct$red 1 0 1 0 0 1 1 0 0 ok'
GOLD='other$gold 2 2 0 0 0 3 1 0 2 ok'
answer "all pools" "$BLUE
$RED
$GOLD" rows
answer "by gone nodes" "$BLUE" rows --sort silent --top 1
answer "by name, again" "$BLUE
$RED
$GOLD" rows --sort partition
answer "those of an account" "$BLUE
$RED" rows -p 'acct$*'
answer "... written with a slash" "$RED" rows -p 'acct/r*'
answer "one" "$GOLD" rows -p 'other$gold'
check_status 1 "none" poolscope stats pools -p 'acct$rad'
check_printed "... is an error" 'no partition matches acct.rad; did you mean acct.red?$'
POOLSCOPE_PARTITION='acct$red'
answer "a default of this user hides none" 3 sh -c 'poolscope stats pools --format jsonl | grep -c "^{.partition"'
# when POOL: the times of its oldest and newest record, after now.
when() {
	columns oldest,newest poolscope stats pools -p "$1" --format csv >"$TMP/when" || return
	/usr/bin/python3 -c 'import calendar, sys, time
print(*(calendar.timegm(time.strptime(t, "%Y-%m-%dT%H:%M:%SZ")) - int(sys.argv[2])
        for t in open(sys.argv[1]).read().strip().split(",")))' "$TMP/when" "$BASE"
}
answer "from when to when the records are" "-172800 1800" when 'acct$blue'
answer "as CSV" "acct\$blue,7,2,8
acct\$red,1,0,1
other\$gold,2,2,3" columns partition,nodes,live,records poolscope stats pools --format csv
check "the table" poolscope stats pools
check_printed "... has them" '^acct.blue  *7 *2 *1 *2 *2 *0 *0 *8 *0 s$'
check_text "... and fits 80 columns" 1 "$(awk 'length > 80 { wide = 1 } END { print !wide }' "$TMP/out")"
for pool in blue red; do
	poolscope nodes -p "acct\$$pool" --format csv >"$TMP/nodes"
	check_text "as many are live as poolscope nodes says, in $pool" "$(grep -c ',live,' "$TMP/nodes")" \
		"$(poolscope stats pools -p "acct\$$pool" --format json | sed -n 's/.*"live": \([0-9]*\).*/\1/p')"
done
unset POOLSCOPE_PARTITION

first=$DIR
second=$TMP/second
mkdir -m 700 "$second"
start two poolscope-aggregator --dir "$second" || exit 1
DIR=$second
export POOLSCOPE_DIR="$second"
PARTITION='acct$red'
records <<-'END'
	event 1800 r1 work:b
END
PARTITION='purple$one'
records <<-'END'
	event -10800 p1 work:a
END
DIR=$first
export POOLSCOPE_DIR="$first"
SECOND=ipc://$second/run/reader.ipc
set -- --connect "ipc://$first/run/reader.ipc" --connect "$SECOND"
SECOND_RED='acct$red 1 1 0 0 0 1 1 0 0 ok'
answer "one of the second" "$SECOND_RED" rows "$@" -p 'acct$red'
SECOND=none
answer "one that only the second has" 'purple$one 1 0 0 0 1 1 1 0 0 ok' rows "$@" -p 'purple$*'
check "the table of both" poolscope stats pools "$@"
check_printed "... says where each is kept" "^acct.red .* ipc://.*/second/run/reader.ipc\$"
