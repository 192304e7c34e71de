"""poolscope.keras - a training of Keras: each epoch a span, its logs a sample.

    import keras
    import poolscope.keras

    model.fit(x, y, epochs=3, callbacks=[poolscope.keras.Callback()])

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

from typing import Any

from ._training import Spans, base, report


class Callback(base(__name__, "keras.callbacks", "Callback")):  # type: ignore[misc]
    """labels are those of the samples."""

    def __init__(self, labels: dict[str, Any] | None = None):
        super().__init__()
        self._labels = labels
        self._spans = Spans("keras")

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._spans.begin("epoch")

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._spans.end("epoch", epoch=epoch)
        report(logs or {}, self._labels)
