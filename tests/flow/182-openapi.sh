# exporters/web/openapi.json, run: each of its requests against a store that has everything
# that it asks for; its routes, parameters and statuses are those of the program.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
pool=prodacct\$render-60
farm=acct\$farm
bench=acct\$benches
file=$ROOT/exporters/web/openapi.json

# openapi WORD...: openapi.py, with the address and the token of the newest poolscope-web.
openapi() {
	PORT=$port TOKEN=$token timeout $((60 * SLOW)) /usr/bin/python3 "$ROOT/tests/flow/openapi.py" "$file" "$@"
}

# web [OPTION...]: start it; sets port and token.
web() {
	: >"$TMP/web.log"
	start web poolscope-web --listen 127.0.0.1:0 "$@" || return 1
	wait_until 'grep -q "^http://" "$TMP/web.log"'
	port=$(sed -n 's|^http://127.0.0.1:\([0-9]*\)/#k=.*|\1|p' "$TMP/web.log")
	token=$(sed -n 's|^http://.*/#k=||p' "$TMP/web.log")
}

# A job on s1 of half an hour, with samples and a clock; two spans of other nodes.
records() {
	cat <<-'END'
		span 0 5 n1 build compile text=flip-this-one
		span 1 6 n2 build link
		event 0 s1 job:start job=job-1 user=user-1
		event 1700 s1 job:end job=job-1
		event 0 n1 job:start job=job-3 user=user-1
		event 9 n1 job:stop job=job-3
		group s1 cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter
		group s1 app/x app.load:1:gauge
		group s1 clock poolscope.clock.offset:ns:gauge poolscope.clock.error:ns:gauge poolscope.clock.drift:ns/s:gauge poolscope.clock.drift.error:ns/s:gauge poolscope.clock.round_trip:ns:gauge poolscope.clock.generation:1:gauge poolscope.clock.generation.begin:ns:gauge
		sample 5 s1 clock 1000 200 3 1 400 1 1700000000000000000
	END
	awk 'BEGIN { for (t = 0; t < 1800; t += 10) {
		print "sample " t " s1 cpu 7 " t
		print "sample " t " s1 app/x " 1000 + t
	} }'
}

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
check "a pool" poolscope-import cascade "$ROOT/deploy/demo/render-60.jsonl"
check "a farm" poolscope-generate testrun --runs 60 --base now -p "$farm"
records | /usr/bin/python3 "$ROOT/tests/scenario/records.py" "ipc://$DIR/run/intake.ipc" "$pool"
check "results" sh -c 'mkdir "$0/archive" && poolscope-generate results -q --files 8 --tests 2 --entries 2 -o "$0/results" &&
	poolscope-upload results -q -d "$0/results" -a "$0/archive" --target store -p "$1"' "$TMP" "$bench"
wait_until indexed
web || exit 1
check "each request of the file gets what the file says" openapi requests
check "... and each route its other statuses" openapi statuses
check "routes and parameters are those of the program and of the text" openapi sets "$ROOT/exporters/web/api.md"
stop web
web --assets "$TMP" || exit 1
check "who changes the page has the file, too" openapi requests
stop web
web --connect "ipc://$TMP/nobody.ipc" || exit 1
check "without a source" openapi refused 503 /v1/pools
check "... also of a pool" openapi refused 503 "/v1/pools/{pool}/phases"
stop web
stop broker
stop aggregator
flip_bit
web || exit 1
check "what is damaged is an error" openapi refused 500 "/v1/pools/{pool}/spans"
stop web
