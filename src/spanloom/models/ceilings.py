"""What each model could reach at best on a corpus: the share of its mentions that survive encode and decode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from spanloom.base.errors import SpanloomError
from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.mention import Mention
from spanloom.models import MODELS, Model
from spanloom.reductions import REDUCTIONS
from spanloom.training import hold


class Ceilings:
    """Collects the sentences of documents that pass by, so that a corpus is read once for counts and ceilings."""

    def __init__(self) -> None:
        self._sentences: list[Sentence] = []

    def watch(self, docs: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents on."""
        for doc in docs:
            self._sentences.extend(sentence for sentence in doc.sentences if sentence.mentions)
            yield doc

    def shares(self) -> dict[str, float]:
        """Return the ceiling of every model on what has passed."""
        return ceilings(self._sentences)


def ceilings(sentences: Iterable[Sentence]) -> dict[str, float]:
    """Return for every model, with its default settings, the highest recall that it can have on these sentences.

    Where a model cannot hold a sentence's mentions together, it gets the longest ones, as in training with
    ``overlap="longest"``. What it cannot tell apart counts as lost, too: the mentions that come back are counted, not
    those that went in. Models that need what the sentences do not have, such as trees, are left out.

    Examples
    --------
    >>> inner, outer = Mention("DNA", ((0, 1),)), Mention("other", ((0, 2),))
    >>> ceilings([Sentence(["gene", "expression"], [inner, outer])])["chain"]
    0.5
    """
    given = [sentence for sentence in sentences if sentence.mentions]
    shares: dict[str, float] = {}
    for name, make in (MODELS | REDUCTIONS).items():
        try:
            shares[name] = ceiling(make(), given)
        except SpanloomError:
            continue
    return shares


def ceiling(model: Model, sentences: Sequence[Sentence]) -> float:
    """Return the share of the mentions that survive encode and decode in one model."""
    gold = [set(sentence.mentions) for sentence in sentences]
    held = hold(model, sentences, "longest").mentions
    model.learn([(mentions, len(sentence)) for mentions, sentence in zip(held, sentences, strict=True)])
    survived = 0
    for own, kept, sentence in zip(gold, held, sentences, strict=True):
        # A segment stands for one mention and no other, and models without components hold what they took; where sites
        # are words or gaps, what comes back may differ.
        exact = model.sites == "segments" or not model.components
        found = kept if exact else _there_and_back(model, kept, len(sentence))
        survived += len(own & set(found))
    total = sum(map(len, gold))
    return survived / total if total else 1.0


def _there_and_back(model: Model, mentions: Sequence[Mention], n: int) -> list[Mention]:
    sites = n if model.sites == "tokens" else n + 1
    found: list[list[Mention]] = []
    for component in model.components:
        own = [m for m in mentions if m.label in component.types]
        if not own:  # of nothing comes nothing; most sentences have few of many types
            found.append([])
            continue
        cells = component.encode(own, n)
        # Global cells come after the site cells; only those are read.
        found.append(component.decode(np.sort(cells[cells < sites * len(component.columns)]), n))
    return model.unite(found)
