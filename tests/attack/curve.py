"""curve - a peer with a key that speaks CURVE by hand (ZeroMQ RFC 26), so that it
can begin messages and not end them.
SPDX-License-Identifier: MIT
"""

import ctypes
import os
import struct

import raw

sodium = ctypes.CDLL("libsodium.so.23")


def box(text, nonce, public, secret):
    out = ctypes.create_string_buffer(len(text) + 16)
    assert sodium.crypto_box_easy(out, text, ctypes.c_ulonglong(len(text)), nonce, public, secret) == 0
    return out.raw


def unbox(data, nonce, public, secret):
    out = ctypes.create_string_buffer(len(data) - 16)
    assert sodium.crypto_box_open_easy(out, data, ctypes.c_ulonglong(len(data)), nonce, public, secret) == 0
    return out.raw


def pair():
    public, secret = ctypes.create_string_buffer(32), ctypes.create_string_buffer(32)
    sodium.crypto_box_keypair(public, secret)
    return public.raw, secret.raw


def take(s, count):
    got = b""
    while len(got) < count:
        more = s.recv(count - len(got))
        assert more, "the listener has gone"
        got += more
    return got


def command(s):
    flags, size = take(s, 2)
    if flags & 2:
        size = struct.unpack(">Q", bytes([size]) + take(s, 7))[0]
    return take(s, size)


class Peer:
    """Through its handshake; keys are of 32 bytes."""

    def __init__(self, endpoint, public, secret, server):
        self.s = raw.connect(endpoint)
        raw.greet(self.s, b"CURVE")
        mine, self.secret = pair()
        self.count = 1
        self.s.sendall(raw.part(b"\x05HELLO\x01\x00" + bytes(72) + mine + self.short() + box(
            bytes(64), b"CurveZMQHELLO---" + self.short(), server, self.secret), command=1))
        welcome = command(self.s)
        assert welcome[:8] == b"\x07WELCOME", welcome[:16]
        inner = unbox(welcome[24:], b"WELCOME-" + welcome[8:24], server, self.secret)
        self.theirs, cookie = inner[:32], inner[32:]
        salt = os.urandom(16)
        vouch = box(mine + server, b"VOUCH---" + salt, self.theirs, secret)
        properties = b"\x0bSocket-Type\x00\x00\x00\x06DEALER\x08Identity\x00\x00\x00\x00"
        self.count += 1
        self.s.sendall(raw.part(b"\x08INITIATE" + cookie + self.short() + box(
            public + salt + vouch + properties, b"CurveZMQINITIATE" + self.short(), self.theirs, self.secret),
            command=1))
        assert command(self.s)[:6] == b"\x05READY", "the listener refuses the key"
        self.shared = ctypes.create_string_buffer(32)
        sodium.crypto_box_beforenm(self.shared, self.theirs, self.secret)

    def short(self):
        return struct.pack(">Q", self.count)

    def part(self, data, more):
        """A frame of a message, sealed."""
        self.count += 1
        out = ctypes.create_string_buffer(len(data) + 17)
        sodium.crypto_box_easy_afternm(out, bytes([more]) + data, ctypes.c_ulonglong(len(data) + 1),
                                       b"CurveZMQMESSAGEC" + self.short(), self.shared)
        return raw.part(b"\x07MESSAGE" + self.short() + out.raw)
