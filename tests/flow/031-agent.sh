#!/bin/sh
# poolscope-agent: accepted once, stored once, whatever dies; its bounds, its
# samples, its start and its end.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/agent.sh
. "$ROOT/tests/flow/agent.sh"

agent() {
	start agent poolscope-agent --no-clock --broker "$AGGREGATOR" -p acct/pool -n node1 "$@"
}
# emits NAME FIRST LAST
emits() {
	seq "$2" "$3" | sed "s/^/test $1 /" | poolscope-emit --stdin --timeout 60s
}

# ---- start
check "it starts without a broker" agent --no-samples
check_text "its socket is for its user only" 600 "$(stat -c %a "$DIR/run/agent.sock")"
check_text "its spool is its own" 700 "$(stat -c %a "$DIR/spool")"
check "it takes events without a broker" emits early 1 1000
check_status 1 "a second one on the same spool is refused" \
	poolscope-agent --socket "$DIR/run/other.sock"
check_status 1 "a second one on the same socket is refused" \
	poolscope-agent --spool "$TMP/other"
check_printed "... and says which process has it" "process $(pid agent)"
check_status 2 "a period of nothing is refused" poolscope-agent --period 1ms
start_aggregator || exit 1
check "the aggregator gets them when it starts" wait_until \
	'[ "$(count_events early)" = "1000 1000" ]' 30

# ---- TERM
emits term 1 5000
stop agent
check_text "TERM ends it with 0" 0 "$STATUS"
check_text "... after everything was sent" "5000 5000" "$(count_events term)"
check "... and has removed its socket" test ! -e "$DIR/run/agent.sock"
echo mute >"$OUT.mode"
agent --no-samples --drain 100ms
emits stay 1 10
stop agent
check_text "TERM ends it although nobody answers" 0 "$STATUS"
rm "$OUT.mode"
agent --no-samples
check "... and what stayed is sent by the next one" wait_until \
	'[ "$(count_events stay)" = "10 10" ]' 30

# ---- kill -9 in the middle of it
rounds=5
for round in $(seq $rounds); do
	emits "kill$round" 1 3000 2>/dev/null &
	emit=$!
	after=$(/usr/bin/python3 -c "import random, sys
random.seed(int(sys.argv[1]) + int(sys.argv[2]))
print(random.randrange(1, 3000))" "$SEED" "$round")
	wait_until "[ \"\$(count_events kill$round | cut -d' ' -f1)\" -ge $after ]" 1 >/dev/null
	stop agent KILL
	agent --no-samples || exit 1
	wait "$emit" || fail "emit goes on when its agent is killed"
done
for round in $(seq $rounds); do
	check "round $round: nothing lost, nothing twice" wait_until \
		"[ \"\$(count_events kill$round)\" = '3000 3000' ]" 30
done

# ---- an aggregator that stores and does not acknowledge, and one that restarts
echo deaf >"$OUT.mode"
emits deaf 1 100
check "the aggregator has them" wait_until '[ "$(count_events deaf)" = "100 100" ]'
rm "$OUT.mode"
check "what is acknowledged late is there once" \
	poolscope-emit test after --wait stored --timeout $((20 * SLOW))s
stop aggregator KILL
emits down 1 100
start_aggregator || exit 1
check "an aggregator that was killed gets the rest" wait_until \
	'[ "$(count_events down)" = "100 100" ]' 90
check_text "... and nothing twice" "100 100" "$(count_events deaf)"
echo busy >"$OUT.mode"
emits busy 1 100
rm "$OUT.mode"
check "a busy aggregator is asked again" wait_until \
	'[ "$(count_events busy)" = "100 100" ]' 90

# ---- an aggregator that lost its store: the agent resends what it retained
stop agent
stop aggregator
rm -f "$OUT" "$OUT.state"
start_aggregator || exit 1
agent --no-samples
check "a new store gets what the spool retained" wait_until \
	'[ "$(count_events term)" = "5000 5000" ]' 90

# ---- packets of strangers
check "bad packets are answered and do no harm" \
	/usr/bin/python3 "$ROOT/tests/flow/packets.py" "$DIR/run/agent.sock" "$SEED"
check "... and logged once" test \
	"$(grep -c 'bad packet' "$TMP/agent.log")" = 1
check "a client that does not read is cut off, others are served" \
	/usr/bin/python3 "$ROOT/tests/flow/packets.py" "$DIR/run/agent.sock" "$SEED" deaf
check "three hundred clients are served" \
	/usr/bin/python3 "$ROOT/tests/flow/packets.py" "$DIR/run/agent.sock" "$SEED" many
stop agent
check_text "it still ends with 0" 0 "$STATUS"

# ---- the bound, and samples
echo mute >"$OUT.mode"
rm -rf "$DIR/spool"
agent --spool-bytes 4MiB --segment-bytes 1MiB --period 200ms
line=$(head -c 1000 /dev/zero | tr '\0' x)
seq 10000 | sed "s/^/test full $line/" >"$TMP/full"
check_status 75 "a full spool refuses events with 75" \
	sh -c 'poolscope-emit --stdin <"$1"' x "$TMP/full"
check_printed "... and says so" "spool is full"
taken=$(sed -n 's/.*: \([0-9]*\) events published.*/\1/p' "$TMP/err")
check "... after it has taken about its bound ($taken KiB)" \
	test "${taken:-0}" -ge 2000 -a "${taken:-0}" -le 4200
check "... and stays within it" test \
	"$(du -k --apparent-size -s "$DIR/spool" | cut -f1)" -le 4300
check "samples are not taken then" wait_until \
	'grep -q "sampling paused: the spool is full" "$TMP/agent.log"'
rm "$OUT.mode"
check "with room again what was accepted arrives" wait_until \
	"[ \"\$(stored 1 'r[\"kind\"] == 1 and r[\"record\"][2] == \"full\"' | wc -l)\" -ge $taken ]" 90
check "... and a gap reports the missing samples" wait_until \
	"stored 'r[\"record\"][2:4]' 'r[\"kind\"] == 5' | grep -q \"'sample', 'full'\"" 30
# In a bare chroot there is no mounted root to measure.
# shellcheck disable=SC2034 # for wait_until
groups=4
# shellcheck disable=SC2034
if awk '$2 == "/" && $1 ~ "^/dev/" { found = 1 } END { exit !found }' /proc/self/mounts; then groups=5; fi
check "every metric group of this host is sampled" wait_until \
	'[ "$(stored "r[\"record\"][1]" "r[\"kind\"] == 2" | sort -u | grep -cE "^(cpu|memory|load|self|filesystem/)$")" -ge $groups ]' 30
check_text "... and defined, with as many names as numbers" "" "$(/usr/bin/python3 - "$OUT" <<'END'
import json, sys
groups = {}
for r in map(json.loads, open(sys.argv[1])):
    if r["kind"] == 4 and r["record"][0] == "set":
        p = r["record"][2]
        n = {len(p[k].split()) for k in ("names", "units", "types")}
        if len(n) != 1:
            print("columns of", r["record"][1], n)
        groups[r["record"][1]] = n.pop()
    if r["kind"] == 2 and groups.get(r["record"][1]) != len(r["record"][2]):
        print("sample of", r["record"][1], "has", len(r["record"][2]))
END
)"
check_text "every event that was accepted is there once" "$taken $taken" \
	"$(stored 'r["record"][4]' 'r["kind"] == 1 and r["record"][2] == "full"' |
		sort | uniq -c | awk '{ n += $1; d++ } END { print n, d }')"
stop agent
check_text "the aggregator found no fault" "" "$(cat "$OUT.faults" 2>/dev/null)"
