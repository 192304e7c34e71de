#!/bin/sh
# Services that misbehave, and what poolscope-upload makes of them: what may
# work later is tried again, what cannot is reported, and no secret is shown.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/web.sh
. "$ROOT/tests/flow/web.sh"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
pool='acct$http'

check "an instance runs" start aggregator poolscope-aggregator
check "and its broker" start broker poolscope-broker
check "and an agent" start agent poolscope-agent --no-samples -p "$pool" -n node1
for i in 1 2 3; do
	poolscope-emit test "event-$i" --message "n=$i" --wait stored >/dev/null || fail "event $i is stored"
done
wait_until indexed
poolscope-dump -p "$pool" --kind event -q >"$TMP/dumped"
check "a service runs" web_start web
url=$(web_url web)/in

upload() {
	poolscope-upload events -p "$pool" -q --target "$@"
}

# ---- what is sent ----
check "events go to any endpoint" upload "http:$url"
check_text "as lines of JSON, those of dump" "$(cat "$TMP/dumped")" "$(web_sent web 'sent[-1]["text"].rstrip()')"
check_text "with their type" application/x-ndjson "$(web_sent web 'sent[-1]["headers"]["content-type"]')"
check_text "and nothing that waits for a 100" None "$(web_sent web 'sent[-1]["headers"].get("expect")')"
check "the same once more" upload "http:$url"
check_text "has the same name" True \
	"$(web_sent web 'len(set(s["headers"]["idempotency-key"] for s in sent)) == 1')"
check "another choice of events" upload "http:$url" --name 'test:event-[!2]' --name 'test:event-2'
check_text "has another name" "2 1" \
	"$(web_sent web 'len(set(s["headers"]["idempotency-key"] for s in sent)), sent[-1]["text"].count("\n")' | tr -d '(),')"

check "a choice of nothing" poolscope-upload events -p "$pool" --target "http:$url" --name 'none:*'
check_printed "is reported with its pool" "no matching events of partition $pool in "
check "a pool that is none" poolscope-upload events -p 'acct$none' --target "http:$url"
check_printed "has another message" 'no events: .*: there is no partition acct$none'

# ---- what may work later ----
for manner in '429 0' '429 1' 'status 408 slow' 'status 425 early' 500 '503 0' half late reset close; do
	web_behaves web "$manner x2"
	check "$manner is tried again" upload "http:$url"
	check_text "$manner until it works, each time the same" "3 1 True" \
		"$(web_sent web 'len(sent), len(set((s["sha256"], s["headers"]["idempotency-key"]) for s in sent)), sent[-1]["stored"]' | tr -d '(),')"
done
web_behaves web '503 0 x1000'
check_status 1 "the retry time ends" upload "http:$url" --retry-time 300ms
check_printed "and the message has the last answer" 'gave up after .*http://127.0.0.1:[0-9]*/in answers 503: not now'
web_behaves web '429 3600'
check_status 1 "nor is an hour waited because a service says so" upload "http:$url?manner=429+3600" --retry-time 300ms

# ---- what cannot work later is asked once ----
once() {
	web_behaves web "$1"
	check_status 1 "$1: no success" upload "http:$url" --retry-time 5s
	check_printed "$1: $2" "$2"
	check_text "$1: not asked twice" 1 "$(web_sent web 'len(sent)')"
}
once 'status 404 nothing here' 'answers 404: nothing here'
once 'status 401' 'answers 401'
once 'status 501 never heard of it' 'answers 501: never heard of it'
once 'status 505' 'answers 505'
once 'redirect http://169.254.169.254/latest/meta-data' 'answers 302 with a redirect to http://169.254.169.254/latest/meta-data, which is not followed'
once garbage 'the answer is not HTTP/1'
once endless 'the answer is larger than 8 MiB'
once headers 'the headers of the answer are larger than 64 KiB'
once continues 'the headers of the answer are larger than 64 KiB'

# ---- what never ends does ----
for manner in drip silence; do
	web_behaves web "$manner x1000"
	check_status 1 "$manner: a request has an end" upload "http:$url" --retry-time 1s
	check_printed "$manner: the message says so" 'timed out'
done
web_behaves web '429 3600'
poolscope-upload events -p "$pool" --target "http:$url" --retry-time 1h >"$TMP/wait.out" 2>&1 &
waiting=$!
wait_until "[ -s '$TMP/web.sent' ]"
wait_until "grep -q 'retrying' '$TMP/wait.out'"
kill -TERM $waiting
wait $waiting
check_text "TERM ends a wait" 1 $?
check "and the message says so" grep -q interrupted "$TMP/wait.out"

# ---- whom nobody is sent to ----
for address in 169.254.169.254 '[fe80::1]' '[fd00:ec2::254]' '[::ffff:169.254.169.254]' \
	168.63.129.16 100.100.100.200 2852039166 0xa9fea9fe 0.0.0.0 224.0.0.1; do
	check_status 1 "$address is refused" upload "http:http://$address:1/x" --retry-time 5s
	check_printed "$address: with the reason" 'the request was not sent'
done
check_status 2 "a password in an address is refused" upload "http:http://me:hushhush@127.0.0.1/"
check_printed "in words" 'a user or a password'
check_status 1 "and not repeated" grep -q hushhush "$TMP/err"
check_status 2 "other schemes are refused" upload "http:file:///etc/passwd"
check_printed "by name" 'does not begin with http:// or https://'
check_status 2 "an address without a host is refused" upload "http:http:///in"
check_printed "in words" 'has no host'
check_status 1 "with a proxy, too, nobody is sent to a cloud's credentials" \
	env http_proxy="http://127.0.0.1:$(cat "$TMP/web.port")" poolscope-upload events -p "$pool" \
	--target "http:http://169.254.169.254/x"
check_printed "with the reason" 'the request was not sent'

# ---- secrets ----
POOLSCOPE_HTTP_TOKEN=hush-hush-hush
export POOLSCOPE_HTTP_TOKEN
web_behaves web ok
check "a token of the environment" upload "http:$url"
check_text "is sent" "Bearer hush-hush-hush" "$(web_sent web 'sent[-1]["headers"]["authorization"]')"
web_behaves web 'echo x*'
check_status 1 "a service that repeats everything" upload "http:$url?sig=0123456789abcdef0123"
check_printed "is quoted" 'answers 400: you sent'
check_status 1 "but not with the token, nor a signature" grep -q 'hush-hush\|0123456789abcdef' "$TMP/err"
check "a dry run" upload "http:$url?sig=0123456789abcdef0123" --dry-run
check_printed "shows what would be sent" '^POST http://127'
check_printed "its headers" '^Content-Type: application/x-ndjson'
check_printed "its body" '"name": "event-3"'
check_printed "and that there is a secret" '^Authorization: \*\*\*'
check_status 1 "but not which" grep -q 'hush-hush\|0123456789abcdef' "$TMP/out"
check_text "and asks nobody" 3 "$(web_sent web 'len(sent)')"
unset POOLSCOPE_HTTP_TOKEN
printf 'of-a-file\n' >"$TMP/token"
chmod 640 "$TMP/token"
check_status 1 "a file that others can read is refused" env POOLSCOPE_HTTP_TOKEN_FILE="$TMP/token" \
	poolscope-upload events -p "$pool" --target "http:$url"
check_printed "with what to do" 'can be read by others (mode 0640): run chmod 600'
chmod 600 "$TMP/token"
web_behaves web ok
check "a file of one's own is not" env POOLSCOPE_HTTP_TOKEN_FILE="$TMP/token" \
	poolscope-upload events -p "$pool" --target "http:$url"
check_text "and is sent without its newline" "Bearer of-a-file" "$(web_sent web 'sent[-1]["headers"]["authorization"]')"

# ---- TLS ----
make_authority() {
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$TMP/$1.key" -out "$TMP/$1.pem" -days 2 \
		-subj "/CN=$1" -addext "basicConstraints=critical,CA:TRUE" >/dev/null 2>&1
}
# make_certificate NAME AUTHORITY HOST
make_certificate() {
	openssl req -newkey rsa:2048 -nodes -keyout "$TMP/$1.key" -out "$TMP/$1.csr" -subj "/CN=$3" >/dev/null 2>&1
	printf 'subjectAltName=DNS:%s\n' "$3" >"$TMP/$1.ext"
	openssl x509 -req -in "$TMP/$1.csr" -CA "$TMP/$2.pem" -CAkey "$TMP/$2.key" -CAcreateserial \
		-days 1 -extfile "$TMP/$1.ext" -out "$TMP/$1.pem" >/dev/null 2>&1
}
make_authority ours
make_authority theirs
make_certificate right ours localhost
make_certificate wrong ours elsewhere.example
check "a service with a certificate" web_start tls --tls "$TMP/right.pem" "$TMP/right.key"
check "and one with another's" web_start other --tls "$TMP/wrong.pem" "$TMP/wrong.key"
secure=https://localhost:$(cat "$TMP/tls.port")/in
check "is trusted with its authority" upload "http:$secure" --cacert "$TMP/ours.pem"
check_text "and is sent all" 3 "$(web_sent tls 'sent[-1]["text"].count("\n")')"
check_status 1 "not without" upload "http:$secure" --retry-time 3s
check_printed "and the message says so" 'certificate'
check_status 1 "nor with another" upload "http:$secure" --cacert "$TMP/theirs.pem" --retry-time 3s
check_status 1 "nor under another name" upload "http:https://localhost:$(cat "$TMP/other.port")/" \
	--cacert "$TMP/ours.pem" --retry-time 3s
check_text "and nothing was sent there" 0 "$(web_sent other 'len(sent)')"
check_status 1 "a file of authorities that is not there" upload "http:$secure" --cacert "$TMP/none.pem"
check_printed "is named" "none.pem: No such file"

# ---- wrong usage ----
check_status 2 "an unknown target" upload pie:x
check_printed "gets the list of targets" "'pie' is not a target; events can be uploaded to azure-table:NAME, http:URL"
check_status 2 "a target without its rest" upload http:
check_status 2 "influx takes no events" upload "influx:$url"
check_printed "in words" "influx does not accept events, only samples; events can be uploaded to azure-table:NAME, http:URL"
check_status 2 "nor does the store" upload store
check_printed "which is known" "store does not accept events, only results"
check_status 2 "nor MLflow" upload mlflow:x
check_printed "which is known, too" "mlflow does not accept events, only metrics"
check_status 2 "no results to MLflow" poolscope-upload results -d "$TMP" -a "$TMP" --target mlflow:x
check_printed "but to the store" "mlflow does not accept results, only metrics; results can be uploaded to store, datastore:"
check_status 2 "an object has a key" poolscope-upload file "$TMP/none" --target s3:bbb
check_printed "which is missing" "s3:BUCKET/KEY: the key is missing"
check_status 2 "a word that is none" poolscope-upload foo
check_printed "is reported before what else is missing" "'foo' is not one of results, file"
check_status 2 "to follow is for records" poolscope-upload results --follow --target store
check_printed "of both kinds" "--follow is for samples, events, not for results"
check_status 1 "an endpoint without a scheme" env AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=y \
	AWS_ENDPOINT_URL=127.0.0.1:1 poolscope-upload file "$0" --target s3:bbb/k
check_printed "is reported with its variable" "AWS_ENDPOINT_URL: .*does not begin with"
check_status 2 "to follow is to follow one" upload "http:$url" --target "http:$url" --follow
check_status 2 "a cursor is for who follows" upload "http:$url" --cursor "$TMP/c"
stop agent
stop broker
stop aggregator
