"""Cascades: groups and their order, what they hold, and guesses that never come from a sentence's own training."""

from __future__ import annotations

from typing import ClassVar

import pytest

from spanloom import Document, Mention, Recognizer, Sentence
from spanloom.base.errors import EncodingError, ParameterError
from spanloom.decisions import Best
from spanloom.learning import LBFGS, Auto
from spanloom.models import Cascade
from spanloom.models.guesses import with_guesses
from toy import genes, sentence

NESTED = genes(("lacZ", "p53", "BRCA1", "IL2", "TNF", "STAT5"))
NEW = sentence("the xyz1 mRNA levels rise", ("protein", 1, 2), ("RNA", 1, 3), ("other", 1, 4))
FEATURES = ["word[-1..1]", "collapsed(word)[-1..2]", "word[2]"]
TRAINER = LBFGS(max_iter=40, l2=0.01)


def cascade(trainer=TRAINER, *, groups="by-frequency", guesses=True, **settings):
    model = Cascade(groups=groups, guesses=guesses, folds=3)
    return Recognizer(model, features=FEATURES, trainer=trainer, **settings)


class Spy:
    """A tagger that remembers what every one of its kind was trained on and asked for."""

    trained: ClassVar[list[list[Sentence]]] = []
    asked: ClassVar[list[tuple[list[Sentence], list[Sentence]]]] = []

    def fit(self, corpus, *, dev=None, listener=None):
        self.corpus = list(corpus)
        Spy.trained.append(self.corpus)
        return self

    def predict(self, corpus):
        Spy.asked.append((self.corpus, list(corpus)))
        return [s.with_mentions([Mention("guess", ((0, 1),))]) for s in corpus]


@pytest.fixture
def spy(monkeypatch):
    monkeypatch.setattr(Spy, "trained", [])
    monkeypatch.setattr(Spy, "asked", [])
    return Spy


def test_guesses_in_training_never_come_from_the_documents_own_training(spy):
    """Each sentence is asked once, of a tagger that was not trained on its document, and without its mentions."""
    sentences = [sentence(f"w{i} x", ("a", 0, 1), ("b", 0, 2)) for i in range(8)]
    corpus = [Document(sentences[i : i + 2]) for i in range(0, 8, 2)]
    Recognizer(Cascade(Spy, groups=[["a"], ["b"]], folds=3)).fit(corpus)
    assert [s.tokens for _, asked in spy.asked for s in asked] == [s.tokens for s in sentences]
    for trained, asked in spy.asked:
        assert len(trained) + len(asked) == 8
        assert not {int(s.tokens[0][1:]) // 2 for s in trained} & {int(s.tokens[0][1:]) // 2 for s in asked}
        assert not any(s.mentions for s in asked)


def test_where_the_rest_has_no_mention_nothing_is_guessed(spy):
    """The only mention of the first group is in the first sentence: no tagger can be trained for it."""
    corpus = [sentence("v", ("a", 0, 1), ("b", 0, 1)), sentence("w", ("b", 0, 1))]
    Recognizer(Cascade(Spy, groups=[["a"], ["b"]], folds=2)).fit(corpus)
    assert [s.features for s in spy.trained[-1]] == [[[]], [["guess[0]=B-guess"]]]


def test_later_parts_are_trained_on_guesses(spy):
    """The second part sees, in training, only what the spies found, not the gold."""
    corpus = [sentence("v w", ("a", 0, 1), ("b", 0, 2)) for _ in range(4)]
    Recognizer(Cascade(Spy, groups=[["a"], ["b"]], folds=2)).fit(corpus)
    assert len(spy.trained) == 1 + 2 + 1
    assert all(s.features is None for s in spy.trained[0])
    assert [m.label for s in spy.trained[0] for m in s.mentions] == ["a"] * 4
    last = spy.trained[-1]
    assert [m.label for s in last for m in s.mentions] == ["b"] * 4
    assert all(s.features == [["guess[0]=B-guess"], ["guess[-1]=B-guess"]] for s in last)


def test_guesses_join_ones_own_features():
    given = Sentence(["a", "b"], features=[{"x": 2.0}, ["y"]])
    found = [[Mention("p", ((0, 2),))]]
    kept = with_guesses(given, found, own=True).features
    assert kept == [
        {"x": 2.0, "guess[0]=B-p": 1.0, "guess[1]=I-p": 1.0},
        ["y", "guess[-1]=B-p", "guess[0]=I-p"],
    ]
    assert with_guesses(given, found, own=False).features == [
        ["guess[0]=B-p", "guess[1]=I-p"],
        ["guess[-1]=B-p", "guess[0]=I-p"],
    ]
    assert given.features == [{"x": 2.0}, ["y"]]


@pytest.mark.parametrize(
    ("groups", "order"),
    [
        ("by-frequency", [("protein",), ("RNA",), ("other",)]),
        ("all+RNA+other", [None, ("RNA",), ("other",)]),
        ([["protein"], ["RNA"], ["other"]], [("protein",), ("RNA",), ("other",)]),
    ],
)
def test_nested_mentions_are_learned_and_survive_the_file(groups, order, tmp_path):
    ner = cascade(groups=groups).fit(NESTED)
    assert ner.trained_.order == order
    assert sorted(ner.predict(NEW).mentions) == sorted(NEW.mentions)
    assert ner.ceiling_ == 1
    ner.save(tmp_path / "m.loom")
    again = Recognizer.load(tmp_path / "m.loom")
    assert again.trained_.order == order
    assert again.predict(NESTED) == ner.predict(NESTED)


def test_by_performance_puts_the_easiest_first():
    """A label that always is the same word comes before a more frequent one that nothing tells from the outside."""
    hard = [sentence(f"u{i} v{i}", ("hard", i % 2, i % 2 + 1)) for i in range(12)]
    easy = [sentence("an easy one", ("easy", 1, 2)) for _ in range(6)]
    mixed = [s for pair in zip(hard[::2], hard[1::2], easy, strict=True) for s in pair]
    ner = Recognizer(Cascade(groups="by-performance", folds=3), features=["word"], trainer=Auto(max_iter=20)).fit(mixed)
    assert ner.trained_.order == [("easy",), ("hard",)]


def test_a_guess_helps_where_only_it_tells():
    """`outer` stands before an inner mention, and its own word does not tell: only the guess on the next one does."""
    train = [
        sentence(f"{a} {b} z", *([("inner", 1, 2), ("outer", 0, 1)] if b == "key" else []))
        for a in "pqrs"
        for b in ("key", "dull")
    ] * 3
    new = sentence("t key z", ("inner", 1, 2), ("outer", 0, 1))
    for guesses in (True, False):
        model = Cascade(groups=[["inner"], ["outer"]], folds=3, guesses=guesses)
        found = Recognizer(model, features=["word"], trainer=TRAINER).fit(train).predict(new).mentions
        assert sorted(found) == (sorted(new.mentions) if guesses else [Mention("inner", ((1, 2),))])


def test_what_a_cascade_cannot_hold():
    """A protein in a protein; a label of no group; groups nobody has."""
    same = [*NESTED, sentence("a b", ("protein", 0, 1), ("protein", 0, 2))]
    with pytest.raises(EncodingError, match="overlaps a mention of the same group"):
        cascade().fit(same)
    ner = cascade(Auto(max_iter=2), keep="innermost").fit(same)
    assert ner.lost_ == [(len(NESTED), Mention("protein", ((0, 2),)))]
    with pytest.raises(EncodingError, match="has a label of no group"):
        cascade(groups=[["protein"]]).fit(NESTED)
    with pytest.raises(ParameterError, match=r"no mention of the group \('DNA',\)"):
        cascade(groups="all+RNA+other+DNA").fit(NESTED)
    with pytest.raises(ParameterError, match="groups must be one of by-frequency"):
        Cascade(groups="by-luck")


def test_all_and_its_own_group_hold_a_mention_in_one_of_its_label():
    """The model of all labels takes the inner protein, that of proteins the outer one."""
    inner, outer = Mention("protein", ((0, 1),)), Mention("protein", ((0, 2),))
    assert Cascade(groups="all+protein").misfit([inner, outer]) is None
    assert Cascade(groups="all+DNA").misfit([inner, outer]) is not None


def test_groups_as_text():
    """Labels of one group must not overlap, those of two may."""
    model, inner = Cascade(groups="protein, DNA; other"), Mention("protein", ((0, 1),))
    assert model.misfit([inner, Mention("DNA", ((0, 2),))]) == (0, "overlaps a mention of the same group")
    assert model.misfit([inner, Mention("other", ((0, 2),))]) is None
    assert "has a label of no group" in model.misfit([Mention("RNA", ((0, 1),))])[1]


def test_a_mention_penalty_is_chosen_for_every_part():
    """On the development data, once: the taggers of cross-fitting, which have none, take that of their part."""
    ner = cascade(groups="by-performance", decide=Best(penalty="auto"), threads=1).fit(NESTED, dev=NESTED)
    assert [part.penalty_curve is not None for part in ner.parts_] == [True] * 3
    assert sorted(ner.predict(NEW).mentions) == sorted(NEW.mentions)


@pytest.mark.parametrize("guesses", [True, False])
def test_side_by_side_is_the_same_as_one_after_the_other(guesses):
    """Several threads train blocks and groups that do not depend on each other; the model is the same."""
    settings = {"groups": "by-performance", "guesses": guesses}
    heard = []
    one = cascade(threads=1, **settings).fit(NESTED, listener=heard.append)
    many = cascade(threads=4, **settings).fit(NESTED)
    assert one.history_ == heard
    assert [r.objective for r in many.history_] == [r.objective for r in one.history_]
    assert [r.component for r in many.history_] == [r.component for r in one.history_]
    states = one.state(), many.state()
    assert states[0][1] == states[1][1]
    assert all((states[0][0][name] == states[1][0][name]).all() for name in states[0][0])
    assert len(one.parts_) == 3


def test_an_interruption_of_cross_fitting_stops_the_training(monkeypatch):
    """The second training is that of a double: what it has learned by then is not used."""
    from spanloom.learning import LBFGS

    trainings, steps = [], LBFGS.steps

    def stopped(self, problem, **options):
        trainings.append(1)
        if len(trainings) == 2:
            raise KeyboardInterrupt
        return steps(self, problem, **options)

    monkeypatch.setattr(LBFGS, "steps", stopped)
    with pytest.raises(KeyboardInterrupt):
        Recognizer(Cascade(folds=2), features=["word"], threads=1).fit(NESTED)
    assert len(trainings) == 2


def test_a_file_keeps_the_groups(tmp_path):
    """Thresholds leave out what the model cannot hold, so that groups count after loading too."""
    for groups in ([["protein", "RNA"], ["other"]], "all+RNA+other"):
        ner = Recognizer(Cascade(groups=groups), features=["word"], trainer=LBFGS(max_iter=5), keep="longest").fit(
            NESTED
        )
        ner.save(tmp_path / "m.loom")
        both = [Mention("protein", ((0, 2),)), Mention("RNA", ((0, 1),))]
        loaded = Recognizer.load(tmp_path / "m.loom")
        assert loaded.trained_.model.misfit(both) == Cascade(groups=groups).misfit(both)
