"""Decisions of models that are made of parts: their mention penalties, and what is refused before the training."""

from __future__ import annotations

import pytest

from spanloom import Mention, Recognizer, Sentence, read
from spanloom.base.errors import ParameterError
from spanloom.configuration import configure
from spanloom.decisions import Best
from spanloom.evaluation import micro
from spanloom.models import Cascade, Joined, Layered, Tagger

FLAT = [Sentence(["a", "b", "c"], [Mention("X", ((0, 1),)), Mention("Y", ((1, 2),))])]
REDUCTIONS = ("layered", "cascade", "joined", "innermost", "outermost")


@pytest.fixture(scope="module")
def sample() -> tuple[list[Sentence], list[Sentence]]:
    parts = []
    for name, size in (("train", 25), ("dev", 8)):
        documents = list(read(f"sample:{name}"))[:size]
        sentences = [s for doc in documents for s in doc.sentences]
        parts.append([s.with_mentions([m for m in s.mentions if not m.discontinuous]) for s in sentences])
    return parts[0], parts[1]


def fit(model, decide, train, dev=None):
    settings = {"model": model, "features": ["word[-1..1]"], "l2": 3.0, "max_iter": 8, "keep": "longest", "threads": 1}
    return configure({**settings, "decide": decide}).fit(train, dev=dev)


@pytest.mark.parametrize("model", [name for name in REDUCTIONS if name != "joined"])  # its lists of sets take minutes
def test_auto_weighs_penalties_of_parts_against_none(model, sample):
    """All three ways are scored as a recogniser scores that has only that way; thresholds must be clearly better."""
    train, dev = sample
    ner = fit(model, "auto", train, dev)
    tried = ner.training_["decision"]["tried"]
    gold = [s.mentions for s in dev]

    def f1(other: Recognizer) -> float:
        return micro(gold, [s.mentions for s in other.predict([s.with_mentions([]) for s in dev])]).f1

    # "auto" never gives the same tokens two labels here, as the training data never do.
    assert tried["best"] == pytest.approx(f1(fit(model, Best(exclusive="auto"), train)))
    penalised = fit(model, Best("auto", exclusive="auto"), train, dev)
    assert any(part.penalty for part in penalised.parts_)
    assert tried["penalty"] == pytest.approx(f1(penalised))
    chosen = ner.training_["decision"]["chosen"]
    assert chosen == "f1" or tried[chosen] == max(tried["best"], tried["penalty"])
    assert chosen != "f1" or tried[chosen] == max(tried.values())
    assert f1(ner) == pytest.approx(ner.training_["decision"]["f1"])
    assert bool(ner.mention_penalty_) == (chosen == "penalty")


def test_penalties_of_parts_survive_the_file(sample, tmp_path):
    """Layers with penalties of their own keep them; a label whose penalties differ is told by layer."""
    train, _ = sample
    ner = fit("layered", "best", train)
    one, two, *_ = ner.parts_
    one.set_penalty({"protein": 0.5})
    two.set_penalty({"protein": 1.5})
    ner.save(tmp_path / "m.loom")
    again = Recognizer.load(tmp_path / "m.loom")
    assert [part.penalty for part in again.parts_][:2] == [{"protein": 0.5}, {"protein": 1.5}]
    assert again.mention_penalty_["1: protein"] == 0.5
    assert again.mention_penalty_["2: protein"] == 1.5


@pytest.mark.parametrize("model", REDUCTIONS)
def test_a_penalty_set_afterwards_is_that_of_training(model, sample):
    """``set_mention_penalty`` reaches the parts, as the decision of the training does."""
    train, dev = sample
    model = Cascade(guesses=False) if model == "cascade" else model  # guesses are made with the penalty, too
    trained = fit(model, Best(2.0), train)
    later = fit(model, "best", train)
    plain = later.predict(dev)
    assert later.set_mention_penalty(2.0).predict(dev) == trained.predict(dev)
    assert later.mention_penalty_ == trained.mention_penalty_
    assert later.predict(dev) != plain
    assert later.set_mention_penalty(0).predict(dev) == plain


def test_a_penalty_after_training_is_chosen_on_dev(sample):
    train, dev = sample
    ner = fit("layered", "best", train)
    curve = ner.tune_mention_penalty(dev)
    scores = {value: ner.set_mention_penalty(value).score(dev).f1 for value in (-1.0, 0.0, 1.0, 2.0)}
    for value, f1 in scores.items():
        assert curve.at(value).f1 == pytest.approx(f1)
    with pytest.raises(ParameterError, match="auto-by-label"):
        ner.tune_mention_penalty(dev, by_label=True)


def test_labels_of_one_part_only_may_be_penalised(sample):
    """A label that a part has not learned is no error there, one that no part has is; before any training."""
    train, dev = sample
    label = min({m.label for s in train for m in s.mentions})
    ner = fit("cascade", Best({label: -50.0}), train)
    assert not any(m.label == label for s in ner.predict(dev) for m in s.mentions)
    assert ner.mention_penalty_ == {label: -50.0}


class Own:
    """A tagger that finds nothing."""

    def fit(self, corpus, /, *, dev=None, listener=None):
        raise AssertionError("the training began")

    def predict(self, corpus, /):
        return list(corpus)


@pytest.mark.parametrize(
    ("model", "decide", "message"),
    [
        (Layered(), Best({"Z": 1.0}), "no label 'Z'"),
        (Cascade(), Best({"Z": 1.0}), "no label 'Z'"),
        (Joined(), Best({"X": 1.0}), "one mention penalty for all labels"),
        (Layered(base=Own), "f1", "needs probabilities"),
        (Layered(base=Own), "auto", "needs probabilities"),
        (Cascade(base=Own), "precision=0.9", "needs probabilities"),
        (Layered(base=lambda: Recognizer("chain", repairs=["brackets"])), "f1", "needs probabilities"),
        (Layered(base=Own), Best(1.0), "takes no mention penalty"),
        (Tagger("pos"), "auto", "every token a value"),
    ],
)
def test_what_could_not_be_used_is_refused_before_the_training(model, decide, message):
    """Not a single iteration is lost."""
    heard: list[int] = []
    corpus = [s.with_columns({"pos": ["N"] * len(s)}) for s in FLAT]
    with pytest.raises(ParameterError, match=message):
        Recognizer(model, decide=decide).fit(corpus, dev=corpus, listener=lambda r: heard.append(r.number))
    assert not heard


def test_a_recogniser_as_base_shares_what_it_believes():
    """A base that is nothing but a model decides by probabilities like the model."""
    own = Recognizer(Layered(base=lambda: Recognizer("chain", features=["word"])), decide="f1").fit(FLAT * 6)
    same = Recognizer("layered", features=["word"], decide="f1").fit(FLAT * 6)
    assert own.predict(FLAT, probabilities=True) == same.predict(FLAT, probabilities=True)
