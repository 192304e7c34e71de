#!/bin/sh
# poolscope-emit: its arguments, what it says about bad ones, and where events
# go with and without an agent.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/agent.sh
. "$ROOT/tests/flow/agent.sh"

# ---- wrong usage is one line and 2
wrong_usage "no event is wrong usage" "SOURCE and EVENT" poolscope-emit only
wrong_usage "an unknown option is wrong usage" "unknown option --nope" poolscope-emit --nope a b
wrong_usage "a time that is not a number is wrong usage" "not a number" poolscope-emit --ts noon a b
wrong_usage "a time out of range is refused with the range" "1900 and 2200" \
	poolscope-emit --ts 99999999999 a b
wrong_usage "an attribute without = is wrong usage" "KEY=VALUE" poolscope-emit --attr x a b
wrong_usage "the same attribute twice is wrong usage" "twice" \
	poolscope-emit --attr x=1 --attr x=2 a b
wrong_usage "a control character is refused" "control character" poolscope-emit "a$(printf '\t')" b
wrong_usage "bytes that are not UTF-8 are refused" "not UTF-8" poolscope-emit a "$(printf '\377')"
wrong_usage "a name over the limit is refused with the limit" "255 bytes" \
	poolscope-emit a "$(head -c 256 /dev/zero | tr '\0' x)"
wrong_usage "a message over the limit is refused with the limit" "32768 bytes" \
	poolscope-emit --message "$(head -c 32769 /dev/zero | tr '\0' x)" a b
wrong_usage "a bad partition is refused" "partition" poolscope-emit -p "$(printf 'a\nb')" a b
wrong_usage "an id of a run that is no name is refused" "--run: run 'a.x09b' .*control" \
	poolscope-emit --run "$(printf 'a\tb')" run request
wrong_usage "... and one over the limit with the limit" "255 bytes" \
	poolscope-emit --run "$(head -c 256 /dev/zero | tr '\0' x)" run request
wrong_usage "... and an empty one" "--run: run '' is empty" poolscope-emit --run '' run request
wrong_usage "a run given twice is wrong usage" "attribute 'run' is given twice" \
	poolscope-emit --run 1 --attr run=2 run request
wrong_usage "a receive time that is not a number is wrong usage" "--receive-ts: 'noon' is not a number" \
	poolscope-emit --run 1 --receive-ts noon run request
wrong_usage "--stdin takes no event" "no SOURCE" poolscope-emit --stdin a b
wrong_usage "... and no run" "members of the lines" poolscope-emit --stdin --run 1

# ---- without an agent
check "without an agent the event is left" poolscope-emit a b
check_printed "... and says where" \
	"no agent at $DIR/run/agent.sock; left in $DIR/fallback/new"
check_text "... as one file" 1 "$(find "$DIR/fallback/new" -type f | wc -l)"
check_status 75 "--wait stored fails then" \
	poolscope-emit --wait stored a b
check "... but the event is left all the same" \
	test "$(find "$DIR/fallback/new" -type f | wc -l)" = 2
rm -rf "$DIR/fallback"

# ---- with an agent and an aggregator
start_aggregator || exit 1
start agent poolscope-agent --no-samples --no-clock --broker "$AGGREGATOR" -p 'acct$pool' \
	-n node1 || exit 1
check "an event is taken" poolscope-emit NodePrep START --ts 1508000063.6957981239 \
	--message 'offer=ubuntu,sku="16,04"' --prefix shipyard --wait stored
check_text "... lower-cased, to the nanosecond, with its message" \
	'acct$pool node1 [1508000063695798124, "nodeprep", "start", {"message": "offer=ubuntu,sku=\"16,04\""}]' \
	"$(stored 'r["partition"], r["node"], json.dumps(r["record"][:4])' | tail -1)"
check "other arguments are taken" poolscope-emit -p acct/other -n 'n 2' a b \
	--prefix mine --attr k=v --attr 'x=1=2' --message '' --wait=stored
check_text "... as attributes, of whom they say" \
	'acct$other n 2 {"k": "v", "prefix": "mine", "x": "1=2"}' \
	"$(stored 'r["partition"], r["node"], json.dumps(r["record"][3], sort_keys=True)' | tail -1)"
check "an event of a test run is taken" poolscope-emit run flash_start --run 'r 1' \
	--ts 17.5 --receive-ts 18.000000001 --attr device_group=g --wait stored
check_text "... with its run, and when it was received" \
	'[17500000000, "run", "flash_start", {"device_group": "g", "receive_ns": 18000000001, "run": "r 1"}]' \
	"$(stored 'json.dumps(r["record"][:4], sort_keys=True)' | tail -1)"
before=$(date +%s)
check "without --ts it is now" poolscope-emit a now --wait stored
check "... between before and after" test \
	"$(stored 'r["record"][0] // 10**9' | tail -1)" -ge "$before"

# ---- lines
cat >"$TMP/lines" <<'END'
load begin k=v w
bad
{"source":"load","event":"end","ts":"1.5","node":"n3","attrs":{"a":1}}
{"source":"load"}

{"source":"load","event":"Other","partition":"acct$two"}
{"source":"load","event":"test_end","run":"r 2","ts":5,"receive_ts":6.25}
load last
END
printf 'load unended' >>"$TMP/lines"
check_status 1 "a bad line among good ones exits with 1" \
	sh -c 'poolscope-emit --stdin --wait stored <"$1"' x "$TMP/lines"
check_text "... and is named with its number" \
	"stdin:2: is not SOURCE EVENT [MESSAGE]
stdin:4: \"event\" is not text" "$(cat "$TMP/err")"
check_text "... while the good ones are stored" \
	'acct$pool n3 end|acct$pool node1 begin|acct$pool node1 last|acct$pool node1 test_end|acct$pool node1 unended|acct$two node1 other|' \
	"$(stored 'r["partition"], r["node"], r["record"][2]' 'r["record"][1] == "load"' |
		LC_ALL=C sort | tr '\n' '|')"
check_text "... and a line says its run" '{"receive_ns": 6250000000, "run": "r 2"}' \
	"$(stored 'json.dumps(r["record"][3], sort_keys=True)' 'r["record"][2] == "test_end"')"
check_status 1 "a line over the limit is bad" sh -c \
	'{ head -c 200000 /dev/zero | tr "\0" x; echo; echo long line; } | poolscope-emit --stdin'
check_text "... and the next one is not" "stdin:1: is longer than 128 KiB" \
	"$(cat "$TMP/err")"
check "many lines go in few puts" sh -c \
	'seq 20000 | sed "s/^/many event n=/" | poolscope-emit --stdin --wait stored --timeout 60s'
check_text "... every one once and in order" "$(seq 20000 | md5sum)" \
	"$(stored 'r["record"][3]["message"][2:]' 'r["record"][1] == "many"' | md5sum)"

# A line is handed over when the next one keeps us waiting.
mkfifo "$TMP/slow"
poolscope-emit --stdin <"$TMP/slow" &
emit=$!
exec 9>"$TMP/slow"
echo "slow first" >&9
check "a line does not wait for the next one" wait_until \
	'stored "1" "r[\"record\"][1] == \"slow\"" | grep -q 1'
exec 9>&-
wait "$emit"

# ---- not stored, refused
echo mute >"$OUT.mode"
check_status 75 "not stored in time is for later" \
	poolscope-emit a late --wait stored --timeout $((2 * SLOW))s
check_printed "... and says that the agent has it" "on disk in the agent"
echo forbidden >"$OUT.mode"
check_status 1 "what the aggregator refuses fails" \
	poolscope-emit a refused --wait stored --timeout $((30 * SLOW))s
check_printed "... and says why" "refused: forbidden"
rm "$OUT.mode"

# ---- an agent that does not answer
kill -STOP "$(pid agent)"
check "an agent that does not answer costs no event" \
	poolscope-emit a stopped --timeout 300ms
check_printed "... it is left for it" "does not answer; left in"
kill -CONT "$(pid agent)"
check "... and is stored once" wait_until \
	'[ "$(stored "1" "r[\"record\"][2] == \"stopped\"" | wc -l)" = 1 ] && [ -z "$(ls "$DIR/fallback/new")" ]'
stop agent
check_text "the aggregator found no fault" "" "$(cat "$OUT.faults" 2>/dev/null)"
check "emit starts no thread and needs no libzmq" sh -c \
	'! ldd "$(command -v poolscope-emit)" | grep -q zmq'
