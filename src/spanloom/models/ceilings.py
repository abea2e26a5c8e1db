"""What each model could reach at best on a corpus: the share of its mentions that survive encode and decode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from spanloom.base.errors import SpanloomError
from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.mention import Mention
from spanloom.models.base import MODELS, Model
from spanloom.models.component import Component
from spanloom.models.holding import hold
from spanloom.models.structured import StructuredModel
from spanloom.models.tagger import Tagger
from spanloom.schemes.separators import LOST, read_back


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

    def readings(self) -> dict[str, int]:
        """Return what separators lose and invent on what has passed; see ``readings``."""
        return readings(self._sentences)


def ceilings(sentences: Iterable[Sentence]) -> dict[str, float]:
    """Return for every model, with its default settings, the highest recall that it can have on these sentences.

    Where a model cannot hold a sentence's mentions together, it gets the longest ones, as in training with
    ``keep="longest"``. What it cannot tell apart counts as lost, too: the mentions that come back are counted, not
    those that went in. Models that need what the sentences do not have, such as trees, are left out.

    Examples
    --------
    >>> inner, outer = Mention("DNA", ((0, 1),)), Mention("other", ((0, 2),))
    >>> ceilings([Sentence(["gene", "expression"], [inner, outer])])["chain"]
    0.5
    """
    given = [sentence for sentence in sentences if sentence.mentions]
    shares: dict[str, float] = {}
    for name, make in MODELS.items():
        if name == Tagger.name:
            continue
        try:
            shares[name] = ceiling(make(), given)
        except SpanloomError:
            continue
    return shares


def readings(sentences: Iterable[Sentence]) -> dict[str, int]:
    """Count the mentions in one piece that are lost, by reason, and invented when they are written as separators.

    ``edge``, ``state`` and ``hypergraph`` cannot do better: they see separators only. The reasons are told in
    ``spanloom.schemes.separators``.

    Examples
    --------
    >>> spans = [(0, 4), (1, 2), (1, 3)]
    >>> readings([Sentence(["a", "b", "c", "d"], [Mention("x", (span,)) for span in spans])])
    {'crossing': 0, 'common end': 0, 'several ends': 1, 'consequence': 0, 'invented': 1}
    """
    counts = Counter(dict.fromkeys((*LOST, "invented"), 0))
    for sentence in sentences:
        spans: dict[str, list[tuple[int, int]]] = {}
        for mention in sentence.mentions:
            if len(mention.parts) == 1:
                spans.setdefault(mention.label, []).append(mention.parts[0])
        for own in spans.values():
            if len(own) > 1:
                found = read_back(own, len(sentence))
                counts.update(found.lost.values())
                counts["invented"] += len(found.invented)
    return dict(counts)


def ceiling(model: Model, sentences: Sequence[Sentence]) -> float:
    """Return the share of the mentions that survive encode and decode in one model."""
    gold = [set(sentence.mentions) for sentence in sentences]
    held = hold(model, sentences, "longest").mentions
    lengths = [len(sentence) for sentence in sentences]
    # A segment stands for one mention and no other, and models without components hold what they took; where sites are
    # words or gaps, what comes back may differ.
    back = held
    if isinstance(model, StructuredModel) and model.sites in ("tokens", "gaps"):
        components = model.resolve(held, lengths).components(held, lengths)
        sites = 0 if model.sites == "tokens" else 1
        back = [_there_and_back(components, some, n, n + sites) for some, n in zip(held, lengths, strict=True)]
    survived = sum(len(own & set(found)) for own, found in zip(gold, back, strict=True))
    total = sum(map(len, gold))
    return survived / total if total else 1.0


def _there_and_back(components: Sequence[Component], mentions: Sequence[Mention], n: int, sites: int) -> list[Mention]:
    found: list[Mention] = []
    for component in components:
        own = [m for m in mentions if m.label in component.types]
        if own:  # most sentences have few of many types
            cells = component.encode(own, n)
            # Global cells come after the site cells; only those are read.
            found += component.decode(np.sort(cells[cells < sites * len(component.columns)]), n)
    return found
