"""The model ``tree``: what it holds, what its rules learn, and what it says."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from spanloom import Mention, Recognizer, Sentence
from spanloom._native import SegmentLayout
from spanloom.base.errors import EncodingError, ModelFileError, ParameterError
from spanloom.corpus import Known
from spanloom.learning import LBFGS
from spanloom.models import Tree
from spanloom.models.component import Shapes
from spanloom.models.segments import all_segments
from spanloom.models.tree import TreeComponent

FEATURES = ["word", "first(word)[-1..0]", "last(word)[0..1]", "segment(word)", "size"]


def sentence(words, *mentions):
    return Sentence(words.split(), [Mention(label, ((a, b),)) for label, a, b in mentions])


NESTED = [
    sentence("the mayor of New York spoke", ("PER", 0, 5), ("LOC", 3, 5), ("PER", 1, 2)),
    sentence("a mayor of Rome won", ("PER", 0, 4), ("LOC", 3, 4), ("PER", 1, 2)),
    sentence("the White House said", ("LOC", 0, 3), ("ORG", 0, 3), ("LOC", 1, 3)),
    sentence("nothing here"),
]


@pytest.mark.parametrize("ancestors", [1, 2])
def test_nested_mentions_also_of_one_label_and_labels_of_the_same_tokens_come_back(ancestors, tmp_path):
    ner = Recognizer(Tree(ancestors=ancestors), features=FEATURES, trainer=LBFGS(l2=0.01)).fit(NESTED)
    assert ner.ceiling_ == 1.0
    assert ner.trained_.model == Tree(longest=5, ancestors=ancestors)
    assert [sorted(s.mentions) for s in ner.predict(NESTED)] == [sorted(s.mentions) for s in NESTED]
    ner.save(tmp_path / "tree.loom")
    again = Recognizer.load(tmp_path / "tree.loom")
    assert again.trained_.model == ner.trained_.model
    for one in NESTED:
        assert again.distribution(one).log_z == ner.distribution(one).log_z


def test_crossing_and_discontinuous_mentions_are_refused_with_the_way_out():
    crossing = sentence("a b c d", ("X", 0, 3), ("X", 2, 4))
    with pytest.raises(EncodingError, match=r"crosses mention 0.*may nest, but not cross.*keep=\"longest\""):
        Recognizer("tree", features=FEATURES).fit([crossing])
    ner = Recognizer("tree", features=FEATURES, keep="longest").fit([crossing])
    assert [m for _, m in ner.lost_] == [Mention("X", ((2, 4),))]
    parts = Sentence(["a", "b", "c"], [Mention("X", ((0, 1), (2, 3)))])
    with pytest.raises(EncodingError, match="has 2 parts"):
        Recognizer("tree", features=FEATURES).fit([parts])
    with pytest.raises(EncodingError, match="more than longest=2"):
        Recognizer(Tree(longest=2), features=FEATURES).fit(NESTED)


def test_settings_that_are_not_allowed():
    with pytest.raises(ParameterError, match=r"'ancestors' parameter must be 1 or 2\. Got 3"):
        Tree(ancestors=3)
    with pytest.raises(ParameterError, match="longest"):
        Tree(longest=0)


def test_rules_alone_learn_which_label_stands_in_which():
    """Features that see nothing: B stands in A only, C only where A in B is; so the rules have to say it."""
    train = [
        sentence("x x x x", ("A", 0, 4), ("B", 0, 3), ("A", 0, 2), ("C", 0, 1)),
        sentence("x x x x", ("A", 0, 4), ("B", 0, 3)),
        sentence("x x", ("A", 0, 2)),
    ]
    ner = Recognizer(Tree(ancestors=2), features=["bias", "size"], trainer=LBFGS(l2=0.001)).fit(train)
    belief = ner.distribution(sentence("x x x x"))
    inner = belief.clamp(must=[Mention("A", ((0, 4),)), Mention("B", ((0, 3),)), Mention("A", ((0, 2),))])
    outer = belief.clamp(must=[Mention("A", ((0, 2),))], never=[Mention("B", ((0, 3),))])
    c = Mention("C", ((0, 1),))
    assert inner.prob(c) > 0.2
    assert inner.prob(c) > 20 * outer.prob(c)
    names = ner.trained_.components[0].global_names()
    assert "C in A in B" in names
    assert len(names) == ner.trained_.components[0].structure.global_cells


def test_encode_is_undone_by_decode_for_every_set():
    """Three tokens, two labels: the site cells of a set are read as it, and there is a global cell for each mention."""
    component = TreeComponent(["a", "b"], [("a", "b")])
    lattices = all_segments([3], 2, SegmentLayout(2, 1, inside=True))
    shapes = Shapes([3], lattices)
    every = [Mention(label, (span,)) for span in [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)] for label in "ab"]
    for size in range(4):
        for own in itertools.combinations(every, size):
            if any(m.crosses(o) for m, o in itertools.combinations(own, 2)):
                continue
            (cells,) = component.encode_all([own], shapes)
            sites = cells[cells < lattices.rows * 2]
            (back,) = component.decode_all(sites, np.array([0, len(sites)]), shapes)
            assert sorted(back) == sorted(own)
            assert len(cells) - len(sites) == size
            assert sorted(c for c, _ in component.located(own, shapes, 0)) == sorted(cells.tolist())


def test_partial_annotation_leaves_what_is_not_known_open():
    """The loss of a sentence of which one mention is known is −log P(mention), by the list of all sets."""
    ner = Recognizer("tree", features=FEATURES, trainer=LBFGS(l2=0.1, max_iter=5)).fit(NESTED)
    some = Sentence(NESTED[1].tokens, [Mention("LOC", ((3, 4),))], known=Known(labels=()))
    belief = ner.distribution(some)
    (component,) = ner.trained_.components
    shapes = ner.trained_.model.shapes([some], ner.trained_.extractor.layout)
    mask = component.allowed_in(some.mentions, some.known, shapes, 0)
    left, _ = component.structure_for(shapes).expectations(belief.scores.ravel(), belief.global_scores, 0, mask.ravel())
    assert left - belief.log_z == pytest.approx(math.log(belief.prob(some.mentions[0])), abs=1e-9)
    partial = [
        *NESTED,
        Sentence(["a", "mayor", "of", "Bonn", "won"], [Mention("LOC", ((3, 4),))], known=Known(labels=())),
    ]
    again = Recognizer("tree", features=FEATURES, trainer=LBFGS(l2=0.01)).fit(partial)
    assert Mention("LOC", ((3, 4),)) in again.predict(partial[-1]).mentions


def test_a_mention_penalty_counts_once_for_each_mention():
    """With a penalty the best set is the one whose score plus penalty times mentions is highest, of all sets."""
    ner = Recognizer("tree", features=FEATURES, trainer=LBFGS(l2=0.3)).fit(NESTED)
    some = sentence("a mayor of Rome")
    sets = [(math.log(p), found) for p, found in ner.distribution(some).k_best(20_000) if p > 0]
    for penalty in (-3.0, 0.0, 1.0, 2.0):
        ner.trained_.set_penalty(dict.fromkeys(ner.labels_, penalty))
        best = max(sets, key=lambda one: one[0] + penalty * len(one[1]))
        assert sorted(ner.trained_.find([some])[0]) == sorted(best[1])


def test_explanations_name_rules_and_add_up():
    ner = Recognizer("tree", features=FEATURES, trainer=LBFGS(l2=0.01)).fit(NESTED)
    said = ner.explain(NESTED[0], Mention("LOC", ((3, 5),)))
    assert math.isclose(sum(c.contribution for c in said.contributions), said.score_difference, abs_tol=1e-6)
    assert any("LOC in PER" in c.feature for c in said.contributions)


def test_damaged_headers_are_model_file_errors():
    for header in ({}, {"longest": 3, "ancestors": 5, "pairs": [], "types": ["a"]}, {"longest": 3, "ancestors": 2}):
        with pytest.raises(ModelFileError, match="tree model are damaged"):
            Tree.from_header(header)
    damaged = {"longest": 3, "ancestors": 2, "pairs": [["a", "z"]], "types": ["a"]}
    with pytest.raises(ModelFileError, match="tree model are damaged"):
        Tree.from_header(damaged)
