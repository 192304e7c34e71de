# web - the service of web.py for flow tests: begin with lib.sh.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh

# web_start NAME [OPTION...]: its port is in $TMP/NAME.port, what it was sent in
# $TMP/NAME.sent, and how it shall behave is put into $TMP/NAME.manners.
web_start() {
	_web=$1
	shift
	rm -f "$TMP/$_web.port"
	/usr/bin/python3 "$ROOT/tests/flow/web.py" "$TMP/$_web.port" "$TMP/$_web.sent" \
		--manners "$TMP/$_web.manners" "$@" >"$TMP/$_web.log" 2>&1 </dev/null &
	echo $! >"$TMP/$_web.pid"
	case " $STARTED " in
	*" $_web "*) ;;
	*) STARTED="$STARTED $_web" ;;
	esac
	wait_until "[ -s '$TMP/$_web.port' ]"
}

web_url() {
	echo "http://127.0.0.1:$(cat "$TMP/$1.port")"
}

# web_behaves NAME MANNER...: for the next requests, each a word of its own.
web_behaves() {
	_web=$1
	shift
	: >"$TMP/$_web.new"
	[ $# -eq 0 ] || printf '%s\n' "$@" >"$TMP/$_web.new"
	mv "$TMP/$_web.new" "$TMP/$_web.manners"
	: >"$TMP/$_web.sent"
}

# web_sent NAME EXPRESSION: what Python makes of `sent`, the list of requests.
web_sent() {
	/usr/bin/python3 -c 'import json, sys
sent = [json.loads(line) for line in open(sys.argv[1])]
print(eval(sys.argv[2]))' "$TMP/$1.sent" "$2"
}
