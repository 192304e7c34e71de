"""archive_values - random records of all kinds and values, sent to an aggregator, and
looked for in its archive and in stores.

	archive_values.py send SEED COUNT INTAKE
	archive_values.py archived SEED COUNT PASSWORD-FILE DATABASE PORT...
	archive_values.py served SEED COUNT READER
	archive_values.py partitions SEED COUNT

PORT... are those of a replica of each shard, INTAKE and READER endpoints of an aggregator.
What was sent is made again from the seed: the frames and values are built here
from proto/wire.md, the rows judged by proto/archive.md and record_columns.h, read
in the format Native.  Floats are compared as their 64 bits.
SPDX-License-Identifier: MIT
"""
import collections
import hashlib
import os
import random
import struct
import sys
import urllib.request

import msgpack

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "flow"))
import native  # noqa: E402
from peer import (ACK, BATCH, HELLO, PAGE, SELECT, VERSION, WELCOME, agent, crc32c, recv,  # noqa: E402
                  recv_answer, running_hash)

PARTITIONS = ["a$values", "o'neil$\\ \"x\"); DROP", "ü$雪 \U0001F600"]
REJECTED, LAST, PLAIN = 8, 2, 32  # flags
DAY_NS = 86400 * 10**9
FIRST_NS, LAST_NS = -2208988800 * 10**9, 7258118400 * 10**9
# The bits of zeros, the smallest and the largest, subnormals, infinities, NaNs with
# payloads, quiet and signaling, of both signs, 2^53, 2^63, -2^63, 2^64, 0.1, 1e23.
FLOATS = [0, 1 << 63, 1, 1 << 63 | 1, 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff,
          0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000, 0x7ff8000000000123,
          0xfff8deadbeef0001, 0x7ff0000000000001, 0xfff7ffffffffffff, 0xffffffffffffffff, 0x4340000000000000,
          0x43e0000000000000, 0xc3e0000000000000, 0x43f0000000000000, 0x3fb999999999999a, 0x44b52d02c7e14af6]
INTEGERS = [0, 1, -1, 127, 128, 255, 256, -32, -33, -128, -129, 2**31, -2**31, 2**32 - 1, 2**53, 2**53 + 1, -2**53 - 1,
            2**63 - 1, 2**63 - 512, -2**63, -2**63 + 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64 - 2048]


class Float(int):
    """The bits of one."""


class Pairs(list):
    """A map, which may have a key twice."""


# ---- MessagePack ----

def packed_integer(chance, v):
    forms = [bytes([v & 255])] if -32 <= v < 128 else []
    for tag, code in zip(range(0xcc, 0xd4), "BHIQbhiq"):
        try:
            forms.append(bytes([tag]) + struct.pack(">" + code, v))
        except struct.error:
            pass
    return chance.choice(forms)


def packed(chance, v):
    if v is None:
        return b"\xc0"
    if isinstance(v, bool):
        return b"\xc3" if v else b"\xc2"
    if isinstance(v, Float):
        wide = struct.pack(">Q", v)
        number, = struct.unpack(">d", wide)
        if abs(number) < 3e38 and chance.random() < 0.5:
            narrow = struct.pack(">f", number)
            if struct.pack(">d", *struct.unpack(">f", narrow)) == wide:
                return b"\xca" + narrow
        return b"\xcb" + wide
    if isinstance(v, int):
        return packed_integer(chance, v)
    if isinstance(v, bytes):
        return msgpack.packb(v)
    if isinstance(v, str):
        return b"\xdb" + struct.pack(">I", len(v.encode())) + v.encode() if chance.random() < 0.1 else msgpack.packb(v)
    if isinstance(v, Pairs):
        return b"\xde" + struct.pack(">H", len(v)) + b"".join(packed(chance, k) + packed(chance, x) for k, x in v)
    return b"\xdc" + struct.pack(">H", len(v)) + b"".join(packed(chance, x) for x in v)


def unpacked(data):
    """Elements one after another; maps as lists of pairs, floats as their bits."""
    at = 0

    def number(layout):
        nonlocal at
        value, = struct.unpack_from(layout, data, at)
        at += struct.calcsize(layout)
        return value

    def piece(size):
        nonlocal at
        at += size
        return data[at - size:at]

    def one():
        tag = number("B")
        if tag < 0x80 or tag >= 0xe0:
            return tag - 256 * (tag >= 0xe0)
        if tag < 0x90 or tag in (0xde, 0xdf):
            size = tag & 15 if tag < 0x90 else number(">H" if tag == 0xde else ">I")
            return [(one(), one()) for _ in range(size)]
        if tag < 0xa0 or tag in (0xdc, 0xdd):
            return [one() for _ in range(tag & 15 if tag < 0xa0 else number(">H" if tag == 0xdc else ">I"))]
        if tag < 0xc0 or tag in (0xd9, 0xda, 0xdb):
            return piece(tag & 31 if tag < 0xc0 else number(">" + "BHI"[tag - 0xd9])).decode()
        if tag in (0xc4, 0xc5, 0xc6):
            return piece(number(">" + "BHI"[tag - 0xc4]))
        if tag == 0xca:  # no smaller form of a double
            bits, = struct.unpack(">Q", struct.pack(">d", number(">f")))
            return Float(bits)
        if tag == 0xcb:
            return Float(number(">Q"))
        return {0xc0: None, 0xc2: False, 0xc3: True}[tag] if tag < 0xc4 else number(">" + "BHIQbhiq"[tag - 0xcc])

    while at < len(data):
        yield one()


# ---- what is sent ----

def name(chance):
    size = chance.choice([1, chance.randint(1, 12), chance.randint(1, 12), chance.randint(1, 40), 255])
    letters = "abcxyz-_.:/ 0189~!'\"\\" if chance.random() < 0.7 else "aä€\U0001F600߿ࠀ\ud7ff\U0010ffff\xa0"
    made = ""
    while len(made.encode()) < size:
        made += chance.choice(letters)
    while len(made.encode()) > size:
        made = made[:-1]
    return made or "x"


def text(chance):
    kind = chance.random()
    if kind < 0.1:
        return ""
    if kind < 0.2:  # each byte that UTF-8 can have
        made = "".join(map(chr, range(0x80))) + "\u0080߿\u0800￿\U00010000\U0010ffff"
        return made[chance.randrange(len(made)):] + made
    if kind < 0.23:
        return chance.choice(["xy", "\0\0", "é"]) * 16384
    return "".join(chance.choice("ab\n\t\0\x7f'\\%é") for _ in range(chance.randrange(200)))


def number(chance):
    kind = chance.random()
    if kind < 0.3:
        return Float(chance.choice(FLOATS))
    if kind < 0.5:
        return Float(chance.getrandbits(64))
    if kind < 0.7:
        return chance.choice(INTEGERS)
    if kind < 0.9:
        return chance.randint(-2**63, 2**64 - 1) >> chance.randrange(64)
    return None


def value(chance):
    return chance.choice([lambda: number(chance), lambda: number(chance), lambda: text(chance),
                          lambda: chance.random() < 0.5])()


class World:
    """All batches of a seed, and what must be found of them."""

    def __init__(self, seed, count):
        self.chance = chance = random.Random(seed)
        self.streams = []  # (partition, session, [(body, records, malformed)])
        self.wanted = collections.defaultdict(list)  # of each partition, a list of records
        self.days = [0, -1, 20000] + [chance.randrange(FIRST_NS // DAY_NS, LAST_NS // DAY_NS) for _ in range(12)]
        for partition in PARTITIONS:
            self.nodes = [name(chance) for _ in range(5)]
            self.names = [name(chance) for _ in range(40)]
            for _ in range(3):
                self.stream(partition, count // 9)

    def time(self):
        edge = self.chance.random()
        if edge < 0.02:
            return self.chance.choice([FIRST_NS, FIRST_NS + 1, LAST_NS - 1, -1, 0, 1])
        at = self.chance.choice(self.days) * DAY_NS + self.chance.randrange(DAY_NS)
        return min(max(at, FIRST_NS), LAST_NS - 1)

    def name(self):
        return self.chance.choice(self.names) if self.chance.random() < 0.9 else name(self.chance)

    def attributes(self):
        count = self.chance.choice([0, 1, 2, 3, self.chance.randint(0, 8), 64])
        made, size = Pairs(), 0
        for _ in range(count):
            made.append((self.name(), value(self.chance)))
            size += len(made[-1][1].encode()) if isinstance(made[-1][1], str) else 9
            if size > 100000:
                break
        return made

    def record(self):
        """As it is on the wire, and as it must be found."""
        chance, at = self.chance, self.time()
        kind = chance.choice([1, 1, 2, 2, 3, 5])
        if kind == 1:
            uuid = chance.choice([None, chance.randbytes(16), bytes(16)])
            sent = [1, at, self.name(), self.name(), self.attributes(), uuid]
        elif kind == 2:
            width = chance.choice([0, 1, 2, 5, 20, chance.randrange(70), 4096 if chance.random() < 0.03 else 3])
            group = "m/" + chance.choice([n for n in self.names if len(n.encode()) < 254])
            sent = [2, at, group, [number(chance) for _ in range(width)]]
        elif kind == 3:
            sent = [3, at, self.time(), self.name(), self.name(), chance.choice(["", self.name()]), self.attributes()]
        else:
            sent = [5, at, self.time(), chance.choice(["sample", "batch", "span", "event"]), self.name(),
                    chance.choice([0, 1, 2**63, 2**64 - 1, chance.getrandbits(40)])]
        return sent

    def stream(self, partition, count):
        chance, session, batches, made = self.chance, self.chance.randbytes(16), [], 0
        while made < count:
            seq = len(batches) + 1
            if chance.random() < 0.05:
                body = b"\xc1" + chance.choice([bytes(range(256)), b"", chance.randbytes(chance.randrange(200000))])
                batches.append((body, 1, True))
                self.wanted[partition].append((session, seq, 0, "sender", [
                    7, len(body), body[:131072], hashlib.sha256(body).hexdigest()]))
                continue
            node, index, body = "sender", 0, b""
            for _ in range(chance.choice([1, 3, 20, 200])):
                if chance.random() < 0.2:
                    node = chance.choice(self.nodes)
                    body += packed(chance, [0, node])
                record = self.record()
                body += packed(chance, record)
                self.wanted[partition].append((session, seq, index, node, record))
                index += 1
                if len(body) > 100000:
                    break
            made += index
            batches.append((body, index, False))
        self.streams.append((partition, session, batches))


def frame(kind, partition, session=bytes(16), seq=0, body=b"", records=0, before=0, flags=0, node="sender"):
    header = [partition, node, session, seq, records, 0, 0, len(body), before, 0, 0, 0, 0, 0, 0, 0, 0]
    rest = msgpack.packb(header) + body
    head = struct.pack("<4sBBHI", b"PSCP", VERSION, kind, flags, len(rest))
    return head + struct.pack("<I", crc32c(head + rest)) + rest


def send(seed, count, intake):
    socket, sent, rejected = agent(intake), 0, 0
    for partition, session, batches in World(int(seed), int(count)).streams:
        socket.send(frame(HELLO, partition, session, 1))
        if recv_answer(socket).type != WELCOME:
            sys.exit("no welcome for " + partition)
        before = 0
        for seq, (body, records, malformed) in enumerate(batches, 1):
            socket.send(frame(BATCH, partition, session, seq, body, records, before))
            answer = recv_answer(socket)
            if answer.type != ACK or bool(answer.flags & REJECTED) != malformed:
                sys.exit("batch %d of %s: type %d, reason %d, flags %d" % (
                    seq, partition, answer.type, answer.reason, answer.flags))
            before = running_hash(before, body, records)
            sent, rejected = sent + records, rejected + malformed
    print("%d records, %d of them rejected batches" % (sent, rejected))


# ---- what is found ----

def plain(record):
    """A record for comparison: no record is equal to another one of other bits."""
    def mark(v):
        if isinstance(v, (list, tuple)):
            return tuple(map(mark, v))
        return (type(v).__name__, int(v)) if isinstance(v, (Float, bool)) else v
    return mark(record)


def compare(what, wanted, found):
    """Records of each partition: (session, seq, index, node, record)."""
    bad = 0
    for partition in PARTITIONS:
        want = collections.Counter(map(plain, wanted[partition]))
        have = collections.Counter(map(plain, found[partition]))
        lacking, more = list((want - have).elements()), list((have - want).elements())
        if lacking or more:
            bad = 1
            print("%s, %s: %d of %d are lacking, %d more" % (
                what, partition, len(lacking), len(wanted[partition]), len(more)))
            print("\n".join(repr(r)[:400] for r in sorted(lacking, key=repr)[:2] + sorted(more, key=repr)[:2]))
    print("%s: %d records of %d partitions" % (what, sum(map(len, found.values())), len(found)))
    return bad


def from_text(letter, of):
    """The value of an attribute in the archive."""
    if letter == "n" and of == b"":
        return None
    if letter == "b" and of in (b"true", b"false"):
        return of == b"true"
    if letter in "iu" and str(int(of)).encode() == of and (int(of) > 2**63 - 1) == (letter == "u"):
        return int(of)
    if letter == "t":
        return of.decode()
    if letter != "f":
        raise ValueError("an attribute of type %s is %r" % (letter, of))
    if of.startswith(b"nan"):
        return Float(int(of[4:], 16) if of[3:] else 0x7ff8000000000000)
    made = float(of)
    if len(of.lstrip(b"-").split(b"e")[0].replace(b".", b"").strip(b"0")) > len(
            repr(abs(made)).split("e")[0].replace(".", "").strip("0")):
        raise ValueError("a float is longer than must be: %r" % of)
    return Float(*struct.unpack("<Q", struct.pack("<d", made)))


def from_number(letter, bits, big):
    """The value of a sample."""
    v, = struct.unpack("<d", struct.pack("<Q", bits))
    if letter == "f":
        return Float(bits)
    if letter == "n" and v != v:
        return None
    made = int(v) if letter == "i" else big.pop(0)
    if letter == "l" and made >= 2**63:
        made -= 2**64
    if letter not in "ilu" or float(made) != v or (made > 2**63 - 1) != (letter == "u") or bits == 1 << 63:
        raise ValueError("a value of type %s is %r, %r" % (letter, v, made))
    return made


def from_row(table, row):
    def attributes():
        if not len(row["keys"]) == len(row["types"]) == len(row["vals"]):
            raise ValueError("keys, types and vals are not equally many")
        return [(k.decode(), from_text(chr(t), v)) for k, t, v in zip(row["keys"], row["types"], row["vals"])]

    if row["hour"] != row["ts"] // (3600 * 10**9):
        raise ValueError("hour %d of the time %d" % (row["hour"], row["ts"]))
    at, track = row["ts"], row["track"].decode() if row.get("track") else None
    if table == "events":
        return [1, at, row["source"].decode(), row["name"].decode(), attributes(), row["uuid"] or None]
    if table == "samples":
        big = list(row["big"])
        made = [2, at, track, [from_number(chr(t), v, big) for t, v in zip(row["types"], row["v"])]]
        if big or not len(row["types"]) == len(row["v"]):
            raise ValueError("types, v and big are not equally many")
        return made
    if table == "spans":
        return [3, at, row["end_ns"], track, row["name"].decode(), row["category"].decode(), attributes()]
    if table == "gaps":
        return [5, at, row["end_ns"], row["class"].decode(), row["reason"].decode(), row["count"]]
    return [7, row["bytes"], row["body"], row["sha256"].decode()]


def archived(seed, count, password, database, *ports):
    secret = open(password).read().strip()

    def ask(port, sql):
        request = urllib.request.Request("http://127.0.0.1:%s/" % port, (sql + " FORMAT Native").encode(), {
            "X-ClickHouse-User": "poolscope_writer", "X-ClickHouse-Key": secret})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return native.rows(answer.read())

    world, found = World(int(seed), int(count)), {}
    for partition in PARTITIONS:
        quoted = partition.replace("\\", "\\\\").replace("'", "\\'")
        part = ask(ports[0], "SELECT sipHash64('%s') AS part" % quoted)[0]["part"]
        found[partition] = []
        for table in "events", "samples", "spans", "gaps", "rejected":
            for port in ports:
                for row in ask(port, "SELECT * FROM %s.%s FINAL WHERE part = %d" % (database, table, part)):
                    found[partition].append((row["session"], row["seq"], row["idx"], row["node"].decode(),
                                             from_row(table, row)))
    sys.exit(compare("the archive", world.wanted, found))


def served(seed, count, reader):
    world, socket, found = World(int(seed), int(count)), agent(reader), collections.defaultdict(list)
    for partition in PARTITIONS:
        cursor, flags = b"", 0
        while not flags & LAST:
            query = msgpack.packb([0xae, "", "", FIRST_NS, LAST_NS, cursor, 65536])
            socket.send(frame(SELECT, partition, body=query, flags=PLAIN, node=""))
            data = recv(socket)[0]
            type_, flags = struct.unpack_from("<BH", data, 5)
            header, *body = unpacked(data[16:])
            if type_ != PAGE or header[5] != 0:
                sys.exit("no plain page of %s: type %d, reason %d" % (partition, type_, header[10]))
            cursor, *page = body
            for who, record in zip(page[::2], page[1::2]):
                if record[0] == 7:
                    record = [7] + record[3:]
                elif record[0] == 5 and record[4] == "since-backup":
                    continue
                found[partition].append((who[2], who[3], who[4], who[1], record))
    sys.exit(compare("the store", world.wanted, found))


if __name__ == "__main__":
    {"send": send, "archived": archived, "served": served,
     "partitions": lambda *_: print(*PARTITIONS, sep="\n")}[sys.argv[1]](*sys.argv[2:])
