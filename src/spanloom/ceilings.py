"""What each model could reach at best on a corpus: the share of its mentions that survive encode and decode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.mention import Mention
from spanloom.models import MODELS, Model
from spanloom.schemes.flat import flatten


class Ceilings:
    """Collects the mentions of documents that pass by, so that a corpus is read once for counts and ceilings."""

    def __init__(self) -> None:
        self._pairs: list[tuple[list[Mention], int]] = []

    def watch(self, docs: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents on."""
        for doc in docs:
            self._pairs.extend((sorted(set(s.mentions)), len(s)) for s in doc.sentences if s.mentions)
            yield doc

    def shares(self) -> dict[str, float]:
        """Return the ceiling of every model on what has passed."""
        return {name: ceiling(model(), self._pairs) for name, model in MODELS.items()}


def ceilings(sentences: Iterable[Sentence]) -> dict[str, float]:
    """Return for every model, with its default settings, the highest recall that it can have on these sentences.

    Where a model cannot hold a sentence's mentions together, it gets the longest ones, as in training with
    ``overlap="longest"``. What it cannot tell apart counts as lost, too: the mentions that come back are counted,
    not those that went in.

    Examples
    --------
    >>> inner, outer = Mention("DNA", ((0, 1),)), Mention("other", ((0, 2),))
    >>> ceilings([Sentence(["gene", "expression"], [inner, outer])])["chain"]
    0.5
    """
    pairs = [(sorted(set(sentence.mentions)), len(sentence)) for sentence in sentences]
    return {name: ceiling(model(), pairs) for name, model in MODELS.items()}


def ceiling(model: Model, sentences: Sequence[tuple[Sequence[Mention], int]]) -> float:
    """Return the share of the mentions that survive encode and decode in one model."""
    held = [
        (mentions if not mentions or model.misfit(mentions) is None else flatten(mentions, "longest")[0], n)
        for mentions, n in sentences
    ]
    model.learn(held)
    total = survived = 0
    for (mentions, n), (kept, _) in zip(sentences, held, strict=True):
        total += len(mentions)
        if kept:
            survived += len(set(mentions) & set(_there_and_back(model, kept, n)))
    return survived / total if total else 1.0


def _there_and_back(model: Model, mentions: Sequence[Mention], n: int) -> list[Mention]:
    sites = n if model.sites == "tokens" else n + 1
    found = []
    for component in model.components:
        cells = component.encode([m for m in mentions if m.label in component.types], n)
        # Global cells come after the site cells; only those are read.
        found.append(component.decode(np.sort(cells[cells < sites * len(component.columns)]), n))
    return model.unite(found)
