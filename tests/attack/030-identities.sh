#!/bin/sh
# Names that peers give themselves, and those that libzmq would give others.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

listener=tcp://127.0.0.1:25630
begin() {
	start broker poolscope-broker --insecure --listen "$listener" \
		--listen "ipc://$DIR/run/broker.ipc"
}
ids=
for n in 1 2 3; do
	check "a broker ($n)" begin
	check "reports to the aggregator its name for the first peer" \
		stranger ids "$listener" "ipc://$DIR/run/intake.ipc"
	ids="$ids $(cat "$TMP/out")"
	stop broker
done
echo "# first names:$ids"
check_text "each start gives other names" 3 \
	"$(echo "$ids" | tr ' ' '\n' | grep . | sort -u | wc -l)"
check_status 1 "none is that of a libzmq that nobody seeded" \
	sh -c "echo $ids | grep -q '006b8b45'"
check "once more" begin
attack "names of any size, shape and number do no harm" \
	identities "$listener" "$(pid broker)"
check "the broker lives" alive broker
[ "${VARIANT:-release}" = release ] || exit 0

# ---- a guessed name: a listener whose names are not random
stop broker
echo 'void srand(unsigned seed) { (void)seed; }' >"$TMP/seed.c"
check "a listener that gives predictable names" cc -shared -fPIC -o "$TMP/seed.so" "$TMP/seed.c"
begin_guessed() {
	LD_PRELOAD=$TMP/seed.so begin
}
begin_guessed || exit 1
stranger ids "$listener" "ipc://$DIR/run/intake.ipc" >"$TMP/first" || exit 1
stop broker
start aggregator poolscope-aggregator || exit 1
begin_guessed || exit 1
stranger squat "$listener" "$(cat "$TMP/first")" >"$TMP/squat" 2>&1 &
squat=$!
check "a stranger takes the names of later peers" wait_until 'grep -q squatted "$TMP/squat"' 30
start agent poolscope-agent -p acct/pool -n node1 --no-samples --no-clock --broker "$listener" --insecure || exit 1
check "events are taken in meanwhile" sh -c \
	'for n in 1 2 3 4 5; do poolscope-emit test "during-$n" || exit 1; done'
check "it is the broker's end" wait_until '! alive broker' 30
wait "$(pid broker)" 2>/dev/null
check_text "... by an assertion of libzmq's" 134 $?
kill "$squat" 2>/dev/null
wait "$squat" 2>/dev/null
check "the supervisor starts it again" begin
check "an event goes through" timeout 120 poolscope-emit test after --wait stored
check_text "none was lost, and none is there twice" "during-1 during-2 during-3 during-4 during-5" \
	"$(poolscope-dump -p acct/pool --format jsonl --quiet --kind event | jq -r .name | grep during | sort | xargs)"
