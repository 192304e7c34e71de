#!/bin/sh
# Services inside their sandbox, root's too: a file of elsewhere, a program and a
# privilege are closed, and all that they live from stays open.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

status_of() {
	awk '$1 == "NoNewPrivs:" || $1 == "Seccomp:" { print $2 }' "/proc/$1/status" | xargs
}
keys_known() {
	"$ROOT/tests/flow/counters.py" | python3 -c '
import json, sys
def values(tree):
    for name, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if name == "keys":
            yield value
        if isinstance(value, (dict, list)):
            yield from values(value)
print(max(values(json.load(sys.stdin)), default=0))'
}
segments() {
	find "$DIR/spool" -name '*.seg' | wc -l
}
# reload NAME WORDS: it says them in answer to HUP.
reload() {
	_before=$(grep -c "$2" "$TMP/$1.log")
	kill -HUP "$(pid "$1")"
	wait_until '[ "$(grep -c "'"$2"'" "$TMP/'"$1"'.log")" -gt "'"$_before"'" ]'
}

# Not below /tmp, where instruments of tests may write.
elsewhere=$(mktemp -d /var/tmp/poolscope.XXXXXX) || exit 1
trap 'rm -rf "$elsewhere"; _end' EXIT
echo 'log = "debug"' >"$elsewhere/poolscope.conf"

services="aggregator broker agent receiver web"
start aggregator poolscope-aggregator --log debug || exit 1
start broker poolscope-broker --log debug || exit 1
start agent poolscope-agent --log debug -p acct/pool -n node1 --segment-bytes 64KiB --period 200ms || exit 1
mkdir "$DIR/metrics.d"
start receiver poolscope-receiver --log debug --textfile-period 200ms --period 200ms || exit 1
start web poolscope-web --log debug --listen 127.0.0.1:0 || exit 1
for service in $services; do
	if [ "${VARIANT:-}" != valgrind ]; then
		check_text "the $service gains no privileges, and calls are filtered" "1 2" "$(status_of "$(pid "$service")")"
	fi
done

# Who talks to services outside, while nobody answers.
poolscope-upload --log debug events -p acct/pool --target http:http://127.0.0.1:9/ --follow >"$TMP/upload.log" 2>&1 &
upload=$!
if [ "${VARIANT:-}" != valgrind ]; then
	check "a follower of uploads gains no privileges, and its calls are filtered" \
		wait_until '[ "$(status_of "$upload")" = "1 2" ]'
fi
kill "$upload"
wait "$upload"
mkdir "$TMP/data" "$TMP/archive"
for command in "upload events --target http:http://127.0.0.1:9/ --dry-run" "upload samples --target influx:http://127.0.0.1:9/db --dry-run" \
	"upload results -d $TMP/data -a $TMP/archive --target store" \
	"upload file $TMP/upload.log --target s3:bucket/key --dry-run" "fetch azure-table:perf --dry-run" "stats usage" "results tests" "top --once" \
	"mcp" "dump" "report -o $TMP/report.html" "trace --format json -o $TMP/trace"; do
	# shellcheck disable=SC2086 # words
	AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret AZURE_STORAGE_ACCOUNT=account AZURE_STORAGE_KEY=a2V5 \
		poolscope $command -p acct/pool --log debug >"$TMP/printed" 2>&1 </dev/null || head "$TMP/printed"
	grep 'Landlock' "$TMP/printed" | head -n 1 >>"$TMP/uploads.log"
done

# What is imported is a stranger's.
row() {
	printf '{"PartitionKey": "acct$pool", "RowKey": "%s", "Event": "test:import", "NodeId": "n"}\n' "$1"
}
imports() {
	timeout 30 poolscope-import --log debug -p acct/pool "$@" >"$TMP/printed" 2>&1
	_status=$?
	cat "$TMP/printed" >>"$TMP/import.log"
	return "$_status"
}
row 1700000000.1 >"$TMP/rows"
ln -s "$TMP/rows" "$TMP/link"
check "import reads a file" imports cascade "$TMP/rows"
check "... and one that a link leads to" imports cascade "$TMP/link"
row 1700000000.2 >"$TMP/copied"
check "... and standard input, of which it makes a copy" imports cascade - <"$TMP/copied"
mkfifo "$TMP/pipe"
cat "$TMP/copied" >"$TMP/pipe" &
check "... and a pipe with a name" imports cascade "$TMP/pipe"
check "... and one without" sh -c 'cat "$TMP/rows" | timeout 30 poolscope-import -p acct/pool --quiet cascade /dev/fd/3 3<&0 </dev/null'
mkdir "$TMP/runs"
mkfifo "$TMP/runs/events.jsonl"
check_status 1 "a pipe in a directory is not waited for" imports testrun "$TMP/runs"
check "... and refused by its name" grep -q 'runs/events.jsonl: is not a regular file' "$TMP/printed"

# ---- what is closed
if grep -q 'no Landlock' "$TMP/aggregator.log"; then
	echo "SKIPPED what Landlock closes: not of this kernel, or not known to valgrind"
else
	for service in $services upload; do
		check "the $service reports its sandbox" grep -q 'file access is restricted' "$TMP/$service.log"
	done
	check_text "so does each command that sends, fetches or shows" 12 "$(grep -c 'file access is restricted' "$TMP/uploads.log")"
	check_text "so does each import" 5 "$(grep -c 'file access is restricted' "$TMP/import.log")"
	rm "$TMP/runs/events.jsonl"
	ln -s "$elsewhere/poolscope.conf" "$TMP/runs/events.jsonl"
	check_status 1 "what a link in a directory leads to is not imported" imports testrun "$TMP/runs"
	check "... and the message says so" grep -q 'runs/events.jsonl: Permission denied' "$TMP/printed"
	ln -s "$elsewhere/poolscope.conf" "$DIR/poolscope.conf"
	for service in $services; do
		check "a configuration that leads elsewhere is not read by the $service" \
			reload "$service" 'poolscope.conf: cannot be read: Permission denied'
	done
	rm "$DIR/poolscope.conf"
fi

# ---- what stays open
poolscope-emit test begin --wait stored
echo 'log = "debug"' >"$DIR/poolscope.conf"
for service in $services; do
	check "a configuration that came later is read by the $service" \
		reload "$service" 'configuration reloaded'
done
check "keys are made later" sh -c 'poolscope keys new server --role server &&
	poolscope keys new ada --role reader -o "$TMP/ada.key"'
kill -HUP "$(pid aggregator)"
check "... and known to the aggregator" wait_until '[ "$(keys_known)" -ge 1 ]'
before=$(segments)
check "events fill more than one segment of the spool" sh -c \
	'seq 4000 | sed "s/^/test fill --message /" | poolscope-emit --stdin'
check "... and all are stored" wait_until '[ "$(poolscope-dump -p acct/pool --format jsonl --name test:fill --quiet | wc -l)" -eq 4000 ]' 60
check "segments come and go" wait_until '[ "$(segments)" -gt '"$before"' ]'
check "samples of this host are stored" wait_until \
	'[ "$(poolscope-dump -p acct/pool --format jsonl --kind sample --quiet | wc -l)" -gt 20 ]' 30
echo 'left_here 17' >"$DIR/metrics.d/left.prom"
check "numbers in files are stored" wait_until 'poolscope-dump -p acct/pool --format jsonl --kind entity --quiet | grep -q left_here' 30
kill -STOP "$(pid agent)"
poolscope-emit --socket "$TMP/nobody" -p acct/pool -n node1 test dropped 2>/dev/null
kill -CONT "$(pid agent)"
check "an event in the fallback queue is taken" wait_until \
	'[ "$(poolscope-dump -p acct/pool --format jsonl --name test:dropped --quiet | wc -l)" -eq 1 ]' 30
check "a backup is made while it runs" poolscope backup "$TMP/copy"
for service in web receiver agent broker aggregator; do
	stop "$service"
	check_text "the $service ends with 0" 0 "$STATUS"
	check_status 1 "... and was refused nothing that it asked for" \
		grep -E 'EACCES|EPERM|not permitted|warn .*denied' "$TMP/$service.log"
done
start aggregator poolscope-aggregator || exit 1
check "it starts again inside its sandbox" poolscope-stats status
stop aggregator
check "the store is whole" poolscope-admin verify
