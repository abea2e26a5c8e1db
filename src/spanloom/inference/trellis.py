"""Chains: one column at every site, and a reading of the columns as mentions.

The probability of a mention is that of all column sequences whose reading holds it. It is exact: the native dynamic
program turns the chain into its posterior Markov chain and follows every start through it, together with what the
reading has to remember (``native/include/spanloom/inference/readings.hpp``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from spanloom._native import ChainStructure, FlatReading
from spanloom._native import Trellis as NativeTrellis
from spanloom.base.arrays import Floats, Ints32
from spanloom.corpus.mention import Mention
from spanloom.inference.distribution import Distribution, Marginals, covered, growing, in_order, most_structures
from spanloom.inference.readings import Reading


class Trellis(Distribution):
    """The distribution of a chain over one sentence.

    Parameters
    ----------
    native
        The posterior Markov chain; see ``of``.
    reading
        How its columns are read.
    exact
        False if the scores are an approximation.
    """

    def __init__(self, native: NativeTrellis, reading: Reading, *, exact: bool = True) -> None:
        self.native, self.reading, self.exact = native, reading, exact
        self.log_z = native.log_z
        self.labels = frozenset(reading.types)
        self._number = {label: i for i, label in enumerate(reading.types)}

    @classmethod
    def of(cls, structure: ChainStructure, scores: Floats, global_scores: Floats, reading: Reading) -> Trellis:
        """Make the distribution of scores ``[site * column]`` and transition scores ``[from * to]``."""
        return cls(NativeTrellis(structure, _flat(scores), _flat(global_scores)), reading)

    def prob(self, mention: Mention) -> float:
        places = self._places([mention])
        if places is None:
            return 0.0
        return min(1.0, float(self.native.probabilities(self.reading.native, *places)[0]))

    def _above(self, above: float) -> Iterator[Mention]:
        flat, probs = self.native.mentions(self.reading.native, above)
        for (start, end, type_), p in zip(flat.reshape(-1, 3).tolist(), probs.tolist(), strict=True):
            yield Mention(self.reading.types[type_], ((start, end),), min(1.0, p))

    def marginals(self) -> Marginals:
        reading = self.reading
        columns = self.native.marginals().reshape(-1, len(reading.symbols))
        probs = np.zeros((len(columns), len(reading.names)))
        np.add.at(probs.T, reading.symbols, columns.T)
        return Marginals(reading.names, [((t, t + (not reading.gaps)),) for t in range(len(columns))], probs)

    def sample(self, n: int, seed: int) -> list[list[Mention]]:
        return self._read(self.native.sample(n, seed), n)

    def entropy(self) -> float:
        return float(self.native.entropy())

    def _best(self, k: int) -> list[tuple[float, list[Mention]]]:
        if not self.reading.unique:
            return self._best_alike(k)
        log_probs, columns = self.native.k_best(k)
        return list(zip(log_probs.tolist(), self._read(columns, len(log_probs)), strict=True))

    def _best_alike(self, k: int) -> list[tuple[float, list[Mention]]]:
        """Where several column sequences are read alike: look through the best until no other set can be better.

        The probability of a set is worked out over all its sequences. A set that was not met yet has no more than what
        is left of 1.
        """
        known: dict[tuple[Mention, ...], float] = {}
        most = max(2 * k, most_structures(self.native.sites))
        best: list[tuple[float, list[Mention]]] = []
        for size, _ in growing(max(16, 2 * k), most):
            log_probs, columns = self.native.k_best(size)
            for found in self._read(columns, len(log_probs)):
                key = tuple(found)
                if key not in known:
                    known[key] = self._set_log_prob(found)
            best = sorted(((p, list(key)) for key, p in known.items()), key=lambda pair: -pair[0])
            listed = len(log_probs) < size
            if listed or (len(best) >= k and math.exp(best[k - 1][0]) >= 1 - covered(best)):
                break
        return best[:k]

    def _set_log_prob(self, mentions: Sequence[Mention]) -> float:
        places = self._places(mentions)
        if places is None or not isinstance(self.reading.native, FlatReading):
            return -math.inf
        p = self.native.set_probability(self.reading.native, *places)
        return math.log(p) if p > 0 else -math.inf

    def _given(self, mention: Mention, must: bool) -> Trellis | None:
        places = self._places([mention])
        if places is None:
            return None if must else self
        start, end, type_ = (int(a[0]) for a in places)
        native = self.native.clamp(self.reading.native, start, end, type_, must=must)
        return None if math.isinf(native.log_z) else Trellis(native, self.reading, exact=self.exact)

    def _read(self, columns: Ints32, count: int) -> list[list[Mention]]:
        symbols = self.reading.symbols[columns].reshape(count, self.native.sites)
        return [in_order(self.reading.decode(row)) for row in symbols]

    def _places(self, mentions: Sequence[Mention]) -> tuple[Ints32, Ints32, Ints32] | None:
        """Starts, ends and numbers of labels; None if a mention is none that a chain can hold."""
        if any(m.discontinuous or m.label not in self._number or m.end > self.native.sites for m in mentions):
            return None
        rows = [(m.start, m.end, self._number[m.label]) for m in mentions]
        starts, ends, types = np.ascontiguousarray(np.array(rows, np.int32).reshape(-1, 3).T)
        return starts, ends, types


def _flat(scores: Floats) -> Floats:
    return np.ascontiguousarray(scores, np.float64).ravel()
