"""tenants - one of them floods.

Usage: tenants.py DOOR TMP LINES SECONDS: agents that work, then the same while
another partition's sends as fast as it may over LINES connections.
tenants.py metered DOOR TMP LINES SECONDS KEY FLOODKEY RATE READER: at a door
of keys that lets a key bring RATE bytes a second.
SPDX-License-Identifier: MIT
"""

import os
import subprocess
import sys
import time

from honest import Crew, keyed_agent, percentile, told
from batches import Hand, event, status_page
from peer import ACK, BATCH, BUSY, NACK, Answer, agent, frame
from sender import Sender
import sender


def flood(door, lines):
    """Full batches, eight under way on every connection, for ever."""
    if "HONEST_KEY" in os.environ:
        sender.agent = keyed_agent
    body = event({"k": os.urandom(8).hex(), "v": "x" * 30000}) * 7
    hands = [Hand(door, "flood-%d-%d" % (os.getpid(), i), partition="acct$flood") for i in range(lines)]
    chain = [1] * lines
    for i, hand in enumerate(hands):
        for _ in range(8):
            post(hand, chain[i], body)
            chain[i] += 1
    while True:
        for i, hand in enumerate(hands):
            while hand.socket.poll(0):
                answer = Answer(hand.socket.recv())
                if answer.type != ACK:
                    chain[i] = answer.expect or chain[i]
                post(hand, chain[i], body)
                chain[i] += 1
        time.sleep(0.0002)


def post(hand, n, body):
    hand.socket.send(frame(BATCH, partition=hand.partition, node="n1", session=hand.session, seq=n, records=7, body=body))


def kept_bytes(reader):
    s = agent(reader)
    found = status_page(s)
    s.close()
    return found["bytes"]


def metered(door, directory, lines, seconds, key, floodkey, rate, reader):
    """A key's flood is held to its rate, and goes on when it waits."""
    os.environ["HONEST_KEY"] = key
    crew, rate, seconds = Crew(door, directory, 2, "acct$pool"), int(rate), float(seconds)
    try:
        since = time.monotonic()
        assert crew.wait_for(100, since) >= 100, "no acknowledgements"
        since = time.monotonic()
        crew.wait_for(10**9, since, seconds)
        quiet = crew.latencies(since)
        before, since = kept_bytes(reader), time.monotonic()
        os.environ["HONEST_KEY"] = floodkey
        flooder = subprocess.Popen([sys.executable, os.path.abspath(__file__), "flood", door, lines])
        crew.wait_for(10**9, since, seconds)
        under, most = crew.latencies(since), kept_bytes(reader) - before
        flooder.kill()
        flooder.wait()
        lasted = time.monotonic() - since
        print("%s lines of one key, %d bytes a second: %.1f MB were kept in %.1f s; quiet: %s; flooded: %s" % (
            lines, rate, most / 1e6, lasted, told(quiet), told(under)))
        # What it may at once, what it may since, one frame over, and the others.
        assert most < rate * (10 + lasted) + (256 << 10) + 1000 * len(under), "%d bytes" % most
        assert most > rate, "the flood did not come"
        assert len(under) > len(quiet) / 20, "the others starve"
        sender.agent = keyed_agent
        waits, s = 0, Sender(door, "patient", partition="acct$flood")
        answer = s.batch(1)
        while answer.type == NACK and answer.reason == BUSY:
            waits += 1
            time.sleep(answer.retry_ms / 1000)
            answer = s.batch(1)
        assert (answer.type, answer.seq) == (ACK, 1), (answer.type, answer.reason)
        print("who waits as told was let through after %d times" % waits)
    finally:
        crew.stop()


def main():
    if sys.argv[1] == "metered":
        metered(*sys.argv[2:])
        return
    if sys.argv[1] == "flood":
        flood(sys.argv[2], int(sys.argv[3]))
    door, directory, lines, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    crew = Crew(door, directory, 3)
    flooders = []
    try:
        assert crew.wait_for(100) >= 100, "no acknowledgements"
        since = time.monotonic()
        crew.wait_for(10**9, since, seconds)
        middle = time.monotonic()
        quiet = crew.latencies(since, middle)
        flooders = [subprocess.Popen([sys.executable, os.path.abspath(__file__), "flood", door, str(lines)])]
        time.sleep(0.5)
        since = time.monotonic()
        crew.wait_for(10**9, since, seconds)
        under = crew.latencies(since)
        print("%d lines of a flood; quiet: %s; flooded: %s; ratio of p99 %.1f" % (
            lines, told(quiet), told(under), percentile(under, 0.99) / percentile(quiet, 0.99)))
        assert len(under) > len(quiet) / 20, "the others starve: %d acknowledgements, %d before" % (
            len(under), len(quiet))
    finally:
        for f in flooders:
            f.kill()
            f.wait()
        crew.stop()


if __name__ == "__main__":
    main()
