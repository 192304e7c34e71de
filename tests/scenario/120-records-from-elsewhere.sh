#!/bin/sh
# Somebody writes records by hand, in the form in which dump prints them, to move old
# data into a store.
#
# n1 works from 0 to 60 s and from 100 to 400 s: two steps of 60 and 300 s, 180 s in
# the mean.  The second end has the identity that it had in another store, of which only
# the dump is left; the others have none and are known by their content.  A sample of
# four columns, the greatest integer among them, a span with every type of attribute,
# a gap of 5 lost samples and a definition come along.  The same lines in another order
# are the same records: nothing is added.  In a file that has them twice, the three
# events without an identity are six.  Another record with the identity of the known one
# is another: who claims it keeps nothing out.  Of a span of 200 KiB nothing is lost.
# Of lines that no store can have each is refused with its number and a reason; the one
# after them is taken.  A dump with corrected times brings the times of the node.  Who
# imports a dump into the partition that it was made from is warned.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016,SC2119 # a partition's name
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

other=00112233445566778899aabbccddeeff

# line KIND SECONDS MEMBERS: a record of n1 without an identity.
line() {
	printf '{"kind":"%s","partition":"acct$pool","node":"n1","%s_ns":%s000000000,%s}\n' \
		"$1" "$(case $1 in span) echo begin ;; gap) echo from ;; *) echo time ;; esac)" $((BASE + $2)) "$3"
}
event() {
	line event "$1" '"source":"work","name":"'"$2"'","attributes":{}'"${3:+,$3}"
}
# known SEQ: the identity that a record had.
known() {
	printf '"session":"%s","seq":%s,"index":3,"receive_ns":%s500000000' "$other" "$1" $((BASE + 401))
}
# stored KIND: how many records the store has.
stored() {
	poolscope-dump -q --kind "$1" --format jsonl | wc -l
}

aggregate_steps
start broker poolscope-broker || exit 1
{
	event 0 start && event 60 end && event 100 start && event 400 end "$(known 9)"
	line sample 10 '"set":"app/x","values":[18446744073709551615,null,0.1,-5]'
	line span 20 '"end_ns":'$((BASE + 21))'000000000,"track":"t","name":"work","category":"","attributes":{"a":"Zo\u00eb","b":true,"c":null,"d":-1.5e300,"e":9223372036854775808}'
	line gap 30 '"to_ns":'$((BASE + 31))'000000000,"class":"sample","reason":"full","count":5'
	printf '{"kind":"entity","partition":"acct$pool","node":"n1","entity":"set","id":"app/x","properties":{"names":"a b c d"}}\n'
} >"$TMP/lines"
check "records are imported" poolscope-import records "$TMP/lines"
check_text "... all 8" "8 records, 0 bad lines" "$(cat "$TMP/out")"
wait_until indexed 30
answer "the steps took 60 and 300 s" "2,180.0" columns count,mean poolscope-stats phases --format csv
answer "the sample has its values" "18446744073709551615 None 0.1 -5" \
	sh -c 'poolscope-dump -q --kind sample --format jsonl | python3 -c "import json, sys; print(*json.loads(sys.stdin.read())[\"values\"])"'
answer "the span has its attributes" "Zoë True None -1.5e+300 9223372036854775808" \
	sh -c 'poolscope-dump -q --kind span --format jsonl | PYTHONUTF8=1 python3 -c "import json, sys; print(*json.loads(sys.stdin.read())[\"attributes\"].values())"'
answer "the known end has its identity" "$other 9 3 $((BASE + 401))500000000" \
	sh -c 'poolscope-dump -q --kind event --format jsonl | python3 -c "import json, sys
print(*[json.loads(l)[k] for l in sys.stdin for k in (\"session\", \"seq\", \"index\", \"receive_ns\") if \"0011\" in l])"'

sort "$TMP/lines" >"$TMP/sorted"
check "in another order" poolscope-import records "$TMP/sorted"
cat "$TMP/lines" "$TMP/sorted" | poolscope-import -q records -
wait_until indexed 30
check_text "... or twice: 3 events without an identity twice in a file, and one" 7 "$(stored event)"
check_text "... one sample, one span, one gap" "1 1 1" "$(stored sample) $(stored span) $(stored gap)"

event 401 end "$(known 9)" >"$TMP/claimed"
check "another record claims the identity" poolscope-import records "$TMP/claimed"
check "... and is imported into a pool of another name" poolscope-import records -p acct/other "$TMP/claimed"
wait_until indexed 30
check_text "... it is another" 8 "$(stored event)"
check_text "... in both" 1 "$(poolscope-dump -q -p 'acct$other' --format jsonl | wc -l)"

event 402 end '"session":null,"seq":9,"index":3,"receive_ns":1' >"$TMP/nameless"
check "a record whose session was lost is imported" poolscope-import records "$TMP/nameless"
wait_until indexed 30
check_text "... and known by its content" 9 "$(stored event)"

long=$(head -c 25000 /dev/zero | tr '\0' z)
attributes=
for each in 1 2 3 4 5 6 7 8; do attributes="$attributes,\"a$each\":\"$long\""; done
line span 22 '"end_ns":'$((BASE + 23))'000000000,"track":"t","name":"large","category":"","attributes":{'"${attributes#,}"'}' >"$TMP/large"
check "a large record is imported" poolscope-import records "$TMP/large"
wait_until indexed 30
check_text "... whole" 200000 "$(poolscope-dump -q --kind span --format jsonl | grep large | tr -cd z | wc -c)"

refused() {
	printf '%s\n' "$2" >"$TMP/bad"
	event 500 tick >>"$TMP/bad"
	check_status 1 "$1" poolscope-import records "$TMP/bad"
	check_printed "... with its place and the reason" "^$TMP/bad:1: $3"
	check_printed "... alone" "^1 record, 1 bad line$"
}
refused "a phase" '{"kind":"phase"}' "a phase cannot be imported: the store derives it from events"
refused "a rejected batch" '{"kind":"rejected"}' "a rejected batch cannot be imported"
refused "another kind" '{"kind":"tree"}' "\"kind\": 'tree' is not a kind of records"
refused "a line without a kind" '{}' '"kind" is missing'
refused "a line that is cut" '{"kind":"event' "not JSON: unexpected end at column 15"
refused "half an identity" "$(event 1 x "\"session\":\"$other\",\"seq\":1")" '"index" is missing'
refused "a number without its session" "$(event 1 x '"seq":1')" '"session" is missing'
refused "a session of other letters" "$(event 1 x '"session":"xyz"')" '"session" is not 32 hexadecimal digits'
refused "a batch of number 0" "$(event 1 x "$(known 0)")" '"seq" is not an integer from 1'
refused "a time as text" "$(event 1 x | sed 's/"time_ns":\([0-9]*\)/"time_ns":"\1"/')" '"time_ns" is not a number'
refused "a time of another age" "$(event 1 x | sed 's/"time_ns":/&99/')" '"time_ns" '
refused "an attribute that is a list" "$(event 1 x | sed 's/{}/{"a":[1]}/')" "\"attributes\": 'a': is a list or an object"
refused "a value that is text" "$(line sample 1 '"set":"x","values":[1,"2"]')" "value 2: is not a number"
refused "a span that ends nowhere" "$(line span 1 '"track":"t","name":"x"')" '"end_ns" is missing'
refused "a name of no letters" "$(event 1 '')" '"name" '

event 600 late '"clock":"corrected","raw_time_ns":'$((BASE + 590))'000000000' >"$TMP/corrected"
check "a line with a corrected time is imported" poolscope-import records "$TMP/corrected"
wait_until indexed 30
answer "... at the time of the node" $((BASE + 590))000000000 \
	columns time_ns poolscope-dump --kind event --name work:late --format csv

check "the log is silent so far" sh -c '! grep -q "they are there twice" "$1"' - "$TMP/aggregator.log"
PARTITION='acct$own'
records <<-END
	event 0 n1 work:start
END
poolscope-dump -q -p 'acct$own' -o "$TMP/own"
check "who imports a dump where it was made" poolscope-import records -p acct/own "$TMP/own"
wait_until indexed 30
check "... is warned in the log" grep -q 'an import into partition acct$own has .*: if the dump .* they are there twice' "$TMP/aggregator.log"
