#!/bin/sh
# Records of jobs and users, of jobs that `poolscope job` starts and ends as prolog and epilog of a batch
# system do, asked of an aggregator by name, of its store and by URL: the same answers.
# Job 7 of ada runs around one of two spans, job 8 of bob begins behind it and runs.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
export POOLSCOPE_PARTITION=acct/render
reader=ipc://$DIR/run/reader.ipc

# web: start the page; sets port and token.
web() {
	: >"$TMP/web.log"
	start web poolscope-web --listen 127.0.0.1:0 || return 1
	wait_until 'grep -q "^http://" "$TMP/web.log"'
	port=$(sed -n 's|^http://127.0.0.1:\([0-9]*\)/#k=.*|\1|p' "$TMP/web.log")
	token=$(sed -n 's|^http://.*/#k=||p' "$TMP/web.log")
}
start aggregator poolscope-aggregator || exit 1
start agent poolscope-agent --no-samples --no-clock --broker "ipc://$DIR/run/intake.ipc" -n cn001 || exit 1
check "a job starts" poolscope job start 7 --attr user=ada --wait stored
check "a command of it runs" poolscope run --name of-7 -- true
check "the job ends" poolscope job stop 7 --wait stored
check "the next one starts" poolscope job start 8 --attr user=bob --wait stored
check "a command of that runs" poolscope run --name of-8 -- true
check "both are there" wait_until '[ "$(poolscope-stats spans --format csv 2>/dev/null | grep -c "^of-[78],")" = 2 ]' 30

# names COMMAND...: the names of the spans in a JSON answer.
names() {
	"$@" >"$TMP/json" || return
	/usr/bin/python3 -c 'import json, sys
print(*[row["name"] for row in json.load(open(sys.argv[1]))["rows"]])' "$TMP/json"
}
# get PARAMETERS: the route's answer.
get() {
	/usr/bin/python3 -c 'import sys, urllib.error, urllib.request
request = urllib.request.Request("http://127.0.0.1:%s/v1/pools/acct%%24render/%s" % tuple(sys.argv[1:3]),
                                 headers={"Authorization": "Bearer " + sys.argv[3]})
try:
    print(urllib.request.urlopen(request, timeout=60).read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode().replace(chr(10), " "))' "$port" "$1" "$token"
}
# same WANTED OPTION VALUE: of all whom one can ask.
same() {
	check_text "of $2 $3 by name" "$1" "$(names poolscope-stats spans --connect "$reader" "--$2" "$3" \
		--format json)"
	check_text "... by URL" "$1" "$(names get "spans?$2=$3")"
	check_text "... as records" "$1" "$(poolscope-dump --kind span "--$2" "$3" --format jsonl | grep -o "of-[78]" | sort -u)"
}
web || exit 1
same of-7 job 7
same of-8 job 8
same of-7 user ada
same of-8 user bob
check_text "all, after questions of jobs" "of-7 of-8" "$(names get "spans" | tr ' ' '\n' | sort | xargs)"
get "phases?job=77" >"$TMP/refused"
check "a job that is not there is none by URL, with the one that is near" grep -q "^404 .*no job '77' in partition acct.render; did you mean 7?" "$TMP/refused"
get "nodes?job=7" >"$TMP/refused"
check "a question without jobs has no such parameter" grep -q "^400 .*'job' does not exist here" "$TMP/refused"
check "a trace of a user" poolscope-trace --user bob -o "$TMP/bob.json"
check_text "... has the spans of his job" "of-8" "$(grep -o 'of-[78]' "$TMP/bob.json" | sort -u | xargs)"
check "a picture of a job's phases" poolscope-plot phases --model job --job 7 --no-png -o "$TMP/pictures"
check_status 1 "a picture of no job" poolscope-plot phases --model job --job 77 --no-png -o "$TMP/pictures"
stop web
stop agent
stop aggregator
check_text "from the store" "of-7" "$(names poolscope-stats spans --store "$DIR/store" --user ada --format json)"
