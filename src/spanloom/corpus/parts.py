"""Parts of a corpus: splits and samples, by document or by sentence, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Set
from itertools import accumulate

from spanloom.base.counted import counted
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.corpus.document import Document


def split_places(docs: Iterable[Document], parts: str, by: str, seed: int | None) -> list[frozenset[int]]:
    """Return for each part the numbers of its documents or sentences.

    Parameters
    ----------
    parts
        Sizes in proportion to each other, e.g. ``80/10/10``. Every part gets its share rounded, the last the rest.
    by
        ``document`` or ``sentence``.
    seed
        Of the shuffle; None keeps the order.

    Examples
    --------
    >>> docs = [Document([], id=str(i)) for i in range(10)]
    >>> [sorted(part) for part in split_places(docs, "80/10/10", "document", None)]
    [[0, 1, 2, 3, 4, 5, 6, 7], [8], [9]]
    """
    try:
        sizes = [float(size) for size in parts.split("/")]
    except ValueError:
        sizes = []
    if not sizes or any(not 0 < size < float("inf") for size in sizes):
        raise ParameterError(f"parts must be positive numbers joined by slashes, such as 80/10/10, not {parts!r}")
    places = list(range(_count(docs, by)))
    if len(places) < len(sizes):
        way = ""
        if by == "document":
            way = "; divide it by sentence, or mark documents, in CoNLL by lines that begin with -DOCSTART-"
        raise CorpusError(f"{counted(len(places), by)} cannot be divided into {len(sizes)} parts{way}")
    if seed is not None:
        random.Random(seed).shuffle(places)
    edges = [0, *(round(len(places) * x / sum(sizes)) for x in accumulate(sizes))]
    # No part is empty: an edge leaves room for the parts before and after it.
    edges = [min(max(edge, k), len(places) - len(sizes) + k) for k, edge in enumerate(edges)]
    return [frozenset(places[edges[k] : edges[k + 1]]) for k in range(len(sizes))]


def sample_places(docs: Iterable[Document], size: int, by: str, seed: int) -> frozenset[int]:
    """Return the numbers of so many documents or sentences, drawn without replacement."""
    if size < 0:
        raise ParameterError(f"the size of a sample must not be negative, not {size}")
    count = _count(docs, by)
    return frozenset(random.Random(seed).sample(range(count), min(size, count)))


def part(docs: Iterable[Document], places: Set[int], by: str) -> Iterator[Document]:
    """Yield the documents of a part; by sentence, documents come with their chosen sentences, if they have any."""
    at = 0
    for number, doc in enumerate(docs):
        if by == "document":
            if number in places:
                yield doc
            continue
        chosen = [s for k, s in enumerate(doc.sentences) if at + k in places]
        at += len(doc.sentences)
        if len(chosen) == len(doc.sentences) and chosen:
            yield doc
        elif chosen:
            yield Document(chosen, doc.id, meta=doc.meta)


def _count(docs: Iterable[Document], by: str) -> int:
    if by not in ("document", "sentence"):
        raise ParameterError(f"by must be document or sentence, not {by!r}")
    return sum(1 if by == "document" else len(doc.sentences) for doc in docs)
