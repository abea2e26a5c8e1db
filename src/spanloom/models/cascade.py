"""Cascading (Alex, Haddow & Grover 2007): a flat tagger for each group of labels, one after the other.

Later taggers see what earlier ones found, as GUESS features (:mod:`spanloom.models.guesses`). The union of what
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

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, TypeVar

from spanloom.base.arrays import Arrays
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.base.parameters import check_count
from spanloom.corpus.crossfit import cross_fit
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.evaluation.score import micro
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import Iteration
from spanloom.models.base import Mentions, Model, Task
from spanloom.models.fitting import Fitted, fit_model
from spanloom.models.guesses import TEMPLATE, with_guesses
from spanloom.models.reduction import Parts, Reduction, of_labels, restore_parts, train_part
from spanloom.models.trained import Trained
from spanloom.schemes import flatten, layers_of

GROUP_ORDERS = ("by-frequency", "by-performance")
Group = tuple[str, ...] | None
"""The labels of a group; None for the innermost mentions of all."""
Done = TypeVar("Done")


@dataclass(frozen=True)
class Cascade(Reduction):
    """A flat tagger for each group of labels.

    Parameters
    ----------
    base
        As in ``Reduction``.
    groups
        See the module.
    guesses
        Whether later taggers see what earlier ones found.
    folds
        Into how many blocks the training data are cut, so that guesses are not made on what was learned from.
    """

    groups: str | Sequence[Sequence[str]] = "by-frequency"
    guesses: bool = True
    folds: int = 5

    name = "cascade"
    holds = "contiguous mentions of which no two of the same group overlap"

    def check(self) -> None:
        super().check()
        check_count("folds", self.folds, low=2)
        self._order()

    def _order(self) -> list[Group]:
        """The groups in their order, as far as the settings say."""
        return [] if isinstance(self.groups, str) and self.groups in GROUP_ORDERS else _parse(self.groups)

    # What it holds

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        order = self._order()
        for i, mention in enumerate(mentions):
            if mention.discontinuous:
                return i, f"has {len(mention.parts)} parts"
            if order and not any(group is None or mention.label in group for group in order):
                return i, f"has a label of no group; the groups are {order}"
        _, lost = self.reduce(mentions, "outermost")
        if not lost:
            return None
        return mentions.index(lost[0]), "overlaps a mention of the same group"

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        order = self._order() or [(label,) for label in {m.label for m in mentions}]
        kept = {m for group in order for m in _of_group(group, mentions, keep)}
        return sorted(kept), sorted(set(mentions) - kept)

    # Learning

    def fit(self, task: Task) -> tuple[Trained, list[Iteration]]:
        labels = frozenset(m.label for mentions in task.gold for m in mentions)
        order = self._order()
        if not order:
            counts = Counter(m.label for mentions in task.gold for m in mentions)
            order = [(label,) for label in sorted(counts, key=lambda label: (-counts[label], label))]
        missing = [group for group in order if group is not None and labels.isdisjoint(group)]
        if missing:
            raise ParameterError(
                f"the training data have no mention of the group {missing[0]}; they have {', '.join(sorted(labels))}"
            )
        training = _Training(self, task)
        if self.groups == "by-performance":
            order.sort(key=lambda group: -training.performance(group))
        done = training.one_after_another(order) if self.guesses else training.side_by_side(order)
        parts = [fitted.trained for fitted in done]
        trained = CascadeParts(self, parts, labels, task.features, order, own=training.own)
        return trained, [record for fitted in done for record in fitted.history]

    @classmethod
    def restore(cls, header: Mapping[str, Any], arrays: Arrays, extractor: FeatureExtractor) -> Trained:
        parts, labels = restore_parts(header, arrays)
        try:
            order: list[Group] = [None if group is None else tuple(map(str, group)) for group in header["order"]]
            named = [group for group in order if group is not None]
            groups = "+".join(["all", *(label for group in named for label in group)]) if None in order else named
            model = cls(parts[0].model, groups, guesses=bool(header["guesses"]), folds=header["folds"])
            return CascadeParts(model, parts, labels, extractor.features, order, own=bool(header["own"]))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelFileError(f"the groups of the cascade are damaged: {error}") from None


class _Training:
    """The training of a cascade's parts. Those that do not depend on each other are trained side by side."""

    def __init__(self, model: Cascade, task: Task) -> None:
        self.model, self.task = model, task
        self.own = task.features.uses_own()
        # A tagger of one's own may not like to be called from several threads.
        self.workers = (task.threads or os.cpu_count() or 1) if isinstance(model.base, Model) else 1

    def one_after_another(self, order: Sequence[Group]) -> list[Fitted]:
        """Train the groups, each with the guesses of those before it."""
        task, done = self.task, list[Fitted]()
        seen: list[Mentions] = []
        seen_dev: list[Mentions] = []
        for number, group in enumerate(order):
            with_seen = replace(task, sentences=_with(task.sentences, seen, self.own))
            gold = [_of_group(group, mentions, "outermost") for mentions in task.gold]
            dev = None if task.dev is None else _watched(group, _with(task.dev, seen_dev, self.own))
            templates = (TEMPLATE,) if seen else ()
            fitted = train_part(self.model.part, with_seen, number, gold, dev, _name(group), len(order), templates)
            done.append(fitted)
            if number + 1 < len(order):
                # A penalty that was chosen on development data is that of the part: its doubles have no such data.
                seen.append(self._guess(with_seen, gold, templates, fitted.trained.penalty))
                if dev is not None:
                    seen_dev.append(fitted.trained.find(dev, task.threads))
        return done

    def side_by_side(self, order: Sequence[Group]) -> list[Fitted]:
        """Train groups that know nothing of each other."""
        task, lock = self.task, Lock()

        def tell(record: Iteration) -> None:
            if task.listener is not None:
                with lock:
                    task.listener(record)

        apart = replace(task, threads=self._threads(len(order)), listener=tell)

        def train(number: int, group: Group) -> Fitted:
            gold = [_of_group(group, mentions, "outermost") for mentions in task.gold]
            dev = None if task.dev is None else _watched(group, task.dev)
            return train_part(self.model.part, apart, number, gold, dev, _name(group), len(order))

        return self._run(train, range(len(order)), order)

    def performance(self, group: Group) -> float:
        """F1 of a group's tagger, by cross-validation on the training data."""
        gold = [_of_group(group, mentions, "outermost") for mentions in self.task.gold]
        return micro(gold, self._guess(self.task, gold, (), {})).f1

    def _guess(self, task: Task, gold: Mentions, templates: Sequence[str], penalty: Mapping[str, float]) -> Mentions:
        """What a tagger finds in each sentence that has not learned from it."""
        apart = replace(
            task,
            features=task.features.plus(templates),
            penalty=0.0,
            threads=self._threads(self.model.folds),
            gold=[],
            dev=None,
            listener=None,
        )

        def train(others: list[Sentence]) -> Trained | None:
            if not any(s.mentions for s in others):
                return None
            # Within a part, cross-fitting does not cut what it got as documents; the sizes are no longer those.
            part = fit_model(self.model.part, replace(apart, sentences=others, sizes=[1] * len(others))).whole()
            part.set_penalty(of_labels(penalty, part.labels))
            return part

        def apply(part: Trained, block: list[Sentence]) -> Mentions:
            return part.find([s.with_mentions([]) for s in block], apart.threads)

        corpus = [s.with_mentions(m) for s, m in zip(task.sentences, gold, strict=True)]
        return cross_fit(corpus, self.model.folds, train, apply, sizes=task.sizes, default=list, run=self._run)

    def _threads(self, trainings: int) -> int | None:
        """How many threads each of so many trainings gets, side by side; as the settings say for one worker."""
        return max(1, self.workers // min(self.workers, trainings)) if self.workers > 1 else self.task.threads

    def _run(self, work: Callable[..., Done], *items: Iterable[Any]) -> list[Done]:
        """Like ``map``, on as many threads as there are workers: the core lets Python go on while it works."""
        if self.workers == 1:
            return list(map(work, *items))
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(work, *items))


class CascadeParts(Parts):
    """Trained taggers of groups.

    Parameters
    ----------
    order
        The groups.
    own
        Whether the taggers use ``Sentence.features``; guesses are added to these then.
    """

    def __init__(
        self,
        model: Cascade,
        parts: Sequence[Trained],
        labels: frozenset[str],
        features: FeatureSet,
        order: Sequence[Group],
        *,
        own: bool,
    ) -> None:
        super().__init__(model, parts, labels, features)
        self.model: Cascade = model
        self.order, self.own = order, own

    def find(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        found: list[Mentions] = []
        for part in self.parts:
            seen = found if self.model.guesses else []
            found.append(part.find(_with(sentences, seen, self.own), threads))
        return self.union(found, conflicts)

    def seen_by_parts(self, sentences: Sequence[Sentence], threads: int | None) -> list[Sequence[Sentence]]:
        """Return the sentences for each part with the best guesses of those before it."""
        if not self.model.guesses:
            return super().seen_by_parts(sentences, threads)
        found: list[Mentions] = []
        seen: list[Sequence[Sentence]] = []
        for number, part in enumerate(self.parts, 1):
            seen.append(_with(sentences, found, self.own))
            if number < len(self.parts):
                found.append(part.find(seen[-1], threads))
        return seen

    def facts(self) -> dict[str, Any]:
        return {"groups": [_name(group) for group in self.order]}

    def header(self) -> dict[str, Any]:
        order = [None if group is None else list(group) for group in self.order]
        own = {"order": order, "guesses": self.model.guesses, "folds": self.model.folds, "own": self.own}
        return {**own, **super().header()}


def _name(group: Group) -> str:
    return "all" if group is None else ",".join(group)


def _with(sentences: Sequence[Sentence], seen: Sequence[Mentions], own: bool) -> list[Sentence]:
    """The sentences with the guesses of earlier parts, if there are any."""
    if not seen:
        return list(sentences)
    return [with_guesses(sentence, [found[i] for found in seen], own=own) for i, sentence in enumerate(sentences)]


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
                f"groups must be one of {', '.join(GROUP_ORDERS)}, all+LABEL+…, or labels in groups such as A,B;C; "
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
