"""Cases, each with a distribution: what is left after clamping what several parts can find, or what models believe."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappush, heappushpop

import numpy as np

from spanloom.base.errors import ParameterError
from spanloom.corpus.mention import Mention
from spanloom.inference.distribution import MISSING, STRUCTURES, Distribution, Marginals, add_alike, growing

ASKED, QUESTIONS = 32, 400
"""For more sets, listing them is quicker than asking about each; so many questions are asked for fewer."""


class Cases(Distribution):
    """One of several cases, and a structure of that case.

    Probabilities of mentions are means. ``k_best`` adds up what the cases have of a set: it lists the best sets of
    each, and asks cases about sets that they have not listed, until nothing else can be among the best. For more than
    ``ASKED`` sets, and after ``QUESTIONS`` questions, it only lists, at most ``STRUCTURES`` of each case, after which
    probabilities are lower bounds. Entropy is that of case and structure.

    Parameters
    ----------
    cases
        Disjoint sets of structures of one sentence under the same scores: a case weighs exp(log_z).
    offsets
        What is added to the ``log_z`` of a case before: then they may be anything, such as what models believe that
        were trained apart (``average``). None: 0.
    """

    def __init__(self, cases: Sequence[Distribution], offsets: Sequence[float] | None = None) -> None:
        if not cases:
            raise ParameterError("there must be a case")
        self.cases = list(cases)
        self.offsets = [0.0] * len(self.cases) if offsets is None else list(offsets)
        self.exact = all(case.exact for case in self.cases)
        logs = [case.log_z + own for case, own in zip(self.cases, self.offsets, strict=True)]
        self.log_z = float(np.logaddexp.reduce(logs))
        self.labels = frozenset().union(*(case.labels for case in self.cases))
        self._weights = [math.exp(log - self.log_z) for log in logs]

    def prob(self, mention: Mention) -> float:
        return min(1.0, sum(w * case.prob(mention) for w, case in zip(self._weights, self.cases, strict=True)))

    def _above(self, above: float) -> Iterator[Mention]:
        # A mean reaches `above` only if one of the cases does.
        return self._probable({m for case in self.cases for m in case._above(above * (1 - MISSING))}, above)

    def marginals(self) -> Marginals:
        """Return the means of cells; ``ParameterError`` if the cases have different ones."""
        each = [case.marginals() for case in self.cases]
        if any(m.names != each[0].names or m.sites != each[0].sites for m in each):
            raise ParameterError("the cases have different cells; ask each of Cases.cases for its marginals")
        mean = np.sum([w * m.probs for w, m in zip(self._weights, each, strict=True)], axis=0)
        return Marginals(each[0].names, each[0].sites, mean)

    def _best(self, k: int) -> list[tuple[float, list[Mention]]]:
        weighed = [(i, math.log(w)) for i, w in enumerate(self._weights) if w > 0]
        asked: dict[tuple[int, frozenset[Mention]], float] = {}
        best: list[tuple[float, list[Mention]]] = []
        for size, last in growing(max(16, 2 * k), max(2 * k, STRUCTURES)):
            lists = [_Listed(i, w, self.cases[i], size) for i, w in weighed]
            top = max(one.top for one in lists)  # shares are told by it: those of long sentences are tiny
            most = {key: _sum(one.known.get(key, one.rest) for one in lists) for own in lists for key in own.sets}
            found: dict[frozenset[Mention], float] = {}
            highest: list[float] = []  # the k best so far, the worst of them first
            for key in sorted(most, key=lambda key: -most[key]):
                if len(highest) == k and most[key] <= highest[0]:
                    break
                may = k <= ASKED and len(asked) < QUESTIONS
                found[key] = _sum(one.of(key, asked if may else None, top) for one in lists)
                (heappush if len(highest) < k else heappushpop)(highest, found[key])
            sets = {key: mentions for one in lists for key, mentions in one.sets.items()}
            best = add_alike([(log, sets[key]) for key, log in found.items() if log > -math.inf], k)
            # No set that is not listed has more than the last ones of all lists together.
            beyond = _sum(one.rest for one in lists)
            sure = k <= ASKED and len(asked) < QUESTIONS and len(best) == k and best[-1][0] >= beyond
            if last or sure or beyond - top <= math.log(MISSING):
                break
        return best

    def sample(self, n: int, seed: int) -> list[list[Mention]]:
        random = np.random.default_rng(seed)
        weights = np.array(self._weights)
        which = random.choice(len(self.cases), size=n, p=weights / weights.sum()).tolist()
        drawn = [iter(case.sample(which.count(i), seed + i)) for i, case in enumerate(self.cases)]
        return [next(drawn[i]) for i in which]

    def entropy(self) -> float:
        # H = Σ w (H_case − log w): the cases share no structure.
        pairs = zip(self._weights, self.cases, strict=True)
        return math.fsum(w * (case.entropy() - math.log(w)) for w, case in pairs if w > 0)

    def _given(self, mention: Mention, must: bool) -> Distribution | None:
        each = [(case._given(mention, must), own) for case, own in zip(self.cases, self.offsets, strict=True)]
        left = [(given, own) for given, own in each if given is not None]
        return Cases([given for given, _ in left], [own for _, own in left]) if left else None


class _Listed:
    """The best sets of a case, each with the logarithm of its share of the probability of all cases."""

    def __init__(self, number: int, weight: float, case: Distribution, size: int) -> None:
        found = case._best(size)
        self.number, self.weight, self.case = number, weight, case
        self.top = weight + found[0][0]
        self.known: dict[frozenset[Mention], float] = {}
        self.sets: dict[frozenset[Mention], list[Mention]] = {}
        for log, mentions in found:
            key = frozenset(mentions)
            self.known[key] = _sum((self.known.get(key, -math.inf), weight + log))
            self.sets.setdefault(key, mentions)
        self.rest = weight + found[-1][0] if len(found) == size else -math.inf  # -inf: nothing is left out

    def of(
        self, key: frozenset[Mention], asked: dict[tuple[int, frozenset[Mention]], float] | None, top: float
    ) -> float:
        """Return the share of a set, also of one that is not listed, unless nobody may be asked."""
        if key in self.known or self.rest == -math.inf or asked is None:
            return self.known.get(key, -math.inf)
        if (self.number, key) not in asked:
            asked[self.number, key] = self.weight + _log_probability(self.case, key, top + math.log(MISSING))
        return asked[self.number, key]


def _sum(logs: Iterable[float]) -> float:
    """log Σ exp."""
    some = list(logs)
    high = max(some)
    return high if high == -math.inf else high + math.log(math.fsum(math.exp(log - high) for log in some))


def _log_probability(case: Distribution, wanted: frozenset[Mention], least: float) -> float:
    """Return the logarithm of the probability that the mentions of a set are there, and nothing else.

    What is below ``least`` does not matter: -inf.
    """
    there, left = 0.0, case
    for mention in sorted(wanted):
        prob = left.prob(mention)
        there += math.log(prob) if prob > 0 else -math.inf
        given = left._given(mention, must=True) if there > least else None
        if given is None:
            return -math.inf
        left = given
    for size, _ in growing(16):
        found = left._best(size)
        alike = [log for log, mentions in found if frozenset(mentions) == wanted]
        if alike:
            return there + _sum(alike)
        if len(found) < size or there + found[-1][0] <= least:
            break
    return -math.inf


def average(beliefs: Sequence[Distribution], weights: Sequence[float]) -> Cases:
    """Return the weighted mean of what models believe of one sentence; weights add up to 1.

    Examples
    --------
    >>> from spanloom.inference import Independent
    >>> gene = Mention("gene", ((0, 1),))
    >>> sure, unsure = Independent([gene], [math.log(9)]), Independent([gene], [0.0])
    >>> round(average([sure, unsure], [0.5, 0.5]).prob(gene), 3)
    0.7
    """
    pairs = [(one, w) for one, w in zip(beliefs, weights, strict=True) if w > 0]
    return Cases([one for one, _ in pairs], [math.log(w) - one.log_z for one, w in pairs])
