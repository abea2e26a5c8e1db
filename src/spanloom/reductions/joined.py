"""Joined labels (Alex, Haddow & Grover 2007): one flat tagger over the concatenated tags of all layers.

Holds any contiguous mentions whose joined labels (see :mod:`spanloom.schemes.joined`) all occur in the training data: a
label that was never seen cannot be found, and ``reachable`` says which mentions of new data remain. One tagger learns
and works, but it has as many labels as there are combinations; flat taggers take O(labels²) time.

Rare labels: with ``rare=k``, a label that occurs less than ``k`` times in the training data backs off to the label
without its outermost mention. That mention is left out wherever it has such a label, in all of its tokens, until every
label that is left is frequent; what was left out is in ``lost_``, and counts in ``ceiling_``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from spanloom.base.errors import ModelFileError
from spanloom.base.parameters import check_count
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.learning import Iteration, Listener
from spanloom.reductions.base import Gold, Maker, Reduction
from spanloom.schemes.joined import is_outside, join_labels, runs, split_labels, unrun
from spanloom.schemes.layers import layers_of


class Joined(Reduction):
    """One flat tagger over joined labels.

    Parameters
    ----------
    rare
        Joined labels that occur less often than this back off; 1 keeps all.
    """

    name = "joined"
    holds = "contiguous mentions, nested, crossing or with several labels on the same tokens"
    fixes = frozenset({"scheme"})

    def __init__(self, rare: int = 1, make: Maker | None = None) -> None:
        super().__init__(make)
        check_count("rare", rare)
        self.rare = rare
        self.labels: frozenset[str] = frozenset()

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        broken = ((i, f"has {len(m.parts)} parts") for i, m in enumerate(mentions) if m.discontinuous)
        return next(broken, None)

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        return sorted(m for m in mentions if not m.discontinuous), sorted(m for m in mentions if m.discontinuous)

    def narrow(self, gold: Gold, lengths: Sequence[int]) -> tuple[Gold, list[tuple[int, Mention]]]:
        depth = _depth(gold)
        kept = [list(mentions) for mentions in gold]
        lost: list[tuple[int, Mention]] = []
        while True:
            joined = [join_labels(m, n, depth) for m, n in zip(kept, lengths, strict=True)]
            counts = Counter(label for labels in joined for label in labels)
            gone = [
                (i, mention)
                for i, labels in enumerate(joined)
                for mention in _outermost_at([t for t, y in enumerate(labels) if counts[y] < self.rare], kept[i])
            ]
            if not gone:
                return kept, lost
            lost += gone
            for i, mention in gone:
                kept[i].remove(mention)

    def learn(self, sentences: Sequence[tuple[Sequence[Mention], int]]) -> None:
        super().learn(sentences)
        self.depth = _depth([mentions for mentions, _ in sentences])
        self.labels = frozenset(y for m, n in sentences for y in join_labels(m, n, self.depth) if not is_outside(y))

    def reachable(self, mentions: Sequence[Mention], n: int) -> list[Mention]:
        """Return those of a new sentence's mentions that it could find: the others need labels never seen.

        Where a label was never seen, the outermost mention with it is given up, as with rare labels.
        """
        kept = [m for m in mentions if not m.discontinuous]
        while True:
            layers = layers_of(kept)
            if len(layers) > self.depth:
                gone = layers[-1]
            else:
                labels = join_labels(kept, n, self.depth)
                unseen = [t for t, y in enumerate(labels) if y not in self.labels and not is_outside(y)]
                gone = _outermost_at(unseen, kept)
            if not gone:
                return sorted(kept)
            kept = [m for m in kept if m not in gone]

    def unreachable(self, mentions: Sequence[Mention], sentence: Sentence, number: int) -> list[tuple[int, str]]:
        if not self.labels:  # nothing is learned yet: everything can be
            return []
        kept = self.reachable(mentions, len(sentence))
        return [
            (i, "needs a joined label that the training data do not have")
            for i, m in enumerate(mentions)
            if m not in kept and not m.discontinuous
        ]

    def train(
        self,
        sentences: Sequence[Sentence],
        gold: Gold,
        *,
        dev: Sequence[Sentence] | None = None,
        listener: Listener | None = None,
    ) -> list[Iteration]:
        watched = None
        if dev is not None:
            watched = [s.with_mentions(self._runs(self.reachable(s.mentions, len(s)), len(s))) for s in dev]
        labelled = [self._runs(mentions, len(s)) for mentions, s in zip(gold, sentences, strict=True)]
        return self.train_part(self.make(scheme="IO"), sentences, labelled, watched, listener)

    def find(self, sentences: Sequence[Sentence]) -> Gold:
        tagged = self.parts[0].predict(sentences)
        return [self.read(s.mentions, len(s)) for s in tagged]

    def read(self, mentions: list[Mention], n: int) -> list[Mention]:
        return split_labels(unrun(mentions, n, self.depth))

    def _runs(self, mentions: Sequence[Mention], n: int) -> list[Mention]:
        return runs(join_labels(mentions, n, self.depth))

    def facts(self) -> dict[str, Any]:
        return {"layers": self.depth, "joined_labels": len(self.labels)}

    def header(self) -> dict[str, Any]:
        return {"rare": self.rare, "depth": self.depth, "labels": sorted(self.labels), **super().header()}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Joined:
        try:
            model = cls(header["rare"])
            model.depth = int(header["depth"])
            model.labels = frozenset(str(label) for label in header["labels"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"the joined labels of the model are damaged: {error}") from None
        return model


def _depth(gold: Sequence[Sequence[Mention]]) -> int:
    return max((len(layers_of(mentions)) for mentions in gold), default=0)


def _outermost_at(tokens: Sequence[int], mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions of the highest layer at each of these tokens, each once."""
    level = {m: k for k, layer in enumerate(layers_of(mentions)) for m in layer}
    over = ([m for m in mentions if m.start <= t < m.end] for t in tokens)
    return sorted({max(covering, key=lambda m: level[m]) for covering in over if covering})
