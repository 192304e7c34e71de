#!/bin/sh
# Statistics, pictures and traces of two hours, of which the store has the later
# one and the archive both.  The recorded cases are moved to where the middle
# of each is at the cut.  What is made of records (events, samples, spans) is the
# same, byte by byte, as of a store with both hours.  So is what is made of phases,
# test runs and entities, in the store and in the archive: retention of the store
# deletes nothing in the archive.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/clickhouse_server.sh
. "$(dirname "$0")/clickhouse_server.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "ClickHouse cannot be installed"
serve_clickhouse ch || exit 1
ARCHIVE=clickhouse://${CLICKHOUSE#http://}/pool
golden=$ROOT/tests/golden

# The cut is the begin of an hour about 50 hours ago, for 50 minutes from now on.
now=$(date +%s)
cut=$(((now - 180000) / 3600 * 3600))
retain=$((now - cut - 600))s

# moved FORMAT FILE PARTITION: the middle of its times is the cut.
moved() {
	/usr/bin/python3 -c 'import json, statistics, sys
form, path, partition, cut = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
if form == "perf":
    pool = json.load(open(path))
    reports = [report for node in pool["nodes"] for report in node["reports"]]
    by = cut - int(statistics.median(report["timestamp"] for report in reports))
    for report in reports:
        report["timestamp"] += by
    print(json.dumps(pool))
    sys.exit()
rows = [json.loads(line) for line in open(path)]
if form == "emits":
    by = cut - int(statistics.median(row["clock_us"] for row in rows)) // 10**6
    for row in rows:
        row["clock_us"] += by * 10**6
        if row["ts"]:
            whole, _, part = row["ts"].partition(".")
            row["ts"] = "%d.%s" % (int(whole) + by, part)
        print(json.dumps(row))
    sys.exit()
times = ("time_ns", "begin_ns", "end_ns", "from_ns", "to_ns")
by = cut * 10**9 - int(statistics.median(row["begin_ns"] for row in rows if "begin_ns" in row))
for row in rows:
    row["partition"] = partition
    for name in ("time", "begin", "end", "from", "to"):
        row.pop(name, None)
    for name in times:
        if name in row:
            row[name] += by
    print(json.dumps(row))' "$1" "$2" "$3" "$cut"
}

# aggregator OPTION...
aggregator() {
	start aggregator poolscope-aggregator --archive "$ARCHIVE" --archive-after 200ms \
		--models "$ROOT/deploy/models" "$@"
}
settled() {
	wait_until 'indexed && grep -q "\"archive_lag\": 0," "$TMP/status" &&
		grep -q "\"archive_lag_ns\": 0," "$TMP/status"' 60
}

# of_records DIR [OPTION...]: what is made of records.  No time is
# given: they begin with the first record that there is, here or there.
of_records() {
	_to=$1
	shift
	mkdir -p "$_to"
	for _form in json csv table; do
		poolscope-stats samples -p 'half$perf' --format $_form "$@" >"$_to/samples.$_form" &&
			poolscope-stats series -p 'half$perf' -m '*disk*' --format $_form "$@" >"$_to/series.$_form" &&
			poolscope-stats perf -p 'half$perf' --format $_form "$@" >"$_to/perf.$_form" &&
			poolscope-stats spans -p 'half$spans' --format $_form "$@" >"$_to/spans.$_form" || return 1
	done
	poolscope-plot samples -p 'half$perf' -m '*disk*' -o "$_to/samples" "$@" &&
		poolscope-stats scanner -p 'half$spans' --job 3 --format json "$@" >"$_to/scanner.json" &&
		poolscope-trace scanner -p 'half$spans' --job 3 -o "$_to/scanner.trace" "$@" &&
		poolscope-trace -p 'half$start' --kind event -o "$_to/events.json" "$@" &&
		poolscope-trace -p 'half$perf' --kind sample -o "$_to/samples.json" "$@" &&
		poolscope-trace -p 'half$spans' --kind span -o "$_to/spans.json" "$@" || return 1
	for _pool in start perf spans; do
		poolscope-dump -q -p "half\$$_pool" --kind event,sample,span "$@" >"$_to/dump.$_pool" || return 1
	done
}
# of_phases DIR [OPTION...]: what is made of phases and statistics.
of_phases() {
	_to=$1
	shift
	mkdir -p "$_to"
	poolscope-stats phases -p 'half$start' --format json "$@" >"$_to/phases.json" &&
		poolscope-stats phases -p 'half$start' --by node --format csv "$@" >"$_to/phases.csv" &&
		poolscope-stats cascade -p 'half$start' --format json "$@" >"$_to/cascade.json" &&
		poolscope-stats starts -p 'half$start' --format json "$@" >"$_to/starts.json" &&
		poolscope-stats breakdown -p 'half$start' --format json "$@" >"$_to/breakdown.json" &&
		poolscope-plot cascade -p 'half$start' --view all -o "$_to/cascade" "$@" &&
		poolscope-plot phases -p 'half$start' -o "$_to/phases" "$@" &&
		poolscope-stats runs -p 'half$runs' --format json "$@" >"$_to/runs.json" &&
		poolscope-stats groups -p 'half$runs' --format json "$@" >"$_to/groups.json" &&
		poolscope-trace -p 'half$start' -o "$_to/all.json" "$@"
}

# ---- a store with both hours ----
check "the tables are made" poolscope-archive create --to "$ARCHIVE"
{ aggregator && start broker poolscope-broker; } || exit 1
moved emits "$golden/cascade/p07_pool60_p2p/emits.jsonl" - >"$TMP/emits"
check "the start of a pool is imported" poolscope-import emits -p 'half$start' "$TMP/emits"
moved perf "$golden/perf/r02_four_nodes/reports.json" - >"$TMP/reports.json"
check "... reports" poolscope-import perf -p 'half$perf' "$TMP/reports.json"
check "... and the profile of a job" poolscope-import scanner -p 'half$job' --job 3 "$golden/scanner/s02_two_workers/db"
# 60 runs, a minute apart: the last of them begin after the cut.
check "... and test runs" poolscope-generate testrun --runs 60 --spacing 60 \
	--base "$(date -u -d "@$((cut - 2400))" +%Y-%m-%dT%H:%M:%SZ)" -p 'half$runs' --timeout 120s
wait_until indexed 60 || fail "it is indexed"
poolscope-dump -q -p 'half$job' --format jsonl >"$TMP/job"
moved records "$TMP/job" 'half$spans' >"$TMP/records"
check "... at the same time" poolscope-import records "$TMP/records"
settled || fail "all of it is archived" "$TMP/status"
check "everything is made of the store" of_records "$TMP/whole"
check "... also of phases and runs" of_phases "$TMP/phases"
check_text "... which are 60" 60 "$(poolscope-dump -q -p 'half$runs' --kind entity --format jsonl | wc -l)"
for pool in start perf spans; do
	both=$(wc -l <"$TMP/whole/dump.$pool")
	early=$(poolscope-dump -q -p "half\$$pool" --kind event,sample,span --to "$cut" | wc -l)
	check "half\$$pool has $early of $both records before the cut" \
		test "$early" -gt $((both / 4)) -a "$early" -lt $((both * 3 / 4))
done

# ---- the store has the later half ----
stop aggregator
aggregator --retain "$retain" || exit 1
for pool in start perf spans runs; do
	check "half\$$pool: the store deletes the first half" wait_until \
		'[ "$(poolscope-dump -q -p "half\$$pool" --kind event,sample,span --store "$DIR/store" --to "$cut" | wc -l)" = 0 ]' 90
	poolscope-dump -q -p "half\$$pool" --kind event,sample,span --store "$DIR/store" >"$TMP/late"
	check "... and keeps the other one" test "$(wc -l <"$TMP/late")" -gt 0
done

# equal NAME WANTED GOT: two folders.
equal() {
	if diff -rq "$2" "$3" >"$TMP/differs" 2>&1; then
		pass "$1 ($(find "$3" -type f | wc -l) files)"
	else
		fail "$1" "$TMP/differs"
	fi
}
check "everything is made of store and archive" of_records "$TMP/half"
equal "... and is the same" "$TMP/whole" "$TMP/half"

check "what is made of phases and runs is made of all of them" of_phases "$TMP/stayed"
equal "... as before" "$TMP/phases" "$TMP/stayed"

# ---- the archive alone ----
stop broker
stop aggregator
check "everything is made of the archive" of_records "$TMP/alone" --connect "$ARCHIVE"
equal "... and is the same" "$TMP/whole" "$TMP/alone"
check "... also of phases and runs" of_phases "$TMP/others" --connect "$ARCHIVE"
equal "... which are all of them" "$TMP/phases" "$TMP/others"

# ---- phases derived again ----
check_status 1 "phases are not derived again without their records" poolscope-admin rebuild --models "$ROOT/deploy/models"
check_printed "... which would be lost in the archive too" "nothing was rebuilt: .*poolscope archive restore"
check "a store is made of the archive" poolscope-archive restore --from "$ARCHIVE" "$TMP/restored"
check "... where they are" poolscope-admin rebuild --store "$TMP/restored" --models "$ROOT/deploy/models"
check "... and phases are made again" of_phases "$TMP/again" --store "$TMP/restored"
equal "... the same" "$TMP/phases" "$TMP/again"
