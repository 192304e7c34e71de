"""packets - strangers at the agent's local socket.

Usage: packets.py SOCKET SEED [deaf|many]; exits with 1 and a word when the
agent did what proto/wire.md does not say.
SPDX-License-Identifier: MIT
"""

import os
import random
import socket
import sys

import msgpack

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peer import ACK, HELLO, NACK, Answer, frame  # noqa: E402

PUT, UNSUPPORTED, MALFORMED, TOO_BIG = 12, 5, 7, 8
PATIENCE_S = 10 * int(os.environ.get("SLOW", "1"))


def client():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1])  # waits when the backlog is full
    s.settimeout(PATIENCE_S)
    return s


def event(n=0):
    return msgpack.packb([1, 1500000000000000000 + n, "test", "packet", {"n": n}, os.urandom(16)])


def put(body, records=1, **more):
    return frame(PUT, body=body, records=records, **more)


def answer(s):
    data = s.recv(1 << 16)
    if not data:
        raise SystemExit("the connection was closed")
    return Answer(data)


def expect(s, packet, kind, reason, what):
    s.send(packet)
    a = answer(s)
    if (a.type, a.reason) != (kind, reason):
        raise SystemExit(f"{what}: type {a.type} reason {a.reason}, not {kind} {reason}")
    return a


def good(s, seq):
    a = expect(s, put(event(seq), seq=seq, sent_ns=seq * 7), ACK, 0, "a good put")
    if (a.seq, a.sent_ns) != (seq, seq * 7):
        raise SystemExit(f"the answer is to {a.seq}, not to {seq}")


def nested(depth):
    return b"\x91" * depth + b"\xc0"


class Steady:
    """A client that comes again after three bad packets, as it is shown out."""

    def __init__(self):
        self.socket = client()
        self.ended = 0

    def send(self, packet):
        self.packet = packet

    def recv(self, size):
        try:
            self.socket.send(self.packet)
            data = self.socket.recv(size)
        except (BrokenPipeError, ConnectionResetError):
            data = b""
        if data:
            return data
        self.ended += 1
        self.socket = client()
        self.socket.send(self.packet)
        return self.socket.recv(size)


def bad(rng):
    s = Steady()
    good(s, 1)
    expect(s, frame(HELLO), NACK, UNSUPPORTED, "a hello")
    expect(s, put(event(), version=3), NACK, UNSUPPORTED, "another version")
    expect(s, put(event(), records=2), NACK, MALFORMED, "too few records")
    expect(s, put(event() * 2), NACK, MALFORMED, "too many records")
    expect(s, put(b""), NACK, MALFORMED, "no record")
    expect(s, put(event()[:-1]), NACK, MALFORMED, "half a record")
    expect(s, put(nested(9)), NACK, MALFORMED, "depth")
    expect(s, put(event(), partition="a\tb"), NACK, MALFORMED, "a control character")
    expect(s, put(event(), partition="x" * 256), NACK, MALFORMED, "a long name")
    expect(s, put(msgpack.packb([6, 1, 2, "m", "p", "k", {}])), NACK, MALFORMED, "a phase")
    expect(s, put(msgpack.packb([1, 10**19, "s", "n", {}, None])), NACK, MALFORMED, "a time")
    expect(s, put(b"", records=0), ACK, 0, "an empty put")
    expect(s, put(b"\xc0" * 70000), NACK, TOO_BIG, "a packet over the limit")
    whole = put(event())
    for _ in range(300):
        broken = bytearray(whole)
        broken[rng.randrange(len(broken))] ^= rng.randrange(1, 256)
        s.send(bytes(broken))
        if answer(s).type != NACK:
            raise SystemExit(f"a broken packet was taken: {bytes(broken).hex()}")
    for _ in range(100):
        s.send(rng.randbytes(rng.randrange(1, 2000)))
        if answer(s).type != NACK:
            raise SystemExit("noise was taken")
    if s.ended < 100:
        raise SystemExit("it was disconnected %d times only" % s.ended)
    good(s, 2)


def deaf():
    s = client()
    other = client()
    packet = put(b"", records=0)
    sent = 0
    try:
        while sent < 100000:
            s.send(packet)
            sent += 1
    except (BrokenPipeError, ConnectionResetError):
        pass
    if sent == 100000:
        raise SystemExit("it was let go on")
    good(other, 3)


def many():
    clients = [client() for _ in range(200)]
    for i, s in enumerate(clients):
        good(s, i + 1)
    clients += [client() for _ in range(100)]
    # The first ones are idle by the time that the last ones need a place.
    for i, s in enumerate(clients[200:]):
        good(s, i + 1)


def main():
    case = sys.argv[3] if len(sys.argv) > 3 else "bad"
    if case == "bad":
        bad(random.Random(int(sys.argv[2])))
    elif case == "deaf":
        deaf()
    else:
        many()


main()
