"""Broken mentions by the company they keep.

A broken mention seldom stands alone: in "T and B lymphocytes" the candidates "T … lymphocytes" and "B lymphocytes"
speak for each other, and "T and B lymphocytes" speaks against the first. A model that scores every mention by itself
cannot see this. ``Company`` looks again at every broken candidate together with the others of its sentence:

==========  =========================================================================================================
score       its own score
sibling     the best score of those of its label that have tokens of it and of its gaps, and do not nest with it
weaker      the lower of these two
rival       the best score of those of its label that it nests with
alone       the best score of those of any label that are one of its parts
siblings    how many siblings score above −1: log(1 + number)
uncovered   how many tokens of its gaps no such sibling has: log(1 + number)
==========  =========================================================================================================

and takes the seven numbers for a logistic decision, which is learned on development data. Scores below −3 count as −3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from spanloom.corpus.mention import Mention
from spanloom.errors import ParameterError

Floats = npt.NDArray[np.float64]
Candidates = Sequence[tuple[float, Mention]]
NUMBERS = ("score", "sibling", "weaker", "rival", "alone", "siblings", "uncovered")
LOWEST = -3.0
"""Candidates that score less are not looked at."""
LOOKED_AT = 60
"""So many best candidates of a sentence are looked at."""
SIBLING = -1.0
PENALTY = 1.0
"""The L2 penalty on the weights of the numbers, which are brought to mean 0 and variance 1."""


def describe(candidates: Candidates) -> tuple[list[int], Floats]:
    """Return the places of the broken candidates, and the ``NUMBERS`` of each.

    Examples
    --------
    >>> first, second = Mention("cell", ((0, 1), (3, 4))), Mention("cell", ((2, 4),))
    >>> places, table = describe([(1.0, second), (-0.5, first)])
    >>> places, table[0].round(2).tolist()
    ([1], [-0.5, 1.0, -0.5, -3.0, -3.0, 0.69, 0.69])
    """
    masks = [sum(1 << t for t in m.tokens) for _, m in candidates]
    places = [i for i, (_, m) in enumerate(candidates) if len(m.parts) > 1]
    rows = []
    for i in places:
        score, mention = candidates[i]
        own = masks[i]
        gaps = ((1 << mention.end) - (1 << mention.start)) & ~own
        sibling = rival = alone = LOWEST
        count, covered = 0, 0
        for j, (other, m) in enumerate(candidates):
            if j == i:
                continue
            common = masks[j] & own
            if not common:
                continue
            if m.label == mention.label:
                if common in (own, masks[j]):
                    rival = max(rival, other)
                elif masks[j] & gaps:
                    sibling = max(sibling, other)
                    if other > SIBLING:
                        count += 1
                        covered |= masks[j]
            if len(m.parts) == 1 and m.parts[0] in mention.parts:
                alone = max(alone, other)
        left = (gaps & ~covered).bit_count()
        rows.append([score, sibling, min(score, sibling), rival, alone, math.log1p(count), math.log1p(left)])
    return places, np.array(rows, np.float64).reshape(-1, len(NUMBERS))


@dataclass(frozen=True, slots=True)
class Company:
    """A second opinion on broken candidates: their log-odds are ``weights · numbers + bias``.

    Parameters
    ----------
    weights, bias
        As above.
    least
        The log-odds from which on a candidate is taken.
    thresholds
        By label: the score that stands for these log-odds.
    """

    weights: tuple[float, ...]
    bias: float
    least: float
    thresholds: Mapping[str, float]

    @classmethod
    def learn(
        cls, scored: Sequence[Candidates], gold: Sequence[Sequence[Mention]], thresholds: Mapping[str, float]
    ) -> Company | None:
        """Learn from the candidates of development sentences; None if none of the broken ones is right.

        ``least`` is chosen for the best F1 on broken mentions.
        """
        tables: list[Floats] = []
        right: list[bool] = []
        for candidates, mentions in zip(scored, gold, strict=True):
            places, table = describe(candidates)
            wanted = set(mentions)
            tables.append(table)
            right.extend(candidates[i][1] in wanted for i in places)
        x, y = np.concatenate(tables) if tables else np.zeros((0, len(NUMBERS))), np.array(right, np.bool_)
        if not y.any() or y.all():
            return None
        weights, bias = _regress(x, y)
        odds = x @ weights + bias
        total = sum(m.discontinuous for mentions in gold for m in set(mentions))
        order = np.argsort(-odds, kind="stable")
        f1 = 2 * np.cumsum(y[order]) / (np.arange(1, len(order) + 1) + total)
        last = int(np.argmax(f1))
        below = odds[order[last + 1]] if last + 1 < len(order) else odds[order[last]] - 2
        least = float(odds[order[last]] + below) / 2
        return cls(tuple(weights.tolist()), float(bias), least, dict(thresholds))

    def rescore(self, candidates: Candidates, *, probabilities: bool = False) -> list[tuple[float, Mention]]:
        """Return the candidates, best first, broken ones with scores of their own: above the threshold if taken."""
        done = list(candidates)
        places, table = describe(candidates)
        for i, odds in zip(places, (table @ np.array(self.weights) + self.bias).tolist(), strict=True):
            mention = done[i][1]
            if probabilities:
                mention = replace(mention, prob=1 / (1 + math.exp(-min(max(odds, -700), 700))))
            done[i] = (odds - self.least + self.thresholds.get(mention.label, 0.0), mention)
        return sorted(done, key=lambda pair: -pair[0])

    def to_json(self) -> dict[str, Any]:
        """Return a plain dict."""
        return {
            "weights": dict(zip(NUMBERS, self.weights, strict=True)),
            "bias": self.bias,
            "least": self.least,
            "thresholds": dict(self.thresholds),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Company:
        """Undo ``to_json``."""
        numbers = [float(data["weights"][name]) for name in NUMBERS]
        rest = [float(data["bias"]), float(data["least"]), *map(float, data["thresholds"].values())]
        if not all(map(math.isfinite, [*numbers, *rest])):
            raise ParameterError("a number of the second opinion on broken mentions is not finite")
        thresholds = {str(label): float(value) for label, value in data["thresholds"].items()}
        return cls(tuple(numbers), rest[0], rest[1], thresholds)


def _regress(x: Floats, y: npt.NDArray[np.bool_]) -> tuple[Floats, float]:
    """Logistic regression on numbers brought to mean 0 and variance 1; weights and bias for the numbers as they are."""
    mean, spread = x.mean(axis=0), x.std(axis=0)
    spread[spread == 0] = 1
    z, sign = (x - mean) / spread, np.where(y, 1.0, -1.0)

    def loss(w: Floats) -> tuple[float, Floats]:
        margin = sign * (z @ w[:-1] + w[-1])
        slope = -sign / (1 + np.exp(np.clip(margin, -700, 700)))
        value = np.logaddexp(0, -margin).sum() + PENALTY / 2 * w[:-1] @ w[:-1]
        return float(value), np.append(slope @ z + PENALTY * w[:-1], slope.sum())

    found = minimize(loss, np.zeros(len(mean) + 1), jac=True, method="L-BFGS-B").x
    weights = found[:-1] / spread
    return weights, float(found[-1] - weights @ mean)
