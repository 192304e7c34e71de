"""zmtp - peers and servers that speak ZMTP 3.1 wrongly, and go in the middle of it.

Usage: zmtp.py peers SEED COUNT LISTENER=PID[,PID]... [-k KEYFILE]...
       zmtp.py server SEED SECONDS PORT [KEYFILE]

peers: COUNT connections, a few at a time, to the listeners (tcp://, ipc://).  Each
has a handshake (NULL, CURVE with one of the keys, or neither) and messages with PINGs
between; some of it is malformed; it is cut at some byte, and the connection is reset,
closed or left.  Of some groups all is sent while the process stands still (SIGSTOP).
Ends with 1 when a process has gone.
server: the same as a server, which has the key that its clients expect.

Written from ZeroMQ RFC 23, 26 and 37.
SPDX-License-Identifier: MIT
"""

import contextlib
import ctypes
import os
import random
import select
import signal
import socket
import struct
import sys
import time

from zmq.utils import z85

from curve import box, pair, sodium, unbox
from honest import key_of
from raw import greeting, part
from peer import BATCH, HELLO, SELECT, STATUS, frame

TYPES = [b"DEALER", b"ROUTER", b"REQ", b"REP", b"PUB", b"SUB", b"XPUB", b"PAIR", b"STREAM", b"", b"dealer", b"\xff" * 40]
PATIENCE_S = 0.3 * int(os.environ.get("SLOW", "1"))
# Public keys that share a secret of zeros with everybody.
WEAK = [bytes(32), b"\1" + bytes(31), bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
        bytes.fromhex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")]


class Gone(Exception):
    """The other side has ended the connection."""


def connect(endpoint):
    if endpoint.startswith("ipc://"):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(PATIENCE_S)
        s.connect(endpoint[6:])
        return s
    host, port = endpoint[6:].rsplit(":", 1)
    s = socket.create_connection((host, int(port)), timeout=PATIENCE_S)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def reset(s):
    with contextlib.suppress(OSError):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def take(s, count):
    got = b""
    while len(got) < count:
        more = s.recv(count - len(got))
        if not more:
            raise Gone()
        got += more
    return got


def take_command(s):
    flags, size = take(s, 2)
    if flags & 2:
        size = struct.unpack(">Q", bytes([size]) + take(s, 7))[0]
    if size > 1 << 20:
        raise Gone()
    return take(s, size)


def properties(rng, fuzzy):
    """Those of an honest peer, or others."""
    kind, name, extra = b"DEALER", b"", []
    if fuzzy:
        kind = rng.choice(TYPES)
        name = rng.choice([b"", b"x", b"\0" + rng.randbytes(4), rng.randbytes(rng.choice([255, 256, 3000]))])
        extra = [(rng.randbytes(rng.randrange(30)), rng.randbytes(rng.randrange(60))) for _ in range(rng.randrange(4))]
    out = b"".join(bytes([len(k)]) + k + struct.pack(">I", len(v)) + v
                   for k, v in [(b"Socket-Type", kind), (b"Identity", name), *extra])
    return damage(rng, out) if fuzzy and rng.randrange(3) == 0 else out


def damage(rng, data):
    data = bytearray(data)
    how = rng.randrange(4)
    if how == 0 and data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif how == 1:
        del data[rng.randrange(len(data) + 1):]
    elif how == 2:
        data += rng.randbytes(rng.randrange(40))
    else:
        data = bytearray(rng.randbytes(rng.randrange(300)))
    return bytes(data)


def ping(rng):
    if rng.randrange(8) == 0:  # shorter than its time to live, longer than its context
        return b"\x04PING" + rng.randbytes(rng.choice([0, 1, 3, 40, 300]))
    return b"\x04PING" + struct.pack(">H", rng.choice([0, 0, 1, 2, 656, 65535])) + rng.randbytes(rng.choice([0, 0, 16]))


def body(rng):
    how = rng.randrange(10)
    if how < 4:
        return frame(rng.choice([BATCH, HELLO, SELECT, STATUS]), body=rng.randbytes(rng.randrange(100)))
    return b"" if how == 4 else rng.randbytes(70000) if how == 5 else rng.randbytes(rng.randrange(1, 400))


def words(rng, fuzzy):
    """What a peer says after its handshake: (data, more, command)."""
    said = []
    for _ in range(rng.choice([0, 1, 3, 10, 10, 30])):
        said.append((body(rng), rng.randrange(8) == 0 and fuzzy, False))
        if rng.randrange(4):
            said.append((ping(rng), False, True))
        if fuzzy and rng.randrange(3) == 0:
            command = rng.choice([b"\x04PONG", b"\x09SUBSCRIBE", b"\x06CANCEL", b"\x05ERROR", b"\x05READY", b"", b"\xff",
                                  b"\x04PIN", b"\x08JOIN", b"\x05LEAVE", b"\x05HELLO", b"\x07MESSAGE"])
            said.append((command + rng.randbytes(rng.choice([0, 1, 5, 60])), rng.randrange(3) == 0, True))
    return said


class Null:
    """A connection without a key; `other` is what it answers to a greeting."""

    def __init__(self, rng, s, fuzzy):
        self.opening = part(rng.choice([b"\x05READY", b"\x05ERROR", b"\x05READX", b"\x04PING"] if fuzzy else [b"\x05READY"]) +
                            properties(rng, fuzzy), command=1)
        if fuzzy and rng.randrange(4) == 0:
            self.opening *= 2

    def say(self, said):
        return self.opening + b"".join(part(*each) for each in said)


class Curve:
    """With a key; the handshake is over before anything else is sent, or malformed."""

    def __init__(self, rng, s, fuzzy, key):
        public, secret, server = key
        self.rng, self.count, self.shared, self.fuzzy = rng, 1, None, fuzzy
        mine, self.secret = pair()
        step = rng.randrange(6) if fuzzy else 6  # what of it is wrong
        hello = b"\x05HELLO\x01\x00" + bytes(72) + (rng.choice(WEAK) if step == 0 else mine) + self.short() + box(
            bytes(64), b"CurveZMQHELLO---" + self.short(), server, self.secret)
        s.sendall(part(damage(rng, hello) if step == 1 else hello, command=1))
        welcome = take_command(s)
        if len(welcome) != 168:
            raise Gone()
        inner = unbox(welcome[24:], b"WELCOME-" + welcome[8:24], server, self.secret)
        theirs, cookie = inner[:32], inner[32:]
        salt = rng.randbytes(16)
        vouch = box(mine + server, b"VOUCH---" + salt, theirs, secret)
        self.count += 1
        about = rng.choice(WEAK) if step == 2 else public
        initiate = b"\x08INITIATE" + cookie + self.short() + box(
            about + salt + vouch + properties(rng, step == 3), b"CurveZMQINITIATE" + self.short(), theirs, self.secret)
        self.shared_with(theirs)
        # Twice, damaged, or with messages behind that do not wait for READY.
        said = part(damage(rng, initiate) if step == 4 else initiate, command=1)
        s.sendall(said * 2 if step == 5 else said)
        if not fuzzy or rng.randrange(2):
            if take_command(s)[:6] != b"\x05READY":
                raise Gone()

    def shared_with(self, theirs):
        self.shared = ctypes.create_string_buffer(32)
        sodium.crypto_box_beforenm(self.shared, theirs, self.secret)

    def short(self):
        return struct.pack(">Q", self.count)

    side = b"C"

    def seal(self, data, more, command):
        self.count += 0 if self.fuzzy and self.rng.randrange(50) == 0 else 1
        out = ctypes.create_string_buffer(len(data) + 17)
        sodium.crypto_box_easy_afternm(out, bytes([(1 if more else 0) | (2 if command else 0)]) + data,
                                       ctypes.c_ulonglong(len(data) + 1), b"CurveZMQMESSAGE" + self.side + self.short(), self.shared)
        sealed = b"\x07MESSAGE" + self.short() + out.raw
        return part(damage(self.rng, sealed) if self.fuzzy and self.rng.randrange(20) == 0 else sealed)

    def say(self, said):
        return b"".join(self.seal(*each) for each in said)


class CurveServer(Curve):
    """The same as a server."""

    side = b"S"

    def __init__(self, rng, s, fuzzy, key):
        public, secret, _ = key
        self.rng, self.count, self.shared, self.fuzzy = rng, 1, None, fuzzy
        step = rng.randrange(6) if fuzzy else 6
        hello = take_command(s)
        if len(hello) != 200:
            raise Gone()
        client = hello[80:112]
        mine, self.secret = pair()
        inner = (rng.choice(WEAK) if step == 0 else mine) + rng.randbytes(96)
        salt = rng.randbytes(16)
        welcome = b"\x07WELCOME" + salt + box(inner, b"WELCOME-" + salt, client, secret)
        s.sendall(part(damage(rng, welcome) if step == 1 else b"\x05ERROR\x03400" if step == 2 else welcome, command=1))
        take_command(s)
        self.shared_with(client)
        self.count += 1
        about = b"\x0bSocket-Type\x00\x00\x00\x06ROUTER\x08Identity\x00\x00\x00\x00"
        if step == 3:
            about = properties(rng, True)
        out = ctypes.create_string_buffer(len(about) + 16)
        sodium.crypto_box_easy_afternm(out, about, ctypes.c_ulonglong(len(about)), b"CurveZMQREADY---" + self.short(), self.shared)
        ready = b"\x05READY" + self.short() + out.raw
        s.sendall(part(damage(rng, ready) if step == 4 else b"\x05ERROR" + rng.randbytes(rng.randrange(9)) if step == 5 else ready,
                       command=1))


def hello(rng, mechanism, fuzzy, server=0):
    out = bytearray(greeting(mechanism, server))
    if fuzzy and rng.randrange(3) == 0:
        how = rng.randrange(5)
        if how == 0:
            out[10] = rng.choice([0, 1, 2, 3, 4, 255])
        elif how == 1:
            out[11] = rng.choice([0, 1, 2, 255])
        elif how == 2:
            out[rng.randrange(64)] ^= 1 << rng.randrange(8)
        elif how == 3:
            del out[rng.randrange(64):]
        else:
            out = bytearray(rng.choice([b"\1\0", b"\xff" + bytes(8) + b"\x7f\1\5\0\4name", b"\5\0name\3\0xy", b"\xff", b"GET / HTTP/1.1\r\n\r\n"]))
    return bytes(out)


def converse(rng, s, key, side=Curve):
    """A handshake; returns what is to be sent then."""
    fuzzy = rng.randrange(2) == 0
    mechanism = b"NULL" if key is None else b"CURVE"
    if fuzzy and rng.randrange(8) == 0:
        mechanism = rng.choice([b"PLAIN", b"NULL", b"CURVE", b"GSSAPI", b"", b"x" * 20])
    s.sendall(hello(rng, mechanism, fuzzy, 1 if side is CurveServer else 0))
    if key is None:
        return Null(rng, s, fuzzy).say(words(rng, fuzzy))
    take(s, 64)
    return side(rng, s, fuzzy, key).say(words(rng, fuzzy))


def cut(rng, data):
    """Up to any byte of it; often up to the end."""
    if rng.randrange(20) == 0:
        data += part(b"", more=rng.randrange(2))[:1] + bytes([255]) * 8  # a length that cannot be
    return data if rng.randrange(3) == 0 else data[:rng.randrange(len(data) + 1)]


def leave(rng, s, left):
    how = rng.randrange(10)
    if how < 6:
        reset(s)
    elif how < 8:
        s.close()
    elif how == 8:
        with contextlib.suppress(OSError):
            s.shutdown(socket.SHUT_WR)
        left.append(s)
    else:
        left.append(s)


def there(pids):
    gone = [pid for pid in pids if not os.path.exists("/proc/%d/exe" % pid)]
    if gone:
        raise SystemExit("process %s has gone" % gone)


def group(rng, endpoint, pids, keys, left):
    """A few peers at a time; of some groups all that counts is sent at once."""
    made = []
    for _ in range(rng.randrange(1, 9)):
        s = None
        try:
            s = connect(endpoint)
            key = None if endpoint.startswith("ipc:") or not keys else rng.choice(keys + [None])
            made.append((s, cut(rng, converse(rng, s, key))))
        except (OSError, Gone, AssertionError):
            if s is not None:
                reset(s)
    stopped = rng.randrange(4) == 0
    if stopped:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
    try:
        for s, data in made:
            s.setblocking(False)
            with contextlib.suppress(OSError):
                s.send(data)
            leave(rng, s, left)
    finally:
        if stopped:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
    while len(left) > 40:
        reset(left.pop(rng.randrange(len(left))))
    return len(made)


def run_peers(seed, count, *words_given):
    rng, targets, keys = random.Random(int(seed)), [], []
    rest = list(words_given)
    while rest:
        word = rest.pop(0)
        if word == "-k":
            key = key_of(rest.pop(0))
            keys.append(tuple(z85.decode(key[n]) for n in ("public", "secret", "server")))
        else:
            endpoint, pids = word.split("=", 1)
            targets.append((endpoint, [int(pid) for pid in pids.split(",")]))
    if keys:  # and one that nobody knows
        keys.append((*pair(), keys[0][2]))
    left, done, began = [], 0, time.monotonic()
    pids = sorted({pid for _, some in targets for pid in some})
    while done < int(count):
        done += group(rng, *rng.choice(targets), keys, left) or 1
        there(pids)
    for s in left:
        reset(s)
    print("%d connections in %.1f s" % (done, time.monotonic() - began))


def run_server(seed, seconds, port, keyfile=None):
    """Until the time is over; how many came is said at the end."""
    rng, key = random.Random(int(seed)), None
    if keyfile:
        key = key_of(keyfile)
        key = (z85.decode(key["public"]), z85.decode(key["secret"]), None)
    listener = socket.create_server(("127.0.0.1", int(port)), backlog=100)
    print("listening", flush=True)
    left, came, until = [], 0, time.monotonic() + float(seconds)
    while time.monotonic() < until:
        if not select.select([listener], [], [], 0.1)[0]:
            continue
        s, _ = listener.accept()
        s.settimeout(PATIENCE_S)
        came += 1
        try:
            data = cut(rng, converse(rng, s, key, CurveServer))
            s.sendall(data)
        except (OSError, Gone, AssertionError):
            pass
        leave(rng, s, left)
        while len(left) > 10:
            reset(left.pop(0))
    print("%d connections" % came)


if __name__ == "__main__":
    globals()["run_" + sys.argv[1]](*sys.argv[2:])
