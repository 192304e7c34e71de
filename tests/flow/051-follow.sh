#!/bin/sh
# Following what is received: through the aggregator and in its store, by a
# follower that is killed at any time, and behind what was purged.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
pool='acct$pool'
got=$TMP/got
at=$TMP/at
n=0

# emit_events N: the next N events, stored.
emit_events() {
	_to=$((n + $1))
	while [ "$n" -lt "$_to" ]; do
		n=$((n + 1))
		echo "follow event $n"
	done >"$TMP/events"
	poolscope-emit --stdin --wait stored <"$TMP/events" >"$TMP/said" 2>&1 || {
		fail "events are stored" "$TMP/said"
		return 1
	}
}

# follow [OPTION...]: a follower in the background; what it prints is appended
# to $got.
follow() {
	poolscope-dump --follow --cursor "$at" -p "$pool" --kind event "$@" >>"$got" 2>>"$TMP/follow.log" &
	echo $! >"$TMP/follow.pid"
	STARTED="$STARTED follow"
}

# numbers FILE: those of the events in it, in order, each once; whatever comes
# again must be what came.
numbers() {
	/usr/bin/python3 - "$1" <<'END'
import json, sys
seen, order = {}, []
for line in open(sys.argv[1]):
    if not line.endswith("\n"):
        break  # a follower was killed within it
    r = json.loads(line)
    who = (r["session"], r["seq"], r["index"])
    assert seen.setdefault(who, line) == line, line
    order.append(r["attributes"]["message"])
print(*dict.fromkeys(order))
END
}

# has UPTO: are the events 1 to UPTO all there, in order?
has() {
	[ "$(numbers "$got")" = "$(seq -s ' ' "$1")" ]
}

# ---- wrong usage
wrong_usage "a cursor without following is wrong usage" "requires --follow" poolscope-dump --cursor x
wrong_usage "following into a file is wrong usage" "standard output" poolscope-dump --follow -o x
wrong_usage "following as CSV is wrong usage" "supports only jsonl" poolscope-dump --follow --format csv
wrong_usage "following what is derived is wrong usage" "'phase' is not one of" \
	poolscope-dump --follow --kind phase

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
start agent poolscope-agent --no-samples --no-clock -p "$pool" -n node1 || exit 1
wrong_usage "following on another clock is wrong usage" "clock raw" \
	poolscope-dump --follow -p "$pool" --clock corrected
echo "1 x" >"$TMP/bad"
check_status 1 "a cursor that is none is refused" \
	poolscope-dump --follow -p "$pool" --cursor "$TMP/bad"
check_printed "... by name" "$TMP/bad: is not a journal position"

# ---- through the aggregator
emit_events 10
follow
check "what is stored is printed" wait_until "has 10"
emit_events 10
check "and what comes, as it comes" wait_until "has 20"
cp "$at" "$TMP/early"
stop follow TERM
check_text "TERM ends a follower with 0" 0 "$STATUS"
emit_events 10
follow
check "and goes on where it was" wait_until "has 30"
for round in 1 2 3 4 5 6 7 8; do
	emit_events $((round * 7)) &
	emitting=$!
	timeout "0.0$((round * 3 % 10 + 1))" tail -f /dev/null
	stop follow KILL
	# The half of a line that it may have left.
	[ -z "$(tail -c 1 "$got")" ] || sed -i '$d' "$got"
	follow
	wait "$emitting"
	n=$((n + round * 7))
done
check "killed at any time it leaves nothing out" wait_until "has $n"
# A shell starts what is in the background with INT ignored: wait for its handler.
handles_int() {
	[ $((0x$(awk '$1 == "SigCgt:" { print $2 }' "/proc/$(pid follow)/status") & 2)) -ne 0 ]
}
wait_until handles_int
stop follow INT
check_text "INT ends it, too" 0 "$STATUS"
lines=$(wc -l <"$got")
follow
emit_events 1
check "who ended in order" wait_until "has $n"
check_text "... gets nothing twice" $((lines + 1)) "$(wc -l <"$got")"
stop follow TERM
cut -d ' ' -f 2 "$at" >"$TMP/end"

# Nothing comes any more, so that nothing is written.
mkfifo "$TMP/pipe"
poolscope-dump --follow -p "$pool" >"$TMP/pipe" 2>>"$TMP/follow.log" &
follower=$!
exec 3<"$TMP/pipe"
handles_term() {
	[ $((0x$(awk '$1 == "SigCgt:" { print $2 }' "/proc/$follower/status") & 0x4000)) -ne 0 ]
}
check "a follower of a pipe runs" wait_until handles_term
exec 3<&-
check "it ends with its reader" wait_until "! kill -0 $follower 2>/dev/null" || kill -9 "$follower"
wait "$follower"
check_text "... which is no failure" 0 "$?"

# ---- the store, while its aggregator runs and after
rm "$got" "$at"
follow --store "$DIR/store"
check "a store is followed while its aggregator runs" wait_until "has $n"
emit_events 5
check "... as it grows" wait_until "has $n"
stop follow KILL
check "a copy is made" poolscope-admin backup "$TMP/backup"
emit_events 5
stop agent
stop broker
stop aggregator
follow --store "$DIR/store"
check "... and when it has stopped" wait_until "has $n"
stop follow TERM
check_text "which is no remark" "" "$(cat "$TMP/follow.log")"
check_status 1 "a cursor of another store is refused" \
	poolscope-dump --follow -p "$pool" --cursor "$at" --store "$TMP/backup"
check_printed "... and what it is" "another store"
# At a place that the copy has, too.
sed 's/ .*/ 2/' "$at" >"$TMP/copied"
check_status 1 "... wherever it stands" \
	poolscope-dump --follow -p "$pool" --cursor "$TMP/copied" --store "$TMP/backup"
check_printed "... and what it is" "before it was restored"

# ---- a purge
start aggregator poolscope-aggregator --journal-keep 1ms || exit 1
start broker poolscope-broker || exit 1
start agent poolscope-agent --no-samples --no-clock -p "$pool" -n node1 || exit 1
# purged: the batch of the early cursor is not there any more.
purged() {
	"$ROOT/tests/flow/counters.py" >"$TMP/status" || return 1
	first=$(/usr/bin/python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["store"]["journal_first"])' "$TMP/status")
	[ "$first" -gt "$(cat "$TMP/end")" ]
}
emit_events 1
check "batches are purged" wait_until purged
stop agent
stop broker
stop aggregator
: >"$got"
cp "$TMP/early" "$at"
first=0
follow --store "$DIR/store"
check "a follower that was away gets a gap" wait_until "grep -q purged '$got'"
stop follow TERM
"$ROOT/tests/flow/counters.py" --store "$DIR/store" >"$TMP/status"
check "... first, once, and how many batches are gone" /usr/bin/python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
first = json.load(open(sys.argv[2]))["store"]["journal_first"]
assert rows[0]["kind"] == "gap" and rows[0]["reason"] == "purged", rows[0]
assert rows[0]["count"] == first - int(open(sys.argv[3]).read().split()[1]), rows[0]
assert all(row["kind"] == "event" for row in rows[1:]), rows
' "$got" "$TMP/status" "$TMP/early"
