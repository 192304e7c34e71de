# More series than an origin may have: those beyond are refused by their name, are
# reported by an event, and cost no other number.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a dollar is part of the name
. "$(dirname "$0")/lib.sh"

mkdir -p "$DIR/metrics.d"
export POOLSCOPE_PARTITION='acct$pool'
check "an instance" start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
start agent poolscope-agent --no-samples || exit 1
# 10,000 series of an origin: 9,000 of the first file, and of the next one those that are
# left, so that 500 of it, the last file, and the 4 numbers of the folder are too many.
for name in 1 2 3 4 5 6 7 8 9; do seq 1000 | sed "s/.*/first_$name{i=\"&\"} &/"; done >"$DIR/metrics.d/a.prom"
seq 1500 | sed 's/.*/many{k="&"} &/' >"$DIR/metrics.d/b.prom"
echo 'few{j="x"} 1' >"$DIR/metrics.d/c.prom"
check "a receiver" start receiver poolscope-receiver --textfile-period 2s --period 1s || exit 1

dump() {
	poolscope-dump -p 'acct$pool' --format jsonl --log error "$@" 2>/dev/null
}
check "an event has the name of which most was refused" wait_until \
	'dump --kind event --name receiver:refused | grep -q "\"metric\": \"many\""' 10
check "of its series those are stored that fit" wait_until '[ "$(dump --kind entity | grep -c "\"names\": \"many\"")" -eq 1000 ]' 10
check_text "of the first file all" 1000 "$(dump --kind entity | grep -c '"names": "first_1 first_2')"
refused() {
	dump --kind entity --kind sample | python3 "$ROOT/tests/flow/receiver_judge.py" |
		sed -n 's/^poolscope.receiver.refused{source=textfile} - counter //p'
}
once=$(refused)
check "each turn refuses the same: 505 numbers" wait_until '[ "$(($(refused) % 505))" -eq 0 ] && [ "$(refused)" -gt "'"$once"'" ]' 10
check_text "... but an event is enough" 1 "$(dump --kind event --name receiver:refused | wc -l)"
check_text "... and takes no other group" 2000 "$(dump --kind entity | grep -c '"id": "prom/textfile/')"
check_status 1 "the agent refused nothing: the receiver knew" grep -q 'does not take' "$TMP/receiver.log"
# ---- a new receiver knows nothing of the hour; the agent does
stop receiver
check_text "the receiver ends with 0" 0 "$STATUS"
echo 'late{l="x"} 1' >"$DIR/metrics.d/0.prom"
check "another receiver" start receiver poolscope-receiver --textfile-period 2s --period 1s || exit 1
check "what the agent refuses is refused by its name" wait_until \
	'dump --kind event --name receiver:refused | grep -q "\"metric\": \"late\"" || [ "$(refused)" -ge 506 ]' 10
check_text "... and costs nothing else" "1000 0" \
	"$(dump --kind entity | grep -c '"names": "many"') $(dump --kind entity | grep -c '"names": "late"')"
before=$(dump --kind sample | wc -l)
check "numbers that were known go on" wait_until '[ "$(dump --kind sample | wc -l)" -ge '"$((before + 2000))"' ]' 10
for name in receiver agent broker aggregator; do
	stop "$name"
	check_text "the $name ends with 0" 0 "$STATUS"
done
