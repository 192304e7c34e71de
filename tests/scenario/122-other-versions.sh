#!/bin/sh
# Somebody upgrades one machine after the other, in the wrong order.  Nothing is lost: who
# speaks another version of the wire protocol is refused, both sides name both versions
# in one line, and records wait at their sender until the versions are the same.  An
# agent whose spool has another format does not start and leaves it as it is, and one that
# finds an event of a newer program, left while no agent ran, sets it aside.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

versions() {
	/usr/bin/python3 "$ROOT/tests/scenario/versions.py" "$@"
}
lines() {
	grep -c "$1" "$TMP/$2.log"
}

aggregate_steps
start broker poolscope-broker --listen "ipc://$TMP/broker" || exit 1
check "a sender of version 1 is refused by the aggregator" versions sender "ipc://$DIR/run/intake.ipc" 1
check "... and of version 3" versions sender "ipc://$DIR/run/intake.ipc" 3
check_text "... the log names both versions, once a minute" 1 \
	"$(lines 'a sender speaks version 1 of the wire protocol, this program supports version 2' aggregator)"
check_text "... and no other line" 1 "$(lines "of the wire protocol" aggregator)"
check "so it is by the broker" versions sender "ipc://$TMP/broker" 1
check_text "... which says it as well" 1 \
	"$(lines 'a sender speaks version 1 of the wire protocol, this program supports version 2' broker)"
check "a reader of version 1 is refused" versions sender "ipc://$DIR/run/reader.ipc" 1
check_text "... and named" 1 \
	"$(lines 'a reader speaks version 1 of the wire protocol, this program supports version 2' aggregator)"
stop broker

head="ipc://$TMP/head"
# Not by the function: its shell would be killed, and leave the head behind.
/usr/bin/python3 "$ROOT/tests/scenario/versions.py" head "$head" 1 >"$TMP/head.out" &
old=$!
wait_until "grep -q ready '$TMP/head.out'"
start agent poolscope-agent --no-samples -n n1 -p "$PARTITION" --broker "$head" || exit 1
check "an agent of a head that was not upgraded takes an event" poolscope-emit -n n1 work start
check "... and says why it waits" wait_until "grep -q 'head answers in version 1 of the wire protocol, this program supports version 2' '$TMP/agent.log'"
check_status 1 "a reader of that head ends" poolscope-stats phases --connect "$head"
check_printed "... and says why" "it speaks version 1 of the wire protocol, this program supports version 2"
kill "$old"
wait "$old" 2>/dev/null
rm -f "$TMP/head"
start broker poolscope-broker --listen "$head" || exit 1
check "the upgraded head gets the event" wait_until '[ "$(poolscope-dump -q --kind event --format jsonl | wc -l)" = 1 ]' 60
stop broker

check "an event that waits in the spool" poolscope-emit -n n1 work end
stop agent
check "one that waits for an agent" poolscope-emit -n n1 work left
for each in "$DIR"/fallback/new/*; do
	versions put "$each" 3
done
start agent poolscope-agent --no-samples -n n1 -p "$PARTITION" --broker "$head" || exit 1
check "an older agent reports its version" wait_until "grep -q 'fallback/new/[0-9a-f]* has version 3 of the wire protocol, this program supports version 2: move it back from fallback/bad' '$TMP/agent.log'"
check_text "... keeps it" 1 "$(find "$DIR/fallback/bad" -type f | wc -l)"
stop agent
for each in "$DIR"/fallback/bad/*; do
	versions put "$each" 2
	mv "$each" "$DIR/fallback/new"
done
start broker poolscope-broker --listen "$head" || exit 1
start agent poolscope-agent --no-samples -n n1 -p "$PARTITION" --broker "$head" || exit 1
check "an agent of that version takes it" wait_until 'poolscope-dump -q --kind event --format jsonl | grep -q left' 60
stop broker
check "another event that waits in the spool" poolscope-emit -n n1 work more
stop agent
for each in "$DIR"/spool/*.seg; do
	versions segment "$each" 1
done
find "$DIR/spool" -type f -exec sha256sum {} + | sort >"$TMP/before"
check_status 1 "an agent of another format of the spool does not start" \
	timeout 60 poolscope-agent --no-samples -n n1 -p "$PARTITION" --broker "$head"
check_printed "... it names what has which format" "segment [0-9]* has format 1; this program supports format 3"
check_printed "... and what to do" "let that version send what is in it, or move the directory away"
find "$DIR/spool" -type f -exec sha256sum {} + | sort >"$TMP/after"
check "... and leaves it as it is" cmp "$TMP/before" "$TMP/after"
