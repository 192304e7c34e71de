"""poolscope.lightning - a training of Lightning: each epoch, step and validation a span, its metrics a sample.

    import lightning
    import poolscope.lightning

    lightning.Trainer(max_epochs=3, callbacks=[poolscope.lightning.Callback()]).fit(model, loader)

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

from typing import Any

from ._training import Spans, base, report


class Callback(base(__name__, "lightning.pytorch", "pytorch_lightning", "Callback")):  # type: ignore[misc]
    """labels are those of the samples."""

    def __init__(self, labels: dict[str, Any] | None = None):
        super().__init__()
        self._labels = labels
        self._spans = Spans("lightning")
        self._known: dict[str, Any] = {}

    def _report(self, trainer: Any) -> None:
        """The metrics that were made since the last time: the trainer keeps the others."""
        metrics = dict(trainer.callback_metrics)
        report({name: float(value) for name, value in metrics.items() if self._known.get(name) is not value}, self._labels)
        self._known = metrics

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        self._spans.begin("epoch")

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        self._spans.end("epoch", epoch=trainer.current_epoch)
        self._report(trainer)

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        self._spans.begin("step")

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        self._spans.end("step", epoch=trainer.current_epoch, batch=batch_idx)

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        self._known = dict(trainer.callback_metrics)
        self._spans.begin("validation")

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        self._spans.end("validation", epoch=trainer.current_epoch, sanity=trainer.sanity_checking or None)
        if not trainer.sanity_checking:
            self._report(trainer)
