#!/bin/sh
# A file for import has an identity twice: somebody merged two dumps by hand, or wants to
# harm the store.
#
# Each pair of lines below has one identity, one node and one time, but other names or
# another end: two events, two spans of a track, two gaps, two refused definitions of one
# column name, and two events of a run on two nodes.  The place of a record in the store
# is its identity with node, time and track, so of the first three pairs one record is
# there, the first one, and the summary says that the other is already there; spans of two
# tracks are two, and so are events of two nodes and of two times.  A refused definition
# has the place of its batch.  Who imports a dump where it was made has those records
# twice, and each has a place.  Who names the identities of others keeps nothing out: an
# import whose session another one has named is stored, and so is a record whose
# identity another import has given to another one.  Whatever came, the rows pass
# verify, before and after compact and rebuild, and a backup can be restored.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

other=00112233445566778899aabbccddeeff

# named INDEX: the members of an identity.
named() {
	printf '"session":"%s","seq":7,"index":%s,"receive_ns":%s000000000' "$other" "$1" $((BASE + 900))
}
# event NODE SECONDS NAME INDEX
event() {
	printf '{"kind":"event","partition":"acct$pool","node":"%s","time_ns":%s000000000,"source":"run","name":"%s","attributes":{"run":"r1"},%s}\n' \
		"$1" $((BASE + $2)) "$3" "$(named "$4")"
}
# span SECONDS END TRACK NAME INDEX
span() {
	printf '{"kind":"span","partition":"acct$pool","node":"n1","begin_ns":%s000000000,"end_ns":%s000000000,"track":"%s","name":"%s","category":"","attributes":{},%s}\n' \
		$((BASE + $1)) $((BASE + $2)) "$3" "$4" "$(named "$5")"
}
# gap CLASS COUNT INDEX
gap() {
	printf '{"kind":"gap","partition":"acct$pool","node":"n1","from_ns":%s000000000,"to_ns":%s000000000,"class":"%s","reason":"full","count":%s,%s}\n' \
		$((BASE + 30)) $((BASE + 31)) "$1" "$2" "$(named "$3")"
}
# definition NAMES INDEX: its first column differs, so that the second is refused.
definition() {
	printf '{"kind":"entity","partition":"acct$pool","node":"n1","entity":"set","id":"app/x","properties":{"names":"%s"},%s}\n' \
		"$1" "$(named "$2")"
}
stored() {
	poolscope-dump -q --kind "$1" --format jsonl | wc -l
}
whole() {
	check "$1: verify finds nothing" poolscope-admin verify
}

aggregate
start broker poolscope-broker || exit 1
{
	event n1 10 request 0 && event n1 10 queue_start 0
	event n1 20 queue_start 1 && event n2 20 queue_start 1 && event n1 21 queue_end 1
	span 40 41 t first 2 && span 40 42 t second 2 && span 40 41 u third 2
	gap sample 5 3 && gap event 5 3
	definition "a b" 4 && definition "b a" 5 && definition "c a" 5
} >"$TMP/lines"
check "the file is imported" poolscope-import records "$TMP/lines"
wait_until indexed 30
check_text "events: 1 of the first pair, 2 nodes, another time" 4 "$(stored event)"
check_text "spans: 1 of the pair, another track" 2 "$(stored span)"
check_text "one gap" 1 "$(stored gap)"
check_text "two refused definitions" 2 "$(stored rejected)"
answer "the first one is kept" "sample" columns source poolscope-dump -q --kind gap --format csv
answer "status says how many came before" 3 field aggregator/index_repeated "$ROOT/tests/flow/counters.py"

PARTITION='acct$own'
records <<-END
	event 0 n1 run:request run=r2
	event 5 n1 run:queue_start run=r2
END
poolscope-dump -q -p 'acct$own' --kind event --format jsonl >"$TMP/own"
check "a dump is imported where it was made" poolscope-import records -p acct/own "$TMP/own"
check "... and once more" poolscope-import records -p acct/own "$TMP/own"
wait_until indexed 30
check_text "... its records are there twice, as the log says" 4 "$(poolscope-dump -q -p 'acct$own' --kind event --format jsonl | wc -l)"

# The session of an import follows from its content: another pool shows it.
check "a file is imported into another pool" poolscope-import records -p acct/there "$TMP/lines"
printf '{"kind":"event","partition":"acct$first","node":"n1","time_ns":%s000000000,"source":"s","name":"e","attributes":{}}\n' $((BASE + 50)) >"$TMP/file"
check "a file of one event" poolscope-import records -p acct/first "$TMP/file"
wait_until indexed 30
poolscope-dump -q --kind event --format jsonl -p 'acct$first' >"$TMP/told"
sed 's/"name": *"e"/"name":"false"/' "$TMP/told" >"$TMP/false"
check "somebody names its identity" poolscope-import records -p acct/pool "$TMP/false"
check "and the file comes into this pool" poolscope-import records -p acct/pool "$TMP/file"
wait_until indexed 30
answer "... and is stored, and the other one too" "s:e
s:false" sh -c 'poolscope-dump -q --kind event --name "s:*" --format jsonl | python3 -c "import json, sys
print(*sorted(json.loads(l)[\"source\"] + \":\" + json.loads(l)[\"name\"] for l in sys.stdin), sep=\"\n\")"'
check "an event of one identity and another name" sh -c 'sed "s/queue_start/other/; s/\"n2\"/\"n1\"/" "$1" | grep other | head -1 >"$2" && poolscope-import records "$2"' - "$TMP/lines" "$TMP/claim"
wait_until indexed 30
check_text "... from another import is kept" 1 "$(poolscope-dump -q --kind event --name run:other --format jsonl | wc -l)"

stop broker
stop aggregator
whole "as they came"
check "compact" poolscope-admin compact
whole "compacted"
check "rebuild" poolscope-admin rebuild
whole "rebuilt"
check "a backup" poolscope-admin backup "$TMP/copy"
check "is restored" poolscope-admin restore "$TMP/copy" --store "$TMP/other"
check "the copy: verify finds nothing" poolscope-admin verify --store "$TMP/other"
