# The systemd units: what they close is nothing that the programs need, and
# little is left open.  Programs run as their units say (unit.py), as users of
# their own, and carry a load.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # dollars are for awk, for sh -c, and parts of names
. "$(dirname "$0")/lib.sh"

units=${ROOT:?}/deploy/systemd

# ---- what is left open
if command -v systemd-analyze >/dev/null; then
	for unit in agent receiver broker aggregator; do
		systemd-analyze security --offline=true --no-pager \
			"$units/poolscope-$unit.service" >"$TMP/security" 2>&1
		check_text "systemd knows every setting of the $unit's unit" "" \
			"$(grep -iE 'unknown|invalid|failed|ignoring' "$TMP/security")"
		check "the $unit's unit leaves 1.5 open at most" awk '
			/Overall exposure level/ { seen = 1; for (i = 1; i <= NF; i++) if ($i + 0 > 1.5) exit 1 }
			END { if (!seen) exit 1 }' "$TMP/security"
	done
else
	echo "SKIPPED units: systemd-analyze is not installed"
fi
for unit in agent receiver broker aggregator; do
	check "systemd starts the $unit again, however often it ends" \
		grep -q '^StartLimitIntervalSec=0$' "$units/poolscope-$unit.service"
	"poolscope-$unit" --help-all >"$TMP/help"
	for option in $(sed -n 's/^ExecStart=//p' "$units/poolscope-$unit.service" | grep -o -e '--[a-z-]*'); do
		check "the $unit knows $option of its unit" grep -q -e "$option " "$TMP/help"
	done
done

# ---- nothing that is needed is closed
case ${VARIANT:-release} in asan | tsan | valgrind)
	# An instrument needs calls of its own.
	echo "SKIPPED units under their filters: not of $VARIANT"
	exit 0 ;;
esac
if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null || ! command -v systemd-analyze >/dev/null; then
	echo "SKIPPED units under their filters: needs root, a mount namespace and systemd-analyze"
	exit 0
fi

# Users that nobody else is.
group=61230 server=61231 agent=61232 services=61233 receiver=61234
root=$TMP/root
state=$root/var/lib/poolscope
chmod 0711 "$TMP"
# As systemd-tmpfiles makes them, under the root of the test.
mkdir -p "$root/etc/tmpfiles.d"
for unit in agent server; do
	sed "s/ poolscope-agent / $agent /; s/ poolscope-agent / $services /; s/ poolscope-receiver / $receiver /; s/ poolscope  *poolscope / $server $group /
		s/ poolscope / $group /" "$units/poolscope-$unit.tmpfiles" >"$root/etc/tmpfiles.d/poolscope-$unit.conf"
done
mkdir -p "$root/var/lib"
check "the directories are made" systemd-tmpfiles --root="$root" --create || exit 1
chmod -R a+X "$root/etc"
chmod 0755 "$root" "$root/var" "$root/var/lib"
check_text "each belongs to one user, and nobody else can write it" \
	"agent:$agent:$group:710 fallback:$agent:$group:711 keys:$server:$group:711 metrics.d:0:0:755 receiver:$receiver:$group:710 run:$server:$group:711 spool:$agent:$group:700 store:$server:$group:700" \
	"$(cd "$state" && stat -c %n:%u:%g:%a ./* | sed 's|./||' | sort | xargs)"
check_text "what others leave in the fallback queue is read by the group of the agent alone" \
	"new:$agent:$services:3777 tmp:$agent:$services:3777" "$(cd "$state/fallback" && stat -c %n:%u:%g:%a ./* | sed 's|./||' | sort | xargs)"
echo 'agent { period = "200ms" }' >"$state/poolscope.conf"
export POOLSCOPE_DIR="$state"

for unit in agent receiver broker aggregator; do
	cat >"$TMP/$unit" <<-END
		#!/bin/sh
		exec /usr/bin/python3 "$ROOT/tests/flow/unit.py" "$units/poolscope-$unit.service" "$B/bin" "$root" \\
			group:poolscope=$group group:poolscope-agent=$services poolscope=$server poolscope-agent=$agent poolscope-receiver=$receiver -- "\$@"
	END
	chmod +x "$TMP/$unit"
done
for unit in aggregator broker agent receiver; do
	check "the $unit starts as its unit says" start $unit "$TMP/$unit" || exit 1
done
for unit in agent receiver broker aggregator; do
	check_text "the $unit runs without privileges, under a filter" "0000000000000000 1 2" \
		"$(awk '$1 == "CapEff:" || $1 == "NoNewPrivs:" || $1 == "Seccomp:" { print $2 }' \
			"/proc/$(pid $unit)/status" | xargs)"
	check "the $unit is no user of others" test "$(awk '$1 == "Uid:" { print $2 }' \
		"/proc/$(pid $unit)/status")" -gt 61230
done

# ---- a load: events through every listener, a pool, samples, questions, a reload
check "an event goes all the way" poolscope-emit test hello --wait stored
check "a user who may not use the socket leaves an event in the fallback queue" \
	setpriv --reuid 61239 --regid 61239 --clear-groups -- poolscope-emit test "left"
check "... which the agent takes" wait_until \
	'poolscope-dump --kind event --name test:left | grep -q left' 30
check "a process asks as long as it likes" sh -c \
	'for i in 1 2 3 4 5 6 7 8; do poolscope-emit test "more-$i" || exit 1; done'
check "a recorded pool is taken in" poolscope-import cascade "$ROOT/deploy/demo/render-60.jsonl"
check "test runs are taken in" poolscope-generate testrun --runs 200 --spacing 3600 --base now -p 'acct$farm'
check "and results" sh -c 'mkdir "$TMP/results" && poolscope-generate results --files 40 --tests 2 --entries 2 \
	--spacing 3600 --base now -o "$TMP/results" && poolscope-upload results -p "acct\$bench" --target store -d "$TMP/results" -a "$TMP"'
check "samples of this host are stored" wait_until \
	'[ "$(poolscope-dump --format jsonl --kind sample | wc -l)" -gt 100 ]' 30
check "a program of the library is sampled" poolscope-run -- true
wait_until indexed 30
echo 'left_here 17' >"$state/metrics.d/x.prom"
check "numbers in files are stored" wait_until 'poolscope-dump --kind entity --format jsonl | grep -q left_here' 40
check "... and lines of statsd are taken" sh -c 'echo "lines:17|c" | timeout 10 python3 -c "
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(sys.argv[1])
s.send(sys.stdin.buffer.read())" "$POOLSCOPE_DIR/receiver/statsd.sock"'
check "phases are asked for" poolscope-stats phases -p 'prodacct$render-60'
check "status is asked for" poolscope-stats status
check "a trace is asked for" poolscope-trace -p 'acct$farm' -o "$TMP/farm.json.gz"
poolscope-dump --format jsonl --follow --name 'test:*' >"$TMP/followed" 2>&1 &
follower=$!
for unit in agent receiver broker aggregator; do
	kill -HUP "$(pid $unit)"
done
check "after a reload an event goes all the way" poolscope-emit test again --wait stored
# It begins with what comes after its first question.
check "... to a follower, too" wait_until 'poolscope-emit test again && grep -q again "$TMP/followed"' 30
kill "$follower"
for unit in receiver agent broker aggregator; do
	stop $unit
	check_text "the $unit ends with 0" 0 "$STATUS"
done
check "the store is whole" "$B/bin/poolscope-admin" verify --store "$state/store"

# ---- the cage is one: the same programs, where they may not
sed 's|^ReadWritePaths=.*|ReadWritePaths=/var/lib/poolscope/run|' \
	"$units/poolscope-aggregator.service" >"$TMP/closed.service"
sed "s|$units/poolscope-aggregator.service|$TMP/closed.service|" "$TMP/aggregator" >"$TMP/closed"
chmod +x "$TMP/closed"
check_status 1 "a store that the unit does not name is not written" start closed "$TMP/closed"
check "... and the message says so" grep -q "Read-only file system" "$TMP/closed.log"
sed 's|^SystemCallFilter=arch_prctl|SystemCallFilter=~bind\nSystemCallFilter=arch_prctl|' \
	"$units/poolscope-broker.service" >"$TMP/deaf.service"
sed "s|$units/poolscope-broker.service|$TMP/deaf.service|" "$TMP/broker" >"$TMP/deaf"
chmod +x "$TMP/deaf"
check_status 1 "a call that the unit does not allow is not made" start deaf "$TMP/deaf"
stop deaf
check_text "... and ends the program here" 159 "$STATUS"
