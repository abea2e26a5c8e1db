"""Maximum-entropy Markov tagger, as in C&C (Curran & Clark 2003): each label is chosen given those before it.

    p(y) = Π_t p(y_t | t, h_t),   p(y | t, h) = exp(w[y] · f(t) + v[h, y]) / Z_t(h),   v[h, y] = v₁[y₋₁, y] + v₂[h, y]

where the history h is the label before, y₋₁ (``order=1``), or the two before (``order=2``), and Σ_y p(y | t, h) = 1.
Holds flat, contiguous mentions. Training is one multinomial regression over tokens with their gold histories, with no
sum over label sequences: it takes O(n L) where the chain takes O(n L²). A Gaussian prior is the penalty ``l2``.

Finding is exact by default. Of the pairs of labels, only those of the training data have weights v₂; all others act
alike, as the last label alone. So the states of the trellis are the pairs seen and the single labels, and the best
sequence takes O(n S L) for S states. With ``beam=k``, only the k best states go on from a token to the next, O(n k L).

    log p(y) = Σ_t w[y_t] · f(t) + v[h_t, y_t] − log Z_t(h_t)

is a chain over these states, as log Z_t(h_t) belongs to the state at t − 1: on the engine's graphs (``trellis``) it is
normalised as it stands (Z = 1).

Known weakness, the *label bias* (Lafferty, McCallum & Pereira 2001): a history's probability mass must go on to the
next token whatever that is, so what is seen later cannot make an early choice less probable. A chain does not have it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom._native import ChoiceStructure, SparseRows, Supervision
from spanloom.base.arrays import Arrays
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.base.parameters import check_choice, check_count
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.evaluation.score import micro
from spanloom.features import FeatureExtractor
from spanloom.learning import Interrupted, Iteration, LearningProblem, Weights, follow
from spanloom.models.base import Model, Task
from spanloom.models.checks import structure_trainer
from spanloom.models.markov import Markov, history_name
from spanloom.models.supervised import locally_known
from spanloom.models.trained import Trained
from spanloom.models.warm import Wanted
from spanloom.schemes import Representations, Segments, first_misfit
from spanloom.schemes.partial import allowed_labels


@dataclass(frozen=True)
class Memm(Model):
    """Labels one after the other, each given one or two before it.

    Parameters
    ----------
    scheme
        The segment representation, or several; see ``Chain``.
    constrained
        Whether only legal label sequences are found. Training gives all of them probability.
    order
        How many labels before are seen: 1 or 2.
    dictionary
        Words that the training data have at least so often get only labels that they have there; None for no such
        rule. Where it leaves no legal sequence, it is not applied.
    beam
        How many states go on from a token to the next; None for all of them, which is exact. Where a beam ends in no
        legal sequence, all go on.
    """

    scheme: str | Sequence[str] = "IOBES"
    constrained: bool = True
    order: int = 2
    dictionary: int | None = None
    beam: int | None = None

    name = "memm"
    holds = "contiguous mentions that do not overlap"
    flat = True
    trainers = ("lbfgs", "adagrad")
    penalised = False

    def check(self) -> None:
        Representations.parse(self.scheme)
        check_count("order", self.order)
        check_choice("order", str(self.order), ("1", "2"))
        if self.dictionary is not None:
            check_count("dictionary", self.dictionary)
        if self.beam is not None:
            check_count("beam", self.beam)

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        return first_misfit(mentions)

    def fit(self, task: Task) -> tuple[Trained, list[Iteration]]:
        trainer = structure_trainer(task.trainer)
        representations = Representations.parse(self.scheme)
        segments = Segments.learn(representations.main, list(zip(task.gold, task.lengths, strict=True)))
        extractor = FeatureExtractor(task.features)
        rows = extractor.fit(task.sentences, task.threads)
        labelled = [segments.encode(m, len(s)) for m, s in zip(task.gold, task.sentences, strict=True)]
        words = {} if self.dictionary is None else _seen(task.sentences, labelled, self.dictionary)
        size = len(segments.labels)
        histories, pairs = _histories(labelled, size, self.order)
        width = rows.width + size + 1 + len(pairs)
        labels = np.concatenate(labelled)
        first = np.repeat(rows.group_ptr[:-1], np.diff(rows.group_ptr))  # of each token's sentence
        cells = ((np.arange(len(labels)) - first) * size + labels).astype(np.int32)
        tie = representations.tie(segments.labels)
        problem = LearningProblem(
            _with_more(rows, [rows.width + h for h in histories], width),
            ChoiceStructure(size),
            _supervision(self, segments, task, rows.group_ptr, cells),
            None if tie is None else tie.sites,
            start=_start(task, segments, extractor, pairs),
        )

        def made(learned: Weights) -> Markov:
            features = learned.features[: rows.width]
            used = features.any(axis=1)
            return Markov(
                self,
                segments,
                extractor.keep(np.flatnonzero(used)),
                np.ascontiguousarray(features[used]),
                learned.features[rows.width :].copy(),
                pairs,
                words,
            )

        def dev_f1(learned: Weights) -> float:
            dev = task.dev or ()
            return micro([s.mentions for s in dev], made(learned).find(dev, task.threads)).f1

        try:
            learned, history = follow(
                trainer.steps(problem, seed=task.seed, threads=task.threads),
                dev_f1=dev_f1 if task.dev is not None and task.watched else None,
                patience=trainer.patience,
                listener=task.listener,
            )
        except Interrupted as stop:
            raise Interrupted(made(stop.learned), stop.history) from None
        return made(learned), history

    @classmethod
    def restore(cls, header: Mapping[str, Any], arrays: Arrays, extractor: FeatureExtractor) -> Trained:
        try:
            # The dictionary is stored, not how it was made.
            model = cls(header["scheme"], bool(header["constrained"]), header["order"], beam=header["beam"])
            segments = Segments(header["scheme"], [str(label) for label in header["labels"]])
            words = {str(word): [int(y) for y in labels] for word, labels in header["words"].items()}
        except (KeyError, TypeError, ValueError, AttributeError, ParameterError) as error:
            raise ModelFileError(f"the labels of the maximum-entropy Markov model are damaged: {error}") from None
        size = len(segments.labels)
        if any(not 0 <= y < size for labels in words.values() for y in labels):
            raise ModelFileError("the dictionary of the maximum-entropy Markov model speaks of labels that it lacks")
        features, histories, pairs = (arrays[f"model.{name}"] for name in ("features", "histories", "pairs"))
        if features.ndim != 2 or len(features) != extractor.size:
            raise ValueError(f"there are weights {features.shape} for {extractor.size} features")
        if pairs.dtype != np.int64 or ((pairs < 0) | (pairs >= (size + 1) ** 2)).any():
            raise ValueError("the pairs of labels are damaged")
        return Markov(model, segments, extractor, features, histories, pairs, words)


def _start(task: Task, segments: Segments, extractor: FeatureExtractor, pairs: npt.NDArray[np.int64]) -> Weights | None:
    if task.start is None:
        return None
    labels = segments.labels
    more = [history_name(labels, pairs, k) for k in range(len(labels) + 1 + len(pairs))]
    known = extractor.numbers_in(task.start.extractor)
    start = task.start.start_for(Wanted(segments.types, labels, known, more=more), 0)
    # Another kind of model has no weights for histories.
    return start if start is not None and len(start.features) == len(known) + len(more) else None


def _supervision(
    model: Memm, segments: Segments, task: Task, ptr: npt.NDArray[np.int64], cells: npt.NDArray[np.int32]
) -> Supervision:
    """What is known of each token: its label, or nothing where it or its history is unknown."""
    masks: list[npt.NDArray[np.uint8]] = []
    own = np.zeros(len(task.sentences) + 1, np.int64)
    kept: list[npt.NDArray[np.int32]] = []
    for number, (sentence, mentions) in enumerate(zip(task.sentences, task.gold, strict=True)):
        known = sentence.known
        partial = known is not None and not known.complete(segments.types) and len(sentence) > 0
        if known is not None and partial:
            allowed = allowed_labels(segments, mentions, known, len(sentence))
            masks.append(locally_known(allowed, model.order).ravel())
        else:
            masks.append(np.zeros(0, np.uint8))
            kept.append(cells[ptr[number] : ptr[number + 1]])
        own[number + 1] = own[number] + (0 if partial else len(sentence))
    if not any(map(len, masks)):
        return Supervision(ptr, cells)
    bounds = np.concatenate([[0], np.cumsum([len(mask) for mask in masks])]).astype(np.int64)
    return Supervision(own, np.concatenate([np.zeros(0, np.int32), *kept]), masks=(bounds, np.concatenate(masks)))


def _histories(
    labelled: Sequence[npt.NDArray[np.int32]], size: int, order: int
) -> tuple[list[npt.NDArray[np.int64]], npt.NDArray[np.int64]]:
    """The numbers of each token's history features, and the codes of the pairs of labels that were seen."""
    last = np.concatenate([_before(y, size, 1) for y in labelled])
    if order == 1:
        return [last], np.zeros(0, np.int64)
    second = np.concatenate([_before(y, size, 2) for y in labelled])
    pairs, numbers = np.unique(second * (size + 1) + last, return_inverse=True)
    return [last, size + 1 + numbers.astype(np.int64)], pairs


def _before(labels: npt.NDArray[np.int32], start: int, steps: int) -> npt.NDArray[np.int64]:
    """The label so many tokens before each token; ``start`` before the sentence."""
    shifted = np.full(len(labels), start, np.int64)
    shifted[steps:] = labels[: max(len(labels) - steps, 0)]
    return shifted


def _with_more(rows: SparseRows, extra: Sequence[npt.NDArray[np.int64]], width: int) -> SparseRows:
    """The rows with one more feature for each of ``extra``."""
    n, more = rows.rows, len(extra)
    ptr = rows.row_ptr + more * np.arange(n + 1, dtype=np.int64)
    ids = np.empty(len(rows.ids) + more * n, np.uint32)
    values = None if rows.values is None else np.ones(len(ids), np.float32)
    places = np.arange(len(rows.ids)) + more * np.repeat(np.arange(n), np.diff(rows.row_ptr))
    ids[places] = rows.ids
    if values is not None and rows.values is not None:
        values[places] = rows.values
    for k, numbers in enumerate(extra):
        ids[ptr[1:] - more + k] = numbers
    return SparseRows(rows.group_ptr, ptr, ids, width, values)


def _seen(sentences: Sequence[Sentence], labelled: Sequence[npt.NDArray[np.int32]], least: int) -> dict[str, list[int]]:
    """The labels of every word that occurs at least so often."""
    counts: dict[str, int] = {}
    labels: dict[str, set[int]] = {}
    for sentence, numbers in zip(sentences, labelled, strict=True):
        if sentence.known is not None:  # what is unknown must not become a rule
            continue
        for word, y in zip(sentence.tokens, numbers.tolist(), strict=True):
            counts[word] = counts.get(word, 0) + 1
            labels.setdefault(word, set()).add(y)
    return {word: sorted(labels[word]) for word in sorted(labels) if counts[word] >= least}
