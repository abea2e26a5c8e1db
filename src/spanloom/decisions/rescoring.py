"""Rescoring: discontinuous candidates judged together with the other candidates of their sentence.

A discontinuous mention seldom stands alone: in "T and B lymphocytes" the candidates "T … lymphocytes" and
"B lymphocytes" speak for each other, "T and B lymphocytes" speaks against the first, and so do or do not the words
between. A model that scores every mention by itself cannot see this. ``Rescoring`` scores every discontinuous candidate
again, together with the others of its sentence and with the text around its first gap:

============  =======================================================================================================
score         its own score
sibling       the best score of those of its label that have tokens of it and of its gaps, and do not nest with it
contiguous    the same, of the contiguous ones only
weaker        the lower of score and sibling
rival         the best score of those of its label that it nests with
whole         the score of the contiguous one of its label from its first to its last token
alone         the best score of those of any label that are one of its parts
siblings      how many siblings score above −1: log(1 + number)
uncovered     how many tokens of its gaps no such sibling has: log(1 + number)
two           whether it has two parts
gap           how many tokens the gap has: log(1 + number)
coordinator   whether the gap has one: a word such as "and", or a part of speech CC or CCONJ
comma, slash  whether the gap has one
at once       whether the gap begins with one of all these, the *links*
bare          whether the gap ends with a link
and, or       whether the last link of the gap is this word
last comma    whether it is a comma
last slash    whether it is a slash
equal         whether after that link as many tokens follow in the gap as the first part has
longer        whether more follow
same word     whether the last token of the first part and that of the gap are the same word
same ending   … end in the same two letters
same shape    … have the same capitals, digits and marks
same pos      … are the same part of speech
parallel      whether the first part and what follows the last link are the same parts of speech
same first    whether the gap and the part after it begin with the same part of speech
plural        whether it ends in a word with a final s
============  =======================================================================================================

and takes these numbers and the products of every two of them for a logistic decision. It is learned from the training
data by cross-fitting: from the candidates that models find in text that they have not learned from. Scores below −3
count as −3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.base.errors import ParameterError
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention, Part

Floats = npt.NDArray[np.float64]
Candidates = Sequence[tuple[float, Mention]]
CONTEXT = ("score", "sibling", "contiguous", "weaker", "rival", "whole", "alone", "siblings", "uncovered")
TEXT = (
    *("two", "gap", "coordinator", "comma", "slash", "at once", "bare", "and", "or", "last comma", "last slash"),
    *("equal", "longer", "same word", "same ending", "same shape", "same pos", "parallel", "same first", "plural"),
)
NUMBERS = (*CONTEXT, *TEXT)
LOWEST = -3.0
"""Candidates that score less are not looked at."""
LOOKED_AT = 100
"""So many best candidates of a sentence are looked at."""
FOLDS = 2
"""Into how many blocks the training data are cut for cross-fitting."""
SIBLING = -1.0
PENALTY = 0.3
"""The L2 penalty on weights, for every right candidate that is learned from."""
ITERATIONS = 100
"""Of the optimiser, at most; where there are many candidates it needs fewer."""
FAR = 4.0
"""Numbers are brought to mean 0 and variance 1, and cut here."""
COORDINATORS = frozenset({"and", "or", "but", "nor", "versus", "plus"})
"""For text without parts of speech."""


def describe(candidates: Candidates, sentence: Sentence) -> tuple[list[int], Floats]:
    """Return the places of the discontinuous candidates, and the ``NUMBERS`` of each.

    Examples
    --------
    >>> text = Sentence(["T", "and", "B", "lymphocytes"])
    >>> first, second = Mention("cell", ((0, 1), (3, 4))), Mention("cell", ((2, 4),))
    >>> places, table = describe([(1.0, second), (-0.5, first)], text)
    >>> places, dict(zip(NUMBERS, table[0].round(2).tolist()))["sibling"]
    ([1], 1.0)
    """
    places = [i for i, (_, m) in enumerate(candidates) if len(m.parts) > 1]
    if not places:
        return [], np.zeros((0, len(NUMBERS)))
    others, text = _Candidates(candidates), _Text(sentence)
    rows = [[*others.of(*candidates[i]), *text.around(candidates[i][1])] for i in places]
    return places, np.array(rows, np.float64)


class _Candidates:
    """The candidates of a sentence, to be asked about one of them. Sets of tokens are bits of numbers."""

    def __init__(self, candidates: Candidates) -> None:
        self.by_label: dict[str, list[tuple[float, int, bool]]] = {}
        self.parts: dict[Part, float] = {}
        for score, m in candidates:
            contiguous = len(m.parts) == 1
            self.by_label.setdefault(m.label, []).append((score, _bits(m), contiguous))
            if contiguous:
                self.parts[m.parts[0]] = max(score, self.parts.get(m.parts[0], LOWEST))

    def of(self, score: float, mention: Mention) -> list[float]:
        """Return the numbers ``CONTEXT`` of a discontinuous mention."""
        own = _bits(mention)
        everything = (1 << mention.end) - (1 << mention.start)
        gaps = everything & ~own
        sibling = contiguous = rival = whole = LOWEST
        count, covered = 0, 0
        for other, mask, is_contiguous in self.by_label[mention.label]:
            common = mask & own
            if not common or mask == own:
                continue
            if common in (own, mask):
                rival = max(rival, other)
                if mask == everything:
                    whole = other
            elif mask & gaps:
                sibling = max(sibling, other)
                if is_contiguous:
                    contiguous = max(contiguous, other)
                if other > SIBLING:
                    count += 1
                    covered |= mask
        alone = max(self.parts.get(part, LOWEST) for part in mention.parts)
        left = (gaps & ~covered).bit_count()
        return [
            *(score, sibling, contiguous, min(score, sibling), rival, whole, alone),
            *(math.log1p(count), math.log1p(left)),
        ]


def _bits(mention: Mention) -> int:
    return sum((1 << end) - (1 << start) for start, end in mention.parts)


class _Text:
    """What of a sentence's text is looked at."""

    def __init__(self, sentence: Sentence) -> None:
        self.words = [token.lower() for token in sentence.tokens]
        self.outlines = [_outline(token) for token in sentence.tokens]
        tags = sentence.columns.get("pos") or sentence.columns.get("upos")
        self.tagged = tags is not None
        self.pos = tags or [""] * len(self.words)
        self.coordinators = [
            word in COORDINATORS or pos in ("CC", "CCONJ") for word, pos in zip(self.words, self.pos, strict=True)
        ]
        self.links = [is_one or word in ",/" for is_one, word in zip(self.coordinators, self.words, strict=True)]

    def around(self, mention: Mention) -> list[float]:
        """Return the numbers ``TEXT`` of a discontinuous mention."""
        words, links, pos = self.words, self.links, self.pos
        (first, gap), (after, _) = mention.parts[0], mention.parts[1]
        numbers = [
            len(mention.parts) == 2,
            math.log1p(after - gap),
            any(self.coordinators[gap:after]),
            "," in words[gap:after],
            "/" in words[gap:after],
            links[gap],
            links[after - 1],
        ]
        link = max((t for t in range(gap, after) if links[t]), default=None)
        if link is None:
            numbers += [False] * (len(TEXT) - len(numbers) - 1)
        else:
            a, b, length = gap - 1, after - 1, after - link - 1
            numbers += [words[link] == "and", words[link] == "or", words[link] == ",", words[link] == "/"]
            numbers += [length == gap - first, length > gap - first]
            numbers += [
                length > 0 and same
                for same in (words[a] == words[b], words[a][-2:] == words[b][-2:], self.outlines[a] == self.outlines[b])
            ]
            tags = pos[a] == pos[b], pos[first:gap] == pos[link + 1 : after], pos[after] == pos[gap]
            numbers += [self.tagged and same for same in (length > 0 and tags[0], length > 0 and tags[1], tags[2])]
        return [*map(float, numbers), float(words[mention.end - 1].endswith("s"))]


@dataclass(frozen=True, slots=True)
class Rescoring:
    """New scores for discontinuous candidates.

    The numbers are brought to ``z = (numbers − mean) / spread``, and the log-odds are ``weights · (z, z zᵀ) + bias``.

    Parameters
    ----------
    mean, spread, weights, bias
        As above.
    least
        The log-odds from which on a candidate is taken.
    thresholds
        By label: the score that stands for these log-odds.
    """

    mean: tuple[float, ...]
    spread: tuple[float, ...]
    weights: tuple[float, ...]
    bias: float
    least: float
    thresholds: Mapping[str, float]

    @classmethod
    def learn(
        cls, scored: Sequence[Candidates], sentences: Sequence[Sentence], gold: Sequence[Sequence[Mention]]
    ) -> Rescoring | None:
        """Learn from the candidates of sentences; None if none of the discontinuous ones is right.

        ``least`` is that of the best F1 on discontinuous mentions, each half of the sentences judged by the other.
        """
        tables: list[Floats] = []
        right: list[npt.NDArray[np.bool_]] = []
        for candidates, sentence, mentions in zip(scored, sentences, gold, strict=True):
            places, table = describe(candidates, sentence)
            wanted = set(mentions)
            tables.append(table)
            right.append(np.array([candidates[i][1] in wanted for i in places], np.bool_))
        cut = len(tables) // 2
        halves = [_joined(tables[part], right[part]) for part in (slice(cut), slice(cut, None))]
        x, y = _joined(tables, right)
        if not y.any() or y.all():
            return None
        whole = cls._fit(x, y)
        if all(own.any() and not own.all() for _, own in halves):
            one, other = (cls._fit(*half) for half in halves)
            odds = np.concatenate([other.odds(halves[0][0]), one.odds(halves[1][0])])
        else:
            odds = whole.odds(x)
        total = sum(m.discontinuous for mentions in gold for m in set(mentions))
        return replace(whole, least=_best_least(odds, y, total))

    @classmethod
    def _fit(cls, x: Floats, y: npt.NDArray[np.bool_]) -> Rescoring:
        mean, spread = x.mean(axis=0), x.std(axis=0)
        spread[spread == 0] = 1
        weights, bias = _regress(_products(_standard(x, mean, spread)), y, PENALTY * int(y.sum()))
        return cls(tuple(mean.tolist()), tuple(spread.tolist()), tuple(weights.tolist()), bias, 0.0, {})

    def odds(self, x: Floats) -> Floats:
        """Return the log-odds of candidates from their numbers."""
        z = _standard(x, np.array(self.mean), np.array(self.spread))
        found: Floats = _products(z) @ np.array(self.weights) + self.bias
        return found

    def rescore(
        self, candidates: Candidates, sentence: Sentence, *, probabilities: bool = False
    ) -> list[tuple[float, Mention]]:
        """Return the candidates, best first, discontinuous ones with new scores: above the threshold if taken."""
        done = list(candidates)
        places, table = describe(candidates, sentence)
        for i, odds in zip(places, self.odds(table).tolist(), strict=True):
            mention = done[i][1]
            if probabilities:
                mention = replace(mention, prob=1 / (1 + math.exp(-min(max(odds, -700), 700))))
            done[i] = (odds - self.least + self.thresholds.get(mention.label, 0.0), mention)
        return sorted(done, key=lambda pair: -pair[0])

    def to_json(self) -> dict[str, Any]:
        """Return a plain dict."""
        return {
            "numbers": list(NUMBERS),
            "mean": list(self.mean),
            "spread": list(self.spread),
            "weights": list(self.weights),
            "bias": self.bias,
            "least": self.least,
            "thresholds": dict(self.thresholds),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rescoring:
        """Undo ``to_json``."""
        mean, spread, weights = (tuple(map(float, data[name])) for name in ("mean", "spread", "weights"))
        rest = [float(data["bias"]), float(data["least"]), *map(float, data["thresholds"].values())]
        size = len(NUMBERS)
        names = tuple("contiguous" if name == "unbroken" else name for name in data["numbers"])  # its older name
        if names != NUMBERS or [len(mean), len(spread), len(weights)] != [size, size, _width(size)]:
            raise ParameterError("the rescoring of discontinuous mentions is of another version")
        if not all(map(math.isfinite, [*mean, *spread, *weights, *rest])) or min(spread) <= 0:
            raise ParameterError("a number of the rescoring of discontinuous mentions makes no sense")
        thresholds = {str(label): float(value) for label, value in data["thresholds"].items()}
        return cls(mean, spread, weights, rest[0], rest[1], thresholds)


@lru_cache(maxsize=100_000)
def _outline(word: str) -> str:
    """Runs of capitals, small letters and digits, and what else there is: Aa0-a."""
    kinds = ("A" if c.isupper() else "a" if c.islower() else "0" if c.isdigit() else c for c in word)
    return "".join(kind for kind, _ in groupby(kinds))


def _joined(tables: Sequence[Floats], right: Sequence[npt.NDArray[np.bool_]]) -> tuple[Floats, npt.NDArray[np.bool_]]:
    if not tables:
        return np.zeros((0, len(NUMBERS))), np.zeros(0, np.bool_)
    return np.concatenate(tables), np.concatenate(right)


def _standard(x: Floats, mean: Floats, spread: Floats) -> Floats:
    return np.clip((x - mean) / spread, -FAR, FAR)


def _products(z: Floats) -> Floats:
    """The numbers, and the products of every two of them."""
    i, j = np.triu_indices(z.shape[1])
    return np.hstack([z, z[:, i] * z[:, j]])


def _width(numbers: int) -> int:
    return numbers + numbers * (numbers + 1) // 2


def _best_least(odds: Floats, right: npt.NDArray[np.bool_], total: int) -> float:
    """The least log-odds with the best F1, of ``total`` mentions that there are."""
    order = np.argsort(-odds, kind="stable")
    f1 = 2 * np.cumsum(right[order]) / (np.arange(1, len(order) + 1) + total)
    last = int(np.argmax(f1))
    below = odds[order[last + 1]] if last + 1 < len(order) else odds[order[last]] - 2
    return float(odds[order[last]] + below) / 2


def _regress(x: Floats, y: npt.NDArray[np.bool_], penalty: float) -> tuple[Floats, float]:
    """Logistic regression on columns brought to mean 0 and variance 1; weights and bias for them as they are."""
    from scipy.optimize import minimize  # here: it takes long to import, and few need it

    mean, spread = x.mean(axis=0), x.std(axis=0)
    spread[spread < 1e-9] = 1
    z, sign = (x - mean) / spread, np.where(y, 1.0, -1.0)

    def loss(w: Floats) -> tuple[float, Floats]:
        margin = sign * (z @ w[:-1] + w[-1])
        slope = -sign / (1 + np.exp(np.clip(margin, -700, 700)))
        value = np.logaddexp(0, -margin).sum() + penalty / 2 * w[:-1] @ w[:-1]
        return float(value), np.append(slope @ z + penalty * w[:-1], slope.sum())

    start = np.zeros(len(mean) + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS}).x
    weights = found[:-1] / spread
    return weights, float(found[-1] - weights @ mean)
