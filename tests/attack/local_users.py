"""local_users - what a user of the machine may try at an agent.

Frames are built from proto/wire.md by tests/fault/pool.py.
	local_users.py PATH put PARTITION RECORDS	a put; RECORDS is Python; prints ack or nack
	local_users.py PATH hold COUNT bad|good	connections that are never idle
	local_users.py NEW leave NAME RECORDS [SESSION]	a file of the fallback queue
	local_users.py NEW block COUNT file|dir|full
SPDX-License-Identifier: MIT
"""
import os
import socket
import struct
import sys
import time

import msgpack

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))
from pool import ACK, PUT, SLOW, frame, open_frame


def put(records, partition="", session=b"\0" * 16, seq=1):
    body = b"".join(msgpack.packb(r, use_bin_type=True) for r in records)
    return frame(PUT, [partition, "n1", session, seq, len(records), 0, time.time_ns(), len(body)], body)


def connect(path, patience_s=20 * SLOW):
    """More may wait to be accepted than the agent's queue has places."""
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO,
                 struct.pack("ll", int(patience_s), int(patience_s % 1 * 1e6)))
    s.connect(path)
    s.settimeout(0.2)
    return s


def hold(path, count, good):
    packet = put([], session=b"\0" * 16) if good else b"x"
    held = [connect(path) for _ in range(count)]
    while True:
        for s in list(held):
            try:
                s.setblocking(False)
                s.send(packet)
                s.recv(2000)
            except BlockingIOError:
                pass
            except OSError:
                s.close()
                held.remove(s)
                if good: # once more, at once
                    try:
                        held.append(connect(path, 0.2))
                    except OSError:
                        pass
        print(len(held), flush=True)
        if not held: # they were bad, or the agent is gone
            return
        time.sleep(0.2)


def main():
    path, case, *rest = sys.argv[1:]
    now = time.time_ns()
    if case == "put":
        s = connect(path)
        s.settimeout(20)
        s.send(put(eval(rest[1], {"now": now}), rest[0]))
        kind, _, header = open_frame(s.recv(70000))
        print("ack" if kind == ACK else "nack", header[-1] if len(header) > 18 else "")
    elif case == "hold":
        hold(path, int(rest[0]), rest[1] == "good")
    elif case == "leave":
        session = bytes.fromhex(rest[2]) if len(rest) > 2 else b"\0" * 16
        temporary = os.path.join(path, "..", "tmp", rest[0])
        with open(temporary, "wb") as f:
            f.write(put(eval(rest[1], {"now": now}), session=session))
        os.rename(temporary, os.path.join(path, rest[0]))
    elif case == "block":
        for i in range(int(rest[0])):
            name = "%s/%032x" % (path, i)
            if rest[1] == "file":
                os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0))
            else:
                os.mkdir(name, 0o700)
                if rest[1] == "full":
                    open(name + "/x", "w").close()


main()
