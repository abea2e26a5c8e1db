"""Cascading (Alex, Haddow & Grover 2007): a flat tagger for each group of labels, one after the other.

Later taggers see what earlier ones found, as GUESS features (:mod:`spanloom.reductions.guesses`). The union of what
they find is the result. Holds contiguous mentions whose labels are of different groups, however they lie; two mentions
that overlap must not be of the same group, so with a group for each label, no mention in another of its own label.

``groups`` says which labels go together, and in which order:

- ``"by-frequency"``: a group for each label, the most frequent first;
- ``"by-performance"``: a group for each label, the one that a tagger finds best first, by cross-validation on the
  training data (this trains every tagger ``folds`` times more);
- ``"all+other_name+DNA"``: one tagger for the innermost mentions of all labels, then one for each label named;
- a list of lists of labels, or the same as text: ``"protein,DNA;other_name"``.

Training takes ``folds + 1`` trainings for each group but the last. Those of the blocks of one group do not depend on
each other, and without guesses those of the groups do not: they are done side by side on the cores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.base.parameters import check_count
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.evaluation import micro
from spanloom.learning import Iteration, Listener
from spanloom.reductions.base import FlatTagger, Gold, Maker, Reduction
from spanloom.reductions.guesses import TEMPLATE, jackknife, with_guesses
from spanloom.schemes import flatten, layers_of

ORDERS = ("by-frequency", "by-performance")
Group = tuple[str, ...] | None
"""The labels of a group; None for the innermost mentions of all."""
Done = TypeVar("Done")


class Cascade(Reduction):
    """A flat tagger for each group of labels.

    Parameters
    ----------
    groups
        See the module.
    guesses
        Whether later taggers see what earlier ones found.
    folds
        Into how many blocks the training data are cut, so that guesses are not made on what was learned from.
    own
        Whether the taggers use ``Sentence.features``; guesses are added to these then.
    workers
        How many trainings may go on side by side.
    """

    name = "cascade"
    holds = "contiguous mentions of which no two of the same group overlap"

    def __init__(
        self,
        groups: str | Sequence[Sequence[str]] = "by-frequency",
        guesses: bool = True,
        folds: int = 5,
        own: bool = False,
        workers: int = 1,
        make: Maker | None = None,
    ) -> None:
        super().__init__(make)
        check_count("folds", folds, low=2)
        self.workers = workers
        self.groups, self.guesses, self.folds, self.own = groups, guesses, folds, own
        self.order: list[Group] = [] if isinstance(groups, str) and groups in ORDERS else _parse(groups)

    # What it holds

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        for i, mention in enumerate(mentions):
            if mention.discontinuous:
                return i, f"has {len(mention.parts)} parts"
            if self.order and not any(group is None or mention.label in group for group in self.order):
                return i, f"has a label of no group; the groups are {self.order}"
        _, lost = self.reduce(mentions, "outermost")
        if not lost:
            return None
        return mentions.index(lost[0]), "overlaps a mention of the same group"

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        order = self.order or [(label,) for label in {m.label for m in mentions}]
        kept = {m for group in order for m in _of_group(group, mentions, keep)}
        return sorted(kept), sorted(set(mentions) - kept)

    def learn(self, sentences: Sequence[tuple[Sequence[Mention], int]]) -> None:
        super().learn(sentences)
        if not self.order:
            counts = Counter(m.label for mentions, _ in sentences for m in mentions)
            self.order = [(label,) for label in sorted(counts, key=lambda label: (-counts[label], label))]
        missing = [group for group in self.order if group is not None and self.types.isdisjoint(group)]
        if missing:
            raise ParameterError(
                f"the training data have no mention of the group {missing[0]}; they have "
                f"{', '.join(sorted(self.types))}"
            )

    # Learning and finding

    def train(
        self,
        sentences: Sequence[Sentence],
        gold: Gold,
        *,
        dev: Sequence[Sentence] | None = None,
        listener: Listener | None = None,
    ) -> list[Iteration]:
        if self.groups == "by-performance":
            self.order.sort(key=lambda group: -self._performance(group, sentences, gold))
        if not self.guesses:
            return self._train_apart(sentences, gold, dev, listener)
        history: list[Iteration] = []
        seen: list[Gold] = []
        seen_dev: list[Gold] = []
        for number, group in enumerate(self.order):
            corpus = self._with(sentences, seen)
            own = [_of_group(group, mentions, "outermost") for mentions in gold]
            watched = None if dev is None else _watched(group, self._with(dev, seen_dev))
            make = partial(self.make, templates=(TEMPLATE,) if seen else ())
            part = make()
            history += self.train_part(part, corpus, own, watched, listener)
            if number + 1 < len(self.order):
                labelled = [s.with_mentions(m) for s, m in zip(corpus, own, strict=True)]
                # A penalty that was chosen on development data is that of the part: its doubles have no such data.
                doubles = partial(make, penalty=getattr(part, "mention_penalty_", None))
                seen.append(self._jackknife(doubles, labelled))
                if watched is not None:
                    seen_dev.append([list(s.mentions) for s in part.predict(watched)])
        return history

    def _train_apart(
        self, sentences: Sequence[Sentence], gold: Gold, dev: Sequence[Sentence] | None, listener: Listener | None
    ) -> list[Iteration]:
        """Train groups that know nothing of each other, side by side."""
        lock = Lock()

        def train(number: int, group: Group) -> FlatTagger:
            def tell(record: Iteration) -> None:
                if listener is not None:
                    with lock:
                        listener(replace(record, component=number))

            part = self.make(threads=self._threads(len(self.order)))
            own = [s.with_mentions(_of_group(group, m, "outermost")) for s, m in zip(sentences, gold, strict=True)]
            part.fit(own, dev=None if dev is None else _watched(group, dev), listener=tell)
            return part

        self.parts = self._side_by_side(train, range(len(self.order)), self.order)
        return [
            replace(record, component=number)
            for number, part in enumerate(self.parts)
            for record in getattr(part, "history_", ())
        ]

    def find(self, sentences: Sequence[Sentence]) -> Gold:
        found: list[Gold] = []
        for part in self.parts:
            seen = found if self.guesses else []
            found.append([list(s.mentions) for s in part.predict(self._with(sentences, seen))])
        return self.union(found)

    def _with(self, sentences: Sequence[Sentence], seen: Sequence[Gold]) -> list[Sentence]:
        """The sentences with the guesses of earlier parts, if there are any."""
        if not seen:
            return list(sentences)
        return [
            with_guesses(sentence, [found[i] for found in seen], own=self.own) for i, sentence in enumerate(sentences)
        ]

    def _performance(self, group: Group, sentences: Sequence[Sentence], gold: Gold) -> float:
        own = [_of_group(group, mentions, "outermost") for mentions in gold]
        corpus = [s.with_mentions(m) for s, m in zip(sentences, own, strict=True)]
        return micro(own, self._jackknife(partial(self.make, penalty={}), corpus)).f1

    def _jackknife(self, make: Callable[..., FlatTagger], corpus: Sequence[Sentence]) -> Gold:
        return jackknife(partial(make, threads=self._threads(self.folds)), corpus, self.folds, self._side_by_side)

    def _threads(self, trainings: int) -> int | None:
        """How many threads each of so many trainings gets, side by side; None: as the settings say."""
        return max(1, self.workers // min(self.workers, trainings)) if self.workers > 1 else None

    def _side_by_side(self, work: Callable[..., Done], *items: Iterable[Any]) -> list[Done]:
        """Like ``map``, on as many threads as there are workers: the core lets Python go on while it works."""
        if self.workers == 1:
            return list(map(work, *items))
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(work, *items))

    # Keeping

    def facts(self) -> dict[str, Any]:
        return {"groups": ["all" if group is None else ",".join(group) for group in self.order]}

    def header(self) -> dict[str, Any]:
        order = [None if group is None else list(group) for group in self.order]
        return {"order": order, "guesses": self.guesses, "folds": self.folds, "own": self.own, **super().header()}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Cascade:
        try:
            model = cls(guesses=bool(header["guesses"]), folds=header["folds"], own=bool(header["own"]))
            model.order = [None if group is None else tuple(map(str, group)) for group in header["order"]]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"the groups of the cascade are damaged: {error}") from None
        return model


def _watched(group: Group, dev: Sequence[Sentence]) -> list[Sentence]:
    """Development data for a group's tagger."""
    return [s.with_mentions(_of_group(group, [m for m in s.mentions if not m.discontinuous], "outermost")) for s in dev]


def _parse(groups: str | Sequence[Sequence[str]]) -> list[Group]:
    if isinstance(groups, str):
        first, *labels = groups.split("+")
        if first == "all" and all(labels):
            return [None, *((label,) for label in labels)]
        if "," not in groups and ";" not in groups:
            raise ParameterError(
                f"groups must be one of {', '.join(ORDERS)}, all+LABEL+…, or labels in groups such as A,B;C; "
                f"got {groups!r}"
            )
        groups = [[label.strip() for label in group.split(",")] for group in groups.split(";")]
    order: list[Group] = []
    for group in groups:
        if isinstance(group, str) or not group or not all(isinstance(x, str) and x for x in group):
            raise ParameterError(f"a group must be a list of labels, got {group!r}")
        order.append(tuple(group))
    if not order:
        raise ParameterError("a cascade needs at least one group of labels")
    return order


def _of_group(group: Group, mentions: Sequence[Mention], keep: str) -> list[Mention]:
    """The mentions that a group's tagger learns from: flat, of its labels."""
    if group is None:
        layers = layers_of([m for m in mentions if not m.discontinuous])
        return layers[0] if layers else []
    return flatten([m for m in mentions if m.label in group], keep)[0]
