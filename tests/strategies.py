"""Random inputs: tiny sentences, mention sets of every kind, score tables, and every component with scores.

A case is a component at work on one sentence, with the list of its structures by brute force. ``CASES`` has one maker
for every component class, and ``test_every_component_is_here`` holds it to that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from oracles import (
    Believed,
    chain_structures,
    consistent_hyperpaths,
    segment_rows,
    segment_structures,
    segmental_structures,
    separator_structures,
    span_structures,
    tree_structures,
)
from spanloom import Mention
from spanloom._native import Lattices, SegmentLayout
from spanloom.corpus import valid_spans
from spanloom.corpus.tags import SCHEMES
from spanloom.inference import Distribution
from spanloom.models.chain import ChainComponent
from spanloom.models.component import Component, Shapes
from spanloom.models.edge import EdgeComponent
from spanloom.models.hypergraph import HypergraphComponent
from spanloom.models.segmental import SegmentalComponent
from spanloom.models.semimarkov import SegmentComponent
from spanloom.models.spans import SpanComponent
from spanloom.models.state import StateComponent
from spanloom.models.tagger import TagComponent
from spanloom.models.tree import TreeComponent
from spanloom.schemes import Segments, decode_separators
from spanloom.schemes.biohd import Biohd

LABELS = ("DNA", "RNA")


@st.composite
def lattices(draw: st.DrawFn, n: int, most: int, layout: SegmentLayout) -> tuple[list[tuple[int, int]], Lattices]:
    """The segments of ``n`` tokens that may be mentions: all up to a length, or those of a random tree."""
    longest = draw(st.integers(1, most))
    if draw(st.booleans()):
        spans = [(i, j) for i in range(n) for j in range(i + 1, min(n, i + longest) + 1)]
        return spans, Lattices.up_to(np.array([n]), longest, layout)
    heads = draw(st.lists(st.integers(0, n), min_size=n, max_size=n))
    spans = list(valid_spans(heads, longest=longest, single=False))
    return spans, Lattices.guided(np.array([n]), np.array(heads, np.int32), longest, layout, single=False)


@st.composite
def mention_sets(draw: st.DrawFn, n: int, kind: str = "any", labels: tuple[str, ...] = LABELS) -> list[Mention]:
    """Mentions of ``n`` tokens: ``flat``, ``contiguous`` (nested or crossing) or ``any`` (also discontinuous)."""
    if n == 0:
        return []
    tokens = st.sets(st.integers(0, n - 1), min_size=1)
    span = st.tuples(st.integers(0, n - 1), st.integers(1, n)).filter(lambda s: s[0] < s[1])
    parts = (
        tokens.map(lambda chosen: [(t, t + 1) for t in sorted(chosen)]) if kind == "any" else span.map(lambda s: [s])
    )
    found: list[Mention] = []
    for label, own in draw(st.lists(st.tuples(st.sampled_from(labels), parts), max_size=4)):
        mention = Mention(label, tuple(own))
        if mention not in found and not (kind == "flat" and any(mention.overlaps(m) for m in found)):
            found.append(mention)
    return sorted(found)


@st.composite
def score_tables(draw: st.DrawFn, rows: int, columns: int) -> npt.NDArray[np.float64]:
    """``[row, column]`` of several sizes of numbers; some tables have cells of −inf."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    table = random.normal(size=(rows, columns)) * draw(st.sampled_from([0.0, 0.5, 2.0, 30.0, 1e4]))
    if draw(st.integers(0, 3)) == 0:
        table[random.random(table.shape) < 0.15] = -np.inf
    return table


@dataclass
class Case:
    """A component, its scores for a sentence of ``n`` tokens, and every structure."""

    component: Component
    n: int
    shapes: Shapes
    scores: npt.NDArray[np.float64]
    global_scores: npt.NDArray[np.float64]
    believed: Believed

    def distribution(self) -> Distribution:
        return self.component.distribution(self.scores.ravel(), self.global_scores.ravel(), self.shapes)

    def best(self) -> tuple[float, frozenset[Mention]]:
        """What the decoder finds, with its score."""
        structure = self.component.structure_for(self.shapes)
        score, cells = structure.best(self.scores.ravel(), self.global_scores.ravel())
        ptr = np.array([0, len(cells)], np.int64)
        return score, frozenset(self.component.decode_all(cells, ptr, self.shapes)[0])


def _chain(draw: Any, component: Any, law: Any, decode: Callable[[Any], list[Mention]]) -> Case:
    size = len(component.columns)
    most = next(n for n in (5, 4, 3, 2, 1) if size**n <= 1500 or n == 1)
    n = draw(st.integers(0, most))
    scores, pairs = draw(score_tables(n, size)), draw(score_tables(size, size))
    listed = chain_structures(scores, pairs, *law)
    read = [(s, frozenset(decode(np.array([c % size for c in cells[:n]], np.int32)))) for s, cells in listed]
    return Case(component, n, Shapes([n]), scores, pairs, Believed(read))


def _free(*_: int) -> bool:
    return True


def _segments(draw: Any, scheme: str, constrained: bool) -> Case:
    prefixes = SCHEMES[scheme].prefixes
    types = LABELS if len(prefixes) < 4 else LABELS[:1]
    segments = Segments(scheme, [f"{p}-{t}" for t in types for p in prefixes])
    law = (segments.allowed, segments.may_start, segments.may_end) if constrained else (_free,) * 3
    return _chain(draw, ChainComponent(segments, constrained), law, segments.decode)


def _biohd(draw: Any, constrained: bool) -> Case:
    labels = Biohd(["B-DNA", "BD-DNA", "ID-DNA", "BH-DNA"])
    law = (labels.allowed, labels.may_start, labels.may_end) if constrained else (_free,) * 3
    return _chain(draw, ChainComponent(labels, constrained), law, labels.decode)


def _tagger(draw: Any) -> Case:
    tags = ("NN", "VB", "DT")

    def decode(labels: Any) -> list[Mention]:
        return [Mention(tags[y], ((t, t + 1),)) for t, y in enumerate(labels)]

    return _chain(draw, TagComponent(tags), (_free,) * 3, decode)


def _separators(draw: Any, component: Any, transitions: bool) -> Case:
    n = draw(st.integers(0, 3))
    scores = draw(score_tables(n + 1, 8))
    pairs = draw(score_tables(8, 8)) if transitions else np.zeros((0, 0))
    listed = separator_structures(scores, pairs if transitions else np.zeros((8, 8)))
    read = [(s, _nested([c % 8 for c in cells[: n + 1]])) for s, cells in listed]
    return Case(component, n, Shapes([n]), scores, pairs, Believed(read))


def _nested(gaps: list[int]) -> frozenset[Mention]:
    return frozenset(Mention("DNA", (part,)) for part in decode_separators(gaps))


def _hypergraph(draw: Any) -> Case:
    n = draw(st.integers(0, 4))
    scores = draw(score_tables(n, 5))
    believed = Believed([(s, _nested(list(gaps))) for s, gaps in consistent_hyperpaths(scores)])
    return Case(HypergraphComponent("DNA"), n, Shapes([n]), scores, np.zeros((0, 0)), believed)


def _lattice(
    draw: Any, most: int, *, gaps: bool = False
) -> tuple[int, list[tuple[int, int]], tuple[int, int, bool], Lattices]:
    n, longest = draw(st.integers(0, most)), draw(st.integers(1, 3))
    layout = SegmentLayout(draw(st.integers(1, 3)), draw(st.integers(1, 3)), inside=draw(st.booleans()), gaps=gaps)
    if draw(st.booleans()):
        spans = [(i, j) for i in range(n) for j in range(i + 1, min(n, i + longest) + 1)]
        return n, spans, layout, Lattices.up_to(np.array([n]), longest, layout)
    heads = draw(st.lists(st.integers(0, n), min_size=n, max_size=n))
    lattices = Lattices.guided(np.array([n]), np.array(heads, np.int32), longest, layout, single=False)
    return n, list(valid_spans(heads, longest=longest, single=False)), layout, lattices


def _semimarkov(draw: Any) -> Case:
    n, spans, layout, lattices = _lattice(draw, 4)
    rows = segment_rows(spans, n, layout)
    scores, pairs = draw(score_tables(lattices.rows, 3)), draw(score_tables(3, 3))
    own = {rows[span][-1]: span for span in spans}
    read = []
    for score, cells in segment_structures(spans, n, rows, scores, pairs):
        sites = [c for c in cells if c < scores.size and c // 3 in own]
        read.append((score, frozenset(Mention(LABELS[c % 3 - 1], (own[c // 3],)) for c in sites if c % 3)))
    return Case(SegmentComponent(LABELS), n, Shapes([n], lattices), scores, pairs, Believed(read))


def _spans(draw: Any) -> Case:
    n, spans, layout, lattices = _lattice(draw, 3)
    rows = segment_rows(spans, n, layout)
    scores = draw(score_tables(lattices.rows, 2))
    own = {rows[span][-1]: span for span in spans}
    read = [
        (score, frozenset(Mention(LABELS[c % 2], (own[c // 2],)) for c in cells if c // 2 in own))
        for score, cells in span_structures(spans, rows, scores)
    ]
    return Case(SpanComponent(LABELS), n, Shapes([n], lattices), scores, np.zeros((0, 0)), Believed(read))


def _segmental(draw: Any) -> Case:
    n, spans, layout, lattices = _lattice(draw, 4, gaps=True)
    rows = segment_rows(spans, n, layout)
    scores, relations = draw(score_tables(lattices.rows, 8)), draw(score_tables(1, 3))
    own = {rows[span][-1]: span for span in spans}
    read = [
        (score, frozenset(Mention("DNA", (own[c // 8],)) for c in cells if c % 8 == 7 and c // 8 in own))
        for score, cells in segmental_structures(spans, n, rows, scores, relations[0])
    ]
    return Case(SegmentalComponent("DNA"), n, Shapes([n], lattices), scores, relations, Believed(read))


def _tree(draw: Any) -> Case:
    n, spans, layout, lattices = _lattice(draw, 3)
    pairs = draw(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), unique=True))
    component = TreeComponent(LABELS, pairs)
    following = component.contexts.next
    scores, rules = draw(score_tables(lattices.rows, 2)), draw(score_tables(*following.shape))
    listed = tree_structures(spans, segment_rows(spans, n, layout), scores, rules, following)
    read = [(s, frozenset(Mention(LABELS[y], ((i, j),)) for i, j, y in own)) for s, _, own in listed]
    return Case(component, n, Shapes([n], lattices), scores, rules, Believed(read))


CASES: dict[str, tuple[type[Component], Callable[[Any], Case]]] = {
    "chain": (ChainComponent, lambda draw: _segments(draw, draw(st.sampled_from(list(SCHEMES))), True)),
    "chain free": (ChainComponent, lambda draw: _segments(draw, draw(st.sampled_from(list(SCHEMES))), False)),
    "chain BIOHD": (ChainComponent, lambda draw: _biohd(draw, True)),
    "chain BIOHD free": (ChainComponent, lambda draw: _biohd(draw, False)),
    "tagger": (TagComponent, _tagger),
    "edge": (EdgeComponent, lambda draw: _separators(draw, EdgeComponent("DNA"), False)),
    "state": (StateComponent, lambda draw: _separators(draw, StateComponent("DNA"), True)),
    "hypergraph": (HypergraphComponent, _hypergraph),
    "semimarkov": (SegmentComponent, _semimarkov),
    "spans": (SpanComponent, _spans),
    "segmental": (SegmentalComponent, _segmental),
    "tree": (TreeComponent, _tree),
}


@st.composite
def cases(draw: st.DrawFn, name: str) -> Case:
    """A random case of this name that has a structure with a score above −inf."""
    case = CASES[name][1](draw)
    if not case.believed.structures:
        case = CASES[name][1](draw)
    return case
