# poolscope-web: each route gives what the command prints; who may ask; what is
# wrong with a request, in one sentence; clients that are slow, many or rude.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
pool=prodacct\$render-60
farm=acct\$farm
POOL=prodacct%24render-60
FARM=acct%24farm
bench=acct\$benches
BENCH=acct%24benches

# client WORD [ARGUMENT...]: web_client.py, with the address and the token.
client() {
	PORT=$port TOKEN=$token timeout $((60 * SLOW)) python3 "$ROOT/tests/flow/web_client.py" "$@"
}

# same ROUTE COMMAND...: the route gives the bytes that the command prints.
same() {
	route=$1
	shift
	client get "/v1/$route" >"$TMP/got" 2>"$TMP/err" || : >"$TMP/got"
	"$@" --format json >"$TMP/wanted" 2>>"$TMP/err" || echo "exit status $?" >>"$TMP/wanted"
	cmp "$TMP/wanted" "$TMP/got" >>"$TMP/err" 2>&1
	check "$route is what $* prints" cmp "$TMP/wanted" "$TMP/got"
}

# alike ROUTE COMMAND...: the same but for times and counters of now.
alike() {
	route=$1
	shift
	client get "/v1/$route" >"$TMP/got" 2>"$TMP/err" || : >"$TMP/got"
	"$@" --format json >"$TMP/wanted" 2>>"$TMP/err"
	check "$route is like what $* prints" client alike "$TMP/wanted" "$TMP/got"
}

# trace PARAMETERS OPTION...: the same of a trace, without a parameter the slowest 8 nodes.
trace() {
	route=pools/$POOL/trace$1
	shift
	client get "/v1/$route" >"$TMP/got" 2>"$TMP/err" || : >"$TMP/got"
	check "a trace, $*" poolscope-trace -p "$pool" --max-size 32MiB "$@" -o "$TMP/wanted.pftrace"
	check "$route is that trace" cmp "$TMP/wanted.pftrace" "$TMP/got"
}

# refused STATUS PATTERN TARGET: the answer has this status and one sentence.
refused() {
	check "$3 is refused" client refused "$1" "$2" "$3"
}

# samples: lines for tests/scenario/records.py: three nodes, half an hour.
samples() {
	awk 'BEGIN { for (n = 1; n <= 3; n++) {
		print "group s" n " cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter"
		print "group s" n " app/x app.load:1:gauge"
		for (t = 0; t < 1800; t += 10) {
			print "sample " t " s" n " cpu 7 " t * n
			print "sample " t " s" n " app/x " 1000 * n + t
		} } }'
}

# web [OPTION...]: start it; sets port and token.
web() {
	: >"$TMP/web.log"
	start web poolscope-web --listen 127.0.0.1:0 "$@" || return 1
	wait_until 'grep -q "^http://" "$TMP/web.log"'
	port=$(sed -n 's|^http://127.0.0.1:\([0-9]*\)/#k=.*|\1|p' "$TMP/web.log")
	token=$(sed -n 's|^http://.*/#k=||p' "$TMP/web.log")
}

# ---- it does not start ----
check_status 2 "an address that is none" poolscope-web --listen here
check_printed "which says what one is" "'here' is not an address such as 127.0.0.1:5580"
check_status 2 "an address for everybody" poolscope-web --listen 0.0.0.0:5580
check_printed "says what is missing" "can be reached from other machines.*--behind-proxy"
check_status 2 "a viewer that is no address" poolscope-web --perfetto-url 'javascript:alert(1)'
check_printed "which says what one is" "perfetto-url takes an address such as https://"
check_status 2 "nor with a quote" poolscope-web --perfetto-url 'https://x"y'
check_status 1 "behind a proxy without tokens" poolscope-web --listen 0.0.0.0:0 --behind-proxy
check_printed "says how to create one" "poolscope keys token NAME"
check_status 1 "a folder that is not there" poolscope-web --listen 127.0.0.1:0 --assets "$TMP/none"

# ---- each route is what its command prints ----
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
check "a pool" poolscope-import cascade "$ROOT/deploy/demo/render-60.jsonl"
check "a farm" poolscope-generate testrun --runs 30 --base now -p "$farm"
samples | /usr/bin/python3 "$ROOT/tests/scenario/records.py" "ipc://$DIR/run/intake.ipc" "$pool"
check "results" sh -c 'mkdir "$0/archive" && poolscope-generate results -q --files 8 --tests 2 --entries 2 -o "$0/results" &&
	poolscope-upload results -q -d "$0/results" -a "$0/archive" --target store -p "$1"' "$TMP" "$bench"
wait_until indexed
web || exit 1
routes() {
	same "pools/$POOL/phases" poolscope-stats phases -p "$pool"
	same "pools/$POOL/phases?by=node&sort=max&top=3" poolscope-stats phases -p "$pool" --by node --sort max --top 3
	same "pools/$POOL/phases?name=cascade%3Ap*&from=2017-01-01T00:00:00Z" \
		poolscope-stats phases -p "$pool" --name 'cascade:p*' --from 2017-01-01T00:00:00Z
	same "pools/$POOL/cascade" poolscope-stats cascade -p "$pool"
	same "pools/$POOL/starts" poolscope-stats starts -p "$pool"
	same "pools/$POOL/starts?gap=1s&newest=3&sort=nodes" poolscope-stats starts -p "$pool" --gap 1s --newest 3 --sort nodes
	same "pools/$POOL/phases?start=now&gap=1s" poolscope-stats phases -p "$pool" --start now --gap 1s
	same "pools/$POOL/breakdown?start=2017-10-16T00:05:52Z" poolscope-stats breakdown -p "$pool" --start 2017-10-16T00:05:52Z
	same "pools/$FARM/runs?newest=5" poolscope-stats runs -p "$farm" --newest 5
	same "pools/$FARM/runs?newest=5&after=7" poolscope-stats runs -p "$farm" --newest 5 --after 7
	same "pools/$FARM/runs?run=7" poolscope-stats runs --run 7 -p "$farm"
	same "pools/$FARM/groups" poolscope-stats groups -p "$farm"
	same "pools/$FARM/deltas?run=7&run=8" poolscope-stats deltas -p "$farm" --run 7 --run 8
	same "pools/$FARM/iterations?newest=2" poolscope-stats iterations -p "$farm" --newest 2
	same "pools/$FARM/skew" poolscope-stats skew -p "$farm"
	same "pools/$POOL/samples" poolscope-stats samples -p "$pool"
	same "pools/$POOL/samples?by=node&metric=app.*" poolscope-stats samples -p "$pool" --by node -m 'app.*'
	same "pools/$POOL/timeline?start=now" poolscope-stats timeline -p "$pool" --start now
	same "pools/$POOL/timeline?lanes=true&shape=columns" poolscope-stats timeline -p "$pool" --lanes --shape columns
	same "pools/$POOL/timeline?pixels=50&rows=7&order=longest&shape=columns" \
		poolscope-stats timeline -p "$pool" --pixels 50 --rows 7 --order longest --shape columns
	same "pools/$POOL/breakdown?rows=7&sort=begin" poolscope-stats breakdown --sort begin -p "$pool" --rows 7
	same "pools/$FARM/breakdown?model=testrun" poolscope-stats breakdown -p "$farm" --model testrun
	same "pools/$POOL/series?metric=app.load&step=5m&from=1700000000" poolscope-stats series -p "$pool" -m app.load --step 5m --from 1700000000
	same "pools/$POOL/series?metric=app.load&as=bands" poolscope-stats series -p "$pool" -m app.load --as bands
	same "pools/$POOL/series?metric=app.load&shape=columns&columns=mean,min" \
		poolscope-stats series -p "$pool" -m app.load --shape columns --columns mean,min
	same "pools/$POOL/usage" poolscope-stats usage -p "$pool"
	trace "" --nodes worst:8
	alike "pools/$FARM/nodes" poolscope-stats nodes -p "$farm"
	alike pools poolscope-stats pools
	alike status poolscope-stats status
}
routes
trace "?nodes=all" --nodes all
trace "?nodes=all&max-size=20KiB" --max-size 20KiB
trace "?nodes=all&node=s1&metric=app.*&from=1700000000&step=5m" -n s1 -m 'app.*' --from 1700000000 --step 5m
check "... which says what is in it" client shows "8 of 60 nodes" "/v1/pools/$POOL/trace"
check "... and what is not" client shows "^[0-9]+ of 63 nodes$" "/v1/pools/$POOL/trace?nodes=all&max-size=20KiB"
same "pools/$BENCH/results" poolscope-results tests -p "$bench"
test=$(poolscope-results tests -p "$bench" --format csv | tr -d '\r' | sed -n '2s/,.*//; 2p')
TEST=$(echo "$test" | sed 's|/|%2F|g; s|:|%3A|g')
same "pools/$BENCH/results?test=$TEST&limit=3" poolscope-results starts "$test" -p "$bench" --limit 3
same "pools/$BENCH/results?test=$TEST&entries=true" poolscope-results entries "$test" -p "$bench"
same "pools/$BENCH/results?test=$TEST&entry=BM_0&changes=true" poolscope-results changes "$test" BM_0 -p "$bench" --limit 1000
refused 400 "changes: name the test" "/v1/pools/$BENCH/results?test=$TEST&changes=true"
refused 400 "a name is empty" "/v1/pools/$BENCH/results?test="
refused 400 "test: name the test" "/v1/pools/$BENCH/results?entry=x"
check "metrics of Prometheus" client exposes "$bench" text/plain
check "... and as OpenMetrics" client exposes "$bench" application/openmetrics-text
check "compressed it is the same" client packed "/v1/pools/$POOL/cascade"
check "HEAD has the length and no body" client head "/v1/pools/$POOL/phases"
check "the page has its type" client type / "text/html"
check "healthz needs no token" client health
check "all answers have the headers that browsers heed" client security / /healthz /v1/status /v1/none

# ---- what is known is not sent again ----
check "an answer has a tag" client tagged "/v1/pools/$FARM/phases"
tag=$(cat "$TMP/out")
check "so has the page" client get /app.js
check "a run comes" poolscope-generate testrun -q --runs 1 --first 900 --base now -p "$farm"
check "... then it has another tag" client retagged "/v1/pools/$FARM/phases" "$tag"
check "an answer that ages" client get "/v1/pools/$FARM/nodes"

# ---- streams ----
check "a stream says what came" client live "$FARM" "$farm"
refused 404 "no partition acct.none" "/v1/live?pool=acct%24none"
refused 400 "live has one parameter, pool" /v1/live
check "no stream without a token" client status 401 "/v1/live?pool=$FARM" --token none
check "64 streams, and no more" client streams "$FARM"

# ---- one clear sentence ----
refused 404 "no such partition; did you mean $(echo "$farm" | sed 's/\$/\\$/')" "/v1/pools/acct%24frm/phases"
refused 404 "there is no 'phase' here; did you mean phases" "/v1/pools/$POOL/phase"
refused 404 "there is no 'statu' here; did you mean status" /v1/statu
refused 404 "no such route" /v1/pools/a/b/c/d
refused 404 "no such file" /none.js
refused 404 "no run '777'" "/v1/pools/$FARM/runs?run=777"
refused 404 "no node of partition .* is called 'x'" "/v1/pools/$FARM/nodes?node=x"
refused 400 "'tpo' does not exist here; did you mean .*top" "/v1/pools/$POOL/phases?tpo=3"
refused 400 "'x' does not exist here; there are by name" "/v1/pools/$POOL/phases?x"
refused 400 "'y' does not exist here; there are sort" /v1/status?y=1
refused 400 "sort: 'p98' is not one of phase, .*did you mean p90" "/v1/pools/$POOL/phases?sort=p98"
refused 400 "columns: 'help' is not one of phase, node, key, count" "/v1/pools/$POOL/phases?columns=help"
refused 400 "columns: 'help' is not one of test" "/v1/pools/$BENCH/results?columns=help"
refused 400 "^rows is at most 2000" "/v1/pools/$POOL/breakdown?rows=3000"
refused 400 "^metric is needed: name a metric" "/v1/pools/$POOL/series"
refused 400 "^step makes [0-9]+ steps of this time, and 4096 is the most: .* with from and to$" "/v1/pools/$POOL/series?metric=app.load&step=1s"
refused 400 "^model is empty: name a model" "/v1/pools/$POOL/breakdown?model="
refused 404 "^no samples of these metrics .run poolscope dump --kind entity --name.*did you mean app.load" "/v1/pools/$POOL/series?metric=app.laod"
refused 400 "^nodes takes all, or worst:K with K from 1 to 65536" "/v1/pools/$POOL/trace?nodes=worst:0"
refused 400 "^max-size: from 1 to 33554432 bytes" "/v1/pools/$POOL/trace?max-size=33MiB"
refused 400 "^max-size is too small" "/v1/pools/$POOL/trace?max-size=10"
refused 404 "the trace would be empty: .* ask for all nodes" "/v1/pools/$POOL/trace?node=s1"
refused 404 "no model cascad; did you mean cascade" "/v1/pools/$POOL/breakdown?model=cascad"
refused 400 "^top: " "/v1/pools/$POOL/phases?top=-1"
refused 400 "^from: " "/v1/pools/$POOL/phases?from=soon"
refused 400 "not before that of to" "/v1/pools/$POOL/phases?from=2017-01-02&to=2017-01-01"
refused 400 "by of phases must be one of pool.node.key, not '" "/v1/pools/$POOL/phases?by=pie"
refused 400 "by of phases must be one of pool.node.key, not '" "/v1/pools/$POOL/phases?by=track"
refused 400 "^node: " "/v1/pools/$POOL/phases?node=a%5B"
refused 400 "top is given twice" "/v1/pools/$POOL/phases?top=1&top=2"
check "pages of runs are the whole list" client paged "$FARM" 7
refused 410 "after: no run '777' is among these" "/v1/pools/$FARM/runs?newest=2&after=777"
refused 410 "after: no run '7' is among these" "/v1/pools/$FARM/runs?newest=2&after=7&group=none*"
refused 400 "after takes the id of a run" "/v1/pools/$FARM/runs?after=7"
refused 400 "newest is for all runs" "/v1/pools/$FARM/runs?run=7&newest=2"
refused 400 "% without two hexadecimal digits" "/v1/pools/%4/phases"
refused 400 "control character" "/v1/pools/a%00b/phases"
refused 400 "not UTF-8" "/v1/pools/a%ffb/phases"
refused 400 "the partition is empty" "/v1/pools//phases"
refused 400 "more than 64 parameters" "/v1/status?$(printf 'a&%.0s' $(seq 70))"
refused 404 "no such file" "/..%2f..%2fetc%2fpasswd"

# ---- who may ask ----
check "without a token nothing is answered" client status 401 /v1/status --token none
check "nor with another one" client status 401 /v1/status --token "Bearer 00"
check "nor as Basic" client status 401 /v1/status --token "Basic $token"
check "a token in the address is none" client status 401 "/v1/status?k=$token" --token none
check "another host's name is refused" client status 403 /v1/status --host evil.example
check "also with our address in front" client status 403 /v1/status --host 127.0.0.1.evil.example
check "and without one" client status 400 /v1/status --host none
check "localhost is ours" client status 200 /v1/status --host "localhost:80"
check "POST is not" client method POST 405
check "DELETE is not" client method DELETE 405
check "a request with a body gets nothing" client body
all=$token
check "a token for some pools" poolscope-keys token ada -p "acct\$*"
token=$(cat "$TMP/out")
same "pools/$FARM/runs?newest=5" poolscope-stats runs -p "$farm" --newest 5
refused 404 "no partition of this name that the token may read" "/v1/pools/$POOL/phases"
check "it sees only those" client lacks render /v1/pools /v1/status "/v1/pools/acct%24rendr-60/phases"
refused 403 "metrics are of all pools" /metrics
check "and they are listed" client has "$farm" /v1/pools /v1/status
# The farm: 32 runs of 10 events, two of which came meanwhile.
check "of the store it sees what they have" client limited
check "keys list has the token, not its secret" sh -c \
	'poolscope-keys list --format csv | grep -q "^ada,token,acct\$\*," && ! grep -q "$0" "$1"' "$token" "$DIR/keys/tokens"
refused 404 "that the token may read" "/v1/live?pool=$POOL"
check "revoked, its stream ends" client revoked "$FARM" ada
check "at once" client status 401 /v1/pools
printf 'bad line\n' >>"$DIR/keys/tokens"
token=$all
check "a bad list of tokens does not stop it" client status 200 /v1/pools
rm "$DIR/keys/tokens"

# ---- rude clients ----
client slow >"$TMP/slow" 2>&1 &
rude=$!
check "a head that is too large" client large
check "a target that is too long" client long
check "no HTTP at all" client garbage
check "clients that leave while they wait" client leave 200
check "clients that do not fetch" client unfetched "$(pid web)" "$POOL"
check "many questions at once" client burst 64 "/v1/pools/$POOL/phases"
check "slow clients are closed" wait "$rude"
# They are the first that make room.
check "1,000 connections, and a question among them" client crowd 1000
check "it still answers" client status 200 /v1/status
check_status 1 "the port is taken" poolscope-web --listen "127.0.0.1:$port"
check_printed "which says what to do" "taken by another process; choose another port"

# ---- without the aggregator ----
again="poolscope-aggregator >>'$TMP/aggregator.log' 2>&1 & echo \$! >'$TMP/aggregator.pid'"
check "a stream goes on with another aggregator" client crashed "$FARM" "$farm" "$(pid aggregator)" "$again"
kill -9 "$(pid aggregator)"
wait_until '! alive aggregator'
stop broker
check "without its aggregator it reads the store" client has "$farm" /v1/pools
routes
start aggregator poolscope-aggregator || exit 1
check "with it again it asks it" client has reader.ipc /v1/status
check "a clean log" sh -c '! grep -E " (error|warn) " "$0" | grep -v "tokens unchanged"' "$TMP/web.log"
stop web
check_text "it stops with 0" 0 "$STATUS"

# ---- only one aggregator to ask ----
web --connect "ipc://$DIR/run/reader.ipc" || exit 1
check "of a source that is silent a stream says so" client silenced "$FARM" "$(pid aggregator)" "$again"
stop web
kill -9 "$(pid aggregator)"

# ---- a browser ----
mkdir "$TMP/bin"
cat >"$TMP/bin/xdg-open" <<-END
	#!/bin/sh
	echo "\$#:\$1" >"$TMP/opened"
	cp "\$1" "$TMP/opened.html"
	stat -c %a "\$1" >"$TMP/opened.mode"
END
chmod +x "$TMP/bin/xdg-open"
path=$PATH
PATH=$TMP/bin:$PATH
web --open || exit 1
PATH=$path
check "a browser is started" wait_until '[ -s "$TMP/opened.mode" ]'
check_text "... with a file" "1:$DIR/run/web-$(pid web).html" "$(cat "$TMP/opened")"
check_text "... that only the user can read" 600 "$(cat "$TMP/opened.mode")"
check "... and that leads to the address" grep -q "url=http://127.0.0.1:$port/#k=$token" "$TMP/opened.html"
check "no process has the token as an argument" client hidden
stop web
check "the file is removed" test ! -e "$(cut -d: -f2 "$TMP/opened")"
wrong_usage "no browser for a socket" "open is for an address" poolscope-web --open --listen unix:x

# ---- a Unix socket, HUP ----
start web poolscope-web --listen "unix:$TMP/web.sock" || exit 1
check "a Unix socket of its own" sh -c 'test "$(stat -c %a "$0")" = 700 -o "$(stat -c %a "$0")" = 600' "$TMP/web.sock"
kill -HUP "$(pid web)"
wait_until 'grep -q "configuration reloaded" "$TMP/web.log"'
stop web KILL
start web poolscope-web --listen "unix:$TMP/web.sock" || exit 1
stop web
check_text "after a crash it starts again" 0 "$STATUS"
