#!/bin/sh
# poolscope-receiver takes OTLP over HTTP: traces, metrics and logs in both forms, each
# request once, and only what is right from whom it may come.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/agent.sh
. "$ROOT/tests/flow/agent.sh"

# 127.0.0.1:24318
take() { # OPTIONS...
	start receiver poolscope-receiver --otlp 24318 --otlp-resource team "$@"
}
start_agent() {
	start agent poolscope-agent --no-samples --no-clock --broker "$AGGREGATOR" -p 'acct$pool' -n node1
}
# post ARGUMENTS...: of otlp.post; prints status and body of the answer.  The names of
# otlp.py, and the time T, are at hand.
post() {
	PYTHONPATH=$ROOT/tests/flow /usr/bin/python3 -c '
import gzip, json, sys, zlib
from otlp import *
T = 1_700_000_000_000_000_000
status, headers, body = eval("post(" + sys.argv[1] + ")")
print(status, body.decode(errors="backslashreplace"), headers.get("Retry-After", ""))' "$1"
}
answer() { # NAME WANTED ARGUMENTS
	check_text "$1" "$2" "$(post "$3" 2>&1)"
}
# What the aggregator has of the kind, in order.
has() { # KIND
	stored 'json.dumps(r["record"])' "r['kind'] == $1 and '$2' in str(r['record'])"
}
wait_has() { # KIND TEXT N
	wait_until "test \"\$(has $1 '$2' | wc -l)\" -ge $3"
}

# Each number of the service: labels, name, unit, type, value.
numbers() { # SERVICE
	/usr/bin/python3 -c '
import json, sys
sets, lines = {}, []
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["kind"] == 4 and r["record"][0] == "set":
        sets[r["record"][1]] = r["record"][2]
    if r["kind"] == 2 and r["record"][1].startswith("otlp/" + sys.argv[2] + "/"):
        s = sets[r["record"][1]]
        for n, u, t, v in zip(*(s.get(k, "").split() for k in ("names", "units", "types")), r["record"][2]):
            lines.append(" ".join((s["labels"], n, u, t, str(v))))
        for n, v in zip(s["names"].split(), r["record"][2]) if "units" not in s else ():
            lines.append(" ".join((s["labels"], n, "-", "-", str(v))))
print(*sorted(lines), sep="\n")' "$OUT" "$1"
}

check_status 2 "a port that is none is wrong usage" poolscope-receiver --otlp 70000
start_aggregator || exit 1
start_agent || exit 1
take || exit 1

# ---- traces
SPAN='span(bytes(range(16)), bytes(range(8)), "work", T, T + 5000, parent=b"\1" * 8, kind=3,
	pairs={"n": -1, "f": 0.5, "b": True, "s": "x", "list": [1, 2.5, "z", None or True], "map": {"k": 1},
	       "raw": b"\x01\xff"},
	events=[fixed(1, T + 1) + data(2, "ev") + attributes(3, {"k": "v"})[0]],
	links=[data(1, bytes(16)) + data(2, b"\xab" * 8)], status=number(3, 2) + data(2, "boom"))'
REQUEST="request([$SPAN], {\"service.name\": \"svc\", \"team\": \"t1\", \"host.name\": \"h\", \"os.type\": \"linux\"})"
answer "a span is taken" "200  " "'/v1/traces', $REQUEST"
wait_has 1 ev 1
check_text "... on its service's track, with its ids, status, links and attributes" \
	'[1700000000000000000, 1700000000000005000, "svc/scope", "work", "client", {"trace.id": "000102030405060708090a0b0c0d0e0f", "span.id": "0001020304050607", "parent.id": "0101010101010101", "error": "boom", "links": "00000000000000000000000000000000/abababababababab", "n": -1, "f": 0.5, "b": true, "s": "x", "list": "[1,2.5,\"z\",true]", "map": "{\"k\":1}", "raw": "01ff", "team": "t1", "host.name": "h"}]' \
	"$(has 3 work)"
check_text "... and its event" \
	'[1700000000000000001, "scope", "ev", {"trace.id": "000102030405060708090a0b0c0d0e0f", "span.id": "0001020304050607", "k": "v", "team": "t1", "host.name": "h"}, null]' \
	"$(has 1 ev)"
JSON='json.dumps({"resourceSpans": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "js"}}]},
	"scopeSpans": [{"scope": {"name": "sc"}, "spans": [{"traceId": "5B8EFFF798038103D269B633813FC60C",
	"spanId": "eee19b7ec3c1b174", "name": "from \u00e9", "startTimeUnixNano": "1700000000000000000",
	"endTimeUnixNano": 1700000000000000007, "kind": 2, "unknownField": [1, {"a": 2}], "status": None,
	"attributes": [{"key": "big", "value": {"intValue": "-9007199254740993"}}, {"key": "raw", "value": {"bytesValue": "Af8="}},
	{"key": "thread.name", "value": {"stringValue": "main"}}]}]}]}]}).encode()'
answer "a span in JSON is taken, compressed" "200 {} " "'/v1/traces', $JSON, 'json', 'gzip'"
wait_has 3 sc 1
check_text "... on the track of its thread" \
	'[1700000000000000000, 1700000000000000007, "js/main", "from \u00e9", "server", {"trace.id": "5b8efff798038103d269b633813fc60c", "span.id": "eee19b7ec3c1b174", "big": -9007199254740993, "raw": "01ff", "thread.name": "main"}]' \
	"$(has 3 js/)"
answer "names that records may not have are repaired" "200  " \
	"'/v1/traces', request([span(b'', b'', b'bad\xff\ncontrol', T, T - 1, pairs={'': 1})], {})"
wait_has 3 control 1
check_text "... ids of no length left out, and an end before the begin is none" \
	'[1700000000000000000, 1700000000000000000, "unknown_service/scope", "bad??control", "internal", {"?": 1}]' \
	"$(has 3 control)"
answer "a span without a time is refused, the other taken" \
	'200 {"partialSuccess":{"rejectedSpans":"1","errorMessage":"a span has no begin or no end before 2200-01-01"}} ' \
	"'/v1/traces', json.dumps({'resourceSpans': [{'scopeSpans': [{'spans': [{'name': 'none'}, {'name': 'some', 'startTimeUnixNano': '5', 'endTimeUnixNano': '6'}]}]}]}).encode(), 'json'"
wait_has 3 some 1

# ---- the same request again
answer "the same bytes again are taken" "200  " "'/v1/traces', $REQUEST"
stop receiver
check_text "the receiver ends well" 0 "$STATUS"
take || exit 1
answer "... by a receiver that has started again" "200  " "'/v1/traces', $REQUEST"
stop agent
start_agent || exit 1
answer "... by an agent that has started again" "200  " "'/v1/traces', $REQUEST"
answer "another request is taken" "200  " "'/v1/traces', request([span(b'\2' * 16, b'\2' * 8, 'later', T, T)])"
wait_has 3 later 1
check_text "... and is there once" 1 "$(has 3 svc/scope | grep -c boom)"

# ---- metrics
NUMBER='fixed(2, T - 10**9), fixed(3, T), *attributes(7, {"code": 200})'
METRICS="request([
	data(1, 'reqs') + data(3, '{request}') + data(7, data(1, $NUMBER, fixed(6, 42)), number(2, 2), number(3, 1)),
	data(1, 'temp') + data(3, 'Cel') + data(5, data(1, $NUMBER, double(4, 36.6))),
	data(1, 'lat') + data(3, 'ms') + data(9, data(1, fixed(2, T - 10**9), fixed(3, T), fixed(4, 7), double(5, 21.5),
		double(11, 1.0), double(12, 9.0)), number(2, 2)),
	data(1, 'none') + data(5, data(1, fixed(3, T), number(8, 1)))])"
answer "metrics are taken" "200  " "'/v1/metrics', $METRICS"
wait_has 2 otlp/svc 2
check_text "... as groups with labels, whose counters count from the begin of the sums" \
	'{"code":"200","service.name":"svc"} poolscope.boot 1 gauge 1699999999000
{"code":"200","service.name":"svc"} reqs {request} counter 42
{"code":"200","service.name":"svc"} temp Cel gauge 36.6
{"service.name":"svc"} lat.count 1 counter 7
{"service.name":"svc"} lat.max ms gauge 9.0
{"service.name":"svc"} lat.min ms gauge 1.0
{"service.name":"svc"} lat.sum ms counter 21.5
{"service.name":"svc"} poolscope.boot 1 gauge 1699999999000' \
	"$(numbers svc)"
delta() { # N TIME
	echo "request([data(1, 'd') + data(7, data(1, fixed(3, T + $2), fixed(6, $1)), number(2, 1), number(3, 1))], {'service.name': 'adds'})"
}
answer "a difference is taken" "200  " "'/v1/metrics', $(delta 5 1)"
answer "... twice the same request" "200  " "'/v1/metrics', $(delta 5 1)"
answer "... and another" "200  " "'/v1/metrics', $(delta 7 2)"
wait_has 2 otlp/adds 2
check_text "... and added up once" "5 12" \
	"$(stored 'r["record"][2][-1]' "r['kind'] == 2 and 'otlp/adds' in r['record'][1]" | tr '\n' ' ' | sed 's/ $//')"
answer "a metric whose name is none costs itself alone" \
	'200 {"partialSuccess":{"rejectedDataPoints":"1","errorMessage":"metric '"'two words'"' has a blank"}} ' \
	"'/v1/metrics', json.dumps({'resourceMetrics': [{'resource': {'attributes': [{'key': 'service.name', 'value': {'stringValue': 'one'}}]}, 'scopeMetrics': [{'metrics': [
		{'name': 'two words', 'gauge': {'dataPoints': [{'timeUnixNano': '5', 'asInt': '1'}]}},
		{'name': 'fine', 'gauge': {'dataPoints': [{'timeUnixNano': '5', 'asDouble': 'NaN'}, {'timeUnixNano': 6, 'asInt': 2}]}}]}]}]}).encode(), 'json'"
wait_has 2 otlp/one 2
check_text "... and not the others" "fine 2 fine nan" "$(numbers one | cut -d' ' -f2,5 | tr '\n' ' ' | sed 's/ $//')"

# ---- logs
LOG="request([fixed(1, T) + number(2, 17) + data(5, value('it broke')) + data(9, bytes(range(16)))])"
answer "logs are not taken by default" \
	'404 {"message":"logs are not taken: the receiver'"'"'s option --otlp-logs asks for them"} ' \
	"'/v1/logs', b'{}', 'json'"
stop receiver
take --otlp-logs || exit 1
answer "... and taken when asked for" "200  " "'/v1/logs', $LOG"
wait_has 1 broke 1
check_text "... as events" \
	'[1700000000000000000, "scope", "log", {"message": "it broke", "severity": "ERROR", "trace.id": "000102030405060708090a0b0c0d0e0f"}, null]' \
	"$(has 1 broke)"

# ---- what is wrong for ever
answer "a request that is cut is refused" \
	"400 $(printf '\022')2the request is no protocol buffer, or is cut short " "'/v1/traces', b'\xff'"
refused() { # NAME STATUS ARGUMENTS
	check_text "$1" "$2" "$(post "$3" | cut -d' ' -f1)"
}
refused "JSON that is none is refused" 400 "'/v1/traces', b'{\"resourceSpans\":[', 'json'"
refused "... and a field of another type" 400 "'/v1/traces', b'{\"resourceSpans\":7}', 'json'"
refused "what is compressed and damaged is refused" 400 "'/v1/traces', b'\x1f\x8b nonsense', Content_Encoding='gzip'"
refused "... and what grows a hundred times" 400 "'/v1/traces', bytes(3 << 20), 'protobuf', 'gzip'"
refused "deflate is taken" 200 "'/v1/traces', zlib.compress(request([span(b'', b'', 'zl', T, T)])), Content_Encoding='deflate'"
refused "another encoding is refused" 415 "'/v1/traces', b'', Content_Encoding='br'"
refused "a body of more than 4 MiB is refused" 413 "'/v1/traces', bytes((4 << 20) + 1)"
refused "another path is refused" 404 "'/v1/profiles', b''"
# What a page of a browser can send.
refused "a form of a page is refused" 415 "'/v1/traces', b'', 'text/plain'"
refused "... and a host that is not loopback" 403 "'/v1/traces', b'', Host='evil.example'"
refused "... also one that begins like it" 403 "'/v1/traces', b'', Host='127.0.0.1.evil.example'"
refused "... and any origin" 403 "'/v1/traces', b'', Origin='http://localhost:4318'"
check_text "no answer lets a page read it, and none leads elsewhere" "405 Allow" \
	"$(/usr/bin/python3 -c '
import http.client
c = http.client.HTTPConnection("127.0.0.1", 24318, timeout=30)
c.request("OPTIONS", "/v1/traces", headers={"Access-Control-Request-Method": "POST"})
r = c.getresponse()
print(r.status, *(k for k, _ in r.getheaders() if k.startswith("Access") or k in ("Allow", "Location")))')"
/usr/bin/python3 -c '
import socket
c = socket.create_connection(("127.0.0.1", 24318), 30)
c.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9))
c.recv(1000)'
wait_until 'grep -q OTEL_EXPORTER "$TMP/receiver.log"'
check "a client that speaks HTTP/2 is named the variable" grep -q 'OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf' "$TMP/receiver.log"

# ---- no agent
stop agent
check_text "without an agent the client is asked to come again" "503 1" \
	"$(post "'/v1/traces', request([span(b'', b'', 'waits', T, T)])" | sed 's/ .* / /')"
start_agent || exit 1
answer "... and is served when it does" "200  " "'/v1/traces', request([span(b'', b'', 'waits', T, T)])"
wait_has 3 waits 1
check_text "... once" 1 "$(has 3 waits | wc -l)"
stop receiver
stop agent
stop aggregator
