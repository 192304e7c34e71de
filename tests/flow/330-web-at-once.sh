#!/bin/sh
# No answer of the page has anything of another one: 8 clients ask all routes of two pools
# at once, and every answer is what the command prints, which runs alone.  The names of each
# pool are its own, so that a name of the other one shows.  No answer is kept from before.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
# The thread sanitizer shall see what snprintf and memcpy write, too.
export TSAN_OPTIONS="${TSAN_OPTIONS:-} ignore_noninstrumented_modules=0"
rounds=$((${ROUNDS:-300} / 60 + 2))

# start_of POOL: nodes that start up with images, of which some are never complete; what they
# sampled, ran and reported.  Lines of tests/scenario/records.py.
start_of() {
	awk -v pool="$1" -v base="$2" 'BEGIN { long = pool; while (length(long) < 150) long = long "." pool; for (n = 1; n <= 12; n++) {
		print "----"
		node = pool "-node-" n
		print "event " base + n, node, "nodeprep:start"
		print "event " base + 10 + n, node, "nodeprep:end"
		print "event " base + 11 + n, node, "cascade:start"
		print "event " base + 12 + n, node, "cascade:gr-done"
		for (i = 1; i <= 30; i++) {
			image = " img=" long "/image-of-" pool "-" i
			at = base + 20 + n + i
			print "event " at, node, "cascade:pull-start" image
			print "event " at + i / 7, node, "cascade:pull-end" image
			print "event " at + i / 7, node, "cascade:torrent-start" image
			if ((n + i) % 3)
				print "event " at + i / 3, node, "cascade:load-start" image
			if ((n + i) % 3 == 1)
				print "event " at + i / 2, node, "cascade:load-end" image
		}
		print "span", base + n, base + n * n, node, pool "-track", pool "-span-" n % 4
		print "group", node, "cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter system.cpu.time.idle:cs:counter system.cpu.logical.count:{cpu}:gauge"
		print "group", node, "app/" pool, "app.load:1:gauge"
		for (t = 0; t < 600; t += 10) {
			print "sample", base + t, node, "cpu 7", t * n, t * (100 - n), 1
			print "sample", base + t, node, "app/" pool, t % 90 + n
		}
		print "group", node, "clock poolscope.clock.offset:ns:gauge poolscope.clock.error:ns:gauge poolscope.clock.drift:ns/s:gauge poolscope.clock.drift.error:ns/s:gauge poolscope.clock.round_trip:ns:gauge poolscope.clock.generation:1:gauge poolscope.clock.generation.begin:ns:gauge"
		print "sample", base + 5, node, "clock", n * 1000, 1000, 0, 0, 2000, 1, "1699999000000000000"
		print "entity", node, "run", pool "-run-" n, "device_group=" pool "-phones"
		print "event " base + 100, node, "run:flash_start run=" pool "-run-" n
		print "event " base + 100 + n, node, "run:flash_end run=" pool "-run-" n
	} }'
}

# web [OPTION...]: start it; sets port and token.
web() {
	: >"$TMP/web.log"
	start web poolscope-web --listen 127.0.0.1:0 "$@" || return 1
	wait_until 'grep -q "^http://" "$TMP/web.log"'
	PORT=$(sed -n 's|^http://127.0.0.1:\([0-9]*\)/#k=.*|\1|p' "$TMP/web.log")
	TOKEN=$(sed -n 's|^http://.*/#k=||p' "$TMP/web.log")
	export PORT TOKEN
}

# wanted [ages STATUS] ROUTE COMMAND...: what the route shall answer.
wanted() {
	_ages='' _exits=0
	[ "$1" != ages ] || { _ages="ages	" _exits=$2; shift 2; }
	_route=$1
	shift
	count=$((count + 1))
	check_status "$_exits" "$*" "$@"
	cp "$TMP/out" "$TMP/wanted.$count"
	printf '%s/v1/%s\t%s\n' "$_ages" "$_route" "$TMP/wanted.$count" >>"$TMP/routes"
}

# routes POOL
routes() {
	pool="acct\$$1" route="pools/acct%24$1"
	for topic in phases "phases --by node" "phases --by node --sort max --top 3" cascade starts samples \
		"samples --by node" breakdown "breakdown --rows 5" timeline "series -m app.load" "series -m app.load --as bands" \
		usage spans "spans --by track"; do
		# "topic --name value -m value" as topic?name=value&metric=value
		address=$(echo "$topic" | sed 's/ -m / --metric /; s/ --/?/; s/ --/\&/g; s/ /=/g')
		# shellcheck disable=SC2086 # words
		wanted "$route/$address" poolscope-stats $topic -p "$pool" --format json
	done
	wanted "$route/runs" poolscope-stats runs -p "$pool" --format json
	wanted "$route/runs?run=$1-run-3" poolscope-stats runs --run "$1-run-3" -p "$pool" --format json
	wanted "$route/groups" poolscope-stats groups -p "$pool" --format json
	wanted "$route/results" poolscope-results tests -p "$pool" --format json
	wanted ages 0 "$route/nodes" poolscope-stats nodes -p "$pool" --format json
	wanted ages 0 "$route/clocks" poolscope-stats clocks -p "$pool" --format json
	check "a trace of $pool" poolscope-trace -q -p "$pool" --nodes worst:8 --max-size 32MiB -o "$TMP/$1.pftrace"
	printf '/v1/%s/trace\t%s\n' "$route" "$TMP/$1.pftrace" >>"$TMP/routes"
}

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
for pool in one another; do
	start_of "$pool" $((${#pool} * 100)) |
		/usr/bin/python3 "$ROOT/tests/scenario/records.py" "ipc://$DIR/run/intake.ipc" "acct\$$pool" || exit 1
	mkdir "$TMP/archive-$pool"
	check "results" poolscope-generate results -q --seed "${#pool}" --files 6 --tests "${#pool}" --entries 2 -o "$TMP/results-$pool"
	check "... are stored" poolscope-upload results -q -d "$TMP/results-$pool" -a "$TMP/archive-$pool" --target store -p "acct\$$pool"
done
check "all of it is indexed" wait_until indexed 60
count=0
routes one
routes another
check "names of images are in an answer" grep -q "image-of-one-7" "$TMP/wanted.4"
check "... and what lacks" /usr/bin/python3 -c 'import json, sys
rows = json.load(open(sys.argv[1]))["incomplete"]
sys.exit(not any(row["event"] == "cascade:load-start" and row["image"].endswith("one/image-of-one-4") for row in rows))' "$TMP/wanted.4"

web --request-rate 0 --cache-bytes 0 || exit 1
check "8 clients at once get what one gets" timeout $((200 * SLOW)) \
	/usr/bin/python3 "$ROOT/tests/flow/web_client.py" at_once 8 "$rounds" "$TMP/routes"
stop web
check_text "and the page stops well" 0 "$STATUS"

# ---- what is kept does not age ----
web --request-rate 0 || exit 1
# ages ROUTE: its answer is another one a second later, though no record came.
ages() {
	client() { /usr/bin/python3 "$ROOT/tests/flow/web_client.py" get "/v1/pools/acct%24one/$1"; }
	client "$1" >"$TMP/first" && wait_until "client $1 >'$TMP/later' && ! cmp -s '$TMP/later' '$TMP/first'"
}
check "the age of a clock's estimate is that of now" ages clocks
check "so is a node's silence" ages nodes
