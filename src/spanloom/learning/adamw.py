"""Mini-batches with AdamW (Loshchilov & Hutter 2019), for models with an encoder: settings, and the rate of each step.

The loss is that of every likelihood model, ``log Z − log Z(allowed)``. It is not convex in the weights of a network, so
that the result depends on the seed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_count, check_number, check_share
from spanloom.learning.problem import Trainer


@dataclass(frozen=True)
class AdamW(Trainer):
    """Fine-tuning of an encoder together with what stands on it; an iteration is an epoch, a pass over all sentences.

    Parameters
    ----------
    max_iter
        Epochs; None: 5, and 15 for an encoder that is not trained further.
    patience
        As in ``Trainer``.
    rate
        The learning rate of the encoder's upper layer.
    layer_decay
        The rate of a layer is that of the layer above it times this; 1: the same for all.
    head_rate
        The learning rate of the map from vectors to scores, and of transitions.
    feature_rate
        The learning rate of weights of sparse features, which are learned by Adagrad.
    feature_dropout
        The share of sentences that are learned from without their features, others in each epoch, so that
        the encoder also learns what features would say.
    weight_decay
        Of matrices; vectors such as biases have none.
    l2
        The penalty ``l2·‖w‖²`` on weights of sparse features.
    warmup
        Rates rise during this share of all steps, and then fall to zero along a line.
    batch
        Sentences of a step.
    accumulate
        Parts that a batch is cut into at least, one after the other: less memory, the same gradient.
    at_once
        Pieces of a part at most, so that memory does not grow with the longest sentences; one sentence may have more.
    clip
        The longest gradient, by its norm; longer ones are shortened.
    checkpoint
        A file: training that was stopped goes on where it was. None: no file.
    save_every
        Minutes between two checkpoints.
    """

    rate: float = 2e-4
    layer_decay: float = 0.9
    head_rate: float = 1e-3
    feature_rate: float = 0.1
    feature_dropout: float = 0.5
    weight_decay: float = 0.01
    l2: float = 0.1
    warmup: float = 0.1
    batch: int = 32
    accumulate: int = 1
    at_once: int = 4096
    clip: float = 1.0
    checkpoint: str | os.PathLike[str] | None = None
    save_every: float = 5.0

    name = "adamw"
    usual = 5

    def check(self) -> None:
        super().check()
        for name in (
            "rate",
            "head_rate",
            "feature_rate",
            "feature_dropout",
            "weight_decay",
            "l2",
            "warmup",
            "clip",
            "save_every",
        ):
            check_number(name, getattr(self, name), low=0)
        if self.warmup >= 1:
            raise ParameterError(f"The 'warmup' parameter must be a share of all steps below 1. Got {self.warmup!r}.")
        check_share("layer_decay", self.layer_decay)
        if not 0 <= self.feature_dropout < 1:
            raise ParameterError(
                f"The 'feature_dropout' parameter must be in the range [0, 1). Got {self.feature_dropout!r} instead."
            )
        for name in ("batch", "accumulate", "at_once"):
            check_count(name, getattr(self, name))
        if self.checkpoint is not None and not isinstance(self.checkpoint, str | os.PathLike):
            raise ParameterError(f"The 'checkpoint' parameter must be a path or None. Got {self.checkpoint!r} instead.")

    def factor(self, step: int, steps: int) -> float:
        """Return what rates are multiplied by in step ``step``, from 0: warm-up, then linear decay.

        Examples
        --------
        >>> [round(AdamW(warmup=0.2).factor(step, 10), 3) for step in (0, 1, 2, 9)]
        [0.5, 1.0, 1.0, 0.125]
        """
        rising = round(self.warmup * steps)
        if step < rising:
            return (step + 1) / rising
        return (steps - step) / max(steps - rising, 1)
