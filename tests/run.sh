#!/bin/sh
# run - the whole test suite on a machine that has nothing but Debian:
# installs what is missing, builds every variant, runs everything.
#
#   sh tests/run.sh            all of it
#   sh tests/run.sh release    one variant: release, asan, tsan, valgrind
#
# The last line is `N passed, N failed`.
set -eu
cd "$(dirname "$0")/.."
. deploy/packages.sh
need_packages build
need_packages test

variants=${*:-release asan tsan valgrind}
tally=$(mktemp)
trap 'rm -f "$tally"' EXIT

# What valgrind alone finds, the use of what was never set, hangs on the code
# that runs and not on when: the tests that only take long are left to the
# sanitizers, and the longest faults to release (`make VARIANT=valgrind check`
# runs them all).
suites_of() {
	case $1 in
	release) echo "fault/1 flow/0 fault/0 flow/1 parts attack unit golden model lint fuzz";;
	asan) echo "flow/0 fault/0 fault/1 flow/1 attack unit golden fuzz";;
	tsan) echo "flow/0 fault/10 flow/1 unit fault/12 fault/13 golden fuzz";;
	valgrind) echo "unit flow/03 golden/perf flow/02 flow/100 fuzz";;
	*) echo "run.sh: no such variant: $1" >&2; return 2;;
	esac
}

mkdir -p build
built=
for variant in $variants; do
	suites=$(suites_of "$variant")
	echo "== $variant: building"
	targets=
	for suite in $suites; do
		case ${suite%%/*} in
		unit) targets="$targets unit";;
		flow) targets="$targets flows";;
		fuzz) targets="$targets fuzzers";;
		fault) targets="$targets faults";;
		esac
	done
	# shellcheck disable=SC2086 # a list of words
	if make -j"$(nproc)" VARIANT="$variant" all $targets >"build/$variant.log" 2>&1 &&
		if [ "$variant" = valgrind ]; then sh tests/wrap.sh; fi; then
		built="$built $variant"
	else
		tail -n 30 "build/$variant.log"
		echo "not ok - $variant does not build"
		echo "0 1" >>"$tally"
	fi
done

# Suites of all variants, one more at once than there are processors (tests
# wait a lot), the slowest variant first so that nothing long is left alone at
# the end.
# shellcheck disable=SC2016 # the words are those of the shell that is started
for variant in valgrind tsan asan release; do
	case " $built " in *" $variant "*) ;; *) continue ;; esac
	for suite in $(suites_of "$variant"); do
		echo "$variant $suite"
	done
done | TALLY=$tally xargs -L 1 -P "$(($(nproc) + 1))" sh -c '
	status=0
	VARIANT=$1 JOBS=1 WRAPPED=1 sh tests/check.sh "$2" || status=$?
	# 1: tests failed, and they were counted.
	[ "$status" -le 1 ] || echo "0 1" >>"$TALLY"' run
awk '{ passed += $1; failed += $2 }
	END {
		printf "%d passed, %d failed\n", passed, failed
		exit failed > 0 || passed == 0
	}' "$tally"
