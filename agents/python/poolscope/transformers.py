"""poolscope.transformers - a training of Hugging Face's Trainer: each epoch and step a span, what it logs a sample.

    import transformers
    import poolscope.transformers

    transformers.Trainer(model, args, train_dataset=data, callbacks=[poolscope.transformers.Callback()]).train()

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

from typing import Any

from ._training import Spans, base, report


class Callback(base(__name__, "transformers", "TrainerCallback")):  # type: ignore[misc]
    """labels are those of the samples.  Results of an evaluation are logged, too."""

    def __init__(self, labels: dict[str, Any] | None = None):
        super().__init__()
        self._labels = labels
        self._spans = Spans("transformers")
        self._epoch = 0

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._epoch = round(state.epoch or 0)
        self._spans.begin("epoch")

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._spans.end("epoch", epoch=self._epoch)

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._spans.begin("step")

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._spans.end("step", step=state.global_step - 1)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        report(logs or {}, self._labels)
