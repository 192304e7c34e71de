"""unwanted - a local user who sends what nobody takes.

	unwanted.py SOCKET fill PARTITION	until the agent refuses; prints accepted, bytes, reason, detail
	unwanted.py SOCKET trickle PARTITION BYTES	so many bytes of the agent's own partition, each put stored
		before the next, and one of the other partition now and then; prints accepted, refused of the other
	unwanted.py SOCKET partitions COUNT	one event of each; prints accepted, reason, detail
SPDX-License-Identifier: MIT
"""
import os
import socket
import sys
import time

import msgpack

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))
from pool import ACK, NACK, PUT, SLOW, STORED, WAIT, frame, open_frame

REASON, DETAIL = 10, 18
FILL_MAX = 64 << 20


class Agent:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(30 * SLOW)
        self.socket.connect(path)
        self.seq = 0

    def answer(self):
        kind, flags, header = open_frame(self.socket.recv(70000))
        assert kind in (ACK, NACK)
        return flags, header[REASON], header[DETAIL] if len(header) > DETAIL else ""

    def put(self, partition, bytes_, flags=0):
        """One event; its answer."""
        self.seq += 1
        record = [1, time.time_ns(), "test", "unwanted", {"pad": os.urandom(bytes_ // 2).hex()}, os.urandom(16)]
        body = msgpack.packb(record, use_bin_type=True)
        header = [partition, "n1", bytes(16), self.seq, 1, 0, time.time_ns(), len(body)]
        self.socket.send(frame(PUT, header, body, flags))
        return self.answer()

    def store(self, bytes_):
        _, reason, _ = self.put("", bytes_, WAIT)
        while reason == 0:
            flags, reason, _ = self.answer()
            if flags & STORED:
                return True
        return False


def fill(agent, partition):
    accepted = reason = 0
    while reason == 0 and accepted * 30000 < FILL_MAX:
        _, reason, detail = agent.put(partition, 30000)
        accepted += reason == 0
    print(accepted, accepted * 30000, reason, detail)


def trickle(agent, partition, bytes_):
    answers = []
    for n in range(bytes_ // 30000):
        if not agent.store(30000):
            sys.exit("put %d of the agent's own partition is refused" % n)
        if n % 5 == 0:
            answers.append(agent.put(partition, 1000)[1])
    print(answers.count(0), len(answers) - answers.count(0))


def partitions(agent, count):
    answers = [agent.put("many$%d" % n, 10) for n in range(count)]
    refused = [a for a in answers if a[1] != 0]
    print(count - len(refused), *(refused[0][1:] if refused else ()))


path, case, *rest = sys.argv[1:]
client = Agent(path)
if case == "fill":
    fill(client, rest[0])
elif case == "trickle":
    trickle(client, rest[0], int(rest[1]))
else:
    partitions(client, int(rest[0]))
