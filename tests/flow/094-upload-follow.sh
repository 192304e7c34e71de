#!/bin/sh
# poolscope-upload --follow: a follower that is killed at any time, to a service
# that is unwell, sends every record once by the names of its requests.
#
#	SEED=N	the same kills and the same faults
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/web.sh
. "$ROOT/tests/flow/web.sh"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
pool='acct$follow'
seed=${SEED:-$(date +%s)}
kills=${KILLS:-$((${ROUNDS:-150} / 10))}
many=${EVENTS:-$((2400000 / (${SHARE:-1} * 100)))}
echo "seed $seed"
echo "$kills kills, $many events"

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
start agent poolscope-agent --period 100ms --no-clock -p "$pool" -n node1 || exit 1
web_start web --random "$seed" 30 || exit 1
url=$(web_url web)/in

# follow [OPTION...]: a follower in the background.
follow() {
	poolscope-upload events -p "$pool" --target "http:$url" --follow "$@" >>"$TMP/follow.log" 2>&1 &
	echo $! >"$TMP/follow.pid"
	STARTED="$STARTED follow"
}

# judge KIND: what the service stored, each name once, is what the store has, each
# once; requests of one name are the same.  Prints how many records are missing.
cat >"$TMP/judge.py" <<'END'
import json, sys
wanted, names, got = {}, {}, {}
def who(line):
    r = json.loads(line)
    return r["session"], r["seq"], r["index"]
for line in open(sys.argv[2]):
    wanted[who(line)] = line
for line in open(sys.argv[1]):
    if not line.endswith("\n"):
        break
    request = json.loads(line)
    name = request["headers"]["idempotency-key"]
    if names.setdefault(name, request["sha256"]) != request["sha256"]:
        sys.exit("two requests of the name " + name)
    if not request["stored"] or (name, "stored") in names:
        continue
    names[name, "stored"] = True
    for record in request["text"].splitlines(True):
        if got.setdefault(who(record), name) != name:
            sys.exit("twice: " + record)
        if who(record) in wanted and wanted[who(record)] != record:
            sys.exit("changed: " + record)
        got[who(record)] = name
missing = set(wanted) - set(got)
print(len(missing))
END
judged() {
	poolscope-dump -p "$pool" --kind "${1:-event}" -q >"$TMP/dumped" &&
		[ "$(/usr/bin/python3 "$TMP/judge.py" "$TMP/web.sent" "$TMP/dumped" 2>"$TMP/wrong")" = 0 ]
}

n=0
# emit_events N: the next N, stored.
emit_events() {
	awk -v from="$n" -v many="$1" 'BEGIN {
		for (i = 1; i <= many; i++) print "follow event message=" from + i
	}' >"$TMP/events"
	n=$((n + $1))
	poolscope-emit --stdin --wait stored <"$TMP/events" >"$TMP/printed" 2>&1 ||
		fail "events are stored" "$TMP/printed"
}

# ---- killed at any time
follow
round=0
while [ "$round" -lt "$kills" ]; do
	round=$((round + 1))
	emit_events $((many / kills)) &
	emitting=$!
	pause=$(awk -v seed="$seed" -v round="$round" 'BEGIN { srand(seed * 1000 + round); printf "%.3f", rand() * 0.8 }')
	timeout "$pause" tail -f /dev/null
	stop follow KILL
	follow
	wait "$emitting"
	n=$((n + many / kills))
done
emit_events 5
indexed
check "killed $kills times, to a service that fails three times in ten, nothing is left out" \
	wait_until judged 60
[ ! -s "$TMP/wrong" ] || fail "each record once, each request the same" "$TMP/wrong"
wait_until "grep -q '^until 0' '$DIR/run/'upload-*.cursor"
stop follow TERM
check_text "TERM ends a follower with 0" 0 "$STATUS"
check "and the events are logged" grep -q 'events sent to http:http://127.0.0.1' "$TMP/follow.log"
: >"$TMP/web.sent"
follow
emit_events 1
check "who ended in order goes on" wait_until '[ -s "$TMP/web.sent" ]'
wait_until "[ \"\$(web_sent web 'sent[-1][\"stored\"]')\" = True ]"
stop follow INT
check_text "where it was" "1" "$(web_sent web 'len(set(l for s in sent for l in s["text"].splitlines()))')"

# ---- one cursor, one follower
follow
wait_until '[ -e "$(ls "$DIR"/run/upload-*.lock)" ]'
check_status 1 "a second follower of the same is refused" \
	poolscope-upload events -p "$pool" --target "http:$url" --follow
check_printed "with the first one's pid" "process $(pid follow) already uses this cursor"
stop follow TERM
cursor=$(echo "$DIR"/run/upload-*.cursor)
check_status 1 "a cursor of another choice is refused" \
	poolscope-upload samples -p "$pool" --target "http:$url" --follow --cursor "$cursor"
check_printed "in words" "belongs to another target or other records"
echo nonsense >"$TMP/bad"
check_status 1 "a cursor that is none is refused" \
	poolscope-upload events -p "$pool" --target "http:$url" --follow --cursor "$TMP/bad"
check_printed "by name" "the cursor $TMP/bad: it does not begin with"
check_status 1 "a cursor whose path is too long is refused" \
	poolscope-upload events -p "$pool" --target "http:$url" --follow --dry-run \
	--cursor "$TMP/$(printf '%05000d' 0)"
check_printed "in words" "cursor the path has .* bytes; at most"
check "a dry run of a follower ends" poolscope-upload events -p "$pool" --target "http:$url" --follow \
	--cursor "$TMP/dry" --dry-run
check_printed "and shows" '"name": "event"'
check_status 1 "and remembers nothing" test -e "$TMP/dry"

# ---- times that move, and an outage
: >"$TMP/web.sent"
follow --from -1h
check "a time may be one before now" wait_until '[ -s "$TMP/web.sent" ]'
wait_until judged 60
# What was sent is also written down.
wait_until "! grep -L '^until 0' '$DIR/run/'upload-*.cursor | grep -q ."
stop follow TERM
cursors=$(ls "$DIR"/run/upload-*.cursor)
: >"$TMP/web.sent"
follow --from -1h
emit_events 1
check "the same time in words goes on" wait_until '[ -s "$TMP/web.sent" ]'
wait_until "[ \"\$(web_sent web 'sent[-1][\"stored\"]')\" = True ]"
stop follow TERM
check_text "where it was" 1 "$(web_sent web 'len(set(l for s in sent for l in s["text"].splitlines()))')"
check_text "with the same cursor" "$cursors" "$(ls "$DIR"/run/upload-*.cursor)"
: >"$TMP/web.sent"
: >"$TMP/follow.log"
web_behaves web '503 0 x40'
follow --from -1h --retry-time 1s
emit_events 1
check "an outage is waited for, past --retry-time" \
	wait_until "[ \"\$(web_sent web 'len(sent) > 40 and sent[-1][\"stored\"]')\" = True ]"
check "with a warning" grep -q 'answers 503.*retrying' "$TMP/follow.log"
stop follow TERM
check_text "and TERM ends it with 0" 0 "$STATUS"
web_behaves web '500 x100000'
follow --from -1h --retry-time 1s
emit_events 1
check "another one" wait_until "[ \"\$(web_sent web 'sent[-1][\"manner\"]')\" = 500 ]"
stop follow TERM
check_text "is ended by TERM in the midst" 0 "$STATUS"
web_behaves web ok

# ---- samples, each with the names of its columns
wait_until '[ "$(poolscope-dump -p "$pool" --kind sample -q | wc -l)" -gt 50 ]'
stop agent
indexed
: >"$TMP/web.sent"
poolscope-upload samples -p "$pool" --target "http:$url" --follow >"$TMP/samples.log" 2>&1 &
echo $! >"$TMP/samples.pid"
STARTED="$STARTED samples"
check "samples are followed, too" wait_until "judged sample"
stop samples TERM

# ---- a metric group that grew after the cursor
check "a metric group grows between two samples" \
	/usr/bin/python3 "$ROOT/tests/flow/sender.py" sets "ipc://$DIR/run/intake.ipc"
indexed
: >"$TMP/web.sent"
poolscope-upload samples -p 'acct$sets' --target "influx:$url" --follow --cursor "$TMP/sets" >"$TMP/sets.log" 2>&1 &
echo $! >"$TMP/sets.pid"
STARTED="$STARTED sets"
check "both are sent" wait_until "grep -q 'first=4,second=5 4000000000' '$TMP/web.sent'"
wait_until "grep -q '^sent 2' '$TMP/sets'"
stop sets TERM
check "the first without the column that it has not" grep -q 'first=2 2000000000' "$TMP/web.sent"
awk '$1 == "entry" { $2 -= 3 } $1 == "records" { $2 = 0 } { print }' "$TMP/sets" >"$TMP/between"
check "who goes on between them" poolscope-upload samples -p 'acct$sets' --target "influx:$url" --follow \
	--cursor "$TMP/between" --dry-run
check_printed "has the first" 'first=2 2000000000'
check_printed "and the second with both columns" 'first=4,second=5 4000000000'

# ---- without the aggregator, and after a purge
stop broker
stop aggregator
check_status 1 "a follower of nothing says so" poolscope-upload events -p "$pool" --target "http:$url" \
	--follow --connect "ipc://$DIR/run/reader.ipc" --cursor "$TMP/c"
start aggregator poolscope-aggregator --journal-keep 1ms || exit 1
start broker poolscope-broker || exit 1
start agent poolscope-agent --no-samples -p "$pool" -n node1 || exit 1
sed 's/^entry .*/entry 1/; s/^records .*/records 0/' "$cursor" >"$TMP/early"
purged() {
	"$ROOT/tests/flow/counters.py" >"$TMP/status" &&
		/usr/bin/python3 -c 'import json, sys
sys.exit(json.load(open(sys.argv[1]))["store"]["journal_first"] < 10)' "$TMP/status"
}
emit_events 1
check "batches are purged" wait_until purged
follow --cursor "$TMP/early"
check "a late follower reports how many batches are gone" \
	wait_until "grep -q '[0-9]* batches were purged before they could be sent to http:' '$TMP/follow.log'"
stop follow TERM
stop agent
stop broker
stop aggregator
