"""web - asks poolscope-web, and looks at its processor time.

    web.py PID URL RUNS

SPDX-License-Identifier: MIT
"""
import http.client
import os
import socket
import sys
import time

PID, URL, RUNS = int(sys.argv[1]), sys.argv[2].strip(), int(sys.argv[3])
TOKEN = URL.partition("#k=")[2]
HOST, _, PORT = URL.partition("://")[2].partition("/")[0].partition(":")
POOL, FARM = "bigacct%24bigpool", "acct%24farm"


def cpu():
    """Of all threads, in seconds, exact."""
    total = 0
    for task in os.listdir(f"/proc/{PID}/task"):
        with open(f"/proc/{PID}/task/{task}/schedstat") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def ticks():
    with open(f"/proc/{PID}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if not os.path.exists(f"/proc/{PID}/schedstat"):
    cpu = ticks


def ask(connection, target, **headers):
    connection.request("GET", target, headers={"Authorization": "Bearer " + TOKEN, "Accept-Encoding": "gzip", **headers})
    answer = connection.getresponse()
    return answer, answer.read()


def view(name, target, repeat=20):
    """Cold: the first time, other answers each run by a time that differs.  Warm: from memory, and 304."""
    connection = http.client.HTTPConnection(HOST, int(PORT), timeout=120)
    joint = "&" if "?" in target else "?"
    cold = wall = 1e9
    for i in range(RUNS):
        used, begun = cpu(), time.monotonic()
        answer, body = ask(connection, f"{target}{joint}from={1 + i}" if repeat else target)
        wall = min(wall, time.monotonic() - begun)
        cold = min(cold, cpu() - used)
        if answer.status != 200:
            sys.exit(f"{target}: {answer.status} {body[:200]}")
    text = f"{name:<34} {len(body) / 1e3:8.1f} KB  cold {cold * 1e3:7.1f} ms CPU {wall * 1e3:7.1f} ms"
    if repeat:
        last, tag = f"{target}{joint}from={RUNS}", answer.headers["ETag"]
        for word, headers in (("warm", {}), ("known", {"If-None-Match": tag})):
            used = cpu()
            for _ in range(repeat):
                ask(connection, last, **headers)
            text += f"  {word} {(cpu() - used) / repeat * 1e3:6.2f}"
    print(text)
    connection.close()


def small(count=20000, connections=8):
    """Requests that wait in a queue of each connection: the client costs as little as it can."""
    request = f"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 50
    peers = [socket.create_connection((HOST, int(PORT))) for _ in range(connections)]
    used, begun, left = cpu(), time.monotonic(), count
    while left > 0:
        for peer in peers:
            peer.sendall(request)
        for peer in peers:
            seen = 0
            while seen < 50:
                seen += peer.recv(1 << 16).count(b"ok\n")
            left -= seen
    took = time.monotonic() - begun
    print(f"{'small answers':<34} {(count - left) / took:8.0f}/s  {(cpu() - used) / (count - left) * 1e6:7.1f} us CPU each")


small()
view("pools", "/v1/pools", 0)
view("status", "/v1/status", 0)
view("newest 20 of 1,000 runs", f"/v1/pools/{FARM}/runs?newest=20")
view("phases of the pool", f"/v1/pools/{POOL}/phases")
view("breakdown, 800 rows", f"/v1/pools/{POOL}/breakdown?shape=columns")
view("starts", f"/v1/pools/{POOL}/starts")
view("phases by node, 100 slowest", f"/v1/pools/{POOL}/phases?by=node&sort=max&top=100")
view("nodes, first 100", f"/v1/pools/{POOL}/nodes?top=100")
view("cascade", f"/v1/pools/{POOL}/cascade")
with open(f"/proc/{PID}/status") as status:
    print("memory", next(line for line in status if line.startswith("VmRSS")).split()[1], "KB")
