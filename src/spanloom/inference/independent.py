"""Independent decisions: every candidate is a mention or not, whatever becomes of the others.

P(set) = Π_in σ(s) Π_out (1 − σ(s)),    log Z = Σ log(1 + exp(s)),    s the log-odds of a candidate
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from spanloom.base.arrays import Floats
from spanloom.base.errors import ParameterError
from spanloom.corpus.mention import Mention
from spanloom.inference.best import cheapest_subsets
from spanloom.inference.distribution import Distribution, Marginals, in_order


class Independent(Distribution):
    """Decisions that do not depend on each other.

    Parameters
    ----------
    candidates
        Distinct mentions.
    scores
        The log-odds of each: −inf for what cannot be, +inf for what must be.
    offset
        The score of what is settled: what clamping has fixed.
    exact
        False if the log-odds are not the model's own, but calibrated.

    Examples
    --------
    >>> both = Independent([Mention("DNA", ((0, 2),)), Mention("DNA", ((1, 2),))], [0.0, -1.0])
    >>> round(both.prob(Mention("DNA", ((1, 2),))), 3)
    0.269
    >>> [(round(p, 3), [m.parts for m in found]) for p, found in both.k_best(2)]
    [(0.366, []), (0.366, [((0, 2),)])]
    """

    def __init__(
        self,
        candidates: Sequence[Mention],
        scores: Sequence[float] | Floats,
        offset: float = 0.0,
        *,
        exact: bool = True,
    ) -> None:
        self.candidates = candidates
        self.scores = np.asarray(scores, np.float64)
        self.offset, self.exact = offset, exact
        if self.scores.shape != (len(candidates),) or np.isnan(self.scores).any():
            raise ParameterError(
                f"every candidate needs a log-odds that is a number; got {self.scores.shape} for {len(candidates)}"
            )
        self.labels = frozenset(m.label for m in candidates)
        small = np.exp(-np.abs(self.scores))  # never overflows
        self._probs = np.where(self.scores >= 0, 1.0, small) / (1.0 + small)
        free = np.isfinite(self.scores)
        self.log_z = offset + float(np.sum(np.maximum(self.scores[free], 0.0) + np.log1p(small[free])))

    @cached_property
    def _index(self) -> dict[Mention, int]:
        return {m: i for i, m in enumerate(self.candidates)}

    def prob(self, mention: Mention) -> float:
        i = self._index.get(mention)
        return 0.0 if i is None else float(self._probs[i])

    def _above(self, above: float) -> Iterator[Mention]:
        for i in np.flatnonzero(self._probs >= above).tolist():
            m = self.candidates[i]
            yield Mention(m.label, m.parts, float(self._probs[i]), m.attributes)

    def marginals(self) -> Marginals:
        """Return the probability of every distinct candidate with every label; 0 where there is no candidate."""
        names = tuple(sorted(self.labels))
        sites = {parts: i for i, parts in enumerate(dict.fromkeys(m.parts for m in self.candidates))}
        probs = np.zeros((len(sites), len(names)))
        column = {name: y for y, name in enumerate(names)}
        for m, p in zip(self.candidates, self._probs.tolist(), strict=True):
            probs[sites[m.parts], column[m.label]] = p
        return Marginals(names, list(sites), probs)

    def _best(self, k: int) -> list[tuple[float, list[Mention]]]:
        free = np.flatnonzero(np.isfinite(self.scores))
        costs = np.abs(self.scores[free])
        order = np.argsort(costs, kind="stable")[: max(k, 1)]  # no better set flips others
        chosen = self.scores > 0
        top = -float(np.sum(np.log1p(np.exp(-costs))))
        found: list[tuple[float, list[Mention]]] = []
        for cost, flipped in cheapest_subsets(costs[order].tolist()):
            own = chosen.copy()
            own[free[order[flipped]]] ^= True
            found.append((top - cost, in_order(self.candidates[i] for i in np.flatnonzero(own).tolist())))
            if len(found) == k:
                break
        return found

    def sample(self, n: int, seed: int) -> list[list[Mention]]:
        random = np.random.default_rng(seed)
        drawn = (np.flatnonzero(random.random(len(self._probs)) < self._probs).tolist() for _ in range(n))
        return [in_order(self.candidates[i] for i in chosen) for chosen in drawn]

    def entropy(self) -> float:
        # H = log(1 + e^-|s|) + (1 − P(the likelier)) |s|
        costs = np.abs(self.scores[np.isfinite(self.scores)])
        small = np.exp(-costs)
        return float(np.sum(np.log1p(small) + costs * small / (1.0 + small)))

    def _given(self, mention: Mention, must: bool) -> Independent | None:
        i = self._index.get(mention)
        if i is None:
            return None if must else self
        score = float(self.scores[i])
        wanted = np.inf if must else -np.inf
        if score == -wanted:
            return None
        if score == wanted:
            return self
        scores = self.scores.copy()
        scores[i] = wanted
        return Independent(self.candidates, scores, self.offset + (score if must else 0.0), exact=self.exact)
