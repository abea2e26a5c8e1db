"""Features of segments: what the rows of a segment add up to is what its templates say, token by token."""

from __future__ import annotations

import itertools
from collections import Counter

import feature_oracle as oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom import Sentence
from spanloom._native import Lattices, SegmentLayout
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.corpus import valid_spans
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.features.grammar import parse_template
from spanloom.features.templates import SIZE, Template

TEMPLATES = [
    "bias",
    "word[-1..0]",
    "pos & head(pos)",
    "shape(head(word))",
    "bag(word, -1..1)",
    "own",
    "first(word)[-2..1]",
    "last(prefix(word, 1..2))[0..1]",
    "first(pos)[-1] & first(word)",
    "left(word, 0..2)",
    "left(prefix(word, 1..2), 1..3)",
    "right(pos, 0..1)",
    "segment(word)",
    "segment(prefix(pos, 1..2)) >= 2",
    "size",
    "size & first(pos)",
    "first(word) & last(word)[1]",
    "first(prefix(word, 1..2)) & last(pos)[-1] & size >= 2",
]


def at_head(sentence: Sentence, column: str) -> list[str]:
    values = sentence.column(column)
    return ["<root>" if h == "0" else values[int(h) - 1] for h in sentence.columns["head"]]


def with_heads(sentence: Sentence) -> Sentence:
    """A sentence whose columns hold what head(…) reads, so that the oracle needs to know nothing of heads."""
    extra = {f"head({name})": at_head(sentence, name) for name in ("word", "pos")}
    return Sentence(sentence.tokens, columns={**sentence.columns, **extra}, features=sentence.features)


def segment_names(template: Template, sentence: Sentence, start: int, end: int) -> list[tuple[str, float]]:
    """The features of one template for the segment [start, end), by definition."""

    def read(atom, at):
        view = atom.view
        if view.head:
            view = type(view)(view.source, view.operations)
        return oracle.read(view, sentence, at, {})

    def named(lists):
        labels = template.labels()
        return [
            (" & ".join(f"{a}={v}" for a, v in zip(labels, values, strict=True)), 1.0)
            for values in itertools.product(*lists)
        ]

    if template.kind == "bias":
        return [("bias", 1.0)]
    if template.kind == "sequence":
        values = [read(template.atoms[0], t)[:1] for t in range(start, end)]
        return [(f"{template.labels()[0]}={' '.join(v[0] for v in values)}", 1.0)] if all(values) else []
    anchors = {atom.anchor for atom in template.atoms}
    if anchors <= {""}:  # every token
        if template.kind != "conjunction":
            return [pair for t in range(start, end) for pair in oracle.row_names(template, sentence, t, {})]
        return [pair for t in range(start, end) for pair in named([read(a, t + a.offset) for a in template.atoms])]
    if anchors <= {"left", "right"}:
        (atom,) = template.atoms
        if end - start <= atom.offset:
            return []
        return named([read(atom, start + atom.offset if atom.anchor == "left" else end - 1 - atom.offset)])
    places = {"first": start, "last": end - 1}
    return named([[str(end - start)] if a == SIZE else read(a, places[a.anchor] + a.offset) for a in template.atoms])


@st.composite
def corpora(draw):
    """A few short sentences with trees, and the segments that a model would look at."""
    sentences, spans = [], []
    longest = draw(st.integers(1, 4))
    guided = draw(st.booleans())
    for _ in range(draw(st.integers(1, 3))):
        n = draw(st.integers(0, 5))
        some = lambda values, n=n: st.lists(st.sampled_from(values), min_size=n, max_size=n)  # noqa: E731
        heads = draw(st.lists(st.integers(0, n), min_size=n, max_size=n))
        columns = {"pos": draw(some(["N", "", "DT"])), "head": [str(h) for h in heads]}
        own = draw(some([["f"], {"g": 0.5}, []]))
        sentences.append(Sentence(draw(some(["a", "gene", "", "α1"])), columns=columns, features=own))
        everything = [(i, j) for i in range(n) for j in range(i + 1, min(n, i + longest) + 1)]
        spans.append(valid_spans(heads, longest=longest) if guided else everything)
    lengths = np.array([len(s) for s in sentences])
    heads = np.array([int(h) for s in sentences for h in s.columns["head"]], np.int32)

    def lattices(layout):
        if guided:
            return Lattices.guided(lengths, heads, longest, layout, single=False)
        return Lattices.up_to(lengths, longest, layout)

    return sentences, spans, lattices


@settings(max_examples=120, deadline=None)
@given(corpora(), st.lists(st.sampled_from(TEMPLATES), min_size=1, unique=True), st.sampled_from([1, 2]))
def test_rows_of_a_segment_add_up_to_its_features(corpus, templates, threads):
    """Every candidate's features, with how often each fires; features seen too rarely in all rows are gone."""
    sentences, spans, make = corpus
    features = FeatureSet(templates)
    extractor = FeatureExtractor(features, "segments")
    lattices = make(extractor.layout)
    rows = extractor.fit(sentences, threads, lattices)
    names = extractor.names()
    assert len(set(names)) == len(names)
    whole = [with_heads(s) for s in sentences]
    listed = [
        [[pair for t in features.parsed() for pair in segment_names(t, s, *span)] for span in some]
        for s, some in zip(whole, spans, strict=True)
    ]
    counts = Counter(name for some in listed for pairs in some for name, _ in pairs)
    least = {label: t.min_count for t in features.parsed() if t.min_count for label in [tuple(t.labels())]}
    rare = {
        name
        for name, count in counts.items()
        if count < least.get(tuple(part.split("=")[0] for part in name.split(" & ")), 0)
    }
    for number, some in enumerate(spans):
        base = int(rows.group_ptr[number])
        for (start, end), pairs in zip(some, listed[number], strict=True):
            found: Counter[str] = Counter()
            for row in lattices.rows_of(number, start, end):
                for k in range(rows.row_ptr[base + row], rows.row_ptr[base + row + 1]):
                    found[names[rows.ids[k]]] += 1.0 if rows.values is None else float(rows.values[k])
            expected: Counter[str] = Counter()
            for name, value in pairs:
                if name not in rare:
                    expected[name] += value
            assert found == expected
    assert rows.rows == lattices.rows


def test_a_cut_off_counts_segments():
    """ "a gene" is a candidate twice, "gene a" once."""
    sentences = [Sentence(["a", "gene", "a", "gene"])]
    extractor = FeatureExtractor(FeatureSet(["segment(word) >= 2"]), "segments")
    extractor.fit(sentences, None, Lattices.up_to(np.array([4]), 2, extractor.layout))
    assert sorted(extractor.names()) == ["segment(word)=a", "segment(word)=a gene", "segment(word)=gene"]


def test_unknown_words_and_sizes_are_skipped():
    """A segment with an unknown word has no string; one longer than all in training has no size."""
    extractor = FeatureExtractor(FeatureSet(["segment(word)", "size"]), "segments")
    extractor.fit([Sentence(["a", "b"])], None, Lattices.up_to(np.array([2]), 2, extractor.layout))
    lattices = Lattices.up_to(np.array([3]), 3, extractor.layout)
    rows = extractor.transform([Sentence(["a", "new", "b"])], None, lattices)
    names = extractor.names()

    def of(start, end):
        row = lattices.rows_of(0, start, end)[-1]
        return sorted(names[i] for i in rows.ids[rows.row_ptr[row] : rows.row_ptr[row + 1]])

    assert of(0, 1) == ["segment(word)=a", "size=1"]
    assert of(0, 2) == ["size=2"]
    assert of(0, 3) == []


def test_state_goes_through_arrays():
    """An extractor from a file gives the same rows."""
    sentences = [Sentence(["a", "gene", "α1"], columns={"pos": ["D", "N", "N"], "head": ["2", "0", "2"]})]
    templates = [t for t in TEMPLATES if t != "own"]
    extractor = FeatureExtractor(FeatureSet(templates), "segments")
    lattices = Lattices.up_to(np.array([3]), 3, extractor.layout)
    rows = extractor.fit(sentences, None, lattices)
    again = FeatureExtractor.from_state(*extractor.state())
    assert again.layout == extractor.layout
    assert again.transform(sentences, None, lattices).ids.tolist() == rows.ids.tolist()


@pytest.mark.parametrize("template", [t for text in TEMPLATES for t in parse_template(text)], ids=str)
def test_templates_read_back_as_written(template):
    """str() of a template is a template again."""
    assert parse_template(str(template)) == [template]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("first(word) & word", "cannot be joined"),
        ("left(word)", "expected ','"),
        ("left(word, -1)", "an index must be within 0..100"),
        ("first", r"expected '\('"),
        ("segment(word, 2)", r"expected '\)'"),
        ("head(lower(word))", r"expected '\)'"),
        ("size[1]", "expected '&', '>=' or the end"),
        ('""', "expected the name of a column"),
    ],
)
def test_what_is_no_template_is_said(text, message):
    """With the place and what could stand there."""
    with pytest.raises(ParameterError, match=message):
        parse_template(text)


def test_segment_templates_need_segments():
    """Token models say so instead of reading nonsense."""
    with pytest.raises(ParameterError, match=r"template 'size' speaks of segments, but this model looks at tokens"):
        FeatureExtractor(FeatureSet(["word", "size"]))


def test_dependency_features_need_trees():
    """The missing column is named, whether it is the head's or the tree itself."""
    extractor = FeatureExtractor(FeatureSet.named("dep"))
    columns = {"pos": ["N"], "deprel": ["root"]}
    with pytest.raises(CorpusError, match=r"sentence 0 \(a …\) has no tree"):
        extractor.fit([Sentence(["a"], columns=columns)])
    with pytest.raises(CorpusError, match="reads the column 'pos', which sentence 0 lacks"):
        extractor.fit([Sentence(["a"], columns={"head": ["0"], "deprel": ["root"]})])


def test_lattices_must_fit():
    """Other sentences, other rows: said, not read."""
    extractor = FeatureExtractor(FeatureSet(["left(word, 0..2)"]), "segments")
    with pytest.raises(CorpusError, match="the lattices have other rows"):
        extractor.fit([Sentence(["a"])], None, Lattices.up_to(np.array([1]), 1, SegmentLayout()))
    with pytest.raises(CorpusError, match="is for another number of tokens"):
        extractor.fit([Sentence(["a"])], None, Lattices.up_to(np.array([2]), 1, extractor.layout))
    with pytest.raises(CorpusError, match="segments need lattices"):
        extractor.fit([Sentence(["a"])])


@settings(max_examples=50, deadline=None)
@given(st.data(), st.integers(1, 5))
def test_gaps_and_segments_side_by_side_are_those_of_each_alone(data, longest):
    """Of sites ``mentions``, rows of gaps are those of sites ``gaps``, then come those of sites ``segments``."""
    words = st.lists(st.sampled_from("abc"), max_size=6)
    sentences = [Sentence(data.draw(words)) for _ in range(3)]
    at_gaps = ["bias", "word[-1..1]", "word[-1] & word[0]", "bag(word, -1..0)"]
    whole = [t for t in TEMPLATES if t.startswith(("first(word)", "left(word", "segment(word)", "size"))][:5]

    def names(templates, sites, layout):
        extractor = FeatureExtractor(FeatureSet(templates), sites)
        lattices = None if layout is None else Lattices.up_to(np.array([len(s) for s in sentences]), longest, layout)
        rows = extractor.fit(sentences, lattices=lattices)
        found = [sorted(extractor.name(f) for f in rows.ids[a:b]) for a, b in itertools.pairwise(rows.row_ptr.tolist())]
        return [found[a:b] for a, b in itertools.pairwise(rows.group_ptr.tolist())]

    whole = [t for t in whole if "pos" not in t]
    layout = FeatureExtractor(FeatureSet(whole), "segments").layout
    both = FeatureExtractor(FeatureSet([*at_gaps, *whole]), "mentions").layout
    assert (both.left, both.right, both.inside, both.gaps) == (layout.left, layout.right, False, True)
    found = names([*at_gaps, *whole], "mentions", both)
    gaps, segments = names(at_gaps, "gaps", None), names(whole, "segments", layout)
    assert found == [[*a, *b] for a, b in zip(gaps, segments, strict=True)]
