"""batches - frames that are well made and mean harm, at an aggregator.

Frames are built from proto/wire.md.  Usage: batches.py CASE [ARGUMENT...];
prints figures and exits with 1 and a word when something holds that must not.
SPDX-License-Identifier: MIT
"""

import os
import random
import struct
import subprocess
import sys
import time

import msgpack

from raw import PLAIN, mib, resident_bytes
from peer import (ACK, BATCH, GAP, HELLO, MALFORMED, NACK, STATUS, VERSION, Answer, agent, crc32c, equal, frame,
                  recv, recv_answer)
from sender import DEAD, LAST, Sender, is_ack

MIB = 1 << 20
FRAME_MAX = 256 << 10


def closed(head, header, body):
    rest = header + body
    head = struct.pack("<4sBBHI", *head, len(rest))
    return head + struct.pack("<I", crc32c(head + rest)) + rest


class Hand(Sender):
    """A stream whose bodies are given by hand."""

    def put(self, n, body, records, codec=0, plain=None):
        header = [self.partition, "n1", self.session, n, records, codec, 42, len(body) if plain is None else plain, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        self.socket.send(closed((b"PSCP", VERSION, BATCH, 0), msgpack.packb(header), body))
        return recv_answer(self.socket)


def indexed(reader):
    """The aggregator's counters, when all is in the tables."""
    s = agent(reader)
    while True:
        found = status_page(s)
        if found["indexing_lag"] == 0:
            s.close()
            return found
        time.sleep(0.05)


def status_page(s):
    cursor, flags, found = b"", 0, {}
    while not flags & LAST:
        query = msgpack.packb([0, "", "aggregator", -2208988800 * 10 ** 9, 7258118400 * 10 ** 9, cursor, 2048])
        s.send(frame(STATUS, partition="*", node="", body=query))
        page = Page(recv(s)[0])
        cursor, flags = page.body[0], page.flags
        for record in page.body[1:]:
            if record[0] == 4 and record[2] == "aggregator":
                found = record[3]
    return found


class Page(Answer):
    """An answer whose body may be compressed."""

    def __init__(self, data):
        unpacker = msgpack.Unpacker(max_buffer_size=1 << 20)
        unpacker.feed(data[16:])
        header = unpacker.unpack()
        if header[5] == 1:
            plain = subprocess.run(["zstd", "-dc"], input=data[16 + unpacker.tell():], stdout=subprocess.PIPE,
                                   check=True).stdout
            data = closed((b"PSCP", VERSION, data[5], data[6] | data[7] << 8), msgpack.packb(header), plain)
        super().__init__(data)


def event(attributes, at=10 ** 18, name="x"):
    return msgpack.packb([1, at, "attack", name, attributes, None])


def bombs():
    """Bodies that claim more than they have, or have more than they should."""
    def array32(n):
        return b"\xdd" + struct.pack(">I", n)

    def map32(n):
        return b"\xdf" + struct.pack(">I", n)
    start = b"\x96\x01\xcf" + struct.pack(">Q", 10 ** 18) + b"\xa6attack\xa1x"
    yield "an array of 2^32 - 1", array32(2**32 - 1)
    yield "an array of 2^28", array32(1 << 28)
    yield "31 arrays in one another", array32(1 << 28) * 31
    yield "10,000 levels", b"\x91" * 10000 + b"\xc0"
    yield "200,000 levels of maps", b"\x81\xc0" * 100000
    yield "an event with 2^32 - 1 attributes", start + map32(2**32 - 1)
    yield "text of 2^32 - 1 bytes", start + b"\x81\xa1k\xdb" + struct.pack(">I", 2**32 - 1)
    yield "binary of 2^32 - 1 bytes", start + b"\x81\xa1k\xc6" + struct.pack(">I", 2**32 - 1)
    yield "an extension of 2^32 - 1 bytes", start + b"\x81\xa1k\xc9" + struct.pack(">I", 2**32 - 1) + b"\x01"
    yield "200,000 nils", b"\xc0" * 200000
    yield "60,000 attributes", event({"k%d" % i: None for i in range(20000)})
    yield "200,000 empty arrays", b"\x90" * 200000
    yield "a byte that is nothing", b"\xc1"
    yield "a nan", event({"k": float("nan")})
    yield "a text that is not UTF-8", start + b"\x81\xa1k\xa2\xff\xfe\xc0"
    yield "a key twice", start + b"\x82\xa1k\x01\xa1k\x02\xc0"
    for n in (0, 1, 2**7 - 1, 2**7, 2**8 - 1, 2**8, 2**15, 2**16 - 1, 2**16, 2**31 - 1, 2**31, 2**32 - 1):
        for lead in (b"\xd9" + struct.pack(">B", n & 0xFF), b"\xda" + struct.pack(">H", n & 0xFFFF),
                     b"\xdb" + struct.pack(">I", n)):
            yield "text of %d bytes that are not there" % n, start + b"\x81\xa1k" + lead


def case_bombs(listener, pid, reader):
    """Each is a rejected batch or refused, and costs no memory."""
    s = Hand(listener, "bombs")
    is_ack(s.put(1, event({}), 1), 1)
    before, n, rejected = resident_bytes(pid), 2, 0
    for what, body in bombs():
        for records in (1, 2**31 - 1, 2**32 - 1):
            answer = s.put(n, body, records)
            assert answer.type in (ACK, NACK), what
            if answer.type == ACK:
                assert answer.flags & DEAD or what.startswith(("a nan", "a key", "text of 0")), "%s was taken" % what
                rejected += bool(answer.flags & DEAD)
                n += 1
            else:
                equal(answer.reason, MALFORMED, what)
    is_ack(s.put(n, event({}), 1), n)
    grown = resident_bytes(pid) - before
    print("%d rejected batches, memory %s more" % (rejected, mib(grown)))
    assert rejected > 20, rejected
    assert not PLAIN or grown < 24 * MIB, mib(grown)
    status = indexed(reader)
    assert status["rejected_batches"] >= rejected, status["rejected_batches"]


def case_packed(listener, pid, reader):
    """Bodies that are small and would be large."""
    def packed(data):
        return subprocess.run(["zstd", "-19", "-c", "--stream-size=%d" % len(data)], input=data,
                              stdout=subprocess.PIPE, check=True).stdout
    before = resident_bytes(pid)
    s = Hand(listener, "packed")
    is_ack(s.put(1, event({}), 1), 1)
    n = 2
    honest = event({"k": "v" * 1000})
    small = packed(honest)
    answer = s.put(n, small, 1, 1, len(honest))
    is_ack(answer, n)
    assert not answer.flags & DEAD, "an honest one is rejected"
    for size in (4 * MIB + 1, 16 * MIB, 1024 * MIB):
        zeros = subprocess.run("head -c %d /dev/zero | zstd -19 -c --stream-size=%d" % (size, size), shell=True,
                               stdout=subprocess.PIPE, check=True).stdout
        bombs = [(zeros, size), (zeros, 0), (zeros, 1000), (zeros, 4 * MIB), (zeros, 2**63), (zeros, 2**64 - 1),
                 (zeros[:len(zeros) // 2], size), (zeros + zeros, size), (zeros * 3, 4 * MIB)]
        liar = bytearray(zeros)
        liar[5:9] = b"\x00\x10\x00\x00"
        bombs += [(bytes(liar), 4096), (bytes(liar), size)]
        for body, claim in bombs:
            if len(body) > FRAME_MAX - 200:
                continue
            answer = s.put(n + 1, body, 1, 1, claim)
            assert answer.type in (ACK, NACK), answer.type
            n += answer.type == ACK
            assert answer.type == NACK or answer.flags & DEAD, "%d bytes were made of %d, %d claimed" % (
                size, len(body), claim)
    for codec in (2, 255, 2**32 - 1):
        answer = s.put(n + 1, small, 1, codec)
        assert answer.type == NACK or answer.flags & DEAD, codec
        n += answer.type == ACK
    grown = resident_bytes(pid) - before
    print("bombs of up to 1 GiB: memory %s more" % mib(grown))
    assert not PLAIN or grown < 24 * MIB, mib(grown)


def case_clocks(listener, reader):
    """Times that no clock shows, and numbers at their edges."""
    s = Hand(listener, "clocks", partition="acct$clocks")
    edges = [0, 1, -1, 2**31 - 1, 2**31, 2**32, -2**31, 2**62, 2**63 - 1, -2**63, -2**63 + 1, 2**63, 2**64 - 1,
             7258118400 * 10**9, 7258118400 * 10**9 - 1, 7258118400 * 10**9 + 1, -2208988800 * 10**9,
             -2208988800 * 10**9 - 1, 10**18]
    n = taken = 0
    for at in edges:
        for body in (event({"n": at}, at), msgpack.packb([3, at, at, "t", "s", "c", {}]),
                     msgpack.packb([3, 10**18, at, "t", "s", "c", {}]),
                     msgpack.packb([3, at, 10**18, "t", "s", "c", {}])):
            n += 1
            answer = s.put(n, body, 1)
            is_ack(answer, n)
            taken += not answer.flags & DEAD
    print("%d records with times at the edges: %d taken, %d rejected" % (n, taken, n - taken))
    assert 0 < taken < n
    # Sequence numbers, runs and sizes of headers.
    for seq in edges:
        for kind in (BATCH, GAP, HELLO):
            for last in (0, seq, 2**64 - 1):
                if seq == n + 1 or seq < 0 or last < 0 or (kind == GAP and seq <= n + 1):
                    continue
                header = ["acct$edges", "n1", s.session, seq, 1, 0, 42, 0, 0, last, 32, 0, 0, 0, 0, 0, 0, 0]
                s.socket.send(closed((b"PSCP", VERSION, kind, 0), msgpack.packb(header), b""))
                answer = recv_answer(s.socket)
                assert answer.type != ACK or answer.seq <= 2**62 + 2, (seq, kind, last, answer.type)
    for records in edges:
        if 0 <= records < 2**64:
            s.socket.send(frame(BATCH, partition="acct$edges", session=os.urandom(16), seq=1, records=records,
                                body=event({})))
            recv_answer(s.socket)
    is_ack(s.put(n + 1, event({}), 1), n + 1)
    indexed(reader)


def case_replay(listener, reader):
    """Frames that were recorded on a wire and sent again change nothing."""
    first = Sender(listener, "replayed", partition="acct$replay")
    heard = []
    for n in range(1, 21):
        heard.append(first.frame(BATCH, n, first.body(n), 1))
        is_ack(first.batch(n), n)
    before = indexed(reader)
    for _ in range(3):
        s = agent(listener)
        order = heard * 2
        random.shuffle(order)
        for data in order:
            s.send(data)
            answer = recv_answer(s)
            equal(answer.type, ACK, "answer to a replay")
        s.close()
    is_ack(first.batch(21), 21)
    s = agent(listener)
    for data in heard[-1:] * 3:
        s.send(data)
        equal(recv_answer(s).type, ACK, "answer to a replay")
    after = indexed(reader)
    equal(after["records"] - before["records"], 1, "records stored")
    equal(after["repeated"] - before["repeated"], 123, "repetitions")


def pour(s, n, bodies):
    """Batches of some hundred records each."""
    at, room, count = n, [], 0
    for body in bodies:
        room.append(body)
        count += len(body)
        if count > 60000:
            send_all(s, at, room)
            at, room, count = at + 1, [], 0
    if room:
        send_all(s, at, room)
        at += 1
    return at


def send_all(s, n, room):
    while True:
        answer = s.put(n, b"".join(room), len(room))
        if answer.type == ACK:
            is_ack(answer, n)
            assert not answer.flags & DEAD
            return
        assert answer.credit_bytes == 0 or answer.retry_ms > 0, answer.reason
        time.sleep(answer.retry_ms / 1000)


def case_names(listener, reader, count, seed):
    """One node with a new name in each record: it gets its share, the names of
    others are as they were."""
    rng, count = random.Random(int(seed)), int(count)
    s = Hand(listener, "greedy%d" % rng.randrange(10**9), partition="acct$names")
    began = time.monotonic()
    n = pour(s, 1, (event({"key-%d-%d" % (i, rng.randrange(10**9)): i}, name="name-%d" % i) for i in range(count)))
    n = pour(s, n, (msgpack.packb([3, 10**18, 10**18 + 1, "track/%d" % i, "s", "c", {}]) for i in range(2000)))
    pour(s, n, (msgpack.packb([4, "kind-%d" % i, "id-%d" % i, {"k": i}]) for i in range(2000)))
    status = indexed(reader)
    print("%d records, each with new names, in %.1f s: %d lookups over the limit" % (
        count + 4000, time.monotonic() - began, status["names_over"]))
    if count * 2 > 250000:
        assert status["names_over"] > 0, "no name was over the limit"
    other = Sender(listener, "modest", partition="acct$names")
    for n in range(1, 4):
        is_ack(other.batch(n), n)


def case_partitions(listener, reader, count):
    """One sender with a new partition in each batch."""
    s = agent(listener)
    limited = 0
    for i in range(int(count)):
        s.send(frame(BATCH, partition="greedy$%d" % i, session=os.urandom(16), seq=1, records=1, body=event({})))
        answer = recv_answer(s)
        assert answer.type == ACK or answer.credit_bytes == 0, answer.reason
        limited += answer.type != ACK
    status = indexed(reader)
    print("%s partitions: %d throttled, %d lookups over the limit" % (count, limited, status["names_over"]))
    if int(count) > 10000:
        assert status["names_over"] > 0, status
    mine = Sender(listener, "after")
    is_ack(mine.batch(1), 1)


def main():
    globals()["case_" + sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
