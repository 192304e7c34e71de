"""scanner - where the time of a Scanner job went, as its own profiler has it.

    from poolscope.scanner import Profile
    profile = Profile("/srv/scanner_db", 3)
    profile.statistics()
    profile.write_trace("job.trace")

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import os
import random
import warnings
from typing import Any

from .store import Store
from .table import Incomplete, Program, StoreError, folder_of, run

__all__ = ["Profile"]

_PARTITION = "scanner$job"
_PLACES = 5  # of what is damaged, in a warning


class Profile:
    """The profile of a job, by its id or name: of a Scanner database (its directory), or of
    the partition of a store into which poolscope-import has put it.

    `subsample`: only so many workers, chosen at random.  `load_threads` has no effect.
    """

    def __init__(
        self,
        db: str | os.PathLike[str],
        job: int | str,
        load_threads: int = 8,
        subsample: int | None = None,
        store: Store | None = None,
    ):
        self._job = job
        self._partition = os.fspath(db)
        self._store = store or Store()
        if os.path.isdir(db):
            self._folder = folder_of(self)
            self._partition = _PARTITION
            self._import(os.path.abspath(db), subsample)
        elif subsample is not None:
            raise ValueError("subsample is for a database: a partition has the workers that were imported")

    def _import(self, db: str, subsample: int | None) -> None:
        """Into an instance of our own, which is stopped then."""
        here = "--dir=" + self._folder
        chosen = [] if subsample is None else ["--subsample=%d" % subsample, "--seed=%d" % random.randrange(1 << 31)]
        run(["poolscope", "up", here])
        try:
            words = ["-p", _PARTITION, "--job=%s" % self._job, *chosen, "--", "scanner", db]
            reader = Program(["poolscope-import", here, *words])
            reader.stdout.read()
            status = reader.status()
        finally:
            run(["poolscope", "down", here])
        self._store = Store(os.path.join(self._folder, "store"))
        if status == 0:
            return
        try:
            self._rows()
        except StoreError:
            raise reader.error() from None
        # The rest of a damaged file is there.
        warnings.warn(Incomplete("; ".join([*reader.lines[:-1][:_PLACES], reader.sentence])), stacklevel=3)

    def _rows(self, **options: Any) -> list[dict[str, Any]]:
        return self._store.stats.scanner(self._partition, job=str(self._job), **options).rows(ns=True)

    def _workers(self) -> list[dict[str, Any]]:
        return [row for row in self._rows(table="nodes") if row["node"] != "master"]

    def statistics(self) -> dict[str, Any]:
        """Of each group, each name's seconds with six decimals, or the value of the
        counter, over all workers; total_time is that of the last worker."""
        made: dict[str, Any] = {}
        for row in self._rows():
            if row["node"] is not None:
                continue
            value = None if row["value"] is None else int(row["value"])
            if row["count"] is not None:
                # As the older tool: counters count in nanoseconds.
                seconds = (row["seconds"] * 1e9 + (value or 0)) / 1e9
                made.setdefault(row["group"], {})[row["name"]] = "%f" % seconds
            else:
                made.setdefault(row["group"], {})[row["name"]] = value
        for worker in self._workers()[-1:]:
            made["total_time"] = "%f" % worker["seconds"]
        return made

    def total_time_interval(self) -> tuple[int, int]:
        """When the first worker began and ended, in nanoseconds since 1970."""
        workers = self._workers()
        if not workers:
            raise StoreError("the job has no workers")
        return workers[0]["begin"], workers[0]["end"]

    def write_trace(self, path: str | os.PathLike[str]) -> str:
        """For chrome://tracing, or Perfetto: the suffix chooses the format, as for
        poolscope-trace(1)."""
        path = os.fspath(path)
        command = self._store._command("trace", self._partition, ("scanner",), {"job": str(self._job), "output": path})
        run([word for word in command if not word.startswith("--format=")])
        return path
