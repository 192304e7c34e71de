"""poolscope.h5 - the events.h5 of a farm's older monitor as what poolscope-import testrun reads.

    python3 -m poolscope.h5 events.h5 DIR     writes DIR/events.jsonl and DIR/testruns.jsonl
    python3 -m poolscope.h5 events.h5         prints the events

Each table `events` of the file has the columns testrun_id, ev_name, emit and received; the
group that it is in is the device group of its runs.  PyTables reads the file (pip install tables).
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import json
import math
import os
import sys
from typing import Any, Iterator, TextIO

_COLUMNS = ("testrun_id", "ev_name", "emit", "received")
_ROWS = 1 << 16


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _seconds(value: Any) -> int | float | None:
    """None for a time that is none."""
    number: int | float = value.item()
    return number if math.isfinite(number) else None


def _tables(file: Any) -> Iterator[Any]:
    for table in file.walk_nodes("/", "Table"):
        if table.name == "events":
            lacking = [name for name in _COLUMNS if name not in table.colnames]
            if lacking:
                raise ValueError("%s has no column %s" % (table._v_pathname, lacking[0]))
            yield table


def _rows(table: Any) -> Iterator[dict[str, Any]]:
    for first in range(0, table.nrows, _ROWS):
        for row in table.read(first, first + _ROWS):
            run, name, emit, received = (row[column] for column in _COLUMNS)
            yield {
                "testrun_id": _text(run),
                "event_name": _text(name),
                "event_emit": _seconds(emit),
                "event_receive": _seconds(received),
            }


def convert(path: str, events: TextIO, runs: TextIO | None = None) -> int:
    """Write a line for each event of the file, and for each run of a device group; returns
    the number of events."""
    import tables  # type: ignore[import-not-found,import-untyped,unused-ignore]

    count = found = 0
    with open(path, "rb"):
        pass  # else the reason is in many lines of HDF5's own
    if not tables.is_hdf5_file(path):
        raise ValueError("it is no file of HDF5")
    with tables.open_file(path) as file:
        for table in _tables(file):
            found += 1
            group = table._v_parent._v_name
            known = set()
            for event in _rows(table):
                events.write(json.dumps(event) + "\n")
                count += 1
                run = event["testrun_id"]
                if runs is not None and group != "/" and run not in known:
                    known.add(run)
                    runs.write(json.dumps({"testrun_id": run, "device_group": group}) + "\n")
    if found == 0:
        raise ValueError("it has no table events")
    return count


def _main(words: list[str]) -> int:
    if len(words) not in (1, 2) or words[0].startswith("-"):
        print("usage: python3 -m poolscope.h5 events.h5 [DIR]", file=sys.stderr)
        return 2
    try:
        if len(words) == 1:
            convert(words[0], sys.stdout)
            sys.stdout.flush()
            return 0
        os.makedirs(words[1], exist_ok=True)
        with open(os.path.join(words[1], "events.jsonl"), "w") as events:
            with open(os.path.join(words[1], "testruns.jsonl"), "w") as runs:
                print("%d events" % convert(words[0], events, runs))
        return 0
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ImportError:
        problem = "PyTables is not installed here: pip install tables"
    except OSError as error:
        problem = "%s: %s" % (error.filename or words[0], error.strerror or error)
    except Exception as error:  # also those of HDF5
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        problem = "%s: %s" % (words[0], lines[-1] if lines else type(error).__name__)
    print("poolscope.h5: " + problem, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
