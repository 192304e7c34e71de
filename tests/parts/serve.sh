# serve - for tests against real services, after flow/lib.sh:
#
#	. "$(dirname "$0")/../flow/lib.sh"
#	. "$(dirname "$0")/serve.sh"
#	serve azurite node azurite.js --port "$(free_port)"
#	answers "http://127.0.0.1:$port/" || exit 1
#
# What a test installs stays in $PARTS, a directory a test run leaves alone.
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh

PARTS=${PARTS:-$ROOT/build/parts}
mkdir -p "$PARTS"

# skip WHY: nothing was tested, and says so.
skip() {
	echo "SKIPPED: $1"
	exit 0
}

# free_port [N]: N (1) ports of 127.0.0.1 that nobody listens at, below those that the
# system gives to clients: one of these could be taken before the service listens.
free_port() {
	/usr/bin/python3 -c 'import random, socket, sys
held = []
while len(held) < int(sys.argv[1]):
    try:
        held.append(socket.create_server(("127.0.0.1", random.randrange(10000, 20000))))
    except OSError:
        pass
print(*(s.getsockname()[1] for s in held))' "${1:-1}"
}

# serve NAME COMMAND...: in the background, as a process of its own; killed at
# the end.  What it says is in $TMP/NAME.log.
serve() {
	_daemon=$1
	shift
	"$@" >>"$TMP/$_daemon.log" 2>&1 </dev/null &
	echo $! >"$TMP/$_daemon.pid"
	STARTED="$STARTED $_daemon"
}

# answers URL NAME [SECONDS]: NAME answers there with any HTTP, soon.
answers() {
	wait_until "curl -s -o '$TMP/answer' --max-time 5 '$1' || ! alive $2" "${3:-60}" && alive "$2" && return 0
	echo "$2 does not answer:"
	tail -20 "$TMP/$2.log"
	return 1
}

# need_python NAME PACKAGE...: a virtual environment $PARTS/NAME with these
# packages, complete or not there at all; 1 when they cannot be had.  Tests that run
# at once wait for the first.
need_python() {
	_venv=$PARTS/$1
	shift
	(
		flock 8
		[ ! -e "$_venv/complete" ] || exit 0
		echo "installing with pip: $*"
		rm -rf "$_venv"
		/usr/bin/python3 -m venv "$_venv" >"$TMP/venv.log" 2>&1 &&
			"$_venv/bin/pip" install -q --disable-pip-version-check "$@" >>"$TMP/venv.log" 2>&1 &&
			touch "$_venv/complete" && exit 0
		tail -n 3 "$TMP/venv.log"
		exit 1
	) 8>"$_venv.lock"
}

# interrupted FILE BYTES PART TARGET: an upload of the beginning of FILE, whose
# end never comes, killed -9 when it has put PART parts.
interrupted() {
	rm -f "$TMP/pipe" "$TMP/killed.log"
	mkfifo "$TMP/pipe"
	"$(command -v poolscope-upload)" --log debug file - --target "$4" \
		<"$TMP/pipe" >/dev/null 2>"$TMP/killed.log" &
	_upload=$!
	exec 9>"$TMP/pipe"
	head -c "$2" "$1" >&9
	wait_until "grep -q 'part $3 is there' '$TMP/killed.log'" 60
	_status=$?
	kill -9 $_upload
	wait $_upload 2>/dev/null
	exec 9>&-
	return $_status
}
