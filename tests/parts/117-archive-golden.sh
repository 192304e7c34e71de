#!/bin/sh
# All recorded pools, jobs, farms and result files in one archive, and in a store
# that is made of it: every answer and every file of every command is that of the
# first store, byte by byte.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
golden=$ROOT/tests/golden
{ archive_cluster && archive_start; } || exit 1

# ---- one partition for each case ----
# add FAMILY PARTITION [JOB]: to the list of what is asked for.
add() {
	echo "$@" >>"$TMP/partitions"
}
for case in "$golden"/perf/r0*; do
	name=$(basename "$case")
	check "$name is imported" poolscope-import perf -p "perf\$$name" "$case/reports.json"
	add perf "perf\$$name"
done
for case in "$golden"/scanner/s0*; do
	name=$(basename "$case")
	job=$(ls "$case/db/jobs")
	bad=0
	[ "$name" != s07_corrupt_counter_count ] || bad=1
	check_status "$bad" "$name is imported" poolscope-import scanner -p "scanner\$$name" --job "$job" "$case/db"
	add scanner "scanner\$$name" "$job"
done
for case in "$golden"/testrun/m0[1-4]*; do
	name=$(basename "$case")
	check "$name is imported" poolscope-import -p "testrun\$$name" testrun "$case"
	add testrun "testrun\$$name"
done
for case in "$golden"/cascade/p0* "$golden"/cascade/p1[0-2]*; do
	name=$(basename "$case")
	check "$name is imported" poolscope-import cascade "$case/entities.jsonl"
	add cascade "$(sed -n 's/.*"partition_key": *"\([^"]*\)".*/\1/p' "$case/case.json")"
	[ -e "$case/emits.jsonl" ] || continue
	check "... and its calls" poolscope-import emits "$case/emits.jsonl" -p "emits\$$name"
	add cascade "emits\$$name"
done
# bench CASE STATUS...: result files, and the exit status of each pass.
bench() {
	name=$1
	shift
	check "$name is uploaded" /usr/bin/python3 "$golden/testbench/testbench.py" run \
		"$golden/testbench/$name" "$TMP/bench-$name" "$@" -- poolscope-upload results \
		--target store -p "bench\$$name"
	add results "bench\$$name"
}
bench b01_three_files 0
bench b02_bad_files 1
bench b04_locked 0 0
# What hosts use of processors and memory.
start agent poolscope-agent -p 'live$agent' -n n1 || exit 1
add samples 'live$agent'
sort -u "$TMP/partitions" -o "$TMP/partitions"
check "a host is sampled" wait_until \
	"poolscope-dump -q -p 'live\$agent' --kind sample >'$TMP/sampled' && test -s '$TMP/sampled'" 30
stop agent
check "all is in the archive" settled
stop broker
stop aggregator

# ---- what is asked ----
# answer NAME COMMAND...: output, status and errors, in $to-NAME.  The age of a clock
# is that of now.
answer() {
	_answer=$to-$1
	shift
	"$@" -q --store "$store" -p "$partition" >"$_answer" 2>"$_answer.err"
	echo $? >>"$_answer"
	sed -i "s|$store|STORE|g; s|$where|WHERE|g; /\"age\"/d" "$_answer" "$_answer.err"
}

of_family() {
	case $1 in
	perf)
		answer perf poolscope-stats perf --format json --save "$to-saved"
		answer mlflow poolscope-stats perf --format json --mlflow-names
		;;
	scanner)
		answer scanner poolscope-stats scanner --format json --job "$2"
		answer scanner-trace poolscope-trace scanner --job "$2" -o "$to-scanner.trace"
		;;
	testrun)
		for _what in runs groups deltas iterations skew; do
			answer "$_what" poolscope-stats "$_what" --format json
		done
		answer testrun-plot poolscope-plot testrun --no-png --view all -o "$to-plot"
		;;
	cascade)
		answer cascade poolscope-stats cascade --format json
		answer cascade-plot poolscope-plot cascade --no-png --view all -o "$to-plot"
		answer cascade-strict poolscope-plot cascade --no-png --view reference --strict -o "$to-strict"
		;;
	results)
		answer tests poolscope-results tests --format json
		answer entities poolscope-results entities --format jsonl
		;;
	esac
}

# asked STORE TO: every command, of every partition.
asked() {
	store=$1
	where=$2
	mkdir -p "$where"
	while read -r family partition job; do
		to=$where/$(echo "$partition" | tr '$' '-')
		answer all poolscope-dump --format jsonl --kind event --kind sample --kind span \
			--kind entity --kind gap --kind rejected --kind phase --kind run
		answer csv poolscope-dump --format csv --kind sample
		for _what in phases starts breakdown spans usage clocks; do
			answer "$_what" poolscope-stats "$_what" --format json
		done
		for _what in samples series; do
			answer "$_what" poolscope-stats "$_what" --format json --metric '*'
		done
		answer by-node poolscope-stats phases --format json --by node
		answer trace poolscope-trace -o "$to.trace"
		of_family "$family" "$job"
	done <"$TMP/partitions"
}

asked "$DIR/store" "$TMP/first"
check "a store is made of the archive" poolscope-archive restore --from "$CLUSTER/pool" \
	--archive-password "$TMP/writer" "$TMP/copy"
check "every row is right" poolscope-admin verify --store "$TMP/copy"
check "the archive has what the first store has" poolscope-archive verify --to "$CLUSTER/pool" \
	--archive-password "$TMP/writer" --store "$DIR/store"
asked "$TMP/copy" "$TMP/second"
check "every answer is the same" diff -r "$TMP/first" "$TMP/second"
echo "$(wc -l <"$TMP/partitions") partitions, $(find "$TMP/first" -type f ! -name '*.err' | wc -l) answers and files"
# Commands that fail print the same of both: not all of them may.
check "most commands answered" test "$(grep -lx 0 "$TMP"/first/*-all "$TMP"/first/*-phases | wc -l)" \
	-ge "$(wc -l <"$TMP/partitions")"
