"""A mention penalty without development data."""

from __future__ import annotations

import pytest

from spanloom import Document, Mention, Recognizer, Sentence, read
from spanloom.base.errors import ParameterError
from spanloom.choosing import SMALL, folds
from spanloom.decisions import Best
from spanloom.decisions.penalty import GRID
from spanloom.evaluation.score import micro
from spanloom.learning import LBFGS

X = Mention("X", ((0, 1),))


def documents(n: int, sentences: int = 1) -> list[Document]:
    return [Document([Sentence(["a"], [X])] * sentences, str(i)) for i in range(n)]


def test_every_document_is_held_out_once_where_there_are_few_sentences():
    made = folds(documents(23))
    assert sorted(int(doc.id) for _, held in made for doc in held) == list(range(23))
    for kept, held in made:
        assert {doc.id for doc in kept} | {doc.id for doc in held} == {str(i) for i in range(23)}
        assert len(kept) + len(held) == 23


def test_a_tenth_is_held_out_where_there_are_many():
    ((kept, held),) = folds(documents(100, SMALL // 50))
    assert (len(kept), len(held)) == (90, 10)


def test_few_documents_are_cut_into_sentences_and_very_few_sentences_are_not_held_out():
    assert len(folds(documents(2, 50))) == 5
    assert folds(documents(3, 3)) == []


@pytest.fixture(scope="module")
def train() -> list[Document]:
    return list(read("sample:train"))[:40]


def settings(**more: object) -> dict[str, object]:
    return {"features": ["word[-1..1]"], "trainer": LBFGS(max_iter=8), "keep": "longest", "threads": 1, **more}


def test_scores_are_those_of_models_that_have_not_seen_the_sentences(train):
    """At penalty 0, what the models of the five folds find in what each has not seen; all is trained on at last."""
    ner = Recognizer("edge", **settings(decide=Best(penalty="auto"))).fit(train)
    gold, found = [], []
    for kept, held in folds(train):
        own = Recognizer("edge", **settings()).fit(kept)
        gold += [s.mentions for doc in held for s in doc.sentences]
        found += [s.mentions for doc in own.predict(held) for s in doc.sentences]
    curve = ner.penalty_curve_
    assert curve.values == list(GRID)
    assert curve.at(0.0) == micro(gold, found)
    assert curve.at(curve.chosen).f1 == max(score.f1 for score in curve.scores)
    assert set(ner.mention_penalty_.values()) <= {curve.chosen}
    assert ner.training_["sentences"] == sum(len(doc.sentences) for doc in train)
    same = Recognizer("edge", **settings(decide=Best(penalty=curve.chosen))).fit(train)
    assert same.predict(train) == ner.predict(train)


def test_a_model_that_the_data_chose_may_take_none(train):
    """Discontinuous mentions get multilabel, which takes no penalty; asked for by name, that is an error."""
    broken = [Document([Sentence(["a", "b", "c"], [Mention("X", ((0, 1), (2, 3)))])])] * 3
    assert Recognizer(decide=Best(penalty="auto")).fit(broken).model_.name == "multilabel"
    with pytest.raises(ParameterError, match="'multilabel' takes no mention penalty"):
        Recognizer("multilabel", decide=Best(penalty="auto")).fit(broken)
