"""A block of training sentences where its gradient is worked out: compiled features, and the way to shared parameters.

Features that fire at the same sites of the whole corpus share one parameter ``v = √M · w``, where ``M`` is how many
they are (see ``CompressedRows``); they are a *class*. Within a block more features are alike. A class ``c`` of the
block with ``m`` features has the parameter

    u_c = Σ_g √M_g · v_g / √m_c,   over the shared classes g within it

so that its sites see the sum of all their weights; and by the chain rule ``∂/∂v_g = √M_g / √m_c · ∂/∂u_c``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom._native import CompressedRows, Likelihood, SharedRows, SparseRows
from spanloom.base.arrays import Floats32, Tied
from spanloom.base.model_file import from_bytes, to_bytes
from spanloom.corpus import Mention, Sentence
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.features.counts import FeatureCounts
from spanloom.learning import LBFGS
from spanloom.learning.lbfgs import native_tying
from spanloom.models import MODELS
from spanloom.models.component import Component, Shapes
from spanloom.models.structured import StructuredModel
from spanloom.models.supervised import supervise

Numbers = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class BlockData:
    """Some sentences with the mentions to learn."""

    sentences: Sequence[Sentence]
    gold: Sequence[Sequence[Mention]]


@dataclass(frozen=True)
class Plan:
    """What all blocks are compiled with. It travels as bytes: arrays and JSON.

    Attributes
    ----------
    model, components
        What is learned.
    extractor
        The features of the whole corpus.
    shared
        The class of each feature, over the whole corpus; empty while that is not known.
    trainer
        How it is learned.
    """

    model: StructuredModel
    components: Sequence[Component]
    extractor: FeatureExtractor
    shared: Numbers
    trainer: LBFGS

    def to_bytes(self) -> bytes:
        """Return the bytes from which ``from_bytes`` makes an equal plan."""
        features, header = self.extractor.state()
        arrays = {f"features.{name}": array for name, array in features.items()} | {"shared": self.shared}
        stored = {"name": self.model.name, **self.model.header(self.components)}
        return to_bytes(arrays, {"model": stored, "features": header, "trainer": self.trainer.to_json()})

    @classmethod
    def from_bytes(cls, data: bytes) -> Plan:
        """Undo ``to_bytes``."""
        arrays, header = from_bytes(data)
        kind = MODELS[header["model"]["name"]]
        if not issubclass(kind, StructuredModel):
            raise TypeError(f"{kind.name} is not made of components")
        model, components = kind.from_header(header["model"])
        own = {name.removeprefix("features."): a for name, a in arrays.items() if name.startswith("features.")}
        extractor = FeatureExtractor.from_state(own, header["features"])
        settings = {name: value for name, value in header["trainer"].items() if name != "name"}
        return cls(model, components, extractor, arrays["shared"].copy(), LBFGS(**settings))

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many features each shared class has."""
        return np.bincount(self.shared)

    def tying(self, number: int) -> tuple[Tied | None, Tied | None]:
        """Return the tyings of a component's site and global scores, as they are trained."""
        component = self.components[number]
        sites, globals_ = component.tying()
        return self.trainer.site_tying(sites, component.structure.columns), globals_

    def widths(self, number: int) -> tuple[int, int]:
        """Return how many parameters a class has for a component, and how many global ones there are."""
        structure = self.components[number].structure
        sites, globals_ = self.tying(number)
        return (
            structure.columns if sites is None else sites.width,
            structure.global_cells if globals_ is None else globals_.width,
        )


def count_block(
    data: BlockData, features: FeatureSet, model: StructuredModel, threads: int | None = 1
) -> FeatureCounts:
    """Count the features of a block, for the table of the whole corpus."""
    extractor = FeatureExtractor(features, model.sites)
    shapes = model.shapes(data.sentences, extractor.layout)
    return extractor.count(data.sentences, threads, shapes.lattices)


@dataclass(frozen=True)
class BlockRows:
    """The compiled features of a block: what can be stored, and mapped into memory again.

    Attributes
    ----------
    group_ptr, row_ptr, ids, values
        Those of ``SparseRows``; ids count the features in ``present``.
    present
        The features of the whole corpus that occur in the block, ascending.
    """

    group_ptr: npt.NDArray[np.int64]
    row_ptr: npt.NDArray[np.int64]
    ids: Numbers
    values: Floats32 | None
    present: Numbers

    @classmethod
    def of(cls, plan: Plan, data: BlockData, shapes: Shapes, threads: int | None = 1) -> BlockRows:
        """Extract the features of a block."""
        rows = plan.extractor.transform(data.sentences, threads, shapes.lattices)
        there = np.zeros(rows.width, np.bool_)
        there[rows.ids] = True
        present = np.flatnonzero(there).astype(np.uint32)
        number = np.zeros(rows.width, np.uint32)
        number[present] = np.arange(len(present), dtype=np.uint32)
        values = None if rows.values is None else np.array(rows.values)
        return cls(np.array(rows.group_ptr), np.array(rows.row_ptr), number[rows.ids], values, present)

    def compress(self, *, bundles: bool = True) -> CompressedRows:
        """Merge what is alike within the block; bundles are for those who evaluate it."""
        rows = SparseRows(self.group_ptr, self.row_ptr, self.ids, len(self.present), self.values)
        return CompressedRows(rows, merge=True, bundles=bundles, threads=1)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in vars(self).values() if array is not None)


class Block:
    """A compiled block: the loss of its sentences, and its gradient by the shared parameters that occur in it.

    Parameters
    ----------
    present, compressed
        The features that occur in it, and ``BlockRows.compress()``; the rows themselves are needed no more.
    plan
        The plan, with ``shared`` classes.

    Attributes
    ----------
    shared
        The shared classes that occur in the block, ascending.
    """

    def __init__(self, present: Numbers, compressed: CompressedRows, plan: Plan) -> None:
        self.plan, self.compressed = plan, compressed
        own = np.asarray(self.compressed.class_of)
        self.shared, first = np.unique(plan.shared[present], return_index=True)
        self._class_of = own[first]
        sizes = np.bincount(own, minlength=self.compressed.classes)
        self._factor = np.sqrt(plan.sizes[self.shared] / sizes[self._class_of])
        self._number = -1
        self._likelihood: Likelihood | None = None
        self.give_gradient_of(np.arange(len(plan.sizes), dtype=np.uint32))

    def give_gradient_of(self, classes: Numbers) -> None:
        """Say which shared classes, ascending, gradients have rows of, those of the block among them; at first all."""
        rows = np.searchsorted(classes, self.shared).astype(np.uint32)
        self._rows = SharedRows(self.compressed.classes, self._class_of, self.shared, self._factor, rows)

    def prepare(self, number: int, supervision: Any, structure: Any, threads: int = 1) -> None:
        """Get ready for a component; one at a time is kept."""
        sites, globals_ = map(native_tying, self.plan.tying(number))
        self._likelihood = Likelihood(self.compressed, structure, supervision, sites, globals_, threads=threads)
        self._number = number

    def is_ready(self, number: int) -> bool:
        """Whether a component can be evaluated."""
        return self._number == number and self._likelihood is not None

    def evaluate(self, x: Floats32, gradient: Floats32) -> float:
        """Return the loss, and add its derivatives to the gradient.

        Parameters
        ----------
        x
            Parameters of all shared classes, and global ones behind them.
        gradient
            Rows of the classes of ``give_gradient_of``, and global ones behind them; rows that the block has not stay
            as they are.
        """
        if self._likelihood is None:
            raise RuntimeError("the block is not prepared for a component")
        return self._rows.evaluate(self._likelihood, x, gradient)


def make_ready(block: Block, number: int, data: BlockData, shapes: Shapes) -> None:
    """Prepare a block for a component from its sentences."""
    component = block.plan.components[number]
    block.prepare(number, supervise(component, data.sentences, data.gold, shapes), component.structure_for(shapes))
