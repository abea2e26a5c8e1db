"""Listed structures, for readings that no dynamic program follows, such as that of BIOHD over the whole sentence.

The best structures are listed until they have all but ``MISSING`` of the probability, or until there are ``STRUCTURES``
of them (fewer in very long sentences). In the second case ``exact`` is False, and probabilities are lower bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from spanloom._native import Trellis as NativeTrellis
from spanloom.base.arrays import Floats
from spanloom.corpus.mention import Mention
from spanloom.inference.distribution import (
    MISSING,
    Distribution,
    Marginals,
    add_alike,
    growing,
    in_order,
    most_structures,
)


class Enumeration(Distribution):
    """The best structures of a sentence, one by one.

    Parameters
    ----------
    log_probs
        Of the listed structures, best first.
    columns
        ``[structure, site]``.
    sets
        What each is read as.
    names
        Of the columns.
    log_z
        Of all structures.
    missing
        The probability of what is not listed.
    labels
        Of the mentions that can be.
    """

    def __init__(
        self,
        log_probs: Floats,
        columns: npt.NDArray[np.int32],
        sets: Sequence[Sequence[Mention]],
        names: Sequence[str],
        log_z: float,
        missing: float,
        labels: frozenset[str],
    ) -> None:
        self.log_probs, self.columns, self.sets, self.names = log_probs, columns, list(sets), tuple(names)
        self.log_z, self.missing, self.labels = log_z, missing, labels
        self.exact = missing <= MISSING
        self._probs = np.exp(log_probs)

    @classmethod
    def of(
        cls,
        trellis: NativeTrellis,
        names: Sequence[str],
        decode: Callable[[npt.NDArray[np.int32]], list[Mention]],
        labels: frozenset[str],
    ) -> Enumeration:
        """List the best paths of a trellis and read each."""
        for size, last in growing(16, most_structures(trellis.sites)):
            log_probs, flat = trellis.k_best(size)
            listed = len(log_probs) < size
            missing = 0.0 if listed else max(0.0, 1.0 - math.fsum(np.exp(log_probs).tolist()))
            if last or missing <= MISSING:
                break
        columns = flat.reshape(len(log_probs), trellis.sites)
        return cls(log_probs, columns, [decode(row) for row in columns], names, trellis.log_z, missing, labels)

    def prob(self, mention: Mention) -> float:
        return min(1.0, math.fsum(p for p, own in zip(self._probs.tolist(), self.sets, strict=True) if mention in own))

    def _above(self, above: float) -> Iterator[Mention]:
        sums: dict[Mention, list[float]] = {}
        for p, own in zip(self._probs.tolist(), self.sets, strict=True):
            for mention in own:
                sums.setdefault(mention, []).append(p)
        for mention, probs in sums.items():
            if (p := min(1.0, math.fsum(probs))) >= above:
                yield Mention(mention.label, mention.parts, p)

    def marginals(self) -> Marginals:
        sites = self.columns.shape[1]
        probs = np.zeros((sites, len(self.names)))
        np.add.at(probs, (np.arange(sites)[None, :], self.columns), self._probs[:, None])
        return Marginals(self.names, [((t, t + 1),) for t in range(sites)], probs)

    def _best(self, k: int) -> list[tuple[float, list[Mention]]]:
        return add_alike(zip(self.log_probs.tolist(), self.sets, strict=True), k)

    def sample(self, n: int, seed: int) -> list[list[Mention]]:
        random = np.random.default_rng(seed)
        drawn = random.choice(len(self.sets), size=n, p=self._probs / self._probs.sum())
        return [in_order(self.sets[i]) for i in drawn.tolist()]

    def entropy(self) -> float:
        return float(-np.sum(self._probs * self.log_probs))

    def _why(self, mention: Mention) -> str:
        if mention.label in self.labels and self.missing > 0:
            return f"none of the {len(self.sets)} structures that are listed has it beside what else must be"
        return super()._why(mention)

    def _given(self, mention: Mention, must: bool) -> Enumeration | None:
        kept = np.array([(mention in own) == must for own in self.sets], np.bool_)
        if not kept.any():
            return None
        log_probs = self.log_probs[kept]
        mass = float(np.logaddexp.reduce(log_probs))
        if mass == -math.inf:
            return None
        return Enumeration(
            log_probs - mass,
            self.columns[kept],
            [own for own, keep in zip(self.sets, kept.tolist(), strict=True) if keep],
            self.names,
            self.log_z + mass,
            self.missing and self.missing / (math.exp(mass) + self.missing),
            self.labels,
        )
