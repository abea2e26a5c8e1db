"""Models of components: each a structure with weights over the same features."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from spanloom._native import SegmentLayout, SparseRows
from spanloom.base.arrays import Arrays, without_small
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.corpus.document import Sentence, judgeable
from spanloom.corpus.mention import Parts, reading_order
from spanloom.decisions import penalty
from spanloom.decisions.rule import Rule
from spanloom.evaluation.calibration import Curve
from spanloom.features import FeatureExtractor
from spanloom.inference import Distribution, Joint
from spanloom.learning import Interrupted, Iteration, StructureTrainer, Weights
from spanloom.models.base import Mentions, Model, Task
from spanloom.models.believing import Finder, with_probabilities
from spanloom.models.checks import check_chosen, labels_of, structure_trainer
from spanloom.models.component import Component, Shapes
from spanloom.models.contrast import TRANSITIONS, Cell, Contrast, ContrastBuilder, Pair, Table, Weight, quoted
from spanloom.models.decoding import Dev, decode_all
from spanloom.models.learner import ComponentLearner, LocalLearner
from spanloom.models.parts import Watch, learn_apart, learn_together
from spanloom.models.tables import reader, side_by_side, stored_weights, without_unused
from spanloom.models.trained import Trained, WeightColumn, chunks
from spanloom.models.warm import Wanted, carried, further

if TYPE_CHECKING:
    from typing_extensions import Self

ENCODER = "encoder"
"""What a file says of an encoder, if the model has one."""
CHUNK = 1 << 18
"""Probabilities are worked out for so many tokens at a time: scores of all columns are held for them."""


@dataclass(frozen=True)
class StructuredModel(Model):
    """A model that is made of components."""

    in_blocks = takes_encoder = takes_beliefs = True

    @abstractmethod
    def components(self, gold: Mentions, lengths: Sequence[int]) -> list[Component]:
        """Make the components from the training mentions."""

    def shapes(self, sentences: Sequence[Sentence], layout: SegmentLayout) -> Shapes:
        """Return what the components need to know of sentences; ``layout`` is that of the ``FeatureExtractor``."""
        return Shapes([len(s) for s in sentences])

    @abstractmethod
    def header(self, components: Sequence[Component]) -> dict[str, Any]:
        """Return what ``from_header`` needs, as JSON."""

    @classmethod
    @abstractmethod
    def from_header(cls, header: Mapping[str, Any]) -> tuple[Self, list[Component]]:
        """Make the model and its components from what ``header`` returned; ``ModelFileError`` if it makes no sense."""

    def fit(self, task: Task) -> tuple[Trained, list[Iteration]]:
        if task.encoder is not None:
            from spanloom.models.encoding import fit_encoded

            return fit_encoded(self, task, task.encoder)
        trainer = structure_trainer(task.trainer)
        components = self.components(*task.shown)
        check_chosen(self, components, task.penalty)  # before the training, not after it
        learner = (task.learner or LocalLearner)(self, task, trainer)
        try:
            return self._learn(task, components, learner, trainer)
        finally:
            learner.close()

    @property
    def shared(self) -> float:
        """How much the weights of components have in common; 0: each learns by itself."""
        return 0.0

    def _learn(
        self, task: Task, components: list[Component], learner: ComponentLearner, trainer: StructureTrainer
    ) -> tuple[Trained, list[Iteration]]:
        extractor = learner.extractor
        dev = None if task.dev is None or not task.watched else self._watched(task.dev, extractor, task.threads)
        starts = self._starts(task, components, extractor)
        together = self.shared > 0 and len(components) > 1
        learn = learn_together if together else learn_apart
        weights, history, interrupted = learn(components, learner, starts, Watch(dev, trainer, task, self.shared))
        return self.finished(
            task, Structured(self, components, *without_unused(extractor, weights)), history, interrupted
        )

    def finished(
        self, task: Task, trained: Structured, history: list[Iteration], interrupted: bool
    ) -> tuple[Trained, list[Iteration]]:
        """Set or choose the mention penalty, and return what training gives; ``Interrupted`` if it was stopped."""
        if not isinstance(task.penalty, str):
            trained.set_penalty(penalty.by_label(task.penalty, sorted(trained.labels)))
        elif not interrupted and task.dev is not None:
            trained.tune_penalty(task.dev, task.threads, by_label=task.penalty == "auto-by-label")
        if interrupted:
            raise Interrupted(trained, history)
        return trained, history

    def _starts(self, task: Task, components: Sequence[Component], extractor: FeatureExtractor) -> list[Weights | None]:
        before = task.start
        if before is None:
            return [None] * len(components)
        known = extractor.numbers_in(before.extractor)
        return [before.start_for(Wanted.of(c, known), c.structure.global_cells) for c in components]

    def _watched(self, dev: Sequence[Sentence], extractor: FeatureExtractor, threads: int | None) -> Dev:
        shapes = self.shapes(dev, extractor.layout)
        rows = extractor.transform(dev, threads, shapes.lattices)
        return Dev(rows, [s.mentions for s in dev], shapes, threads or 0)

    @classmethod
    def restore(cls, header: Mapping[str, Any], arrays: Arrays, extractor: FeatureExtractor) -> Trained:
        model, components = cls.from_header({name: value for name, value in header.items() if name != ENCODER})
        weights = [stored_weights(arrays, i) for i in range(len(components))]
        if ENCODER in header:
            from spanloom.models.encoded import Encoded

            return Encoded.restored(model, components, extractor, weights, header[ENCODER], arrays)
        return Structured(model, components, extractor, weights)


class Structured(Trained):
    """Components with their weights. All of them are searched at once."""

    model: StructuredModel

    def __init__(
        self,
        model: StructuredModel,
        components: Sequence[Component],
        extractor: FeatureExtractor,
        weights: Sequence[Weights],
        more: int = 0,
    ) -> None:
        for component, one in zip(components, weights, strict=True):
            shape = (extractor.size + more, len(component.columns))  # weights for more rows than there are features
            if one.shape != shape or one.rows.dtype != np.float32 or one.globals.dtype != np.float64:
                raise ValueError(f"weights must be {shape} float32, not {one.shape} {one.rows.dtype}")
        self.model, self.components, self.extractor = model, components, extractor
        self.labels, self.penalty = labels_of(components), {}
        self.decoder, self.weights = side_by_side([c.structure for c in components], weights)
        self.finder = Finder.of(components, self.weights, self.decoder)
        self.reader = reader(extractor, self.weights)  # makes rows for the decoder; the extractor, with own numbers

    def find(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        return self._search(*self._rows(sentences, threads), threads)

    def _rows(self, sentences: Sequence[Sentence], threads: int | None, own: bool = False) -> tuple[SparseRows, Shapes]:
        shapes = self.model.shapes(sentences, self.extractor.layout)
        return (self.extractor if own else self.reader).transform(sentences, threads, shapes.lattices), shapes

    def _search(self, rows: SparseRows, shapes: Shapes, threads: int | None) -> Mentions:
        if self.finder is not None:
            return self.finder.find(rows, threads)
        found = decode_all(self.components, self.decoder, rows, shapes, threads or 0)
        if len(found) == 1:
            return found[0]
        return [sorted((m for part in parts for m in part), key=reading_order) for parts in zip(*found, strict=True)]

    def distribution(self, sentence: Sentence) -> Distribution:
        return next(self.distributions([sentence], 1))

    def distributions(self, sentences: Sequence[Sentence], threads: int | None = None) -> Iterator[Distribution]:
        for chunk in chunks(sentences, CHUNK):
            rows, shapes = self._rows(chunk, threads)
            bounds = rows.group_ptr.tolist()
            # Without offsets: a penalty is a decision, not a belief.
            tables = self.decoder.all_scores(rows, threads or 0)
            for s, (first, last) in enumerate(pairwise(bounds)):
                parts = [
                    c.distribution(table[first * len(c.columns) : last * len(c.columns)], one.globals, shapes, s)
                    for c, table, one in zip(self.components, tables, self.weights, strict=True)
                ]
                yield parts[0] if len(parts) == 1 else Joint(parts)

    def pruned(self, least: float) -> Trained:
        weights = [Weights(without_small(one.features, least), one.globals) for one in self.weights]
        smaller = Structured(self.model, self.components, *without_unused(self.extractor, weights))
        smaller.set_penalty(self.penalty)
        smaller.penalty_curve = self.penalty_curve
        return smaller

    @property
    def belief(self) -> str:
        return "bound" if any(not component.exact for component in self.components) else "exact"

    def probabilities(self, sentences: Sequence[Sentence], found: Mentions, threads: int | None = None) -> Mentions:
        done: Mentions = []
        for chunk in chunks(sentences, CHUNK):
            own = found[len(done) : len(done) + len(chunk)]
            done += with_probabilities(
                self.components, self.weights, self.decoder, *self._rows(chunk, threads), own, threads
            )
        return done

    def find_with_probabilities(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        if self.finder is not None:
            return self.finder.find(self._rows(sentences, threads)[0], threads, probabilities=True)
        done: Mentions = []
        for chunk in chunks(sentences, CHUNK):
            rows, shapes = self._rows(chunk, threads)
            found = self._believed(rows, shapes, threads)
            if found is None:
                found = self._search(rows, shapes, threads)
                found = with_probabilities(self.components, self.weights, self.decoder, rows, shapes, found, threads)
            done += found
        return done

    def find_by(
        self,
        rule: Rule,
        sentences: Sequence[Sentence],
        threads: int | None = None,
        conflicts: Counter[str] | None = None,
        *,
        probabilities: bool = False,
    ) -> Mentions:
        if self.finder is None:
            return super().find_by(rule, sentences, threads, conflicts, probabilities=probabilities)
        wanted = rule.wanted(self, self.finder.labels)
        return self.finder.find(self._rows(sentences, threads)[0], threads, probabilities=probabilities, **wanted)

    def _believed(self, rows: SparseRows, shapes: Shapes, threads: int | None, above: float = 0) -> Mentions | None:
        """Find mentions and their probabilities in one pass; None if the components need two."""
        alone = len(self.components) == 1
        return self.components[0].believed(self.decoder, rows, shapes, threads or 0, above) if alone else None

    def find_above(self, sentences: Sequence[Sentence], above: float, threads: int | None = None) -> Mentions:
        if self.finder is not None:
            return self.finder.find(self._rows(sentences, threads)[0], threads, above=above)
        done: Mentions = []
        for chunk in chunks(sentences, CHUNK):
            found = self._believed(*self._rows(chunk, threads), threads, above)
            done += super().find_above(chunk, above, threads) if found is None else found
        return done

    def contrasts(self, sentences: Sequence[Sentence], pairs: Sequence[Pair]) -> Iterator[Contrast]:
        rows, shapes = self._rows(sentences, None, own=True)
        table = Table(rows)
        first = list(accumulate((one.size for one in self.weights), initial=0))
        names = [list(component.global_names()) for component in self.components]

        def weight(key: int) -> Weight:
            if key < 0:
                return Weight(ENCODER, ENCODER)
            number = bisect_right(first, key) - 1
            feature = (key - first[number]) // len(self.components[number].columns)
            return Weight(self.extractor.name(feature), self.extractor.group(feature))

        for number, best, other in pairs:
            found = ContrastBuilder()
            for i, component in enumerate(self.components):
                own = [[m for m in some if m.label in component.types] for some in (best, other)]
                if set(own[0]) == set(own[1]):
                    continue
                used = [component.located(some, shapes, number) for some in own]
                self._compare(found, i, used, first[i], names[i], table, number, sentences[number].tokens)
            yield found.build(weight)

    def _compare(
        self,
        found: ContrastBuilder,
        i: int,
        used: Sequence[Sequence[tuple[int, Parts]]],
        first: int,
        names: Sequence[str],
        table: Table,
        number: int,
        tokens: Sequence[str],
    ) -> None:
        """Add the cells of component ``i`` that one of two structures uses more often."""
        component, weights = self.components[i], self.weights[i]
        width = len(component.columns)
        size = table.sites(number) * width
        # A site cell is the same wherever it is told from; a global cell is another at every place.
        sites = {cell: site for own in reversed(used) for cell, site in own if cell < size}
        counts: Counter[tuple[int, Parts]] = Counter()
        for own, sign in zip(used, (1, -1), strict=True):
            for cell, site in own:
                counts[cell, sites.get(cell, site)] += sign
        for (cell, site), count in counts.items():
            if not count:
                continue
            if cell >= size:
                name = names[cell - size]
                key = first + weights.size - weights.globals.size + cell - size
                what = Cell(site, name, name, count)
                found.add_one(what, key, float(weights.globals[cell - size]), Weight(name, TRANSITIONS))
                continue
            row, column = divmod(cell, width)
            ids, values = table.row(number, row)
            words = component.words(column, *quoted(tokens, site))
            keys = np.where(ids < self.extractor.size, first + ids * width + column, -1)
            found.add(Cell(site, component.columns[column], words, count), keys, weights.at(ids, column), values)

    def start_for(self, wanted: Wanted, global_cells: int) -> Weights | None:
        return carried(self.components, self.weights, wanted, global_cells)

    def ahead(self, before: Trained, by: float) -> Trained:
        made = copy(self)
        made.weights = []
        known = self.extractor.numbers_in(before.extractor)
        for component, one in zip(self.components, self.weights, strict=True):
            old = before.start_for(Wanted.of(component, known), component.structure.global_cells)
            made.weights.append(one if old is None else further(old, one, by))
        return made

    @property
    def untrained(self) -> frozenset[str]:
        pairs = zip(self.components, self.weights, strict=True)
        return frozenset().union(*(c.types for c, one in pairs if not one.rows.any() and not one.globals.any()))

    # The mention penalty

    def set_penalty(self, chosen: penalty.Penalty) -> None:
        self._set_offsets(chosen)
        self.penalty = dict(chosen)

    def tune_penalty(self, dev: Sequence[Sentence], threads: int | None, *, by_label: bool) -> Curve:
        if by_label:
            check_chosen(self.model, self.components, "auto-by-label")
        known = sorted(self.labels - self.untrained)
        if not any(mention.label in known for sentence in dev for mention in sentence.mentions):
            raise CorpusError(
                "the development data have no mention of a label that the model finds, so that they say nothing about "
                f"a mention penalty; labels are {', '.join(known)}"
            )
        rows, shapes = self._rows(dev, threads)

        def find(chosen: penalty.Penalty) -> Mentions:
            self._set_offsets(chosen)
            return judgeable(dev, self._search(rows, shapes, threads))

        curves = penalty.sweep(find, [s.mentions for s in dev], known)
        curve = penalty.choose_one(curves)
        value = curve.chosen or 0.0
        self.set_penalty(penalty.choose_each(curves) if by_label else penalty.by_label(value, sorted(self.labels)))
        self.penalty_curve = curve
        return curve

    def _set_offsets(self, chosen: penalty.Penalty) -> None:
        """Add the penalty to the cells that start a mention; labels without weights would start one at every word."""
        untrained = self.untrained if chosen else frozenset()
        for number, component in enumerate(self.components):
            starts = component.starts()
            if component.types & chosen.keys() and not any(starts):
                raise ParameterError(
                    f"the model {self.model.name!r} has no cells that start mentions, so that it takes no mention "
                    "penalty: leave it out, or define `starts` in the component of a model of your own"
                )
            offsets = np.array(
                [chosen.get(label, 0.0) if label is not None and label not in untrained else 0.0 for label in starts]
            )
            self.decoder.set_offsets(number, offsets if offsets.any() else np.zeros(0))

    # Keeping

    def weight_columns(self) -> Iterator[WeightColumn]:
        several = len(self.components) > 1  # whose columns may have the same names
        for component, weights in zip(self.components, self.weights, strict=True):
            prefix = f"{'/'.join(sorted(component.types))}: " if several else ""
            for k, name in enumerate(component.columns):
                own = weights.at(slice(self.extractor.size), k)
                yield WeightColumn(prefix + name, own, self.extractor.name, component.words(k))

    @property
    def weight_count(self) -> int:
        return sum(one.size for one in self.weights)

    def header(self) -> dict[str, Any]:
        return self.model.header(self.components)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        stored: dict[str, npt.NDArray[Any]] = {}
        for i, weights in enumerate(self.weights):
            stored[f"component.{i}.features"] = weights.features[: self.extractor.size]
            stored[f"component.{i}.globals"] = weights.globals
        return stored
