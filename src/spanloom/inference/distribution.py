"""What a model believes of one sentence."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from spanloom.base.arrays import Floats
from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_count
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention, Parts, reading_order

SHOWN = 10
"""So many of the best mention sets are shown in notebooks."""
STRUCTURES = 4096
"""At most so many structures are listed where sets cannot be told from structures."""
MISSING = 1e-9
"""Probabilities are told apart down to this: structures that have all but so much of it count as all of them.

Sums of thousands of exponentials of log scores come no nearer to 1 than about this.
"""
CELLS = 500_000
"""At most so many cells are listed there, over all structures: a long sentence has fewer of them."""


def most_structures(sites: int) -> int:
    """Return how many structures of a sentence are listed at most."""
    return min(STRUCTURES, max(32, CELLS // max(sites, 1)))


def growing(first: int, most: int = STRUCTURES) -> Iterator[tuple[int, bool]]:
    """Yield how many of the best structures to list, four times as many each time, and whether there will be no more.

    Examples
    --------
    >>> list(growing(16, 100))
    [(16, False), (64, False), (100, True)]
    """
    size = min(first, most)
    while size < most:
        yield size, False
        size = min(4 * size, most)
    yield size, True


@dataclass(frozen=True, slots=True)
class Marginals:
    """The probability of every cell.

    Attributes
    ----------
    names
        Of the columns.
    sites
        What each site covers: a token ``((t, t + 1),)``, a gap ``((g, g),)``, or the parts of a candidate.
    probs
        ``[site, column]``.
    """

    names: tuple[str, ...]
    sites: list[Parts]
    probs: Floats


class Distribution(ABC):
    """A distribution over the structures of one sentence, and over the mention sets that they are read as.

    Attributes
    ----------
    exact
        Whether probabilities are the model's own. False: they are bounds or estimates; ``docs/probabilities.md`` says
        which.
    log_z
        The log of the sum of exp(score) over structures.
    labels
        Of the mentions that can be.
    sentence
        What it is about, where that is known; notebooks draw it.
    """

    exact: bool = True
    log_z: float
    labels: frozenset[str]
    sentence: Sentence | None = None

    @abstractmethod
    def prob(self, mention: Mention) -> float:
        """Return the probability that the mention is in the set; 0.0 if it cannot be."""

    @abstractmethod
    def _above(self, above: float) -> Iterable[Mention]:
        """Yield every mention with a probability of at least ``above``, with ``prob`` set."""

    @abstractmethod
    def marginals(self) -> Marginals:
        """Return the probability of every cell."""

    @abstractmethod
    def _best(self, k: int) -> list[tuple[float, list[Mention]]]:
        """Return the log-probabilities of the ``k`` most probable mention sets, best first, and the sets."""

    @abstractmethod
    def sample(self, n: int, seed: int) -> list[list[Mention]]:
        """Draw ``n`` mention sets; the same for the same seed."""

    @abstractmethod
    def entropy(self) -> float:
        """Return the entropy of the distribution over structures, in nats."""

    @abstractmethod
    def _given(self, mention: Mention, must: bool) -> Distribution | None:
        """Return the distribution given that a mention is in the set, or is not; None if that cannot be."""

    def _probable(self, candidates: Iterable[Mention], above: float) -> Iterator[Mention]:
        """Yield the candidates with a probability of at least ``above``, with ``prob`` set."""
        for mention in candidates:
            if (p := self.prob(mention)) >= above:
                yield Mention(mention.label, mention.parts, p, mention.attributes)

    def mentions(self, above: float = 0.5) -> list[Mention]:
        """Return every mention with a probability of at least ``above``, in reading order.

        These are not always the mentions of the most probable set, and need not fit each other below 0.5.
        """
        if not above > 0:
            raise ParameterError(f"The 'above' parameter must be a number above 0. Got {above!r} instead.")
        return sorted(self._above(above), key=reading_order)

    def k_best(self, k: int) -> list[tuple[float, list[Mention]]]:
        """Return the ``k`` most probable mention sets with their probabilities, best first; fewer if there are fewer.

        The mentions of a set are in reading order, without probabilities of their own.
        """
        check_count("k", k)
        return [(math.exp(min(log_prob, 0.0)), found) for log_prob, found in self._best(k)]

    def clamp(self, must: Iterable[Mention] = (), never: Iterable[Mention] = ()) -> Distribution:
        """Return the distribution given that some mentions are in the set and others are not.

        Its ``log_z`` sums the structures that are left, under the same scores: differences of ``log_z`` are log-odds.
        Raises ``ParameterError`` if no structure is left.
        """
        now: Distribution = self
        for mention, wanted in [*((m, True) for m in must), *((m, False) for m in never)]:
            given = now._given(mention, wanted)
            if given is None:
                raise ParameterError(
                    f"the mention {mention.label!r} {mention.parts} {'must' if wanted else 'must not'} be there, but "
                    f"{self._why(mention) if wanted else 'every mention set that is left has it'}; leave it out"
                )
            now = given
            now.sentence = self.sentence
        return now

    def _repr_html_(self) -> str | None:
        """Show the best mention sets with a slider in notebooks, and the probable mentions."""
        if self.sentence is None:
            return None
        from spanloom.drawing.choices import best_html

        note = "" if self.exact else "Probabilities are bounds or estimates, see docs/probabilities.md."
        return best_html(self.sentence, self.k_best(SHOWN), self.mentions(above=0.01), note)

    def _why(self, mention: Mention) -> str:
        if mention.label not in self.labels:
            return f"the model knows the labels {', '.join(sorted(self.labels)) or 'of no mention'} only"
        if self.prob(mention) == 0.0:
            return "no structure of this sentence has it"
        return "it cannot stand beside the mentions before it"


def in_order(mentions: Iterable[Mention]) -> list[Mention]:
    """Return mentions in reading order."""
    return sorted(mentions, key=reading_order)


def add_alike(pairs: Iterable[tuple[float, Sequence[Mention]]], k: int) -> list[tuple[float, list[Mention]]]:
    """Add up the probabilities of structures that are read as the same set; return the ``k`` best as logarithms.

    Examples
    --------
    >>> [(round(math.exp(p), 3), found) for p, found in add_alike([(math.log(0.5), []), (math.log(0.25), [])], 1)]
    [(0.75, [])]
    """
    sums: dict[tuple[Mention, ...], float] = {}
    for log_prob, found in pairs:
        key = tuple(in_order(found))
        sums[key] = float(np.logaddexp(sums[key], log_prob)) if key in sums else log_prob
    return sorted(((p, list(key)) for key, p in sums.items()), key=lambda pair: -pair[0])[:k]


def covered(pairs: Iterable[tuple[float, Sequence[Mention]]]) -> float:
    """Return the sum of probabilities that are given as logarithms."""
    return math.fsum(math.exp(log_prob) for log_prob, _ in pairs)
