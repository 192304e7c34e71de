"""sender - speaks to an aggregator as agent, reader and vandal.

An independent judge: frames are built from proto/delivery.md.  Usage:
sender.py CASE [ARGUMENT...]; prints what went wrong and exits with 1.
SPDX-License-Identifier: MIT
"""

import os
import random
import struct
import sys
import time

import msgpack

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peer import (ACK, BATCH, BUSY, GAP, HELLO, MALFORMED, NACK, PAGE, SELECT,  # noqa: E402
                  STATUS, UNSUPPORTED, VERSION, WELCOME, agent, crc32c, equal, frame,
                  recv_answer, running_hash, PATIENCE_MS)

NACK_GAP, DIVERGED = 1, 4
DEAD, ALONE = 8, 512  # flags
LAST = 2


class Sender:
    """One stream, deterministic by its name: batch n is always the same."""

    def __init__(self, listener, name, partition="acct$flow", salt=""):
        self.socket = agent(listener)
        self.session = name.encode().ljust(16, b"\0")[:16]
        self.partition, self.salt = partition, salt
        self.chain = {0: 0}

    def body(self, n):
        event = [1, n * 10 ** 9, "flow", "event-%d" % n, {"n": n, "salt": self.salt}, None]
        return msgpack.packb(event)

    def known(self, n):
        """The chain after batch n."""
        for i in range(max(self.chain) + 1, n + 1):
            self.chain[i] = running_hash(self.chain[i - 1], self.body(i), 1)
        return self.chain[n]

    def frame(self, kind, n, body=b"", records=0, last=0):
        header = [self.partition, "n1", self.session, n, records, 0, 42, len(body),
                  self.known(n - 1), last, 32 if kind == GAP else 0, 0, 0, 0, 0, 0, 0]
        rest = msgpack.packb(header) + body
        head = struct.pack("<4sBBHI", b"PSCP", VERSION, kind, 0, len(rest))
        return head + struct.pack("<I", crc32c(head + rest)) + rest

    def send(self, n):
        self.socket.send(self.frame(BATCH, n, self.body(n), 1))

    def batch(self, n):
        self.send(n)
        return recv_answer(self.socket)

    def hello(self, n):
        self.socket.send(self.frame(HELLO, n))
        return recv_answer(self.socket)


def is_ack(answer, seq):
    equal((answer.type, answer.seq, answer.sent_ns), (ACK, seq, 42), "answer")
    assert answer.generation != 0 and answer.credit_bytes > 0
    assert 0 < answer.received_ns <= answer.answered_ns


def is_nack(answer, reason):
    equal((answer.type, answer.reason), (NACK, reason), "answer")


def case_deliver(listener):
    """The rules of proto/delivery.md, in their order."""
    s = Sender(listener, "deliver")
    equal((s.hello(1).type, s.hello(1).expect), (WELCOME, 1), "welcome")
    for n in range(1, 6):
        answer = s.batch(n)
        is_ack(answer, n)
        equal(answer.flags, 0, "flags")
    answer = s.hello(3)
    equal((answer.expect, answer.chain), (6, s.known(5)), "welcome")
    is_ack(s.batch(2), 2)
    answer = s.batch(9)
    is_nack(answer, NACK_GAP)
    equal(answer.expect, 6, "expect")
    clone = Sender(listener, "deliver", salt="clone")
    is_nack(clone.batch(5), DIVERGED)
    is_nack(clone.batch(6), DIVERGED)
    s.socket.send(s.frame(GAP, 6, last=8))
    answer = recv_answer(s.socket)
    is_ack(answer, 8)
    equal(answer.flags, 0, "flags of the gap")
    s.chain = {n: 0 for n in range(9)}
    answer = s.batch(9)
    is_ack(answer, 9)
    equal(answer.flags, ALONE, "flags behind the gap")
    s.socket.send(s.frame(BATCH, 10, b"\xc1\xc1", 1))
    answer = recv_answer(s.socket)
    is_ack(answer, 10)
    equal(answer.flags, DEAD | ALONE, "flags")


def case_first(listener, name, count):
    s = Sender(listener, name)
    for n in range(1, int(count) + 1):
        is_ack(s.batch(n), n)


class Sets(Sender):
    """Batches 1 and 3 define a set, 3 with a column more, 2 and 4 are samples of it."""

    def body(self, n):
        if n % 2:
            return msgpack.packb([4, "set", "growing", {"names": "first" if n == 1 else "first second",
                                                        "units": "1", "types": "gauge"}])
        return msgpack.packb([2, n * 10 ** 9, "growing", [n] if n == 2 else [n, 5]])


def case_sets(listener):
    """A metric group grows between two samples."""
    s = Sets(listener, "sets", partition="acct$sets")
    for n in range(1, 5):
        is_ack(s.batch(n), n)


def case_expect(listener, name, count):
    """What was acknowledged before is known now."""
    answer = Sender(listener, name).hello(1)
    equal((answer.type, answer.expect), (WELCOME, int(count) + 1), "welcome")


def case_stream(listener, name, ledger):
    """Sends as fast as it can until it is killed; notes what was
    acknowledged."""
    s = Sender(listener, name)
    hello = s.hello(1)
    n = hello.expect
    s.known(n)
    with open(ledger, "w") as out:
        while True:
            for i in range(8):
                s.send(n + i)
            upto = n + 7
            while n <= upto:
                answer = recv_answer(s.socket)
                equal(answer.type, ACK, "answer")
                n = answer.seq + 1
                out.write("%d\n" % answer.seq)
                out.flush()


def case_judge(listener, name, ledger):
    with open(ledger) as lines:
        acked = [int(line) for line in lines if line.endswith("\n")]
    assert acked, "nothing was acknowledged"
    s = Sender(listener, name)
    answer = s.hello(1)
    assert answer.expect > acked[-1], (answer.expect, acked[-1])
    equal(answer.chain, s.known(answer.expect - 1), "chain")
    is_ack(s.batch(answer.expect), answer.expect)


def case_garbage(listener, seed):
    """Whatever comes, it is answered, and the next honest batch is stored."""
    rng = random.Random(int(seed))
    s = Sender(listener, "garbage")
    good = s.frame(BATCH, 1, s.body(1), 1)
    for i in range(300):
        bad = bytearray(good)
        if i % 3 == 0:
            bad = bytearray(rng.randbytes(rng.randrange(200)))
        elif i % 3 == 1:
            bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        else:
            bad = bad[:rng.randrange(len(bad))]
        s.socket.send(bytes(bad))
        answer = recv_answer(s.socket)
        equal(answer.type, NACK, "answer to garbage")
        # Where only a bit is wrong it may come again, whole.
        wanted = (MALFORMED, UNSUPPORTED, BUSY) if i % 3 == 1 else (MALFORMED, UNSUPPORTED)
        assert answer.reason in wanted, answer.reason
    s.socket.send(frame(SELECT))
    is_nack(recv_answer(s.socket), UNSUPPORTED)
    s.socket.send_multipart([b"route", b"garbage"])
    equal(s.socket.recv_multipart()[0], b"route", "way back")
    s.socket.send_multipart([b"x"] * 20)
    is_ack(s.batch(1), 1)


def question(kind, name="", kinds=0, partition="acct$flow"):
    lowest, highest = -2208988800 * 10 ** 9, 7258118400 * 10 ** 9
    query = msgpack.packb([kinds, "", name, lowest, highest, b"", 2048])
    return frame(kind, partition=partition, node="", body=query)


def ask_status(reader):
    s = agent(reader)
    s.send(question(STATUS, "aggregator"))
    page = recv_answer(s)
    equal((page.type, page.flags & LAST, page.codec), (PAGE, LAST, 0), "page")
    found = [r for r in page.body[1:] if r[0] == 4 and r[2] == "aggregator"]
    equal(len(found), 1, "records of the aggregator")
    return found[0][3]


def case_status(reader, *wanted):
    """name=value, name>=value or name<=value, within a while."""
    until = time.monotonic() + PATIENCE_MS / 1000
    while True:
        status = ask_status(reader)
        wrong = []
        for each in wanted:
            name = each.rstrip("0123456789").rstrip("<>=")
            how, value = each[len(name):].rstrip("0123456789"), int(each.split("=")[1])
            got = int(status[name])
            if not {"=": got == value, ">=": got >= value, "<=": got <= value}[how]:
                wrong.append((each, got))
        if not wrong:
            return
        assert time.monotonic() < until, wrong
        time.sleep(0.02)


def case_select(reader, count):
    """So many events of the partition, page by page."""
    s = agent(reader)
    cursor, seen = b"", set()
    while True:
        query = msgpack.packb([1 << 1, "", "", -2208988800 * 10 ** 9, 7258118400 * 10 ** 9, cursor, 2048])
        s.send(frame(SELECT, partition="acct$flow", node="", body=query))
        page = recv_answer(s)
        equal((page.type, page.codec), (PAGE, 0), "page")
        cursor = page.body[0]
        for who, record in zip(page.body[1::2], page.body[2::2]):
            equal((who[0], record[0]), (0, 1), "context and event")
            identity = (who[2], who[3], who[4])
            assert identity not in seen, identity
            seen.add(identity)
        if page.flags & LAST:
            break
    equal(len(seen), int(count), "events")


def case_vandal_reader(reader, seed):
    rng = random.Random(int(seed))
    s = agent(reader)
    good = question(SELECT, kinds=2)
    for i in range(200):
        bad = bytearray(good)
        if i % 2:
            bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        else:
            body = bytearray(msgpack.packb([2, "", "", 0, 1, b"", 9]))
            body[rng.randrange(len(body))] = rng.randrange(256)
            bad = frame(SELECT, partition="acct$flow", node="", body=bytes(body))
        s.send(bytes(bad))
        answer = recv_answer(s)
        assert answer.type in (NACK, PAGE), answer.type
    s.send(frame(BATCH))
    is_nack(recv_answer(s), UNSUPPORTED)


def case_full(listener, name):
    """Batches until the store has no room."""
    s = Sender(listener, name)
    n = s.hello(1).expect
    s.salt = "x" * 20000
    s.chain[n - 1] = 0  # not known: what was before had another salt
    for n in range(n, n + 1000):
        s.chain[n] = running_hash(s.chain[n - 1], s.body(n), 1)
        s.socket.send(s.frame(BATCH, n, s.body(n), 1))
        answer = recv_answer(s.socket)
        if answer.type == NACK:
            is_nack(answer, BUSY)
            equal(answer.credit_bytes, 0, "credit")
            assert answer.retry_ms > 0
            return
    raise AssertionError("it never was full")


def case_other_format(store):
    """Give the journal of a store another format, with a good checksum."""
    import lmdb
    env = lmdb.open(store + "/journal", max_dbs=8, map_size=1 << 30)
    meta = env.open_db(b"meta")
    value = struct.pack("<I", 11)
    with env.begin(write=True) as txn:
        txn.put(b"format", value + struct.pack("<I", crc32c(b"format" + value)), db=meta)
    env.close()


def case_rows(store):
    """Every row of the journal ends in the checksum of key and value, and is
    what proto/store.md says."""
    import lmdb
    env = lmdb.open(store + "/journal", max_dbs=8, map_size=1 << 30, readonly=True)
    rows = 0
    want = None
    offset = None
    for table in (b"entries", b"streams", b"hashes", b"meta"):
        with env.begin(db=env.open_db(table)) as txn:
            for key, value in txn.cursor():
                equal(struct.unpack("<I", value[-4:])[0], crc32c((b"" if table == b"meta" else table) + key + value[:-4]), "checksum")
                rows += 1
                if table != b"entries":
                    continue
                number, = struct.unpack(">Q", key)
                flags, fault, zero, zeros, receive_ns, before, seq, owner = struct.unpack("<BBHIqQQQ", value[:40])
                equal((zero, zeros), (0, 0), "zeros")
                assert want is None or (number, before) == (want, offset), (number, before, want, offset)
                equal(value[40:44], b"PSCP", "frame")
                assert owner > 0
                want, offset = number + 1, before + len(value) - 4
    assert rows > 5, rows


def case_flip(store):
    """Turn one bit of a batch round."""
    path = store + "/journal/data.mdb"
    with open(path, "r+b") as file:
        data = file.read()
        at = data.rindex(b"event-")
        file.seek(at)
        file.write(bytes([data[at] ^ 1]))


def main():
    globals()["case_" + sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
