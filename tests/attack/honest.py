"""honest - agents that go on working while others do not behave.

Usage: honest.py LISTENER NAME FILE [PARTITION]: sends one batch after another, each
when the one before was acknowledged, until TERM; a line
"END_S LATENCY_MS" for each into FILE.  What got no answer is sent again.
SPDX-License-Identifier: MIT
"""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "flow"))
import zmq  # noqa: E402

import sender  # noqa: E402
from peer import ACK, CONTEXT, recv_answer  # noqa: E402
from sender import Sender  # noqa: E402

PAUSE_S = 0.005


def key_of(path):
    """The lines of a key file, as ZeroMQ wants them."""
    with open(path) as f:
        return {k: v.encode() for k, v in (line.strip().split(": ", 1) for line in f if ": " in line)}


def with_key(socket, key, endpoint):
    socket.curve_publickey, socket.curve_secretkey, socket.curve_serverkey = key["public"], key["secret"], key["server"]
    socket.connect(endpoint)
    return socket


def keyed_agent(endpoint):
    s = CONTEXT.socket(zmq.DEALER)
    s.linger = 0
    s.sndhwm = s.rcvhwm = 0
    return with_key(s, key_of(os.environ["HONEST_KEY"]), endpoint)


def work(listener, name, path, partition="acct$flow"):
    if "HONEST_KEY" in os.environ and listener.startswith("tcp:"):
        sender.agent = keyed_agent
    s = Sender(listener, name, partition=partition)
    n = 1
    with open(path, "w", buffering=1) as out:
        while True:
            began = time.monotonic()
            s.send(n)
            while True:
                if not s.socket.poll(1000):
                    s.send(n)
                    continue
                answer = recv_answer(s.socket)
                if answer.type == ACK and answer.seq >= n:
                    break
                if answer.type != ACK:
                    time.sleep(0.05)
                    s.send(n)
            ended = time.monotonic()
            out.write("%.6f %.3f\n" % (ended, (ended - began) * 1000))
            n += 1
            time.sleep(PAUSE_S)


class Crew:
    """Some of them, as processes of their own."""

    def __init__(self, listener, directory, count=3, partition="acct$flow"):
        self.paths = [os.path.join(directory, "honest-%s-%d" % (partition.replace("$", "-"), i)) for i in range(count)]
        self.members = [
            subprocess.Popen([sys.executable, os.path.abspath(__file__), listener, "honest-%d" % i, path, partition])
            for i, path in enumerate(self.paths)]

    def latencies(self, since=0.0, until=float("inf")):
        found = []
        for path in self.paths:
            if os.path.exists(path):
                with open(path) as f:
                    for line in f:
                        words = line.split()
                        if line.endswith("\n") and since <= float(words[0]) < until:
                            found.append(float(words[1]))
        return sorted(found)

    def wait_for(self, count, since=0.0, seconds=60):
        """Until they had `count` acknowledgements since then; how many."""
        until = time.monotonic() + seconds
        while True:
            got = len(self.latencies(since))
            if got >= count or time.monotonic() > until:
                return got
            assert all(m.poll() is None for m in self.members), "an honest agent ended"
            time.sleep(0.05)

    def stop(self):
        for m in self.members:
            m.terminate()
        for m in self.members:
            m.wait()


def percentile(values, p):
    return values[min(len(values) - 1, int(len(values) * p))] if values else float("nan")


def summary(values):
    return "%d acks, p50 %.1f ms, p99 %.1f ms" % (len(values), percentile(values, 0.5), percentile(values, 0.99))


if __name__ == "__main__":
    try:
        work(*sys.argv[1:])
    except KeyboardInterrupt:
        pass
