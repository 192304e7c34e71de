"""Readers that ask more than is answered, and go.

Usage: pauses.py LISTENER PID

While a listener has enough messages of a peer it stops to read from it.  A peer that
goes meanwhile leaves a connection that is half taken down, which no timer of ours may
meet.
SPDX-License-Identifier: MIT
"""

import os
import socket
import struct
import sys
import time

import msgpack

from raw import SLOW, null_peer, part
from peer import PAGE, SELECT, agent, equal, frame, recv

PEERS = 40
QUERY = msgpack.packb([1 << 1, "", "", 0, 4 * 10 ** 18, b"", 240 << 10])
QUESTION = frame(SELECT, node="", sent_ns=99, body=QUERY)


def ask_much(listener, seconds):
    """Ask until the other side takes no more, or for a while; then go."""
    peers = [null_peer(listener) for _ in range(PEERS)]
    for s in peers:
        s.setblocking(False)
        try:
            s.send(part(QUESTION) * 1000)
        except BlockingIOError:
            pass
    time.sleep(seconds)
    for s in peers:  # without a word: the other side gets a reset
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()


def main():
    listener, pid = sys.argv[1:]
    for seconds in (0.5, 1.0, 1.5):
        ask_much(listener, seconds)
        time.sleep(2.5 * SLOW)
        equal(os.path.exists("/proc/%s/exe" % pid), True, "that the process is there")
    s = agent(listener)
    s.send(QUESTION)
    equal(recv(s)[0][5], PAGE, "type")


main()
