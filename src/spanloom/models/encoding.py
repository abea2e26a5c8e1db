"""Training of components with an encoder: the exact gradient by score of each structure goes into the network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

import numpy as np

from spanloom._native import StructuredLoss
from spanloom.base.arrays import Floats, Floats32
from spanloom.base.errors import ParameterError
from spanloom.base.memory import check_memory
from spanloom.encoders import Encoder
from spanloom.encoders.checkpoint import digest, digest_of_arrays, open_checkpoint
from spanloom.encoders.kept import KeptNetwork
from spanloom.encoders.memory import estimate, network_sizes
from spanloom.encoders.network import Network, Shape
from spanloom.encoders.pieces import Numbers
from spanloom.encoders.sites import KINDS, SiteTable, site_table
from spanloom.encoders.sparse import SparseWeights
from spanloom.encoders.tuning import FineTuning, Learned, TuningProblem
from spanloom.evaluation.score import micro
from spanloom.features import FeatureExtractor
from spanloom.learning import AdamW, Interrupted, Iteration, Weights
from spanloom.models.base import Task
from spanloom.models.checks import check_chosen
from spanloom.models.component import Component, Shapes
from spanloom.models.encoded import Encoded
from spanloom.models.structured import StructuredModel
from spanloom.models.supervised import supervise
from spanloom.models.tables import without_unused
from spanloom.models.trained import Trained

LONGEST = 64
"""Lengths of segments that are told apart at most."""


class EncodedCorpus:
    """Training sentences as components see them, in batches."""

    def __init__(self, model: StructuredModel, task: Task, components: Sequence[Component]) -> None:
        self.model, self.task, self.components = model, task, components
        self.extractor = FeatureExtractor(task.features, model.sites)
        self._lattices = model.shapes(task.sentences, self.extractor.layout).lattices
        self.rows = self.extractor.fit(task.sentences, task.threads, self._lattices)
        self.columns = list(pairwise(accumulate((len(c.columns) for c in components), initial=0)))
        self.global_cells = list(pairwise(accumulate((c.structure.global_cells for c in components), initial=0)))

    @property
    def shape(self) -> Shape:
        """The map to scores that these components need."""
        lengths = max((len(m) for own in self.task.gold for m in own), default=1)
        kinds = KINDS[self.model.sites]
        return Shape(kinds, self.columns[-1][1], self.global_cells[-1][1], min(lengths, LONGEST) + 1)

    def shapes(self, numbers: Numbers) -> Shapes:
        """Return the shapes of some sentences."""
        return self.model.shapes([self.task.sentences[i] for i in numbers], self.extractor.layout)

    def sites(self, numbers: Numbers) -> SiteTable:
        """Return the sites of some sentences."""
        shapes = self.shapes(numbers)
        return site_table(self.model.sites, shapes.lengths, shapes.lattices)

    def loss(self, numbers: Numbers, table: SiteTable, scores: Floats, cells: Floats) -> tuple[float, Floats, Floats]:
        """Return the loss of all components under scores ``[site, column]``, and its derivatives."""
        shapes, task = self.shapes(numbers), self.task
        sentences, gold = [task.sentences[i] for i in numbers], [task.gold[i] for i in numbers]
        total, by_score, by_global = 0.0, np.zeros_like(scores), np.zeros_like(cells)
        for component, (a, b), (c, d) in zip(self.components, self.columns, self.global_cells, strict=True):
            supervision = supervise(component, sentences, gold, shapes)
            loss = StructuredLoss(component.structure_for(shapes), supervision, task.threads or 0)
            value, own, own_global = loss.evaluate(table.ptr, np.ascontiguousarray(scores[:, a:b]).ravel(), cells[c:d])
            total += value
            by_score[:, a:b] = own.reshape(-1, b - a)
            by_global[c:d] = own_global
        return total, by_score, by_global

    def weights(self, table: Floats32, cells: Floats32) -> list[Weights]:
        """Return the weights of each component of those of all."""
        return [
            Weights(np.ascontiguousarray(table[:, a:b]), cells[c:d].astype(np.float64))
            for (a, b), (c, d) in zip(self.columns, self.global_cells, strict=True)
        ]


def fit_encoded(model: StructuredModel, task: Task, encoder: Encoder) -> tuple[Trained, list[Iteration]]:
    """Train a model with an encoder; what ``Model.fit`` returns."""
    trainer = task.trainer
    if not isinstance(trainer, AdamW):
        raise ParameterError(f"a model with an encoder learns by the trainer 'adamw', not by {trainer.name!r}")
    components = model.components(*task.shown)
    check_chosen(model, components, task.penalty)
    check_untied(model, components)
    corpus = EncodedCorpus(model, task, components)
    network = Network.from_folder(encoder, corpus.shape, task.seed)
    sparse = SparseWeights(corpus.rows, corpus.shape.columns, trainer.feature_rate, trainer.l2, trainer.batch)
    problem = TuningProblem([s.tokens for s in task.sentences], corpus.sites, corpus.loss, sparse)
    tuning = FineTuning(network, problem, trainer, task.seed, task.threads)
    check_memory(
        sum(needed(tuning).values()),
        "training with this encoder",
        f"use accumulate={2 * trainer.accumulate}, a smaller batch, fewer features (min_count=2), or tune=False",
    )
    save = None
    if trainer.checkpoint is not None:
        path, known = trainer.checkpoint, identity(model, task, encoder, network)
        found = open_checkpoint(path, known)
        if found is not None:
            tuning.resume(found)
        save = lambda one: one.save(path, known)  # noqa: E731
    dev_f1 = _watched(model, task, corpus, network) if task.dev is not None and task.watched else None
    interrupted = False
    try:
        learned, history = tuning.train(dev_f1, task.listener, save)
    except Interrupted as stop:
        learned, history, interrupted = stop.learned, stop.history, True
    kept = KeptNetwork.of(network, learned.arrays)
    cells = learned.arrays["head.global_cells"]
    extractor, weights = without_unused(corpus.extractor, corpus.weights(_table(learned), cells))
    return model.finished(task, Encoded(model, components, extractor, weights, kept), history, interrupted)


def _table(learned: Learned) -> Floats32:
    """The weights of the features: here every corpus has some, if only the bias."""
    if learned.table is None:
        raise ValueError("the training has no weights of features")
    return learned.table


def _watched(model: StructuredModel, task: Task, corpus: EncodedCorpus, network: Network) -> Callable[[Learned], float]:
    """Return what gives micro F1 on the development data, of a network that is as it was learned just now."""
    dev = task.dev or ()

    def f1(learned: Learned) -> float:
        weights = corpus.weights(_table(learned), learned.arrays["head.global_cells"])
        now = Encoded(model, corpus.components, corpus.extractor, weights, KeptNetwork.of(network))
        return micro([s.mentions for s in dev], now.find(dev, task.threads)).f1

    return f1


def check_untied(model: StructuredModel, components: Sequence[Component]) -> None:
    """Raise ``ParameterError`` for what an encoder does not go with."""
    if model.shared:
        raise ParameterError(f"with an encoder labels have one network in common; use share=0, got {model.shared:g}")
    if any(one is not None for component in components for one in component.tying()):
        raise ParameterError(
            f"with an encoder every label has scores of its own, and those of {model.name!r} are tied; use one "
            "representation"
        )


def needed(tuning: FineTuning) -> dict[str, int]:
    """Return about how many bytes a training takes, by what they are for."""
    network, trainer = tuning.network, tuning.trainer
    layers, width = network_sizes(network.module.config)
    every = network.parameters()
    longest = int(min(tuning.pieces.sizes.max(initial=0), network.window)) + 2
    rows = -(-trainer.batch // trainer.accumulate)
    sparse = tuning.problem.sparse
    return estimate(
        parameters=sum(one.numel() for one in every.values()),
        tuned=sum(one.numel() for one in every.values() if one.requires_grad),
        layers=layers if tuning.tuned else 0,
        width=width,
        pieces=max(min(rows * longest, trainer.at_once), longest),
        sparse=0 if sparse is None else sparse.table.size,
    )


def identity(model: StructuredModel, task: Task, encoder: Encoder, network: Network) -> dict[str, str]:
    """Return what must be the same for a training to go on from a checkpoint, by a word for it."""
    trainer = {k: v for k, v in task.trainer.to_json().items() if k not in ("checkpoint", "save_every")}
    settings = {k: v for k, v in encoder.to_json().items() if k != "path"}
    weights = [array for name, array in network.arrays().items() if name.startswith("network.")]
    texts = ([s.tokens, sorted(map(repr, own))] for s, own in zip(task.sentences, task.gold, strict=True))
    return {
        "model": digest([model.to_json()]),
        "trainer": digest([trainer]),
        "encoder": digest([settings]) + digest_of_arrays(weights),
        "features": digest([list(task.features.templates), task.features.min_count]),
        "seed": str(task.seed),
        "training data": digest(texts),
    }
