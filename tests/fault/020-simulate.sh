# The delivery protocol in simulated worlds: 20,000 of them end right, and every
# protocol that is wrong is found out.  SEED=N begins with another world,
# WORLDS=N plays more or fewer of them.
# SPDX-License-Identifier: MIT
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
SEED=${SEED:-1}
WORLDS=${WORLDS:-20000}
passed=0 failed=0

# played NAME MUTANT WORLDS [MIXED]
played() {
	if "$B/fault/simulate" --mixed "${4:-0}" --mutant "$2" --seeds "$3" --seed "$SEED"; then
		echo "ok - $1"
		passed=$((passed + 1))
	else
		echo "FAILED - $1 (SEED=$SEED)"
		failed=$((failed + 1))
	fi
}

played "nothing is lost, nothing is kept twice" right "$WORLDS"
played "nor where spools are copied and put back, and stores are restored" \
	right "$WORLDS" 1
# Worlds that went wrong once.
for seed in 25887 114371 247459 394877 1110062 1187803 2129113 \
	136222 161450 162021 215682; do
	SEED=$seed played "world $seed ends right" right 1
done
for mutant in send-before-sync ack-before-commit accept-gaps \
	split-transaction no-chains session-per-start; do
	played "the mutant $mutant is found out" "$mutant" 20000
done
played "the mutant owe-nothing is found out" owe-nothing 20000 1
# One world in 20,000 tells.
SEED=12267 played "the mutant old-generations is found out" old-generations 1 1
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
