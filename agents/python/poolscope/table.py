"""table - the answer of a program as rows, arrays and data frames.

A program writes Arrow into a pipe; its last words on standard error are the
exception's sentence.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import contextlib
import fcntl
import html
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import warnings
import weakref
from typing import IO, TYPE_CHECKING, Any, Iterator, Sequence

from . import _arrow
from ._arrow import Batch, Column

if TYPE_CHECKING:
    import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import polars  # type: ignore[import-not-found,unused-ignore]
    import pyarrow  # type: ignore[import-not-found,import-untyped,unused-ignore]

__all__ = ["Batch", "Column", "Incomplete", "StoreError", "Table"]

_HTML_ROWS = 20
_READ_BYTES = 1 << 20
_LOGGED = re.compile(r"(?:\d\S+T\S+ )?(error|warn|info|debug) [\w.-]+: (.*)")
_CLOSED = "the table was closed before it was read"
_READ_BEFORE = "the batches were read before, and not kept: ask again"
_SAID = re.compile(r"poolscope[\w-]*: (.*)")


class StoreError(Exception):
    """The program could not answer: its sentence, and its exit status."""

    def __init__(self, sentence: str, status: int | None = None):
        super().__init__(sentence)
        self.status = status


class Incomplete(UserWarning):
    """The rows are right, but not all: the sentence says what is lacking."""


# ---- a program that writes


def _end(process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
    """Of a program that nobody reads any more; harmless after its end."""
    if process.poll() is None:
        process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
    said.close()


class Program:
    """A program that runs, and its standard output."""

    def __init__(self, command: Sequence[str]):
        # A file, so that a program never waits for us to read what it says.
        said = os.fdopen(os.memfd_create("poolscope-stderr", os.MFD_CLOEXEC), "w+b")
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, bufsize=_READ_BYTES
            )
        except FileNotFoundError:
            said.close()
            raise StoreError(
                "%s is not installed here: it is not in a folder of PATH" % command[0]
            ) from None
        except (OSError, ValueError) as problem:
            said.close()
            raise StoreError("%s: %s" % (command[0], problem)) from None
        assert process.stdout is not None
        with contextlib.suppress(OSError):  # too many such pipes
            fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, _READ_BYTES)
        self.name = command[0]
        self.process = process
        self.stdout: IO[bytes] = process.stdout
        self._said = said
        self._close = weakref.finalize(self, _end, process, said)
        self._status: int | None = None
        self.sentence = ""  # of a failure
        self.notes: list[str] = []
        self.lines: list[str] = []  # that are no messages of its log

    def close(self) -> None:
        self._close()

    def status(self) -> int:
        """Wait until it has ended, and take what it said."""
        if self._status is None:
            self._status = self.process.wait()
            self._said.seek(0)
            self._take(self._said.read().decode(errors="replace").splitlines())
            self.close()
        return self._status

    def _take(self, lines: Sequence[str]) -> None:
        failed = ""
        for line in lines:
            logged = _LOGGED.fullmatch(line)
            if logged is None:
                self.lines.append(line)
                said = _SAID.fullmatch(line)
                failed = said[1] if said else line
            elif logged[1] == "warn":
                self.notes.append(logged[2])
            elif logged[1] == "error":
                failed = logged[2]
        self.sentence = failed

    def error(self) -> StoreError:
        status = self.status()
        if status < 0:
            return StoreError("%s was ended by signal %d" % (self.name, -status), status)
        return StoreError(self.sentence or "%s: exit status %d" % (self.name, status), status)


def run(command: Sequence[str]) -> bytes:
    """What a program prints."""
    program = Program(command)
    try:
        printed = program.stdout.read()
        if program.status() != 0:
            raise program.error()
        return printed
    finally:
        program.close()


def _remove(folder: str, process: int) -> None:
    """Not in a fork of the process that made it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def folder_of(owner: object) -> str:
    """A folder that is there as long as its owner."""
    folder = tempfile.mkdtemp(prefix="poolscope.")
    weakref.finalize(owner, _remove, folder, os.getpid())
    return folder


# ---- tables


def number_of(value: Any) -> Any:
    """JSON has no number that is not finite: the programs write an object for it."""
    return float(value["$float"]) if isinstance(value, dict) else value


def attributes_of(text: str | None) -> dict[str, Any] | None:
    return None if text is None else {k: number_of(v) for k, v in json.loads(text).items()}


def labels_of(text: str | None) -> dict[str, str] | None:
    """None also for what is not labels: a sender may write any text as such."""
    try:
        labels = json.loads(text or "null")
    except (ValueError, RecursionError):
        return None
    return labels if isinstance(labels, dict) and all(isinstance(v, str) for v in labels.values()) else None


def _need(module: str, why: str) -> Any:
    try:
        return __import__(module, fromlist=["*"])
    except ImportError:
        raise ImportError(
            "%s needs the package %s, which is not installed: pip install %s" % (why, module, module)
        ) from None


class Table:
    """The rows of an answer, which come while they are read.

    Iterating gives batches and keeps none, so that an answer may be greater than
    memory.  All other ways read the whole answer, keep it, and may be repeated.
    """

    def __init__(self, command: Sequence[str], json_columns: Sequence[str] = ()):
        self._json = frozenset(json_columns)
        self._whole: bytes | None = None
        self._source: Program | None = Program(command)
        self._passed = _Passed(self._source.stdout)
        try:
            self._reader = _arrow.Reader(self._passed)
        except _arrow.Broken as broken:
            program, self._source = self._source, None
            raise self._failure(program, broken) from None
        except BaseException:
            self.close()
            raise
        about = dict(self._reader.about)
        self._notes: list[dict[str, Any]] = about.pop("notes", [])
        self._complete: bool | None = about.pop("complete", None)
        for name in "error", "units":  # which are those of the columns
            about.pop(name, None)
        self.title: str = about.pop("title", "")
        self.name: str = about.pop("table", "")
        #: What the answer is about.
        self.head: dict[str, Any] = about
        self.schema: list[Column] = self._reader.columns

    @staticmethod
    def _failure(program: Program, broken: Exception) -> StoreError:
        """Why the stream is broken: the program has ended, or writes something else."""
        if program.stdout.peek(1):  # type: ignore[attr-defined]
            program.close()
        elif program.status() != 0:
            return program.error()
        return StoreError("%s: %s" % (program.name, broken))

    # ---- reading

    def _finish(self) -> None:
        """The stream has its end: did the program say that all was right?"""
        program, self._source = self._source, None
        if program is None:
            return
        status = program.status()
        known = {note["text"] for note in self._notes}
        self._notes += [
            {"key": None, "count": None, "text": text} for text in program.notes if text not in known
        ]
        if status < 0:
            raise program.error()
        self._complete = status == 0
        if status != 0:
            warnings.warn(Incomplete(str(program.error())), stacklevel=4)

    def _batches(self, reader: _arrow.Reader) -> Iterator[Batch]:
        try:
            yield from reader
        except (_arrow.Broken, ValueError) as broken:
            program, self._source = self._source, None
            if program is None:  # closed while it was read
                raise StoreError(_CLOSED) from None
            raise self._failure(program, broken) from None
        self._finish()

    def __iter__(self) -> Iterator[Batch]:
        """The batches of rows.  Unless the whole was read, only once."""
        if self._whole is not None:
            return iter(_arrow.Reader(io.BytesIO(self._whole)))
        reader, self._reader = self._reader, None  # type: ignore[assignment]
        if reader is None:
            raise StoreError(_READ_BEFORE)
        self._passed.forget()
        return self._batches(reader)

    def _bytes(self) -> bytes:
        """The whole stream."""
        if self._whole is None:
            if self._reader is None:
                raise StoreError(_READ_BEFORE)
            if self._source is None:
                raise StoreError(_CLOSED)
            whole = self._passed.rest()
            if not whole.endswith(_arrow.END):
                program, self._source = self._source, None
                raise self._failure(program, _arrow.Broken("the stream was cut"))
            self._finish()
            self._whole = whole
        return self._whole

    def close(self) -> None:
        """End the program, if it still runs.  What was kept stays."""
        program, self._source = self._source, None
        if program is not None:
            program.close()

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- what is known of it

    @property
    def units(self) -> dict[str, str]:
        """The unit (UCUM) of each column that has one."""
        return {column.name: column.unit for column in self.schema if column.unit is not None}

    @property
    def notes(self) -> list[dict[str, Any]]:
        """What the reader must know: what was left out, lost, is doubtful.  A note
        has a `key` (None: only said), a `count` and a `text`."""
        if self._reader is not None:
            self._bytes()
        return self._notes

    @property
    def complete(self) -> bool | None:
        """None: the batches are being read, and who knows?"""
        if self._reader is not None:
            self._bytes()
        return self._complete

    # ---- the whole

    def rows(self, ns: bool = False) -> list[dict[str, Any]]:
        """A dict for each row; None is an unknown value.  `ns`: times and durations
        as whole nanoseconds, not as datetime and timedelta, which have none."""
        self._bytes()
        rows = [row for batch in self for row in batch.rows(ns)]
        for name in self._json.intersection(column.name for column in self.schema):
            for row in rows:
                row[name] = labels_of(row[name]) if name == "labels" else attributes_of(row[name])
        return rows

    def arrow(self) -> pyarrow.Table:
        pyarrow_ = _need("pyarrow", "Table.arrow()")
        whole = self._bytes()
        with pyarrow_.ipc.open_stream(pyarrow_.py_buffer(whole)) as stream:
            return stream.read_all()

    def pandas(self, **options: Any) -> pandas.DataFrame:
        """`options` are those of pyarrow.Table.to_pandas."""
        _need("pandas", "Table.pandas()")
        _need("pyarrow", "Table.pandas()")
        return self.arrow().to_pandas(**options)

    def polars(self) -> polars.DataFrame:
        return _need("polars", "Table.polars()").read_ipc_stream(self._bytes())

    def numpy(self) -> dict[str, Any]:
        """An array for each column: datetime64[ns] (UTC), timedelta64[ns], objects
        for texts.  Unknown is NaT, NaN, None; of other numbers the array is a
        masked one."""
        numpy_ = _need("numpy", "Table.numpy()")
        self._bytes()
        batches = list(self)
        return {
            column.name: numpy_.ma.concatenate(parts) if any(map(numpy_.ma.isMA, parts)) else numpy_.concatenate(parts)
            for i, column in enumerate(self.schema)
            for parts in [[_array(numpy_, b.values[i]) for b in batches] or [numpy_.empty(0, _DTYPES[column.type])]]
        }

    def count(self) -> int:
        """How many rows there are."""
        self._bytes()
        return sum(len(batch) for batch in self)

    # ---- shown

    def __repr__(self) -> str:
        what = self.head.get("question") or self.name or "table"
        return "<poolscope.Table %s: %d columns>" % (what, len(self.schema))

    def _repr_html_(self) -> str:
        self._bytes()
        first: list[dict[str, Any]] = []
        for batch in self:
            if len(first) < _HTML_ROWS:
                first += batch.rows()[: _HTML_ROWS - len(first)]
        more = self.count() - len(first)
        parts = ["<table>"]
        if self.title:
            parts.append("<caption>%s</caption>" % html.escape(self.title))
        heads = ["%s (%s)" % (c.name, c.unit) if c.unit else c.name for c in self.schema]
        parts.append("<thead><tr>%s</tr></thead><tbody>" % _cells("th", heads))
        parts += ["<tr>%s</tr>" % _cells("td", map(_shown, row.values())) for row in first]
        parts.append("</tbody></table>")
        if more:
            parts.append("<p>%s</p>" % ("1 more row" if more == 1 else "%d more rows" % more))
        parts += ["<p>%s</p>" % html.escape(note["text"]) for note in self._notes]
        if not self._complete:
            parts.append("<p><strong>Rows are lacking.</strong></p>")
        return "".join(parts)


class _Passed:
    """A pipe whose beginning is kept, until somebody reads the rest or forgets it."""

    def __init__(self, stream: IO[bytes]):
        self._stream = stream
        self._kept: list[bytes] | None = []

    def read(self, count: int, /) -> bytes:
        got = self._stream.read(count)
        if self._kept is not None:
            self._kept.append(got)
        return got

    def forget(self) -> None:
        self._kept = None

    def rest(self) -> bytes:
        kept, self._kept = self._kept or [], None
        while got := self._stream.read(_READ_BYTES):
            kept.append(got)
        return b"".join(kept)


def _cells(tag: str, texts: Any) -> str:
    return "".join("<%s>%s</%s>" % (tag, html.escape(text), tag) for text in texts)


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return "%.6g" % value if isinstance(value, float) else str(value)


_DTYPES = {
    "int64": "int64",
    "uint64": "uint64",
    "float64": "float64",
    "bool": "bool",
    "text": "object",
    "time": "datetime64[ns]",
    "duration": "timedelta64[ns]",
}


def _bits(numpy: Any, at: memoryview, count: int) -> Any:
    return numpy.unpackbits(numpy.frombuffer(at, "uint8"), bitorder="little")[:count].astype(bool)


def _objects(numpy: Any, texts: Sequence[str | None]) -> Any:
    made = numpy.empty(len(texts), "object")
    made[:] = texts
    return made


def _named(numpy: Any, values: _arrow.Values) -> Any:
    if not values.names:
        return numpy.full(values.rows, None)
    made = _objects(numpy, values.names)[numpy.frombuffer(values.data, "int32")[: values.rows]]
    if values.unknown:
        made[~_bits(numpy, values.known, values.rows)] = None
    return made


def _array(numpy: Any, values: _arrow.Values) -> Any:
    kind = values.column.type
    if values.column.dictionary is not None:
        return _named(numpy, values)
    if kind == "text":
        return _objects(numpy, values.list())
    if kind == "bool":
        made = _bits(numpy, values.data, values.rows)
    else:
        made = numpy.frombuffer(values.data, _DTYPES[kind])[: values.rows]
    if not values.unknown:
        return made
    known = _bits(numpy, values.known, values.rows)
    if kind in ("float64", "time", "duration"):
        made = made.copy()
        made[~known] = numpy.nan if kind == "float64" else "NaT"
        return made
    return numpy.ma.masked_array(made, ~known)
