"""peer - speaks to a broker as agent, aggregator and vandal.

An independent judge: ZeroMQ and MessagePack through other people's bindings,
the frame built here from proto/wire.md.  Usage: peer.py CASE [ARGUMENT...];
prints what went wrong and exits with 1.
SPDX-License-Identifier: MIT
"""

import contextlib
import os
import random
import select
import socket
import struct
import sys
import time

import msgpack
import zmq

HELLO, WELCOME, BATCH, ACK, NACK, BYE, GAP, SELECT, PAGE, STATS, STATUS = range(1, 12)
BUSY, OWNER, UNSUPPORTED, MALFORMED = 2, 3, 5, 7
VERSION = 2
FRAME_MAX = 256 << 10
PATIENCE_MS = 5000 * int(os.environ.get("SLOW", "1"))

TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    TABLE.append(n)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


MASK = (1 << 64) - 1


def mix(x):
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & MASK
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ x >> 33


def running_hash(before, body, records):
    """The running hash of a stream after a batch (proto/delivery.md)."""
    return mix(mix(before ^ (crc32c(body) << 32 | len(body))) + records + 1 & MASK)


def frame(kind, partition="acct$pool", node="n1", session=bytes(16), seq=0, sent_ns=0,
          body=b"", version=VERSION, flags=0, records=0):
    header = [partition, node, session, seq, records, 0, sent_ns, len(body)]
    rest = msgpack.packb(header) + body
    head = struct.pack("<4sBBHI", b"PSCP", version, kind, flags, len(rest))
    return head + struct.pack("<I", crc32c(head + rest)) + rest


class Answer:
    """A frame taken apart."""

    def __init__(self, data):
        magic, version, self.type, self.flags, length = struct.unpack("<4sBBHI", data[:12])
        assert magic == b"PSCP" and version == VERSION, data[:12]
        assert length == len(data) - 16, (length, len(data))
        assert struct.unpack("<I", data[12:16])[0] == crc32c(data[:12] + data[16:])
        unpacker = msgpack.Unpacker(raw=False, max_buffer_size=1 << 20)
        unpacker.feed(data[16:])
        names = ("partition node session seq records codec sent_ns body_bytes chain last_seq reason "
                 "expect generation credit_bytes retry_ms received_ns answered_ns chain_after detail").split()
        for name, value in zip(names, unpacker.unpack()):
            setattr(self, name, value)
        self.body = list(unpacker)


CONTEXT = zmq.Context()


def agent(endpoint):
    s = CONTEXT.socket(zmq.DEALER)
    s.linger = 0
    s.sndhwm = s.rcvhwm = 0
    s.connect(endpoint)
    return s


# Of a peer of a Unix socket, which has no key but a uid: that of these tests.
FORWARD_NOBODY = b"PSV1" + bytes(32) + struct.pack("<I", os.getuid())


def aggregator(endpoint, queue=1000):
    s = CONTEXT.socket(zmq.ROUTER)
    s.linger = 0
    s.rcvhwm = s.sndhwm = queue
    s.router_mandatory = 1
    s.bind(endpoint)
    return s


def recv(s, what="an answer"):
    if not s.poll(PATIENCE_MS):
        raise AssertionError("waited in vain for " + what)
    return s.recv_multipart()


def recv_answer(s):
    frames = recv(s)
    assert len(frames) == 1, frames
    return Answer(frames[0])


def equal(got, wanted, what):
    assert got == wanted, "%s is %r, not %r" % (what, got, wanted)


def status(endpoint):
    """The broker's counters, by id of the entity."""
    s = agent(endpoint)
    s.send(frame(STATUS, partition="", node="", seq=7, sent_ns=99))
    page = recv_answer(s)
    s.close()
    equal(page.type, PAGE, "type")
    equal((page.seq, page.sent_ns, page.flags), (7, 99, 2), "echo and flags")
    equal(page.body[0], b"", "cursor")
    found = {}
    node = None
    for record in page.body[1:]:
        if record[0] == 0:
            node = record[1]
            equal(len(record), 6, "length of a full context")
        else:
            equal(record[:2], [4, "status"], "record")
            found[record[2]] = dict(record[3], node=node)
    equal(page.records, len(found), "records")
    return found


def connected(endpoint, aggregator_endpoint):
    """Wait until the broker has a connection to an aggregator."""
    until = time.monotonic() + PATIENCE_MS / 1000
    while status(endpoint)["broker:" + aggregator_endpoint]["peers"] == 0:
        time.sleep(0.01)
        assert time.monotonic() < until, "no connection to " + aggregator_endpoint


def case_relay(listener, intake):
    """Frames arrive unchanged, answers go to who asked, whatever the order."""
    k = aggregator(intake)
    connected(listener, intake)
    agents = [agent(listener) for _ in range(20)]
    sent = {}
    for i, a in enumerate(agents):
        for seq in range(5):
            sent[i, seq] = frame(BATCH, node="n%d" % i, seq=seq, body=os.urandom(random.randrange(9000)))
            a.send(sent[i, seq])
    back = []
    until = time.monotonic() + PATIENCE_MS / 1000
    while len(back) < len(sent):
        assert time.monotonic() < until, "%d of %d batches arrived" % (len(back), len(sent))
        if k.poll(20):
            back.append(k.recv_multipart())
            equal(len(back[-1]), 4, "frames at the aggregator")
            equal(back[-1][2], FORWARD_NOBODY, "whom the broker forwards")
        for i, a in enumerate(agents):
            while a.poll(0):  # only where the machine stalls
                nack = recv_answer(a)
                equal((nack.type, nack.reason), (NACK, BUSY), "answer")
                a.send(sent[i, nack.seq])
    random.shuffle(back)
    equal(sorted(f[3] for f in back), sorted(sent.values()), "what arrived")
    for route, who, identity, data in back:
        k.send_multipart([route, who, identity, b"answer to " + data[16:200]])
    for i, a in enumerate(agents):
        got = sorted(recv(a)[0] for _ in range(5))
        equal(got, sorted(b"answer to " + sent[i, seq][16:200] for seq in range(5)), "answers")


def case_busy(listener):
    """Nobody to pass it to: busy at once, echoing what the sender knows."""
    a = agent(listener)
    session = os.urandom(16)
    retries = set()
    for seq in range(1, 105):
        if seq % 8 == 1:  # a sender has at most eight under way
            for n in range(seq, seq + 8):
                a.send(frame(BATCH, session=session, seq=n, sent_ns=n * 1000, body=b"x" * 5000))
        nack = recv_answer(a)
        equal((nack.type, nack.reason), (NACK, BUSY), "type and reason")
        equal((nack.partition, nack.node, nack.session), ("acct$pool", "n1", session), "who")
        equal((nack.seq, nack.sent_ns, nack.generation), (seq, seq * 1000, 0), "which")
        assert 200 <= nack.retry_ms <= 1000, nack.retry_ms
        retries.add(nack.retry_ms)
    assert len(retries) > 20, "no jitter: %r" % retries


def case_stuck(listener, intake, other):
    """One aggregator takes nothing: busy for its partitions, and only those."""
    k = aggregator(intake, 1)
    fine = aggregator(other)
    connected(listener, intake)
    connected(listener, other)
    a = agent(listener)
    count = 200
    before = status(listener)["broker"]["received_messages"]
    for seq in range(count):
        a.send(frame(BATCH, seq=seq, body=b"x" * 60000))
    b = agent(listener)
    for seq in range(50):
        b.send(frame(BATCH, partition="fine$pool", seq=seq))
    for _ in range(50):
        recv(fine, "a batch past the one that is stuck")
    equal(recv_answer(a).reason, BUSY, "reason")
    busy, arrived = 1, 0
    until = time.monotonic() + PATIENCE_MS / 1000
    while status(listener)["broker"]["received_messages"] < before + count + 50:
        assert time.monotonic() < until, "the broker does not go on reading"
    while arrived + busy < count:
        assert time.monotonic() < until, "arrived (%d) and busy (%d)" % (arrived, busy)
        if k.poll(20):
            k.recv_multipart()
            arrived += 1
        while a.poll(0):
            equal(recv_answer(a).reason, BUSY, "reason")
            busy += 1
    a.send(frame(BATCH, seq=1000))
    while not k.poll(20):
        assert time.monotonic() < until, "it is stuck for ever"
        while a.poll(0):  # it has not been heard of again yet
            nack = recv_answer(a)
            equal((nack.reason, nack.seq), (BUSY, 1000), "answer")
            a.send(frame(BATCH, seq=1000))
    equal(Answer(recv(k)[-1]).seq, 1000, "what comes after all this")


def case_slow(listener, intake):
    """An aggregator that pauses for some milliseconds costs nobody a retry.

    Where the machine itself stalls for longer some retries are right, so the
    best of a few attempts counts; without patience each has dozens."""
    k = aggregator(intake, 1)
    connected(listener, intake)
    a = agent(listener)
    sent = [frame(BATCH, seq=seq, body=b"x" * 20000) for seq in range(300)]
    counts = []
    while len(counts) < 5 and 0 not in counts:
        for data in sent:
            a.send(data)
        arrived = busy = 0
        while arrived + busy < len(sent):
            if k.poll(20):
                k.recv_multipart()
                arrived += 1
                if arrived % 20 == 0:
                    time.sleep(0.005)  # the commit of an aggregator
            while a.poll(0):
                equal(recv_answer(a).reason, BUSY, "reason")
                busy += 1
        counts.append(busy)
    assert 0 in counts, "retries: %r" % counts


def case_garbage(listener, seed):
    """Everything that is not a message is answered and counted."""
    random.seed(int(seed))
    a = agent(listener)
    before = status(listener)["broker"]
    good = frame(BATCH, body=b"y" * 50)
    count = 0
    for _ in range(300):
        how = random.randrange(3)
        if how == 0:
            data = os.urandom(random.randrange(200))
        elif how == 1:
            data = good[:random.randrange(len(good))]
        else:
            data = b"PSCP\x02\x03" + os.urandom(random.randrange(100))
        a.send(data)
        nack = recv_answer(a)
        assert nack.type == NACK and nack.reason in (MALFORMED, UNSUPPORTED), nack.reason
        count += 1
    for version in (VERSION - 1, VERSION + 1):
        a.send(frame(BATCH, version=version, body=b"z"))
        equal(recv_answer(a).reason, UNSUPPORTED, "reason for another version")
    a.send(frame(99, seq=5, sent_ns=6))
    nack = recv_answer(a)
    equal((nack.reason, nack.seq, nack.sent_ns), (UNSUPPORTED, 5, 6), "answer to a new type")
    a.send(frame(BATCH, partition=""))
    equal(recv_answer(a).reason, MALFORMED, "reason for a batch of nobody")
    for kind in (WELCOME, ACK, NACK, PAGE):
        a.send(frame(kind))
    a.send(frame(99, seq=77))
    equal(recv_answer(a).seq, 77, "the next question answered, with answers between,")
    after = status(listener)["broker"]
    equal(after["refused"] - before["refused"], count + 5, "refused")
    equal(after["unsolicited"] - before["unsolicited"], 4, "unsolicited")
    reasons = [k for k in after if k.startswith("malformed_")]
    equal(sum(after[k] - before[k] for k in reasons), count + 5, "sum of malformed_*")
    equal(after["malformed_type"] - before["malformed_type"], 2, "malformed_type")


def case_shapes(listener):
    """Routes that are too long are dropped; the peer stays connected."""
    a = agent(listener)
    before = status(listener)["broker"]
    a.send_multipart([b"r"] * 8 + [frame(BATCH)])
    a.send_multipart([b"r" * 300, frame(BATCH)])
    a.send_multipart([b"r" * 130, b"r" * 130, frame(BATCH)])
    a.send_multipart([b""] * 5000)
    a.send_multipart([os.urandom(1000)] * 500)
    a.send(b"")
    equal(recv_answer(a).reason, MALFORMED, "reason for an empty frame")
    a.send_multipart([b"r"] * 7 + [b"not a message"])
    frames = recv(a)
    equal(frames[:7], [b"r"] * 7, "way back")
    equal(Answer(frames[7]).reason, MALFORMED, "reason")
    after = status(listener)["broker"]
    equal(after["malformed_frames"] - before["malformed_frames"], 5, "malformed_frames")


def case_large(listener, intake):
    """The largest frame passes; one byte more costs the connection."""
    k = aggregator(intake)
    connected(listener, intake)
    a, b = agent(listener), agent(listener)
    room = FRAME_MAX - len(frame(BATCH, body=b"x" * 100000)) + 100000
    largest = frame(BATCH, body=b"x" * room)
    equal(len(largest), FRAME_MAX, "largest")
    a.send(largest)
    equal(recv(k)[-1], largest, "the largest frame")
    before = status(listener)["broker"]
    a.send(largest + b"x")
    until = time.monotonic() + PATIENCE_MS / 1000
    while status(listener)["broker"]["connections"] < before["connections"] + 2:
        time.sleep(0.01)
        assert time.monotonic() < until, "the connection was not cut"
    a.close()
    b.send(frame(BATCH, seq=3))
    equal(Answer(recv(k)[-1]).seq, 3, "a batch of somebody else")


def case_nobody(listener, intake):
    """Answers to peers that are gone, or to no one, are counted."""
    k = aggregator(intake)
    connected(listener, intake)
    a = agent(listener)
    a.send(frame(BATCH))
    route, who, _, _ = recv(k)
    before = status(listener)["broker"]
    k.send_multipart([route, b"nobody", b"answer"])
    k.send_multipart([route, b"for the broker itself"])
    k.send_multipart([route, who, b"last"])
    equal(recv(a), [b"last"], "answer")
    after = status(listener)["broker"]
    equal(after["unreachable"] - before["unreachable"], 2, "unreachable")


def case_raw(address):
    """Bytes that are not ZMTP at all."""
    host, port = address.replace("tcp://", "").split(":")
    for i in range(50):
        with socket.create_connection((host, int(port))) as s:
            s.sendall(os.urandom(i * 20))
            with contextlib.suppress(ConnectionError):  # the first may have ended it
                if i % 2:
                    s.sendall(
                        b"\xff" + bytes(8) + b"\x01\x7f" + b"\x03\x00NULL" + bytes(48) + os.urandom(100))
    until = time.monotonic() + PATIENCE_MS / 1000
    while True:
        broker = status(address)["broker"]
        if broker["handshakes_failed"] > 0 and broker["peers"] <= 3:
            return
        time.sleep(0.01)
        assert time.monotonic() < until, broker


def case_status(listener, node):
    """Counters are there, for the broker and every aggregator."""
    found = status(listener)
    broker = found["broker"]
    equal(broker["node"], node, "node")
    for name in ("received_messages", "received_bytes", "sent_messages", "sent_bytes", "busy", "owner", "refused",
                 "unreachable", "full", "peers", "malformed_truncated", "malformed_magic"):
        assert isinstance(broker[name], int), name
    assert broker["peers"] >= 1, broker
    assert abs(time.time_ns() - broker["started_ns"]) < 3600e9, broker["started_ns"]
    assert len(found) >= 2, found


def case_routes(listener, first, second):
    """The first pattern that matches wins; what matches none has no owner."""
    one, two = aggregator(first), aggregator(second)
    connected(listener, first)
    connected(listener, second)
    a = agent(listener)
    wanted = [("a$x", one), ("a$y", two), ("b$x", two), ("c=d$x", one)]
    for seq, (partition, k) in enumerate(wanted):
        a.send(frame(BATCH, partition=partition, seq=seq))
        answer = Answer(recv(k, "batch of " + partition)[-1])
        equal((answer.partition, answer.seq), (partition, seq), "batch")
    a.send(frame(BATCH, partition="zz$x", seq=9))
    nack = recv_answer(a)
    equal((nack.reason, nack.seq), (OWNER, 9), "reason")


def case_drain(listener, intake, pid):
    """TERM in the middle of a stream: what arrived has no hole."""
    k = aggregator(intake)
    connected(listener, intake)
    a = agent(listener)
    for seq in range(200):
        a.send(frame(BATCH, seq=seq, body=b"x" * 20000))
    arrived = [recv(k, "the first batch")[-1]]
    broker = os.pidfd_open(int(pid))
    os.kill(int(pid), 15)
    until = time.monotonic() + PATIENCE_MS / 1000
    # What it sent before its end is on this machine, if not here yet.
    while not select.select([broker], [], [], 0)[0] or k.poll(300):
        assert time.monotonic() < until, "it does not end"
        if k.poll(20):
            arrived.append(k.recv_multipart()[-1])
    answered = [Answer(data).seq for data in arrived]
    while a.poll(300):
        nack = recv_answer(a)
        equal((nack.type, nack.reason), (NACK, BUSY), "answer")
        answered.append(nack.seq)
    equal(sorted(answered), list(range(len(answered))), "what arrived or was busy")


def main():
    try:
        globals()["case_" + sys.argv[1]](*sys.argv[2:])
    except AssertionError as e:
        print(e or repr(e))
        sys.exit(1)
    os._exit(0)  # leave at once: what is queued does not matter


if __name__ == "__main__":
    main()
