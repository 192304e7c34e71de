# Scripts of the receiver in a real instance: what they print is in the store, and
# nothing stays of those that hang, fork away, print without end or are removed.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a dollar is part of the name, or of a script
. "$(dirname "$0")/lib.sh"

scripts=$TMP/scripts
mkdir "$scripts"
# script NAME: its body is standard input; 1001 to 1003 become numbers of this test.
script() {
	{
		echo '#!/bin/sh'
		sed "s/100\([123]\)/\1$$/"
	} >"$scripts/$1"
	chmod 755 "$scripts/$1"
}
script good <<'X'
echo '# TYPE jobs_total counter'
echo "jobs_total{queue=\"$1\"} 17"
echo queue.length 3
echo no number
env | cut -d= -f1 | grep -vx PWD | sort >"$0.names"
id -u >"$0.uid"
X
script nothing <<'X'
exit 0
X
script three <<'X'
echo three.value 3
echo 'the disk is full' >&2
exit 3
X
script hangs <<'X'
echo hangs.value 1
sleep 1001 &
exec sleep 1001
X
script deaf <<'X'
trap '' TERM HUP INT
while :; do sleep 1002; done
X
script away <<'X'
setsid sh -c 'trap "" TERM HUP; (setsid sleep 1003 &); sleep 1003' >/dev/null 2>&1 &
(setsid sh -c 'trap "" TERM; sleep 1003' &)
echo away.value 4
X
script endless <<'X'
exec tr '\0' x </dev/zero
X
script dies <<'X'
printf 'dies.value 179'
kill -SEGV $$
X
script gone <<'X'
rm -f "$0"
echo gone.value 6
X
script slow <<'X'
sleep 0.9
echo slow.value 7
X
script open <<'X'
echo open.value 8
X
chmod 757 "$scripts/open"

user=
[ "$(id -u)" != 0 ] || user='user = "root"'
{
	echo 'receiver {'
	for each in nothing three hangs deaf away endless dies gone open; do
		printf '\tscript "%s" { command = "%s"  period = "1s"  timeout = "500ms" %s }\n' "$each" "$scripts/$each" "$user"
	done
	printf '\tscript "good" { command = "%s a"  period = "1s"  timeout = "5s" %s }\n' "$scripts/good" "$user"
	printf '\tscript "slow" { command = "%s"  period = "200ms"  timeout = "20s" %s }\n' "$scripts/slow" "$user"
	echo '}'
} >"$DIR/poolscope.conf"
chmod 600 "$DIR/poolscope.conf"
check "the configuration is good" poolscope config check
export POOLSCOPE_PARTITION='acct$pool' POOLSCOPE_PERIOD=300ms
export SECRET=hidden
check "an instance with a receiver" poolscope up --receiver || exit 1
log=$DIR/log/receiver.log

# numbers: "name{labels} unit type newest-value" of all that is stored.
numbers() {
	poolscope-dump -p 'acct$pool' --format jsonl --kind sample --kind entity --log error 2>/dev/null |
		python3 "$ROOT/tests/flow/receiver_judge.py"
}
shows() {
	numbers >"$TMP/numbers"
	for each in "$@"; do grep -qxF -e "$each" "$TMP/numbers" || return 1; done
}
matches() {
	numbers >"$TMP/numbers"
	for each in "$@"; do grep -qx -e "$each" "$TMP/numbers" || return 1; done
}

# ---- what is stored, by hand
check "what a script prints is stored" wait_until \
	'shows "jobs_total{queue=a} - counter 17" "queue.length{} - gauge 3"' 30
check "... also with an exit status of 3" wait_until 'shows "three.value{} - gauge 3" "script.exit{script=three} - gauge 3"' 30
check "... of one that leaves processes behind" wait_until 'shows "away.value{} - gauge 4" "script.exit{script=away} - gauge 0"' 30
check "... of one that removes itself" wait_until 'shows "gone.value{} - gauge 6"' 30
check "its status is a number: 0, 139 of SIGSEGV, 143 of TERM, 137 of KILL, 126 of what is not started" wait_until 'shows \
	"script.exit{script=good} - gauge 0" "script.exit{script=nothing} - gauge 0" \
	"script.exit{script=dies} - gauge 139" "script.exit{script=hangs} - gauge 143" \
	"script.exit{script=deaf} - gauge 137" "script.exit{script=gone} - gauge 126" "script.exit{script=open} - gauge 126"' 30
check "its duration, too: at its timeout half a second, and two more until it is killed" wait_until 'matches \
	"script.seconds{script=hangs} s gauge 0[.][5-9].*" "script.seconds{script=deaf} s gauge [2-4][.].*"' 30
check "a script that needs 0.9 s every 200 ms runs again and again" wait_until 'shows "slow.value{} - gauge 7"' 30
check "... its turns meanwhile are counted" wait_until 'matches "poolscope.receiver.bad.skipped{source=script slow} - counter [1-9].*"' 30
check "each reason is counted" wait_until 'matches \
	"poolscope.receiver.bad.syntax{source=script good} - counter [1-9].*" \
	"poolscope.receiver.bad.exit{source=script three} - counter [1-9].*" \
	"poolscope.receiver.bad.timeout{source=script hangs} - counter [1-9].*" \
	"poolscope.receiver.bad.timeout{source=script deaf} - counter [1-9].*" \
	"poolscope.receiver.bad.left{source=script away} - counter [1-9].*" \
	"poolscope.receiver.bad.output{source=script endless} - counter [1-9].*" \
	"poolscope.receiver.bad.signal{source=script dies} - counter [1-9].*" \
	"poolscope.receiver.bad.refused{source=script gone} - counter [1-9].*" \
	"poolscope.receiver.bad.refused{source=script open} - counter [1-9].*"' 30
check_text "nothing is taken of what was ended, or cut" "" \
	"$(grep -E '^(hangs|dies|open)[.]value|^no[{ ]|^x' "$TMP/numbers")"
check "the log has what a script says of its failure" grep -q "script three: .*reason exit.*the disk is full" "$log"
check "... why one is not started" grep -q "script open: .*reason refused.*can be written by others (mode 0757)" "$log"
check_text "a script gets five names of an environment, none of ours" "HOME LANG PATH POOLSCOPE_SCRIPT USER" \
	"$(tr '\n' ' ' <"$scripts/good.names" | sed 's/ $//')"

# ---- what is left
# those NUMBER: how many processes sleep so long, by their command lines.
those() {
	cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' | grep -o "slee[p] ${1#100}$$ " | wc -l
}
check "who leaves the group and ignores TERM is found" test "$(those 1003)" -le 4
sleep 3
check "a script that hangs is there once, with its child" test "$(those 1001)" -le 2
check "... as is a deaf one" test "$(those 1002)" -le 1
zombies() {
	for each in /proc/[0-9]*/stat; do
		sed 's/.*) //' "$each" 2>/dev/null
	done | awk -v p="$(tr '\n' ' ' <"$TMP/runners")" 'BEGIN { n = split(p, a, " "); while (n) of[a[n--]] = 1 } $1 == "Z" && of[$2] { z++ } END { print z + 0 }'
}
pgrep -P "$(cat "$DIR/run/receiver.pid")" >"$TMP/runners"
check_text "a process for each script" 11 "$(wc -l <"$TMP/runners")"
check "no dead process stays: none, or that of a moment" wait_until '[ "$(zombies)" = 0 ]' 10

# ---- changed while it runs
script good <<'X'
echo 'jobs_total{queue="b"} 99'
X
check "a script that is replaced is run as it is now" wait_until 'numbers | grep -q "^jobs_total{queue=b} - .* 99"' 30

# ---- killed
kill -9 "$(cat "$DIR/run/receiver.pid")"
check "a receiver that is killed takes its scripts along" wait_until \
	'[ "$(those 1001)$(those 1002)$(those 1003)" = 000 ]' 10
runners_live() {
	while read -r each; do [ ! -d "/proc/$each" ] || return 0; done <"$TMP/runners"
	return 1
}
check "... and what ran them" wait_until '! runners_live' 10
check "it starts again" poolscope up --receiver
check "... and runs them" wait_until '[ "$(those 1001)" -gt 0 ]' 20
began=$(date +%s)
check "down stops it" poolscope down
check "... within the time of one deaf script" test $(($(date +%s) - began)) -le $((8 * SLOW))
check_text "nothing runs" 000 "$(those 1001)$(those 1002)$(those 1003)"

# ---- wrong sections
wrong_usage "a script has a program" "is no absolute path" poolscope-receiver --script 'a command=q.sh'
wrong_usage "... and a command" "the command is empty" poolscope-receiver --script 'a period=1s'
wrong_usage "... a name of letters" "the name 'a/b' is not of" poolscope-receiver --script 'a/b command=/bin/true'
wrong_usage "... one of its own" "a is given twice" poolscope-receiver --script 'a command=/bin/true' --script 'a command=/bin/false'
wrong_usage "... times that can be" "period: " poolscope-receiver --script 'a period=1x command=/bin/true'
if [ "$(id -u)" = 0 ]; then
	check_status 1 "root names a user" poolscope-receiver --script 'a command=/bin/true'
	check_printed "... and reads why" 'root runs scripts only as a user that the configuration names'
	check_status 1 "... one that there is" poolscope-receiver --script 'a user=nosuch command=/bin/true'
	# The folders above $TMP may be closed to others.
	script good </dev/null
	mkdir -m 755 /tmp/poolscope.script.$$
	printf '#!/bin/sh\necho uid $(id -u)\necho groups $(id -G | wc -w)\n' >/tmp/poolscope.script.$$/q
	chmod 755 /tmp/poolscope.script.$$/q
	printf 'receiver { script "q" { command = "/tmp/poolscope.script.%s/q" user = "nobody" period = 1s } }\n' $$ >"$DIR/poolscope.conf"
	check "a script of nobody" poolscope up --receiver
	check "... is run by him, without root's groups" wait_until \
		'shows "uid{} - gauge $(id -u nobody)" "groups{} - gauge 1"' 30
	poolscope down >/dev/null 2>&1
	rm -rf /tmp/poolscope.script.$$
else
	check_status 1 "only root runs scripts of others" poolscope-receiver --script 'a user=root command=/bin/true'
fi
