"""owners - peers that send under a session which somebody else began.

    owners.py goes-on LISTENER KEY NODE SESSION FROM TO
    owners.py stranger LISTENER KEY NODE SESSION [ROUTE [UID]]

The owner says hello, must be told FROM, and sends FROM .. TO, each once more,
too.  A stranger sends every kind of message under the session; each must be
answered nack forbidden.  KEY is a file, or - for none.  ROUTE: the key file of
the peer for which a broker's key forwards.  UID: be that user, of group 0.
SPDX-License-Identifier: MIT
"""

import os
import struct
import sys
import time

import msgpack
import zmq

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../flow"))
import keys_judge  # noqa: E402
from peer import (ACK, BATCH, BYE, CONTEXT, GAP, HELLO, NACK, PATIENCE_MS, VERSION,  # noqa: E402
                  WELCOME, Answer, crc32c, equal)
from sender import Sender  # noqa: E402

FORBIDDEN, TAKEN, DERIVED, ONCE = 6, 8192, 64, 256


def connect(listener, key):
    s = CONTEXT.socket(zmq.DEALER)
    s.linger = 0
    if key != "-":
        s.curve_publickey = keys_judge.words(key, "public")[0].encode()
        s.curve_secretkey = keys_judge.words(key, "secret")[0].encode()
        s.curve_serverkey = keys_judge.words(key, "server")[0].encode()
    s.connect(listener)
    return s


class Peer(Sender):
    def __init__(self, listener, key, node, session, salt="", route=()):
        self.socket, self.node, self.salt, self.route = connect(listener, key), node, salt, list(route)
        self.session = bytes.fromhex(session) if len(session) == 32 else session.encode().ljust(16, b"\0")
        self.partition, self.chain = os.environ.get("PARTITION", "acct$pool"), {0: 0}

    def message(self, kind, n, last=0, generation=0, flags=0, chain=None):
        body = self.body(n) if kind == BATCH else b""
        header = [self.partition, self.node, self.session, n, 1 if body else 0, 0, 42, len(body),
                  self.known(n - 1) if chain is None else chain, last, 32 if kind == GAP else 0, 0,
                  generation, 0, 0, 0, 0]
        rest = msgpack.packb(header) + body
        head = struct.pack("<4sBBHI", b"PSCP", VERSION, kind, flags, len(rest))
        return head + struct.pack("<I", crc32c(head + rest)) + rest

    def ask(self, *message, **fields):
        self.socket.send_multipart(self.route + [self.message(*message, **fields)])
        if not self.socket.poll(PATIENCE_MS):
            raise AssertionError("no answer to %r %r" % (message, fields))
        return Answer(self.socket.recv_multipart()[-1])


def goes_on(listener, key, node, session, first, last):
    first, last = int(first), int(last)
    owner = Peer(listener, key, node, session)
    until = time.monotonic() + PATIENCE_MS / 1000
    answer = owner.ask(HELLO, first)
    # A key that was just changed is not known everywhere yet; a session that is somebody else's stays so.
    while answer.type != WELCOME and not answer.flags & TAKEN and time.monotonic() < until:
        time.sleep(0.1)
        answer = owner.ask(HELLO, first)
    equal((answer.type, answer.expect, answer.chain), (WELCOME, first, owner.known(first - 1)), "welcome")
    for n in range(max(first - 1, 1), last + 1):
        for _ in range(2):
            answer = owner.ask(BATCH, n)
            equal((answer.type, answer.seq, answer.flags), (ACK, n, 0), "answer")


def stranger(listener, key, node, session, route="", uid=""):
    if uid:
        os.setgroups([])
        os.setresgid(0, 0, 0)
        os.setresuid(int(uid), int(uid), int(uid))
    frames = [b"peer", b"PSV1" + keys_judge.z85(keys_judge.words(route, "public")[0])] if route else []
    # Of a session of its own, where it may have one: what the store is called.
    own = Peer(listener, key, node, os.urandom(16).hex(), route=frames)
    own.socket.send_multipart(frames + [own.message(HELLO, 1)])
    if not own.socket.poll(PATIENCE_MS if not uid else 1000):
        print("does not get through")
        return
    generation = Answer(own.socket.recv_multipart()[-1]).generation
    refused = 0
    for salt in ("", "other"):
        s = Peer(listener, key, node, session, salt=salt, route=frames)
        for message in (
                dict(kind=HELLO, n=1), dict(kind=HELLO, n=1, generation=generation),
                dict(kind=HELLO, n=1000, generation=generation, chain=0),
                dict(kind=BATCH, n=1), dict(kind=BATCH, n=3), dict(kind=BATCH, n=4), dict(kind=BATCH, n=99, chain=5),
                dict(kind=BATCH, n=4, flags=DERIVED | ONCE), dict(kind=BATCH, n=4, chain=0),
                dict(kind=GAP, n=4, last=4), dict(kind=GAP, n=4, last=1000), dict(kind=GAP, n=1, last=3),
                dict(kind=GAP, n=1, last=1000, chain=0, flags=DERIVED)):
            answer = s.ask(message.pop("kind"), message.pop("n"), **message)
            equal((answer.type, answer.reason), (NACK, FORBIDDEN), "answer to %r" % message)
            equal((answer.expect, answer.chain), (0, 0), "what it learns of the stream")
            refused += 1
        s.socket.send_multipart(frames + [s.message(BYE, 3)])
    print("%d messages refused" % refused)


if __name__ == "__main__":
    {"goes-on": goes_on, "stranger": stranger}[sys.argv[1]](*sys.argv[2:])
