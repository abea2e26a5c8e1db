"""A distribution whose mention sets are read as other ones: joined labels as the mentions of all layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np

from spanloom.base.errors import ParameterError
from spanloom.corpus.mention import Mention
from spanloom.inference.distribution import MISSING, Distribution, Marginals, add_alike, covered, growing, in_order


class Reread(Distribution):
    """The sets of another distribution, each read as another set.

    The best sets are listed until they have all but ``MISSING`` of the probability, or until there are ``STRUCTURES``.
    In the second case ``exact`` is False, and probabilities are lower bounds.

    Parameters
    ----------
    base
        The distribution over sets as they are found.
    read
        What a set stands for.
    labels
        Of the mentions that can be.
    """

    def __init__(
        self, base: Distribution, read: Callable[[Sequence[Mention]], list[Mention]], labels: frozenset[str]
    ) -> None:
        self.base, self._read, self.labels, self.log_z = base, read, labels, base.log_z

    @cached_property
    def _listed(self) -> list[tuple[float, list[Mention]]]:
        """Log-probabilities and what the sets are read as."""
        found: list[tuple[float, list[Mention]]] = []
        for size, _ in growing(16):
            found = self.base._best(size)
            if len(found) < size or 1.0 - covered(found) <= MISSING:
                break
        return [(log_prob, self._read(mentions)) for log_prob, mentions in found]

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return self.base.exact and self.missing <= MISSING

    def prob(self, mention: Mention) -> float:
        return min(1.0, math.fsum(math.exp(p) for p, own in self._listed if mention in own))

    def _above(self, above: float) -> Iterator[Mention]:
        return self._probable(dict.fromkeys(m for _, own in self._listed for m in own), above)

    def marginals(self) -> Marginals:
        return self.base.marginals()

    def _best(self, k: int) -> list[tuple[float, list[Mention]]]:
        return add_alike(self._listed, k)

    def sample(self, n: int, seed: int) -> list[list[Mention]]:
        return [in_order(self._read(found)) for found in self.base.sample(n, seed)]

    def entropy(self) -> float:
        return self.base.entropy()

    def _given(self, mention: Mention, must: bool) -> Distribution | None:
        kept = [(p, own) for p, own in self._listed if (mention in own) == must]
        if not kept:
            return None
        mass = math.log(covered(kept))
        return _Listed(self, [(p - mass, own) for p, own in kept], mass)

    @property
    def missing(self) -> float:
        """The probability of what is not listed."""
        return max(0.0, 1.0 - covered(self._listed))


class _Listed(Reread):
    """Some of the listed sets, as clamping leaves them."""

    def __init__(self, whole: Reread, listed: list[tuple[float, list[Mention]]], mass: float) -> None:
        super().__init__(whole.base, whole._read, whole.labels)
        self.log_z = whole.log_z + mass
        self.__dict__["_listed"] = listed
        self._missing = whole.missing / (math.exp(mass) + whole.missing) if whole.missing > MISSING else 0.0

    @property
    def missing(self) -> float:
        return self._missing

    def marginals(self) -> Marginals:
        raise ParameterError("the cells of joined labels have no marginals given mentions; ask for prob of mentions")

    def sample(self, n: int, seed: int) -> list[list[Mention]]:
        probs = np.exp([p for p, _ in self._listed])
        drawn = np.random.default_rng(seed).choice(len(probs), size=n, p=probs / probs.sum())
        return [in_order(self._listed[i][1]) for i in drawn.tolist()]

    def entropy(self) -> float:
        return -math.fsum(math.exp(p) * p for p, _ in self._listed)
