"""Cascades: groups and their order, what they hold, and guesses that never come from a sentence's own training."""

from __future__ import annotations

from typing import ClassVar

import pytest
from spanloom.reductions import Cascade
from spanloom.reductions.guesses import blocks, jackknife, with_guesses

from spanloom import Mention, Recognizer, Sentence
from spanloom.base.errors import EncodingError, ParameterError


def sentence(text, *mentions):
    return Sentence(text.split(), [Mention(label, (part,)) for label, part in mentions])


NESTED = [
    s
    for gene in ("lacZ", "p53", "BRCA1", "IL2", "TNF", "STAT5")
    for s in (
        sentence(f"the {gene} mRNA levels rise", ("protein", (1, 2)), ("RNA", (1, 3)), ("other", (1, 4))),
        sentence(f"we saw {gene} today", ("protein", (2, 3))),
        sentence(f"the {gene} mRNA falls", ("protein", (1, 2)), ("RNA", (1, 3))),
        sentence("nothing was seen"),
    )
]
NEW = sentence("the xyz1 mRNA levels rise", ("protein", (1, 2)), ("RNA", (1, 3)), ("other", (1, 4)))
SETTINGS = {"features": ["word[-1..1]", "collapsed(word)[-1..2]", "word[2]"], "max_iter": 40, "l2": 0.01, "folds": 3}


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


def test_jackknifed_guesses_never_see_their_own_sentence(spy):
    """Each sentence is asked once, of a tagger that was not trained on it, and without its mentions."""
    corpus = [sentence(f"w{i} x", ("a", (0, 1))) for i in range(7)]
    found = jackknife(Spy, corpus, 3)
    assert [s.tokens for _, asked in spy.asked for s in asked] == [s.tokens for s in corpus]
    assert len(found) == 7
    for trained, asked in spy.asked:
        assert len(trained) + len(asked) == 7
        assert not {tuple(s.tokens) for s in trained} & {tuple(s.tokens) for s in asked}
        assert not any(s.mentions for s in asked)


def test_blocks_cover_everything_once():
    for n in range(12):
        for folds in range(2, 6):
            assert [i for block in blocks(n, folds) for i in block] == list(range(n))
            sizes = [len(block) for block in blocks(n, folds)]
            assert all(sizes)
            assert not sizes or max(sizes) - min(sizes) <= 1


def test_where_the_rest_has_no_mention_nothing_is_guessed(spy):
    """The only mention is in the first block: no tagger can be trained for it."""
    corpus = [sentence("a", ("x", (0, 1))), sentence("b")]
    assert jackknife(Spy, corpus, 2) == [[], [Mention("guess", ((0, 1),))]]


def test_later_parts_are_trained_on_jackknifed_guesses(spy):
    """The second part sees, in training, only what the spies found, not the gold."""
    model = Cascade([["a"], ["b"]], folds=2, make=lambda **_: Spy())
    corpus = [sentence("v w", ("a", (0, 1)), ("b", (0, 2))) for _ in range(4)]
    gold = [s.mentions for s in corpus]
    model.learn([(m, 2) for m in gold])
    model.train(corpus, gold)
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
    ner = Recognizer("cascade", groups=groups, **SETTINGS).fit(NESTED)
    assert ner.model_.order == order
    assert sorted(ner.predict(NEW).mentions) == sorted(NEW.mentions)
    assert ner.ceiling_ == 1
    ner.save(tmp_path / "m.loom")
    again = Recognizer.load(tmp_path / "m.loom")
    assert again.model_.order == order
    assert again.predict(NESTED) == ner.predict(NESTED)


def test_by_performance_puts_the_easiest_first():
    """A label that always is the same word comes before a more frequent one that nothing tells from the outside."""
    hard = [sentence(f"u{i} v{i}", ("hard", (i % 2, i % 2 + 1))) for i in range(12)]
    easy = [sentence("an easy one", ("easy", (1, 2))) for _ in range(6)]
    mixed = [s for pair in zip(hard[::2], hard[1::2], easy, strict=True) for s in pair]
    ner = Recognizer("cascade", groups="by-performance", features=["word"], folds=3, max_iter=20).fit(mixed)
    assert ner.model_.order == [("easy",), ("hard",)]


def test_a_guess_helps_where_only_it_tells():
    """`outer` stands before an inner mention, which the first model knows by a word that the second does not see."""
    train = [
        sentence(f"{a} {b} z", *([("inner", (1, 2)), ("outer", (0, 1))] if b == "key" else []))
        for a in "pqrs"
        for b in ("key", "dull")
    ] * 3
    new = sentence("t key z", ("inner", (1, 2)), ("outer", (0, 1)))

    def make(templates=(), **_):
        features = ["bias", *templates] if templates else ["word"]
        return Recognizer(features=features, max_iter=40, l2=0.01)

    model = Cascade([["inner"], ["outer"]], folds=3, make=make)
    gold = [s.mentions for s in train]
    model.learn([(m, 3) for m in gold])
    model.train(train, gold)
    assert sorted(model.find([new])[0]) == sorted(new.mentions)


def test_what_a_cascade_cannot_hold():
    """A protein in a protein; a label of no group; groups nobody has."""
    same = [*NESTED, sentence("a b", ("protein", (0, 1)), ("protein", (0, 2)))]
    with pytest.raises(EncodingError, match="overlaps a mention of the same group"):
        Recognizer("cascade", **SETTINGS).fit(same)
    ner = Recognizer("cascade", overlap="innermost", **SETTINGS | {"max_iter": 2}).fit(same)
    assert ner.lost_ == [(len(NESTED), Mention("protein", ((0, 2),)))]
    with pytest.raises(EncodingError, match="has a label of no group"):
        Recognizer("cascade", groups=[["protein"]], **SETTINGS).fit(NESTED)
    with pytest.raises(ParameterError, match=r"no mention of the group \('DNA',\)"):
        Recognizer("cascade", groups="all+RNA+other+DNA", **SETTINGS).fit(NESTED)
    with pytest.raises(ParameterError, match="groups must be one of by-frequency"):
        Recognizer("cascade", groups="by-luck", **SETTINGS).fit(NESTED)


def test_all_and_its_own_group_hold_a_mention_in_one_of_its_label():
    """The model of all labels takes the inner protein, that of proteins the outer one."""
    inner, outer = Mention("protein", ((0, 1),)), Mention("protein", ((0, 2),))
    assert Cascade("all+protein").misfit([inner, outer]) is None
    assert Cascade("all+DNA").misfit([inner, outer]) is not None


def test_groups_as_text():
    assert Cascade("protein, DNA; other").order == [("protein", "DNA"), ("other",)]


def test_a_mention_penalty_is_chosen_for_every_part():
    """On the development data, once: the taggers of the jackknife, which have none, take that of their part."""
    settings = {**SETTINGS, "groups": "by-performance", "mention_penalty": "auto", "threads": 1}
    ner = Recognizer("cascade", **settings).fit(NESTED, dev=NESTED)
    assert all(part.penalty_curve_ is not None for part in ner.parts_)
    assert sorted(ner.predict(NEW).mentions) == sorted(NEW.mentions)


@pytest.mark.parametrize("guesses", [True, False])
def test_side_by_side_is_the_same_as_one_after_the_other(guesses):
    """Several threads train blocks and groups that do not depend on each other; the model is the same."""
    settings = {**SETTINGS, "groups": "by-performance", "guesses": guesses}
    heard = []
    one = Recognizer("cascade", threads=1, **settings).fit(NESTED, listener=heard.append)
    many = Recognizer("cascade", threads=4, **settings).fit(NESTED)
    assert one.history_ == heard
    assert [r.objective for r in many.history_] == [r.objective for r in one.history_]
    assert [r.component for r in many.history_] == [r.component for r in one.history_]
    states = one.state(), many.state()
    assert states[0][1] == states[1][1]
    assert all((states[0][0][name] == states[1][0][name]).all() for name in states[0][0])
    assert len(one.parts_) == 3
