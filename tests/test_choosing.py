"""A mention penalty without development data."""

from __future__ import annotations

import pytest

from spanloom import Document, Mention, Recognizer, Sentence, read
from spanloom.base.errors import EncodingError, ParameterError
from spanloom.choosing import SMALL, folds
from spanloom.corpus import Known
from spanloom.decisions import Best
from spanloom.decisions.penalty import GRID
from spanloom.evaluation.score import micro
from spanloom.learning import LBFGS

X = Mention("X", ((0, 1),))


def documents(n: int, sentences: int = 1) -> list[Document]:
    return [Document([Sentence(["a"], [X])] * sentences, str(i)) for i in range(n)]


def test_every_document_is_held_out_once_where_there_are_few_sentences():
    made = folds(documents(23, 10))
    assert sorted(int(doc.id) for _, held in made for doc in held) == list(range(23))
    for kept, held in made:
        assert {doc.id for doc in kept} | {doc.id for doc in held} == {str(i) for i in range(23)}
        assert len(kept) + len(held) == 23


def test_as_many_fifths_are_held_out_as_it_takes_to_have_enough_sentences():
    """Of 1,500 sentences two fifths are 600, more than the 400 that are enough; of 500, four are 400."""
    assert [len(folds(documents(100, sentences))) for sentences in (4, 5, 6, 10, 15)] == [5, 4, 4, 2, 2]
    assert all(len(held) == 20 for _, held in folds(documents(100, 15)))


def test_a_tenth_is_held_out_where_there_are_many():
    ((kept, held),) = folds(documents(100, SMALL // 50))
    assert (len(kept), len(held)) == (90, 10)


def test_few_documents_are_cut_into_sentences_and_very_few_sentences_are_not_held_out():
    assert len(folds(documents(2, 50))) == 5
    assert folds(documents(3, 3)) == []


def test_only_sentences_that_are_annotated_completely_are_held_out():
    """What is found in others would count as wrong; they are learned from all the same."""
    part = Sentence(["a"], [], known=Known(labels=()))
    whole = Sentence(["a"], [X])
    mixed = [Document([whole, part], str(i)) for i in range(20)]
    made = folds([*mixed, Document([part], "nothing known")])
    assert all(s.known is None for _, held in made for doc in held for s in doc.sentences)
    assert sum(len(doc.sentences) for _, held in made for doc in held) == 20
    for kept, _ in made:
        assert "nothing known" in [doc.id for doc in kept]
        assert sum(s.known is not None for doc in kept for s in doc.sentences) == 17


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
        rough = settings(trainer=LBFGS(max_iter=8).roughly(), decide=Best(exclusive=False))
        own = Recognizer("edge", **rough).fit(kept)
        gold += [s.mentions for doc in held for s in doc.sentences]
        found += [s.mentions for doc in own.predict(held) for s in doc.sentences]
    curve = ner.penalty_curve_
    assert curve.values == list(GRID)
    assert curve.at(0.0) == micro(gold, found)
    assert curve.at(curve.chosen).f1 == max(score.f1 for score in curve.scores)
    assert set(ner.mention_penalty_.values()) <= {curve.chosen}
    assert ner.training_["sentences"] == sum(len(doc.sentences) for doc in train)
    assert "start" not in ner.training_  # nobody has given one


def test_the_model_is_that_of_all_data_with_the_chosen_penalty(train):
    """It starts from weights that a fold has learned, and comes to the same optimum."""
    exact = LBFGS(tol=1e-7)
    ner = Recognizer("edge", **settings(trainer=exact, decide=Best(penalty="auto"))).fit(train)
    same = Recognizer("edge", **settings(trainer=exact, decide=Best(penalty=ner.penalty_curve_.chosen))).fit(train)
    assert ner.training_["objective"] == pytest.approx(same.training_["objective"], rel=1e-6)
    assert same.predict(train) == ner.predict(train)
    assert len(ner.history_) < len(same.history_)


def test_choices_are_made_roughly_and_told_as_parts_of_one_training(train):
    heard = []
    ner = Recognizer("edge", **settings(trainer=LBFGS(l2=1), decide=Best(penalty="auto"))).fit(
        train, listener=heard.append
    )
    labels = len(ner.labels_)
    parts = len(folds(train)) + 1
    assert {record.parts for record in heard} == {labels * parts}
    assert [r.component for r in heard] == sorted(r.component for r in heard)
    assert max(r.component for r in heard) == labels * parts - 1
    assert heard[0].part.startswith("to choose a mention penalty: ")
    assert heard[-1].part.startswith("on all data: ")
    ends = {r.component: r for r in heard}
    rough = [ends[k] for k in range(labels * (parts - 1))]
    assert any(r.objective - r.bound > 1e-3 * r.objective for r in rough)
    assert all(r.dev_f1 is None for r in heard)  # what was held out is not scored in every iteration


def test_a_mention_that_the_model_cannot_hold_is_named_by_its_place_in_all_data(train):
    """Not by its place among the sentences of a fold."""
    said = []
    for decide in (Best(), Best(penalty="auto")):
        with pytest.raises(EncodingError) as error:
            Recognizer("chain", decide=decide).fit(train)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_a_model_that_is_far_too_careful_gets_a_penalty_beyond_three():
    """One ``a`` in 33 is a mention, so that its log-odds are about -3.5; F1 wants all of them."""
    rare = [Sentence(["abcd"[i % 4]], [X] if i % 4 == 0 and i // 4 % 33 == 0 else []) for i in range(800)]
    ner = Recognizer("chain", features=["word"], decide=Best(penalty="auto"), threads=1).fit(rare)
    assert ner.penalty_curve_.at(3.0).predicted == 0
    assert ner.penalty_curve_.chosen > 3
    assert ner.score(rare).recall == 1.0


def test_a_model_that_the_data_chose_may_take_none(train):
    """Discontinuous mentions get multilabel, which takes no penalty; asked for by name, that is an error."""
    broken = [Document([Sentence(["a", "b", "c"], [Mention("X", ((0, 1), (2, 3)))])])] * 3
    assert Recognizer(decide=Best(penalty="auto")).fit(broken).model_.name == "multilabel"
    with pytest.raises(ParameterError, match="'multilabel' takes no mention penalty"):
        Recognizer("multilabel", decide=Best(penalty="auto")).fit(broken)
