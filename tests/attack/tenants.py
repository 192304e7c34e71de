"""tenants - one of them floods.

Usage: tenants.py LISTENER TMP LINES SECONDS: agents that work, then the same while
another partition's sends as fast as it may over LINES connections.
tenants.py limited LISTENER TMP LINES SECONDS KEY FLOODKEY RATE READER: at a listener
with keys and an ingest rate of RATE bytes a second.
SPDX-License-Identifier: MIT
"""

import os
import subprocess
import sys
import time

from honest import Crew, keyed_agent, percentile, summary
from batches import Hand, event, status_page
from peer import ACK, BATCH, BUSY, NACK, Answer, agent, frame
from sender import Sender
import sender


def flood(listener, lines):
    """Full batches, eight under way on every connection, for ever."""
    if "HONEST_KEY" in os.environ:
        sender.agent = keyed_agent
    body = event({"k": os.urandom(8).hex(), "v": "x" * 30000}) * 7
    hands = [Hand(listener, "flood-%d-%d" % (os.getpid(), i), partition="acct$flood") for i in range(lines)]
    seqs = [1] * lines
    for i, hand in enumerate(hands):
        for _ in range(8):
            post(hand, seqs[i], body)
            seqs[i] += 1
    while True:
        for i, hand in enumerate(hands):
            while hand.socket.poll(0):
                answer = Answer(hand.socket.recv())
                if answer.type != ACK:
                    seqs[i] = answer.expect or seqs[i]
                post(hand, seqs[i], body)
                seqs[i] += 1
        time.sleep(0.0002)


def post(hand, n, body):
    hand.socket.send(frame(BATCH, partition=hand.partition, node="n1", session=hand.session, seq=n, records=7, body=body))


def stored_bytes(reader):
    s = agent(reader)
    found = status_page(s)
    s.close()
    return found["bytes"]


def limited(listener, directory, lines, seconds, key, floodkey, rate, reader):
    """A key's flood is held to its rate, and goes on when it waits."""
    os.environ["HONEST_KEY"] = key
    crew, rate, seconds = Crew(listener, directory, 2, "acct$pool"), int(rate), float(seconds)
    try:
        since = time.monotonic()
        assert crew.wait_for(100, since) >= 100, "no acknowledgements"
        since = time.monotonic()
        crew.wait_for(10**9, since, seconds)
        quiet = crew.latencies(since)
        before, since = stored_bytes(reader), time.monotonic()
        os.environ["HONEST_KEY"] = floodkey
        flooder = subprocess.Popen([sys.executable, os.path.abspath(__file__), "flood", listener, lines])
        crew.wait_for(10**9, since, seconds)
        under, most = crew.latencies(since), stored_bytes(reader) - before
        flooder.kill()
        flooder.wait()
        lasted = time.monotonic() - since
        print("%s lines of one key, %d bytes a second: %.1f MB were stored in %.1f s; quiet: %s; flooded: %s" % (
            lines, rate, most / 1e6, lasted, summary(quiet), summary(under)))
        # What it may at once, what it may since, one frame over, and the others.
        assert most < rate * (10 + lasted) + (256 << 10) + 1000 * len(under), "%d bytes" % most
        assert most > rate, "the flood did not come"
        assert len(under) > len(quiet) / 20, "the others starve"
        sender.agent = keyed_agent
        waits, s = 0, Sender(listener, "waiting", partition="acct$flood")
        answer = s.batch(1)
        while answer.type == NACK and answer.reason == BUSY:
            waits += 1
            time.sleep(answer.retry_ms / 1000)
            answer = s.batch(1)
        assert (answer.type, answer.seq) == (ACK, 1), (answer.type, answer.reason)
        print("a sender that waits was let through after %d times" % waits)
    finally:
        crew.stop()


def main():
    if sys.argv[1] == "limited":
        limited(*sys.argv[2:])
        return
    if sys.argv[1] == "flood":
        flood(sys.argv[2], int(sys.argv[3]))
    listener, directory, lines, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    crew = Crew(listener, directory, 3)
    flooders = []
    try:
        assert crew.wait_for(100) >= 100, "no acknowledgements"
        since = time.monotonic()
        crew.wait_for(10**9, since, seconds)
        middle = time.monotonic()
        quiet = crew.latencies(since, middle)
        flooders = [subprocess.Popen([sys.executable, os.path.abspath(__file__), "flood", listener, str(lines)])]
        time.sleep(0.5)
        since = time.monotonic()
        crew.wait_for(10**9, since, seconds)
        under = crew.latencies(since)
        print("%d lines of a flood; quiet: %s; flooded: %s; ratio of p99 %.1f" % (
            lines, summary(quiet), summary(under), percentile(under, 0.99) / percentile(quiet, 0.99)))
        assert len(under) > len(quiet) / 20, "the others starve: %d acknowledgements, %d before" % (
            len(under), len(quiet))
    finally:
        for f in flooders:
            f.kill()
            f.wait()
        crew.stop()


if __name__ == "__main__":
    main()
