#!/bin/sh
# The fallback queue: events that no agent answered for are stored once, also
# when agents die over them.  EMITS of them (150) each by a process of its own.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/agent.sh
. "$ROOT/tests/flow/agent.sh"

agent() {
	start agent poolscope-agent --no-samples --no-clock --broker "$AGGREGATOR" -p acct/pool \
		-n node1 "$@"
}
# leave NAME MESSAGE: as if no agent were there.
leave() {
	SLURM_CLUSTER_NAME=big SLURM_JOB_PARTITION=batch SLURMD_NODENAME=n7 \
		poolscope-emit --socket "$TMP/nobody" test "$1" --message "$2" 2>/dev/null
}
is_empty() {
	[ -z "$(ls "$DIR/fallback/new")" ]
}

EMITS=${EMITS:-150}
start_aggregator || exit 1
for i in $(seq "$EMITS"); do
	leave before "$i"
done
check_text "events wait in files" "$EMITS" "$(find "$DIR/fallback/new" -type f | wc -l)"
seq 2000 | sed 's/^/test lines /' | poolscope-emit --stdin 2>/dev/null
check "lines share files" test "$(find "$DIR/fallback/new" -type f | wc -l)" -lt $((EMITS + 20))
agent || exit 1
check "an agent takes them all" wait_until \
	'is_empty && [ "$(count_events before)" = "$EMITS $EMITS" ]' 30
check "... also the lines" wait_until '[ "$(count_events lines)" = "2000 2000" ]' 30
check_text "... as its own, as if it had been there" 'acct$pool node1' \
	"$(stored 'r["partition"], r["node"]' 'r["record"][2] == "before"' | sort -u)"
poolscope-emit --socket "$TMP/nobody" -p 'acct$other' -n elsewhere test named 2>/dev/null
check "what says whose it is stays so" wait_until \
	'[ "$(stored "r[\"partition\"], r[\"node\"]" "r[\"record\"][2] == \"named\"")" = "acct\$other elsewhere" ]'
leave running 1
check "what is left while it runs is taken at once" wait_until \
	'is_empty && [ "$(count_events running)" = "1 1" ]'

# ---- the same file again, as after a crash between commit and removal
kill -STOP "$(pid agent)"
leave again 1
cp -r "$DIR/fallback/new" "$TMP/copy"
kill -CONT "$(pid agent)"
check "a file is taken" wait_until 'is_empty'
cp -r "$TMP/copy" "$TMP/more"
mv "$TMP/more"/* "$DIR/fallback/new/"
check "the same file is taken once more" wait_until 'is_empty'
stop agent KILL
cp "$TMP/copy"/* "$DIR/fallback/new/"
agent || exit 1
check "... and after a kill -9" wait_until 'is_empty'
poolscope-emit test mark --wait stored
check_text "... but is stored once" "1 1" "$(count_events again)"

# ---- what must not lie there
echo garbage >"$TMP/garbage"
mv "$TMP/garbage" "$DIR/fallback/new/00000000000000000000000000000001"
ln -s "$DIR/spool/ACKED" "$DIR/fallback/new/00000000000000000000000000000002"
mkfifo "$DIR/fallback/new/00000000000000000000000000000003"
leave good 1
check "bad files do not stop good ones" wait_until \
	'is_empty && [ "$(count_events good)" = "1 1" ]'
check_text "bad ones are set aside" 3 "$(find "$DIR/fallback/bad" -mindepth 1 | wc -l)"
check_text "... with a line a minute" 1 "$(grep -c 'moved to fallback/bad' "$TMP/agent.log")"

# ---- a full spool leaves them
stop agent
echo mute >"$OUT.mode"
rm -rf "$DIR/spool"
agent --spool-bytes 4MiB --segment-bytes 1MiB || exit 1
line=$(head -c 1000 /dev/zero | tr '\0' x)
seq 10000 | sed "s/^/test full $line/" | poolscope-emit --stdin 2>/dev/null
leave full 1
rm "$OUT.mode"
check "with room again it is taken" wait_until \
	'is_empty && stored 1 "r[\"kind\"] == 1 and r[\"record\"][3] == {\"message\": \"1\"} and r[\"record\"][2] == \"full\"" | grep -q 1' 60

# ---- agents that die while events come
stop agent
agent || exit 1
storm=$((EMITS * 2 / 5))
for round in 1 2 3 4 5; do
	for i in $(seq $storm); do
		poolscope-emit test "storm" --message "$round.$i" 2>/dev/null &&
			echo "$round.$i"
	done >>"$TMP/accepted" &
	emits=$!
	lives=$(/usr/bin/python3 -c "import random, sys
random.seed(int(sys.argv[1]) + int(sys.argv[2]))
print(random.randrange(1, int(sys.argv[3])))" "$SEED" "$round" "$storm")
	wait_until "[ \"\$(grep -c '^$round\\.' '$TMP/accepted')\" -ge $lives ]"
	stop agent KILL
	agent || exit 1
	wait "$emits"
done
check_text "every emit returns 0" $((5 * storm)) "$(wc -l <"$TMP/accepted")"
check "and every event is stored once" wait_until \
	'is_empty && [ "$(count_events storm)" = "$((5 * storm)) $((5 * storm))" ]' 60
stop agent
check_text "the aggregator found no fault" "" "$(cat "$OUT.faults" 2>/dev/null)"
