"""clickhouse_rows - rows that ClickHouse is to keep, as clickhouse_native.c has
them as text; made from numbers and bytes alone, without either implementation.

make SEED COUNT   rows of the columns below, the outermost values first
rowbinary         an answer in the format RowBinary as such rows
sql               the expressions with which a server prints such rows
cuts URL FILE     FILE as the body of inserts that end early, in 8 places, twice
"""
import random, socket, sys, urllib.parse

COLUMNS = [("id", "UInt64"), ("a", "UInt8"), ("b", "UInt16"), ("c", "UInt32"),
           ("d", "UInt64"), ("e", "Int32"), ("f", "Int64"), ("g", "Float64"),
           ("h", "String"), ("i", "Array(UInt8)"), ("j", "Array(UInt64)"),
           ("k", "Array(Float64)"), ("l", "Array(String)")]

# The bits of floats: 0.0, -0.0, infinities, NaNs with payloads and signs, both
# quiet and signaling, 2^63 and -2^63, the smallest and the largest.
FLOATS = [0, 1 << 63, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
          0x7ff8000000000123, 0xfff8deadbeef0001, 0x7ff0000000000001, 0xffffffffffffffff,
          0x43e0000000000000, 0xc3e0000000000000, 1, 0x7fefffffffffffff, 0x3ff8000000000000]
TEXTS = [b"", b"\0", b"a\0b", b"tab\tline\nquote'\\", "Tübingen 雪".encode(), b"\xff\xfe\x80",
         b"x" * 127, b"y" * 128, bytes(range(256)) * 128, b"\0" * 32768]
EDGES = {"UInt8": [0, 255], "UInt16": [0, 65535], "UInt32": [0, 2**32 - 1],
         "UInt64": [0, 2**64 - 1, 2**63], "Int32": [-2**31, 2**31 - 1, -1, 0],
         "Int64": [-2**63, 2**63 - 1, -1, 0], "Float64": FLOATS, "String": TEXTS}
BITS = {"UInt8": 8, "UInt16": 16, "UInt32": 32, "UInt64": 64, "Int32": 32, "Int64": 64, "Float64": 64}


def value(type_, row, chance):
    edges = EDGES[type_]
    if row < len(edges):
        return edges[row]
    if type_ == "String":
        return chance.randbytes(chance.choice([0, 1, 5, 16, 200, chance.randrange(3000)]))
    bits = chance.getrandbits(BITS[type_]) >> chance.randrange(BITS[type_])
    return bits - (1 << BITS[type_] - 1) if type_[0] == "I" and bits >> BITS[type_] - 1 else bits


def text(one):
    return one.hex() if isinstance(one, bytes) else str(one)


def array(values):
    return "%d:%s" % (len(values), ",".join(map(text, values)))


def make(seed, count):
    chance = random.Random(seed)
    for row in range(count):
        fields = [str(row)]
        for _, type_ in COLUMNS[1:]:
            if not type_.startswith("Array"):
                fields.append(text(value(type_, row, chance)))
                continue
            # Empty arrays first, then all edges at once.
            inner = type_[6:-1]
            length = [0, 0, len(EDGES[inner])][row] if row < 3 else chance.randrange(6)
            fields.append(array([value(inner, k if row == 2 else 1 << 30, chance) for k in range(length)]))
        print("\t".join(fields))


def rowbinary(data):
    at = 0

    def varint():
        nonlocal at
        number = shift = 0
        while True:
            byte = data[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    def one(type_):
        nonlocal at
        if type_.startswith("Array"):
            return array([one(type_[6:-1]) for _ in range(varint())])
        size = varint() if type_ == "String" else BITS[type_] // 8
        field = data[at:at + size]
        assert len(field) == size
        at += size
        if type_ == "String":
            return field
        return int.from_bytes(field, "little", signed=type_[0] == "I")

    while at < len(data):
        print("\t".join(text(one(type_)) for _, type_ in COLUMNS))


def sql():
    def one(name, type_):
        if type_ == "Float64":
            return "toString(reinterpretAsUInt64(reinterpretAsString(%s)))" % name
        return "lower(hex(%s))" % name if type_ == "String" else "toString(%s)" % name

    def column(name, type_):
        if not type_.startswith("Array"):
            return one(name, type_)
        return "concat(toString(length(%s)), ':', arrayStringConcat(arrayMap(x -> %s, %s), ','))" % (
            name, one("x", type_[6:-1]), name)
    print(", ".join(column(*c) for c in COLUMNS))


def insert(url, body, announced):
    where = urllib.parse.urlparse(url)
    with socket.create_connection((where.hostname, where.port), timeout=30) as s:
        s.sendall(b"POST /?%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % (
            where.query.encode(), announced) + body)
        s.shutdown(socket.SHUT_WR)
        answer = b""
        while got := s.recv(65536):
            answer += got
    return answer


def cuts(url, path):
    body = open(path, "rb").read()
    # After the number of rows, in a name, in a type, between numbers, in the
    # ends of arrays, in texts, and before the last byte.
    marks = [2, 4, body.index(b"UInt16") + 3, body.index(b"Float64") + 7 + 20,
             body.index(b"Array(UInt8)") + 12 + 12, body.index(b"\x01h\x06String") + 9,
             len(body) // 2, len(body) - 1]
    assert len(set(marks)) == 8 and min(marks) > 0
    for mark in marks:
        # An end that was announced, and a connection that ends.
        for announced in mark, len(body):
            answer = insert(url, body[:mark], announced)
            print("cut at %d of %d:" % (mark, announced),
                  "stored" if answer.split(b" ")[1:2] == [b"200"] else "refused")


if sys.argv[1] == "make":
    make(int(sys.argv[2]), int(sys.argv[3]))
elif sys.argv[1] == "rowbinary":
    rowbinary(sys.stdin.buffer.read())
elif sys.argv[1] == "sql":
    sql()
elif sys.argv[1] == "cuts":
    cuts(sys.argv[2], sys.argv[3])
