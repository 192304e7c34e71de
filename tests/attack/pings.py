"""Peers that ask more than is taken, with a PING behind each message, and go.

Usage: pings.py LISTENER PID [KEY]

A listener whose queue is full does not read on; what it has read of the peer waits
with it.  The connection breaks meanwhile.  When the queue has room again, libzmq wants
to answer the PINGs that waited.
SPDX-License-Identifier: MIT
"""

import contextlib
import os
import socket
import struct
import sys
import time

import msgpack
from zmq.utils import z85

from curve import Peer
from honest import key_of, keyed_agent
from raw import SLOW, descriptors, null_peer, part
from peer import PAGE, SELECT, agent, equal, frame, recv

PEERS = 40
MESSAGES = 1000
# Who resets at once is read together with the reset: messages and error are one event.
FEW, FEW_MESSAGES, TIMES = 5, 10, 40
COMMAND = 2  # the flag of a sealed frame
QUERY = msgpack.packb([1 << 1, "", "", 0, 4 * 10 ** 18, b"", 240 << 10])
QUESTION = frame(SELECT, node="", sent_ns=99, body=QUERY)
# Without and with a time to live of 0.1 s, for which libzmq starts a timer.
PINGS = [b"\x04PING" + struct.pack(">H", ttl) for ttl in (0, 1)]


def begin(listener, key, messages):
    """A peer, and all that it says."""
    if key is None:
        return null_peer(listener), b"".join(part(QUESTION) + part(PINGS[i % 2], command=1) for i in range(messages))
    peer = Peer(listener, *(z85.decode(key[name]) for name in ("public", "secret", "server")))
    said = b"".join(peer.part(QUESTION, 0) + peer.part(PINGS[i % 2], COMMAND) for i in range(messages))
    return peer.s, said


def ask_much(listener, key, count, messages, seconds):
    peers = [begin(listener, key, messages) for _ in range(count)]
    for s, said in peers:
        s.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            s.send(said)
        if not seconds:
            reset(s)
    time.sleep(seconds)
    for s, _ in peers:
        reset(s)


def reset(s):
    """Without a word: the other side gets a reset."""
    if s.fileno() >= 0:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()


def main():
    listener, pid = sys.argv[1:3]
    key = None
    if len(sys.argv) > 3:
        os.environ["HONEST_KEY"] = sys.argv[3]
        key = key_of(sys.argv[3])
    before = descriptors(pid)
    for _ in range(TIMES):
        ask_much(listener, key, FEW, FEW_MESSAGES, 0)
    for seconds in (0.2, 0.5, 1.0):
        ask_much(listener, key, PEERS, MESSAGES, seconds)
        time.sleep(2.5 * SLOW)
        equal(os.path.exists("/proc/%s/exe" % pid), True, "that the process is there")
    left = descriptors(pid) - before
    assert left < PEERS // 2, "%d connections of %d are left" % (left, 3 * PEERS)
    s = keyed_agent(listener) if key else agent(listener)
    s.send(QUESTION)
    equal(recv(s)[0][5], PAGE, "type")


if __name__ == "__main__":
    main()
