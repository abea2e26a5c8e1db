"""Cross-fitting: what is learned from a block of the training data is applied to the other blocks only.

A model that is applied to its own training data makes fewer mistakes there than in new text. Whoever learns from its
output would trust it too much. So the data are cut into blocks, and each block gets the output of a model that was
trained on the others. Sentences of one document speak of the same things, so a document is never cut.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, TypeVar

from spanloom.base.errors import CorpusError

Item = TypeVar("Item")
Model = TypeVar("Model")
Result = TypeVar("Result")


def blocks(sizes: Sequence[int], folds: int) -> list[range]:
    """Cut a corpus into at most ``folds`` blocks of neighbours of about the same size.

    Cut ``k`` is at the document border that is nearest to sentence ``n·k // folds``; of two at the same distance, the
    first. Blocks without a sentence are left out.

    Parameters
    ----------
    sizes
        How many sentences each document has. If fewer than two documents have any, sentences count as documents.
    folds
        How many blocks to make at most.

    Returns
    -------
    list of range
        Numbers of sentences, counted over all documents.

    Examples
    --------
    >>> blocks([2, 2, 5, 1], 2)
    [range(0, 4), range(4, 10)]
    >>> blocks([1] * 5, 2), blocks([5], 2)
    ([range(0, 2), range(2, 5)], [range(0, 2), range(2, 5)])
    """
    n = sum(sizes)
    alone = sum(size > 0 for size in sizes) < 2
    borders = list(range(n + 1)) if alone else list(accumulate(sizes, initial=0))
    cuts = [_nearest(borders, n * k // folds) for k in range(folds + 1)]
    return [range(a, b) for a, b in pairwise(cuts) if b > a]


def _nearest(borders: Sequence[int], place: int) -> int:
    at = bisect_left(borders, place)
    return min(borders[max(at - 1, 0) : at + 1], key=lambda border: (abs(border - place), border))


def cross_fit(
    items: Sequence[Item],
    folds: int,
    train: Callable[[list[Item]], Model | None],
    apply: Callable[[Model, list[Item]], Iterable[Result]],
    *,
    sizes: Sequence[int] | None = None,
    default: Callable[[], Result] | None = None,
    run: Callable[..., Iterable[Any]] = map,
) -> list[Result]:
    """Return for every item the result of a model that was trained on the other blocks.

    Parameters
    ----------
    items
        Sentences, or whatever stands for one.
    folds
        Into how many blocks they are cut, see ``blocks``.
    train
        Called with the items of all other blocks. None says that there is nothing to learn from.
    apply
        Called with a model and the items of a block; returns a result for each.
    sizes
        How many items each document has; without it each item is a document.
    default
        Makes the result of an item where ``train`` returned None. Without it that is an error.
    run
        Calls a function with each of several blocks, as ``map`` does, perhaps in parallel.

    Examples
    --------
    >>> cross_fit([1, 2, 3, 4], 2, train=sum, apply=lambda total, block: [total * item for item in block])
    [7, 14, 9, 12]
    """

    def one(block: range) -> list[Result]:
        model = train([*items[: block.start], *items[block.stop :]])
        if model is not None:
            return list(apply(model, list(items[block.start : block.stop])))
        if default is None:
            raise CorpusError(
                f"cross-fitting in {folds} blocks leaves nothing to learn from without the items {block.start} to "
                f"{block.stop - 1} of {len(items)}; give more training data"
            )
        return [default() for _ in block]

    parts = blocks([1] * len(items) if sizes is None else sizes, folds)
    return [result for results in run(one, parts) for result in results]
