"""Document context: what was found elsewhere in the document."""

from __future__ import annotations

import random
from itertools import accumulate, pairwise

import pytest

from spanloom import Document, Mention, Recognizer, Sentence
from spanloom.annotators import DocumentContext, Fitting, Parser, annotator
from spanloom.base.errors import ParameterError
from spanloom.corpus.crossfit import blocks
from spanloom.learning import LBFGS
from spanloom.models import Tagger


class Reader:
    """Stands for a recogniser: finds what it was told to find, and remembers what it was taught."""

    makes = None

    def __init__(self, found=None, taught=None):
        self.found, self.taught = found or {}, taught if taught is not None else []

    def fit(self, docs, listener=None):
        self.taught.append([s.text for doc in docs for s in doc.sentences])
        return self

    def predict(self, docs):
        return [Document([s.with_mentions(self.found.get(s.text, [])) for s in doc.sentences]) for doc in docs]


def test_columns_of_a_document() -> None:
    """Shares are those of the other sentences; the sentence's own occurrences do not count."""
    texts = ["The IL-2 gene", "il-2 binds", "IL-2 gene or IL-2 gene", "IL-2 gene"]
    found = {
        texts[0]: [Mention("DNA", ((1, 3),)), Mention("protein", ((1, 2),))],
        texts[1]: [Mention("protein", ((0, 1),))],
        texts[2]: [Mention("DNA", ((0, 2),))],
    }
    made = DocumentContext()
    made.first = Reader(found)
    sentences = [Sentence(text.split()) for text in texts]
    done = [s for doc in made.annotate([Document(sentences[:3]), Document(sentences[3:])]) for s in doc.sentences]
    words, pairs = (done[1].columns[name] for name in ("document", "document-pair"))
    # il-2 occurs three times in the sentences 0 and 2: twice in DNA, as its first word, and once as a protein.
    assert sorted(words[0].split("|")) == [
        "first:DNA=half+",
        "first:protein=seldom+",
        "in:DNA=half+",
        "in:protein=seldom+",
        "known+",
        "last:protein=seldom+",
    ]
    assert words[1] == "new"
    assert sorted(pairs[0].split("|")) == ["known", "start:DNA=always"]  # at the start of a sentence: in sentence 2
    assert pairs[1] == "new"
    assert sorted(done[0].columns["document-pair"][2].split("|")) == ["known+", "on:DNA=half+"]
    assert done[3].columns["document"] == ["new", "new"], "another document"


def test_sentences_alone() -> None:
    """Without documents nothing stands elsewhere."""
    made = DocumentContext()
    made.first = Reader()
    done = made.annotate([Document([Sentence(["a", "a"])]), Document([Sentence(["a"])])])
    assert [s.columns["document"] for doc in done for s in doc.sentences] == [["new", "new"], ["new"]]


@pytest.mark.parametrize("sizes", [[2] * 7, [14]])
def test_cross_fitting(sizes) -> None:
    """No training document is looked at by a recogniser that has learned from it; one alone is parted."""
    sentences = [Sentence([str(i)], [Mention("X", ((0, 1),))]) for i in range(14)]
    taught: list[list[str]] = []
    asked: list[list[str]] = []

    class Watched(Reader):
        def predict(self, docs):
            texts = [s.text for doc in docs for s in doc.sentences]
            assert not set(texts) & set(self.taught[-1])
            asked.append(texts)
            return docs

    ends = list(accumulate(sizes, initial=0))
    docs = [Document(sentences[a:b]) for a, b in pairwise(ends)]
    DocumentContext(folds=3).fit(docs, Fitting(lambda *_: Watched(taught=taught)))
    units = 7 if len(sizes) == 7 else 14
    of = {u: [str(i) for i in range(14) if i * units // 14 == u] for u in range(units)}
    assert asked == [[text for u in block for text in of[u]] for block in blocks([1] * units, 3)]
    assert taught[-1] == [s.text for s in sentences]


def test_columns_that_are_there_stay() -> None:
    """As with every annotator; and bars in labels part nothing."""
    made = DocumentContext()
    made.first = Reader({"a": [Mention("x|y", ((0, 1),))]})
    given = Sentence(["a"], columns={"document": ["mine"]})
    (doc,) = made.annotate([Document([given, Sentence(["a", "b"])])])
    first, second = doc.sentences
    assert first.columns["document"] == ["mine"]
    assert second.columns["document"][0] == "known|first:x¦y=always|in:x¦y=always|last:x¦y=always"


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
    alone = Recognizer("chain", trainer=LBFGS(l2=0.1)).fit(train)
    both = Recognizer("chain", annotators=["document"], trainer=LBFGS(l2=0.1)).fit(train)
    assert both.score(test).f1 == 1
    assert alone.score(test).f1 < 0.9
    both.save(tmp_path / "m.loom")
    again = Recognizer.load(tmp_path / "m.loom")
    assert again.predict(test) == both.predict(test)
    assert isinstance(again.pipeline_.annotators[0], DocumentContext)


def test_both_names_give_the_same_model(tmp_path) -> None:
    """And a file of an earlier version, which says nothing of its columns, has the old ones."""
    train, test = documents(60, 1), documents(20, 2)
    new, old = (
        Recognizer("chain", annotators=[name], trainer=LBFGS(max_iter=20)).fit(train)
        for name in ("document", "elsewhere")
    )
    assert new.predict(test) == old.predict(test)
    arrays, header = old.state()
    del header["annotators"][0]["state"]["document_context"]
    again = Recognizer.from_state(arrays, header)
    assert again.pipeline_.annotators[0].provides == ("elsewhere", "elsewhere-pair")
    assert again.predict(test) == old.predict(test)


def test_iterations_are_heard() -> None:
    """The looks of the first recognisers are heard of as well."""
    heard: list[int] = []
    Recognizer("chain", annotators=[DocumentContext(iterations=2)], trainer=LBFGS(max_iter=3)).fit(
        documents(20, 1), listener=lambda record: heard.append(record.number)
    )
    assert heard.count(1) == 4


def test_the_first_look_has_no_more_iterations_than_the_second() -> None:
    """Few are few for both."""
    ner = Recognizer("chain", trainer="adagrad", annotators=["document"]).fit(documents(40, 1))
    assert len(ner.pipeline_.annotators[0].first.history_) <= len(ner.history_)


class Next(Parser):
    """Hangs every word on the next one, and counts."""

    identity = "next"

    def __init__(self):
        self.seen = 0

    def parse(self, sentences):
        self.seen += len(sentences)
        return [
            {"head": [str((i + 2) % (len(s) + 1)) for i in range(len(s))], "deprel": ["x"] * len(s)} for s in sentences
        ]


def test_both_looks_see_trees(tmp_path) -> None:
    """Made once, and also by a recogniser that was loaded."""
    train = documents(30, 1)
    parser = Next()
    ner = Recognizer(
        "chain", features=["word", "head(word)"], annotators=[parser, "document"], trainer=LBFGS(max_iter=20)
    ).fit(train)
    assert parser.seen == sum(len(doc.sentences) for doc in train)
    ner.save(tmp_path / "m.loom")
    again = Recognizer.load(tmp_path / "m.loom", annotators=[Next()], threads=1)
    assert again.predict(train) == ner.predict(train)
    assert again.pipeline_.annotators[0].first.threads == 1


def test_an_interrupted_first_look_keeps_nothing() -> None:
    """There is no model yet."""

    def stop(record):
        raise KeyboardInterrupt

    ner = Recognizer("chain", annotators=["document"])
    with pytest.raises(KeyboardInterrupt, match="while the first recogniser was trained"):
        ner.fit(documents(20, 1), listener=stop)
    assert not hasattr(ner, "training_")


def test_errors() -> None:
    """It learns with a recogniser of mentions, and nothing without one."""
    with pytest.raises(ParameterError, match="trained with this annotator"):
        DocumentContext().annotate([Document([Sentence(["a"])])])
    with pytest.raises(ParameterError, match="has not been trained"):
        DocumentContext().state()
    tagged = [Document([Sentence(["a", "b"], columns={"pos": ["X", "Y"]})] * 2)] * 4
    with pytest.raises(ParameterError, match="a tagger finds none"):
        Recognizer(Tagger("pos"), annotators=["document"]).fit(tagged)
    with pytest.raises(ParameterError, match="folds"):
        DocumentContext(folds=1)
    with pytest.raises(ParameterError, match="no training document has two; give documents"):
        Recognizer("chain", annotators=["document"]).fit([s for doc in documents(20, 1) for s in doc.sentences])
    plain, named = Sentence(["a"]), Sentence(["b"], [Mention("P", ((0, 1),))])
    with pytest.raises(ParameterError, match="no mention is left to learn from"):
        Recognizer("chain", annotators=["document"]).fit([Document([plain, named]), Document([plain, plain])])
    with pytest.raises(ParameterError, match="annotators are a list"):
        Recognizer("chain", annotators="document").fit(documents(20, 1))
    assert annotator("document").provides == ("document", "document-pair")
    assert annotator("elsewhere").provides == ("elsewhere", "elsewhere-pair"), "as in earlier versions"


class Tagging(Next):
    """A parser that needs parts of speech."""

    def parse(self, sentences):
        assert all("pos" in s.columns for s in sentences)
        return super().parse(sentences)


def test_a_tagger_does_not_parse_what_it_tags(tmp_path) -> None:
    """Parts of speech are made before trees, which may need them."""
    tagged = [Sentence(s.tokens, columns={"pos": ["X"] * len(s)}) for doc in documents(10, 1) for s in doc.sentences]
    Recognizer(Tagger("pos"), trainer=LBFGS(max_iter=3)).fit(tagged).save(tmp_path / "pos.loom")
    settings = {"features": ["word", "head(word)"], "annotators": [Tagging(), str(tmp_path / "pos.loom")]}
    ner = Recognizer("chain", **settings, trainer=LBFGS(max_iter=3)).fit(documents(10, 1))
    assert ner.predict(documents(3, 2))
