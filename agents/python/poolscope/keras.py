"""poolscope.keras - a training of Keras: each epoch a span, its logs a sample.

    import keras
    import poolscope.keras

    model.fit(x, y, epochs=3, callbacks=[poolscope.keras.Callback()])

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import sys
import time
from typing import Any

from . import past, sample

if "keras" not in sys.modules:
    raise ImportError("import keras before poolscope.keras")


class Callback(sys.modules["keras"].callbacks.Callback):  # type: ignore[misc]
    """labels are those of the samples."""

    def __init__(self, labels: dict[str, Any] | None = None):
        super().__init__()
        self._labels = labels

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._begin = time.time_ns()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        past(self._begin, time.time_ns(), "epoch", "keras", epoch=epoch)
        numbers: dict[str, Any] = {name: value for name, value in (logs or {}).items() if isinstance(value, (int, float))}
        if numbers:
            sample(labels=self._labels, **numbers)
