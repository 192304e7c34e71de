#!/bin/sh
# What poolscope-archive makes of a wrong command line, of a password that others
# can read, of a place where nobody is, and of one who is not ClickHouse.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

# Nobody listens at port 1.
here=clickhouse://127.0.0.1:1/pool
printf 'secret words\n' >"$TMP/password"
chmod 600 "$TMP/password"

wrong_usage "a verb is needed" "poolscope-archive" poolscope-archive --to "$here"
wrong_usage "it is one of four" "check" poolscope-archive chekc --to "$here"
wrong_usage "an address is needed" "--to" poolscope-archive check
wrong_usage "... with its scheme" "does not begin with clickhouse://" \
	poolscope-archive check --to http://127.0.0.1:1/pool
wrong_usage "... with a database" "has no database" \
	poolscope-archive check --to clickhouse://127.0.0.1:1
wrong_usage "... that is a name" "is not a name" \
	poolscope-archive check --to 'clickhouse://127.0.0.1:1/pool;DROP'
wrong_usage "... without a password" "has a password" \
	poolscope-archive check --to clickhouse://writer:hunter2@127.0.0.1:1/pool
check_status 1 "... which is not shown" grep -q hunter2 "$TMP/err"
wrong_usage "plain HTTP stays on this machine" "others can read" \
	poolscope-archive check --to clickhouse://192.0.2.1/pool
wrong_usage "... all of it" "others can read what goes to 192.0.2.1" \
	poolscope-archive check --to clickhouse://127.0.0.1,192.0.2.1/pool
wrong_usage "... though it has no certificates" "clickhouses://" \
	poolscope-archive check --to "$here" --archive-cacert "$TMP/password"
wrong_usage "an answer has one of some formats" "table|json|jsonl|csv|md" \
	poolscope-archive create --to "$here" --format yaml
wrong_usage "... and some columns" "'tables' is not one of shard, replica, created" \
	poolscope-archive create --to "$here" --columns tables
wrong_usage "drop must be confirmed" "confirm it with --yes" \
	poolscope-archive drop --to "$here"

wrong_usage "a reader names the database, too" "has no database" \
	poolscope-dump -p a/b --connect clickhouse://127.0.0.1:1
wrong_usage "... no password" "has a password" \
	poolscope-stats pools --connect clickhouse://reader:hunter2@127.0.0.1:1/pool
check_status 1 "... which is not shown" grep -q hunter2 "$TMP/err"
wrong_usage "... and reads by plain HTTP on this machine only" "others can read" \
	poolscope-web --connect clickhouse://192.0.2.1/pool
check_status 1 "an archive where nobody is cannot be read" \
	poolscope-dump -p a/b --connect "$here"
check_text "... which is one sentence" 1 "$(wc -l <"$TMP/err")"
check_printed "... with the place" "clickhouse://127.0.0.1:1"
for option in "--listen ipc:///tmp/x" "--store $TMP/x" "--retain 3d" "--archive $here" "--archive-after 1s"; do
	# shellcheck disable=SC2086 # an option and its value
	wrong_usage "a gateway has no ${option%% *}" "archive-only has none" \
		poolscope-aggregator --archive-only "$here" $option
done
wrong_usage "a gateway needs the name of the database" "archive-only: the address has no database" \
	poolscope-aggregator --archive-only clickhouse://127.0.0.1:1
check_status 1 "a gateway to nobody ends" poolscope-aggregator --archive-only "$here"
check_printed "... with the place" "127.0.0.1:1"

chmod 640 "$TMP/password"
wrong_usage "a password that others can read is not used" "archive-password" \
	poolscope-archive check --to "$here" --archive-password "$TMP/password"
check_status 1 "... nor shown" grep -q 'secret words' "$TMP/err"
chmod 600 "$TMP/password"
wrong_usage "a password must be somewhere" "archive-password" \
	poolscope-archive check --to "$here" --archive-password "$TMP/nowhere"

# one VERB ADDRESS: fails in one sentence.
one() {
	check_status 1 "$1 fails where $3" timeout 60 poolscope-archive "$1" --to "$2" \
		--archive-password "$TMP/password"
	check_text "... in one sentence" "1 0" "$(wc -l <"$TMP/err") $(wc -l <"$TMP/out")"
}
for verb in create check owners; do
	one "$verb" "$here" "nobody is"
done
check_printed "... with the place" "127.0.0.1:1"
one check clickhouses://no-such-host.invalid/pool "no host is"
/usr/bin/python3 -c 'import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"hello\n")
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open(sys.argv[1], "w").write(str(server.server_address[1]))
server.serve_forever()' "$TMP/port" >"$TMP/other.log" 2>&1 &
echo $! >"$TMP/other.pid"
STARTED="$STARTED other"
wait_until '[ -s "$TMP/port" ]' || exit 1
one check "clickhouse://127.0.0.1:$(cat "$TMP/port")/pool" "another service is"
check_printed "... which is not ClickHouse" "is not a ClickHouse server"
