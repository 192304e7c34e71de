#!/bin/sh
# Services that answer 200 with a page of HTML, as a proxy or the network of a
# hotel does: nothing counts as uploaded, to whichever target.  And records that
# a service refuses for good: they are left out, counted and named, the others
# are stored, and --follow goes on.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/web.sh
. "$ROOT/tests/flow/web.sh"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
unset AWS_SESSION_TOKEN AWS_ENDPOINT_URL_S3 AZURE_STORAGE_KEY
pool='acct$page'
mkdir "$TMP/d" "$TMP/a"

# sample GROUP NAMES VALUES SECONDS: a definition and a sample of it.
sample() {
	_units=$(echo "$2" | sed 's/[^ ][^ ]*/1/g')
	_of="\"partition\": \"$pool\", \"node\": \"n1\""
	printf '{"kind": "entity", %s, "entity": "set", "id": "%s", "properties": {"names": "%s", "units": "%s"}}\n' \
		"$_of" "$1" "$2" "$_units"
	printf '{"kind": "sample", %s, "time_ns": %s000000000, "set": "%s", "values": [%s]}\n' "$_of" "$4" "$1" "$3"
}

check "a service runs" web_start web
url=$(web_url web)
check "an aggregator" start aggregator poolscope-aggregator
check "a broker" start broker poolscope-broker
{
	sample app/good one 1 1795850001
	sample app/good one 2 1795850002
	sample app/taken "time node partition time_ other" "1, 2, 3, 4, 5" 1795850003
	sample app/bad refused 3 1795850004
	sample app/good one 4 1795850005
} >"$TMP/rows"
check "samples of three groups are stored" poolscope-import -q records "$TMP/rows"
printf '{"PartitionKey":"%s","RowKey":"1795850001.5","Event":"x:y","NodeId":"n1"}\n' "$pool" |
	poolscope-import -q cascade - || fail "an event is stored"
wait_until indexed

# ---- a page for everything
AWS_ENDPOINT_URL=$url AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b AWS_REGION=us-east-1
AZURE_STORAGE_ACCOUNT=shipyard AZURE_STORAGE_SAS_TOKEN='?sig=x' AZURE_STORAGE_BLOB_ENDPOINT=$url/shipyard
AZURE_STORAGE_TABLE_ENDPOINT=$url/shipyard MLFLOW_TRACKING_URI=$url DATASTORE_EMULATOR_HOST=127.0.0.1:$(cat "$TMP/web.port")
export AWS_ENDPOINT_URL AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION AZURE_STORAGE_ACCOUNT
export AZURE_STORAGE_SAS_TOKEN AZURE_STORAGE_BLOB_ENDPOINT AZURE_STORAGE_TABLE_ENDPOINT
export MLFLOW_TRACKING_URI DATASTORE_EMULATOR_HOST
printf hello >"$TMP/small"
head -c 9000000 /dev/zero >"$TMP/large"
printf '{"name": "t", "startTime": "5", "entries": {"entry": [{"name": "e", "wallTime": 1}]}}' >"$TMP/d/result"

# unconfirmed TARGET COMMAND...: fails, and reports nothing as sent.
unconfirmed() {
	_to=$1
	shift
	for _status in 200 201 202; do
		# 201 is the confirmation of Azure's blobs: no page has it there.
		[ "$_status" != 201 ] || [ "$_to" != azure-blob ] || continue
		web_behaves web "page $_status x*"
		check_status 1 "$_to does not take $_status with a page for a confirmation" poolscope-upload "$@"
		cp "$TMP/err" "$TMP/printed"
		check_status 1 "... and says of nothing that it is there" grep -q ' sent to \|info .* uploaded' "$TMP/err"
		web_sent web 'len(sent)' >"$TMP/asked"
		check "... having asked" grep -qv '^0$' "$TMP/asked"
	done
}
unconfirmed influx samples -p "$pool" --target "influx:$url/write"
check "... the sentence says what may be there" \
	grep -q "answers 202 with a page of HTML, which does not confirm .* proxy" "$TMP/printed"
unconfirmed http samples -p "$pool" --target "http:$url/in"
unconfirmed azure-table events -p "$pool" --target azure-table:perf
unconfirmed s3 file "$TMP/small" --target s3:bucket/small
unconfirmed s3 file "$TMP/large" --target s3:bucket/large
unconfirmed azure-blob file "$TMP/small" --target azure-blob:plots/small
unconfirmed azure-blob file "$TMP/large" --target azure-blob:plots/large
unconfirmed mlflow metrics -p "$pool" --target mlflow:0123456789abcdef0123456789abcdef --style system
unconfirmed datastore results -d "$TMP/d" -a "$TMP/a" -p "$pool" --target datastore:lab
check "the file of results is where it was" test -e "$TMP/d/result"
web_behaves web 'status 200 {} x*'
check_status 1 "nor does influx take 200 with another body" poolscope-upload samples -p "$pool" --target "influx:$url/write"
web_behaves web 'status 200'
check "but an empty 200" poolscope-upload samples -p "$pool" --target "influx:$url/write"

# A follower ends, and its position stays where it was.
web_behaves web 'page x*'
check_status 1 "a follower ends" timeout 60 poolscope-upload samples -p "$pool" --target "influx:$url/write" \
	--follow --cursor "$TMP/cursor"
web_behaves web
poolscope-upload samples -p "$pool" --target "influx:$url/write" --follow --cursor "$TMP/cursor" >"$TMP/follow.log" 2>&1 &
echo $! >"$TMP/follow.pid"
STARTED="$STARTED follow"
check "and sends all of it when the service is back" \
	wait_until '[ "$(web_sent web "sum(s[\"text\"].count(chr(10)) for s in sent)")" = 5 ]'
stop follow TERM
check_text "... 0" 0 "$STATUS"

# ---- names that InfluxDB has itself
check_text "fields called like time and tags have other names" \
	"app/taken,node=n1,partition=acct\$page time_=1,node_=2,partition_=3,time__=4,other=5 1795850003000000000" \
	"$(web_sent web '[l for s in sent for l in s["text"].splitlines() if l.startswith("app/taken")][0]')"

# ---- what a service refuses for good
lines='sorted(l.split(",")[0] for s in sent if s["stored"] for l in s["text"].splitlines())'
web_behaves web 'refuse refused 400 x*'
check_status 1 "one refused point" poolscope-upload samples -p "$pool" --target "influx:$url/write"
check_text "... does not cost the others" "['app/good', 'app/good', 'app/good', 'app/taken']" "$(web_sent web "$lines")"
check_printed "... is named" "answers 400: unable to take .* left out for good, the others are sent: app/bad,node=n1"
check_printed "... and counted" "1 samples were left out"
check_printed "... as are the others" "4 samples sent to"
groups='sorted(__import__("json").loads(l)["set"] for s in sent if s["stored"] for l in s["text"].splitlines())'
web_behaves web 'refuse "app/bad" 422 x*'
check_status 1 "one refused record of lines of JSON" poolscope-upload samples -p "$pool" --target "http:$url/in"
check_text "... does not cost the others" "['app/good', 'app/good', 'app/good', 'app/taken']" "$(web_sent web "$groups")"
check_printed "... is named" 'left out for good, the others are sent: .*app/bad'
check_text "... each request has a name of its own" True \
	"$(web_sent web 'len(set(s["headers"]["idempotency-key"] for s in sent)) == len(sent)')"

run=0123456789abcdef0123456789abcdef
printf '{"run": {"info": {"run_id": "%s", "start_time": 1795850000000, "status": "RUNNING", "lifecycle_stage": "active"}}}' \
	$run >"$TMP/run"
check "a server of runs" web_start runs --answer "$TMP/run"
web_behaves runs 'refuse refused 400 x*'
check_status 1 "one refused metric of a run" env MLFLOW_TRACKING_URI="$(web_url runs)" \
	poolscope-upload metrics -p "$pool" --target mlflow:$run --style system
check_text "... does not cost the others" "['node', 'one', 'other', 'partition', 'time', 'time_']" "$(web_sent runs \
	'sorted(m["key"].split("/")[2] for s in sent if s["stored"] and "metrics" in s["text"] for m in __import__("json").loads(s["text"])["metrics"])')"
check_printed "... is named" 'left out for good, the others are sent: .*system/n1/refused'
check_printed "... and counted" "1 points were left out"
check_printed "... as are the others" ": 6 points of curves"
web_behaves runs ok 'status 400 no such database x*'
check_status 1 "a server that refuses everything" env MLFLOW_TRACKING_URI="$(web_url runs)" \
	poolscope-upload metrics -p "$pool" --target mlflow:$run --style system
check_printed "... is a failure" "answers 400: no such database"
check_status 1 "... and nothing is left out" grep -q "left out" "$TMP/err"
stop runs

# The only record of a request, and the first: the service would take another.
web_behaves web 'refuse refused 400 x*'
poolscope-upload samples -p "$pool" --name 'app/bad*' --target "influx:$url/write" --follow --cursor "$TMP/bad" >"$TMP/bad.log" 2>&1 &
echo $! >"$TMP/bad.pid"
STARTED="$STARTED bad"
check "a follower names what is refused" wait_until 'grep -q "left out for good.*app/bad" "$TMP/bad.log"'
sample app/bad refused 6 1795850006 >"$TMP/more"
sample app/bad2 fine 7 1795850007 >>"$TMP/more"
check "when more come" poolscope-import -q records "$TMP/more"
check "it goes on" wait_until '[ "$(web_sent web "sum(s[\"stored\"] and \"fine=7\" in s[\"text\"] for s in sent)")" = 1 ]'
stop bad TERM
check_text "... and ends with 0" 0 "$STATUS"
check "and knows the number" grep -q "2 samples were left out" "$TMP/bad.log"

# A request that is wrong whatever is in it: nothing is left out.
web_behaves web 'status 400 database is required x*'
check_status 1 "a request that is refused for itself ends a follower" \
	timeout 60 poolscope-upload samples -p "$pool" --target "influx:$url/write" --follow --cursor "$TMP/whole"
check_printed "... with the sentence" "answers 400: database is required"
check_status 1 "... and nothing is left out" grep -q "left out" "$TMP/err"
web_behaves web
poolscope-upload samples -p "$pool" --target "influx:$url/write" --follow --cursor "$TMP/whole" >"$TMP/whole.log" 2>&1 &
echo $! >"$TMP/whole.pid"
STARTED="$STARTED whole"
check "all of it is sent afterwards" \
	wait_until '[ "$(web_sent web "sum(s[\"text\"].count(chr(10)) for s in sent)")" = 7 ]'
# ... nor by a service that has stored something before: it may have lost its database.
stored() {
	[ "$(web_sent web "sum(s[\"stored\"] and \"one=$1\" in s[\"text\"] for s in sent)")" = 1 ]
}
sample app/good one 8 1795850008 >"$TMP/more"
check "one more comes" poolscope-import -q records "$TMP/more"
check "... and is stored, after the others" wait_until 'stored 8'
web_behaves web 'status 400 database not found x*'
sample app/good one 9 1795850009 >"$TMP/more"
check "another one comes" poolscope-import -q records "$TMP/more"
check "a service that refuses everything now ends the follower" wait_until '! alive whole' 60
stop whole TERM
check_text "... with 1" 1 "$STATUS"
check "... with the sentence" grep -q "answers 400: database not found" "$TMP/whole.log"
check_status 1 "... and nothing is left out" grep -q "left out" "$TMP/whole.log"
web_behaves web
poolscope-upload samples -p "$pool" --target "influx:$url/write" --follow --cursor "$TMP/whole" >"$TMP/whole.log" 2>&1 &
echo $! >"$TMP/whole.pid"
check "it is sent afterwards" wait_until 'stored 9'
stop whole TERM
stop broker
stop aggregator
