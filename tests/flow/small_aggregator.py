#!/usr/bin/python3
"""small_aggregator - an aggregator of a few lines, written from proto/delivery.md.

    small_aggregator.py --ready-fd N ENDPOINT OUT

What it stores goes to OUT, one record a line as JSON, written before it is
acknowledged; OUT.state lets the next start continue.  OUT.mode says what is
done with batches:

    store       (or no such file) store and acknowledge
    mute        neither store nor answer
    deaf        store, but do not answer
    busy        refuse, and want to be asked again
    forbidden   refuse, as the key does not allow it
    malformed   refuse for good
    once        refuse the first, and want to be asked again; store one; then mute

A fault of the sender (a hole, other content under a number, a bad checksum) is
written to OUT.faults.
SPDX-License-Identifier: MIT
"""

import json
import os
import sys
import time

import msgpack
import zmq

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peer import ACK, BATCH, BUSY, GAP, HELLO, NACK, WELCOME, VERSION, Answer, crc32c, running_hash  # noqa: E402
import struct  # noqa: E402

NACK_GAP, FORBIDDEN, MALFORMED = 1, 6, 7


def raw_body(data):
    """What follows the header array."""
    unpacker = msgpack.Unpacker(raw=False, max_buffer_size=1 << 20)
    unpacker.feed(data[16:])
    unpacker.skip()
    return data[16 + unpacker.tell():]


def plain(value):
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


class Aggregator:
    def __init__(self, out):
        self.out = out
        self.streams = {}
        self.was_busy = False
        self.generation = int.from_bytes(os.urandom(7), "little")
        if os.path.exists(out + ".state"):
            with open(out + ".state") as f:
                state = json.load(f)
            self.generation = state["generation"]
            self.streams = {tuple(k): v for k, v in state["streams"]}
        self.save()

    def save(self):
        with open(self.out + ".new", "w") as f:
            json.dump({"generation": self.generation,
                       "streams": [[list(k), v] for k, v in self.streams.items()]}, f)
        os.rename(self.out + ".new", self.out + ".state")

    def mode(self):
        try:
            with open(self.out + ".mode") as f:
                return f.read().strip()
        except FileNotFoundError:
            return "store"

    def fault(self, text):
        with open(self.out + ".faults", "a") as f:
            f.write(text + "\n")

    def answer(self, q, kind, stream, **fields):
        now = time.time_ns()
        h = dict(seq=q.seq, chain=0, reason=0, expect=stream["last"] + 1, retry_ms=0)
        h.update(fields)
        header = [q.partition, "aggregator", q.session, h["seq"], 0, 0, q.sent_ns, 0, h["chain"], 0,
                  h["reason"], h["expect"], self.generation, 1 << 20, h["retry_ms"], now, now]
        rest = msgpack.packb(header)
        head = struct.pack("<4sBBHI", b"PSCP", VERSION, kind, 0, len(rest))
        return head + struct.pack("<I", crc32c(head + rest)) + rest

    def write(self, q, records):
        node, index = q.node, 0
        with open(self.out, "a") as f:
            for record in records:
                if record[0] == 0:
                    node = record[1]
                    continue
                f.write(json.dumps({"partition": q.partition, "node": node, "session": q.session.hex(),
                                    "seq": q.seq, "index": index, "kind": record[0],
                                    "record": plain(record[1:])}) + "\n")
                index += 1
        if index != q.records:
            self.fault(f"{q.records} records announced, {index} there")

    def take(self, q, data):
        """The answer to a frame, or None."""
        stream = self.streams.setdefault((q.session.hex(), q.partition), {"last": 0, "chain": 0})
        mode = self.mode()
        if mode == "once" and q.type == BATCH and not self.was_busy:
            self.was_busy = True
            return self.answer(q, NACK, stream, reason=BUSY, retry_ms=20)
        if mode == "mute" or mode == "once" and stream["last"] > 0:
            return None
        if q.type == HELLO:
            return self.answer(q, WELCOME, stream, chain=stream["chain"])
        if q.type not in (BATCH, GAP):
            return None
        if mode == "busy":
            return self.answer(q, NACK, stream, reason=BUSY, retry_ms=20)
        if mode == "forbidden" and q.type == BATCH:
            return self.answer(q, NACK, stream, reason=FORBIDDEN)
        if mode == "malformed" and q.type == BATCH:
            return self.answer(q, NACK, stream, reason=MALFORMED)
        last = q.last_seq if q.type == GAP else q.seq
        if last <= stream["last"]:
            return self.answer(q, ACK, stream, seq=last)
        if q.seq > stream["last"] + 1:
            return self.answer(q, NACK, stream, reason=NACK_GAP)
        if q.chain and stream["chain"] and q.chain != stream["chain"]:
            self.fault(f"chain before {q.seq} is another one")
        if q.type == BATCH:
            stream["chain"] = running_hash(q.chain, raw_body(data), q.records)
            self.write(q, q.body)
        else:
            stream["chain"] = 0
            with open(self.out, "a") as f:
                f.write(json.dumps({"partition": q.partition, "session": q.session.hex(), "seq": q.seq,
                                    "last": last, "kind": "lost", "reason": q.reason}) + "\n")
        stream["last"] = last
        self.save()
        if mode == "deaf":
            return None
        return self.answer(q, ACK, stream, seq=last)


def main():
    ready_fd, endpoint, out = int(sys.argv[2]), sys.argv[3], sys.argv[4]
    aggregator = Aggregator(out)
    listener = zmq.Context().socket(zmq.ROUTER)
    listener.linger = 0
    listener.bind(endpoint)
    os.write(ready_fd, b"\n")
    os.close(ready_fd)
    while True:
        *route, data = listener.recv_multipart()
        try:
            answer = aggregator.take(Answer(data), data)
        except AssertionError as e:
            aggregator.fault(f"bad frame {e}")
            continue
        if answer is not None:
            listener.send_multipart(route + [answer])


main()
