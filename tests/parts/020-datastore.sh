#!/bin/sh
# Results in Google's Datastore emulator, and in a stand-in that checks what the
# emulator does not: tokens, names and types of every request, limits.  Both are
# read back by Google's own client.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"

EMULATOR=/usr/lib/google-cloud-sdk/platform/cloud-datastore-emulator
need_python datastore google-cloud-datastore cryptography ||
	skip "pip cannot have google-cloud-datastore"
PYTHON=$PARTS/datastore/bin/python
bench=$ROOT/tests/golden/testbench
unset GOOGLE_APPLICATION_CREDENTIALS DATASTORE_EMULATOR_HOST
unset CLOUDSDK_API_ENDPOINT_OVERRIDES_DATASTORE

# judge NAMESPACE WORD [ARGUMENT]: of the service at $SERVICE.
judge() {
	"$PYTHON" "$ROOT/tests/parts/datastore_judge.py" "$SERVICE" "$@"
}

# proxy: before $SERVICE, at $PORT; its manners are $TMP/manners.
proxy() {
	PORT=$(free_port 1)
	rm -f "$TMP/manners"
	serve "proxy.$PORT" /usr/bin/python3 "$ROOT/tests/parts/proxy.py" \
		"$PORT" "$SERVICE" "$TMP/requests" --manners "$TMP/manners"
	answers "http://127.0.0.1:$PORT/" "proxy.$PORT"
}

# upload NAMESPACE WORK PARTITION: what is in WORK/data.
upload() {
	mkdir -p "$2/data" "$2/archive"
	poolscope-upload results -d "$2/data" -a "$2/archive" -p "lab\$$3" \
		--target "datastore:proj/$1" --retry-time 20s
}

# file PATH ENTRIES [NAME-BYTES [INFO-BYTES]]: a result file.
file() {
	mkdir -p "$(dirname "$1")"
	/usr/bin/python3 -c 'import json, sys
path, entries, name, info = sys.argv[1], *map(int, sys.argv[2:5])
json.dump({"name": "//a:\u00e4\U0001f600" + "n" * name, "startTime": "1489000000",
  "entries": {"entry": [{"name": f"BM_{i}", "wallTime": i / 7, "iters": str(i), "x": "x" * info} for i in range(entries)]}},
  open(path, "w"), ensure_ascii=False)' "$1" "$2" "${3:-0}" "${4:-0}"
}

# cases NAME: every recorded directory through poolscope-upload.
cases() {
	for case in b01_three_files:0 b02_bad_files:1 b03_not_files:0 b04_locked:0,0; do
		statuses=$(echo "${case#*:}" | tr , ' ')
		case=${case%:*}
		# shellcheck disable=SC2086 # several statuses
		check "$1, $case: is uploaded" /usr/bin/python3 "$bench/testbench.py" run \
			"$bench/$case" "$TMP/$1.$case" $statuses -- poolscope-upload results \
			--target "datastore:proj/$case" -p "bench\$$1-$case"
		check "... as recorded, each row once" judge "$case" case "$bench/$case"
		check "the same files once more" upload "$case" "$TMP/$1.again.$case" \
			"again-$1-$case"
	done
	for case in b01_three_files b04_locked; do
		cp "$TMP/$1.$case"/archive/* "$TMP/$1.again.$case/data"
		check "... for who does not know of the first time" upload "$case" \
			"$TMP/$1.again.$case" "again-$1-$case"
		check "... change nothing" judge "$case" case "$bench/$case"
	done
}

# service NAME: what both have to do.
service() {
	cases "$1"
	file "$TMP/$1.large/data/a.json" 1200
	cp "$TMP/$1.large/data/a.json" "$TMP/large.json"
	: >"$TMP/requests"
	check "$1: a file of 1,200 entries is uploaded" upload large "$TMP/$1.large" "large-$1"
	check "... all of it" judge large file "$TMP/large.json"
	check_text "... in three commits" 3 "$(grep -c ':commit.*"status": 200' "$TMP/requests")"
	file "$TMP/$1.rough/data/a.json" 1200
	printf 'status 429\nreset\nlate\npass\nstatus 500\nlate\npass\nstatus 503\nreset\n' >"$TMP/manners"
	check "$1: answers get lost on the way" upload rough "$TMP/$1.rough" "rough-$1"
	check "... and it is there, once" judge rough file "$TMP/large.json"
	check_text "... after all bad manners" 0 "$(wc -l <"$TMP/manners")"
	killed "$1"
}

# killed NAME: an uploader killed in the middle, and another one.
killed() {
	file "$TMP/$1.killed/data/a.json" 1200
	: >"$TMP/requests"
	printf 'pass\npass\nstatus 503\nstatus 503\nstatus 503\nstatus 503\nstatus 503\n' >"$TMP/manners"
	upload killed "$TMP/$1.killed" "killed-$1" >"$TMP/killed.log" 2>&1 &
	uploader=$!
	wait_until 'grep -q "status 503" "$TMP/requests"' 30
	kill -9 "$(pgrep -P $uploader -x poolscope-uploa || echo $uploader)"
	wait "$uploader" 2>/dev/null
	: >"$TMP/manners"
	check_text "$1: of a killed uploader there are entries, and no test" "0 1000" \
		"$(judge killed count)"
	check "... the next one sends the file" upload killed "$TMP/$1.killed" "killed-$1"
	check "... and it is there, once" judge killed file "$TMP/large.json"
	check_text "... and in the archive" a.json "$(ls "$TMP/$1.killed/archive")"
}

start aggregator poolscope-aggregator && start broker poolscope-broker || exit 1

# ---- the emulator
if [ -e "$EMULATOR/CloudDatastore.jar" ] && command -v java >/dev/null; then
	main="-cp $EMULATOR/CloudDatastore.jar com.google.cloud.datastore.emulator.CloudDatastore"
	SERVICE=$(free_port 1)
	# shellcheck disable=SC2086 # several words
	java $main create --project_id=proj "$TMP/emulator" >"$TMP/create.log" 2>&1
	# shellcheck disable=SC2086 # several words
	serve emulator java -Xmx256m $main start --host=127.0.0.1 \
		--port="$SERVICE" --store_on_disk=false --consistency=1.0 "$TMP/emulator"
	answers "http://127.0.0.1:$SERVICE/" emulator && proxy || exit 1
	export DATASTORE_EMULATOR_HOST="127.0.0.1:$PORT"
	service emulator
	stop emulator KILL
	unset DATASTORE_EMULATOR_HOST
else
	echo "SKIPPED: no Datastore emulator in $EMULATOR"
fi

# ---- the stand-in
EMAIL=poolscope@proj.iam.gserviceaccount.com
SERVICE=$(free_port 1)
for name in key other; do
	openssl genrsa -out "$TMP/$name.pem" 2048 2>"$TMP/openssl.log" &&
		openssl rsa -in "$TMP/$name.pem" -pubout -out "$TMP/$name.pub" \
			2>"$TMP/openssl.log" || exit 1
done

# credentials FILE KEY [EMAIL]
credentials() {
	/usr/bin/python3 -c 'import json, sys
print(json.dumps({"type": "service_account", "project_id": "proj", "private_key_id": "k1",
  "private_key": open(sys.argv[1]).read(), "client_email": sys.argv[2], "token_uri": sys.argv[3]}))' \
		"$TMP/$2.pem" "${3:-$EMAIL}" "http://127.0.0.1:$SERVICE/token" >"$1"
	chmod 600 "$1"
}

# standin [OPTION...]: at $SERVICE, with a proxy before it.
standin() {
	! alive standin || stop standin KILL
	: >"$TMP/said"
	serve standin "$PYTHON" "$ROOT/tests/parts/datastore_standin.py" "$SERVICE" proj \
		"$EMAIL" "$TMP/key.pub" "$TMP/said" "$@"
	answers "http://127.0.0.1:$SERVICE/" standin || exit 1
}

credentials "$TMP/sa.json" key
standin
proxy || exit 1
export CLOUDSDK_API_ENDPOINT_OVERRIDES_DATASTORE="http://127.0.0.1:$PORT"
mkdir -p "$TMP/refused/data"
cp "$TMP/large.json" "$TMP/refused/data" 2>/dev/null || file "$TMP/refused/data/large.json" 1200
check_status 1 "without credentials nothing is sent" upload refused "$TMP/refused" refused
check_printed "... and it says which" "GOOGLE_APPLICATION_CREDENTIALS does not name a file"
export GOOGLE_APPLICATION_CREDENTIALS="$TMP/sa.json"
chmod 644 "$TMP/sa.json"
check_status 1 "credentials that others can read are refused" upload refused "$TMP/refused" refused
check_printed "... with what to do" "chmod 600"
chmod 600 "$TMP/sa.json"
credentials "$TMP/wrong.json" other
GOOGLE_APPLICATION_CREDENTIALS="$TMP/wrong.json"
check_status 1 "another key is refused" upload refused "$TMP/refused" refused
check_printed "... with what the token service says" "400.*Invalid JWT Signature"
credentials "$TMP/who.json" key other@example.org
GOOGLE_APPLICATION_CREDENTIALS="$TMP/who.json"
check_status 1 "so is another account" upload refused "$TMP/refused" refused
GOOGLE_APPLICATION_CREDENTIALS="$TMP/sa.json"
check_status 1 "another project is refused" poolscope-upload results -p 'lab$refused' \
	-d "$TMP/refused/data" -a "$TMP/refused/archive" --target datastore:another
check_printed "... with what Datastore says" "Datastore answers 403: PERMISSION_DENIED: another project"
check_text "nothing was stored" "0 0" "$(judge refused count)"
check_text "and the file stays" large.json "$(ls "$TMP/refused/data")"
check "a dry run shows what would be sent" poolscope-upload results -p 'lab$dry' \
	-d "$TMP/refused/data" -a "$TMP/refused/archive" --target datastore:proj --dry-run
check_printed "... upserts" '"upsert": {"key": {"partitionId": {"projectId": "proj"}'
check_text "... and no secret" 0 "$(cat "$TMP/out" "$TMP/err" | grep -c 'ya29\|PRIVATE')"
service standin
check_text "one token was enough for each upload" 0 "$(grep -c 401 "$TMP/said")"
check_text "no request was against the definitions" 0 "$(grep -c 'commit 400' "$TMP/said")"

standin --uses 2
file "$TMP/expiry/data/a.json" 1200
check "a token ends before its time" upload expiry "$TMP/expiry" expiry
check "... and the file is there, once" judge expiry file "$TMP/large.json"
check_text "... with a second token" 2 "$(grep -c 'token 200' "$TMP/said")"
standin --life 61
file "$TMP/short/data/a.json" 1200
check "a token has hardly more than a minute" upload short "$TMP/short" short
check "... and the file is there, once" judge short file "$TMP/large.json"

# ---- limits
file "$TMP/limits/data/a.json" 3 1400
check "a test's name has 1,400 bytes" upload limits "$TMP/limits" limits
check_text "... and is there" "1 3" "$(judge limits count)"
file "$TMP/limits/data/b.json" 3 1500
check_status 1 "one has more than 1,500" upload limits "$TMP/limits" limits
check_printed "... and the message says so" "is longer than 1500 bytes"
rm "$TMP/limits/data/b.json"
file "$TMP/limits/data/c.json" 2 0 523900
check "a test has nearly 1 MiB" upload big "$TMP/limits" limits
check_text "... and is there" "1 2" "$(judge big count)"
file "$TMP/limits/data/d.json" 2 0 524180
check_status 1 "one has a little more" upload big "$TMP/limits" limits
check_printed "... and the message says so" "Datastore accepts at most 1048572"
rm "$TMP/limits/data/d.json"
file "$TMP/limits/data/e.json" 200 0 5000
check "entries of one file need two bodies" upload big "$TMP/limits" limits
check_text "no request was against the limits" 0 "$(grep -c 'commit 400' "$TMP/said")"
