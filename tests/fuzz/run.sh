# sh tests/fuzz/run.sh DIR: runs every libFuzzer target in DIR on its corpus,
# each for FUZZ_SECONDS (60).  New inputs stay in DIR/work/NAME; a crash is
# left in DIR/crash-*, named, and makes the exit status 1.
set -eu
dir=${1:?usage: run.sh DIR}
seconds=${FUZZ_SECONDS:-60}
status=0
# A length field may ask msgpack-c, the judge, for gigabytes.
export ASAN_OPTIONS="allocator_may_return_null=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
for target in "$dir"/*; do
	if ! [ -f "$target" ] || ! [ -x "$target" ]; then
		continue
	fi
	name=${target##*/}
	seeds=tests/fuzz/corpus/$name
	mkdir -p "$dir/work/$name"
	set -- "$dir/work/$name"
	[ ! -d "$seeds" ] || set -- "$@" "$seeds"
	echo "fuzz: $name for $seconds s"
	if "$target" -max_total_time="$seconds" -max_len=16384 -timeout=10 \
		-rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="$dir/crash-$name-" "$@" \
		>"$dir/work/$name.log" 2>&1; then
		grep -E 'number_of_executed_units|new_units_added' \
			"$dir/work/$name.log" | sed 's/^/	/' || :
	else
		tail -n 40 "$dir/work/$name.log"
		echo "fuzz: $name failed"
		status=1
	fi
done
exit $status
