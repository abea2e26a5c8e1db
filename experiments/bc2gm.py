"""BioCreative II gene mention: read it, tag it without a look at its mentions, score in characters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.counts import pack
from experiments.runner import Result
from spanloom import Document, Mention, Sentence, read
from spanloom.evaluation import micro
from spanloom.evaluation.alternatives import with_alternatives
from spanloom.evaluation.significance import unit_counts
from spanloom.formats.raw import from_text
from spanloom.formats.report import Report

SCORES = ("precision", "recall", "f1", "alt_precision", "alt_recall", "alt_f1")
"""What ``scores`` returns."""


def load(part: str, data: Path) -> list[Document]:
    """Read ``train`` or ``test``."""
    return list(read(f"biocreative:{data}/bc2gm/{part}"))


def blind(doc: Document) -> Document:
    """Tokenise a BC2GM document anew, without looking at its mentions: the reader cuts tokens at their edges."""
    return from_text(doc.text, [], Report(), "", id=doc.id, sentences="one")


def in_characters(doc: Document) -> Sentence:
    """The mentions of a document as one sentence of characters, so that tokenisation does not matter."""
    alternatives: list[Mention] = []
    for sentence, start in zip(doc.sentences, doc.starts, strict=True):
        for mention in sentence.meta.get("alternatives", ()):
            parts = tuple((s + start, e + start) for s, e in sentence.chars(mention))
            alternatives.append(Mention(mention.label, parts))
    mentions = [Mention(m.label, doc.chars(m)) for m in doc.mentions]
    return Sentence(list(doc.text), mentions, meta={"alternatives": alternatives})


def counts(gold: Sequence[Document], found: Sequence[Document]) -> dict[str, str]:
    """Gold, found and right mentions of every document, strictly and by the rule of the task, for paired tests."""
    right, mine = [in_characters(d) for d in gold], [in_characters(d).mentions for d in found]
    loose = [with_alternatives([r], [m]) for r, m in zip(right, mine, strict=True)]
    by_rule = np.array([[score.gold, score.predicted, score.correct] for score in loose], np.int64)
    return {"units": pack(unit_counts([s.mentions for s in right], mine)), "alt_units": pack(by_rule)}


def scores(gold: Sequence[Document], found: Sequence[Document]) -> Result:
    """Strict scores, and those with alternatives."""
    right, mine = [in_characters(d) for d in gold], [in_characters(d).mentions for d in found]
    strict, loose = micro([s.mentions for s in right], mine), with_alternatives(right, mine)
    return {
        "precision": strict.precision,
        "recall": strict.recall,
        "f1": strict.f1,
        "alt_precision": loose.precision,
        "alt_recall": loose.recall,
        "alt_f1": loose.f1,
    }
