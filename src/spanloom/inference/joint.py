"""Several distributions that do not depend on each other: one a label, or one a layer. A set is the union of theirs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from spanloom.base.errors import ParameterError
from spanloom.corpus.mention import Mention
from spanloom.inference.best import best_tuples
from spanloom.inference.cases import Cases
from spanloom.inference.distribution import (
    MISSING,
    STRUCTURES,
    Distribution,
    Marginals,
    add_alike,
    covered,
    growing,
    in_order,
)


class Joint(Distribution):
    """The product of independent distributions over one sentence.

    Entropy and ``log_z`` are sums. If no two parts can find the same mention, sets are told from the sets of the parts,
    and everything is exact. Otherwise a mention is there if any part finds it, P = 1 − Π (1 − P_part), and ``k_best``
    adds up the combinations that make the same set; it goes through the best ``STRUCTURES`` of them if need be, after
    which probabilities of sets are lower bounds.

    Parameters
    ----------
    parts
        One a component.
    names
        What to call the parts in ``marginals``; by default their labels, joined by commas.
    """

    def __init__(self, parts: Sequence[Distribution], names: Sequence[str] | None = None) -> None:
        self.parts = list(parts)
        self.names = list(names) if names is not None else [",".join(sorted(p.labels)) for p in self.parts]
        self.exact = all(part.exact for part in self.parts)
        self.log_z = math.fsum(part.log_z for part in self.parts)
        self.labels = frozenset().union(*(part.labels for part in self.parts))
        self._shared = sum(len(part.labels) for part in self.parts) > len(self.labels)

    def prob(self, mention: Mention) -> float:
        owners = [part for part in self.parts if mention.label in part.labels]
        if len(owners) == 1:
            return owners[0].prob(mention)
        return 0.0 - math.expm1(sum(_log1m(part.prob(mention)) for part in owners))  # never −0.0

    def _above(self, above: float) -> Iterator[Mention]:
        if not self._shared:
            for part in self.parts:
                yield from part._above(above)
            return
        # If P = 1 − Π (1 − P_i) reaches `above`, then some P_i reaches 1 − (1 − above)^(1/m).
        least = -math.expm1(_log1m(above) / len(self.parts)) if above < 1 else 1.0
        yield from self._probable({m for part in self.parts for m in part._above(least * (1 - MISSING))}, above)

    def marginals(self) -> Marginals:
        """Return those of the parts side by side, as ``part:column``; the parts must have the same sites."""
        each = [part.marginals() for part in self.parts]
        if any(m.sites != each[0].sites for m in each):
            raise ParameterError("the parts have different sites; ask each of Joint.parts for its marginals")
        names = tuple(f"{name}:{column}" for name, m in zip(self.names, each, strict=True) for column in m.names)
        if not each:
            return Marginals((), [], np.zeros((0, 0)))
        return Marginals(names, each[0].sites, np.hstack([m.probs for m in each]))

    def _best(self, k: int) -> list[tuple[float, list[Mention]]]:
        if not self._shared:
            return self._combinations(k, k)
        best: list[tuple[float, list[Mention]]] = []
        for size, _ in growing(max(16, 2 * k), max(2 * k, STRUCTURES)):
            found = self._combinations(size, size)
            best = add_alike(found, k)
            if len(found) < size or (len(best) == k and covered(found) >= 1 - MISSING):
                break
        return best

    def _combinations(self, k: int, each: int) -> list[tuple[float, list[Mention]]]:
        """The best combinations of the sets of the parts: no more than the ``k`` best of a part can be among them."""
        lists = [part._best(each) for part in self.parts]
        found = []
        for log_prob, ranks in best_tuples([[p for p, _ in one] for one in lists]):
            united = {m for one, rank in zip(lists, ranks, strict=True) for m in one[rank][1]}
            found.append((log_prob, in_order(united)))
            if len(found) == k:
                break
        return found

    def sample(self, n: int, seed: int) -> list[list[Mention]]:
        # A seed of its own for each part: parts of the same shape must not draw alike.
        seeds = np.random.SeedSequence(seed).generate_state(max(len(self.parts), 1), np.uint64).tolist()
        drawn = [part.sample(n, own) for part, own in zip(self.parts, seeds, strict=False)]
        return [in_order({m for sets in drawn for m in sets[i]}) for i in range(n)]

    def entropy(self) -> float:
        return math.fsum(part.entropy() for part in self.parts)

    def _given(self, mention: Mention, must: bool) -> Distribution | None:
        owners = [i for i, part in enumerate(self.parts) if mention.label in part.labels]
        if not must:
            return self._without(mention, owners)
        # Disjoint cases: part i is the first that finds it.
        cases: list[Distribution] = []
        for rank, i in enumerate(owners):
            given = self.parts[i]._given(mention, True)
            before = self._without(mention, owners[:rank])
            if given is not None and before is not None:
                cases.append(Joint([*before.parts[:i], given, *before.parts[i + 1 :]], self.names))
            if before is None:
                break
        return None if not cases else cases[0] if len(cases) == 1 else Cases(cases)

    def _without(self, mention: Mention, places: Sequence[int]) -> Joint | None:
        parts = list(self.parts)
        for i in places:
            given = parts[i]._given(mention, False)
            if given is None:
                return None
            parts[i] = given
        return Joint(parts, self.names)


def _log1m(p: float) -> float:
    return math.log1p(-p) if p < 1 else -math.inf
