"""live - 64 streams of poolscope-web while records come, then ten clients that ask.

    live.py PID URL MINUTES

SPDX-License-Identifier: MIT
"""
import http.client
import os
import subprocess
import sys
import threading
import time

PID, URL, MINUTES = int(sys.argv[1]), sys.argv[2].strip(), float(sys.argv[3])
TOKEN = URL.partition("#k=")[2]
HOST, _, PORT = URL.partition("://")[2].partition("/")[0].partition(":")
HEADERS = {"Authorization": "Bearer " + TOKEN, "Accept-Encoding": "gzip"}
FARM, POOL = "acct%24farm", "prodacct%24render-60"
VIEWS = ["/v1/pools", "/v1/status", f"/v1/pools/{FARM}/runs?newest=20", f"/v1/pools/{FARM}/nodes", f"/v1/pools/{FARM}/samples",
         f"/v1/pools/{POOL}/breakdown", f"/v1/pools/{POOL}/phases", f"/v1/pools/{POOL}/cascade", "/metrics", "/app.js"]


def cpu():
    with open(f"/proc/{PID}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory():
    with open(f"/proc/{PID}/status") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1])


def stream(until, ticks):
    connection = http.client.HTTPConnection(HOST, int(PORT), timeout=30)
    connection.request("GET", f"/v1/live?pool={FARM}", headers=HEADERS)
    answer = connection.getresponse()
    while time.monotonic() < until:
        if answer.readline().startswith(b"event: tick"):
            ticks.append(1)
    connection.close()


def events(until):
    """Ten a second: each tick has news."""
    with subprocess.Popen(["poolscope-emit", "--stdin"], stdin=subprocess.PIPE, text=True) as emit:
        while time.monotonic() < until:
            emit.stdin.write("test busy now\n")
            emit.stdin.flush()
            time.sleep(0.1)


def streams(count, seconds):
    until, ticks = time.monotonic() + seconds, []
    threads = [threading.Thread(target=stream, args=(until, ticks)) for _ in range(count)]
    threads.append(threading.Thread(target=events, args=(until,)))
    for thread in threads:
        thread.start()
    used, begun = cpu(), time.monotonic()
    time.sleep(seconds - 1)
    share = (cpu() - used) / (time.monotonic() - begun)
    for thread in threads:
        thread.join()
    print(f"{count} live streams: {share * 100:.1f} % of a core, {len(ticks) / count / seconds:.1f} ticks/s each")


def client(until, asked):
    connection, i = http.client.HTTPConnection(HOST, int(PORT), timeout=30), 0
    while time.monotonic() < until:
        # Windows that differ: what was asked before does not always serve.
        view = VIEWS[i % len(VIEWS)]
        if "/pools/" in view and i % 3 == 0:
            view += ("&" if "?" in view else "?") + f"from={i + 1}"
        connection.request("GET", view, headers=HEADERS)
        answer = connection.getresponse()
        answer.read()
        if answer.status not in (200, 404):
            sys.exit(f"{view}: {answer.status}")
        asked.append(1)
        i += 1
        time.sleep(0.1)
    connection.close()


def flat(count, minutes):
    asked, seen, begun = [], [], time.monotonic()
    until = begun + 60 * minutes
    threads = [threading.Thread(target=client, args=(until, asked)) for _ in range(count)]
    for thread in threads:
        thread.start()
    while time.monotonic() < until - 1:
        time.sleep(max(0, min(6 * minutes, until - 1 - time.monotonic())))
        seen.append(memory())
    for thread in threads:
        thread.join()
    print(f"{count} clients, {minutes:g} min, {len(asked)} answers: memory", " ".join(f"{kb / 1024:.1f}" for kb in seen), "MiB")


streams(64, 20)
flat(10, MINUTES)
