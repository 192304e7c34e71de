"""poolscope.lightgbm - a training of LightGBM: each iteration a span, its evaluation a sample.

    lightgbm.train(params, data, valid_sets=[valid], callbacks=[poolscope.lightgbm.callback()])

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import time
from typing import Any, Callable

from . import past, sample


def callback(labels: dict[str, Any] | None = None) -> Callable[[Any], None]:
    """For one training.  Its first iteration begins here; labels are those of the samples."""
    begin = time.time_ns()

    # Without an order: before those that may end the training.
    def after(env: Any) -> None:
        nonlocal begin
        end = time.time_ns()
        past(begin, end, "iteration", "lightgbm", iteration=env.iteration)
        begin = end
        results = env.evaluation_result_list or ()
        if results:
            sample(labels=labels, **{"%s.%s" % tuple(result[:2]): result[2] for result in results})

    return after
