#!/bin/sh
# A head deletes its old records, the archive keeps them, and then more comes: ends
# whose starts the head has deleted, test runs that go on, and events of the hours that it
# deleted.  What the archive answers afterwards is what a store answers that was given the
# same and has deleted nothing: statistics, pools and groups included.  Events of phases that
# the head has no records of any more are missed like others, if the archive loses them.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/clickhouse_server.sh
. "$(dirname "$0")/clickhouse_server.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
archive_alone
golden=$ROOT/tests/golden

# Two halves, each in the order of its times: many starts are in the first one, and
# their ends in the other.  An event in ten of the first half comes with the other.
/usr/bin/python3 - "$golden/cascade/p07_pool60_p2p/emits.jsonl" "$golden/testrun/m02_fortyfive/events.jsonl" "$TMP" <<'END'
import json, sys
for path, name, time in ((sys.argv[1], "start", "ts"), (sys.argv[2], "runs", None)):
    lines = open(path).read().splitlines()
    if time:
        lines.sort(key=lambda line: float(json.loads(line)[time] or 0))
    half = len(lines) // 2
    late = lines[5:half:10]
    with open("%s/%s.1" % (sys.argv[3], name), "w") as to:
        to.writelines(line + "\n" for i, line in enumerate(lines[:half]) if line not in late)
    with open("%s/%s.2" % (sys.argv[3], name), "w") as to:
        to.writelines(line + "\n" for line in late + lines[half:])
END
# give HALF
give() {
	mkdir -p "$TMP/testrun.$1"
	cp "$golden/testrun/m02_fortyfive/testruns.jsonl" "$TMP/testrun.$1/"
	cp "$TMP/runs.$1" "$TMP/testrun.$1/events.jsonl"
	poolscope-import emits -p 'a$start' "$TMP/start.$1" && poolscope-import -p 'a$runs' testrun "$TMP/testrun.$1"
}
# answers DIR [OPTION...]
answers() {
	_to=$1
	shift
	mkdir -p "$_to"
	for _what in phases cascade starts breakdown; do
		poolscope-stats $_what -p 'a$start' --format json "$@" >"$_to/$_what.json" || return 1
	done
	for _what in runs groups phases; do
		poolscope-stats $_what -p 'a$runs' --format json "$@" >"$_to/runs.$_what.json" || return 1
	done
	for _pool in start runs; do
		for _kind in event phase run entity; do
			poolscope-dump -q -p "a\$$_pool" --kind $_kind --format jsonl "$@" >"$_to/$_pool.$_kind" || return 1
		done
	done
	poolscope-stats pools --format json "$@" >"$_to/pools.json" || return 1
	# Each import has a session and is received later; answers come from somewhere else, and later.
	sed -i 's/"\(receive_ns\|session\|age\)": "*[0-9a-f.]*"*/"\1": 0/g; /"place": /d' "$_to"/*
	# Their order is of a store's own key.
	for _pool in start runs; do sort -o "$_to/$_pool.phase" "$_to/$_pool.phase"; done
}
equal() {
	if diff -r "$TMP/whole" "$2" >"$TMP/differs" 2>&1; then
		pass "$1 ($(find "$2" -type f | wc -l) files)"
	else
		fail "$1" "$TMP/differs"
	fi
}
events_of() { poolscope-dump -q -p "a\$$1" --kind event --store "$DIR/store" | wc -l; }

# ---- a store that deletes nothing
{ start aggregator poolscope-aggregator --models "$ROOT/deploy/models" && start broker poolscope-broker; } || exit 1
check "the first half is imported" give 1
check "... and the other" give 2
check "... all of it" wait_until indexed 60
check "a store that deletes nothing answers" answers "$TMP/whole"
check_text "... 934 events of the start" 934 "$(wc -l <"$TMP/whole/start.event")"
stop broker
stop aggregator
mv "$DIR/store" "$TMP/store.whole"

# ---- a head with an archive
archive_start || exit 1
check "a head is given the first half" give 1
check "... and archives it" settled
stop aggregator
# deleting: it deletes what is older than 50 hours; when it starts, also what has come since.
deleting() {
	start aggregator poolscope-aggregator --archive "$CLUSTER/pool" --archive-password "$TMP/writer" --archive-after 200ms \
		--models "$ROOT/deploy/models" --retain 50h || exit 1
	for pool in start runs; do
		check "it deletes the events of a\$$pool" wait_until "[ \"\$(events_of $pool)\" = 0 ]" 60
	done
}
deleting
check "then it is given the other half" give 2
check "... and archives it" settled
stop aggregator
deleting
check "all is archived" settled
check "the head answers" answers "$TMP/head"
equal "... what the store does that deletes nothing" "$TMP/head"
stop broker
stop aggregator
check "the archive answers" answers "$TMP/archive" --connect "$CLUSTER/pool" --archive-password "$TMP/writer"
equal "... what the store does that deletes nothing" "$TMP/archive"
# Those of the forms that the phases have.
now="(part, phase, form) IN (SELECT part, phase, form FROM pool.sums FINAL WHERE form != 0)"
check_text "all events of phases that it has are committed" \
	"$(query "SELECT count() FROM (SELECT DISTINCT part, phase, form, key_hash, scope, ts, role, session, seq, idx, node FROM pool.phases WHERE $now)")" \
	"$(query "SELECT sum(rows) FROM (SELECT part, name AS phase, hash AS form, rows FROM pool.commits FINAL WHERE tbl = 'phases') WHERE $now")"
check "a store is made of the archive" poolscope-archive restore --from "$CLUSTER/pool" --archive-password "$TMP/writer" "$TMP/copy"
check "... which answers" answers "$TMP/restored" --store "$TMP/copy"
equal "... the same" "$TMP/restored"
check "so does one of the last half" poolscope-archive restore --from "$CLUSTER/pool" --archive-password "$TMP/writer" \
	--since 2017-10-16 "$TMP/half"
check_text "... whose pools are whole" "$(grep records "$TMP/whole/pools.json")" \
	"$(poolscope-stats pools --format json --store "$TMP/half" | grep records)"

# ---- the archive loses an event that the head has deleted
phases() { poolscope-stats phases -p 'a$start' --connect "$CLUSTER/pool" --archive-password "$TMP/writer"; }
check "phases are answered" phases
first=$(query "SELECT min(ts) FROM pool.phases WHERE part = sipHash64('a\$start') AND $now")
query "ALTER TABLE pool.phases DELETE WHERE part = sipHash64('a\$start') AND ts = $first" >"$TMP/deleted"
check "the first one is lost" wait_until '[ "$(query "SELECT count() FROM pool.phases WHERE ts = $first")" = 0 ]' 60
check_status 1 "... which a reader misses" poolscope-dump -q -p 'a$start' --kind phase --connect "$CLUSTER/pool" --archive-password "$TMP/writer"
