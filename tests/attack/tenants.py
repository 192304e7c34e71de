"""tenants - one of them floods.

Usage: tenants.py DOOR TMP LINES SECONDS: agents that work, then the same while
another partition's sends as fast as it may over LINES connections.
SPDX-License-Identifier: MIT
"""

import os
import subprocess
import sys
import time

from honest import Crew, percentile, told
from batches import Hand, event
from peer import ACK, BATCH, Answer, frame


def flood(door, lines):
    """Full batches, eight under way on every connection, for ever."""
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


def main():
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
