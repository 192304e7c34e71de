"""mcp_web - a client of /mcp of poolscope web by hand, for 571-mcp-web.sh.

    PORT=5580 TOKEN=T ONE=TOKEN_OF_ONE_POOL mcp_web.py CASE

The statuses are those of the protocol's transport "Streamable HTTP", and of exporters/web/api.md.
SPDX-License-Identifier: MIT
"""

import http.client
import json
import os
import re
import select
import signal
import socket
import sys
import time

PORT, TOKEN, ONE = int(os.environ["PORT"]), os.environ["TOKEN"], os.environ["ONE"]
BODY_BYTES_MAX = 64 << 10
MODERN = "2026-07-28"


def equal(got, wanted):
    if got != wanted:
        sys.exit("got %r\nwanted %r" % (got, wanted))


def send(body, method="POST", path="/mcp", token=TOKEN, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if token:
        headers["Authorization"] = "Bearer " + token
    headers.update({"Content-Type": "application/json", "Accept": "application/json, text/event-stream"})
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    answer.body = answer.read()
    connection.close()
    return answer


def message(method, params=None, id_=1):
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params or {}})


def ask(method, params=None, **more):
    answer = send(message(method, params), **more)
    equal((answer.status, answer.headers["Content-Type"]), (200, "application/json"))
    return json.loads(answer.body)


def call(tool, token=TOKEN, **arguments):
    result = ask("tools/call", {"name": tool, "arguments": arguments}, token=token)["result"]
    return result["structuredContent"], result["isError"]


def case_messages():
    result = ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})["result"]
    equal(result["protocolVersion"], "2025-06-18")
    answer = send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    equal((answer.status, answer.body), (202, b""))
    assert len(ask("tools/list")["result"]["tools"]) > 20
    answer, failed = call("pools")
    table = answer["tables"]["pools"]
    equal((failed, sorted(row[0] for row in table["rows"])), (False, ["acct$other", "acct$pool"]))
    equal(answer["command"], "poolscope stats pools")
    for body, status, code in (("nonsense", 400, -32700), ("", 400, -32700), ("[]", 400, -32600),
                               (message("no"), 200, -32601), (message("tools/call", {"name": "no"}), 200, -32602)):
        answer = send(body)
        equal((body, answer.status, json.loads(answer.body)["error"]["code"]), (body, status, code))
    for method in ("GET", "DELETE", "PUT", "HEAD"):
        answer = send(None, method)
        equal((method, answer.status, answer.headers["Allow"]), (method, 405, "POST"))
    equal(send(message("ping"), path="/v1/status").status, 405)
    equal(send(message("ping"), path="/mcp/x").status, 405)


def case_rights():
    for token in (None, "", "nonsense", ONE[:-1]):
        answer = send(message("ping"), token=token)
        equal((token, answer.status, answer.headers["WWW-Authenticate"]), (token, 401, "Bearer"))
        equal((answer.headers["Content-Type"], json.loads(answer.body)["error"]["code"]), ("application/json", -32000))
    answer, failed = call("pools", token=ONE)
    equal((failed, [row[0] for row in answer["tables"]["pools"]["rows"]]), (False, ["acct$pool"]))
    answer, failed = call("nodes", token=ONE, partition="acct$pool")
    equal((failed, answer["tables"]["nodes"]["of"]), (False, 2))
    answer, failed = call("nodes", token=ONE, partition="acct$other")
    equal((failed, "that the token may read" in answer["error"]), (True, True))
    answer, failed = call("nodes", token=ONE, partition="acct$othe")
    equal((failed, "acct$other" in answer["error"]), (True, False))
    # No other store or file of the server's host, whatever the token.
    for token in (ONE, TOKEN):
        answer, failed = call("compare", token=token, partition="acct$pool", **{"with-store": os.environ["DIR"] + "/store"})
        equal((failed, "no argument 'with-store'" in answer["error"]), (True, True))
    answer, failed = call("nodes", partition="acct$other")
    equal((failed, answer["tables"]["nodes"]["of"]), (False, 2))
    # Both at once, for as long as it takes: each sees its own.
    for _ in range(20):
        equal(len(call("pools", token=ONE)[0]["tables"]["pools"]["rows"]), 1)
        equal(len(call("pools")[0]["tables"]["pools"]["rows"]), 2)


def case_origins():
    for origin in ("http://localhost:%d" % PORT, "http://127.0.0.1", "http://[::1]:9", "https://localhost"):
        equal((origin, send(message("ping"), Origin=origin).status), (origin, 200))
    for origin in ("http://evil.example", "null", "", "http://localhost.evil.example", "http://127.0.0.1.evil.example:80",
                   "https://evil.example/localhost", "localhost", "http://evil.example:80/://localhost"):
        equal((origin, send(message("ping"), Origin=origin).status), (origin, 403))
        # Not even to say whether the token is one.
        equal((origin, send(message("ping"), token=None, Origin=origin).status), (origin, 403))
    equal(send(message("ping"), Host="evil.example").status, 403)


def case_lengths():
    ping = message("ping")
    equal(send(ping + " " * (BODY_BYTES_MAX - len(ping))).status, 200)
    equal(send(ping + " " * (BODY_BYTES_MAX - len(ping) + 1)).status, 413)

    def pieces(count):
        yield ping.encode()
        for _ in range(count):
            yield b" " * 1000
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    for count, status in ((10, 200), (100, 413), (1, 200)):
        connection.request("POST", "/mcp", pieces(count), {"Authorization": "Bearer " + TOKEN}, encode_chunked=True)
        answer = connection.getresponse()
        answer.read()
        equal((count, answer.status), (count, status))
    for length, wanted in (("999999999999999999999999", b"413"), ("-5", b"4"), ("65537", b"413")):
        with socket.create_connection(("127.0.0.1", PORT), timeout=60) as half:
            half.sendall(("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                          "Content-Length: %s\r\n\r\n" % (TOKEN, length)).encode())
            got = half.recv(100)
            equal((length, got[:0] if got == b"" else got.split(b" ")[1][:len(wanted)]),
                  (length, b"" if got == b"" else wanted))
    # Ten that send nothing more hold up nobody.
    held = [socket.create_connection(("127.0.0.1", PORT)) for _ in range(10)]
    for half in held:
        half.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
    began = time.monotonic()
    equal(send(ping).status, 200)
    assert time.monotonic() - began < 20
    for half in held:
        half.close()


def case_versions():
    """From 2026-07-28 on fields of HTTP say what the message says."""
    meta = {"_meta": {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}}
    fields = {"Mcp_Protocol_Version": MODERN, "Mcp_Method": "tools/call", "Mcp_Name": "pools"}
    body = message("tools/call", dict(meta, name="pools", arguments={}))
    answer = send(body, **fields)
    equal((answer.status, json.loads(answer.body)["result"]["isError"]), (200, False))
    for name in fields:
        for other in ("nodes", None):
            wrong = {key: value for key, value in dict(fields, **{name: other}).items() if value is not None}
            answer = send(body, **wrong)
            equal((wrong, answer.status, json.loads(answer.body)["error"]["code"]), (wrong, 400, -32020))
    answer = send(message("none", meta), Mcp_Protocol_Version=MODERN, Mcp_Method="none")
    equal((answer.status, json.loads(answer.body)["error"]["code"]), (404, -32601))
    answer = send(message("ping"), Mcp_Protocol_Version="1999-01-01")
    equal((answer.status, json.loads(answer.body)["error"]["code"]), (400, -32600))
    equal(send(message("ping"), Mcp_Protocol_Version="2025-11-25").status, 200)


def case_limits():
    """A burst of 200 and 20 a second; a message counts as 10."""
    statuses, began = [], time.monotonic()
    while 429 not in statuses and len(statuses) < 300:
        answer = send(message("ping"))
        statuses.append(answer.status)
    most = 21 + int((time.monotonic() - began) * 2) + 1
    assert 21 <= statuses.count(200) <= most, (statuses.count(200), most)
    assert answer.headers["Retry-After"] in "12345", answer.headers["Retry-After"]
    equal(json.loads(answer.body)["error"]["message"],
          "the token asks more often than poolscope web --request-rate allows; ask again later")
    # Its other questions, too; another token is another matter, and files need none.
    equal(send(None, "GET", "/v1/status").status, 429)
    equal(send(None, "GET", "/v1/live?pool=acct%24pool").status, 429)
    equal(send(None, "GET", "/").status, 200)
    equal(send(message("ping"), token=ONE).status, 200)
    for _ in range(5):
        equal(send(message("ping"), token="nonsense").status, 401)
    time.sleep(int(answer.headers["Retry-After"]) + 0.1)
    equal(send(message("ping")).status, 200)
    time.sleep(2)
    text = send(None, "GET", "/metrics").body.decode()
    refused = int(float(re.search(r"^poolscope_web_rate_limited_requests_total (\S+)$", text, re.M).group(1)))
    assert refused >= 3, refused


def case_shares():
    """70 questions of one token, while nothing is answered: 6 are refused at once; what another
    token asks then does not wait for the rest."""
    os.kill(int(os.environ["AGGREGATOR"]), signal.SIGSTOP)
    try:
        asked = [begin("GET /v1/pools/acct%%24pool/phases?from=%d" % i) if i % 2 else
                 begin("POST /mcp", message("tools/call", {"name": "pools"}, i)) for i in range(70)]
        early = readable(asked, 6)
        other = begin("GET /v1/pools/acct%24pool/nodes", token=ONE)
        time.sleep(0.2)  # what is answered now is answered to nobody
        equal(len(readable(asked)), 6)
    finally:
        os.kill(int(os.environ["AGGREGATOR"]), signal.SIGCONT)
    for answer in map(end, early):
        equal((answer.status, answer.headers["Retry-After"]), (429, "1"))
        body = json.loads(answer.body)
        equal(body.get("detail") or body["error"]["message"], "64 questions of the token are not answered yet; ask again when some are")
    equal(end(other).status, 200)
    rest = [each for each in asked if each not in early]
    soon = len(readable(rest))
    assert soon < 33, soon
    equal({end(each).status for each in rest}, {200})


def begin(line, body=None, token=TOKEN):
    half = socket.create_connection(("127.0.0.1", PORT), timeout=60)
    half.sendall(("%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s" %
                  (line, token, len(body or ""), body or "")).encode())
    return half


def end(half):
    answer = http.client.HTTPResponse(half)
    answer.begin()
    answer.body = answer.read()
    half.close()
    return answer


def readable(halves, count=0):
    """Those that are answered, when at least `count` are."""
    until = time.monotonic() + 20
    while len(found := select.select(halves, [], [], 0)[0]) < count and time.monotonic() < until:
        time.sleep(0.01)
    return found


def case_store():
    answer, failed = call("nodes", partition="acct$pool")
    equal((failed, answer["tables"]["nodes"]["of"]), (False, 2))


globals()["case_" + sys.argv[1]]()
