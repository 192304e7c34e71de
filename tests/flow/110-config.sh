#!/bin/sh
# The configuration: which of four levels wins and who says so, files that are
# bad, and another configuration for daemons that are at work.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

HUPS=${HUPS:-24} # under load
conf=$DIR/poolscope.conf

# shown PROGRAM OPTION [ENV...]: value and origin.
shown() {
	_program=$1 _option=$2
	shift 2
	env "$@" poolscope config show --format json "$_program" | /usr/bin/python3 -c '
import json, sys
for o in json.load(sys.stdin)[0]["options"]:
    if o["name"] == sys.argv[1]:
        print(o["value"], "from", o["origin"])' "$_option"
}

# ---- four levels ----

check_text "without files there are defaults" "10s from default" \
	"$(shown agent period)"
check "which is no error" poolscope config check
check_printed "... and the message says so" "there is no configuration"
printf '# all\npartition = "outer$all"\nagent {\n\tperiod = "11s"\n}\n' >"$conf"
check_text "a file beats the default" "11s from $conf:4" "$(shown agent period)"
check_text "a key outside of sections is for all" "outer\$all from $conf:2" \
	"$(shown emit partition)"
mkdir "$DIR/conf.d"
printf 'agent { period = "12s" }\n' >"$DIR/conf.d/10-a.conf"
printf 'agent {\n partition = "mine$x"\n period = "13s" }\n' >"$DIR/conf.d/20-b.conf"
printf 'nonsense\n' >"$DIR/conf.d/30-c.conf.bak"
printf 'nonsense\n' >"$DIR/conf.d/.40-d.conf"
printf 'partition = "late$all"\n' >"$DIR/conf.d/50-e.conf"
check_text "conf.d beats the file, the last of it the others" \
	"13s from $DIR/conf.d/20-b.conf:3" "$(shown agent period)"
check_text "the section beats what is outside, even what comes later" \
	"mine\$x from $DIR/conf.d/20-b.conf:2" "$(shown agent partition)"
check_text "... where there is no section the later one wins" \
	"late\$all from $DIR/conf.d/50-e.conf:1" "$(shown dump partition)"
check_text "the environment beats files" "14s from POOLSCOPE_PERIOD" \
	"$(shown agent period POOLSCOPE_PERIOD=14s)"
check_text "a list is one" "['a*=ipc:///x', 'b*=ipc:///y'] from $TMP/list:1" "$(
	printf 'broker { route = {"a*=ipc:///x"}\n route += {"b*=ipc:///y"} }\n' >"$TMP/list"
	sed -i 's/$/ /;N;s/\n//' "$TMP/list"
	shown broker route POOLSCOPE_CONFIG="$TMP/list"
)"
check "the table says it, too" sh -c 'poolscope config show --origin agent |
	grep -q "^agent  *period  *13s  *$1:3\$"' sh "$DIR/conf.d/20-b.conf"
check "what is good is named" poolscope config check
check_text "... each file, in order" "$conf: good
$DIR/conf.d/10-a.conf: good
$DIR/conf.d/20-b.conf: good
$DIR/conf.d/50-e.conf: good" "$(cat "$TMP/out")"
mkdir -p "$TMP/private"
check_text "another instance has another file" "10s from default" \
	"$(shown agent period POOLSCOPE_DIR="$TMP/private")"

# ---- files that are bad ----

# bad NAME TEXT PATTERN: conf.d/60.conf with this text is refused.
bad() {
	printf '%b' "$2" >"$DIR/conf.d/60.conf"
	check_status 3 "$1" poolscope config check
	check_printed "... with file and line" "^$DIR/conf.d/60.conf$3"
	rm "$DIR/conf.d/60.conf"
}
bad "an unknown section is refused" '\n\nstranger { }\n' ":3: no such option 'stranger'"
bad "an unknown key is refused" 'broker {\n quue = "3"\n}\n' ":2: no such option 'quue'"
bad "... outside of sections, too" 'period = "3s"\n' ":1: no such option 'period'"
bad "a value of another type is refused" 'emit { }\nstats {\n\n format = "xml" }\n' \
	":4: format: must be one of "
bad "... in a list, in its line" 'agent { broker = {"a",\n"b" }\n spool_bytes = "many" }' \
	":3: spool_bytes: 'many' is not a size"
bad "a value that makes no sense is refused" 'agent {\n\n metric_groups = "cpu,nothing" }\n' \
	":3: --metric-groups: there is no metric group 'nothing'"
bad "a section without an end is refused" '\nagent {\n\n' ":2: a section is not closed"
bad "a text without an end is refused" "agent {\\n}\\nemit { dir = \"a" ":3: a quoted text is not closed"
bad "a NUL byte is refused" 'agent { }\n\000' ": contains a NUL byte"
bad "what is for the command line only is refused" 'aggregator { ready_fd = "3" }' \
	":1: no such option 'ready_fd'"
bad "the instance's file cannot name another instance" '\ndir = "/elsewhere"' ":2: dir: "
head -c 1100000 /dev/zero | tr '\0' '\n' >"$DIR/conf.d/60.conf"
check_status 3 "more than a mebibyte is refused" poolscope config check
check_printed "... by name" "60.conf: the configuration is longer than 1024 KiB"
rm "$DIR/conf.d/60.conf"
for i in $(seq 100 170); do : >"$DIR/conf.d/$i.conf"; done
check_status 3 "so are more than 64 files" poolscope config check
check_printed "... with the limit" "there are more than 64 files"
rm "$DIR"/conf.d/1??.conf
mkfifo "$DIR/conf.d/60.conf"
check_status 3 "a pipe is refused, and not waited for" timeout 60 poolscope config check
rm "$DIR/conf.d/60.conf"
check_status 1 "a file that is not there is refused" poolscope config check "$TMP/none"
check_status 2 "a program with a bad file does not start" \
	env POOLSCOPE_CONFIG="$TMP/none" poolscope-broker
if [ "$(id -u)" -eq 0 ]; then
	printf 'agent { }\n' >"$DIR/conf.d/60.conf"
	chmod 0666 "$DIR/conf.d/60.conf"
	check_status 3 "root refuses what others can write" poolscope config check
	check_printed "... and says what to do" "60.conf: other users can write it (mode 666): run chmod go-w"
	chmod 0644 "$DIR/conf.d/60.conf"
	chown 12345 "$DIR/conf.d/60.conf"
	check_status 3 "... and what belongs to another" poolscope config check
	rm "$DIR/conf.d/60.conf"
	chmod 0777 "$DIR/conf.d"
	check_status 3 "... and a conf.d that others can write" poolscope config check
	chmod 0755 "$DIR/conf.d"
fi
check_status 2 "config alone is wrong usage" poolscope config
check_status 2 "so is a program that is none" poolscope config show nothing

# ---- the example ----

check "there is an example" poolscope config example
cp "$TMP/out" "$TMP/example"
check "which is good" poolscope config check "$TMP/example"
# All keys with a default; "FILE" is a kind of value and none, and so is "...".
sed -e '/= "[A-Z][^a-z]*"$/b' -e '/"\.\.\."/b' -e '/= {/b' -e 's/^\t#\([a-z]\)/\t\1/' \
	"$TMP/example" >"$TMP/all"
check "every default in it is a value of its option" poolscope config check "$TMP/all"
check "... of more than a hundred" test "$(grep -c '^	[a-z]' "$TMP/all")" -gt 100
rm -r "$DIR/conf.d" "$conf"

# ---- another configuration at work ----

# hup NAME [TIMES]: and wait until that is done.
hup() {
	_pattern=$(grep -cE 'configuration (reloaded|unchanged)' "$TMP/$1.log")
	kill -HUP "$(pid "$1")"
	wait_until "[ \$(grep -cE 'configuration (reloaded|unchanged)' '$TMP/$1.log') -gt $_pattern ]" 30
}

logged() {
	grep -qF -- "$2" "$TMP/$1.log"
}

# The sockets that a daemon holds: who connects again has another one.
sockets() {
	for _name in aggregator broker agent; do
		find "/proc/$(pid "$_name")/fd" -type l -printf "$_name %l\n" 2>/dev/null
	done | grep socket: | sort
}

count() {
	poolscope-dump -p 'load$x' --name load:event --format jsonl --log error |
		/usr/bin/python3 -c '
import json, sys
m = [json.loads(line)["attributes"]["message"] for line in sys.stdin]
print(len(m), len(set(m)))'
}

samples() {
	poolscope-dump -p 'load$x' --kind sample --name cpu --format jsonl --log error
}

# plain: what they start with; the interval is too long for a sample.
plain() {
	cat <<CONF
partition = "load\$x"
agent { period = "30d" dense = "0s" metric_groups = "cpu" }
broker { memory_max = "1GiB" }
aggregator { retain_bytes = "1GiB" }
CONF
}

plain >"$conf"
second=$TMP/second
mkdir -p "$second/run"
check "an aggregator starts" start aggregator poolscope-aggregator
check "a broker" start broker poolscope-broker
check "an agent" start agent poolscope-agent
poolscope-emit load-warm first --wait stored
mkfifo "$TMP/feed"
poolscope-emit --stdin --wait accepted <"$TMP/feed" >"$TMP/emit.out" 2>&1 &
emitter=$!
/usr/bin/python3 -c '
import os, sys, time
out = open(sys.argv[1], "w")
n = 0
while not os.path.exists(sys.argv[2]):
    for n in range(n + 1, n + 21):
        out.write("load event %d\n" % n)
    out.flush()
    time.sleep(0.01)
print(n)
' "$TMP/feed" "$TMP/enough" >"$TMP/sent" &
feeder=$!
check "events arrive" wait_until '[ "$(count | cut -d" " -f1)" -gt 100 ]' 60
sockets >"$TMP/before"

i=0
while [ "$i" -lt "$HUPS" ]; do
	i=$((i + 1))
	{
		plain
		echo "aggregator { journal_keep = \"${i}m\" }"
		echo "agent { send_interval = \"${i}00ms\" }"
		# A connection that comes and goes; the other one stays.
		echo "broker { route = {\"r$i*=ipc://$TMP/nobody$((i % 2))\"} }"
	} >"$conf"
	[ $((i % 3)) -ne 0 ] || echo "agent { oops }  broker { oops } aggregator { oops }" >>"$conf"
	for name in agent broker aggregator; do hup $name; done
done
check_text "each HUP was answered, every third with no" \
	"$((HUPS / 3)) $((HUPS / 3)) $((HUPS / 3))" \
	"$(for name in agent broker aggregator; do grep -c 'configuration unchanged' "$TMP/$name.log"; done | xargs)"
check "... with file and line" logged broker "configuration unchanged: $conf:8: "
check "what changed was logged" logged agent "send-interval is now 100ms ($conf:6)"

# New values are in effect.
check "a second aggregator starts" start second poolscope-aggregator \
	--dir "$second" --pid-file "$second/run/aggregator.pid"
poolscope-emit old thing --ts 1000000000 --wait stored
old() { poolscope-dump -p 'load$x' --name old:thing --format jsonl --log error | wc -l; }
check_text "with an interval of a month there are no samples" 0 "$(samples | wc -l)"
check "what is old is stored" wait_until '[ "$(old)" -eq 1 ]' 30
{
	plain
	echo 'agent { period = "100ms" node = "other" }'
	echo "broker { route = {\"second*=ipc://$second/run/intake.ipc\"} }"
	echo 'aggregator { retain = "30d" }'
} >"$conf"
for name in agent broker aggregator; do hup $name; done
check "with one of a tenth of a second there are" wait_until '[ "$(samples | wc -l)" -gt 20 ]' 60
check "the broker sends a partition elsewhere" \
	poolscope-emit -p 'second$x' go there --wait stored
check_text "... where it is" 1 "$(poolscope-dump --dir "$second" -p 'second$x' \
	--format jsonl --log error | wc -l)"
check "the aggregator forgets what is too old" wait_until '[ "$(old)" -eq 0 ]' 60
for i in 1 2 3; do hup agent; done
check_text "what needs a restart is logged, once" 1 \
	"$(grep -c "$conf:5: changing node requires a restart" "$TMP/agent.log")"
check_text "a daemon shows its own command line" "$second from --dir" \
	"$(shown aggregator dir POOLSCOPE_DIR="$second")"

# HUP of the broker, and then a question: it is through with the first before
# it takes the second.
hup_silently() {
	kill -HUP "$(pid broker)"
	poolscope status >"$TMP/status"
}
echo 'log = "error"' >>"$conf"
hup_silently
lines=$(wc -l <"$TMP/broker.log")
hup_silently
check_text "a daemon that may only say errors says nothing" "$lines" \
	"$(wc -l <"$TMP/broker.log")"
sed -i '$d' "$conf"
hup broker
check "until it may again" logged broker "log is now info (default)"

# All of it under load, and no connection was made again.
sockets >"$TMP/after"
check_text "no connection of a daemon was lost" "" "$(comm -23 "$TMP/before" "$TMP/after")"
check "there are such" test "$(wc -l <"$TMP/before")" -gt 6
: >"$TMP/enough"
wait "$feeder" "$emitter"
check_text "the emitter was never refused" 0 $?
sent=$(cat "$TMP/sent")
echo "$HUPS rounds, $sent events"
check "everything arrives" wait_until '[ "$(count)" = "$sent $sent" ]' 60
check_text "once each, and nothing else" "$sent $sent" "$(count)"
for name in agent broker aggregator second; do
	stop $name
	check_text "TERM ends the $name with 0" 0 "$STATUS"
done
