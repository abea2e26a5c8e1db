"""What is known of sentences, as supervision of a component: one structure where all is, else a mask."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from spanloom._native import Supervision
from spanloom.corpus.document import Sentence
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
        Of them, ``known``; one that knows all about the component's labels is supervised by its one structure.
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
    masks = {
        number: component.allowed_in(own[number], sentence.known, shapes, number).ravel()
        for number, sentence in enumerate(sentences)
        if sentence.known is not None and not sentence.known.complete(types) and len(sentence)
    }
    encoded = component.encode_all([[] if k in masks else mentions for k, mentions in enumerate(own)], shapes)
    nothing = np.zeros(0, np.int32)
    cells = [nothing if k in masks else some for k, some in enumerate(encoded)]
    if not masks:
        return Supervision(_bounds(cells), np.concatenate([nothing, *cells]), weights=weights)
    rows = [masks.get(k, np.zeros(0, np.uint8)) for k in range(len(cells))]
    both = _bounds(rows), np.concatenate(rows)
    return Supervision(_bounds(cells), np.concatenate([nothing, *cells]), masks=both, weights=weights)


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
