"""otlp - a client of OTLP/HTTP that encodes protocol buffers by hand.

The numbers of fields are those of opentelemetry-proto 1.9, written down here
once more: nothing of it comes from the receiver.
SPDX-License-Identifier: MIT
"""
import gzip
import http.client
import struct


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n)


def fixed(field, n):
    return varint(field << 3 | 1) + struct.pack("<Q", n & (1 << 64) - 1)


def double(field, n):
    return varint(field << 3 | 1) + struct.pack("<d", n)


def data(field, *parts):
    """A text, bytes, or the fields of a message."""
    body = b"".join(p.encode() if isinstance(p, str) else p for p in parts)
    return varint(field << 3 | 2) + varint(len(body)) + body


def value(v):
    if isinstance(v, bool):
        return number(2, int(v))
    if isinstance(v, int):
        return number(3, v)
    if isinstance(v, float):
        return double(4, v)
    if isinstance(v, bytes):
        return data(7, v)
    if isinstance(v, list):
        return data(5, *(data(1, value(x)) for x in v))
    if isinstance(v, dict):
        return data(6, *(attributes(1, v)))
    return data(1, v)


def attributes(field, pairs):
    return [data(field, data(1, k), data(2, value(v))) for k, v in pairs.items()]


def request(items, resource=None, scope="scope"):
    """Items: the encoded spans, metrics or log records."""
    resource = {"service.name": "svc"} if resource is None else resource
    return data(1, data(1, *attributes(1, resource)),
                data(2, data(1, data(1, scope)), *(data(2, i) for i in items)))


def span(trace, ident, name, begin, end, parent=b"", kind=1, pairs=None, events=(), links=(), status=b""):
    return b"".join([
        data(1, trace), data(2, ident), data(4, parent) if parent else b"", data(5, name), number(6, kind),
        fixed(7, begin), fixed(8, end), *attributes(9, pairs or {}), *(data(11, e) for e in events),
        *(data(13, x) for x in links), data(15, status) if status else b""])


PORT = 24318
TYPES = {"protobuf": "application/x-protobuf", "json": "application/json"}


def post(path, body, form="protobuf", packed=None, port=PORT, **headers):
    """Returns status, headers, body."""
    fields = {"Content-Type": TYPES.get(form, form)}
    if packed == "gzip":
        body = gzip.compress(body)
        fields["Content-Encoding"] = "gzip"
    fields.update({k.replace("_", "-"): v for k, v in headers.items()})
    conn = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        conn.request("POST", path, body, fields)
        got = conn.getresponse()
        return got.status, dict(got.getheaders()), got.read()
    finally:
        conn.close()
