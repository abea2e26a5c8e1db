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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spanloom.base.arrays import Arrays
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.base.parameters import check_count
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.decisions.penalty import Penalty, by_label
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.inference import Distribution, Reread
from spanloom.inference.distribution import STRUCTURES
from spanloom.learning import Iteration
from spanloom.models.base import Mentions, Model, Task
from spanloom.models.contrast import Contrast, Pair
from spanloom.models.holding import Holder
from spanloom.models.reduction import Parts, Reduction, restore_parts, train_part
from spanloom.models.trained import Seen, Trained
from spanloom.schemes.flat import apart, first_discontinuous
from spanloom.schemes.joined import is_outside, join_labels, read_runs, runs
from spanloom.schemes.layers import layers_of


@dataclass(frozen=True)
class Joined(Reduction):
    """One flat tagger over joined labels.

    Parameters
    ----------
    base
        As in ``Reduction``. A model with a scheme gets ``IO``: joined labels have their own borders.
    rare
        Joined labels that occur less often than this back off; 1 keeps all.
    """

    rare: int = 1

    name = "joined"
    holds = "contiguous mentions, nested, crossing or with several labels on the same tokens"

    takes_partial = False

    def check(self) -> None:
        super().check()
        check_count("rare", self.rare)

    @property
    def part(self) -> Model:
        own = super().part
        return replace(own, scheme="IO") if "scheme" in own.parameters() else own  # type: ignore[call-arg]

    @property
    def penalised_by_label(self) -> bool:
        return False  # labels of the tagger are joined from several

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        return first_discontinuous(mentions)

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        kept, lost = apart(mentions)
        return sorted(kept), sorted(lost)

    def narrow(self, gold: Mentions, lengths: Sequence[int]) -> tuple[Mentions, list[tuple[int, Mention]]]:
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

    def reached(self, gold: Mentions, lengths: Sequence[int]) -> Holder:
        """Return what says which mentions can be found after training on these."""
        return _Reached(self.base, self.rare, _JoinedLabels.of(gold, lengths))

    def fit(self, task: Task) -> tuple[Trained, list[Iteration]]:
        labels = _JoinedLabels.of(task.gold, task.lengths)
        dev = None
        if task.dev is not None:
            dev = [s.with_mentions(labels.runs(labels.reachable(s.mentions, len(s)), len(s))) for s in task.dev]
        gold = [labels.runs(mentions, n) for mentions, n in zip(task.gold, task.lengths, strict=True)]
        fitted = train_part(self.part, task, 0, gold, dev, "", 1)
        types = frozenset(m.label for mentions in task.gold for m in mentions)
        return JoinedParts(self, fitted.trained, labels, types, task.features), fitted.history

    @classmethod
    def restore(cls, header: Mapping[str, Any], arrays: Arrays, extractor: FeatureExtractor) -> Trained:
        parts, types = restore_parts(header, arrays)
        try:
            (part,) = parts
            labels = _JoinedLabels(int(header["depth"]), frozenset(str(label) for label in header["labels"]))
            return JoinedParts(cls(part.model, header["rare"]), part, labels, types, extractor.features)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"the joined labels of the model are damaged: {error}") from None


@dataclass(frozen=True, slots=True)
class _JoinedLabels:
    """The joined labels of the training data, and how many layers they have."""

    depth: int
    known: frozenset[str]

    @classmethod
    def of(cls, gold: Mentions, lengths: Sequence[int]) -> _JoinedLabels:
        depth = _depth(gold)
        pairs = zip(gold, lengths, strict=True)
        return cls(depth, frozenset(y for m, n in pairs for y in join_labels(m, n, depth) if not is_outside(y)))

    def runs(self, mentions: Sequence[Mention], n: int) -> list[Mention]:
        """Return the runs of one joined label, as mentions of the flat tagger."""
        return runs(join_labels(mentions, n, self.depth))

    def reachable(self, mentions: Sequence[Mention], n: int) -> list[Mention]:
        """Return those of a new sentence's mentions that can be found: the others need labels never seen.

        Where a label was never seen, the outermost mention with it is given up, as with rare labels.
        """
        kept = [m for m in mentions if not m.discontinuous]
        while True:
            layers = layers_of(kept)
            if len(layers) > self.depth:
                gone = layers[-1]
            else:
                labels = join_labels(kept, n, self.depth)
                unseen = [t for t, y in enumerate(labels) if y not in self.known and not is_outside(y)]
                gone = _outermost_at(unseen, kept)
            if not gone:
                return sorted(kept)
            kept = [m for m in kept if m not in gone]


@dataclass(frozen=True)
class _Reached(Joined):
    """What joined labels hold once they are known."""

    labels: _JoinedLabels = _JoinedLabels(0, frozenset())

    def unreachable(self, mentions: Sequence[Mention], sentence: Sentence, number: int) -> list[tuple[int, str]]:
        kept = self.labels.reachable(mentions, len(sentence))
        return [
            (i, "needs a joined label that the training data do not have")
            for i, m in enumerate(mentions)
            if m not in kept and not m.discontinuous
        ]


class JoinedParts(Parts):
    """The trained tagger of joined labels."""

    def __init__(
        self, model: Joined, part: Trained, joined: _JoinedLabels, types: frozenset[str], features: FeatureSet
    ) -> None:
        super().__init__(model, [part], types, features)
        self.model: Joined = model
        self.joined = joined

    @property
    def holder(self) -> Holder:
        return _Reached(self.model.base, self.model.rare, self.joined)

    def reachable(self, mentions: Sequence[Mention], n: int) -> list[Mention]:
        """Return those of a new sentence's mentions that it could find."""
        return self.joined.reachable(mentions, n)

    def set_penalty(self, chosen: Penalty) -> None:
        """Use a mention penalty that is the same for all labels, since the tagger's labels are joined from these."""
        values = {chosen.get(label, 0.0) for label in self.labels}
        if len(values) > 1:
            raise ParameterError(
                f"the model {self.model.name!r} takes one mention penalty for all labels, got {chosen}"
            )
        self.parts[0].set_penalty(by_label(values.pop(), sorted(self.parts[0].labels)))

    def find(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        found = self.parts[0].find(sentences, threads)
        return [read_runs(mentions) for mentions in found]

    def distribution(self, sentence: Sentence) -> Distribution:
        """Return the tagger's distribution, its joined labels read as mentions."""
        return next(self.distributions([sentence], 1))

    def distributions(self, sentences: Sequence[Sentence], threads: int | None = None) -> Iterator[Distribution]:
        for one in self.parts[0].distributions(sentences, threads):
            yield Reread(one, read_runs, self.labels)

    @property
    def belief(self) -> str:
        return "bound"

    def probabilities(self, sentences: Sequence[Sentence], found: Mentions, threads: int | None = None) -> Mentions:
        return Trained.probabilities(self, sentences, found, threads)

    def responsible(self, sentence: Sentence, mention: Mention) -> tuple[Trained, Seen]:
        return self, list

    def contrasts(self, sentences: Sequence[Sentence], pairs: Sequence[Pair]) -> Iterator[Contrast]:
        """Compare the joined labels that mention sets stand for."""
        runs = [(i, self._runs(sentences[i], a), self._runs(sentences[i], b)) for i, a, b in pairs]
        return self.parts[0].contrasts(sentences, runs)

    def _runs(self, sentence: Sentence, mentions: Sequence[Mention]) -> list[Mention]:
        """The runs of joined labels for a set; if the tagger has no such labels, the best that are read like them."""
        runs = self.joined.runs(mentions, len(sentence))
        if all(run.label in self.joined.known for run in runs):
            return runs
        wanted = set(mentions)
        for _, found in self.parts[0].distribution(sentence).k_best(STRUCTURES):
            if set(read_runs(found)) == wanted:
                return found
        raise ParameterError(f"no joined labels that the model knows stand for the mentions {list(mentions)}")

    def facts(self) -> dict[str, Any]:
        return {"layers": self.joined.depth, "joined_labels": len(self.joined.known)}

    def header(self) -> dict[str, Any]:
        own = {"rare": self.model.rare, "depth": self.joined.depth, "labels": sorted(self.joined.known)}
        return {**own, **super().header()}


def _depth(gold: Mentions) -> int:
    return max((len(layers_of(mentions)) for mentions in gold), default=0)


def _outermost_at(tokens: Sequence[int], mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions of the highest layer at each of these tokens, each once."""
    level = {m: k for k, layer in enumerate(layers_of(mentions)) for m in layer}
    over = ([m for m in mentions if m.start <= t < m.end] for t in tokens)
    return sorted({max(covering, key=lambda m: level[m]) for covering in over if covering})
