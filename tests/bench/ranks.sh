# ranks - which rank of a job of 512 comes last: 200 steps with a barrier, of which each
# rank's work is 1 s with a standard deviation of 2 %; the spans are published through
# libpoolscope.  In half of the jobs one rank is slower by 5 %.
# Goals: it is named, and no other, in 95 of 100; none is named in 95 of 100 without one.
#
#	JOBS=100 RANKS=512 STEPS=200 NODES=64 SEED=1 sh tests/bench/ranks.sh
# SPDX-License-Identifier: MIT
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
ranks=${RANKS:-512} steps=${STEPS:-200} nodes=${NODES:-64} seed=${SEED:-1} jobs=${JOBS:-100}
poolscope up --agent >/dev/null

# verdict JOB: the ranks that are named in it.
verdict() {
	poolscope-stats stragglers -q -p "job\$$1" --start all --work work --wait wait --clock-error 100us \
		--table ranks --format csv | /usr/bin/python3 -c 'import csv, sys
rows = list(csv.DictReader(sys.stdin))
assert sum(int(row["last"]) for row in rows) == int(sys.argv[1]), "not all steps are there"
print(*(row["rank"] for row in rows if row["verdict"] == "late"))' "$steps"
}
right=0 wrong=0 clean=0
for i in $(seq "$jobs"); do
	slow=$((i * 37 % ranks))
	"$B/flow/job_of_ranks" "job\$slow-$i" $((2 * i + seed * 1000)) "$ranks" "$nodes" "$steps" 0.02 "$slow" 1.05
	"$B/flow/job_of_ranks" "job\$clean-$i" $((2 * i + 1 + seed * 1000)) "$ranks" "$nodes" "$steps" 0.02 -1 1
	poolscope emit bench ranks --wait stored --timeout 120s
	wait_indexed
	named=$(verdict "slow-$i")
	[ "$named" = "$slow" ] && right=$((right + 1))
	[ -z "$named" ] || [ "$named" = "$slow" ] || wrong=$((wrong + 1))
	[ -n "$(verdict "clean-$i")" ] || clean=$((clean + 1))
	# 200 jobs have 41 million spans.
	if [ $((i % 10)) = 0 ]; then
		poolscope down >/dev/null
		rm -rf "$POOLSCOPE_DIR"
		poolscope up --agent >/dev/null
	fi
done
echo "ranks: the slow one of $ranks is named in $right of $jobs jobs of $steps steps (goal 95 of 100), another one in $wrong"
echo "ranks: none is named in $clean of $jobs jobs without a slow one (goal 95 of 100)"
[ $((100 * right)) -ge $((95 * jobs)) ] && [ $((100 * clean)) -ge $((95 * jobs)) ]
