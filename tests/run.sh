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
status=0
for variant in $variants; do
	case $variant in
	release) suites="lint unit fuzz golden flow fault model";;
	asan|tsan|valgrind) suites="unit fuzz golden flow fault";;
	*) echo "run.sh: no such variant: $variant" >&2; exit 2;;
	esac
	echo "== $variant: building"
	mkdir -p build
	targets=
	for suite in $suites; do
		case $suite in
		unit) targets="$targets unit";;
		flow) targets="$targets flows";;
		fuzz) targets="$targets fuzzers";;
		fault) targets="$targets faults";;
		esac
	done
	# shellcheck disable=SC2086 # a list of words
	make -j"$(nproc)" VARIANT="$variant" all $targets >"build/$variant.log" 2>&1 || {
		tail -n 30 "build/$variant.log"
		echo "not ok - $variant does not build"
		echo "0 1" >>"$tally"
		status=1
		continue
	}
	VARIANT=$variant TALLY=$tally sh tests/check.sh "$suites" || status=1
done
awk '{ passed += $1; failed += $2 } END { printf "%d passed, %d failed\n", passed, failed }' "$tally"
exit $status
