# results - what it takes to ask a store with millions of entries of results for
# the newest timings of one, the whole process, beside a program that only
# prints its version.
#
#   FILES=10000 sh tests/bench/results.sh	(500000 of 20 entries each)
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # a partition's name
. "$(dirname "$0")/lib.sh"
RUNS=${RUNS_OF_RESULTS:-50}
mkdir -p "$TMP/store"
"$B/bench/results" "$TMP/store" 'bench$results' "${FILES:-500000}" 20
ask() {
	name=$1
	shift
	measure "$name" poolscope-results --store "$TMP/store" -p 'bench$results' -o "$TMP/out" "$@"
}
measure "a program that prints its version" poolscope-stats --version
ask "the newest 20 timings (goal 2 ms)" timings //bench:test_7 BM_3 --limit 20
ask "the newest 1000 timings" timings //bench:test_7 BM_3
ask "the newest 20 starts" starts //bench:test_7 --limit 20
ask "the oldest 20 timings" timings //bench:test_7 BM_3 --limit 20 --oldest
ask "the tests" tests
ask "the entries of the latest start" entries //bench:test_7
