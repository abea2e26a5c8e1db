"""How much each model of a mixture counts: learned from data that the models have not seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spanloom.base.arrays import Floats
from spanloom.corpus.document import Sentence
from spanloom.models.trained import Trained

LEAST = 0.01
"""Mentions that no model believes in more than this say nothing about weights."""


def judged(models: Sequence[Trained], sentences: Sequence[Sentence], threads: int | None) -> tuple[Floats, Floats]:
    """Return what each model believes of the mentions that one of them believes in, and which are true.

    Without those that the annotation leaves open. What a model cannot hold counts, too: it is what others are for.
    """
    sentences = [s for s in sentences if s.believed is None]
    each = [one.find_above(sentences, LEAST, threads) for one in models]
    some = [sorted(s.judgeable([*set(s.mentions).union(*own)])) for s, *own in zip(sentences, *each, strict=True)]
    beliefs = [[m.prob or 0.0 for own in one.probabilities(sentences, some, threads) for m in own] for one in models]
    right = [m in known for s, own in zip(sentences, some, strict=True) for known in [set(s.mentions)] for m in own]
    return np.array(beliefs, np.float64).reshape(len(models), -1), np.array(right, np.float64)


def learn_weights(beliefs: Floats, right: Floats, rounds: int = 200) -> list[float]:
    """Return the weights under which it is most probable what is right and what is not, by EM.

    Parameters
    ----------
    beliefs
        ``[model, candidate]``, the probability that a model gives a candidate.
    right
        1 for candidates that are right, 0 for others.

    Examples
    --------
    The second model knows nothing:

    >>> right = np.array([1.0, 1.0, 0.0, 0.0])
    >>> [round(w, 2) for w in learn_weights(np.array([[0.9, 0.8, 0.1, 0.2], [0.5, 0.5, 0.5, 0.5]]), right)]
    [1.0, 0.0]
    """
    likelihood = np.clip(np.where(right > 0, beliefs, 1 - beliefs), LEAST, 1.0)  # no candidate rules a model out
    weights = np.full(len(beliefs), 1 / len(beliefs))
    for _ in range(rounds if right.size else 0):
        share = weights[:, None] * likelihood
        weights = (share / share.sum(axis=0)).mean(axis=1)
    return [float(w) for w in weights / weights.sum()]
