"""STATE, EDGE, hypergraph and chains through the Recognizer: what they hold, report, store and find."""

from __future__ import annotations

import numpy as np
import pytest

from spanloom import Mention, Recognizer, Sentence
from spanloom.base.errors import EncodingError
from spanloom.learning import LBFGS, Auto

NESTED = ["edge", "state", "hypergraph"]


def sentence(text: str, *mentions: tuple[str, int, int]) -> Sentence:
    return Sentence(text.split(), [Mention(label, ((start, end),)) for label, start, end in mentions])


# The structures of figures 1 to 4 of Muis & Lu (2017), in sentences of our own.
FIGURES = [
    sentence("At stake is the duty of a Nevada tram operator under state law .", ("GPE", 7, 8), ("ORG", 6, 10)),
    sentence(
        "LUC output driven by the GM7 control region or by a dimer of the AB-TF -docking site was weaker .",
        ("DNA", 5, 6),
        ("DNA", 4, 8),
        ("PROT", 14, 15),
        ("DNA", 13, 17),
    ),
    sentence("the mouse ABC-2 enzyme", ("PROT", 1, 4), ("PROT", 2, 3)),
    sentence("the GM7 control region", ("DNA", 1, 2), ("DNA", 1, 4)),
    sentence("two words side by side", ("PROT", 0, 1), ("PROT", 1, 2), ("DNA", 0, 2)),
]


@pytest.mark.parametrize("model", NESTED)
def test_the_papers_structures_are_learned_and_found(model, tmp_path):
    """Nested mentions, also of one type, one start with two ends, two touching: found again, also after loading."""
    ner = Recognizer(model, trainer=LBFGS(l2=0.001, max_iter=100), threads=1).fit(FIGURES)
    assert ner.ceiling_ == 1.0
    ner.save(tmp_path / "m.loom")
    for recogniser in (ner, Recognizer.load(tmp_path / "m.loom", threads=1)):
        for given, found in zip(FIGURES, recogniser.predict(FIGURES), strict=True):
            assert set(found.mentions) == set(given.mentions)


@pytest.mark.parametrize("model", NESTED)
def test_crossing_of_one_type_is_reported_as_a_ceiling(model):
    """Two mentions of one type that cross can be trained on; both come back as others, and fit says so."""
    crossing = sentence("a b c d", ("X", 0, 2), ("X", 1, 3))
    ner = Recognizer(model, trainer=Auto(max_iter=5), threads=1).fit(
        [crossing, sentence("e f", ("X", 0, 1), ("Y", 0, 2))]
    )
    assert ner.ceiling_ == 0.5
    assert ner.lost_ == [(0, m) for m in sorted(crossing.mentions)]
    apart = Recognizer(model, trainer=Auto(max_iter=5), threads=1).fit([sentence("a b c d", ("X", 0, 2), ("Y", 1, 3))])
    assert apart.ceiling_ == 1.0


def test_chains_hold_overlap_between_types_only():
    """chains refuse nested mentions of one type and say so; mentions of two types may overlap."""
    own = sentence("a b c", ("X", 0, 3), ("X", 1, 2))
    with pytest.raises(EncodingError, match="those of one type do not overlap"):
        Recognizer("chains").fit([own])
    kept = Recognizer("chains", trainer=Auto(max_iter=5), keep="longest", threads=1).fit([own])
    assert kept.lost_ == [(0, Mention("X", ((1, 2),)))]
    mixed = sentence("a b c", ("X", 0, 3), ("Y", 1, 2))
    found = Recognizer("chains", trainer=LBFGS(l2=0.001, max_iter=60), threads=1).fit([mixed]).predict(mixed)
    assert set(found.mentions) == set(mixed.mentions)


def test_discontinuous_mentions_are_refused_or_left_out():
    """No separator model holds them; keep= trains on the rest and keeps what nests."""
    apart = Sentence(
        ["a", "b", "c"], [Mention("X", ((0, 1), (2, 3))), Mention("X", ((0, 2),)), Mention("X", ((0, 1),))]
    )
    with pytest.raises(EncodingError, match="has 2 parts"):
        Recognizer("edge").fit([apart])
    ner = Recognizer("edge", trainer=Auto(max_iter=5), keep="longest", threads=1).fit([apart])
    assert ner.lost_ == [(0, apart.mentions[0])]
    assert ner.ceiling_ == pytest.approx(2 / 3)


def test_auto_is_state_and_overlaps_only_where_training_does():
    """The documented default."""
    flat, nested = sentence("a b", ("X", 0, 1)), sentence("a b", ("X", 0, 1), ("Y", 0, 2))
    of_flat = Recognizer(trainer=Auto(max_iter=2), threads=1).fit([flat])
    of_nested = Recognizer(trainer=Auto(max_iter=2), threads=1).fit([flat, nested])
    assert of_flat.model_.name == of_nested.model_.name == "state"
    assert of_flat.rule_.flat
    assert not of_nested.rule_.flat


@pytest.mark.parametrize("model", ["edge", "hypergraph", "chains", "state"])
def test_weights_do_not_depend_on_the_number_of_threads(model):
    """The same bytes for one and for three threads."""
    trained = [Recognizer(model, trainer=Auto(max_iter=8), keep="longest", threads=t).fit(FIGURES * 9) for t in (1, 3)]
    for one, three in zip(trained[0].trained_.weights, trained[1].trained_.weights, strict=True):
        assert one.features.tobytes() == three.features.tobytes()
        assert one.globals.tobytes() == three.globals.tobytes()


@pytest.mark.parametrize("model", ["chains", *NESTED])
def test_types_do_not_influence_each_other(model):
    """A component has the weights that it has when its type is trained alone."""
    label = "DNA"
    options = {"trainer": Auto(max_iter=10), "threads": 1, "keep": "longest"}
    both = Recognizer(model, **options).fit(FIGURES)
    alone = Recognizer(model, **options).fit(
        [s.with_mentions([m for m in s.mentions if m.label == label]) for s in FIGURES]
    )
    names = both.extractor_.names()
    number = next(i for i, c in enumerate(both.trained_.components) if c.types == {label})
    kept = [names.index(name) for name in alone.extractor_.names()]
    np.testing.assert_array_equal(both.trained_.weights[number].features[kept], alone.trained_.weights[0].features)


def test_a_long_sentence_is_no_trouble():
    """Ten thousand tokens, tagged in one piece."""
    ner = Recognizer("edge", trainer=LBFGS(l2=0.001, max_iter=60), threads=1).fit(FIGURES)
    found = ner.predict(Sentence(FIGURES[2].tokens * 2500)).mentions
    assert {m.label for m in found} == {"PROT"}
    assert len(found) >= 4000
