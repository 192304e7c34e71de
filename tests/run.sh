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
# lines are what failed, and `N passed, N failed`.
#
# A test that failed with others is run once more, alone, with the same input: up to
# three that pass then are reported as unsteady and do not fail the run, for a machine
# that was busy with other work says nothing of the tree.  What a sanitizer or valgrind
# reported is never run again.
#
# The tests of a variant begin as soon as it is built, while others are still being
# built.  Most scripts wait more than they compute: three run for each processor.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
. tests/suites.sh

[ "${1:-}" = quick ] || export SEED="${SEED:-1}"
units="unit/aggregator/ unit/proto/ unit/exporters/ unit/agents/ unit/broker/"
stored="unit/aggregator/ unit/proto/ unit/agents/ unit/broker/ unit/exporters/source/
	unit/exporters/cloud/ unit/exporters/upload/ unit/exporters/web/"
threads="unit/aggregator/writer/ unit/aggregator/query/ unit/aggregator/archive/
	unit/aggregator/marks/ unit/agents/client/ unit/agents/import/scanner/ unit/agents/gpu/gpu
	unit/exporters/source/ unit/exporters/top/ unit/exporters/web/ unit/proto/auth/
	unit/proto/clickhouse/ unit/proto/http/ unit/proto/net/ unit/proto/os/ unit/proto/service/"
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
all) mode=all variants="release valgrind asan tsan" WERROR=1 ;;
*) mode=all variants=$* WERROR=1 ;;
esac

# A test runs in those variants that may find what no other one does
# (`make VARIANT=tsan check` runs all):
#   release   everything but scenarios
#   asan      scenarios: their answers are the same, and everything of C
#   tsan      what starts threads: the aggregator, the library, the page, keys
#   valgrind  uses of uninitialized memory, which depend on the code that runs and not
#             on timing: unit tests of what writes or reads stores, spools and bytes of
#             others; parsers; programs that send and forward
# The longest waits come first, so that they are over when the rest is.
suites_of() {
	case $mode/$1 in
	quick/release) echo "golden lint flow/030 flow/050 flow/052 $units" ;;
	small/release) echo "golden scenario flow/02 flow/030 flow/050 flow/052 flow/060 flow/110 lint fuzz $units" ;;
	small/asan) echo "$units fuzz" ;;
	all/release) echo "fault/1 parts flow/1 fault/2 model flow/0 flow/2 flow/3 flow/4 flow/5 flow/6 fault/0 fault/3 web attack golden unit lint fuzz" ;;
	all/asan) echo "fault/1 scenario flow/0 attack flow/1 flow/2 flow/3 flow/4 flow/5 flow/6 fault/2 fault/0 fault/3 golden $units fuzz" ;;
	all/tsan) echo "flow/10 flow/180 flow/181 flow/182 flow/33 flow/54 flow/62 fault/12 fault/13 flow/13 flow/05 flow/031 flow/08 flow/02 flow/17 fault/100 $threads" ;;
	all/valgrind) echo "$stored flow/030 flow/033 flow/02 golden/perf-sampler fuzz" ;;
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
FAILURES=$(mktemp -d)
export FAILURES
trap 'rm -rf "$tally" "$FAILURES"' EXIT
mkdir -p build

# built VARIANT: build what its suites need.
built() {
	_variant=$1
	B=build
	case $_variant in
	release) ;;
	valgrind) B=build/plain ;;
	*) B=build/$_variant ;;
	esac
	# shellcheck disable=SC2046 # a list of words
	set -- $(targets "$B" $(suites_of "$_variant"))
	nice make -j"$(nproc)" VARIANT="$_variant" WERROR="${WERROR:-}" ${CC:+"CC=$CC"} "$@" &&
		if [ "$_variant" = valgrind ]; then sh tests/wrap.sh; fi
}

# shellcheck disable=SC2016 # the words are those of the shell that is started
for variant in $variants; do
	echo "== $variant: building" >&2
	if built "$variant" >"build/$variant.log" 2>&1; then
		# shellcheck disable=SC2046 # a list of words
		scripts $(suites_of "$variant") | awk -v variant="$variant" '!seen[$1]++ { print variant, $1 }'
	else
		tail -n 30 "build/$variant.log" >&2
		echo "not ok - $variant does not build" >&2
		echo "0 1 building" >>"$tally"
	fi
done | TALLY=$tally xargs -L 1 -P "$(($(nproc) * 3))" sh -c '
	status=0
	VARIANT=$1 JOBS=1 WRAPPED=1 sh tests/check.sh "$2" || status=$?
	# 1: tests failed, and they were counted.
	[ "$status" -le 1 ] || echo "0 1 building" >>"$TALLY"' run

# steady: what failed passes alone; its failures are no longer in the tally.
steady() {
	_failed=$(cd "$FAILURES" && ls)
	[ "$(echo "$_failed" | wc -w)" -le 3 ] || return 1
	for _each in $_failed; do
		_name=$(echo "${_each#*:}" | tr + /)
		case $_each in *.report) return 1 ;; esac
		echo "== ${_each%%:*} $_name: once more, alone" >&2
		FAILURES='' TALLY=/dev/null VARIANT=${_each%%:*} JOBS=1 WRAPPED=1 sh tests/check.sh "$_name" || return 1
	done
	# A variant that does not build is in no file.
	! grep -q '^0 1 building' "$tally"
}
for each in "$FAILURES"/*; do
	[ -e "$each" ] || continue
	echo "== ${each##*/}" | tr + /
	cat "$each"
done
if [ -n "$(ls "$FAILURES")" ] && steady; then
	for each in "$FAILURES"/*; do
		echo "unsteady: ${each##*/}: failed with others, passed alone" | tr + /
	done
	sed 's/ [0-9]*$/ 0/' "$tally" >"$FAILURES/tally"
	cat "$FAILURES/tally" >"$tally"
fi
awk '{ passed += $1; failed += $2 }
	END {
		printf "%d passed, %d failed\n", passed, failed
		exit failed > 0 || passed == 0
	}' "$tally"
