"""The pipeline: order, required columns before any work, columns on demand, states."""

from __future__ import annotations

from typing import Any

import pytest

from spanloom.annotators import Annotator, DocumentContext, Fitting, Lexicon, Parser, Pipeline
from spanloom.annotators.trees import Trees
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.corpus import Document, Mention, Sentence
from spanloom.corpus.document import map_sentences


class Made(Annotator):
    """Makes columns of constants, and notes that it worked."""

    def __init__(self, provides: str, requires: str = "", templates: tuple[str, ...] = ()) -> None:
        self.provides, self.requires = tuple(provides.split()), tuple(requires.split())
        self.templates = templates
        self.seen: list[list[str]] = []

    kind = "made"

    def columns(self, sentences):
        self.seen += [s.tokens for s in sentences]
        return [{name: [name] * len(s) for name in self.provides} for s in sentences]


class Root(Parser):
    """Every word is a root; it tags on the way."""

    identity = "root"

    def __init__(self) -> None:
        self.seen = 0

    def parse(self, sentences):
        self.seen += len(sentences)
        return [{"head": ["0"] * len(s), "deprel": ["root"] * len(s), "upos": ["X"] * len(s)} for s in sentences]


def fitting(**options: Any) -> Fitting:
    return Fitting(lambda *_: pytest.fail("no recogniser is asked"), **options)


def columns(documents: list[Document]) -> list[dict[str, list[str]]]:
    return [s.columns for doc in documents for s in doc.sentences]


DOCS = [Document([Sentence(["a", "b"]), Sentence(["c"])], "one"), Document([Sentence(["d"])], "two", meta={"k": 1})]


def test_annotators_run_in_order_and_documents_stay_whole() -> None:
    """The second reads what the first makes."""
    pipeline = Pipeline.of([Made("x"), Made("y", "x")])
    for done in (pipeline.annotate(DOCS), pipeline.fit(DOCS, fitting())[1]):
        assert [(doc.id, doc.meta, doc.text, len(doc.sentences)) for doc in done] == [
            ("one", {}, "a b\nc", 2),
            ("two", {"k": 1}, "d", 1),
        ]
        assert columns(done) == [{"x": ["x"] * n, "y": ["y"] * n} for n in (2, 1, 1)]


def test_a_required_column_is_missed_before_any_work() -> None:
    """The message has the column, the sentence, what it has, and what to type; no annotator has worked."""
    first = Made("x")
    pipeline = Pipeline.of([first, Made("y z", "pos")])
    some = [Document([Sentence(["a"], columns={"pos": ["DT"]}), Sentence(["b"], columns={"lemma": ["b"]})])]
    message = (
        r"the columns y and z need the column 'pos', which sentence 1 lacks; it has: word, lemma\. .*"
        r"--annotate udpipe:FILE"
    )
    for work in (lambda: pipeline.annotate(some), lambda: pipeline.fit(some, fitting())):
        with pytest.raises(CorpusError, match=message):
            work()
    assert first.seen == []
    with pytest.raises(CorpusError, match="'x', which sentence 0 lacks"):
        Pipeline.of([Made("y", "x"), Made("x")]).annotate(DOCS)  # too late


def test_who_has_the_columns_needs_none() -> None:
    """Nothing is required for sentences that have what would be made."""
    there = [Document([Sentence(["a"], columns={"y": ["mine"]})])]
    assert columns(Pipeline.of([Made("y", "x")]).annotate(there)) == [{"y": ["mine"]}]


def test_required_columns_may_be_derived() -> None:
    """Noun phrases follow from parts of speech, which are there or are made before."""
    tagged = [Document([Sentence(["a", "gene"], columns={"pos": ["DT", "NN"]})])]
    (made,) = columns(Pipeline.of([Made("y", "phrase-head")]).annotate(tagged))
    assert made["phrase-head"] == ["gene", "gene"]
    (made,) = columns(Pipeline.of([Made("pos"), Made("y", "headword")]).annotate([Document([Sentence(["a"])])]))
    assert made == {"pos": ["pos"], "headword": ["-"], "y": ["y"]}


def test_columns_on_demand_are_made_only_where_they_are_wanted() -> None:
    """Trees once and only for sentences without; nothing else."""
    parser = Root()
    pipeline = Pipeline.of([parser])
    assert columns(pipeline.annotate(DOCS, ["word"])) == [{}, {}, {}]
    with_tree = map_sentences(lambda all: [all[0].with_columns({"head": ["2", "0"]}), *all[1:]], DOCS)
    done = pipeline.annotate(with_tree, ["word", "head"])
    assert parser.seen == 2
    assert [c["head"] for c in columns(done)] == [["2", "0"], ["0"], ["0"]]
    assert pipeline.annotate(done, ["head"]) == done
    assert parser.seen == 2


def test_what_a_recogniser_is_asked_about_has_its_columns() -> None:
    """Trees are made before the first recogniser is trained; templates of earlier annotators are passed on."""
    asked: list[Any] = []

    class First:
        makes, threads = None, None

        def fit(self, docs, listener=None):
            asked.append([sorted(c) for c in columns(docs)])
            return self

        def predict(self, docs):
            return docs

    def make(iterations, templates):
        asked.append((iterations, templates))
        return First()

    docs = [Document([Sentence(["a"], [Mention("X", ((0, 1),))])] * 2)] * 2
    pipeline = Pipeline.of([Made("x", templates=("x[0]",)), DocumentContext(iterations=7), Made("y")], parser=Root())
    fitted, done = pipeline.fit(docs, Fitting(make, wanted=["word", "head"]))
    assert asked[:2] == [(7, ("x[0]",)), [["deprel", "head", "upos", "x"]] * 2]
    assert fitted.templates == ("x[0]", "values(document)[-1..0]", "values(document-pair)[-1..1]")
    assert sorted(columns(done)[0]) == ["deprel", "document", "document-pair", "head", "upos", "x", "y"]
    fitted.use_threads(3)
    assert fitted.annotators[1].first.threads == 3


def test_a_state_is_the_same_pipeline() -> None:
    """Arrays of each annotator by its number; the reference of the parser, which is opened when it is needed."""
    pipeline = Pipeline.of([Lexicon("a", ["x y"]), "phrases", Lexicon("b", ["z"])], parser=Root())
    arrays, header = pipeline.state()
    assert [one["kind"] for one in header["annotators"]] == ["lexicon", "phrases", "lexicon", "parser"]
    again = Pipeline.from_state({**arrays, "weights": arrays["annotator.0.bytes"]}, {**header, "model": {}})
    docs = [Document([Sentence(["x", "y", "z"], columns={"pos": ["NN"] * 3})])]
    assert again.annotate(docs) == pipeline.annotate(docs)
    assert again.annotate(docs)[0].sentences[0].columns["lexicon-b"] == ["O", "O", "S"]
    with pytest.raises(ParameterError, match="does not hold the parser, which was an object of yours; give it again"):
        again.annotate(docs, ["head"])
    assert again.with_parser(Root()).annotate(docs, ["head"])[0].sentences[0].columns["head"] == ["0"] * 3
    assert Pipeline.from_state({}, {}).annotators == ()


def test_a_single_reference_is_no_list() -> None:
    with pytest.raises(ParameterError, match=r"annotators are a list, e\.g\. \['phrases'\]"):
        Pipeline.of("phrases")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            [Lexicon("genes", ["a"]), Lexicon("genes", ["b"])],
            "the column lexicon-genes would be made twice, by the annotators lexicon and lexicon, .*name of its own",
        ),
        ([Lexicon("train", ["a"]), "induced"], "column lexicon-train .* lexicon and induced, .*is called train"),
        ([Made("x"), Made("y"), Made("x y")], "the columns x and y would be made twice, .*leave one of them out"),
        ([Root(), Root()], "the columns head and deprel would be made twice, by the annotators parser and parser"),
    ],
)
def test_an_annotator_without_effect_is_refused(given: list[Any], message: str) -> None:
    """Columns that are there are left as they are: all that it makes would be dropped."""
    with pytest.raises(ParameterError, match=message):
        Pipeline.of(given)


def test_an_annotator_may_make_other_columns_too() -> None:
    """The first to make a column makes it; the second adds the rest. A parser of one's own goes before another's."""
    (made,) = columns(Pipeline.of([Made("x"), Made("x y")]).annotate([Document([Sentence(["a"])])]))
    assert made == {"x": ["x"], "y": ["y"]}
    both = Pipeline.of([Offers("x"), Root()])
    assert both.annotate([Document([Sentence(["a"])])], ["head"])[0].sentences[0].columns["deprel"] == ["root"]


def test_what_is_added_to_a_model_makes_something_new() -> None:
    """Trees are: those of what is added take the place of the others."""
    own = Pipeline.of([Offers("x")])
    assert len(own.plus(Pipeline.of([Offers("x")])).annotators) == 2
    with pytest.raises(ParameterError, match="the column x would be made twice"):
        own.plus(Pipeline.of([Made("x")]))


class Offers(Made):
    """Makes trees too."""

    kind = "offers"

    def on_demand(self):
        return [Trees(Root())]
