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
from itertools import groupby, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom import _native
from spanloom.base.arrays import Floats, Ints32
from spanloom.base.errors import ParameterError
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention

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
_COORDINATOR, _LINK = 1, 2
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
    types: dict[str, int] = {}
    subsets = [(score, types.setdefault(m.label, len(types)), list(m.tokens)) for score, m in candidates]
    surface = Surface.of([sentence])
    numbers = _native.describe_candidates(subsets, *surface.arrays, tagged=bool(surface.tagged[0]))
    return places, numbers.reshape(-1, len(NUMBERS))


@dataclass(frozen=True, slots=True)
class Surface:
    """What rescoring reads of the tokens of sentences.

    Attributes
    ----------
    arrays
        One number for each token: equal ones for equal words, endings, outlines and parts of speech; then bits for a
        coordinator, a link, a comma, a slash, "and", "or", and a final s.
    tagged
        For each sentence, whether it has parts of speech.
    """

    arrays: tuple[Ints32, Ints32, Ints32, Ints32, npt.NDArray[np.uint8]]
    tagged: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> Surface:
        """Read sentences."""
        known: dict[str, int] = {}
        rows: list[tuple[int, int, int, int, int]] = []
        tagged = []
        number = known.setdefault
        for sentence in sentences:
            tags = sentence.columns.get("pos") or sentence.columns.get("upos")
            tagged.append(tags is not None)
            for token, pos in zip(sentence.tokens, tags or repeat(""), strict=tags is not None):
                word, ending, outline, bits = _surface(token)
                if pos in ("CC", "CCONJ"):
                    bits |= _COORDINATOR | _LINK
                ids = number(word, len(known)), number(ending, len(known)), number(outline, len(known))
                rows.append((*ids, number(pos, len(known)), bits))
        word, ending, outline, tag, flags = np.ascontiguousarray(np.array(rows, np.int32).reshape(-1, 5).T)
        return cls((word, ending, outline, tag, flags.astype(np.uint8)), np.array(tagged, np.uint8))


@lru_cache(maxsize=100_000)
def _surface(token: str) -> tuple[str, str, str, int]:
    """The word, its last two letters, its outline and its bits; the parts of speech are not known yet."""
    word = token.lower()
    bits = _COORDINATOR | _LINK if word in COORDINATORS else 0
    bits |= _LINK if word in ",/" else 0
    bits |= {",": 4, "/": 8, "and": 16, "or": 32}.get(word, 0)
    return word, word[-2:], _outline(token), bits | (64 if word.endswith("s") else 0)


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

    def native(self, types: Sequence[str]) -> _native.Rescoring:
        """Return what rescores the candidates of many sentences; types are numbered in the order given."""
        thresholds = np.array([self.thresholds.get(label, 0.0) for label in types])
        mean, spread, weights = (np.array(some) for some in (self.mean, self.spread, self.weights))
        return _native.Rescoring(mean, spread, weights, self.bias, self.least, thresholds)

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
