# testrun - test runs of a farm: publishing and indexing them, deltas, groups,
# the newest ones and pictures, each next to its goal.  The older figures, 10.88 s and 0.52 s, are
# of hardware of 2010; on a machine like this one they were 2.55 s and 6 ms, not
# counting the start of the interpreter.
#
#   RUNS=3 MOST=100000 sh tests/bench/testrun.sh
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # the $ is a partition's
. "$(dirname "$0")/lib.sh"
MOST=${MOST:-1000000}

# compare NAME GOAL COMMAND...
compare() {
	name=$1
	GOAL=$(printf '   goal %s' "$2")
	export GOAL
	shift 2
	measure "$name" "$@"
}
cpu_ticks() {
	cut -d ' ' -f 14,15 "/proc/$(cat "$POOLSCOPE_DIR/run/aggregator.pid")/stat"
}

poolscope up >/dev/null
for runs in 1000 100000 1000000; do
	[ "$runs" -le "$MOST" ] || continue
	began=$(date +%s.%N) before=$(cpu_ticks)
	poolscope-generate -q testrun --runs "$runs" -p "farm\$$runs"
	wait_indexed
	echo "$(date +%s.%N) $began $runs $before $(cpu_ticks)" | awk '{
		printf "-- %d runs, %d events: published and indexed in %.2f s, ", $3, 10 * $3, $1 - $2
		printf "%.2f s of CPU of the aggregator\n", ($6 + $7 - $4 - $5) / 100 }'
done
poolscope-generate -q testrun --runs 40000 -o "$TMP/farm"
lines=$(cat "$TMP"/farm/*.jsonl | wc -l)
RUNS=1 measure "import of $lines lines of JSON" poolscope-import -q -p 'farm$json' testrun "$TMP/farm"
for how in aggregator store; do
	echo "-- $how"
	if [ "$how" = store ]; then
		poolscope down >/dev/null
		POOLSCOPE_STORE=$POOLSCOPE_DIR/store
		export POOLSCOPE_STORE
	fi
	for runs in 1000 100000 1000000; do
		[ "$runs" -le "$MOST" ] || continue
		case $runs in
		1000) goal="5 ms" ;;
		100000) goal="60 ms, 24 MiB" ;;
		*) goal="0.6 s, 24 MiB" ;;
		esac
		compare "deltas, $runs runs" "$goal" poolscope-stats deltas -q \
			-p "farm\$$runs" --format json -o "$TMP/deltas"
		[ "$how" = aggregator ] || echo "$("$B/bench/runs" "$POOLSCOPE_STORE" "farm\$$runs")   goal 1 ms"
		compare "groups, $runs runs" "2 ms" poolscope-stats groups -q \
			-p "farm\$$runs" --format json -o "$TMP/groups"
	done
	[ "$MOST" -ge 100000 ] || continue
	compare "5000 pages as series" "0.2 s" poolscope-plot testrun -q -p 'farm$100000' \
		--series "$TMP/series.json"
	compare "the first picture of 100000 runs" "0.15 s" poolscope-plot testrun -q \
		-p 'farm$100000' -o "$TMP/pictures" --pages 1
done
