# run - the recorded pools through the real processes: aggregator and broker,
# import, index, plot, stats; every byte and every number as recorded.
#
#   B=build/asan sh tests/golden/run.sh
#
# Each case is its own partition of one instance, except that cases whose
# partition is the same, and the second form of each input (emits), have an
# instance of their own.  GOLDEN_NODES="1000 10000" are the generated pools.
# Hosts' reports are perf/sampler.sh (images of /proc, without an instance) and
# perf/reports.sh, jobs' profiles scanner/scanner.sh, a farm's test runs
# testrun/testrun.sh, result files testbench/testbench.sh.  GOLDEN=perf-sampler,
# perf-reports, scanner, testrun, testbench or cascade: only these.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/../flow/lib.sh"
cases=$ROOT/tests/golden/cascade
GOLDEN_NODES=${GOLDEN_NODES:-1000 10000}

# wanted PART: is it to be run?
wanted() {
	case ${GOLDEN:-all} in
	all | "$1") return 0 ;;
	*) return 1 ;;
	esac
}

if wanted perf-sampler; then
	. "$ROOT/tests/golden/perf/sampler.sh"
fi
if wanted perf-reports; then
	. "$ROOT/tests/golden/perf/reports.sh"
fi
if wanted scanner; then
	DIR=$TMP/scanner
	POOLSCOPE_DIR=$DIR
	mkdir -p "$DIR/run"
	. "$ROOT/tests/golden/scanner/scanner.sh"
fi
if wanted testrun; then
	DIR=$TMP/testrun
	POOLSCOPE_DIR=$DIR
	mkdir -p "$DIR/run"
	. "$ROOT/tests/golden/testrun/testrun.sh"
fi
if wanted testbench; then
	DIR=$TMP/testbench
	POOLSCOPE_DIR=$DIR
	mkdir -p "$DIR/run"
	. "$ROOT/tests/golden/testbench/testbench.sh"
fi
wanted cascade || exit 0

compare() {
	python3 "$ROOT/tests/golden/compare.py" "$@"
}

field() {
	python3 -c 'import json, sys
v = json.load(open(sys.argv[1])).get(sys.argv[2])
print(v if v is not None else "")' "$1" "$2"
}

# instance NAME: a fresh one, in place of the last.
instance() {
	stop broker
	stop aggregator
	DIR=$TMP/$1
	export POOLSCOPE_DIR="$DIR"
	mkdir -p "$DIR/run"
	start aggregator poolscope-aggregator --dir "$DIR" --models "$ROOT/deploy/models" &&
		start broker poolscope-broker --dir "$DIR"
}

# import_and_fold NAME FORM FILE PARTITION
import_and_fold() {
	if [ "$2" = emits ]; then
		check "$1: emits are imported" poolscope-import emits "$3" -p "$4" || return 1
	else
		check "$1: rows are imported" poolscope-import cascade "$3" || return 1
	fi
	wait_until indexed 60 || fail "$1: is indexed"
}

# equal NAME WANTED GOT
equal() {
	check "$1" cmp "$2" "$3"
}

# good_case NAME FORM PARTITION CASE: what plot and stats give.
good_case() {
	_case=$cases/$4
	_base=$(echo "$3" | tr '$' '-')
	_out=$TMP/out.$4.$2
	check "$1: is plotted" poolscope-plot cascade --view reference --configdir "$_case/config" -o "$_out" || return
	check "$1: the picture is one" compare png "$_out/$_base.png"
	check "$1: has numbers" poolscope-stats cascade -p "$3" --format json -o "$_out/timing.json" || return
	_tolerance=$(field "$_case/case.json" tolerance_collision_s)
	if [ "$2" = emits ] && [ -n "$_tolerance" ]; then
		# The rows were moved by collisions, the calls were not.
		check "$1: the table is close" compare dat "$_case/expected/$_base.dat" \
			"$_out/$_base.dat" --abs "$_tolerance"
		check "$1: the numbers are close" compare timing "$_case/expected/timing.json" \
			"$_out/timing.json" --abs "$_tolerance" --case "$_case/case.json"
	else
		equal "$1: the table is the same" "$_case/expected/$_base.dat" "$_out/$_base.dat"
		check "$1: the numbers are the same" compare timing \
			"$_case/expected/timing.json" "$_out/timing.json" --case "$_case/case.json"
	fi
	equal "$1: the script is the same" "$_case/expected/$_base.plot" "$_out/$_base.plot"
	[ ! -e "$_case/expected/fixed.json" ] || [ "$2" = emits ] ||
		check "$1: the derived numbers are the same" compare fixed \
			"$_case/expected/fixed.json" "$_out/timing.json"
}

# error_case NAME PARTITION CASE: where the older tool gave up.
error_case() {
	_case=$cases/$3
	_out=$TMP/out.$3
	if [ ! -e "$_case/expected/fixed.json" ]; then
		check_status 1 "$1: plot fails" poolscope-plot cascade --view reference -p "$2" -o "$_out"
		check_printed "$1: and says why" "no .*events of partition"
		check_status 1 "$1: stats fails" poolscope-stats cascade -p "$2" --format json
		check_printed "$1: and says why, too" "no .*events of partition"
		check "$1: nothing was written" test ! -e "$_out"
		return
	fi
	check "$1: has numbers" poolscope-stats cascade -p "$2" --format json -o "$TMP/timing.json" || return
	check "$1: what is known is right" compare fixed "$_case/expected/fixed.json" "$TMP/timing.json"
	[ ! -e "$_case/expected/timing.json" ] ||
		check "$1: the nodes are as recorded" compare nodes \
			"$_case/expected/timing.json" "$TMP/timing.json"
	_incomplete=$(python3 -c 'import json, sys
s = json.load(open(sys.argv[1]))
print(len({row["node"] for row in s["incomplete"]}), len(s["rows"]))' "$TMP/timing.json")
	case $_incomplete in
	"0 "*)
		check "$1: is plotted" poolscope-plot cascade --view reference -p "$2" -o "$_out" --strict
		;;
	*)
		check_status 1 "$1: --strict refuses" poolscope-plot cascade --view reference -p "$2" -o "$_out" --strict
		check_printed "$1: and names the node" "is incomplete"
		check "$1: and writes nothing" test ! -e "$_out"
		check_status 1 "$1: --strict refuses numbers, too" poolscope-stats cascade -p "$2" --strict
		;;
	esac
}

one_case() {
	_partition=$(field "$cases/$1/case.json" partition_key)
	import_and_fold "$1 ($2)" "$2" "$cases/$1/$([ "$2" = emits ] && echo emits || echo entities).jsonl" \
		"$_partition" || return
	if [ "$(field "$cases/$1/case.json" expect)" = ok ]; then
		good_case "$1 ($2)" "$2" "$_partition" "$1"
	else
		error_case "$1 ($2)" "$_partition" "$1"
	fi
}

# The generated pool, and the picture of what adds up.
generated() {
	_case=$cases/p13_generated_1000
	who="$1 nodes"
	_in=$TMP/in.$1
	_out=$TMP/out.$1
	mkdir -p "$_in"
	python3 "$_case/gen.py" --nodes "$1" --out "$_in" --no-emits
	instance "i$1" || { fail "$who: daemons start"; return; }
	import_and_fold "$who" rows "$_in/entities.jsonl" - || return
	check "$who: is plotted" poolscope-plot cascade -p "bigacct\$bigpool" -o "$_out" --view all
	check "$who: the table is the same" compare sha \
		"$_case/expected_$1/summary.json" "bigacct-bigpool.dat" "$_out/bigacct-bigpool.dat"
	check "$who: the script is the same" compare sha \
		"$_case/expected_$1/summary.json" "bigacct-bigpool.plot" "$_out/bigacct-bigpool.plot"
	check "$who: the picture is one" compare png "$_out/bigacct-bigpool.png"
	check "$who: the other picture is one" compare png "$_out/bigacct-bigpool-phases.png"
	check "$who: has numbers" poolscope-stats cascade -p "bigacct\$bigpool" \
		--format json -o "$TMP/timing.json"
	check "$who: the numbers are the same" compare headline \
		"$_case/expected_$1/summary.json" "$TMP/timing.json"
	rm -rf "$_in" "$_out"
}

# Cases of one partition cannot share an instance: one after another.
number=0
for case in "$cases"/p0* "$cases"/p1[0-2]*; do
	name=$(basename "$case")
	for form in rows emits; do
		[ "$form" = rows ] || [ -e "$case/emits.jsonl" ] || continue
		number=$((number + 1))
		instance "i$number-$name" || { fail "$name: daemons start"; continue; }
		one_case "$name" "$form"
	done
done
for nodes in $GOLDEN_NODES; do
	generated "$nodes"
done
stop broker
stop aggregator
