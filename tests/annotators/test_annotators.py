"""Columns that the data lack: from a tagger of ours, from UDPipe, through files, and into features."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanloom import Recognizer
from spanloom.annotators import (
    Annotator,
    ModelColumns,
    Spacy,
    UDPipe,
    annotator,
    parser,
    train_udpipe,
    train_udpipe_tagger,
)
from spanloom.annotators.base import ANNOTATOR_CLASSES
from spanloom.base.errors import CorpusError, ModelFileError, ParameterError
from spanloom.corpus import Document, Mention, Sentence
from spanloom.learning import LBFGS
from spanloom.models import Tagger

WORDS = {
    "DT": ["the", "a"],
    "NN": ["gene", "cell", "protein", "mouse"],
    "VBZ": ["binds", "moves", "grows"],
    ".": ["."],
}
FEATURES = ["word[-1..1]", "suffix(word, 1..2)"]


def corpus() -> list[Sentence]:
    """Every determiner, noun and verb once with every other."""
    made = []
    for determiner in WORDS["DT"]:
        for noun in WORDS["NN"]:
            for verb in WORDS["VBZ"]:
                words, tags = [determiner, noun, verb, "."], ["DT", "NN", "VBZ", "."]
                lemmas = [determiner, noun, verb.rstrip("s"), "."]
                made.append(Sentence(words, [Mention("x", ((1, 2),))], {"pos": tags, "upos": tags, "lemma": lemmas}))
    return made


def annotated(made: Annotator, *sentences: Sentence) -> list[Sentence]:
    """What an annotator makes of sentences, each a document of its own."""
    return [s for doc in made.annotate([Document([s]) for s in sentences]) for s in doc.sentences]


def bare(sentences: list[Sentence]) -> list[Sentence]:
    return [Sentence(s.tokens, s.mentions) for s in sentences]


@pytest.fixture(scope="module")
def tagger() -> Recognizer:
    return Recognizer(Tagger("pos"), features=FEATURES, trainer=LBFGS(l2=0.01)).fit(corpus())


def test_a_token_column_is_learned(tagger: Recognizer, tmp_path: Path) -> None:
    assert set(tagger.labels_) == set(WORDS)
    found = tagger.predict(bare(corpus()))
    assert [s.columns["pos"] for s in found] == [["DT", "NN", "VBZ", "."]] * 24
    assert [s.mentions for s in found] == [s.mentions for s in corpus()]  # those of the data are left alone
    assert tagger.score(corpus()).f1 == 1.0
    tagger.save(tmp_path / "pos.loom")
    doc = Recognizer.load(tmp_path / "pos.loom").predict("the gene binds.")
    assert isinstance(doc, Document)
    assert doc.sentences[0].columns["pos"] == ["DT", "NN", "VBZ", "."]


def test_dev_accuracy_is_watched(tagger: Recognizer) -> None:
    ner = Recognizer(Tagger("pos"), features=FEATURES, trainer=LBFGS(max_iter=3)).fit(corpus(), dev=corpus())
    assert all(record.dev_f1 is not None for record in ner.history_)
    wrong = [Sentence(s.tokens, [], {"pos": ["DT", "NN", "VBZ", "NN"]}) for s in corpus()]
    assert tagger.score(wrong).f1 == pytest.approx(0.75)  # three of four tags are right


def test_observed_pairs_are_enough_here() -> None:
    ner = Recognizer(Tagger("pos"), features=FEATURES, trainer=LBFGS(l2=0.01, support="observed")).fit(corpus())
    assert ner.score(corpus()).f1 == 1.0
    row = ner.extractor_.names().index("word[0]=gene")
    columns = ner.trained_.components[0].columns
    weights = dict(zip(columns, ner.trained_.weights[0].features[row], strict=True))
    assert weights["NN"] > 0
    assert [weights[tag] for tag in ("DT", "VBZ", ".")] == [0, 0, 0]


def test_bad_targets_are_errors() -> None:
    with pytest.raises(CorpusError, match=r"learns the column 'chunk', which sentence 0 lacks; it has: word, pos"):
        Recognizer(Tagger("chunk")).fit(corpus())
    with pytest.raises(ParameterError, match="must be one of"):
        Recognizer("taggers").fit(corpus())


def test_columns_are_made_for_training_and_tagging_and_kept_in_the_file(tagger: Recognizer, tmp_path: Path) -> None:
    """The recogniser sees part of speech only, which no data has."""
    tagger.save(tmp_path / "pos.loom")
    ner = Recognizer(features=["pos[-1..1]"], annotators=[str(tmp_path / "pos.loom")], trainer=LBFGS(l2=0.01)).fit(
        bare(corpus())
    )
    (tmp_path / "pos.loom").unlink()
    ner.save(tmp_path / "ner.loom")
    loaded = Recognizer.load(tmp_path / "ner.loom")
    for one in (ner, loaded):
        doc = one.predict("a mouse grows.")
        assert [m.parts for m in doc.mentions] == [((1, 2),)]
        assert doc.sentences[0].columns == {}  # the result is what was given
        assert len(one.k_best(Sentence(["a", "mouse"]), 2)) == 2


def test_what_the_data_have_is_not_made_again(tagger: Recognizer) -> None:
    sentence = Sentence(["the", "gene"], columns={"pos": ["X", "Y"]})
    first, second = annotated(ModelColumns(tagger), sentence, Sentence(["the"]))
    assert first is sentence
    assert second.columns == {"pos": ["DT"]}
    (doc,) = ModelColumns(tagger).annotate([Document([sentence, Sentence(["the"])])])
    assert [s.columns["pos"] for s in doc.sentences] == [["X", "Y"], ["DT"]]
    some = Sentence(["the", "gene"], columns={"chunk": ["B-NP", "I-NP"], "chunk-last": ["mine", "mine"]})
    made = annotated(annotator("chunks"), some)[0].columns  # one of its two columns is there
    assert made["chunk-last"] == ["mine", "mine"]
    assert made["chunk-the"] == ["no", "yes"]


def test_a_recogniser_of_mentions_makes_no_column() -> None:
    ner = Recognizer(features=FEATURES, trainer=LBFGS(max_iter=2)).fit(corpus())
    with pytest.raises(ParameterError, match="makes no column"):
        ModelColumns(ner)
    with pytest.raises(ParameterError, match="an annotator is"):
        annotator(3)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"pass open_model=Recognizer\.load"):
        annotator("pos.loom")
    with pytest.raises(ParameterError, match=r"there is no annotator 'stanza' .* are udpipe, spacy, lexicon"):
        annotator("stanza:en")
    unknown = r"no annotator 'english_rules', .*; annotators are english-rules, .*induced.*udpipe:…, .*pos\.loom"
    with pytest.raises(ParameterError, match=unknown):
        annotator("english_rules", Recognizer.load)
    with pytest.raises(FileNotFoundError):
        annotator("english.loom", Recognizer.load)
    with pytest.raises(ParameterError, match=r"ModelColumns takes a recogniser, got 'pos.loom'"):
        ModelColumns("pos.loom")  # type: ignore[arg-type]


class Length(Annotator):
    """Of a user's own: how long each token is, at most so much."""

    kind = "chars"
    provides = ("chars",)
    templates = ("chars[0]",)

    def __init__(self, most: int) -> None:
        self.most = most

    def columns(self, sentences):
        return [{"chars": [str(min(len(t), self.most)) for t in s.tokens]} for s in sentences]

    def state(self):
        return {}, {"most": self.most}


def test_an_annotator_of_the_users_own_is_kept_in_the_file(tmp_path: Path) -> None:
    ner = Recognizer(features=["bias"], annotators=[Length(4)], trainer=LBFGS(max_iter=5)).fit(corpus())
    assert "chars[0]=4" in ner.extractor_.names()
    ner.save(tmp_path / "ner.loom")
    loaded = Recognizer.load(tmp_path / "ner.loom")
    assert isinstance(loaded.pipeline_.annotators[0], Length)
    assert loaded.pipeline_.annotators[0].most == 4
    assert loaded.predict(bare(corpus())) == ner.predict(bare(corpus()))


def test_an_annotator_that_is_not_defined_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Recognizer(features=["bias"], annotators=[Length(4)], trainer=LBFGS(max_iter=5)).fit(corpus()).save(
        tmp_path / "ner.loom"
    )
    monkeypatch.delitem(ANNOTATOR_CLASSES, "chars")
    with pytest.raises(ModelFileError, match=r"ner\.loom: .* of the kind 'chars'.* import the module that defines it"):
        Recognizer.load(tmp_path / "ner.loom")


def test_an_annotator_that_a_file_could_not_keep_is_refused_before_training() -> None:
    class Nameless(Annotator):
        provides = ("x",)

        def columns(self, sentences):
            return [{"x": list(s.tokens)} for s in sentences]

    with pytest.raises(ParameterError, match="the annotator Nameless has no 'kind'; its class sets kind"):
        Recognizer(features=["bias"], annotators=[Nameless()]).fit(corpus())
    with pytest.raises(ParameterError, match=r"Lexicon and .*Mine both have the kind 'lexicon'"):
        type("Mine", (Nameless,), {"kind": "lexicon"})


def test_udpipe_is_trained_and_used(tmp_path: Path) -> None:
    pytest.importorskip("ufal.udpipe")
    train_udpipe_tagger(corpus(), tmp_path / "en.udpipe", iterations=3)
    made = annotator(f"udpipe:{tmp_path / 'en.udpipe'}")
    assert isinstance(made, UDPipe)
    assert made.provides == ("pos", "upos", "lemma")
    columns = made.columns([Sentence(["the", "gene", "binds", "."])])[0]
    assert columns["pos"] == ["DT", "NN", "VBZ", "."]
    assert columns["lemma"] == ["the", "gene", "bind", "."]
    ner = Recognizer(features=["pos[-1..1]", "lemma"], annotators=[made], trainer=LBFGS(max_iter=5)).fit(bare(corpus()))
    ner.save(tmp_path / "ner.loom")
    assert Recognizer.load(tmp_path / "ner.loom").predict("a mouse grows.").mentions
    with pytest.raises(
        CorpusError, match=r"learns the column 'pos', which sentence 0 lacks; it has: word\. Add 'pos' or 'upos'"
    ):
        train_udpipe_tagger(bare(corpus()), tmp_path / "no")


def test_udpipe_makes_no_lemmas_that_it_has_not_learned(tmp_path: Path) -> None:
    """Neither without the column nor where it says nothing, as in CoNLL-U; who needs it gets the usual error."""
    pytest.importorskip("ufal.udpipe")
    for lemmas in ({}, {"lemma": ["_"] * 4}):
        train = [Sentence(s.tokens, [], {"pos": s.columns["pos"], **lemmas}) for s in corpus()]
        train_udpipe_tagger(train, tmp_path / "pos.udpipe", iterations=1)
        made = UDPipe(tmp_path / "pos.udpipe")
        assert made.provides == ("pos", "upos")
        assert set(made.columns(bare(corpus()))[0]) == {"pos", "upos"}
    with pytest.raises(CorpusError, match="reads the column 'lemma', which sentence 0 lacks"):
        Recognizer(features=["lemma"], annotators=[made], trainer=LBFGS(max_iter=2)).fit(bare(corpus()))


def test_a_udpipe_model_makes_what_it_has_learned(tmp_path: Path) -> None:
    """A parser alone makes trees and no tags, a tagger alone no trees."""
    pytest.importorskip("ufal.udpipe")
    tree = {"head": ["2", "3", "0", "3"], "deprel": ["det", "nsubj", "root", "punct"]}
    trees = [s.with_columns(tree) for s in corpus()]
    train_udpipe(trees, tmp_path / "p.udpipe", iterations=1, hidden_layer=10)
    alone = UDPipe(tmp_path / "p.udpipe")
    assert (alone.provides, alone.parses) == ((), True)
    train_udpipe(trees, tmp_path / "p.udpipe", tagger=True, iterations=1, hidden_layer=10)
    both = UDPipe(tmp_path / "p.udpipe")
    assert (both.provides, both.parses) == (("pos", "upos", "lemma"), True)
    train_udpipe_tagger(corpus(), tmp_path / "t.udpipe", iterations=1)
    tagger = UDPipe(tmp_path / "t.udpipe")
    assert (tagger.provides, tagger.parses) == (("pos", "upos", "lemma"), False)
    with pytest.raises(ParameterError, match="the annotator 'udpipe' makes no trees"):
        parser(tagger)


def test_what_udpipe_made_is_kept_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ufal.udpipe")
    train_udpipe_tagger(corpus(), tmp_path / "en.udpipe", iterations=1)
    ref = f"udpipe:{tmp_path / 'en.udpipe'}?cache={tmp_path / 'cache'}"
    first = annotator(ref).columns(bare(corpus()))
    again = annotator(ref)
    monkeypatch.setattr(again, "_tag", lambda sentence: pytest.fail("it is tagged again"))
    assert again.columns(bare(corpus())) == first
    with pytest.raises(pytest.fail.Exception):
        again.columns([Sentence(["new"])])
    train_udpipe_tagger(corpus()[:9], tmp_path / "en.udpipe", iterations=1)
    annotator(ref).columns(bare(corpus()))
    assert len(list((tmp_path / "cache").iterdir())) == 2  # another model, another file


def test_spacy_pipelines_are_loaded_by_name(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    spacy.blank("en").to_disk(tmp_path / "blank")
    made = Spacy(str(tmp_path / "blank"))
    assert made.columns([Sentence(["the", "gene"])])[0]["pos"] == ["_", "_"]
    with pytest.raises(ParameterError, match="cannot be loaded"):
        Spacy("no-such-pipeline")


def test_chunks_give_their_last_word_and_the() -> None:
    words = ["the", "human", "p53", "gene", "binds", "DNA"]
    sentence = Sentence(words, columns={"chunk": ["B-NP", "I-NP", "I-NP", "I-NP", "B-VP", "B-NP"]})
    made = annotated(annotator("chunks"), sentence)[0].columns
    assert made["chunk-last"] == ["gene"] * 4 + ["binds", "dna"]
    assert made["chunk-the"] == ["no", "yes", "yes", "yes", "no", "no"]
    with pytest.raises(CorpusError, match=r"the column 'chunk', which sentence 0 lacks; .* --annotate chunk\.loom"):
        annotated(annotator("chunks"), Sentence(words))


@pytest.mark.parametrize("name", ["cho-bio", "cho-conll", "nersuite"])
def test_the_papers_feature_sets_work_where_their_columns_are(name: str, tmp_path: Path) -> None:
    """What follows from chunks need not be asked for."""
    train = [s.with_columns({"chunk": ["B-NP", "I-NP", "B-VP", "O"]}) for s in corpus()]
    ner = Recognizer(features=name, trainer=LBFGS(max_iter=5)).fit(train, dev=train)
    ner.save(tmp_path / "ner.loom")
    assert Recognizer.load(tmp_path / "ner.loom").score(train).f1 == 1.0
    with pytest.raises(CorpusError, match="lacks"):
        Recognizer(features=name).fit(bare(corpus()))


def test_phrases_are_made_where_features_ask_for_them() -> None:
    ner = Recognizer(features=["phrase-head & phrase"], trainer=LBFGS(max_iter=5)).fit(corpus())
    assert "phrase-head[0]=gene & phrase[0]=E" in ner.extractor_.names()
    given = [Sentence(s.tokens, s.mentions, {"phrase": ["x", "y", "x", "x"]}) for s in corpus()]
    assert Recognizer("chain", features=["phrase"], trainer=LBFGS(max_iter=5)).fit(given).extractor_.names() == [
        "phrase[0]=x",
        "phrase[0]=y",
    ]
    with pytest.raises(CorpusError, match="phrase-head need the column 'pos', which sentence 0 lacks"):
        Recognizer(features=["phrase-head"]).fit(bare(corpus()))


def test_annotators_are_looked_for_before_the_corpus_is_read() -> None:
    def unread():
        pytest.fail("the corpus is read first")
        yield

    with pytest.raises(CorpusError, match=r"none.txt: cannot be read"):
        Recognizer(annotators=["lexicon:genes=none.txt"]).fit(unread())
