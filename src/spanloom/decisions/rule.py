"""The rule that a trained recogniser answers by: a decision with the thresholds that were chosen on data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention, reading_order
from spanloom.decisions.calibration import Calibration

if TYPE_CHECKING:
    from spanloom.models.trained import Trained

Mentions = list[list[Mention]]
FLAT: Final = "flat"
Exclusive = bool | Literal["flat"]
NO_THRESHOLDS = np.zeros(0)
SMALLEST = 1e-9
"""The least probability that is looked for, where calibration makes much of little."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How mentions are chosen.

    Parameters
    ----------
    thresholds
        By label, the least probability of a mention; None: the mentions of the best structure.
    exclusive
        Whether the same tokens have one label at most; ``"flat"``: whether mentions share no tokens.
    fitting
        Whether mentions that the model cannot hold together are left out, the least probable first. With thresholds.
    calibration
        What makes of the model's probabilities those that mentions get, and that thresholds are for.
    """

    thresholds: Mapping[str, float] | None = None
    exclusive: Exclusive = False
    fitting: bool = True
    calibration: Calibration | None = None

    @property
    def flat(self) -> bool:
        """Whether mentions share no tokens."""
        return self.exclusive == FLAT

    @property
    def least(self) -> float:
        """The lowest threshold."""
        return min((self.thresholds or {}).values(), default=1.0)

    def wanted(self, trained: Trained, labels: Sequence[str]) -> dict[str, Any]:
        """Return what native finders are asked for; calibration is not theirs.

        ``flat`` and ``flat_types`` also leave out what the model cannot hold together, where there are thresholds.
        """
        thresholds = NO_THRESHOLDS
        if self.thresholds is not None:
            thresholds = np.array([self.thresholds.get(label, math.inf) for label in labels])
        cut = self.fitting and thresholds.size > 0
        return {
            "exclusive": bool(self.exclusive),
            "flat": self.flat or (cut and not trained.may_have(flat=True)),
            "flat_types": cut and not trained.may_overlap_within_labels,
            "thresholds": thresholds,
        }

    def answers(
        self,
        trained: Trained,
        sentences: Sequence[Sentence],
        threads: int | None = None,
        conflicts: Counter[str] | None = None,
        *,
        probabilities: bool = False,
    ) -> Mentions:
        """Return the mentions of each sentence; with thresholds they have probabilities anyway."""
        if self.calibration is not None and self.thresholds is not None:
            return self._above(self.calibration, trained, sentences, threads)
        found = trained.find_by(self, sentences, threads, conflicts, probabilities=probabilities)
        return self.calibrated(found) if probabilities else found

    def calibrated(self, found: Mentions, best: Mentions | None = None) -> Mentions:
        """Return mentions of sentences with calibrated probabilities, given those of the model.

        ``best`` are the mentions of the best structures; None: all are.
        """
        if self.calibration is None:
            return found
        p = [m.prob or 0.0 for own in found for m in own]
        given = self.calibration(p) if best is None else self.calibration.of(p, among(found, best))
        probs = iter(given.tolist())
        return [[Mention(m.label, m.parts, next(probs), m.attributes) for m in own] for own in found]

    def _above(
        self, calibration: Calibration, trained: Trained, sentences: Sequence[Sentence], threads: int | None
    ) -> Mentions:
        found = trained.find_above(sentences, max(calibration.least(self.least), SMALLEST), threads)
        best = None if calibration.others is None else trained.find(sentences, threads)
        return [self.of_believed(trained, own) for own in self.calibrated(found, best)]

    def of_believed(self, trained: Trained, believed: Sequence[Mention]) -> list[Mention]:
        """Return those of a sentence's mentions, each with a probability, that reach their thresholds."""
        thresholds = self.thresholds or {}
        found = [m for m in believed if (m.prob or 0.0) >= thresholds.get(m.label, math.inf)]
        if self.exclusive:
            found = most_probable(found, flat=self.flat)
        return fitting(trained, found) if self.fitting else found

    def to_json(self) -> dict[str, Any]:
        """Return a plain dict."""
        thresholds = None if self.thresholds is None else dict(self.thresholds)
        made: dict[str, Any] = {"thresholds": thresholds, "exclusive": self.exclusive, "fitting": self.fitting}
        return made if self.calibration is None else {**made, "calibration": self.calibration.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rule:
        """Undo ``to_json``."""
        thresholds = data["thresholds"]
        if thresholds is not None:
            thresholds = {str(label): float(value) for label, value in thresholds.items()}
        stored = data.get("calibration")
        calibration = None if stored is None else Calibration.from_json(stored)
        exclusive: Exclusive = FLAT if data["exclusive"] == FLAT else bool(data["exclusive"])
        return cls(thresholds, exclusive, bool(data["fitting"]), calibration)


def among(found: Mentions, best: Mentions) -> list[bool]:
    """Say of every mention, sentence by sentence, whether it is one of the best."""
    return [m in known for own, known in zip(found, map(set, best), strict=True) for m in own]


def most_probable(mentions: Sequence[Mention], *, flat: bool) -> list[Mention]:
    """Keep the most probable of the mentions with the same tokens; with ``flat``, of those that share a token.

    Examples
    --------
    >>> found = [Mention("DNA", ((0, 2),), 0.6), Mention("RNA", ((0, 2),), 0.7), Mention("RNA", ((0, 1),), 0.9)]
    >>> most_probable(found, flat=False)
    [Mention(label='RNA', parts=((0, 2),), prob=0.7), Mention(label='RNA', parts=((0, 1),), prob=0.9)]
    >>> most_probable(found, flat=True)
    [Mention(label='RNA', parts=((0, 1),), prob=0.9)]
    """
    kept: list[Mention] = []
    for mention in sorted(sorted(mentions, key=reading_order), key=lambda m: -(m.prob or 0.0)):
        if not any(exclude(mention, other, flat=flat) for other in kept):
            kept.append(mention)
    left = set(kept)
    return [mention for mention in mentions if mention in left]


def exclude(a: Mention, b: Mention, *, flat: bool) -> bool:
    """Whether two mentions have the same tokens; with ``flat``, whether they share one."""
    return a.overlaps(b) if flat else a.parts == b.parts


def fitting(trained: Trained, mentions: list[Mention]) -> list[Mention]:
    """Leave out what the model cannot hold beside more probable mentions."""
    if trained.model.misfit(mentions) is None:
        return mentions
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda m: -(m.prob or 0.0)):
        if trained.model.misfit([*kept, mention]) is None:
            kept.append(mention)
    return sorted(kept, key=reading_order)
