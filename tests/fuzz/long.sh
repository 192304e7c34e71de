# Every fuzz target on inputs made from its corpus (tests/fuzz/main/mutate.h),
# as many targets at once as there are processors: RUNS of each (100,000), of
# those of the wire and the spool ten times as many.  TARGETS="conf kv" runs
# these only, SEED=N repeats a run; in addition to tests/fuzz/corpus, inputs are made
# from those in $FUZZ_MORE/NAME, which libFuzzer has left behind.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
RUNS=${RUNS:-100000}
SEED=${SEED:-$(date +%s)}
FUZZ_CRASHES=${FUZZ_CRASHES:-$B}
TARGETS=${TARGETS:-$(find tests/fuzz -maxdepth 1 -name '*.c' -printf '%f\n' | sed 's/\.c$//' | sort)}
export B SEED FUZZ_CRASHES

# shellcheck disable=SC2016 # of the inner shell
run_one='
	target=$0 runs=$1
	shift
	if output=$("$B/fuzz/$target" --runs "$runs" --seed "$SEED" "$@" 2>&1); then
		echo "ok - $target: $(echo "$output" | tail -n 1)"
	else
		echo "$output" | tail -n 20
		echo "not ok - $target"
	fi'
counts=$(mktemp)
trap 'rm -f "$counts"' EXIT
echo "seed $SEED"
for target in $TARGETS; do
	runs=$RUNS
	case $target in wire_* | spool_*) runs=$((RUNS * 10)) ;; esac
	more=${FUZZ_MORE:+$FUZZ_MORE/$target}
	[ -d "$more" ] || more=
	echo "$target $runs tests/fuzz/corpus/$target${more:+ $more}"
done | xargs -L 1 -P "$(nproc)" sh -c "$run_one" | tee "$counts"
passed=$(grep -c '^ok' "$counts" || :)
failed=$(grep -c '^not ok' "$counts" || :)
echo "$passed passed, $failed failed"
[ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
