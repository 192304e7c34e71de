# results - what it takes to ask a store with millions of entries of results for
# the newest timings of one, the whole process, next to a program that only
# prints its version.
#
#   FILES=10000 sh tests/bench/results.sh	(500000 of 20 entries each)
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
mkdir -p "$TMP/store"
"$B/bench/results" "$TMP/store" 'bench$results' "${FILES:-500000}" 20
# What the best of 50 took, in ms: a process that starts and ends is of that
# size.
/usr/bin/python3 -c '
import subprocess, sys, time
def best(name, *command):
    least = 9
    for _ in range(50):
        began = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        least = min(least, time.perf_counter() - began)
    print("%-44s %6.2f ms" % (name, 1000 * least))
def ask(name, *question):
    best(name, "poolscope-results", "--store", sys.argv[1], "-p", "bench$results", *question)
best("a program that prints its version", "poolscope-stats", "--version")
ask("the newest 20 timings (goal 2 ms)", "timings", "//bench:test_7", "BM_3", "--limit", "20")
ask("the newest 1000 timings", "timings", "//bench:test_7", "BM_3")
ask("the newest 20 starts", "starts", "//bench:test_7", "--limit", "20")
ask("the oldest 20 timings", "timings", "//bench:test_7", "BM_3", "--limit", "20", "--oldest")
ask("the tests", "tests")
ask("the entries of the latest start", "entries", "//bench:test_7")
' "$TMP/store"
