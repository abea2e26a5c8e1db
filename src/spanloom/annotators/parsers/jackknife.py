"""Trees for the text that a parser was trained on, as good and as bad as those for new text."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence

from spanloom.annotators.parsers.base import Parser, with_trees
from spanloom.base.parameters import check_count
from spanloom.corpus.document import Sentence

Train = Callable[[Sequence[Sentence]], Parser]
"""Learns a parser from sentences with trees."""


def jackknife(
    sentences: Sequence[Sentence],
    train: Train,
    *,
    folds: int = 5,
    seed: int = 1,
    retag: bool = False,
    cache: str | os.PathLike[str] | None = None,
) -> list[Sentence]:
    """Return the sentences with predicted instead of gold trees, each by a parser that has not seen it.

    A model that is to work with predicted trees must also learn from such; a parser's trees for its own training
    sentences would be too good. So the sentences are dealt into folds, and each fold is parsed by a parser that was
    trained on the others.

    Parameters
    ----------
    sentences
        With gold trees.
    train
        Called with the sentences of the other folds.
    folds, seed
        Into how many parts, and how the sentences are dealt.
    retag, cache
        See ``with_trees``.
    """
    check_count("folds", folds, low=2)
    order = list(range(len(sentences)))
    random.Random(seed).shuffle(order)
    found = list(sentences)
    for fold in range(folds):
        part = sorted(order[fold::folds])
        if not part:
            continue
        inside = set(part)
        parser = train([s for i, s in enumerate(sentences) if i not in inside])
        parsed = with_trees([sentences[i] for i in part], parser, again=True, retag=retag, cache=cache)
        for i, sentence in zip(part, parsed, strict=True):
            found[i] = sentence
    return found
