"""What is known of sentences, as supervision of a component: one structure where all is, else a mask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom._native import Supervision
from spanloom.base.arrays import Floats
from spanloom.corpus.document import Sentence
from spanloom.corpus.known import Believed
from spanloom.corpus.mention import Mention
from spanloom.models.component import Component, Shapes
from spanloom.schemes.partial import Mask


def supervise(
    component: Component,
    sentences: Sequence[Sentence],
    gold: Sequence[Sequence[Mention]],
    shapes: Shapes,
    weights: npt.NDArray[np.float64] | None = None,
) -> Supervision:
    """Return what a component learns from.

    Parameters
    ----------
    sentences
        Of them, ``known``; one that knows all about the component's labels is supervised by its one structure. Where a
        teacher believes something, cells are to be used as often as it expects.
    gold
        The mentions of each sentence that the model can hold.
    weights
        One for each sentence, at least 0; None: 1.

    Examples
    --------
    >>> from spanloom.corpus import Known
    >>> from spanloom.models.edge import EdgeComponent
    >>> sentences = [Sentence(["a", "b"]), Sentence(["a"], known=Known(labels=()))]
    >>> found = supervise(EdgeComponent("DNA"), sentences, [[], []], Shapes([2, 1]))
    >>> found.cells.tolist(), found.mask(0) is None, int(found.mask(1).sum())
    ([0, 8, 16], True, 4)
    """
    types = component.types
    own = [[m for m in mentions if m.label in types] for mentions in gold]
    believed = {number: sentence.believed for number, sentence in enumerate(sentences) if sentence.believed is not None}
    masks = {
        number: component.allowed_in(own[number], sentence.known, shapes, number).ravel()
        for number, sentence in enumerate(sentences)
        if sentence.known is not None
        and not sentence.known.complete(types)
        and len(sentence)
        and number not in believed
    }
    encoded = component.encode_all([[] if k in masks else mentions for k, mentions in enumerate(own)], shapes)
    nothing = np.zeros(0, np.int32)
    cells = [nothing if k in masks else some for k, some in enumerate(encoded)]
    more: dict[str, Any] = {"weights": weights}
    if believed:
        targets = _targets(component, believed, shapes, len(cells))
        values = [targets[k][1] if k in targets else np.ones(len(some)) for k, some in enumerate(cells)]
        cells = [targets[k][0] if k in targets else some for k, some in enumerate(cells)]
        each = np.ones(len(cells)) if weights is None else weights.copy()
        for number, told in believed.items():
            each[number] *= told.weight
        more = {"weights": each, "values": np.concatenate([np.zeros(0), *values])}
    if masks:
        rows = [masks.get(k, np.zeros(0, np.uint8)) for k in range(len(cells))]
        more["masks"] = _bounds(rows), np.concatenate(rows)
    return Supervision(_bounds(cells), np.concatenate([nothing, *cells]), **more)


def _targets(
    component: Component, believed: Mapping[int, Believed], shapes: Shapes, size: int
) -> dict[int, tuple[npt.NDArray[np.int32], Floats]]:
    """Return the cells that the believed mention sets of sentences use, and how often each is expected to be used."""
    used: dict[int, list[tuple[npt.NDArray[np.int32], float]]] = {number: [] for number in believed}
    for rank in range(max(len(told.sets) for told in believed.values())):  # the sets of a rank of all sentences at once
        own: list[list[Mention]] = [[] for _ in range(size)]
        for number, told in believed.items():
            if rank < len(told.sets):
                own[number] = [m for m in told.sets[rank][1] if m.label in component.types]
        encoded = component.encode_all(own, shapes)
        for number, told in believed.items():
            if rank < len(told.sets):
                used[number].append((encoded[number], told.sets[rank][0]))
    done = {}
    for number, pairs in used.items():
        cells, places = np.unique(np.concatenate([cells for cells, _ in pairs]), return_inverse=True)
        values = np.zeros(len(cells))
        np.add.at(values, places, np.concatenate([np.full(len(some), p) for some, p in pairs]))
        done[number] = cells.astype(np.int32), values
    return done


def locally_known(mask: Mask, order: int) -> Mask:
    """Return the mask of a locally normalised model: tokens count whose label and ``order`` labels before are known.

    All labels are allowed at other tokens, so that they add nothing to the loss; their histories do not matter then.

    Parameters
    ----------
    mask
        ``[token, label]`` of a sentence, as ``ChainComponent.allowed`` returns.

    Examples
    --------
    >>> locally_known(np.array([[0, 1], [1, 0], [1, 1], [1, 0], [1, 0]], np.uint8), 1).tolist()
    [[0, 1], [1, 0], [1, 1], [1, 1], [1, 0]]
    """
    certain = mask.sum(axis=1) == 1
    counts = certain.copy()
    for back in range(1, order + 1):
        counts[back:] &= certain[:-back]
    return np.where(counts[:, None], mask, np.uint8(1))


def _bounds(arrays: Sequence[npt.NDArray[np.generic]]) -> npt.NDArray[np.int64]:
    ptr = np.zeros(len(arrays) + 1, np.int64)
    np.cumsum([len(array) for array in arrays], out=ptr[1:])
    return ptr
