"""Cases that exclude each other, each with a distribution: what is left after clamping what several parts can find."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from spanloom.base.errors import ParameterError
from spanloom.corpus.mention import Mention
from spanloom.inference.distribution import MISSING, STRUCTURES, Distribution, Marginals, add_alike, covered, growing


class Mixture(Distribution):
    """Disjoint sets of structures of one sentence under the same scores; a case weighs exp(log_z)."""

    def __init__(self, cases: Sequence[Distribution]) -> None:
        if not cases:
            raise ParameterError("a mixture needs a case")
        self.cases = list(cases)
        self.exact = all(case.exact for case in self.cases)
        self.log_z = float(np.logaddexp.reduce([case.log_z for case in self.cases]))
        self.labels = frozenset().union(*(case.labels for case in self.cases))
        self._weights = [math.exp(case.log_z - self.log_z) for case in self.cases]

    def prob(self, mention: Mention) -> float:
        return min(1.0, sum(w * case.prob(mention) for w, case in zip(self._weights, self.cases, strict=True)))

    def _above(self, above: float) -> Iterator[Mention]:
        # A mean reaches `above` only if one of the cases does.
        return self._probable({m for case in self.cases for m in case._above(above * (1 - MISSING))}, above)

    def marginals(self) -> Marginals:
        each = [case.marginals() for case in self.cases]
        mean = np.sum([w * m.probs for w, m in zip(self._weights, each, strict=True)], axis=0)
        return Marginals(each[0].names, each[0].sites, mean)

    def _best(self, k: int) -> list[tuple[float, list[Mention]]]:
        best: list[tuple[float, list[Mention]]] = []
        for size, _ in growing(max(16, 2 * k), max(2 * k, STRUCTURES)):
            lists = [case._best(size) for case in self.cases]
            found = [
                (log_prob + case.log_z - self.log_z, mentions)
                for case, own in zip(self.cases, lists, strict=True)
                for log_prob, mentions in own
            ]
            best = add_alike(found, k)
            if all(len(own) < size for own in lists) or (len(best) == k and covered(found) >= 1 - MISSING):
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
        left = [given for case in self.cases if (given := case._given(mention, must)) is not None]
        return None if not left else left[0] if len(left) == 1 else Mixture(left)
