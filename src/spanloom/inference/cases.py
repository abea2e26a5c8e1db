"""Cases, each with a distribution: what is left after clamping what several parts can find, or what models believe."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from spanloom.base.errors import ParameterError
from spanloom.corpus.mention import Mention
from spanloom.inference.distribution import MISSING, STRUCTURES, Distribution, Marginals, add_alike, growing


class Cases(Distribution):
    """One of several cases, and a structure of that case.

    Probabilities of mentions are means. ``k_best`` adds up what the cases have of a set; it goes through the best
    ``STRUCTURES`` of each if need be, after which probabilities of sets are lower bounds. Entropy is that of case and
    structure.

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
        best: list[tuple[float, list[Mention]]] = []
        for size, _ in growing(max(16, 2 * k), max(2 * k, STRUCTURES)):
            lists = [case._best(size) for case in self.cases]
            pairs = [*zip(self._weights, lists, strict=True)]
            found = [(p + math.log(w), mentions) for w, own in pairs if w > 0 for p, mentions in own]
            best = add_alike(found, k)
            # What a set that is not listed can have: what the last of each list has, unless the list is whole.
            if math.fsum(w * math.exp(own[-1][0]) for w, own in pairs if len(own) == size) <= MISSING:
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
