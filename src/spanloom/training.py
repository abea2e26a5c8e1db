"""From annotated sentences to weights: encode the gold, run the optimiser, watch the development data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from spanloom._native import CompressedRows, Decoder, SparseRows
from spanloom.base.errors import EncodingError, ParameterError
from spanloom.corpus import Mention, Sentence
from spanloom.evaluation import micro
from spanloom.learning import (
    Iteration,
    Listener,
    Settings,
    Weights,
    averaged_perceptron,
    compress,
    maximise_likelihood,
    stochastic_likelihood,
)
from spanloom.models import Component, Model, Shapes, Standalone
from spanloom.models.base import Lesson

Gold = list[list[Mention]]
Learned = TypeVar("Learned")


@dataclass(frozen=True, slots=True)
class Held:
    """The gold mentions that a model can hold, and what had to go."""

    mentions: Gold
    lost: list[tuple[int, Mention]]
    """Sentence number and mention: left out of training."""
    misread: list[tuple[int, Mention]]
    """Part of training, but the structure that stands for the sentence is read as other mentions."""

    @property
    def ceiling(self) -> float:
        """The share of the gold mentions that can come back: no recall on this data can be higher."""
        kept = sum(map(len, self.mentions))
        total = kept + len(self.lost)
        return (kept - len(self.misread)) / total if total else 1.0


def hold(model: Model, sentences: Sequence[Sentence], overlap: str) -> Held:
    """Check every mention against the text and against what the model can hold.

    Parameters
    ----------
    overlap
        ``"raise"``, or how to choose among mentions that the model cannot hold together, see ``Model.reduce``. A model
        that is made to choose does so by itself, see ``Model.choice``.
    """
    overlap = model.choice or overlap
    kept: Gold = []
    lost: list[tuple[int, Mention]] = []
    misread: list[tuple[int, Mention]] = []
    for number, sentence in enumerate(sentences):
        mentions = sorted(set(sentence.mentions))
        for mention in mentions:
            if mention.end > len(sentence):
                raise EncodingError(
                    f"sentence {number}: mention {mention.label} {mention.parts} ends after the last of "
                    f"{len(sentence)} tokens"
                )
        beyond = model.unreachable(mentions, sentence, number) if mentions else []
        if beyond and overlap != "raise":
            gone = [mentions[index] for index, _ in beyond]
            lost.extend((number, mention) for mention in gone)
            mentions = [mention for mention in mentions if mention not in gone]
        misfit = beyond[0] if beyond and overlap == "raise" else model.misfit(mentions) if mentions else None
        if misfit is not None:
            if overlap == "raise":
                index, why = misfit
                bad = mentions[index]
                raise EncodingError(
                    f"sentence {number} ({' '.join(sentence.tokens[:8])} …): mention {index} {bad.label} {bad.parts} "
                    f"{why}. The model {model.name!r} holds {model.holds}; choose a model that holds more "
                    '(multilabel holds every mention), or train on what it can hold: overlap="longest", '
                    "--overlap longest on the command line."
                )
            mentions, gone = model.reduce(mentions, overlap)
            lost.extend((number, mention) for mention in gone)
        if len(mentions) > 1:
            misread.extend((number, mention) for mention in model.misread(mentions))
        kept.append(mentions)
    return Held(kept, lost, misread)


def gold_cells(component: Component, gold: Gold, shapes: Shapes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Encode every sentence: ``cells[ptr[s]:ptr[s + 1]]`` are those of sentence ``s``."""
    types = component.types
    encoded = component.encode_all([[m for m in mentions if m.label in types] for mentions in gold], shapes)
    ptr = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(cells) for cells in encoded], out=ptr[1:])
    return ptr, np.concatenate(encoded) if encoded else np.zeros(0, np.int32)


def decode_all(
    components: Sequence[Component], decoder: Decoder, rows: SparseRows, shapes: Shapes, threads: int
) -> list[Gold]:
    """Find the best structures of every sentence and read them; one list of mentions per component and sentence."""
    best = decoder.best(rows, threads, [component.structure_for(shapes) for component in components])
    return [component.decode_all(cells, ptr, shapes) for component, (ptr, cells) in zip(components, best, strict=True)]


@dataclass(frozen=True, slots=True)
class Dev:
    """Development data, ready to be tagged after every iteration."""

    rows: SparseRows
    mentions: Gold
    shapes: Shapes

    def f1(self, component: Component, weights: Weights, threads: int) -> float:
        """Micro F1 on the mentions of the component's own types."""
        decoder = Decoder(component.structure, weights.features.ravel(), weights.globals)
        (found,) = decode_all([component], decoder, self.rows, self.shapes, threads)
        gold = [[m for m in mentions if m.label in component.types] for mentions in self.mentions]
        return micro(gold, found).f1


class Interrupted(KeyboardInterrupt):
    """Training was stopped by the user; what was learned so far is kept."""

    def __init__(self, learned: Any, history: list[Iteration]) -> None:
        super().__init__("training was interrupted; the best weights so far are kept")
        self.learned = learned
        self.history = history


def follow(
    steps: Iterator[tuple[Iteration, Callable[[], Learned]]],
    *,
    dev_f1: Callable[[Learned], float] | None = None,
    patience: int | None = None,
    listener: Listener | None = None,
) -> tuple[Learned, list[Iteration]]:
    """Run the iterations of training, at least one; return what was learned and their records.

    With ``patience``, training stops when dev F1 has not risen for so many iterations, and the best weights are taken;
    otherwise the last ones are. A ``KeyboardInterrupt`` during training is raised as ``Interrupted``.
    """
    history: list[Iteration] = []
    current: Callable[[], Learned] | None = None
    best: Learned | None = None
    best_f1, waited = -1.0, 0
    try:
        for record, current in steps:
            if dev_f1 is not None:
                learned = current()
                record = replace(record, dev_f1=dev_f1(learned))
                if record.dev_f1 is not None and record.dev_f1 > best_f1:
                    best_f1, waited = record.dev_f1, 0
                    best = learned if patience is not None else None
                else:
                    waited += 1
            history.append(record)
            if listener is not None:
                listener(record)
            if patience is not None and dev_f1 is not None and waited >= patience:
                break
    except KeyboardInterrupt:
        if current is None:
            raise
        raise Interrupted(best if best is not None else current(), history) from None
    if current is None:
        raise ValueError("training made no iteration")
    return best if best is not None else current(), history


def train_component(
    component: Component,
    rows: SparseRows,
    gold: Gold,
    shapes: Shapes,
    *,
    algorithm: str,
    settings: Settings,
    seed: int,
    number: int = 0,
    dev: Dev | None = None,
    patience: int | None = None,
    listener: Listener | None = None,
    compressed: CompressedRows | None = None,
) -> tuple[Weights, list[Iteration]]:
    """Train one component and return its weights and one record per iteration; see ``follow``.

    ``compressed`` is ``compress(rows, settings)``, given where several components share it.
    """
    steps: Iterator[tuple[Iteration, Callable[[], Weights]]]
    cells = gold_cells(component, gold, shapes)
    structure = component.structure_for(shapes)
    site_tying, global_tying = component.tying()
    if algorithm in ("perceptron", "adagrad"):
        if site_tying is not None or global_tying is not None:
            raise ParameterError(
                f"algorithm={algorithm!r} learns a weight for every label and cannot tie them; with several "
                'representations use algorithm="lbfgs"'
            )
        learn = averaged_perceptron if algorithm == "perceptron" else stochastic_likelihood
        steps = learn(rows, structure, cells, settings, seed=seed, component=number)
    else:
        steps = maximise_likelihood(
            compressed or compress(rows, settings),
            structure,
            cells,
            settings,
            site_tying=site_tying,
            global_tying=global_tying,
            component=number,
        )

    dev_f1: Callable[[Weights], float] | None = None
    if dev is not None:
        dev_f1 = partial(dev.f1, component, threads=settings.threads or 0)
    return follow(steps, dev_f1=dev_f1, patience=patience, listener=listener)


def train_standalone(
    model: Standalone,
    lesson: Lesson,
    *,
    dev: Sequence[Sentence] | None = None,
    patience: int | None = None,
    listener: Listener | None = None,
) -> list[Iteration]:
    """Train a model that learns by itself, let it choose on development data, and return one record per iteration."""
    threads = lesson.settings.threads or 0

    def dev_f1(learned: Any) -> float:
        model.install(learned)
        found = model.find(dev or (), threads)
        return micro([s.mentions for s in dev or ()], found).f1

    steps = model.train(lesson)
    interrupted: Interrupted | None = None
    try:
        learned, history = follow(steps, dev_f1=None if dev is None else dev_f1, patience=patience, listener=listener)
    except Interrupted as stop:
        interrupted, learned, history = stop, stop.learned, stop.history
    model.install(learned)
    model.finish(dev, threads)
    if interrupted is not None:
        raise interrupted
    return history
