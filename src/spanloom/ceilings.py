"""What each model could reach at best on a corpus: the share of its mentions that survive encode and decode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import numpy as np

from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.mention import Mention
from spanloom.errors import CorpusError
from spanloom.models import MODELS, Model, Standalone
from spanloom.training import hold


class Ceilings:
    """Collects the sentences of documents that pass by, so that a corpus is read once for counts and ceilings."""

    def __init__(self) -> None:
        self._sentences: list[Sentence] = []

    def watch(self, docs: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents on."""
        for doc in docs:
            self._sentences.extend(s for s in doc.sentences if s.mentions)
            yield doc

    def shares(self) -> dict[str, float]:
        """Return the ceiling of every model on what has passed."""
        return ceilings(self._sentences)


def ceilings(sentences: Iterable[Sentence]) -> dict[str, float]:
    """Return for every model, with its default settings, the highest recall that it can have on these sentences.

    Where a model cannot hold a sentence's mentions together, it gets the longest ones, as in training with
    ``overlap="longest"``. What it cannot tell apart counts as lost, too: the mentions that come back are counted,
    not those that went in. Models that go by trees are left out where a sentence has none.

    Examples
    --------
    >>> inner, outer = Mention("DNA", ((0, 1),)), Mention("other", ((0, 2),))
    >>> ceilings([Sentence(["gene", "expression"], [inner, outer])])["chain"]
    0.5
    """
    corpus = list(sentences)
    found = {}
    for name, model in MODELS.items():
        with suppress(CorpusError):
            found[name] = ceiling(model(), corpus)
    return found


def ceiling(model: Model, sentences: Sequence[Sentence]) -> float:
    """Return the share of the mentions that survive encode and decode in one model."""
    held = hold(model, sentences, "longest").mentions
    model.learn([(mentions, len(s)) for mentions, s in zip(held, sentences, strict=True)])
    total = survived = 0
    for sentence, kept in zip(sentences, held, strict=True):
        mentions = set(sentence.mentions)
        total += len(mentions)
        if kept:
            survived += len(mentions & set(_there_and_back(model, kept, sentence)))
    return survived / total if total else 1.0


def _there_and_back(model: Model, mentions: Sequence[Mention], sentence: Sentence) -> list[Mention]:
    if isinstance(model, Standalone):
        return list(mentions)
    n = len(sentence)
    shapes = model.shapes([sentence], (1, 1, False))
    sites = shapes.lattices.rows if shapes.lattices else n if model.sites == "tokens" else n + 1
    found = []
    for component in model.components:
        (cells,) = component.encode_all([[m for m in mentions if m.label in component.types]], shapes)
        # Global cells come after the site cells; only those are read.
        found.append(component.decode(np.sort(cells[cells < sites * len(component.columns)]), n))
    return model.unite(found)
