"""What was found elsewhere in the document."""

from __future__ import annotations

import random

import pytest

from spanloom import Document, Mention, Recognizer, Sentence
from spanloom.columns import Elsewhere, Fitting, annotator
from spanloom.corpus.blocks import blocks
from spanloom.errors import ParameterError


class Reader:
    """Stands for a recogniser: finds what it was told to find, and remembers what it was taught."""

    target = None
    max_iter = None

    def __init__(self, found=None, taught=None):
        self.found, self.taught = found or {}, taught if taught is not None else []

    def fit(self, sentences, listener=None):
        self.taught.append([s.text for s in sentences])
        return self

    def predict(self, sentences):
        return [s.with_mentions(self.found.get(s.text, [])) for s in sentences]


def test_columns_of_a_document() -> None:
    """Shares are those of the other sentences; the sentence's own occurrences do not count."""
    texts = ["The IL-2 gene", "il-2 binds", "IL-2 gene or IL-2 gene", "IL-2 gene"]
    found = {
        texts[0]: [Mention("DNA", ((1, 3),)), Mention("protein", ((1, 2),))],
        texts[1]: [Mention("protein", ((0, 1),))],
        texts[2]: [Mention("DNA", ((0, 2),))],
    }
    made = Elsewhere()
    made.first = Reader(found)
    sentences = [Sentence(text.split()) for text in texts]
    done = made.annotate(sentences, [3, 1])
    words, pairs = (done[1].columns[name] for name in ("elsewhere", "elsewhere-pair"))
    # il-2 occurs three times in the sentences 0 and 2: twice in DNA, as its first word, and once as a protein.
    assert sorted(words[0].split("|")) == [
        "DNA-first=half+",
        "DNA=half+",
        "known+",
        "protein-first=seldom+",
        "protein-last=seldom+",
        "protein=seldom+",
    ]
    assert words[1] == "new"
    assert sorted(pairs[0].split("|")) == ["DNA-starts=always", "known"]  # at the start of a sentence: in sentence 2
    assert pairs[1] == "new"
    assert sorted(done[0].columns["elsewhere-pair"][2].split("|")) == ["DNA-goes-on=half+", "known+"]
    assert done[3].columns["elsewhere"] == ["new", "new"], "another document"


def test_sentences_alone() -> None:
    """Without documents nothing stands elsewhere."""
    made = Elsewhere()
    made.first = Reader()
    done = made.annotate([Sentence(["a", "a"]), Sentence(["a"])])
    assert [s.columns["elsewhere"] for s in done] == [["new", "new"], ["new"]]


def test_cross_fitting() -> None:
    """No training sentence is looked at by a recogniser that has learned from it."""
    sentences = [Sentence([str(i)]) for i in range(7)]
    taught: list[list[str]] = []
    asked: list[list[str]] = []

    class Watched(Reader):
        def predict(self, given):
            assert not {s.text for s in given} & set(self.taught[-1])
            asked.append([s.text for s in given])
            return given

    Elsewhere(folds=3).fit(sentences, Fitting([7], lambda: Watched(taught=taught)))
    assert [[int(t) for t in block] for block in asked] == [list(block) for block in blocks(7, 3)]
    assert taught[-1] == [s.text for s in sentences]


def documents(number: int, seed: int) -> list[Document]:
    """Names that only the first sentence of a document tells from other words."""
    rng = random.Random(seed)
    made = []
    for _ in range(number):
        name = "".join(rng.choice("bcdfgklmnprst") + rng.choice("aeiou") for _ in range(3))
        named = rng.random() < 0.5
        first = Sentence(["the", "protein" if named else "study", name], [Mention("P", ((2, 3),))] if named else [])
        second = Sentence([name, "was", "seen"], [Mention("P", ((0, 1),))] if named else [])
        made.append(Document([first, second]))
    return made


def test_a_name_is_known_from_elsewhere(tmp_path) -> None:
    """Sentences that say nothing by themselves are read by the others of their document; also from a model file."""
    train, test = documents(200, 1), documents(60, 2)
    alone = Recognizer("chain", l2=0.1).fit(train)
    both = Recognizer("chain", l2=0.1, annotators=["elsewhere"]).fit(train)
    assert both.score(test).f1 == 1
    assert alone.score(test).f1 < 0.9
    both.save(tmp_path / "m.loom")
    again = Recognizer.load(tmp_path / "m.loom")
    assert again.predict(test) == both.predict(test)
    assert isinstance(again.annotators_[0], Elsewhere)


def test_iterations_are_heard() -> None:
    """The looks of the first recognisers are heard of as well."""
    heard: list[int] = []
    Recognizer("chain", max_iter=3, annotators=[Elsewhere(iterations=2)]).fit(
        documents(20, 1), listener=lambda record: heard.append(record.number)
    )
    assert heard.count(1) == 4


def test_errors() -> None:
    """It learns with a recogniser of mentions, and nothing without one."""
    with pytest.raises(ParameterError, match="trained with this annotator"):
        Elsewhere().annotate([Sentence(["a"])])
    with pytest.raises(ParameterError, match="after training"):
        Elsewhere().state()
    tagged = [Sentence(["a", "b"], columns={"pos": ["X", "Y"]})] * 4
    with pytest.raises(ParameterError, match="with a target finds none"):
        Recognizer(target="pos", annotators=["elsewhere"]).fit(tagged)
    with pytest.raises(ParameterError, match="folds"):
        Elsewhere(folds=1)
    assert isinstance(annotator("elsewhere"), Elsewhere)
