#!/bin/sh
# The Python module in gunicorn: its workers are forks of a process that has loaded the
# program or has not, and gevent takes turns within each.  Every request is a span.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$ROOT/tests/parts/serve.sh"
need_python pyserve gunicorn gevent packaging || skip "gunicorn and gevent cannot be had from pip"
PYTHON=$PARTS/pyserve/bin/python
# shellcheck source=tests/flow/python.sh
. "$ROOT/tests/flow/python.sh"
start_pool

program app.py <<'PY'
import os
import time

import poolscope as ps

with ps.span("loaded"):
    pass


def app(environ, start):
    i = int(environ["PATH_INFO"].strip("/"))
    with ps.span(os.environ["KIND"], i=i):
        time.sleep(0.002)
        with ps.span("inner", i=i):
            time.sleep(0.002 * (i % 3))
            ps.event("app", "served", i=i)
    ps.counter("requests").add(1)
    start("200 OK", [("Content-Type", "text/plain")])
    return [b"yes\n"]
PY
program ask.py <<'PY'
import concurrent.futures
import sys
import urllib.request


def ask(i):
    with urllib.request.urlopen("http://127.0.0.1:%s/%d" % (sys.argv[1], i), timeout=60) as answer:
        return answer.read() == b"yes\n"


with concurrent.futures.ThreadPoolExecutor(10) as pool:
    assert all(pool.map(ask, range(300)))
PY
# serves NAME OPTION...: 300 requests, then the end.
serves() {
	_kind=$1
	shift
	port=$(free_port)
	KIND=$_kind serve gunicorn "$PYTHON" -m gunicorn -w 3 -b "127.0.0.1:$port" --chdir "$TMP" "$@" app:app
	answers "http://127.0.0.1:$port/999" gunicorn || exit 1
	check "gunicorn ($_kind): 300 requests" /usr/bin/python3 "$TMP/ask.py" "$port"
	stop gunicorn
	check_text "... ends" 0 "$STATUS"
	settle
	check_text "... every request is a span" 300 \
		"$(stored span 'a["i"]' "r['name'] == '$_kind' and a['i'] < 300" | sort -u | wc -l)"
	check_text "... with its own within" 300 "$(stored span 'a["i"]' \
		"r['name'] == 'inner' and any(o['name'] == '$_kind' and o['attributes']['i'] == a['i'] and o['attributes']['span.id'] == a['parent.id'] for o in records)" |
		grep -vc 999)"
	check_text "... of which none overlaps another on a track" 0 "$(stored span '1' \
		"r['name'] == '$_kind' and any(o['name'] == '$_kind' and o['track'] == r['track'] and o['begin_ns'] < r['begin_ns'] < o['end_ns'] for o in records)" |
		wc -l)"
}
serves plain
serves preload --preload
serves gevent -k gevent
serves preload-gevent --preload -k gevent
serves threads --threads 4
# The events of each kind are of their span.
spans=$(stored span 'a["span.id"]' 'r["name"] == "inner"' | sort)
check_text "events are of the span of their request" 1500 "$(stored event 'a["span.id"]' 'r["name"] == "served" and a["i"] < 300' |
	sort | { echo "$spans" >"$TMP/spans"; join - "$TMP/spans"; } | wc -l)"
