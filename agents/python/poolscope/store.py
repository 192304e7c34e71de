"""store - ask an instance, a head or an archive from Python.

    from poolscope.store import Store
    st = Store()
    st.phases("acct$pool", by="node").pandas()

Every question of poolscope-stats(1) and poolscope-results(1) is a method, because
the program's own --help is what lists them; every keyword becomes an option of it,
which the program judges.  poolscope-python(7).
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import array
import collections
import fcntl
import json
import numbers
import os
import re
import select
import tempfile
import termios
import warnings
from datetime import date, datetime, timedelta, timezone
from typing import Any

from .table import Incomplete, Program, StoreError, Table, folder_of, number_of, run

__all__ = ["Follower", "Incomplete", "Question", "Store", "StoreError", "Table", "Timeline"]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_READ_BYTES = 1 << 16
_SAVE_SECONDS = 0.2
_NAMES = {"since": "from", "until": "to"}  # `from` is a word of Python
_WORD = re.compile(r"  ([a-z]+)(?: [A-Z|\[\] ]+)?\s{2,}\S")


# ---- options


def _text(name: str, value: Any) -> str:
    if isinstance(value, datetime):
        # Without a zone it is the local time, as everywhere in Python.
        return (value if value.tzinfo else value.astimezone()).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return "%dus" % (value // timedelta(microseconds=1))
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, numbers.Number):
        return str(value)
    raise TypeError("%s: a text, a number or a time, not %s" % (name, type(value).__name__))


def options_of(keywords: dict[str, Any]) -> list[str]:
    """The words of a command line: None and nothing, True and a flag, a list and an
    option for each of it."""
    words = []
    for keyword, value in keywords.items():
        name = _NAMES.get(keyword, keyword.rstrip("_")).replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            words.append("--%s%s" % ("" if value else "no-", name))
        elif isinstance(value, (list, tuple, set, frozenset)):
            words += ["--%s=%s" % (name, _text(keyword, each)) for each in value]
        else:
            words.append("--%s=%s" % (name, _text(keyword, value)))
    return words


# ---- questions


class Question:
    """A question: call it with a partition, the words it wants, and options."""

    def __init__(self, store: Store, program: str, word: str):
        self._store = store
        self._program = program
        self._word = word

    def __call__(self, partition: str | None = None, *words: str, **options: Any) -> Table:
        made = Timeline if (self._program, self._word) == ("stats", "timeline") else Table
        return made(self._store._command(self._program, partition, (self._word, *words), options))

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return run(["poolscope-" + self._program, self._word, "--help"]).decode()

    def __repr__(self) -> str:
        return "<question: poolscope %s %s>" % (self._program, self._word)


class Questions:
    """The questions of a program, each an attribute."""

    def __init__(self, store: Store, program: str):
        self._store = store
        self._program = program
        self._words: list[str] | None = None

    def __dir__(self) -> list[str]:
        if self._words is None:
            lines = run(["poolscope-" + self._program, "--help"]).decode().splitlines()
            listed = lines[: lines.index("options:")]
            self._words = [found[1] for line in listed if (found := _WORD.match(line))]
        return self._words

    def __getattr__(self, word: str) -> Question:
        if word.startswith("_"):
            raise AttributeError(word)
        if word not in dir(self):
            raise AttributeError("poolscope %s has no question %s" % (self._program, word), name=word, obj=self)
        return Question(self._store, self._program, word)


class Store:
    """What is asked: an instance (its directory; by default the one that the
    programs find), a store (its directory), one or more endpoints ("tcp://head:5571")
    or archives ("clickhouse://host/database").

    `options` are of every question: key=, clock=, tz=, archive_password= ...
    `st.stats` and `st.results` have all questions of these programs; those of stats
    are attributes of the store, too, but for samples and spans, which are records.
    """

    def __init__(self, where: str | os.PathLike[str] | list[str] | None = None, **options: Any):
        self._options = options_of(options)
        if isinstance(where, (list, tuple)):
            self._options += options_of({"connect": where})
        elif where is not None:
            self._options += options_of({_kind_of(os.fspath(where)): where})
        self.stats = Questions(self, "stats")
        self.results = Questions(self, "results")

    def _command(
        self, program: str, partition: str | None, words: tuple[str, ...], options: dict[str, Any], form: str = "arrow"
    ) -> list[str]:
        command = ["poolscope-" + program, "--log=warn", "--format=" + form, *self._options]
        return command + options_of({"partition": partition, **options}) + ["--", *words]

    def __getattr__(self, word: str) -> Question:
        if word.startswith("_"):
            raise AttributeError(word)
        return self.stats.__getattr__(word)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.stats)})

    def ask(self, program: str, *words: str, **options: Any) -> Table:
        """Ask any program that has --format arrow: st.ask("partitions", "list")."""
        return Table(self._command(program, None, words, options))

    # ---- records

    def records(self, kind: str, partition: str | None = None, name: str | None = None, **options: Any) -> Table:
        """The records of a kind: event, sample, span, entity, gap, rejected, phase
        or run.  Of `name` and the options poolscope-dump(1) tells."""
        chosen = {"kind": kind, "name": name, **options}
        return Table(self._command("dump", partition, (), chosen), json_columns=["attributes", "labels"])

    def events(self, partition: str | None = None, name: str | None = None, **options: Any) -> Table:
        """`name`: a pattern of SOURCE:NAME."""
        return self.records("event", partition, name, **options)

    def samples(self, partition: str | None = None, name: str | None = None, **options: Any) -> Table:
        """A row for each value.  `name`: a pattern of metric groups."""
        return self.records("sample", partition, name, **options)

    def spans(self, partition: str | None = None, name: str | None = None, **options: Any) -> Table:
        return self.records("span", partition, name, **options)

    def entities(self, partition: str | None = None, name: str | None = None, **options: Any) -> Table:
        """`name`: a pattern of KIND:ID."""
        return self.records("entity", partition, name, **options)

    def gaps(self, partition: str | None = None, name: str | None = None, **options: Any) -> Table:
        """What was lost."""
        return self.records("gap", partition, name, **options)

    def rejected(self, partition: str | None = None, name: str | None = None, **options: Any) -> Table:
        """Batches that the aggregator could not read."""
        return self.records("rejected", partition, name, **options)

    def follow(
        self, partition: str | None = None, *, cursor: str | os.PathLike[str] | None = None, **options: Any
    ) -> Follower:
        """Records as they are received, without an end: see Follower."""
        return Follower(self, partition, cursor, options)


def _kind_of(where: str) -> str:
    """The option that it is the value of."""
    if "://" in where:
        return "connect"
    return "store" if os.path.isdir(os.path.join(where, "tables")) else "dir"


# ---- pictures


class Timeline(Table):
    """What each node did when: rows, and in a notebook a picture."""

    def __init__(self, command: list[str]):
        super().__init__(command)
        at = command.index("--")
        self._selected = [w for w in command[1:at] if not w.startswith(("--format=", "--model="))]

    def svg(self, **options: Any) -> str:
        """The picture as SVG; `options` are those of poolscope-plot(1), such as
        size="900x300", style="dark"."""
        with tempfile.TemporaryDirectory(prefix="poolscope.") as folder:
            words = options_of({"model": self.head.get("model"), **options, "term": "svg", "output": folder})
            run(["poolscope-plot", *self._selected, *words, "--", "phases"])
            drawn = sorted(name for name in os.listdir(folder) if name.endswith(".svg"))
            if not drawn:
                raise StoreError("poolscope-plot has drawn nothing")
            with open(os.path.join(folder, drawn[0]), encoding="utf-8") as file:
                return file.read()

    def _repr_svg_(self) -> str | None:
        try:
            return self.svg()
        except StoreError as problem:  # the rows are shown instead
            warnings.warn("no picture: %s" % problem, stacklevel=2)
            return None


# ---- following


def _record(line: bytes) -> dict[str, Any]:
    """A record; its times, which are there as text and as nanoseconds, once."""
    record: dict[str, Any] = {}
    for name, value in json.loads(line).items():
        if name.endswith("_ns"):
            name = name[:-3]
            value = None if value is None else timedelta(microseconds=value // 1000)
            record[name] = value if value is None or name == "duration" else _EPOCH + value
        elif isinstance(value, dict):
            record[name] = {k: number_of(v) for k, v in value.items()}
        elif isinstance(value, list):
            record[name] = [number_of(v) for v in value]
        else:
            record.setdefault(name, value)
    return record


class Follower:
    """Records, as dicts, in the order in which they are received; the members are
    those of `poolscope dump --follow`, times as datetime.

    With a cursor (a file) it goes on where the last one stopped: the position is
    saved when all records before it were taken and the next one is asked for.  After
    a crash, or a loop that was left, a record may come again; none is missed.
    """

    def __init__(
        self, store: Store, partition: str | None, cursor: str | os.PathLike[str] | None, options: dict[str, Any]
    ):
        self._cursor = None if cursor is None else os.path.abspath(cursor)
        self._saved = self._read(self._cursor)
        self._ahead: str | None = None  # the program's own position, ahead of ours
        if cursor is not None:
            self._ahead = os.path.join(folder_of(self), "cursor")
            if self._saved is not None:
                with open(self._ahead, "wb") as file:
                    file.write(self._saved)
        chosen = {"follow": True, "cursor": self._ahead, **options}
        self._program = Program(store._command("dump", partition, (), chosen, "jsonl"))
        self._lines: collections.deque[bytes] = collections.deque()
        self._cut = b""  # the beginning of a line
        self._position: bytes | None = None  # behind self._lines

    @staticmethod
    def _read(path: str | None) -> bytes | None:
        if path is not None and os.path.exists(path):
            with open(path, "rb") as file:
                return file.read()
        return None

    def _save(self, position: bytes | None) -> None:
        if self._cursor is None or position is None or position == self._saved:
            return
        new = self._cursor + ".new"
        with open(new, "wb") as file:
            file.write(position)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self._cursor)
        self._saved = position

    def _take(self) -> None:
        """Wait for lines, and take all that are there.

        The program writes lines before it saves the position behind them.  So the
        lines before a position are those that were taken, and those in the pipe, when
        the position had been read."""
        pipe = self._program.stdout.fileno()
        waiting = array.array("i", [0])
        while not self._lines:
            position = self._read(self._ahead)
            fcntl.ioctl(pipe, termios.FIONREAD, waiting)
            if waiting[0] == 0:
                self._save(position)
                # It may have written, but not saved yet.
                if not select.select([pipe], [], [], None if self._ahead is None else _SAVE_SECONDS)[0]:
                    continue
            got = os.read(pipe, max(waiting[0], _READ_BYTES))
            if not got:
                error = self._program.error()
                raise StoreError(str(error).replace(str(self._ahead), str(self._cursor)), error.status)
            self._lines.extend((self._cut + got).split(b"\n"))
            self._cut = self._lines.pop()
            self._position = position

    def __iter__(self) -> Follower:
        return self

    def __next__(self) -> dict[str, Any]:
        if not self._lines:
            self._save(self._position)
            self._take()
        return _record(self._lines.popleft())

    def close(self) -> None:
        self._program.close()

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
