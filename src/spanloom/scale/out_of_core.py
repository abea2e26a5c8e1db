"""Training with bounded memory: compiled features in files that are mapped into memory, one block after the other."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from spanloom._native import Supervision
from spanloom.base.arrays import Floats32
from spanloom.base.errors import ParameterError
from spanloom.features.counts import FeatureCounts
from spanloom.models.base import Task
from spanloom.models.learner import ComponentLearner
from spanloom.models.structured import StructuredModel
from spanloom.models.supervised import supervise
from spanloom.scale.blocks import Block, BlockData, BlockRows, Numbers, Plan, count_block
from spanloom.scale.sharded import Crew, ShardedLearner, TreeSum

_ARRAYS = ("group_ptr", "row_ptr", "ids", "values", "present")
_GROWTH = 6
"""A compiled block takes so many times its stored features: by row, by column, merged, and while it is made."""


def out_of_core(
    memory: int = 1 << 30, *, blocks: int | None = None, folder: str | Path | None = None
) -> Callable[..., ComponentLearner]:
    """Return a ``learner`` for ``Recognizer.fit`` that keeps compiled features in files.

    Features are compiled once for each block of sentences and stored. Each evaluation of the objective goes through the
    blocks; those that do not fit into ``memory`` are made anew from their files. The model is that of
    ``spanloom.scale.dask_training.learner`` with as many blocks, to the byte.

    Parameters
    ----------
    memory
        Bytes for compiled features that stay in memory, at least one block's. Sentences, weights and what the optimiser
        remembers (``2 · memory + 4`` vectors of all weights, its setting ``memory`` being 6) come on top.
    blocks
        A power of two: more blocks are smaller ones. None: at most a million tokens each, from 4 to 64 blocks.
    folder
        Where files go; a temporary folder if left out. It is emptied at the end.

    Examples
    --------
    >>> from spanloom import Recognizer, read
    >>> ner = Recognizer("chain", keep="longest").fit(read("sample:train"), learner=out_of_core(blocks=4))
    >>> ner.predict("The IL-2 gene.", probabilities=False).mentions
    [Mention(label='DNA', parts=((1, 5),), prob=None)]
    """
    if memory < 0:
        raise ParameterError(f"memory must be at least 0 bytes, got {memory}")
    return partial(_learner, memory=memory, blocks=blocks, folder=folder)


def _learner(
    model: StructuredModel, task: Task, trainer: Any, memory: int, blocks: int | None, folder: str | Path | None
) -> ComponentLearner:
    return ShardedLearner(model, task, trainer, DiskCrew(memory, folder), blocks)


class DiskCrew(Crew):
    """This process, with blocks in files."""

    def __init__(self, memory: int, folder: str | Path | None = None) -> None:
        self.memory = memory
        self.folder = Path(tempfile.mkdtemp(prefix="spanloom-", dir=folder))
        self._data: list[BlockData] = []
        self._threads: int | None = 1
        self._sums = TreeSum()
        self._resident: dict[int, tuple[Block, int]] = {}  # the last used comes last

    def count(self, blocks: Sequence[BlockData], task: Task, model: StructuredModel) -> list[FeatureCounts]:
        self._data, self._threads = list(blocks), task.threads
        return [count_block(data, task.features, model, self._threads) for data in self._data]

    def compile(self, plan: Plan) -> list[tuple[Numbers, Numbers]]:
        found = []
        for number, data in enumerate(self._data):
            shapes = plan.model.shapes(data.sentences, plan.extractor.layout)
            if shapes.lattices is not None:
                raise ParameterError(
                    f"features of segments cannot be kept in files; train {plan.model.name} without learner=…"
                )
            rows = BlockRows.of(plan, data, shapes, self._threads)
            self._store(f"{number}", {name: getattr(rows, name) for name in _ARRAYS})
            for k, component in enumerate(plan.components):
                if any(s.believed is not None for s in data.sentences):
                    raise ParameterError("what a teacher believes cannot be kept in files; train without learner=…")
                known = supervise(component, data.sentences, data.gold, shapes)
                if any(known.mask(s) is not None for s in range(len(data.sentences))):
                    raise ParameterError("sentences that are annotated in part cannot be kept in files; leave them out")
                self._store(f"{number}-{k}", {"ptr": known.ptr, "cells": known.cells})
            found.append((rows.present, np.array(rows.compress(bundles=False).class_of)))
        self._data = []
        return found

    def share(self, plan: Plan, present: Sequence[Numbers]) -> None:
        self._plan, self._blocks = plan, len(present)

    def evaluate(self, number: int, x: Floats32) -> tuple[float, Floats32]:
        def leaf(k: int, gradient: Floats32) -> float:
            return self._block(k, number).evaluate(x, gradient)

        return self._sums.of(self._blocks, len(x), leaf)

    def close(self) -> None:
        self._resident.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _block(self, k: int, number: int) -> Block:
        block, size = self._resident.pop(k, (None, 0))
        if block is None:
            rows = BlockRows(**self._load(f"{k}", _ARRAYS))
            size = _GROWTH * rows.nbytes
            while self._resident and sum(own for _, own in self._resident.values()) + size > self.memory:
                # The last used one goes: all are used in turn, so that the first ones will be the next.
                self._resident.popitem()
            block = Block(rows.present, rows.compress(), self._plan)
        if not block.is_ready(number):
            known = self._load(f"{k}-{number}", ("ptr", "cells"))
            component = self._plan.components[number]
            supervision = Supervision(known["ptr"], known["cells"])
            block.prepare(number, supervision, component.structure, self._threads or 0)
        self._resident[k] = block, size
        return block

    def _store(self, name: str, arrays: dict[str, Any]) -> None:
        for key, array in arrays.items():
            if array is not None:
                np.save(self.folder / f"{name}.{key}.npy", np.asarray(array))

    def _load(self, name: str, keys: Sequence[str]) -> dict[str, Any]:
        paths = {key: self.folder / f"{name}.{key}.npy" for key in keys}
        return {key: np.load(path, mmap_mode="r") if path.exists() else None for key, path in paths.items()}
