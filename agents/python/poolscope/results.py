"""poolscope.results - the five questions that the uploader of benchmark results was written for.

    from poolscope.results import Results

    results = Results("acct$benches")
    for start, timing in results.recent_timings("//bench:test", "BM_0", limit=8):
        print(start, timing)

Where there is nothing the answer is empty, as it was there.  The newest come first;
oldest=True is the order of that store.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import json
import re
import warnings
from datetime import datetime, timedelta, timezone
from typing import Any

from .store import Store
from .table import Incomplete, Program, number_of

__all__ = ["Results"]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_NOTHING = re.compile("no results of test|has no ")


def _time(row: dict[str, Any]) -> datetime:
    return _EPOCH + timedelta(microseconds=row["start_us"])


class Results:
    """The results of a partition, of the store that `Store()` is, or of another one."""

    def __init__(self, partition: str | None = None, store: Store | None = None):
        self._partition = partition
        self._store = store or Store()

    def _ask(self, *words: str, **options: Any) -> list[dict[str, Any]]:
        """As JSON: it has timings as they were, numbers and texts."""
        program = Program(self._store._command("results", self._partition, words, options, "json"))
        try:
            printed = program.stdout.read()
            status = program.status()
        finally:
            program.close()
        if printed:
            if status != 0:
                warnings.warn(Incomplete(str(program.error())), stacklevel=3)
            rows: list[dict[str, Any]] = json.loads(printed)["rows"]
            return rows
        if status == 1 and _NOTHING.search(program.sentence):
            return []
        raise program.error()

    def tests(self) -> list[str]:
        """The names of all tests, sorted."""
        return [row["test"] for row in self._ask("tests")]

    def recent_starts(
        self, test: str, since: Any = None, limit: int | None = None, oldest: bool = False
    ) -> list[datetime]:
        """When the test started, from `since` on (a datetime, a text, or seconds), at
        most `limit` times."""
        return [_time(row) for row in self._ask("starts", test, since=since, limit=limit or 0, oldest=oldest or None)]

    def recent_timings(
        self, test: str, entry: str, since: Any = None, limit: int | None = None, oldest: bool = False
    ) -> list[tuple[datetime, Any]]:
        """Starts, and the timing of the entry: a number, or the text of its file."""
        rows = self._ask("timings", test, entry, since=since, limit=limit or 0, oldest=oldest or None)
        return [(_time(row), number_of(row["timing"])) for row in rows]

    def entries_of_latest(self, test: str) -> list[str]:
        """The names of the entries of the latest start, in the order of its file."""
        return [row["entry"] for row in self._ask("entries", test)]

    def test_record(self, test: str, start: datetime | int) -> list[dict[str, Any]]:
        """What was stored of a start (a datetime, or microseconds since 1970): test,
        start, and info, the text of the file."""
        if isinstance(start, datetime):
            start = ((start if start.tzinfo else start.astimezone()) - _EPOCH) // timedelta(microseconds=1)
        return [
            {"test": row["test"], "start": _time(row), "info": row["info"]}
            for row in self._ask("test", test, str(start))
        ]
