#!/bin/sh
# Two machines have users of the same number, who are not the same people.  A user who
# may use the broker of one machine sends under the session of the other's; behind
# brokers with keys of their own these are two senders.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

export PYTHONDONTWRITEBYTECODE=1
intake=tcp://127.0.0.1:25720
k=$DIR/keys
owners() { SLOW=$SLOW /usr/bin/python3 "$ROOT/tests/attack/owners.py" "$@"; }
{
	poolscope-keys new server --role server
	poolscope-keys new here --role broker -p 'acct$*'
	poolscope-keys new there --role broker -p 'acct$*'
} >/dev/null || exit 1
check "an aggregator with keys" start aggregator poolscope-aggregator \
	--listen "ipc://$DIR/run/intake.ipc" --listen "$intake" --pid-file "$DIR/run/aggregator.pid" || exit 1
for machine in here there; do
	check "a broker, as of the machine $machine" start $machine poolscope-broker --aggregator "$intake" \
		--key "$k/$machine.key" --listen "ipc://$DIR/run/$machine.ipc" || exit 1
done

# own FROM TO: the user of here.
own() { check "its user sends $1 .. $2" owners goes-on "ipc://$DIR/run/here.ipc" - n1 local "$1" "$2"; }
own 1 3
check "the user of that number there is another" owners stranger "ipc://$DIR/run/there.ipc" - n1 local
check "... and that of the aggregator's machine" owners stranger "ipc://$DIR/run/intake.ipc" - n1 local
own 4 4
check "the key of the broker is rotated" poolscope-keys rotate here
stop here
check "... and the broker starts again" start here poolscope-broker --aggregator "$intake" \
	--key "$k/here.key" --listen "ipc://$DIR/run/here.ipc"
own 5 6
wait_until indexed 6
check_text "each of his records is there once" 6 \
	"$(poolscope-dump -q --kind event -p 'acct$pool' --format jsonl | wc -l)"
