"""Which gold mentions were found and which predicted ones are right: every exact table is a choice among these."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np

from spanloom.corpus import Mention
from spanloom.corpus.kinds import MENTION_KINDS, Flags, Ints, Kinds, kinds
from spanloom.evaluation.score import Score, distinct

Group = TypeVar("Group", bound=Hashable)

EXTRA_KINDS = ("not_flat", "overlapping_discontinuous")
"""Further kinds of these tables: overlapping or discontinuous, and both at once (McDonald et al., table 2)."""


class Side:
    """The distinct mentions of one side, sentence after sentence, and whether the other side has them too.

    Parameters
    ----------
    lists
        The mentions of each sentence, each once.
    right
        For every mention, in order: found (gold side) or correct (predicted side).
    """

    def __init__(self, lists: Sequence[Sequence[Mention]], right: Iterable[bool]) -> None:
        self.lists = lists
        self.mentions = [m for mentions in lists for m in mentions]
        self.right: Flags = np.fromiter(right, np.bool_, len(self.mentions))

    def __len__(self) -> int:
        return len(self.mentions)

    @cached_property
    def sentence(self) -> Ints:
        """The index of each mention's sentence."""
        return np.repeat(np.arange(len(self.lists)), [len(mentions) for mentions in self.lists]).astype(np.int64)

    @cached_property
    def kinds(self) -> Kinds:
        """The kinds of the mentions among the mentions of their own side."""
        return kinds(self.lists)

    @cached_property
    def length(self) -> Ints:
        """The number of tokens of each mention."""
        hulls = (
            p[0][1] - p[0][0] if len(p) == 1 else sum(e - s for s, e in p) for p in (m.parts for m in self.mentions)
        )
        return np.fromiter(hulls, np.int64, len(self.mentions))

    def of_kind(self, kind: str) -> Flags:
        """Return for each mention whether it is of a kind of ``MENTION_KINDS`` or ``EXTRA_KINDS``."""
        k = self.kinds
        if kind == "not_flat":
            return ~k.flat
        if kind == "overlapping_discontinuous":
            return k.overlapping & k.discontinuous
        return k[kind]


class Outcomes:
    """Both sides of a comparison.

    Examples
    --------
    >>> a, b = Mention("protein", ((0, 2),)), Mention("DNA", ((0, 4),))
    >>> outcomes = Outcomes([[a, b]], [[b, b]])
    >>> outcomes.gold.right.tolist(), outcomes.predicted.right.tolist()
    ([False, True], [True])
    """

    def __init__(self, gold: Sequence[Sequence[Mention]], predicted: Sequence[Sequence[Mention]]) -> None:
        gold_lists: list[Sequence[Mention]] = []
        predicted_lists: list[Sequence[Mention]] = []
        found: list[bool] = []
        correct: list[bool] = []
        for g, p in zip(gold, predicted, strict=True):
            # Keys are tuples, which hash and compare without calling back into Python.
            gold_keys, predicted_keys = [(m.label, m.parts) for m in g], [(m.label, m.parts) for m in p]
            gs, ps = set(gold_keys), set(predicted_keys)
            if len(gs) < len(gold_keys):
                g, gold_keys = distinct(g), list(dict.fromkeys(gold_keys))
            if len(ps) < len(predicted_keys):
                p, predicted_keys = distinct(p), list(dict.fromkeys(predicted_keys))
            gold_lists.append(g)
            predicted_lists.append(p)
            found.extend(map(ps.__contains__, gold_keys))
            correct.extend(map(gs.__contains__, predicted_keys))
        self.gold = Side(gold_lists, found)
        self.predicted = Side(predicted_lists, correct)

    def score(self, gold: Flags, predicted: Flags) -> Score:
        """Score the chosen mentions of both sides."""
        return Score(
            gold=int(gold.sum()),
            predicted=int(predicted.sum()),
            found=int((gold & self.gold.right).sum()),
            correct=int((predicted & self.predicted.right).sum()),
        )

    def by(self, value: Callable[[Side], Iterable[int] | Ints]) -> dict[int, Score]:
        """Score apart the mentions with each value of a property; values in ascending order.

        Parameters
        ----------
        value
            Gives one small whole number (0 or more) for each mention of a side.
        """
        gold, predicted = (np.asarray(value(side), dtype=np.int64) for side in (self.gold, self.predicted))
        k = int(max(gold.max(initial=-1), predicted.max(initial=-1))) + 1
        table = [  # table[which count][value]
            np.bincount(chosen, minlength=k).tolist()
            for chosen in (gold, predicted, gold[self.gold.right], predicted[self.predicted.right])
        ]
        return {i: Score(*counts) for i, counts in enumerate(zip(*table, strict=True)) if counts[0] or counts[1]}

    def by_label(self) -> dict[str, Score]:
        """Score each label apart; labels in alphabetical order."""
        ids: dict[str, int] = {}
        scores = self.by(lambda side: [ids.setdefault(m.label, len(ids)) for m in side.mentions])
        return {label: scores[ids[label]] for label in sorted(ids)}

    def by_kind(self) -> dict[str, Score]:
        """Score mentions of each kind: recall over gold mentions of the kind, precision over predicted ones."""
        return {
            kind: self.score(self.gold.of_kind(kind), self.predicted.of_kind(kind))
            for kind in (*MENTION_KINDS, *EXTRA_KINDS)
        }

    def by_sentence_kind(self) -> dict[str, Score]:
        """Score all mentions of the sentences whose gold has a mention of each kind.

        ``flat`` are the sentences whose every gold mention is flat (also those without any), and ``without_overlap``
        those with no overlapping gold mentions (Muis & Lu's table 4 has ``overlapping`` against ``without_overlap``).
        """
        n = len(self.gold.lists)
        has = {kind: np.zeros(n, np.bool_) for kind in (*MENTION_KINDS, *EXTRA_KINDS)}
        for kind, flags in has.items():
            flags[self.gold.sentence[self.gold.of_kind(kind)]] = True
        has["flat"] = ~has["not_flat"]
        has["without_overlap"] = ~has["overlapping"]
        return {kind: self.by_sentences(flags) for kind, flags in has.items()}

    def by_sentences(self, chosen: Flags) -> Score:
        """Score all mentions of the chosen sentences."""
        return self.score(chosen[self.gold.sentence], chosen[self.predicted.sentence])

    def by_group(self, groups: Sequence[Group]) -> dict[Group, Score]:
        """Score the sentences of each group; ``groups[i]`` names the group of sentence ``i``."""
        names = list(dict.fromkeys(groups))
        place = {name: i for i, name in enumerate(names)}
        index = np.fromiter((place[g] for g in groups), np.int64, len(groups))
        scores = self.by(lambda side: index[side.sentence])
        return {name: scores.get(i, Score(0, 0, 0, 0)) for i, name in enumerate(names)}
