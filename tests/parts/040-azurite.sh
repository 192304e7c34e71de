#!/bin/sh
# Files and events to Azurite, which checks every signature: blobs whole and in
# parts, events of a pool to a table and back.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"

AZURITE=$PARTS/azurite/node_modules/azurite/dist/src/azurite.js
if ! [ -f "$AZURITE" ]; then
	command -v npm >/dev/null || skip "Azurite cannot be had: no npm"
	mkdir -p "$PARTS/azurite"
	(cd "$PARTS/azurite" && npm install --no-audit --no-fund azurite) \
		>"$TMP/npm.log" 2>&1 ||
		skip "Azurite cannot be had: $(tail -n 1 "$TMP/npm.log")"
fi
# shellcheck disable=SC2046 # numbers
set -- $(free_port 3)
AZURE_STORAGE_ACCOUNT=shipyard
AZURE_STORAGE_KEY=$(printf '%064d' 7 | base64 -w0)
AZURE_STORAGE_BLOB_ENDPOINT=http://127.0.0.1:$1/shipyard
AZURE_STORAGE_TABLE_ENDPOINT=http://127.0.0.1:$3/shipyard
export AZURE_STORAGE_ACCOUNT AZURE_STORAGE_KEY
export AZURE_STORAGE_BLOB_ENDPOINT AZURE_STORAGE_TABLE_ENDPOINT
unset http_proxy https_proxy AZURE_STORAGE_SAS_TOKEN
AZURITE_ACCOUNTS="shipyard:$AZURE_STORAGE_KEY"
export AZURITE_ACCOUNTS
serve azurite node "$AZURITE" --silent --disableTelemetry -l "$TMP/azurite" \
	--blobHost 127.0.0.1 --blobPort "$1" --queueHost 127.0.0.1 \
	--queuePort "$2" --tableHost 127.0.0.1 --tablePort "$3" \
	-d "$TMP/debug.log"
answers "http://127.0.0.1:$1/" azurite || exit 1
answers "http://127.0.0.1:$3/" azurite || exit 1

judge() {
	/usr/bin/python3 "$ROOT/tests/parts/azure.py" "$@"
}

# same PATH FILE: what is there is what is in FILE.
same() {
	judge GET "$1" >"$TMP/got" 2>"$TMP/headers" && cmp "$TMP/got" "$2"
}

upload() {
	poolscope-upload --log info file "$@"
}

# ---- blobs
check "a container is made" judge PUT /plots restype=container
printf 'hello\n' >"$TMP/hello.json"
check "a file is put" upload "$TMP/hello.json" --target azure-blob:plots/hello.json
check "... and is what it was" same /plots/hello.json "$TMP/hello.json"
check "... of the kind that its name says" \
	grep -qi '^content-type: application/json' "$TMP/headers"
check "... with its sum" grep -qi \
	"^content-md5: $(openssl md5 -binary "$TMP/hello.json" | base64)" "$TMP/headers"
: >"$TMP/empty"
check "an empty file is put" upload /dev/null --target azure-blob:plots/empty
check "... and is empty" same /plots/empty "$TMP/empty"
check "a name may have blanks, signs and letters of any kind" \
	upload "$TMP/hello.json" --target 'azure-blob:plots/a b/$x+y:z@(é)=,;&~!.txt'
check "... and is there by that name" \
	same '/plots/a%20b/%24x%2By%3Az%40%28%C3%A9%29%3D%2C%3B%26~%21.txt' "$TMP/hello.json"
head -c 40000000 /dev/urandom >"$TMP/forty"
check "a file of 40 MB is put in parts" upload "$TMP/forty" --target azure-blob:plots/forty
check_printed "... of 8 MiB" "40000000 bytes, 5 parts, 0 of them already uploaded"
check "... and is what it was" same /plots/forty "$TMP/forty"
check "... with its sum" grep -qi \
	"^content-md5: $(openssl md5 -binary "$TMP/forty" | base64)" "$TMP/headers"
check "the same again is known" upload "$TMP/forty" --target azure-blob:plots/forty
check_printed "... and none of it is sent" "5 parts, 5 of them already uploaded"
check "from a pipe too" \
	sh -c 'cat "$1" | poolscope-upload file - --target azure-blob:plots/pipe' sh "$TMP/forty"
check "... all of it" same /plots/pipe "$TMP/forty"
check "an upload dies with two of its parts there" \
	interrupted "$TMP/forty" 16777217 2 azure-blob:plots/again
check "the same upload once more ends it" upload "$TMP/forty" --target azure-blob:plots/again
check_printed "... and sends what was missing" "5 parts, 2 of them already uploaded"
check "... and is what it was" same /plots/again "$TMP/forty"
interrupted "$TMP/forty" 16777217 2 azure-blob:plots/other
{ printf x; tail -c +2 "$TMP/forty"; } >"$TMP/changed"
check "another file by that name does not take what is not its own" \
	upload "$TMP/changed" --target azure-blob:plots/other
check_printed "... but what is the same" "5 parts, 1 of them already uploaded"
check "... and is what it was" same /plots/other "$TMP/changed"
check "one file goes to two targets" upload "$TMP/hello.json" \
	--target azure-blob:plots/one --target azure-blob:plots/two
check "... whole" same /plots/two "$TMP/hello.json"

# ---- with a token that may make and write blobs of the container, no more
may_write() {
	/usr/bin/python3 -c '
import base64, hashlib, hmac, os, urllib.parse
f = {"sv": "2020-12-06", "sr": "c", "sp": "cw", "se": "2100-01-01T00:00:00Z"}
text = "\n".join([f["sp"], "", f["se"], "/blob/%s/plots" % os.environ["AZURE_STORAGE_ACCOUNT"],
    "", "", "", f["sv"], f["sr"], "", "", "", "", "", "", ""])
mac = hmac.new(base64.b64decode(os.environ["AZURE_STORAGE_KEY"]), text.encode(), hashlib.sha256)
print(urllib.parse.urlencode({**f, "sig": base64.b64encode(mac.digest()).decode()}))'
}
check "a file is put in parts by whoever may not read" env -u AZURE_STORAGE_KEY \
	AZURE_STORAGE_SAS_TOKEN="$(may_write)" poolscope-upload file "$TMP/forty" --target azure-blob:plots/blind
check "... and is what it was" same /plots/blind "$TMP/forty"

# ---- refused
check_status 1 "a container that is not there is refused" \
	upload "$TMP/hello.json" --target azure-blob:nothere/x
check_printed "... by name" "404, ContainerNotFound"
right=$AZURE_STORAGE_KEY
AZURE_STORAGE_KEY=$(echo not-this-one | base64)
check_status 1 "a wrong key is refused" upload "$TMP/hello.json" --target azure-blob:plots/x
check_printed "... which says so" "answers 403, AuthorizationFailure"
check_text "... in one line" 1 "$(wc -l <"$TMP/err")"
check "... without the key" sh -c '! grep -q "$AZURE_STORAGE_KEY" "$1"' sh "$TMP/err"
AZURE_STORAGE_KEY=not-base64!
check_status 1 "a key that is none is refused" upload "$TMP/hello.json" --target azure-blob:plots/x
check "... without showing it" sh -c '! grep -q "not-base64" "$1"' sh "$TMP/err"
AZURE_STORAGE_KEY=$right

# ---- events to a table, and back
start aggregator poolscope-aggregator --models "$ROOT/deploy/models" || exit 1
start broker poolscope-broker || exit 1
POOL='mybatchacct$gpupool'
poolscope-import -q cascade \
	"$ROOT/tests/golden/cascade/p02_pool8_p2p_private/entities.jsonl" || exit 1
wait_until indexed 60 || exit 1

# events PARTITION: what is the same of them wherever they came from.
events() {
	poolscope-dump -q -p "$1" --kind event | /usr/bin/python3 -c '
import json, sys
for line in sorted(json.dumps([r["time_ns"], r["node"], r["source"], r["name"],
        r["attributes"]]) for r in map(json.loads, sys.stdin)):
    print(line)'
}

events "$POOL" >"$TMP/events"
check "there are events" test "$(wc -l <"$TMP/events")" -gt 100
check "the events of a pool go to a table that is not there yet" \
	poolscope-upload events -p "$POOL" --target azure-table:shipyardperf
check "they are fetched" poolscope-fetch -p "$POOL" azure-table:shipyardperf -o "$TMP/rows"
check_text "... all of them" "$(wc -l <"$TMP/events")" "$(wc -l <"$TMP/rows")"
check "once more changes nothing" \
	poolscope-upload events -p "$POOL" --target azure-table:shipyardperf
poolscope-fetch -q -p "$POOL" azure-table:shipyardperf >"$TMP/again"
check "... at all" cmp "$TMP/rows" "$TMP/again"
# What the older tool does with a row: float(RowKey), Event, NodeId, Message.
check "the rows are those that the older tool recorded" /usr/bin/python3 -c '
import json, sys
old, new = ([json.loads(line) for line in open(f)] for f in sys.argv[1:])
key = lambda r: (round(float(r["RowKey"]), 6), r["PartitionKey"], r["Event"],
                 r["NodeId"], r.get("Message"))
assert sorted(map(key, old)) == sorted(map(key, new))' \
	"$ROOT/tests/golden/cascade/p02_pool8_p2p_private/entities.jsonl" "$TMP/rows"
check "they are imported into another pool" sh -c \
	'poolscope-fetch -p "$1" azure-table:shipyardperf | poolscope-import -q cascade - -p "other\$pool"' \
	sh "$POOL"
wait_until indexed 60
events 'other$pool' >"$TMP/others"
check "... and are the same events" cmp "$TMP/events" "$TMP/others"
check "a table is imported by its name" \
	poolscope-import azure-table shipyardperf -p "$POOL"
check "... once" poolscope-import azure-table shipyardperf -p "$POOL"
check_printed "... and known again" ", $(wc -l <"$TMP/events") already there"
check_text "a filter of the service's chooses" \
	"$(grep -c 'nodeprep:start' "$TMP/rows")" \
	"$(poolscope-fetch -q -p "$POOL" --filter "Event eq 'nodeprep:start'" azure-table:shipyardperf | wc -l)"
check_text "a pool that is not there has no rows" "" \
	"$(poolscope-fetch -q -p 'no$pool' azure-table:shipyardperf)"

# ---- more than a page
awk 'BEGIN { for (i = 0; i < 2600; i++)
	printf "{\"PartitionKey\":\"it'"'"'s$many\",\"RowKey\":\"%d.%06d\",\"Event\":\"a:b\",\"NodeId\":\"n%d\"}\n",
		1508000000 + i / 50, i % 3, i % 7 }' >"$TMP/many"
poolscope-import -q cascade "$TMP/many" || exit 1
wait_until indexed 60
check "thousands of events go to a table" \
	poolscope-upload events -p "it's\$many" --target azure-table:shipyardperf
check_text "and come back, page after page, those of the same time too" 2600 \
	"$(poolscope-fetch -q -p "it's\$many" azure-table:shipyardperf | sort -u | wc -l)"

# ---- as it comes
FOLLOWED='it comes$now'
# more N: N more events, each with its number.
more() {
	awk -v from="$sent" -v n="$1" 'BEGIN { for (i = 0; i < n; i++)
		printf "{\"PartitionKey\":\"it comes$now\",\"RowKey\":\"%d\",\"Event\":\"a:b\",\"NodeId\":\"n\",\"Message\":\"m=%d\"}\n",
			1508000000, from + i }' | poolscope-import -q cascade -
	sent=$((sent + $1))
}
fetched() {
	poolscope-fetch -q -p "$FOLLOWED" azure-table:followed >"$TMP/followed" 2>/dev/null
	[ "$(wc -l <"$TMP/followed")" -ge "$sent" ]
}
sent=0
for round in 1 2 3; do
	more 150
	serve "follow$round" "$(command -v poolscope-upload)" events -q --follow \
		-p "$FOLLOWED" --target azure-table:followed
	more 70
	check "events arrive as they come, time $round" wait_until fetched 30
	stop "follow$round" KILL
done
check_text "... each once, however often who sends them is killed" "660 660" \
	"$(wc -l <"$TMP/followed") $(sed 's/.*"Message"//' "$TMP/followed" | sort -u | wc -l)"

# ---- refused
check_status 1 "a table that is not there has nothing to fetch" \
	poolscope-fetch -p "$POOL" azure-table:nothere
check_printed "... and says so" "404, TableNotFound"
check_status 1 "nor to import" poolscope-import azure-table nothere -p "$POOL"
check_printed "... and says so" "download of azure-table:nothere failed; nothing is imported"
check_status 1 "a filter that is none is refused" \
	poolscope-fetch -p "$POOL" --filter 'NodeId eq' azure-table:shipyardperf
check_status 2 "a name that no table has is wrong usage" \
	poolscope-fetch -p "$POOL" azure-table:a-b
AZURE_STORAGE_KEY=$(echo not-this-one | base64)
check_status 1 "a wrong key is refused" \
	poolscope-upload events -p "$POOL" --target azure-table:shipyardperf
check "... and not shown" sh -c '! grep -q "$AZURE_STORAGE_KEY" "$1"' sh "$TMP/err"
stop broker
stop aggregator
