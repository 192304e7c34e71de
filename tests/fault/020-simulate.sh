# The delivery protocol in simulated worlds, played by the agent's sender.c and
# former.c, the broker's relay.c and the aggregator's keep.c: 20,000 of them end
# right, and every protocol that is wrong is found out.  SEED=N begins with
# another world, WORLDS=N plays more or fewer of them.
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

played "nothing is lost, nothing is kept twice" right "$WORLDS"
played "nor where spools are copied and put back, and stores are restored" \
	right "$WORLDS" mixed
played "nor where a store is lost, but for what nobody knew" \
	right "$WORLDS" lost
for mutant in send-before-sync ack-before-commit accept-gaps \
	split-transaction no-chains session-per-start fence-hellos; do
	played "the mutant $mutant is found out" "$mutant" 20000
done
for mutant in owe-nothing old-generations; do
	played "the mutant $mutant is found out" "$mutant" 20000 mixed
done
played "the mutant no-formers is found out" no-formers 20000 lost
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
