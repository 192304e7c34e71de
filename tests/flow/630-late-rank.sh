#!/bin/sh
# The spans of jobs of 512 ranks on 64 nodes, published through libpoolscope: in 60 steps with a
# barrier each rank works 1 s, with a standard deviation of 2 %.  One that is 5 % slower is named,
# and nobody else; without one none is.  tests/bench/ranks.sh asks it of 200 jobs of 200 steps.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

# late JOB [OPTION...]: the ranks that are late, after how many steps there are.
late() {
	_job=$1
	shift
	poolscope-stats stragglers -q -p "job\$$_job" --start all --work work --wait wait --table ranks --format csv "$@" |
		/usr/bin/python3 -c 'import csv, sys
rows = list(csv.DictReader(sys.stdin))
print(sum(int(row["last"]) for row in rows), *(row["node"] + "/" + row["rank"] for row in rows if row["verdict"] == "late"))'
}
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
start agent poolscope-agent --no-samples -p 'job$none' -n n1 || exit 1
for seed in 1 2; do
	check "a job with a slow rank" "$B/flow/job_of_ranks" "job\$slow-$seed" "$seed" 512 64 60 0.02 $((100 * seed)) 1.05
	check "one without" "$B/flow/job_of_ranks" "job\$clean-$seed" "$seed" 512 64 60 0.02 -1 1
done
poolscope-emit other ready --wait stored --timeout 60s
wait_until indexed 60
for seed in 1 2; do
	check_text "the slow rank is named" "60 $(printf n%03d $((100 * seed % 64)))/$((100 * seed))" "$(late slow-$seed --clock-error 100us)"
	check_text "... without one none is" 60 "$(late clean-$seed --clock-error 100us)"
	check_text "... nor where nothing is known of the clocks" 60 "$(late slow-$seed)"
done
check_text "... of a node's ranks the slow one is" "60 n036/100" "$(late slow-1 -n n036)"
check_text "... of other nodes' ranks none is" 60 "$(late slow-1 --clock-error 100us -n 'n00?,n01?')"
check "the answer" poolscope-stats stragglers -p 'job$slow-1' --start all --work work --wait wait --clock-error 100us
check_printed "... has a sentence" "^rank 100 on n036 came last in "
