"""_arrow - read the streams of Apache Arrow that the programs write.

It reads what proto/answer/arrow.c writes, not all of Arrow: flat columns of bool,
64 bits, text and dictionaries of text; a dictionary comes again whole, never as a
delta; nothing is compressed.  Numbers of fields and types are those of Message.fbs
and Schema.fbs.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import json
import struct
import sys
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, Iterator, Protocol

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
END = b"\xff\xff\xff\xff\0\0\0\0"  # of a stream
_SCHEMA, _DICTIONARY, _ROWS = 1, 2, 3
_INT, _FLOAT, _TEXT, _BOOL, _TIME, _DURATION = 2, 3, 5, 6, 10, 18
_NAMES = {_FLOAT: "float64", _TEXT: "text", _BOOL: "bool", _TIME: "time", _DURATION: "duration"}


class Broken(Exception):
    """The stream ends too early, or is none."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    `type` is int64, uint64, float64, bool, text, time (UTC) or duration; `unit` is
    UCUM's, None if there is none.
    """

    name: str
    type: str
    unit: str | None = None
    dictionary: int | None = field(default=None, repr=False)


# ---- FlatBuffers: a place is an offset from the beginning of the bytes


def _number(form: str, at: memoryview, place: int) -> int:
    number: int = struct.unpack_from("<" + form, at, place)[0]
    return number


def _refer(at: memoryview, place: int) -> int:
    return place + _number("I", at, place)


def _member(at: memoryview, table: int, number: int) -> int:
    """The place of a field of a table; 0: it is absent."""
    fields = table - _number("i", at, table)
    if 4 + 2 * number >= _number("H", at, fields):
        return 0
    offset = _number("H", at, fields + 4 + 2 * number)
    return table + offset if offset else 0


def _scalar(form: str, at: memoryview, table: int, number: int) -> int:
    place = _member(at, table, number)
    return _number(form, at, place) if place else 0


def _string(at: memoryview, place: int) -> str:
    place = _refer(at, place)
    return bytes(at[place + 4 : place + 4 + _number("I", at, place)]).decode()


def _vector(at: memoryview, table: int, number: int, each: int) -> Iterator[int]:
    """The places of the elements, which have `each` bytes."""
    place = _member(at, table, number)
    if place:
        place = _refer(at, place)
        for i in range(_number("I", at, place)):
            yield place + 4 + each * i


def _pairs(at: memoryview, table: int, number: int) -> dict[str, str]:
    pairs = {}
    for place in _vector(at, table, number, 4):
        pair = _refer(at, place)
        pairs[_string(at, _member(at, pair, 0))] = _string(at, _member(at, pair, 1))
    return pairs


# ---- columns and batches


def _column(at: memoryview, table: int) -> Column:
    kind = _scalar("B", at, table, 2)
    name = _NAMES.get(kind)
    if kind == _INT:
        signed = _scalar("B", at, _refer(at, _member(at, table, 3)), 1)
        name = "int64" if signed else "uint64"
    if name is None:
        raise Broken("a column of a type that is not known: %d" % kind)
    dictionary = _member(at, table, 4)
    return Column(
        _string(at, _member(at, table, 0)),
        name,
        _pairs(at, table, 6).get("unit"),
        _scalar("q", at, _refer(at, dictionary), 0) if dictionary else None,
    )


@dataclass
class Values:
    """The values of a column in a batch, as they came."""

    column: Column
    rows: int
    unknown: int
    known: memoryview  # a bit for each row, if any is unknown
    data: memoryview  # bits, numbers, numbers of names, or the ends of texts
    texts: memoryview
    names: list[str | None]

    def _raw(self) -> list[Any]:
        kind = self.column.type
        if self.column.dictionary is not None:
            which = self.data[: 4 * self.rows].cast("i").tolist()
            return [self.names[n] for n in which] if self.names else [None] * self.rows
        if kind == "bool":
            return bits(self.data, self.rows)
        if kind == "text":
            return self._texts()
        numbers = self.data[: 8 * self.rows]
        if kind == "float64":
            return numbers.cast("d").tolist()
        return (numbers.cast("Q") if kind == "uint64" else numbers.cast("q")).tolist()

    def _texts(self) -> list[str]:
        ends = self.data[: 4 * (self.rows + 1)].cast("i").tolist() or [0]
        whole = bytes(self.texts)
        if whole.isascii():
            shown = whole.decode("ascii")
            return [shown[a:b] for a, b in zip(ends, ends[1:])]
        return [whole[a:b].decode() for a, b in zip(ends, ends[1:])]

    def list(self, ns: bool = False) -> list[Any]:
        """With None for what is unknown.  `ns`: times and durations as whole
        nanoseconds, which datetime and timedelta cannot hold."""
        values = self._raw()
        if not ns and self.column.type == "time":
            values = [_EPOCH + timedelta(microseconds=v // 1000) for v in values]
        elif not ns and self.column.type == "duration":
            values = [timedelta(microseconds=v // 1000) for v in values]
        if self.unknown:
            values = [v if k else None for v, k in zip(values, bits(self.known, self.rows))]
        return values


def bits(at: memoryview, count: int) -> list[bool]:
    return [bool(at[i >> 3] >> (i & 7) & 1) for i in range(count)]


class Batch:
    """Some rows of a table."""

    def __init__(self, values: list[Values], rows: int):
        self.values = values
        self.count = rows

    def __len__(self) -> int:
        return self.count

    def columns(self, ns: bool = False) -> dict[str, list[Any]]:
        """Name and values of each column."""
        return {v.column.name: v.list(ns) for v in self.values}

    def rows(self, ns: bool = False) -> list[dict[str, Any]]:
        """A dict for each row; None is an unknown value."""
        columns = self.columns(ns)
        if not columns:
            return [{} for _ in range(self.count)]
        return [dict(zip(columns, row)) for row in zip(*columns.values())]


# ---- the stream


class Readable(Protocol):
    def read(self, count: int, /) -> bytes:
        """So many bytes; fewer at the end only."""


class Reader:
    """The schema is read at once, the batches as they are asked for.

    `about` is what the answer is about.
    """

    def __init__(self, stream: Readable):
        self._stream = stream
        self._names: dict[int, list[str | None]] = {}
        message = self._message()
        if message is None or message[0] != _SCHEMA:
            raise Broken("no stream of Arrow")
        _, at, table, _ = message
        if _scalar("h", at, table, 0) != (sys.byteorder == "big"):
            raise Broken("a stream of another byte order")
        fields = [_refer(at, p) for p in _vector(at, table, 1, 4)]
        self.columns = [_column(at, f) for f in fields]
        self.about: dict[str, Any] = json.loads(_pairs(at, table, 2).get("poolscope", "{}"))

    def _exactly(self, count: int) -> bytes:
        got = self._stream.read(count)
        if len(got) != count:
            raise Broken("the stream was cut")
        return got

    def _message(self) -> tuple[int, memoryview, int, memoryview] | None:
        """Kind, bytes, place of the header, and body; None: the end."""
        first = self._stream.read(8)
        if first == END:
            return None
        if len(first) != 8 or first[:4] != END[:4]:
            raise Broken("the stream was cut")
        size = struct.unpack_from("<I", first, 4)[0]
        at = memoryview(self._exactly(size))
        message = _refer(at, 0)
        body = memoryview(self._exactly(_scalar("q", at, message, 3)))
        return _scalar("B", at, message, 1), at, _refer(at, _member(at, message, 2)), body

    def _batch(self, columns: list[Column], at: memoryview, table: int, body: memoryview) -> Batch:
        buffers = [
            body[_number("q", at, p) :][: _number("q", at, p + 8)] for p in _vector(at, table, 2, 16)
        ]
        unknown = [_number("q", at, p + 8) for p in _vector(at, table, 1, 16)]
        rows = _scalar("q", at, table, 0)
        values = []
        for column, absent in zip(columns, unknown):
            known, data, *_ = buffers
            has_texts = column.type == "text" and column.dictionary is None
            names = [] if column.dictionary is None else self._names.get(column.dictionary, [])
            texts = buffers[2] if has_texts else body[:0]
            values.append(Values(column, rows, absent, known, data, texts, names))
            del buffers[: 3 if has_texts else 2]
        return Batch(values, rows)

    def __iter__(self) -> Iterator[Batch]:
        while (message := self._message()) is not None:
            kind, at, table, body = message
            if kind == _ROWS:
                yield self._batch(self.columns, at, table, body)
            elif kind == _DICTIONARY:
                rows = _refer(at, _member(at, table, 1))
                names = self._batch([Column("", "text")], at, rows, body)
                self._names[_scalar("q", at, table, 0)] = names.values[0].list()
