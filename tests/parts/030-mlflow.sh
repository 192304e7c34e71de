#!/bin/sh
# Metrics, curves, parameters and files in a real MLflow server, read back by
# MLflow's own client.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"

need_python mlflow 'mlflow>=3,<4' || skip "pip cannot have MLflow"

SERVER=$(free_port 1)
PORT=$(free_port 1)
export MLFLOW_DISABLE_TELEMETRY=true DO_NOT_TRACK=true
export MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false
unset MLFLOW_TRACKING_USERNAME MLFLOW_TRACKING_PASSWORD MLFLOW_TRACKING_TOKEN

# server NAME PORT [OPTION...]: a server with a store of its own, in a process
# group of its own.
server() {
	_name=$1
	_port=$2
	shift 2
	serve "$_name" setsid "$PARTS/mlflow/bin/mlflow" server \
		--host 127.0.0.1 --port "$_port" --workers 1 \
		--backend-store-uri "sqlite:///$TMP/$_name.db" "$@"
	wait_until "curl -fs --max-time 5 http://127.0.0.1:$_port/health" 60
}

# end_server NAME: and whatever it started.
end_server() {
	! alive "$1" || kill -s KILL -- "-$(pid "$1")"
	stop "$1" KILL
}

end_all() {
	_ended=$?
	end_server mlflow
	end_server plain
	(exit "$_ended")
	_end
}
trap end_all EXIT

# through AUTHORIZATION: a proxy before the server that wants this; what came
# through is in $TMP/requests.
through() {
	! alive proxy || stop proxy KILL
	: >"$TMP/requests"
	serve proxy /usr/bin/python3 "$ROOT/tests/parts/proxy.py" "$PORT" \
		"$SERVER" "$TMP/requests" --manners "$TMP/manners" \
		${1:+--authorization "$1"}
	answers "http://127.0.0.1:$PORT/" proxy
}

upload() {
	MLFLOW_TRACKING_URI=http://127.0.0.1:$PORT \
		poolscope-upload metrics -p 'acct$perf' "$@"
}

# judge WORD [ARGUMENT...]: what MLflow's client says; see mlflow_judge.py.
judge() {
	MLFLOW_TRACKING_URI=http://127.0.0.1:$SERVER \
		"$PARTS/mlflow/bin/python" "$ROOT/tests/parts/mlflow_judge.py" \
		"$@"
}

perf() {
	poolscope-stats perf --format json -q -p 'acct$perf' "$@"
}

server mlflow "$SERVER" --serve-artifacts \
	--artifacts-destination "$TMP/artifacts" || exit 1
through "" || exit 1
start aggregator poolscope-aggregator --models "$ROOT/deploy/models" &&
	start broker poolscope-broker || exit 1
check "reports are imported" poolscope-import perf -p 'acct$perf' \
	"$ROOT/tests/golden/perf/r02_four_nodes/reports.json"
wait_until indexed

# ---- wrong usage is one line and 2
wrong_usage "metrics go to a run" "exactly one target: --target mlflow:RUN" poolscope-upload metrics --target s3:a/b
wrong_usage "a run has a name" "exactly one target: --target mlflow:RUN" poolscope-upload metrics --target mlflow:
wrong_usage "a parameter has a key" "is not KEY=VALUE" upload --target mlflow:a/b --param =x
wrong_usage "two files have two names" "two files have the name x" upload --target mlflow:a/b --artifact /a/x --artifact /b/x
wrong_usage "numbers have no step" "requires --style system" upload --target mlflow:a/b --step 1s
wrong_usage "curves have no prefix" "requires --style flat" upload --target mlflow:a/b --style system --prefix x

# ---- numbers
printf 'a picture\n' >"$TMP/a picture.png"
check "numbers, parameters and files are sent" upload --target mlflow:team/runs/first \
	--cpu-count 8 --param 'batch size=32' --param 'formula=a=b' \
	--artifact "$TMP/a picture.png"
check_printed "... and counted" ': 72 metrics, 2 parameters, 2 artifacts$'
RUN=$(sed -n 's/^run \([0-9a-f]*\):.*/\1/p' "$TMP/out")
check "the experiment has one run" judge runs team/runs
check_printed "... which has ended" "^$RUN first FINISHED$"
perf --cpu-count 8 --mlflow-names >"$TMP/wanted"
check "its numbers are those of poolscope-stats perf" judge metrics "$RUN" "$TMP/wanted"
check_printed "... all of them, once" '^72 points$'
check "its parameters are as given" judge params "$RUN" 'batch size=32' 'formula=a=b'
perf --save "$TMP/perf.json" >"$TMP/list"
check "its reports are as the older sampler saves them" judge artifact "$RUN" perf.json "$TMP/perf.json"
check "its picture is the file" judge artifact "$RUN" "a picture.png" "$TMP/a picture.png"

check "the same is sent once more" upload --target mlflow:team/runs/first \
	--cpu-count 8 --param 'batch size=32' --artifact "$TMP/a picture.png"
check_printed "... to the same run" "^run $RUN: "
check "and its numbers are the same" judge metrics "$RUN" "$TMP/wanted"
check_printed "... still once" '^72 points$'
check_text "the experiment still has one run" 1 "$(judge runs team/runs | wc -l)"
check "a run is named by its id, too" upload --target "mlflow:$RUN" --prefix 'p/' -n 2
check "the numbers of one node have a prefix" judge count "$RUN" p/max_t_mem_percent 1
LONG='a prefix that is far too long for these names/'
check "a long prefix cuts names" upload --target mlflow:team/long -n 2 --cpu-count 8 --prefix "$LONG"
LONG_RUN=$(sed -n 's/^run \([0-9a-f]*\):.*/\1/p' "$TMP/out")
perf -n 2 --cpu-count 8 --mlflow-names --prefix "$LONG" >"$TMP/wanted-long"
check "... and no two become one" judge metrics "$LONG_RUN" "$TMP/wanted-long"
check_printed "... of the eighteen" '^18 points$'

# ---- what cannot be
check_status 1 "a parameter stays what it is" upload --target "mlflow:$RUN" --param 'formula=c'
check_printed "... says MLflow" 'MLflow answers 400: INVALID_PARAMETER_VALUE: Changing param values'
check_status 1 "a run that is none is an error" upload --target mlflow:0123456789abcdef
check_printed "... with its id" 'RESOURCE_DOES_NOT_EXIST: Run with id=0123456789abcdef not found'
check_status 1 "a file that is not there is an error" upload --target mlflow:team/none --artifact "$TMP/none.png"
check_printed "... with its name" "none.png: No such file"
check_status 1 "so is a directory" upload --target mlflow:team/none --artifact "$TMP/i"
check_printed "... which is no file" "i: it is not a regular file"
check_status 1 "a pool without reports is an error" upload -p 'acct$none' --target mlflow:team/none
check_printed "... with its name" 'no reports of partition acct$none'
check_status 1 "without MLFLOW_TRACKING_URI nobody knows where to" \
	env -u MLFLOW_TRACKING_URI poolscope-upload metrics -p 'acct$perf' --target mlflow:a/b
check_printed "... and it says so" 'MLFLOW_TRACKING_URI must be set'
check_status 1 "a password does not stand in an address" \
	env MLFLOW_TRACKING_URI=http://me:word@127.0.0.1/ poolscope-upload metrics -p 'acct$perf' --target mlflow:a/b
check_printed "... but in its own variable" 'MLFLOW_TRACKING_PASSWORD'
: >"$TMP/requests"
check "a dry run shows what would be sent" upload --target mlflow:team/dry --param a=b --dry-run
check_printed "... the numbers" '"key": "max_t_mem_percent", "value": 93.9'
check_text "... and sends nothing" 0 "$(wc -l <"$TMP/requests")"

# ---- curves
check "samples become curves" upload --target mlflow:team/curves --style system --step 100ms
CURVES=$(sed -n 's/^run \([0-9a-f]*\):.*/\1/p' "$TMP/out")
check "each number of each report is a point" judge curves "$CURVES" "$TMP/perf.json"
check_printed "... and nothing else" '^946 points of 44 curves, each once$'
check "the same curves are sent once more" upload --target mlflow:team/curves --style system --step 100ms
check "... and nothing is there twice" judge curves "$CURVES" "$TMP/perf.json"
check_printed "... of the same run" '^946 points of 44 curves, each once$'
check "a part of the time is sent" upload --target mlflow:team/part --style system \
	--step 100ms -n 2 --from 1650000010 --to 1650000012
check_printed "... of one node" ': 22 points of curves'

# ---- many
: >"$TMP/requests"
/usr/bin/python3 -c 'import json, sys
one = json.load(open(sys.argv[1]))["0"][0]
print(json.dumps({str(n): [{**one, "timestamp": 1650000000 + i, "mem_percent": i % 100 + n / 8} for i in range(250)] for n in range(2)}))' \
	"$TMP/perf.json" >"$TMP/many.json"
check "500 reports are imported" poolscope-import perf -p 'acct$many' "$TMP/many.json"
wait_until indexed
printf 'late\npass\nstatus 429\nreset\nlate\nstatus 503\npass\nlate\nreset\n' >"$TMP/manners"
check "they are sent though connections break and answers get lost" \
	upload -p 'acct$many' --target mlflow:team/many --style system --step 1s
MANY=$(sed -n 's/^run \([0-9a-f]*\):.*/\1/p' "$TMP/out")
check "... and each is there once" judge curves "$MANY" "$TMP/many.json"
check_printed "... in the first run of that name" '^5500 points of 22 curves, each once$'
check_text "... all the bad manners were met" 0 "$(wc -l <"$TMP/manners")"
check_text "a request has at most 1 MB and 1000 points" "True 6" "$(/usr/bin/python3 -c 'import json, sys
r = [json.loads(l) for l in open(sys.argv[1])]
b = [x for x in r if x["path"].endswith("log-batch") and x["status"] == 200 and x["manner"] != "late"]
print(all(x["bytes"] <= 1000000 for x in b), len(b))' "$TMP/requests")"

# ---- who asks
through "Basic $(printf 'me:a word' | base64)" || exit 1
check_status 1 "a stranger is refused" upload --target "mlflow:$RUN"
check_printed "... with what the service says" '401'
check_status 1 "a password alone is not enough" env MLFLOW_TRACKING_PASSWORD=x sh -c \
	"MLFLOW_TRACKING_URI=http://127.0.0.1:$PORT poolscope-upload metrics -p 'acct\$perf' --target mlflow:$RUN"
check_printed "... and it says so" 'there is only one'
export MLFLOW_TRACKING_USERNAME=me MLFLOW_TRACKING_TOKEN=other
printf 'a word\n' >"$TMP/word"
export MLFLOW_TRACKING_PASSWORD_FILE="$TMP/word"
chmod 644 "$TMP/word"
check_status 1 "a password that others can read is refused" upload --target "mlflow:$RUN"
check_printed "... with what to do" 'chmod 600'
chmod 600 "$TMP/word"
check "a user and a password are let in" upload --target "mlflow:$RUN"
unset MLFLOW_TRACKING_USERNAME MLFLOW_TRACKING_PASSWORD_FILE
through 'Bearer a.token' || exit 1
check_status 1 "another token is refused" upload --target "mlflow:$RUN"
check_text "... and never shown" "" "$(cat "$TMP/out" "$TMP/err" | grep -e other)"
MLFLOW_TRACKING_TOKEN=a.token
check "a token is let in" upload --target "mlflow:$RUN"
check "a dry run shows no token" upload --target "mlflow:$RUN" --param a=b --dry-run
check_text "... nowhere" "" "$(cat "$TMP/out" "$TMP/err" | grep -e a.token)"
unset MLFLOW_TRACKING_TOKEN

# ---- a server that does not pass artifacts on
end_server mlflow
server plain "$SERVER" --no-serve-artifacts \
	--default-artifact-root "$TMP/elsewhere" || exit 1
through "" || exit 1
check_status 1 "artifacts that the server does not pass on are an error" upload --target mlflow:team/plain
check_printed "... that says where they are, and what to do" "are stored at .*/elsewhere/.* --serve-artifacts"
check "curves need no artifacts" upload --target mlflow:team/plain --style system
