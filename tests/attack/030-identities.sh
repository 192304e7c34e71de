#!/bin/sh
# Names that peers give themselves, and those that libzmq would give others.
# SPDX-License-Identifier: MIT
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

door=tcp://127.0.0.1:25630
begin() {
	start broker poolscope-broker --insecure --listen "$door" \
		--listen "ipc://$DIR/run/broker.ipc"
}
ids=
for n in 1 2 3; do
	check "a broker ($n)" begin
	check "tells the keeper by which name it knows who came first" \
		stranger ids "$door" "ipc://$DIR/run/intake.ipc"
	ids="$ids $(cat "$TMP/out")"
	stop broker
done
echo "# first names:$ids"
check_text "each start gives other names" 3 \
	"$(echo "$ids" | tr ' ' '\n' | grep . | sort -u | wc -l)"
check_status 1 "none is that of a libzmq that nobody seeded" \
	sh -c "echo $ids | grep -q '006b8b45'"
check "once more" begin
attack "names of any size, shape and number harm nobody" \
	identities "$door" "$(pid broker)"
check "the broker lives" alive broker
