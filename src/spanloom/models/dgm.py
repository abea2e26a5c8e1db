"""Dependency-guided models (Jie, Muis & Lu 2017): a semi-Markov field over the segments that a dependency tree allows.

The score is that of ``models.semimarkov``. A segment is a candidate if it is a *valid span* of the sentence's tree: one
word, or the words under a chain of arcs where no arc covers another (``spanloom.corpus.valid_spans``); for ``dgm-s``,
one word or one arc. On average over all trees there are fewer than e·n of them, however long mentions may be: the
features of segments at a cost that grows with n as that of a chain does. Holds contiguous mentions that do not overlap
and are valid spans.

Trees are read from the column ``head``; see ``spanloom.annotators`` for text without trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spanloom._native import Lattices, SegmentLayout
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.corpus.trees import all_heads_of, arcs_to_right, heads_of, is_single_arc, is_valid_span
from spanloom.models.segments import SegmentModel
from spanloom.models.semimarkov import SemiMarkov


@dataclass(frozen=True)
class Guided(SegmentModel):
    """The candidates of any model of segments, restricted by the sentence's tree; ``single``: to single arcs."""

    single: ClassVar[bool] = False
    requires = ("head",)

    def unreachable(self, mentions: Sequence[Mention], sentence: Sentence, number: int) -> list[tuple[int, str]]:
        found = super().unreachable(mentions, sentence, number)
        heads_of(sentence, number)
        arcs = arcs_to_right(sentence.columns["head"])
        fits = is_single_arc if self.single else is_valid_span
        long = {i for i, _ in found}
        chain = "one arc" if self.single else "a chain of arcs"
        found.extend(
            (i, f"is not covered by {chain} of the sentence's tree")
            for i, m in enumerate(mentions)
            if i not in long and not m.discontinuous and not fits(m, arcs)
        )
        return sorted(found)

    def lattices(self, sentences: Sequence[Sentence], layout: SegmentLayout) -> Lattices:
        lengths = np.array([len(s) for s in sentences], np.int64)
        return Lattices.guided(lengths, all_heads_of(sentences), self.longest or 1, layout, single=self.single)


@dataclass(frozen=True)
class DependencyGuided(Guided, SemiMarkov):
    """Segmentations into valid spans of up to a number of tokens."""

    name = "dgm"
    holds = "contiguous mentions that do not overlap and are valid spans of the dependency tree"


@dataclass(frozen=True)
class SingleArc(DependencyGuided):
    """Segmentations into single words and the spans of single arcs, up to a number of tokens."""

    name = "dgm-s"
    holds = "contiguous mentions that do not overlap and are one word or one arc of the dependency tree"
    single = True
