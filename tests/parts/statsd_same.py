"""statsd_same - what the clients `statsd` and `datadog` send, byte by byte to two receivers.

    statsd_same.py send OURS PEER CAPTURED   sockets; the bytes go into a file, too
    statsd_same.py compare PAGE LONG CAPTURED

PAGE is that of statsd_exporter, LONG the samples of poolscope-dump --format long.  They must have
the same sums, but for what is not the exporter's: sets, events, values with a time, tags without a
text.

SPDX-License-Identifier: MIT
"""
import csv
import json
import os
import random
import re
import socket
import sys
import threading


class Tee:
    """A UDP socket for the clients; each datagram goes on to both."""

    def __init__(self, paths, captured):
        self.front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.front.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.front.bind(("127.0.0.1", 0))
        self.port = self.front.getsockname()[1]
        self.backs = []
        for path in paths:
            back = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            back.connect(path)
            self.backs.append(back)
        self.captured = open(captured, "wb")
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while True:
            datagram = self.front.recv(65536)
            if datagram == b"end":
                return
            for back in self.backs:
                back.send(datagram)
            self.captured.write(datagram.rstrip(b"\n") + b"\n")

    def end(self):
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"end", ("127.0.0.1", self.port))
        self.thread.join()
        self.captured.close()


def plain(port, rng):
    from statsd import StatsClient

    client = StatsClient("127.0.0.1", port, prefix="plain")
    with client.pipeline() as pipe:
        for i in range(400):
            pipe.incr("done.%d" % (i % 7), rng.randint(0, 5))
            pipe.timing("load.%d" % (i % 3), rng.randint(1, 1000))
    for i in range(1500):
        client.incr("jobs", rate=0.5)
        client.timing("wait", rng.random() * 100, rate=0.25)
        client.gauge("level.%d" % (i % 5), rng.randint(0, 1000))
        client.gauge("queue", rng.randint(-5, 5), delta=True)
        client.set("users", "user %d" % rng.randint(0, 50))
    client.gauge("below", -7)
    client.decr("jobs", 3)
    with client.timer("block"):
        pass


def dog(port, rng):
    from datadog.dogstatsd.base import DogStatsd

    clients = [
        DogStatsd("127.0.0.1", port, constant_tags=["env:test"]),
        DogStatsd("127.0.0.1", port, disable_buffering=False, namespace="buffered"),
        DogStatsd("127.0.0.1", port, disable_aggregation=False, namespace="added", flush_interval=0.05),
    ]
    for client in clients:
        for i in range(500):
            tags = ["rank:%d" % (i % 4), "phase:train"]
            client.increment("steps", rng.randint(1, 3), tags=tags)
            client.gauge("loss", round(rng.random(), 6), tags=tags)
            client.histogram("size", rng.randint(1, 10**6), tags=tags)
            client.distribution("latency", rng.random(), tags=tags, sample_rate=0.5)
            client.timing("took", rng.randint(1, 5000), tags=tags)
            client.set("hosts", "h%d" % (i % 20), tags=tags)
        client.increment("odd", tags=["alone", "url:http://h:80/x", "a:1", "a:2"])
        client.event("Deploy ready", "line one\nline two", alert_type="info", tags=["env:prod"])
        client.service_check("database", 2, message="away")
        client.gauge_with_timestamp("then", 7, 1700000000, tags=["rank:1"])
        client.flush_aggregated_metrics()
        client.flush()
        client.stop()


def send(ours, peer, captured):
    rng = random.Random(int(os.environ.get("SEED", "1")))
    random.seed(rng.random())
    tee = Tee([ours, peer], captured)
    plain(tee.port, rng)
    dog(tee.port, rng)
    tee.end()


def exporter(path):
    """name, labels -> number."""
    numbers = {}
    for line in open(path):
        match = re.fullmatch(r'([a-zA-Z0-9_:]+)(?:\{(.*)\})? (\S+)\n', line)
        if match:
            labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match.group(2) or ""))
            if "quantile" not in labels:
                numbers[match.group(1), tuple(sorted(labels.items()))] = float(match.group(3))
    return numbers


def store(path):
    """name, labels -> last number."""
    numbers = {}
    for row in csv.DictReader(open(path)):
        if row["metric"] != "poolscope.boot" and row["value"]:
            labels = tuple(sorted(json.loads(row["labels"] or "{}").items()))
            numbers[row["metric"], labels] = float(row["value"])
    return numbers


def compare(page, long, captured):
    theirs, ours = exporter(page), store(long)
    used, wrong, same = set(), 0, 0
    # The types of names, out of the bytes.
    types = dict(re.findall(r"^([^:|\n]+):[^|\n]*\|(\w+)", open(captured, errors="replace").read(), re.M))
    for (name, labels), number in sorted(ours.items()):
        base, end = name, ""
        if types.get(name) is None:
            base, _, end = name.rpartition(".")
        kind = types.get(base)
        if kind is None or kind == "s" or end in ("min", "max", "p99") or base == "then":
            continue
        their = re.sub(r"[^a-zA-Z0-9_]", "_", base) + ("_" + end if end else "")
        # The exporter leaves out a tag without a text, and writes its names without dots.
        their_labels = tuple((k.replace(".", "_"), v) for k, v in labels if k != "alone")
        wanted = theirs.get((their, their_labels))
        if wanted is not None and end == "sum" and kind == "ms":
            wanted *= 1000  # the exporter has seconds
        used.add((their, their_labels))
        if wanted is None or abs(wanted - number) > 1e-9 * abs(number):
            print("differs:", name, dict(labels), "is", number, "there", wanted)
            wrong += 1
        same += 1
    names = {re.sub(r"[^a-zA-Z0-9_]", "_", n) for n, t in types.items() if t != "s"}
    for (name, labels), number in sorted(theirs.items()):
        base = re.sub(r"_(sum|count)$", "", name)
        if base in names and base != "then" and (name, labels) not in used:
            print("is there only:", name, dict(labels), number)
            wrong += 1
    print(same, "sums compared")
    return wrong == 0 and same > 100


if __name__ == "__main__":
    if sys.argv[1] == "send":
        send(*sys.argv[2:5])
    elif not compare(*sys.argv[2:5]):
        sys.exit(1)
