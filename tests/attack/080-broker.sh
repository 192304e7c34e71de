#!/bin/sh
# A broker that drops, repeats, reorders and damages what passes, and gives
# agents the answers of others: nothing is lost, nothing is kept twice.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

emits=${EMITS:-60}
[ "$emits" -le 60 ] || emits=60
start aggregator poolscope-aggregator || exit 1
check "a broker that means harm" start mutant "$ROOT/tests/attack/mutant.py" \
	"ipc://$TMP/mutant.ipc" "ipc://$DIR/run/intake.ipc" "$SEED" "$TMP/did"
for a in 1 2 3; do
	check "agent $a" start "agent$a" poolscope-agent --dir "$TMP/a$a" \
		--no-samples --no-clock --broker "ipc://$TMP/mutant.ipc" \
		-p 'acct$pool' -n "node$a"
done
# Agents that are fast put all in a few batches, and the broker has little to
# harm: more events, until each kind of harm was done.
harms="dropped repeated reordered damaged"
harmed() {
	for harm in $harms; do
		grep -qs "$harm=[1-9]" "$TMP/did" || return 1
	done
}
i=0
while [ $i -lt "$emits" ] || { [ $i -lt 460 ] && ! harmed; }; do
	[ $i -lt "$emits" ] || sleep 0.2
	i=$((i + 1))
	for a in 1 2 3; do
		poolscope-emit --dir "$TMP/a$a" test mutant --message "$a-$i" ||
			fail "event $a-$i is accepted"
	done
done
emits=$i
kept() {
	poolscope-dump -p 'acct$pool' --format jsonl --quiet |
		jq -r 'select(.name == "mutant") | .attributes.message' | sort
}
expected=$((3 * emits))
: >"$TMP/did.heal"
check "all that was accepted is kept" wait_until \
	'[ "$(kept | uniq | wc -l)" -eq '"$expected"' ]' 90
check_text "... and nothing twice" "$expected" "$(kept | wc -l)"
for a in 1 2 3; do
	check_text "what agent $a accepted is under its node" "$emits" \
		"$(poolscope-dump -p 'acct$pool' -n "node$a" --format jsonl --quiet |
			jq -r 'select(.name == "mutant") | .attributes.message' |
			grep -c "^$a-")"
	poolscope-emit --dir "$TMP/a$a" test last --wait stored
	check_text "agent $a knows that all of it is stored" 0 $?
done
echo "# $(cat "$TMP/did")"
for what in $harms; do
	check "the broker did harm ($what)" grep -q "$what=[1-9]" "$TMP/did"
done
for a in 1 2 3; do
	stop "agent$a"
	check_text "agent $a ends as it should" 0 "$STATUS"
done
stop aggregator
check "the store is whole" poolscope-admin verify
