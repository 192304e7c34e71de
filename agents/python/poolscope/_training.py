"""_training - what the callbacks of frameworks have in common.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import sys
import time
from typing import Any, Mapping

from . import past, sample

_OPTIONS = ("counters", "labels", "units")  # of sample()


def base(module: str, *names: str) -> Any:
    """The class names[-1] of a framework, which the program has imported by one of `names`."""
    for imported in names[:-1]:
        if imported in sys.modules:
            return getattr(sys.modules[imported], names[-1])
    raise ImportError("import %s before %s" % (names[0].partition(".")[0], module))


class Spans:
    """Spans of a framework that says when something begins and when it ends; what never
    ends is no span."""

    def __init__(self, category: str):
        self._category = category
        self._begin: dict[str, int] = {}

    def begin(self, name: str) -> None:
        self._begin[name] = time.time_ns()

    def end(self, name: str, **attributes: Any) -> None:
        begin = self._begin.pop(name, None)
        if begin is not None:
            past(begin, time.time_ns(), name, self._category, **attributes)


def report(numbers: Mapping[str, Any], labels: dict[str, Any] | None) -> None:
    """A sample of what is a number."""
    found: dict[str, Any] = {
        name + "_" if name in _OPTIONS else name: value
        for name, value in numbers.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    if found:
        sample(labels=labels, **found)
