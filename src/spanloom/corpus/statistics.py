"""What is in a corpus: counts, kinds of mentions, depth, nesting patterns, overlap, and how mentions lie in trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.kinds import MENTION_KINDS, kinds
from spanloom.corpus.patterns import nesting_patterns
from spanloom.corpus.trees import arcs_to_right, is_single_arc, is_valid_span

_BATCH = 4096


@dataclass
class Statistics:
    """Counts over a corpus; the kinds of mentions are defined in :mod:`spanloom.corpus.kinds`.

    Attributes
    ----------
    by_label, by_length, depth
        Mentions by label, by number of tokens and by depth (1 is outermost).
    kinds
        Mentions of each kind.
    sentences_with
        Sentences with at least one mention of a kind, and with any ``mention``.
    patterns
        How often each nesting pattern occurs.
    overlap
        What ``muis_lu`` shows.
    trees
        Of the mentions in sentences with a ``head`` column: ``mentions``, ``valid_span``, ``single_arc``.
    """

    documents: int = 0
    sentences: int = 0
    tokens: int = 0
    mentions: int = 0
    by_label: Counter[str] = field(default_factory=Counter)
    by_length: Counter[int] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    depth: Counter[int] = field(default_factory=Counter)
    sentences_with: Counter[str] = field(default_factory=Counter)
    patterns: Counter[str] = field(default_factory=Counter)
    overlap: Counter[str] = field(default_factory=Counter)
    trees: Counter[str] = field(default_factory=Counter)

    def add(self, sentences: list[Sentence]) -> None:
        """Count sentences (documents are counted by ``statistics``)."""
        found = kinds([sentence.mentions for sentence in sentences])
        self.sentences += len(sentences)
        self.tokens += sum(map(len, sentences))
        self.mentions += len(found)
        for kind in MENTION_KINDS:
            flags = found[kind]
            self.kinds[kind] += int(flags.sum())
            self.sentences_with[kind] += len(np.unique(found.sentence[flags]))
        self.sentences_with["mention"] += len(np.unique(found.sentence))
        for name, flags in (("overlapping", found.overlapping), ("same type", found.same_type_overlapping)):
            again = flags | found.duplicate
            self.overlap[name] += int(again.sum())
            self.overlap[f"sentences {name}"] += len(np.unique(found.sentence[again]))
        self.depth.update(found.depth.tolist())
        nested = set(found.sentence[found.nested | found.same_span].tolist())
        for number, sentence in enumerate(sentences):
            self.by_label.update(m.label for m in sentence.mentions)
            self.by_length.update(map(len, sentence.mentions))
            if number in nested:
                self.patterns.update(nesting_patterns(sentence.mentions))
            if sentence.mentions and "head" in sentence.columns:
                self._trees(sentence)

    def _trees(self, sentence: Sentence) -> None:
        arcs = arcs_to_right(sentence.columns["head"])
        self.trees["mentions"] += len(sentence.mentions)
        self.trees["valid_span"] += sum(is_valid_span(m, arcs) for m in sentence.mentions)
        self.trees["single_arc"] += sum(is_single_arc(m, arcs) for m in sentence.mentions)

    def muis_lu(self) -> dict[str, tuple[int, float]]:
        """Return Muis and Lu's table 1: counts, with shares of the sentences or mentions they are counted in.

        As there, a mention that is given twice overlaps itself.
        """
        rows = {
            "sentences": (self.sentences, self.sentences),
            "with overlap": (self.overlap["sentences overlapping"], self.sentences),
            "mentions": (self.mentions, self.mentions),
            "overlapping": (self.overlap["overlapping"], self.mentions),
            "overlapping, same type": (self.overlap["same type"], self.mentions),
        }
        return {name: (n, n / total if total else 0.0) for name, (n, total) in rows.items()}

    def to_json(self, patterns: int = 20) -> dict[str, Any]:
        """Return everything as plain values; of the patterns the most frequent."""
        share = {kind: n / self.mentions if self.mentions else 0.0 for kind, n in self.kinds.items()}
        of = self.trees["mentions"]
        return {
            "documents": self.documents,
            "sentences": self.sentences,
            "tokens": self.tokens,
            "mentions": self.mentions,
            "by_label": dict(sorted(self.by_label.items())),
            "by_length": {str(n): self.by_length[n] for n in sorted(self.by_length)},
            "kinds": {
                kind: {"count": self.kinds[kind], "share": share[kind]} for kind in MENTION_KINDS if kind in self.kinds
            },
            "depth": {str(n): self.depth[n] for n in sorted(self.depth)},
            "sentences_with": dict(self.sentences_with),
            "patterns": dict(_most(self.patterns, patterns)),
            "muis_lu": {name: {"count": n, "share": s} for name, (n, s) in self.muis_lu().items()},
            "trees": {
                "mentions": of,
                "valid_span": self.trees["valid_span"] / of,
                "single_arc": self.trees["single_arc"] / of,
            }
            if of
            else {},
        }


def statistics(docs: Iterable[Document]) -> Statistics:
    """Count what is in a corpus, in one pass and constant memory.

    Examples
    --------
    >>> from spanloom import Mention
    >>> inner, outer = Mention("DNA", ((0, 1),)), Mention("other", ((0, 2),))
    >>> counts = statistics([Document([Sentence(["gene", "expression", "fell"], [inner, outer])])])
    >>> counts.mentions, counts.kinds["nested"], dict(counts.depth), dict(counts.patterns)
    (2, 2, {2: 1, 1: 1}, {'( other ( DNA t ) t )': 1})
    """
    counts = Statistics()

    def counted() -> Iterator[Sentence]:
        for doc in docs:
            counts.documents += 1
            yield from doc.sentences

    batch: list[Sentence] = []
    for sentence in counted():
        batch.append(sentence)
        if len(batch) == _BATCH:
            counts.add(batch)
            batch = []
    counts.add(batch)
    return counts


def _most(counts: Counter[str], n: int) -> list[tuple[str, int]]:
    """The most frequent, ties in the order of their names."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:n]
