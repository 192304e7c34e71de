"""versions - speaks other versions of the wire protocol and of the spool.

Usage: versions.py sender ENDPOINT VERSION     three batches; each must be refused
       versions.py head ENDPOINT VERSION       refuses all, until it is ended
       versions.py segment FILE FORMAT         gives the segment another format
       versions.py put FILE VERSION            gives the frame another version

SPDX-License-Identifier: MIT
"""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "flow"))
from peer import BATCH, NACK, UNSUPPORTED, agent, aggregator, crc32c, equal, frame, recv_answer  # noqa: E402


def case_sender(endpoint, version):
    s = agent(endpoint)
    for seq in (1, 2, 3):
        s.send(frame(BATCH, seq=seq, body=b"of another version", version=int(version)))
        answer = recv_answer(s)
        equal((answer.type, answer.reason), (NACK, UNSUPPORTED), "answer")


def case_head(endpoint, version):
    s = aggregator(endpoint)
    print("ready", flush=True)
    while True:
        route, *rest = s.recv_multipart()
        s.send_multipart([route, *rest[:-1], frame(NACK, version=int(version))])


def case_segment(path, number):
    with open(path, "r+b") as file:
        head = bytearray(file.read(64))
        head[4:8] = struct.pack("<I", int(number))
        head[60:64] = struct.pack("<I", crc32c(head[:60]))
        file.seek(0)
        file.write(head)


def case_put(path, version):
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        data[4] = int(version)
        data[12:16] = struct.pack("<I", crc32c(data[:12] + data[16:]))
        file.seek(0)
        file.write(data)


globals()["case_" + sys.argv[1]](*sys.argv[2:])
