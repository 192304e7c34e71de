# reports - recorded reports of hosts through the real processes: import,
# broker, aggregator, stats; every number, name and byte as recorded.
# Read by tests/golden/run.sh.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # the $ is a partition's
perf=$ROOT/tests/golden/perf

judge() {
	/usr/bin/python3 "$perf/reports.py" "$@"
}

# imported NAME FILE
imported() {
	check "$1: is imported" poolscope-import perf -p "golden\$$1" "$2" || return 1
	wait_until indexed 60 || fail "$1: is indexed"
}

# metrics CASE: as plotted, and as MLflow gets them.
metrics() {
	# shellcheck disable=SC2046 # options and their values
	check "$1: has metrics" poolscope-stats perf --format json -p "golden\$$1" \
		$(judge options "$perf/$1") -o "$TMP/got"
	check "$1: they are as recorded" judge metrics "$perf/$1" plotter_calls "$TMP/got"
	# shellcheck disable=SC2046
	check "$1: has them for MLflow" poolscope-stats perf --format json -p "golden\$$1" \
		$(judge options "$perf/$1") --mlflow-names -o "$TMP/got"
	check "$1: they are as recorded, too" judge metrics "$perf/$1" mlflow_calls "$TMP/got"
}

{ start aggregator poolscope-aggregator && start broker poolscope-broker; } || exit 1
for case in r01_one_node r02_four_nodes r03_one_report r05_thresholds r06_prefix; do
	imported "$case" "$perf/$case/reports.json" && metrics "$case"
done

saved=$perf/r01_one_node/expected/saved_reports.json
check "reports are saved" poolscope-stats perf --format json -q -p 'golden$r01_one_node' --save "$TMP/saved" -o "$TMP/got"
check "... byte for byte" cmp "$saved" "$TMP/saved"
imported saved "$saved"
check "a saved file is saved again" poolscope-stats perf --format json -q -p 'golden$saved' --save "$TMP/again" -o "$TMP/got"
check "... byte for byte, too" cmp "$saved" "$TMP/again"

# The older tool dies where a node has no report.
imported r04 "$perf/r04_error_no_report/reports.json"
check_status 1 "a pool without any report fails" poolscope-stats perf --format json -p 'golden$r04'
check_printed "... names the node" "node 0 has no reports"
check_printed "... and the pool" 'no reports of partition golden$r04'

judge numbered 5000 "$TMP/numbered"
imported numbered "$TMP/numbered"
for case in d0010 d0100 d1000; do
	max=$(echo "${case#d}" | sed 's/^0*//')
	# An instrument takes one in $SHARE of them.
	for n in $(judge wanted "$perf/$case" | tr ' ' '\n' |
		awk -v share="${SHARE:-1}" 'share == 1 || NR % share == 1'); do
		check "$n reports are decimated to $max" poolscope-stats reports -q -p 'golden$numbered' \
			--decimate reference --max-length "$max" --to "$((1650000000 + n)).5" \
			--format jsonl -o "$TMP/got"
		check "... the recorded ones" judge survivors "$perf/$case" "$n" "$TMP/got"
	done
done
stop broker
stop aggregator

# Packed by hours, and without a process that answers.
check "everything is compacted" poolscope-admin compact --models "$ROOT/deploy/models"
for case in r02_four_nodes r05_thresholds; do
	metrics "$case"
done
check "compacted reports are saved" poolscope-stats perf --format json -q -p 'golden$saved' --save "$TMP/compacted" -o "$TMP/got"
check "... byte for byte" cmp "$saved" "$TMP/compacted"
check "compacted reports are decimated" poolscope-stats reports -q -p 'golden$numbered' \
	--decimate reference --max-length 100 --format jsonl -o "$TMP/got"
check "... to the recorded ones" judge survivors "$perf/d0100" 5000 "$TMP/got"
