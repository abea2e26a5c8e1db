"""The odds of an annotation error, learned from the annotation that is audited.

What a model believes of a mention says something else in each corpus: it may be too sure, and some mentions, such as
those within another of the same label, are annotated here and not there without an error. Both can be seen in the
annotation itself. Every annotated mention shows what a *missing* one would look like if it had been overlooked, with
another label what a wrong label looks like, and with a border moved by a token what a wrong border looks like. These
examples count as often as annotators make such an error; against them stand the suspects, most of which are none. A
logistic curve tells them apart, for each kind of error:

    missing    a · logit p + offset of the place
    label      a · logit p(instead) − b · logit p(gold) + offset
    border     the same
    extra      log(r · d) − logit p: there is no example of a mention that is nothing

Where there are few data, curves stay near a = b = 1 and the logarithm of the rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spanloom.base.arrays import Floats
from spanloom.corpus import Mention

ERROR_KINDS = ("missing", "label", "border")
"""Kinds of errors of which there are examples."""
SURE = 0.5
"""What stands instead of an annotated mention must be more likely than not."""
LEAST = 1e-3
"""Probabilities count as being so far from 0 and 1 at least: a model that is quite sure is still wrong at times."""
PLACES = ("same tokens", "inside its label", "around its label", "inside another", "around or across another")
"""Where a mention can stand beside annotated ones, the first that fits; alone has no offset of its own."""
PRIOR = 1.0
"""How strongly curves are drawn to what they are without data."""
STEPS = 50


@dataclass(frozen=True, slots=True)
class Rates:
    """How often annotators make an error where they could."""

    missing: float
    label: float
    border: float
    extra: float


def place(mention: Mention, annotated: Iterable[Mention]) -> int | None:
    """Return which of ``PLACES`` a mention has beside other annotated ones; None: alone.

    Examples
    --------
    >>> inner, outer, far = (Mention("DNA", ((a, b),)) for a, b in ((0, 1), (0, 3), (5, 6)))
    >>> place(inner, [outer, inner]), place(outer, [inner]), place(far, [inner, outer])
    (1, 2, None)
    >>> place(Mention("RNA", ((0, 3),)), [outer]), place(Mention("RNA", ((0, 2),)), [outer])
    (0, 3)
    """
    others = [other for other in annotated if other != mention]
    inside = [o.label == mention.label for o in others if o.start <= mention.start and mention.end <= o.end]
    around = [o.label == mention.label for o in others if mention.start <= o.start and o.end <= mention.end]
    if any(other.parts == mention.parts for other in others):
        return 0
    if any(inside) or any(around):
        return 1 if any(inside) else 2
    if inside:
        return 3
    return 4 if any(mention.overlaps(other) for other in others) else None


def alone(mention: Mention, annotated: Iterable[Mention]) -> tuple[float, ...]:
    """Return what the curve for missing mentions sees of one."""
    own = place(mention, annotated)
    return (logit(mention.prob), *(float(own == number) for number in range(len(PLACES))), 1.0)


def against(instead: float | None, gold: float | None) -> tuple[float, ...]:
    """Return what the curves for labels and borders see: the probability of what stands instead, and of the gold."""
    return (logit(instead), -logit(gold), 1.0)


def examples(
    gold: Sequence[Mention],
    annotated: Sequence[Mention],
    likely: Mapping[Mention, float],
    labels: Sequence[str],
    n: int,
) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield what errors would look like in a sentence, of each kind.

    Parameters
    ----------
    gold
        The annotated mentions that can be judged, with probabilities.
    annotated
        All annotated mentions.
    likely
        The probabilities of mentions that are not quite unlikely.
    labels
        All labels.
    n
        How many tokens the sentence has.
    """
    for mention in gold:
        yield "missing", alone(mention, annotated)
        if (mention.prob or 0.0) < SURE:
            continue
        wrong = [("label", Mention(label, mention.parts)) for label in labels if label != mention.label]
        for a, b in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            start, end = mention.start + a, mention.end + b
            if not mention.discontinuous and 0 <= start < end <= n:
                wrong.append(("border", Mention(mention.label, ((start, end),))))
        for kind, other in wrong:
            if other not in annotated and likely.get(other, 0.0) < SURE:
                yield kind, against(mention.prob, likely.get(other, 0.0))


@dataclass(frozen=True, slots=True)
class Odds:
    """The log-odds of an error, by kind: the weights of what ``alone`` and ``against`` return."""

    weights: Mapping[str, Floats]

    @classmethod
    def learned(
        cls,
        made: Mapping[str, Sequence[tuple[float, ...]]],
        suspects: Mapping[str, Sequence[tuple[float, ...]]],
        rates: Rates,
    ) -> Odds:
        """Learn the curve of each kind from examples of errors, which count by their rate, and from suspects."""
        weights = {}
        for kind in ERROR_KINDS:
            rate = float(getattr(rates, kind))
            plain = np.zeros(2 + len(PLACES) if kind == "missing" else 3)
            plain[: 1 if kind == "missing" else 2] = 1.0
            plain[-1] = math.log(rate)
            some, others = (np.array(own.get(kind, []), np.float64).reshape(-1, len(plain)) for own in (made, suspects))
            x, y = np.vstack([some, others]), np.repeat([1.0, 0.0], [len(some), len(others)])
            weights[kind] = _logistic(x, y, np.where(y > 0, rate, 1.0), plain)
        return cls(weights)

    def __call__(self, kind: str, seen: Sequence[float]) -> float:
        """Return the log-odds of a suspect."""
        return float(self.weights[kind] @ np.asarray(seen))


def logit(p: float | None) -> float:
    """Return the log-odds of a probability, which counts as no nearer to 0 and 1 than ``LEAST``."""
    q = min(max(p or 0.0, LEAST), 1 - LEAST)
    return math.log(q / (1 - q))


def _logistic(x: Floats, y: Floats, weight: Floats, plain: Floats) -> Floats:
    """Logistic regression drawn to ``plain``, by Newton's method with steps that are halved until they help."""

    def loss(w: Floats) -> float:
        z = x @ w
        return float(weight @ (np.logaddexp(0, z) - y * z) + PRIOR / 2 * ((w - plain) @ (w - plain)))

    w = plain
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -500, 500)))
        gradient = x.T @ (weight * (p - y)) + PRIOR * (w - plain)
        if float(np.abs(gradient).max()) < 1e-8 * (1 + float(weight.sum())):
            break
        step = np.linalg.solve((x * (weight * p * (1 - p))[:, None]).T @ x + PRIOR * np.eye(len(w)), gradient)
        size, before = 1.0, loss(w)
        while loss(w - size * step) > before and size > 1e-10:
            size /= 2
        w = w - size * step
    return w
