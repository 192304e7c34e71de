#!/bin/sh
# run - run the tests on a plain Debian machine: install missing packages, build,
# run.
#
#   sh tests/run.sh            what shows that this tree works: tests of the programs
#                              and their parsers, also under ASan and UBSan
#   sh tests/run.sh quick      while working: make quick
#   sh tests/run.sh all        every suite and variant, as continuous integration
#   sh tests/run.sh asan       one variant of all: release, asan, tsan, valgrind
#
# Without SEED each run has the same random input, so that it fails by its code and not by
# its luck; `make check`, `make quick` and `make soak` take other input each time.
#
# On two processors the first takes at most 12 minutes, quick 3, all 40.  The last
# line is `N passed, N failed`.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
. tests/suites.sh

[ "${1:-}" = quick ] || export SEED="${SEED:-1}"
units="unit/exporters/ unit/agents/ unit/aggregator/ unit/proto/ unit/broker/"
case ${1:-} in
"")
	mode=small variants="release asan"
	GOLDEN_NODES=${GOLDEN_NODES:-1000} GOLDEN_RUNS=${GOLDEN_RUNS:-1000}
	export GOLDEN_NODES GOLDEN_RUNS
	;;
quick)
	mode=quick variants=release
	# Only the recorded data, and a small farm.
	GOLDEN_NODES=${GOLDEN_NODES:- } GOLDEN_RUNS=${GOLDEN_RUNS:-1000}
	export GOLDEN_NODES GOLDEN_RUNS
	;;
all) mode=all variants="release asan tsan valgrind" WERROR=1 ;;
*) mode=all variants=$* WERROR=1 ;;
esac

# Only valgrind finds uses of uninitialized memory.  These depend on the code that
# runs and not on timing, so long tests run only with the sanitizers, and the
# longest fault tests only in release (`make VARIANT=valgrind check` runs all).
suites_of() {
	case $mode/$1 in
	quick/release) echo "golden lint flow/030 flow/050 flow/052 $units" ;;
	small/release) echo "golden scenario flow/02 flow/030 flow/050 flow/052 flow/060 flow/110 lint fuzz $units" ;;
	small/asan) echo "$units fuzz" ;;
	all/release) echo "fault/1 flow/0 fault/0 flow/1 parts web attack unit scenario golden model lint fuzz" ;;
	all/asan) echo "flow/0 fault/0 fault/1 flow/1 attack unit scenario golden fuzz" ;;
	all/tsan) echo "flow/0 fault/10 flow/1 unit fault/12 fault/13 golden fuzz" ;;
	all/valgrind) echo "unit flow/03 golden/perf flow/02 flow/100 fuzz" ;;
	*) echo "run.sh: no such variant: $1" >&2; return 2 ;;
	esac
}

for variant in $variants; do
	suites_of "$variant" >/dev/null
done
if [ "$mode" != quick ]; then
	. deploy/packages.sh
	need_packages build
	need_packages test
fi

tally=$(mktemp)
trap 'rm -f "$tally"' EXIT
mkdir -p build
built=
for variant in $variants; do
	B=build
	case $variant in
	release) ;;
	valgrind) B=build/plain ;;
	*) B=build/$variant ;;
	esac
	# shellcheck disable=SC2046 # a list of words
	set -- $(targets "$B" $(suites_of "$variant"))
	echo "== $variant: building"
	if make -j"$(nproc)" VARIANT="$variant" WERROR="${WERROR:-}" ${CC:+"CC=$CC"} "$@" >"build/$variant.log" 2>&1 &&
		if [ "$variant" = valgrind ]; then sh tests/wrap.sh; fi; then
		built="$built $variant"
	else
		tail -n 30 "build/$variant.log"
		echo "not ok - $variant does not build"
		echo "0 1" >>"$tally"
	fi
done

# Run the suites of all variants, one more at a time than there are processors
# (tests wait a lot), the slowest variant first so that no long suite runs alone at
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
