# The delivery protocol in simulated worlds, run by the agent's sender.c, the
# broker's relay.c and the aggregator's receiver.c: thousands of them end right, and
# every wrong protocol is detected.  SEED=N begins with another world, WORLDS=N runs
# more or fewer of them (20,000).
# SPDX-License-Identifier: MIT
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
SEED=${SEED:-1}
WORLDS=${WORLDS:-20000}
passed=0 failed=0
echo "seed $SEED"

# played NAME MUTANT WORLDS [KIND]
played() {
	if "$B/fault/simulate" --worlds "${4:-simple}" --mutant "$2" --seeds "$3" --seed "$SEED"; then
		echo "ok - $1"
		passed=$((passed + 1))
	else
		echo "FAILED - $1"
		failed=$((failed + 1))
	fi
}

played "nothing is lost, nothing is stored twice" right "$WORLDS"
played "also when spools are copied and put back, and stores are restored" \
	right "$WORLDS" mixed
played "also when a store is lost, except for what nobody knew" \
	right "$WORLDS" lost
for mutant in send-before-sync ack-before-commit accept-gaps \
	split-transaction no-comparison no-chain same-session trust-welcome \
	forget-origin forget-retained; do
	played "the mutant $mutant is detected" "$mutant" 20000
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
