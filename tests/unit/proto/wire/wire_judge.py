"""The independent judge of tests/unit/proto/wire/wire_records.c: python3-msgpack and a
checksum of its own against proto/wire.

wire_judge.py write SEED COUNT   frames, each with what it holds, to stdout
wire_judge.py read FILE          checks frames of that form, written by C

A unit is: u32 length, frame, u32 length, text; little-endian.  The text has a
line a record, see `line`.
SPDX-License-Identifier: MIT
"""
import random
import struct
import sys

import msgpack

ONCE = 256
KINDS = "context event sample span entity gap phase rejected".split()
BATCH, PAGE = 3, 9

TABLE = []
for i in range(256):
    for _ in range(8):
        i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
    TABLE.append(i)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


# ---- one line a record ----

def text(value):
    return (value if isinstance(value, bytes) else value.encode()).hex()


def scalar(value):
    if value is None:
        return "n"
    if isinstance(value, bool):
        return "b%d" % value
    if isinstance(value, int):
        return "i%d" % value
    if isinstance(value, float):
        return "f" + struct.pack(">d", value).hex()
    return "t" + text(value)


def line(who, r, page):
    """Kind, who, time, end, source, name, key, count, attributes, values, bytes,
    duration."""
    kind, f = r[0], r[1:]
    time = end = count = duration = None
    source = name = key = first = b""
    pairs, values = [], []
    if kind == 1:
        time, source, name, pairs, key = f[:5]
    elif kind == 2:
        time, source, values = f[:3]
        if page and len(f) >= 6:  # a bucket
            name, end, key = f[3:6]
        if page and len(f) >= 7:  # several of them, or columns
            count = f[6]
            if isinstance(values, bytes):
                values, first = [], values
    elif kind == 3:
        time, end, source, name, key, pairs = f[:6]
    elif kind == 4:
        source, name, pairs = f[:3]
    elif kind == 5:
        time, end, source, name, count = f[:5]
    elif kind == 6:
        time, end, source, name, key, pairs, first, count, duration = f[:9]
    elif kind == 7:
        time, name, count, first, key = f[:5]
    number = lambda n: "-" if n is None else str(n)
    return "%s %s %s %s %s/%s/%s %d {%s} [%s] %s %s\n" % (
        KINDS[kind], who, number(time), number(end), text(source), text(name),
        text(key or b""), count or 0,
        ",".join(text(k) + "=" + scalar(v) for k, v in pairs),
        ",".join(map(scalar, values)), text(first), number(duration))


def whose(node, session, seq, index, receive_ns):
    return "%s/%s/%d/%d/%d" % (text(node), session.hex(), seq, index,
                               receive_ns)


# ---- MessagePack in any width that the format allows ----

def pack_int(rng, v):
    forms = []
    if 0 <= v < 128:
        forms.append(bytes([v]))
    if -32 <= v < 0:
        forms.append(struct.pack(">b", v))
    for tag, code in zip(range(0xCC, 0xD4), "BHIQbhiq"):
        try:
            forms.append(bytes([tag]) + struct.pack(">" + code, v))
        except struct.error:
            pass
    return rng.choice(forms)


def sized(rng, n, tags, fix=None, fixmax=0):
    forms = []
    if fix is not None and n <= fixmax:
        forms.append(bytes([fix | n]))
    for tag, code, top in zip(tags, "BHI", (255, 65535, 1 << 31)):
        if tag and n <= top:
            forms.append(bytes([tag]) + struct.pack(">" + code, n))
    return rng.choice(forms)


class Pairs(list):
    """A map that may say a key twice."""


def pack(rng, v):
    if v is None:
        return b"\xc0"
    if isinstance(v, bool):
        return b"\xc3" if v else b"\xc2"
    if isinstance(v, int):
        return pack_int(rng, v)
    if isinstance(v, float):
        if v in (0.0, 1.5, 1e999) and rng.random() < 0.5:
            return b"\xca" + struct.pack(">f", v)  # the same in 32 bits
        return b"\xcb" + struct.pack(">d", v)
    if isinstance(v, str):
        v = v.encode()
        return sized(rng, len(v), (0xD9, 0xDA, 0xDB), 0xA0, 31) + v
    if isinstance(v, bytes):
        return sized(rng, len(v), (0xC4, 0xC5, 0xC6)) + v
    if isinstance(v, Pairs):
        return sized(rng, len(v), (0, 0xDE, 0xDF), 0x80, 15) + b"".join(
            pack(rng, k) + pack(rng, x) for k, x in v)
    return sized(rng, len(v), (0, 0xDC, 0xDD), 0x90, 15) + b"".join(
        pack(rng, x) for x in v)


# ---- records that keep to the limits ----

def any_time(rng):
    return rng.choice([rng.randint(-2208988800 * 10**9, 7258118400 * 10**9),
                       rng.randint(1508000000, 1509000000) * 10**9,
                       -2208988800 * 10**9, 7258118400 * 10**9,
                       rng.randint(-40000, 40000)])


def any_name(rng):
    n = rng.choice([1, rng.randint(1, 12), rng.randint(1, 40), 255])
    if rng.random() < 0.8:
        return "".join(rng.choice("abcxyz-_.:/ 0189~!") for _ in range(n))
    out = ""
    while True:
        c = rng.choice("aä€\U0001F600߿ࠀ퟿\U0010FFFF\xa0")
        if len((out + c).encode()) > n:
            return out or "x"
        out += c


def any_value(rng):
    return rng.choice([
        lambda: None, lambda: True, lambda: False,
        lambda: rng.randint(-2**63, 2**64 - 1),
        lambda: rng.randint(-200, 300),
        lambda: rng.choice([0.0, -0.0, 1.5, 1e300, float("inf"), 0.1,
                            float("nan"), rng.random()]),
        lambda: "", lambda: any_name(rng),
        lambda: "line\none\x00" + "z" * rng.choice([0, 30, 300, rng.choice(
            [1000, 1000, 1000, 1000, 1000, 1000, 32000])]),
    ])()


def any_pairs(rng):
    n = rng.choice([0, 1, 2, 3, rng.randint(0, 20), 64])
    return Pairs((any_name(rng), any_value(rng)) for _ in range(n))


def any_bytes(rng, n):
    return bytes(rng.randrange(256) for _ in range(n))


def any_record(rng, page):
    kind = rng.choice([1, 1, 2, 3, 4, 5] + ([6, 7] if page else []))
    name = lambda: any_name(rng)
    time = lambda: any_time(rng)
    number = lambda: rng.choice(
        [rng.randint(-2**63, 2**63), rng.random(), None])
    maybe = lambda x: rng.choice([None, x])
    return [kind] + {
        1: lambda: [time(), name(), name(), any_pairs(rng),
                    maybe(any_bytes(rng, 16))],
        2: lambda: [time(), name(),
                    [number() for _ in range(rng.choice([0, 1, 9, 70]))]],
        3: lambda: [time(), time(), name(), name(),
                    rng.choice(["", name()]), any_pairs(rng)],
        4: lambda: [name(), name(), any_pairs(rng)],
        5: lambda: [time(), time(), name(), name(), rng.getrandbits(
            rng.choice([1, 8, 16, 32, 64]))],
        6: lambda: [maybe(time()), maybe(time()), name(), name(),
                    rng.choice(["", "a\nb", name()]), any_pairs(rng),
                    rng.choice(["", name()]), rng.getrandbits(2),
                    maybe(rng.choice([0, rng.randint(-2**63, 2**63 - 1)]))],
        7: lambda: [time(), name(), rng.getrandbits(20),
                    any_bytes(rng, rng.randint(0, 300)), rng.choice(["", name()])],
    }[kind]()


def any_extra(rng, depth=2):
    """Elements of a later version."""
    pick = rng.random()
    if depth > 8 or pick < 0.5:
        return rng.choice([any_value(rng), any_bytes(rng, 3)])
    if pick < 0.75:
        return [any_extra(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    return Pairs((any_extra(rng, depth + 1), any_extra(rng, depth + 1))
                 for _ in range(rng.randint(0, 2)))


def extended(rng, r, page=False):
    more = rng.choice([0, 0, 0, 1, 2, 20])
    if page and r[0] == 2:  # three more make it a bucket, four several of them
        if more > 2 or rng.random() < 0.5:
            r = r + [any_name(rng), any_time(rng),
                     rng.choice(["", any_name(rng)])]
            if more > 0 or rng.random() < 0.5:
                r = r + [rng.getrandbits(rng.choice([3, 64]))]
                if rng.random() < 0.3:
                    r[3] = any_bytes(rng, rng.randint(0, 300))
    return r + [any_extra(rng) for _ in range(more)]


def any_frame(rng):
    page = rng.random() < 0.3
    flags = rng.getrandbits(16)
    once = flags & ONCE and not page
    node, session, seq = "node-1", any_bytes(rng, 16), rng.getrandbits(64)
    body, lines = b"", ""
    receive_ns = 0
    if page:
        body += pack(rng, any_bytes(rng, rng.randint(0, 64)))
    count = rng.choice([0, 1, 2, 9])
    session0, seq0 = session, seq
    index = -1
    for _ in range(count):
        index += 1
        if page:
            node, session = any_name(rng), any_bytes(rng, 16)
            seq, receive_ns = rng.getrandbits(60), any_time(rng)
            index = rng.getrandbits(32)
            context = [0, node, session, seq, index, receive_ns]
            if rng.random() < 0.5:  # of an entry of the journal
                context = extended(rng, context + [rng.getrandbits(64)])
            body += pack(rng, context)
        elif once and rng.random() < 0.5:
            # The identity that the records had in another store.
            node, session = any_name(rng), any_bytes(rng, 16)
            seq, receive_ns = rng.getrandbits(60), any_time(rng)
            index = rng.getrandbits(31)
            context = [0, node, session, seq, index, receive_ns]
            if rng.random() < 0.5:
                context = extended(rng, context + [rng.getrandbits(64)])
            body += pack(rng, context)
        elif rng.random() < 0.3:
            node = any_name(rng)
            # Whatever follows the node is not for a reader of batches.
            body += pack(rng, [0, node] if once else extended(rng, [0, node]))
        r = any_record(rng, page)
        r = extended(rng, r, page)
        body += pack(rng, r)
        lines += line(whose(node, session, seq, index, receive_ns), r, page)
    if page:
        session0, seq0 = bytes(16), 0
    header = ["account$pool", "node-1", session0, seq0, count, 0, -5,
              len(body)] + [rng.getrandbits(31) for _ in range(10)]
    if rng.random() < 0.3:
        header += [rng.choice(["", "why not"])]
        if rng.random() < 0.7:
            header += [any_bytes(rng, 8 * rng.randint(0, 32)), rng.getrandbits(60)]
            if rng.random() < 0.5:
                header += [[1, [2.5, None]], "new"]
    elif rng.random() < 0.3 and not page:
        header = header[:7]
    rest = pack(rng, header) + body
    fixed = b"PSCP" + bytes([2, PAGE if page else BATCH]) + struct.pack(
        "<HI", flags, len(rest))
    return fixed + struct.pack("<I", crc32c(fixed + rest)) + rest, lines


def write(seed, count):
    rng = random.Random(seed)
    while count > 0:
        frame, lines = any_frame(rng)
        if len(frame) > 256 << 10:
            continue
        for part in (frame, lines.encode()):
            sys.stdout.buffer.write(struct.pack("<I", len(part)) + part)
        count -= 1


# ---- frames written by C ----

def unpack_all(data):
    unpacker = msgpack.Unpacker(
        raw=False, strict_map_key=False, object_pairs_hook=list,
        max_buffer_size=len(data) + 1)
    unpacker.feed(data)
    for value in unpacker:
        yield value
    assert unpacker.tell() == len(data), "bytes are left over"


def check(frame, lines):
    assert frame[:5] == b"PSCP\2"
    length, crc = struct.unpack("<II", frame[8:16])
    assert length == len(frame) - 16
    assert crc == crc32c(frame[:12] + frame[16:])
    values = unpack_all(frame[16:])
    header = next(values)
    assert len(header) == 18
    node, session, seq = header[1], header[2], header[3]
    index, receive_ns, got, count = 0, 0, "", 0
    if frame[5] == PAGE:
        next(values)  # the cursor
    for r in values:
        if r[0] == 0:
            node = r[1]
            if len(r) > 2:
                session, seq, index, receive_ns = r[2:6]
            continue
        got += line(whose(node, session, seq, index, receive_ns), r,
                    frame[5] == PAGE)
        index += 1
        count += 1
    assert count == header[4]
    if got != lines:
        sys.exit("C says:\n%s\npython3-msgpack says:\n%s" % (lines, got))


def read(path):
    data = open(path, "rb").read()
    at = frames = 0
    while at < len(data):
        parts = []
        for _ in range(2):
            n, = struct.unpack_from("<I", data, at)
            parts.append(data[at + 4:at + 4 + n])
            at += 4 + n
        check(parts[0], parts[1].decode())
        frames += 1
    if frames == 0:
        sys.exit("no frames")


if sys.argv[1] == "write":
    write(int(sys.argv[2]), int(sys.argv[3]))
else:
    read(sys.argv[2])
