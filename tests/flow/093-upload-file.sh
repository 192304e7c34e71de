#!/bin/sh
# Files and events to storage services that refuse, forget and lose: what is
# sent, what is taken away again, and what the messages say.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/web.sh
. "$ROOT/tests/flow/web.sh"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
unset AWS_SESSION_TOKEN AWS_ENDPOINT_URL_S3 AZURE_STORAGE_KEY

check "a service runs" web_start web --status 200
AWS_ENDPOINT_URL=$(web_url web)
AWS_ACCESS_KEY_ID=someone
AWS_SECRET_ACCESS_KEY=hidden-s3-secret
AWS_REGION=us-east-1
AZURE_STORAGE_ACCOUNT=shipyard
AZURE_STORAGE_SAS_TOKEN='?sv=2021-08-06&sig=hidden%2Fsignature%3D'
AZURE_STORAGE_BLOB_ENDPOINT=$(web_url web)/shipyard
AZURE_STORAGE_TABLE_ENDPOINT=$AZURE_STORAGE_BLOB_ENDPOINT
export AWS_ENDPOINT_URL AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION
export AZURE_STORAGE_ACCOUNT AZURE_STORAGE_SAS_TOKEN
export AZURE_STORAGE_BLOB_ENDPOINT AZURE_STORAGE_TABLE_ENDPOINT

upload() {
	poolscope-upload file "$@"
}

# hidden NAME FILE...: no secret is there.
hidden() {
	_hidden=$1
	shift
	check "$_hidden" sh -c '! cat "$@" | grep -q hidden' sh "$@"
}

# ---- wrong usage
printf hello >"$TMP/a.csv"
check_status 2 "standard input goes to one target" \
	upload - --target s3:bucket/a --target s3:bucket/b
check_printed "... and says so" "one target only"
check_status 1 "who feeds it and fails sends nothing" \
	sh -c 'false | poolscope-upload file - --target s3:bucket/a --dry-run'
check_printed "... and the message says so" "standard input is empty"
check_text "... no empty file in its place" "" "$(cat "$TMP/out")"
check_status 1 "a file that is not there is an error" upload "$TMP/none" --target s3:bucket/a
check_printed "... by name" "$TMP/none: No such file"
check_status 1 "so is a directory" upload "$TMP" --target s3:bucket/a
check_status 2 "wrong usage is a bucket's name that is none" upload "$TMP/a.csv" --target s3:B/a
check_printed "... and says what is one" "s3:BUCKET/KEY: the bucket is not 3 to 63"
check_status 2 "wrong usage is a key that is not there" upload "$TMP/a.csv" --target s3:bucket/
check_status 2 "wrong usage is a container's" upload "$TMP/a.csv" --target azure-blob:X/a
check_status 2 "a table takes no file" upload "$TMP/a.csv" --target azure-table:perf
check_printed "... and says so" "azure-table does not accept files"
check_status 1 "no account is an error" env -u AZURE_STORAGE_ACCOUNT \
	poolscope-upload file "$TMP/a.csv" --target azure-blob:plots/a
check_printed "... that names the variable" "AZURE_STORAGE_ACCOUNT is not set"
check_status 1 "no key is one" env -u AZURE_STORAGE_SAS_TOKEN \
	poolscope-upload file "$TMP/a.csv" --target azure-blob:plots/a
check_printed "... that names those" "AZURE_STORAGE_KEY, AZURE_STORAGE_KEY_FILE"
check_status 1 "no secret is one" env -u AWS_SECRET_ACCESS_KEY \
	poolscope-upload file "$TMP/a.csv" --target s3:bucket/a
check_printed "... that names it" "AWS_SECRET_ACCESS_KEY"

# ---- what is sent
web_behaves web 'status 200'
check "a file is put" upload "$TMP/a.csv" --target 's3:bucket/x $y/a.csv'
check_text "in one request" "PUT /bucket/x%20%24y/a.csv" \
	"$(web_sent web 'sent[0]["method"] + " " + sent[0]["path"]')"
check_text "with its sums and its kind" \
	"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 XUFAKrxLKna5cZ2REBfFkg== text/csv; charset=utf-8" \
	"$(web_sent web '" ".join(sent[0]["headers"][h] for h in ("x-amz-content-sha256", "content-md5", "content-type"))')"
check_text "and signed" "AWS4-HMAC-SHA256 Credential=someone/" \
	"$(web_sent web 'sent[0]["headers"]["authorization"][:36]')"
AWS_SESSION_TOKEN=hidden-session-token
export AWS_SESSION_TOKEN
web_behaves web 'status 403 no hidden-session-token here'
check_status 1 "a token goes with it" upload "$TMP/a.csv" --target s3:bucket/a
check_text "... in its header" hidden-session-token \
	"$(web_sent web 'sent[0]["headers"]["x-amz-security-token"]')"
hidden "... and into no message" "$TMP/out" "$TMP/err"
check "what would be sent can be seen" upload "$TMP/a.csv" --target s3:bucket/a --dry-run
check_printed "... all of it" "^PUT $AWS_ENDPOINT_URL/bucket/a"
hidden "... but no secret" "$TMP/out" "$TMP/err"
unset AWS_SESSION_TOKEN
web_behaves web '503 0 x2'
check "a busy service is asked again" upload "$TMP/a.csv" --target s3:bucket/a
check_text "... the same" "3 1" "$(web_sent web 'len(sent), len(set(s["sha256"] for s in sent))' | tr -d '(),')"
web_behaves web '503 1'
check "a service that is busy for long" upload "$TMP/a.csv" --target s3:bucket/a
signed='len(sent), len(set(s["headers"]["%s"] for s in sent)), len(set(s["headers"]["authorization"] for s in sent))'
# shellcheck disable=SC2059 # the name of a header is missing in it
check_text "gets the time and a signature with each request" "2 2 2" \
	"$(web_sent web "$(printf "$signed" x-amz-date)" | tr -d '(),')"
check_text "... with the same headers signed" 1 \
	"$(web_sent web 'len(set(s["headers"]["authorization"].split(",")[1] for s in sent))')"
web_behaves web '503 1' 'status 201'
check "another one" env AZURE_STORAGE_KEY="$(printf '%064d' 7 | base64 -w0)" \
	poolscope-upload file "$TMP/a.csv" --target azure-blob:plots/a
# shellcheck disable=SC2059
check_text "is, too" "2 2 2" "$(web_sent web "$(printf "$signed" x-ms-date)" | tr -d '(),')"
web_behaves web "redirect http://elsewhere.example/"
check_status 1 "nobody is followed elsewhere" upload "$TMP/a.csv" --target s3:bucket/a
check_printed "... and the message says so" "answers 302 with a redirect to http://elsewhere.example/, which is not followed"
web_behaves web 'status 403 <Error><Code>AccessDenied</Code><Message>Not you</Message></Error>'
check_status 1 "the message repeats what the service says" upload "$TMP/a.csv" --target s3:bucket/a
check_printed "... in one sentence" "a.csv to s3:bucket/a: $AWS_ENDPOINT_URL/bucket/a answers 403, AccessDenied: Not you$"

# ---- a token in the address
web_behaves web 'status 201'
check "a shared access signature will do" upload "$TMP/a.csv" --target azure-blob:plots/a.csv
check_text "... in the address as it is" "/shipyard/plots/a.csv?sv=2021-08-06&sig=hidden%2Fsignature%3D" \
	"$(web_sent web 'sent[0]["path"]')"
check_text "... and nothing is signed" None "$(web_sent web 'sent[0]["headers"].get("authorization")')"
web_behaves web echo
check_status 1 "whoever refuses it" upload "$TMP/a.csv" --target azure-blob:plots/a.csv
hidden "... and repeats it is not repeated" "$TMP/out" "$TMP/err"
check "what would be sent can be seen" upload "$TMP/a.csv" --target azure-blob:plots/a.csv --dry-run
hidden "... but no secret" "$TMP/out" "$TMP/err"

# ---- in parts
head -c 17000000 /dev/zero >"$TMP/large"
none='status 200 <ListMultipartUploadsResult/>'
begun='status 200 <InitiateMultipartUploadResult><UploadId>u/1</UploadId></InitiateMultipartUploadResult>'
methods='" ".join(s["method"] for s in sent)'
web_behaves web "$none" "$begun" 'status 200 x3' \
	'status 200 <CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>'
check "a large file is put" upload "$TMP/large" --target s3:bucket/large.json
check_text "in parts" "GET POST PUT PUT PUT POST" "$(web_sent web "$methods")"
check_text "by number and the upload's name" \
	"/bucket/large.json?partNumber=3&uploadId=u%2F1 222784" \
	"$(web_sent web '"%s %d" % (sent[4]["path"], sent[4]["bytes"])')"
check_text "which are then made one" 3 "$(web_sent web 'sent[5]["text"].count("<Part><PartNumber>")')"
check_text "of its kind" application/json "$(web_sent web 'sent[1]["headers"]["content-type"]')"
web_behaves web "$none" "$begun" 'status 200' 'status 403 no'
check_status 1 "a part that is refused ends it" upload "$TMP/large" --target s3:bucket/large
check_text "... and nothing is left there" "GET POST PUT PUT DELETE" "$(web_sent web "$methods")"
web_behaves web "$none" "$begun" 'status 200 x3' \
	'status 200 <Error><Code>InternalError</Code><Message>again</Message></Error>'
check_status 1 "so does an error that comes as a success" upload "$TMP/large" --target s3:bucket/large
check_printed "... and the message says so" "InternalError: again"
check_text "... and nothing is left there" DELETE "$(web_sent web 'sent[-1]["method"]')"
web_behaves web "$none" "$begun" 'status 200 x3' \
	'status 200 <CompleteMultipartUploadResult><ETag>"0123456789abcdef0123456789abcdef-3"</ETag></CompleteMultipartUploadResult>'
check_status 1 "a whole that is another one is found" upload "$TMP/large" --target s3:bucket/large
check_printed "... and the message says so" "verification failed: the stored object differs"
gone='status 404 <Error><Code>NoSuchUpload</Code><Message>none</Message></Error>'
# The sum is that of md5sum over those of 8 MiB, 8 MiB and the rest of zeros.
web_behaves web "$none" "$begun" 'status 200 x3' late "$gone" 'etag "7b8d0060afefc4d0fd6d6d2527eabda5-3"'
check "an end whose answer is lost is one" upload "$TMP/large" --target s3:bucket/large
check_text "... when the object is there" "GET POST PUT PUT PUT POST POST HEAD" "$(web_sent web "$methods")"
web_behaves web "$none" "$begun" 'status 200 x3' "$gone" 'etag "0123456789abcdef0123456789abcdef-3"' "$gone"
check_status 1 "and none when there is another" upload "$TMP/large" --target s3:bucket/large
check_printed "... and the message says so" "answers 404, NoSuchUpload: none"
check_text "... in one line" 1 "$(wc -l <"$TMP/err")"
web_behaves web "$none" "$begun" 'status 200' 'reset x1000'
check_status 1 "a service that is lost on the way" upload "$TMP/large" --target s3:bucket/large --retry-time 1s
check_printed "... keeps what it has" "s3:bucket/large: 1 uploaded parts remain on the service"
check_text "... for the next time" 0 "$(web_sent web 'sum(s["method"] == "DELETE" for s in sent)')"
web_behaves web 'status 200 <!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>' "$begun" 'status 200 x3'
check "whoever lists no uploads begins one" upload "$TMP/large" --target s3:bucket/large
web_behaves web "$none" 'status 200 <html>'
check_status 1 "whoever begins none is no S3" upload "$TMP/large" --target s3:bucket/large
check_printed "... and the message says so" "the answer is not XML"
web_behaves web 'status 403 no reading' 'status 201 x4' 'status 403 no reading'
check "a blob may be put by whoever may only write" upload "$TMP/large" --target azure-blob:plots/large
check_text "... all of it" "GET PUT PUT PUT PUT HEAD" "$(web_sent web "$methods")"
web_behaves web 'status 200 <BlockList/>' 'status 201 x2' 'status 403 no'
check_status 1 "a block that is refused ends a blob" upload "$TMP/large" --target azure-blob:plots/large
check_text "... and nothing more is sent" "GET PUT PUT PUT" "$(web_sent web "$methods")"
web_behaves web 'status 200 <BlockList/>' 'status 201 x4'
check_status 1 "a blob that is not there after all is found" upload "$TMP/large" --target azure-blob:plots/large
check_printed "... and the message says so" "verification failed: the stored blob has 0 bytes, not 17000000"

# ---- rows
start aggregator poolscope-aggregator --models "$ROOT/deploy/models" || exit 1
start broker poolscope-broker || exit 1
for i in 1 2 3; do
	printf '{"PartitionKey":"a$b","RowKey":"%d.5","Event":"x:y","NodeId":"n"}\n' $i
done | poolscope-import -q cascade - || exit 1
wait_until indexed 60

rows() {
	poolscope-upload events -q -p 'a$b' --target azure-table:perf "$@"
}

web_behaves web 'status 202 HTTP/1.1 503 Busy' 'status 202 HTTP/1.1 500 Oh' 'status 202 HTTP/1.1 204 Fine HTTP/1.1 204 Fine HTTP/1.1 204 Fine'
check "rows that a service cannot take just now" rows
check_text "are sent again, the same" "3 1" \
	"$(web_sent web 'len(sent), len(set(s["sha256"] for s in sent))' | tr -d '(),')"
check_text "all in one" 3 "$(web_sent web 'sent[0]["text"].count("RowKey=")')"
web_behaves web 'status 202 HTTP/1.1 400 Bad x*'
check_status 1 "rows that are refused are not" rows
check_printed "... and the message says so" "3 events were left out: azure-table:perf refuses them for good"
check_text "... but by halves, to find those that are wrong" 5 "$(web_sent web 'len(sent)')"
web_behaves web 'status 202 what?'
check_status 1 "an answer that says nothing is no success" rows
check_printed "... and the message says so" "malformed answer to a batch"
web_behaves web 'status 404 {"odata.error":{"code":"TableNotFound","message":{"value":"none"}}}' \
	'status 201' 'status 202 HTTP/1.1 204 Fine HTTP/1.1 204 Fine HTTP/1.1 204 Fine'
check "a table that is not there is made" rows
check_text "... once, and the rows follow" '/shipyard/Tables {"TableName": "perf"}' \
	"$(web_sent web 'sent[1]["path"].split("?")[0] + " " + sent[1]["text"]')"
web_behaves web 'status 200 {"value":[3]}'
check_status 1 "rows that are none are not fetched" poolscope-fetch -p 'a$b' azure-table:perf
check_printed "... and the message says so" "a malformed row"
hidden "no secret was printed to the end" "$TMP/out" "$TMP/err"
stop broker
stop aggregator
