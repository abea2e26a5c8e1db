"""The segmental model through the Recognizer: what it holds, where separators fail; and its scheme, from the set as a
whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom import Mention, Recognizer, Sentence
from spanloom.base.errors import EncodingError, ModelFileError, ParameterError
from spanloom.corpus import Known
from spanloom.learning import LBFGS, Auto
from spanloom.models import MODELS, Segmental
from spanloom.models.ceilings import ceiling
from spanloom.models.segmental import SegmentalComponent
from spanloom.schemes.segmental import CROSSING, GAPS, decide


def sentence(text: str, *mentions: tuple[str, int, int]) -> Sentence:
    return Sentence(text.split(), [Mention(label, ((start, end),)) for label, start, end in mentions])


HARD = [
    sentence("a b c d", ("X", 0, 2), ("X", 1, 3)),
    sentence("e f g h", ("X", 0, 4), ("X", 1, 2), ("X", 1, 3)),
    sentence("i j k l", ("X", 0, 4), ("X", 1, 4), ("Y", 0, 4)),
    sentence("m n o", ("X", 0, 1), ("X", 0, 2), ("X", 0, 3), ("X", 2, 3)),
    sentence("p q r", ("X", 0, 1), ("X", 1, 2)),
    sentence("nothing here"),
]
"""Crossing, several ends inside of another, common ends, several ends, touching: what separators misread among them."""


def test_what_separators_misread_is_learned_and_found(tmp_path):
    """Every sentence comes back, also after loading; the ceiling is 1 where that of ``edge`` is not."""
    ner = Recognizer("segmental", trainer=LBFGS(l2=0.001, max_iter=200), threads=1).fit(HARD)
    assert ner.ceiling_ == 1.0
    assert ner.model_.longest == 4
    ner.save(tmp_path / "m.loom")
    for recogniser in (ner, Recognizer.load(tmp_path / "m.loom", threads=1)):
        assert [set(s.mentions) for s in recogniser.predict(HARD)] == [set(s.mentions) for s in HARD]
    assert ceiling(Segmental(), HARD) == 1.0 > ceiling(MODELS["edge"](), HARD)


def test_what_is_too_long_is_reported():
    """Refused, or left out and counted."""
    with pytest.raises(EncodingError, match=r"has 4 tokens, more than longest=3"):
        Recognizer(Segmental(longest=3)).fit(HARD)
    ner = Recognizer(Segmental(longest=3), trainer=Auto(max_iter=2), keep="longest").fit(HARD)
    assert sorted((number, mention.label) for number, mention in ner.lost_) == [(1, "X"), (2, "X"), (2, "Y")]
    with pytest.raises(ParameterError, match="'longest' parameter"):
        Segmental(longest=0)
    with pytest.raises(ModelFileError, match="damaged"):
        Segmental.from_header({"longest": 3})


def test_features_of_whole_mentions_need_some_of_gaps():
    """Templates that name no end of a mention look at gaps; a set without them has nothing to say where none starts."""
    with pytest.raises(ParameterError, match="looks at gaps; 'bias' is the smallest"):
        Recognizer("segmental", features=["size", "segment(word)"]).fit(HARD)
    with pytest.raises(ParameterError, match="speaks of segments, but this model looks at gaps"):
        Recognizer("edge", features=["bias", "size"]).fit(HARD)


def test_a_mention_penalty_moves_recall():
    """A penalty above 0 is a bonus for every mention: more are found."""
    ner = Recognizer("segmental", features=["bias", "size"], trainer=LBFGS(l2=1.0)).fit(HARD)
    found = []
    for value in (-5.0, 0.0, 5.0):
        ner.trained_.set_penalty({"X": value, "Y": value})
        found.append(sum(len(s.mentions) for s in ner.predict(HARD)))
    assert found == sorted(found)
    assert found[0] != found[2]


def test_partial_annotation_is_exact():
    """What is unknown is free: a mention that is listed must be there, one in a known range must not."""
    component = SegmentalComponent("X")
    mask = component.allowed([Mention("X", ((1, 3),))], Known(ranges=((0, 1),)), 3)
    spans = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    told = dict(zip(spans, mask[:, 7].tolist(), strict=True))
    assert told[1, 3] == 2
    assert told[0, 1] == 0
    assert told[1, 2] == told[2, 3] == 1


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 5), st.data())
def test_gaps_know_what_goes_on(n, data):
    """The column of a gap by its definition, and every crossing start is told once."""
    spans = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
    chosen = data.draw(st.lists(st.sampled_from(spans), unique=True, max_size=6))
    made = decide(chosen, n)
    for gap, column in enumerate(made.gaps):
        before = [end for start, end in chosen if start < gap]
        said = ("S" in GAPS[column], "E" in GAPS[column], "C" in GAPS[column])
        last = max(before, default=-1)
        assert said == (any(start == gap for start, _ in chosen), last == gap, last > gap)
    assert sorted(span for span, _ in made.mentions) == sorted(chosen)
    furthest = {start: max(e for s, e in chosen if s == start) for start, _ in chosen}
    crossing = [
        start
        for start, end in furthest.items()
        if any(s < start < e for s, e in chosen) and end > max(e for s, e in chosen if s < start)
    ]
    assert sum(relation == CROSSING for relation, _ in made.relations) == len(crossing)
    component = SegmentalComponent("X")
    mentions = [Mention("X", (span,)) for span in chosen]
    assert sorted(component.decode(component.encode(mentions, n), n)) == sorted(mentions)
