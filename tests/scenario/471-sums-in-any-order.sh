#!/bin/sh
# Sum, mean and deviations of durations do not depend on the order in which the phases
# came, nor on who adds them up: the store as they come, the store from its rows, and a
# reader for a window have the same digits.
#
# 600 phases follow each other on a node; each takes up to 1000 s, to the nanosecond, by
# chance.  One pool gets them in their order, the other the last one first.  Fractions of
# Python say what the numbers are; the answers are at most 1e-15 of them away, and equal.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

SEED=${SEED:-$(date +%s)}
echo "seed $SEED"
aggregate_steps
# story WAY: the lines, to standard output; the durations to $TMP/durations.
story() {
	/usr/bin/python3 - "$SEED" "$1" "$TMP/durations" <<-'END'
		import random, sys
		chance = random.Random(int(sys.argv[1]))
		durations = [chance.randint(1, 10 ** chance.randint(1, 12)) for _ in range(600)]
		open(sys.argv[3], "w").write(" ".join(map(str, durations)))
		lines, at = [], 0
		for each in durations:
		    for when, name in (at, "start"), (at + each, "end"):
		        lines.append("event %d.%09d n1 work:%s" % (when // 10 ** 9, when % 10 ** 9, name))
		    at += each + 1000
		for line in lines if sys.argv[2] == "forwards" else reversed(lines):
		    print(line)
	END
}
for way in forwards backwards; do
	PARTITION="acct\$$way"
	story "$way" | records
done

# judge: are the numbers of all files those of Python, and the same?
judge() {
	/usr/bin/python3 - "$TMP" <<-'END'
		import glob, json, math, sys
		from fractions import Fraction
		durations = [Fraction(int(each), 10 ** 9) for each in open(sys.argv[1] + "/durations").read().split()]
		mean = sum(durations) / len(durations)
		squares = sum((each - mean) ** 2 for each in durations)
		wanted = {"sum": sum(durations), "mean": mean, "min": min(durations), "max": max(durations)}
		roots = {"std_population": squares / 600, "std_sample": squares / 599}
		answers = sorted(glob.glob(sys.argv[1] + "/answer-*"))
		for name in [*wanted, *roots]:
		    got = {json.load(open(path))["rows"][0][name] for path in answers}
		    print(len(answers), name, *sorted(got) if len(got) > 1 else "")
		    value, = got
		    if name in roots:
		        assert abs(Fraction(value) ** 2 / roots[name] - 1) < 4e-15, name
		    else:
		        assert abs(Fraction(value) / wanted[name] - 1) < 1e-15, name
	END
}
# ask NAME WAY OPTION...: keep the answer of a pool.
ask() {
	_kept=$1 _pool=$2
	shift 2
	poolscope-stats phases -q -p "acct\$$_pool" --format json "$@" >"$TMP/answer-$_kept"
}
n=0
for way in forwards backwards; do
	for window in "" "--from $(at 0)"; do
		n=$((n + 1))
		# shellcheck disable=SC2086 # an option and its value
		check "$way, ${window:-of all time}" ask "$n" "$way" $window
	done
done
stop aggregator
check "the statistics are those of the events" poolscope-admin verify
check "they are derived again" poolscope-admin rebuild --models "$TMP/models"
for way in forwards backwards; do
	check "$way, derived again" ask "$way" "$way" --store "$DIR/store"
done
answer "six answers have the same digits" "6 sum
6 mean
6 min
6 max
6 std_population
6 std_sample" judge
