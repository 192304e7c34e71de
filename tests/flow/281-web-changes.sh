#!/bin/sh
# What answers of poolscope-web owe to time, and to what changes while they are looked at:
#
# A window that is relative moves: `from=-8s` has an event of 20 s ahead, and has not 28 s later.
# A window that is empty is refused, by the web with 400 and by each command with 2.
# A stream: after the aggregator was stopped and goes on, one reset says that all may have changed,
# and then nothing, since nothing changes.  It ends when its token is limited to another pool.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"

aggregate_steps
start web poolscope-web --listen 127.0.0.1:0 || exit 1
wait_until "grep -qo 'http://[^ ]*#k=[^ ]*' '$TMP/web.log'" || exit 1
address=$(grep -o 'http://[^ ]*#k=[^ ]*' "$TMP/web.log" | head -n 1)
origin=${address%%/#*}
token=${address#*#k=}
ask() {
	curl -sS -o "$TMP/answer" -w '%{http_code}\n' -H "Authorization: Bearer $token" "$origin/v1/$1"
}

# ---- a relative window
BASE=$(date +%s)
records <<-'END'
	event 20 n1 work:start
	event 20.5 n1 work:end
END
counted() {
	ask "pools/acct%24pool/phases?from=-8s" >"$TMP/status"
	python3 -c 'import json, sys
print(sum(row["count"] for row in json.load(open(sys.argv[1]))["rows"]))' "$TMP/answer" 2>/dev/null || echo none
}
check "a phase that is not past is since 8 s ago" test "$(counted)" = 1
check "... and has left them later" wait_until '[ "$(counted)" != 1 ]' 30
check_text "... as of all times it has not" 1 "$(ask 'pools/acct%24pool/phases' >/dev/null
	python3 -c 'import json, sys
print(sum(row["count"] for row in json.load(open(sys.argv[1]))["rows"]))' "$TMP/answer")"

# ---- an empty window
check_text "the web refuses an empty window" 400 "$(ask 'pools/acct%24pool/phases?from=100&to=100')"
check_text "... and one that ends before it begins" 400 "$(ask 'pools/acct%24pool/phases?from=100&to=90')"
for command in "stats phases" "stats samples" "stats starts" "stats runs" "plot phases -o $TMP/p.svg" \
	"trace -o $TMP/t.json" dump "report -o $TMP/r.html" "results timings //t BM" "upload events --target influx:http://127.0.0.1:9"; do
	# shellcheck disable=SC2086 # words
	wrong_usage "${command%% -*}: an empty window" "--from: the time is not before that of --to" \
		"poolscope-${command%% *}" ${command#"${command%% *}"} -p 'acct$pool' --from 100 --to 100
done

# ---- a stream
cat >"$TMP/stream.py" <<'END'
import sys, time, urllib.request
origin, token, to = sys.argv[1:]
request = urllib.request.Request(origin + "/v1/live?pool=acct%24pool", headers={"Authorization": "Bearer " + token})
with urllib.request.urlopen(request) as stream, open(to, "w") as log:
    for line in stream:
        if line.startswith(b"event: "):
            print(time.time(), line[7:].decode().strip(), file=log, flush=True)
    print(time.time(), "end", file=log, flush=True)
END
events() {
	cut -d ' ' -f 2 "$TMP/events" 2>/dev/null | xargs
}
limited=$(poolscope-keys token ada -p 'acct$*')
serve stream /usr/bin/python3 "$TMP/stream.py" "$origin" "$limited" "$TMP/events"
check "a stream begins" wait_until '[ "$(events)" = reset ]' 30
kill -STOP "$(pid aggregator)"
check "the aggregator does not answer" wait_until '[ "$(events)" = "reset silent" ]' 60
kill -CONT "$(pid aggregator)"
check "it answers again" wait_until '[ "$(events)" = "reset silent reset" ]' 60
AGAIN=$(tail -n 1 "$TMP/events" | cut -d . -f 1)
export AGAIN
wait_until '[ "$(date +%s)" -gt "$((AGAIN + 3))" ]' 30
check_text "then nothing comes, since nothing changed" "reset silent reset" "$(events)"
sed 's/acct\$\*/other$*/' "$DIR/keys/tokens" >"$TMP/tokens"
check "the token is another pool's" grep -q 'other\$\*' "$TMP/tokens"
cat "$TMP/tokens" >"$DIR/keys/tokens"
check "its stream ends" wait_until '[ "$(events)" = "reset silent reset end" ]' 60
stop web
stop aggregator
