#!/bin/sh
# Names that peers give themselves, and those that libzmq would give others: a name that is
# taken when libzmq gives it ends the process, so no peer may have one of its own.
# SPDX-License-Identifier: MIT
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
check "a stranger cannot take the names of later peers" stranger squat "$listener" "$(cat "$TMP/first")"
start agent poolscope-agent -p acct/pool -n node1 --no-samples --no-clock --broker "$listener" --insecure || exit 1
check "an event goes through" timeout 120 poolscope-emit test after --wait stored
check "the broker lives" alive broker
check "peers of older protocols are refused" stranger old "$listener"
stop broker
check_text "it ends as it should" 0 "$STATUS"
