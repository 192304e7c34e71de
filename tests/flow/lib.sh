# lib - what every flow test begins with:
#
#	. "$(dirname "$0")/lib.sh"
#	start broker poolscope-broker
#	check "an event arrives" poolscope-emit test hello --wait stored
#	stop broker
#	check "a stopped broker exits with 0" test "$STATUS" -eq 0
#
# Each test has a directory $TMP of its own with an instance in $DIR (exported
# as POOLSCOPE_DIR).  At the end whatever still runs is killed, and the last
# line is "N passed, N failed".
#
#	B=build/asan	the variant to test; build/valgrind is check.sh's
#	SLOW=10		factor for all time limits
#	KEEP=1		leave $TMP behind, and say where
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -u

ROOT=$(cd "$(dirname "$0")/../.." && pwd)
cd "$ROOT" || exit 1
B=${B:-build}
case $B in /*) ;; *) B=$ROOT/$B ;; esac
PATH=$B/bin:$PATH
SLOW=${SLOW:-2}
TMP=$(mktemp -d "${TMPDIR:-/tmp}/poolscope.XXXXXX") || exit 1
DIR=$TMP/i
POOLSCOPE_DIR=$DIR
export B PATH POOLSCOPE_DIR TMP DIR ROOT
mkdir -p "$DIR/run"
unset POOLSCOPE_CONFIG POOLSCOPE_LOG
PASSED=0
FAILED=0
STARTED=
STATUS=0

pass() {
	PASSED=$((PASSED + 1))
	echo "ok - $1"
}

# fail NAME [FILE]: FILE says more.
fail() {
	FAILED=$((FAILED + 1))
	echo "FAILED - $1"
	[ -z "${2:-}" ] || sed 's/^/    /' "$2" | tail -40
}

# check NAME COMMAND...: passes when the command exits with 0.
check() {
	check_status 0 "$@"
}

# check_status N NAME COMMAND...: passes when the command exits with N.  What
# it printed is in $TMP/out and $TMP/err.
check_status() {
	_want=$1
	_name=$2
	shift 2
	"$@" >"$TMP/out" 2>"$TMP/err"
	STATUS=$?
	if [ "$STATUS" -eq "$_want" ]; then
		pass "$_name"
		return 0
	fi
	{
		echo "$*"
		echo "exit status $STATUS, not $_want"
		cat "$TMP/out" "$TMP/err"
	} >"$TMP/why"
	fail "$_name" "$TMP/why"
	return 1
}

# wrong_usage NAME PATTERN COMMAND...: passes when the command exits with 2 and
# says so in one line that matches the basic regular expression.
wrong_usage() {
	_usage=$1
	_pattern=$2
	shift 2
	check_status 2 "$_usage" "$@" </dev/null
	check_text "... in one line" 1 "$(wc -l <"$TMP/err")"
	check_printed "... that says why" "$_pattern"
}

# check_text NAME WANTED GOT: passes when the texts are equal.
check_text() {
	if [ "$2" = "$3" ]; then
		pass "$1"
		return 0
	fi
	printf 'wanted: %s\ngot:    %s\n' "$2" "$3" >"$TMP/why"
	fail "$1" "$TMP/why"
	return 1
}

# check_printed NAME PATTERN: passes when the last command that was checked printed
# a line that matches the basic regular expression.
check_printed() {
	if cat "$TMP/out" "$TMP/err" | grep -q -e "$2"; then
		pass "$1"
		return 0
	fi
	{
		echo "wanted: $2"
		cat "$TMP/out" "$TMP/err"
	} >"$TMP/why"
	fail "$1" "$TMP/why"
	return 1
}

# check_json NAME WANTED EXPRESSION: passes when the expression (Python) about the
# answer `a` with its `rows`, which the last command that was checked printed as JSON,
# is printed as this text.
check_json() {
	check_text "$1" "$2" "$(/usr/bin/python3 -c 'import json, sys
a = json.load(open(sys.argv[1]))
print(eval(sys.argv[2], {"a": a, "rows": a["rows"]}))' "$TMP/out" "$3" 2>&1)"
}

# wait_until CONDITION [SECONDS]: evaluates it again and again until it holds;
# fails after SECONDS (10).
wait_until() {
	_until=$(($(date +%s) + ${2:-10} * SLOW))
	until eval "$1" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$_until" ] || {
			echo "waited in vain for: $1"
			return 1
		}
		timeout 0.02 tail -f /dev/null
	done
	return 0 # not the status of the last wait
}

# indexed: everything that was acknowledged is in the tables.
indexed() {
	"$ROOT/tests/flow/counters.py" >"$TMP/status" &&
		python3 -c 'import json, sys
sys.exit(json.load(open(sys.argv[1]))["store"]["indexing_lag"] != 0)' "$TMP/status"
}

# start NAME PROGRAM [ARGUMENT...]: runs a daemon in the background; returns 0
# when it is ready, 1 when it ended instead.  Its pid is $(pid NAME), what it
# says is in $TMP/NAME.log.
start() {
	_daemon=$1
	_program=$2
	shift 2
	rm -f "$TMP/$_daemon.ready"
	mkfifo "$TMP/$_daemon.ready" || exit 1
	"$(command -v "$_program")" --ready-fd 3 "$@" 3>"$TMP/$_daemon.ready" \
		>>"$TMP/$_daemon.log" 2>&1 </dev/null &
	echo $! >"$TMP/$_daemon.pid"
	case " $STARTED " in
	*" $_daemon "*) ;;
	*) STARTED="$STARTED $_daemon" ;;
	esac
	# The end of the file comes without a line when the daemon ends.
	[ "$(timeout $((30 * SLOW)) sh -c 'IFS= read -r l && echo ready' \
		<"$TMP/$_daemon.ready")" = ready ] && return 0
	echo "$_daemon did not start:"
	sed 's/^/    /' "$TMP/$_daemon.log" | tail -20
	return 1
}

pid() {
	cat "$TMP/$1.pid" 2>/dev/null
}

alive() {
	[ -s "$TMP/$1.pid" ] && kill -0 "$(pid "$1")" 2>/dev/null
}

# stop NAME [SIGNAL]: sends TERM (or another signal) and waits for the end;
# the exit status is in $STATUS, 128 + N after signal N.
stop() {
	_pid=$(pid "$1")
	[ -n "$_pid" ] || return 1
	kill "-${2:-TERM}" "$_pid" 2>/dev/null
	wait "$_pid" 2>/dev/null
	STATUS=$?
	rm -f "$TMP/$1.pid"
	return 0
}

_end() {
	_status=$?
	trap - EXIT
	for _name in $STARTED; do
		alive "$_name" && stop "$_name" KILL
	done
	for _name in $STARTED; do
		if grep -qE 'Sanitizer|runtime error:|^==[0-9]+== (Inv|Cond|Use|Sys|Mis|Sou|[1-9])|Assertion .* failed' \
			"$TMP/$_name.log" 2>/dev/null; then
			fail "$_name has no memory error" "$TMP/$_name.log"
		fi
	done
	[ "$_status" -eq 0 ] || [ "$FAILED" -gt 0 ] ||
		fail "the test ran to its end (status $_status)"
	if [ -n "${KEEP:-}" ]; then
		echo "kept $TMP"
	else
		rm -rf "$TMP"
	fi
	echo "$PASSED passed, $FAILED failed"
	[ "$FAILED" -eq 0 ] || exit 1
	exit 0
}
trap _end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# flip_bit: a disk flips a bit of each row with the text flip-this-one in the tables of
# $DIR, whose aggregator has ended.
flip_bit() {
	check "a bit of the tables is flipped" /usr/bin/python3 -c '
import sys
data = bytearray(open(sys.argv[1], "rb").read())
assert data.count(b"flip-this-one") > 0
data = data.replace(b"flip-this-one", b"flip-this-onf")
open(sys.argv[1], "r+b").write(data)' "$DIR/store/tables/data.mdb"
}
