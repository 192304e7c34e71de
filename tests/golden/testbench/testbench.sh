# testbench - recorded directories of result files through the real processes:
# upload, broker, aggregator, results; every row, and what is where afterwards.
# Read by tests/golden/run.sh.
#
# CASE/ours is where the older uploader is not followed: an entry that took no
# time is one (b02), and without an archive nothing is sent (b05).
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # the $ is a partition's
testbench=$ROOT/tests/golden/testbench

benched() {
	_what=$1
	_case=$2
	shift 2
	/usr/bin/python3 "$testbench/testbench.py" "$_what" "$testbench/$_case" "$@"
}

# entities PARTITION: its rows, in $TMP/entities.
entities() {
	poolscope-results entities -p "$1" --format jsonl -o "$TMP/lines" || return
	sed '/^{"poolscope"/d' "$TMP/lines" >"$TMP/entities"
}

# bench_case CASE STATUS...: the exit status of each pass.
bench_case() {
	_bench=$1
	shift
	check "$_bench: is uploaded, and every file is where it should be" benched run "$_bench" \
		"$TMP/$_bench" "$@" -- poolscope-upload results --target store -p "bench\$$_bench"
	wait_until indexed 60 || fail "$_bench: is indexed"
	check "$_bench: its rows are there" entities "bench\$$_bench"
	check "... as recorded" benched entities "$_bench" "$TMP/entities"
	[ ! -e "$testbench/$_bench/expected/queries.json" ] ||
		check "$_bench: the retrievals answer as recorded" benched queries "$_bench" "bench\$$_bench"
}

# All of the files, several instances at once.
bench_concurrent() {
	_work=$TMP/b06_concurrent
	mkdir -p "$_work/archive"
	python3 "$testbench/b06_concurrent/gen.py" --out "$_work/data"
	_instances=
	for _i in 1 2 3 4; do
		poolscope-upload results -d "$_work/data" -a "$_work/archive" --target store \
			-p 'bench$b06' >"$TMP/upload.$_i" 2>&1 &
		_instances="$_instances $!"
	done
	for _instance in $_instances; do
		wait "$_instance"
		check_text "b06_concurrent: an instance ends well" 0 $?
	done
	check_text "b06_concurrent: every file is in the archive" 500 \
		"$(find "$_work/archive" -type f | wc -l)"
	check_text "... and none stays" 0 "$(find "$_work/data" -type f | wc -l)"
	wait_until indexed 60 || fail "b06_concurrent: is indexed"
	check "b06_concurrent: has rows" entities 'bench$b06'
	check "... each of them once, as recorded" benched concurrent b06_concurrent "$TMP/entities"
}

start aggregator poolscope-aggregator --dir "$DIR" || fail "testbench: an aggregator starts"
start broker poolscope-broker --dir "$DIR" || fail "testbench: a broker starts"
bench_case b01_three_files 0
bench_case b02_bad_files 1
bench_case b03_not_files 0
bench_case b04_locked 0 0
bench_case b05_no_archive 1 1
bench_concurrent
stop broker
stop aggregator
