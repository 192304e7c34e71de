# testrun - a farm's test runs through the real processes: import, broker,
# aggregator, stats, plot; every duration and every number, those of statistics also
# against a slow pass over the events.
# Read by tests/golden/run.sh.  GOLDEN_RUNS="1000 100000" are the generated
# farms.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # the $ is a partition's
testruns=$ROOT/tests/golden/testrun
GOLDEN_RUNS=${GOLDEN_RUNS:-1000 100000}

judged() {
	/usr/bin/python3 "$testruns/testrun.py" "$@"
}

# printed PARTITION WHAT: the answer of poolscope-stats, in $TMP/WHAT.  The recorded
# durations are those between the times of receipt.
printed() {
	set -- "$1" "$2" --time receive
	[ "$2" != iterations ] || set -- "$1" "$2"
	_partition=$1
	_what=$2
	shift 2
	poolscope-stats "$_what" "$@" -p "$_partition" --format json -o "$TMP/$_what"
}

# recorded NAME CASE PARTITION: the recorded numbers.
recorded() {
	_expected=$testruns/$2/expected
	check "$1: has the time of every step" printed "$3" deltas
	check "... as recorded" judged deltas "$_expected/run_deltas.json" "$TMP/deltas"
	check "$1: has the number of every event" printed "$3" iterations
	check "... as recorded" judged iterations "$_expected/iterations.json" "$TMP/iterations"
	check "$1: has statistics of its groups" printed "$3" groups
	check "... as recorded" judged groups "$_expected/groups.json" "$TMP/groups" "$testruns/$2"
	check "... which a slow pass finds, too" judged pass "$testruns/$2" "$TMP/groups"
}

# drawn NAME CASE PARTITION: every run, and what the pictures are made of.
drawn() {
	_out=$TMP/pictures
	check "$1: the pages have numbers" poolscope-plot testrun --time receive -p "$3" --series "$TMP/series"
	check "... as recorded" judged series "$testruns/$2/expected/full_pages.json" "$TMP/series"
	check "$1: is drawn" poolscope-plot testrun --time receive -p "$3" -o "$_out" --no-png --view all --pages 1..
	_base=$(echo "$3" | tr '$' '-')-testrun
	check "... every run of every page" judged tables "$TMP/series" "$_out" "$_base"
	for _step in flash publish testrun; do
		check "... $_step day by day" judged days "$testruns/$2" "$_step" "$_out/$_base-days-$_step.dat"
	done
	rm -rf "$_out"
}

{ start aggregator poolscope-aggregator --models "$ROOT/deploy/models" &&
	start broker poolscope-broker; } || exit 1
for case in "$testruns"/m0[1-4]*; do
	name=$(basename "$case")
	check "$name: is imported" poolscope-import -p "golden\$$name" testrun "$case"
	wait_until indexed 60 || fail "$name: is indexed"
	recorded "$name" "$name" "golden\$$name"
	drawn "$name" "$name" "golden\$$name"
done

# The order of events has no influence, nor have repeated events.
mkdir "$TMP/shuffled"
name=m03_irregular_60
/usr/bin/python3 -c 'import random, sys
lines = sys.stdin.readlines()
random.Random(5).shuffle(lines)
sys.stdout.writelines(lines)' <"$testruns/$name/events.jsonl" >"$TMP/shuffled/events.jsonl"
cp "$testruns/$name/testruns.jsonl" "$TMP/shuffled/"
check "the events of all runs, mixed, are imported" \
	poolscope-import -p 'golden$shuffled' testrun "$TMP/shuffled"
wait_until indexed 60 || fail "... and indexed"
recorded "mixed" "$name" 'golden$shuffled'
check "the first farm is imported again" \
	poolscope-import -p "golden\$$name" testrun "$testruns/$name"
wait_until indexed 60 || fail "... and indexed"
recorded "imported again" "$name" "golden\$$name"

for runs in $GOLDEN_RUNS; do
	partition="golden\$generated$runs"
	mkdir "$TMP/farm"
	check "$runs runs are generated" /usr/bin/python3 "$testruns/m05_generated/gen.py" \
		--runs "$runs" --out "$TMP/farm"
	check "... and imported" poolscope-import -p "$partition" testrun "$TMP/farm"
	wait_until indexed 120 || fail "... and indexed"
	check "... have the time of every step" printed "$partition" deltas
	check "... and statistics" printed "$partition" groups
	check "... with the recorded sums and digests" judged summary \
		"$testruns/m05_generated/expected_$runs.json" "$TMP/deltas" "$TMP/groups"
	check "... and pages" poolscope-plot testrun --time receive -p "$partition" --series "$TMP/series"
	check "... the recorded ones first" judged pages \
		"$testruns/m05_generated/expected_$runs.json" "$TMP/series"
	rm -rf "$TMP/farm"
done
stop broker
stop aggregator

# Without a process that answers.
recorded "from the store" "$name" "golden\$$name"
