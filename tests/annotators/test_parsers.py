"""Parsers: learning, trees for sentences without, the cache, cross-fitting, attachment, recognisers that parse."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from spanloom import Document, Mention, Recognizer, Sentence, read, write
from spanloom.annotators import Parser, UDPipe, attachment, cross_fit_trees, parser, train_udpipe, with_trees
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.cli.app import app
from spanloom.learning import LBFGS

udpipe = pytest.importorskip("ufal.udpipe", reason="UDPipe is not installed")
SMALL = {"iterations": 30, "embedding_form": 8, "embedding_upostag": 8, "embedding_xpostag": 8, "hidden_layer": 30}


def sentence(words, tags, heads):
    """One tree as text."""
    columns = {"upos": tags.split(), "pos": tags.split(), "head": heads.split()}
    columns["deprel"] = ["root" if h == "0" else "dep" for h in columns["head"]]
    return Sentence(words.split(), columns=columns)


TREES = [
    sentence(f"{det} {noun} {verb}", "D N V", "2 3 0")
    for det in ("the", "a")
    for noun in ("gene", "cell", "protein")
    for verb in ("works", "grows")
] + [sentence(f"{name} {verb}", "P V", "2 0") for name in ("Lee", "Ann") for verb in ("works", "won")]


def bare(s, *keep):
    return Sentence(s.tokens, s.mentions, {name: s.columns[name] for name in keep})


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("parser") / "toy.udpipe"
    train_udpipe(TREES, path, tagger=True, **SMALL)
    return path


def test_it_learns_the_trees_it_was_shown(model):
    """With parts of speech, and without, where it tags first."""
    udpipe = UDPipe(model)
    parsed = with_trees([bare(s, "upos", "pos") for s in TREES], udpipe)
    assert attachment(TREES, parsed).uas == 1.0
    tagged = with_trees([bare(s) for s in TREES], udpipe)
    assert attachment(TREES, tagged).uas == 1.0
    assert tagged[0].columns["pos"] == ["D", "N", "V"]


class Counting(Parser):
    """Hangs every word on the next one, and counts."""

    identity = "next"
    reads = ("pos",)

    def __init__(self):
        self.seen = []

    def parse(self, sentences):
        self.seen += [s.tokens for s in sentences]
        return [
            {"head": [str((i + 2) % (len(s) + 1)) for i in range(len(s))], "deprel": ["x"] * len(s)} for s in sentences
        ]


def test_trees_that_are_there_stay(model):
    """Only sentences without a tree are parsed, unless asked for all; mentions and columns come along."""
    parser = Counting()
    plain = Sentence(["a", "b"], [Mention("X", ((0, 1),))], {"pos": ["D", "N"]}, meta={"id": 3})
    first, second, empty = with_trees([TREES[0], plain, Sentence([])], parser)
    assert parser.seen == [["a", "b"]]
    assert first is TREES[0]
    assert second.columns == {"pos": ["D", "N"], "head": ["2", "0"], "deprel": ["x", "x"]}
    assert second.mentions == plain.mentions
    assert second.meta == {"id": 3}
    assert "head" not in empty.columns
    assert with_trees([TREES[0]], parser, again=True)[0].columns["head"] == ["2", "3", "0"]
    assert len(parser.seen) == 2


def test_the_cache_goes_by_content(tmp_path):
    """The same words with the same tags are parsed once; other tags, another parser or a cut line anew."""
    folder = tmp_path / "trees"
    plain, tagged = Sentence(["a", "b"]), Sentence(["a", "b"], columns={"pos": ["D", "N"]})
    parser = Counting()
    once = with_trees([plain, tagged, plain], parser, cache=folder)
    assert len(parser.seen) == 3  # within one call nothing is known yet
    again = with_trees([plain, tagged], parser, cache=folder)
    assert len(parser.seen) == 3
    assert [s.columns["head"] for s in again] == [s.columns["head"] for s in once[:2]]
    (file,) = folder.iterdir()
    file.write_text(file.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    with_trees([plain, tagged], parser, cache=folder)
    assert len(parser.seen) == 3  # the last line was a repetition
    other = Counting()
    other.identity = "another"
    with_trees([plain], other, cache=folder)
    assert other.seen == [["a", "b"]]


def test_cross_fitting_never_parses_what_was_learned_from():
    """Every sentence once, by a parser trained on those of the other blocks."""
    parsers = []

    def train(sentences):
        parser = Counting()
        parser.learned = [s.tokens for s in sentences]
        parsers.append(parser)
        return parser

    parsed = [s for doc in cross_fit_trees([Document([s]) for s in TREES], train, folds=3) for s in doc.sentences]
    assert [s.tokens for s in parsed] == [s.tokens for s in TREES]
    assert all(s.columns["deprel"] == ["x"] * len(s) for s in parsed)
    assert sorted(t for p in parsers for t in p.seen) == sorted(s.tokens for s in TREES)
    for one in parsers:
        assert sorted(one.seen + one.learned) == sorted(s.tokens for s in TREES)
        assert len(one.seen) in (5, 6)


def test_a_recogniser_parses_where_it_must(model, tmp_path):
    """Training text and raw text without trees; also after loading."""
    train = [Sentence(["the", w, "works"], [Mention("DNA", ((0, 2),))]) for w in ("gene", "cell", "protein")]
    ner = Recognizer("dgm", features=["first(word)", "last(word)", "size"], annotators=[parser(f"udpipe:{model}")]).fit(
        train
    )
    assert ner.predict("The gene works").mentions == [Mention("DNA", ((0, 2),))]
    ner.save(tmp_path / "ner.loom")
    assert Recognizer.load(tmp_path / "ner.loom").predict("The gene works").mentions  # found where it was
    again = Recognizer.load(tmp_path / "ner.loom", annotators=[parser(UDPipe(model))])
    assert again.predict("The gene works").mentions == [Mention("DNA", ((0, 2),))]
    assert again.k_best(Sentence(["the", "gene", "works"]), 1)[0][1] == [Mention("DNA", ((0, 2),))]


@pytest.mark.slow
def test_commands_train_and_parse(tmp_path):
    """A parser from a corpus, a corpus with its trees, and the scores against those that were there."""
    write(read_like(TREES), str(tmp_path / "trees.conllu"))
    run = CliRunner()
    arguments = ["parser", "train", str(tmp_path / "trees.conllu"), "-o", str(tmp_path / "p.udpipe"), "--no-tagger"]
    knifed = ["--jackknife", str(tmp_path / "knifed.conllu"), "--folds", "2"]
    done = run.invoke(app, [*arguments, *knifed, "--iterations", "8", "--test", arguments[2], "--json"])
    assert done.exit_code == 0, done.output
    result = json.loads(done.output)
    (again,) = read(str(tmp_path / "knifed.conllu"))
    assert [s.tokens for s in again.sentences] == [s.tokens for s in TREES]
    score = attachment(TREES, again.sentences)
    assert (result["jackknifed_uas"], result["jackknifed_las"]) == (score.uas, score.las)
    assert '"sentences": 16' in done.output
    assert '"uas": ' in done.output
    files = [str(tmp_path / "trees.conllu"), str(tmp_path / "new.conllu")]
    done = run.invoke(app, ["parse", *files, "--parser", f"udpipe:{tmp_path / 'p.udpipe'}", "--again"])
    assert done.exit_code == 0, done.output
    assert "unlabelled" in done.output
    assert all("head" in s.columns for doc in read(str(tmp_path / "new.conllu")) for s in doc.sentences)


@pytest.mark.slow
def test_a_command_trains_a_tagger_with_lemmas(tmp_path):
    """With the parser, and alone from a corpus without trees; the scores of each column are told."""
    tagged = [s.with_columns({"lemma": [w.removesuffix("s") for w in s.tokens]}) for s in TREES]
    write(read_like(tagged), str(tmp_path / "both.conllu"))
    write(read_like([bare(s, "upos", "pos", "lemma") for s in tagged]), str(tmp_path / "tags.conllu"))
    train = ["parser", "train"]
    for corpus, more in (("both", []), ("tags", ["--no-parser"])):
        file, model = str(tmp_path / f"{corpus}.conllu"), str(tmp_path / f"{corpus}.udpipe")
        options = [file, "-o", model, "--iterations", "3", "--test", file, *more]
        done = CliRunner().invoke(app, [*train, *options, "--json"])
        assert done.exit_code == 0, done.output
        result = json.loads(done.output)
        assert result["accuracy"] == {"pos": 1.0, "upos": 1.0, "lemma": 1.0}
        assert ("uas" in result) == (corpus == "both")
        assert UDPipe(model).columns([Sentence(["a", "cell", "works"])])[0]["lemma"] == ["a", "cell", "work"]
    done = CliRunner().invoke(app, [*train, *options])
    assert "tagged right: pos 100.00 %, upos 100.00 %, lemma 100.00 %" in done.output
    for wrong in ("--no-tagger", "--jackknife=x.conllu"):
        done = CliRunner().invoke(app, [*train, *options, wrong])
        assert wrong.partition("=")[0] in str(done.exception)


def read_like(sentences):
    return [Document(list(sentences), "one")]


def test_parts_of_speech_are_found_anew_if_asked_for(model):
    """Given ones are wrong on purpose: with them the tree may be wrong, with the parser's own it is right."""
    wrong = [s.with_columns({"upos": ["V"] * len(s), "pos": ["V"] * len(s)}) for s in TREES]
    parsed = with_trees(wrong, UDPipe(model), again=True, retag=True)
    assert [s.columns["pos"] for s in parsed] == [s.columns["pos"] for s in TREES]
    assert attachment(TREES, parsed).las == 1.0
    kept = with_trees(wrong, UDPipe(model), again=True)
    assert kept[0].columns["pos"] == ["V"] * 3


def test_a_file_without_trees_gets_them(model, tmp_path):
    """In CoNLL-U what nobody has annotated is an underscore; that is no tree, and no part of speech."""
    for name, keep in (("tagged", ("upos", "pos")), ("bare", ())):
        write(read_like([bare(s, *keep) for s in TREES]), str(tmp_path / f"{name}.conllu"))
        (doc,) = read(str(tmp_path / f"{name}.conllu"))
        assert "head" not in doc.sentences[0].columns
        assert ("pos" in doc.sentences[0].columns) == bool(keep)
        files = [str(tmp_path / f"{name}.conllu"), str(tmp_path / "parsed.conllu")]
        done = CliRunner().invoke(app, ["parse", *files, "--parser", f"udpipe:{model}"])
        assert done.exit_code == 0, done.output
        (doc,) = read(files[1])
        assert attachment(TREES, doc.sentences).las == 1.0
        assert doc.sentences[0].columns["pos"] == ["D", "N", "V"]


def test_a_recogniser_with_a_cache_parses_nothing_twice(model, tmp_path):
    """What was made in training is found again; tags and trees have a file each."""
    train = [Sentence(["the", w, "works"], [Mention("DNA", ((0, 2),))]) for w in ("gene", "cell", "protein")]
    settings = {"features": ["first(word)", "last(word)", "size"]}
    ner = Recognizer("dgm", annotators=[f"udpipe:{model}?cache={tmp_path / 'trees'}"], **settings).fit(train)
    files = sorted((tmp_path / "trees").iterdir())
    assert [file.read_text().count("\n") for file in files] == [3, 3]
    assert ner.predict(train) == train
    assert [file.read_text().count("\n") for file in files] == [3, 3]
    with pytest.raises(ParameterError, match="parser is udpipe:MODEL, spacy:PIPELINE or a Parser, got 3"):
        parser(3)
    with pytest.raises(ParameterError, match="may be cache=VALUE and nothing else"):
        parser(f"udpipe:{model}?folder=x")


def test_a_parser_that_a_file_does_not_hold_is_asked_for(model, tmp_path):
    """By its reference where there is one; nothing is asked where sentences have trees."""
    train = [Sentence(["the", w, "works"], [Mention("DNA", ((0, 2),))]) for w in ("gene", "cell", "protein")]
    features = ["first(word)", "last(word)", "size"]
    moved = tmp_path / "moved.udpipe"
    moved.write_bytes(model.read_bytes())
    Recognizer("dgm", features=features, annotators=[parser(f"udpipe:{moved}")]).fit(train).save(
        tmp_path / "named.loom"
    )
    Recognizer("dgm", features=features, annotators=[Counting()]).fit(train).save(tmp_path / "object.loom")
    moved.unlink()
    for file, message in (
        ("named", r"which was 'udpipe:.*moved.udpipe': .*--parser"),
        ("object", "an object of yours"),
    ):
        ner = Recognizer.load(tmp_path / f"{file}.loom")
        with pytest.raises(ParameterError, match=message):
            ner.predict(Sentence(["the", "gene", "works"]))
        assert ner.predict(sentence("the gene works", "D N V", "2 3 0")).mentions == [Mention("DNA", ((0, 2),))]
    again = Recognizer.load(tmp_path / "object.loom", annotators=[parser(UDPipe(model))])
    assert again.predict(Sentence(["the", "gene", "works"])).mentions == [Mention("DNA", ((0, 2),))]


def test_an_annotator_parses_only_where_trees_are_read(model, tmp_path, monkeypatch):
    """One reference for tags and trees, for the model and for templates; the file holds it all."""
    train = [Sentence(["the", w, "works"], [Mention("DNA", ((0, 2),))]) for w in ("gene", "cell", "protein")]
    text = Sentence(["the", "gene", "works"])
    for kind, features in (("dgm", ["first(word)", "last(word)", "size"]), ("chain", ["word", "head(word)", "pos"])):
        ner = Recognizer(kind, features=features, annotators=[f"udpipe:{model}"], trainer=LBFGS(max_iter=50)).fit(train)
        ner.save(tmp_path / "m.loom")
        for one in (ner, Recognizer.load(tmp_path / "m.loom")):
            assert one.predict(text).mentions == [Mention("DNA", ((0, 2),))]
    monkeypatch.setattr(UDPipe, "parse", lambda *_: pytest.fail("it is parsed"))
    Recognizer("chain", features=["word", "pos"], annotators=[f"udpipe:{model}"], trainer=LBFGS(max_iter=5)).fit(
        train
    ).predict(text)


def test_models_that_need_trees_are_evaluated_with_a_parser(model, tmp_path):
    """``evaluate`` takes --parser, and without it says that there is one."""
    train = [Sentence(["the", w, "works"], [Mention("DNA", ((0, 2),))]) for w in ("gene", "cell", "protein")]
    tree = {"head": ["2", "3", "0"]}
    trees = [s.with_columns(tree) for s in train]
    Recognizer("dgm", features=["first(word)", "size"]).fit(trees).save(tmp_path / "m.loom")
    write(read_like(train), str(tmp_path / "gold.jsonl"))
    files = ["evaluate", str(tmp_path / "m.loom"), str(tmp_path / "gold.jsonl")]
    done = CliRunner().invoke(app, files)
    assert "--parser on the command line" in str(done.exception)
    done = CliRunner().invoke(app, [*files, "--parser", f"udpipe:{model}"])
    assert done.exit_code == 0, done.output
    assert "F1 100" in done.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--iterations", "0"], "iterations"),
        (["--iterations", "-3"], "iterations"),
        (["--jackknife", "x.conllu", "--folds", "1"], "folds"),
        (["--jackknife", "x.xyz"], "xyz"),
        (["--test", "{bare}"], "without trees"),
    ],
)
def test_what_would_fail_at_the_end_fails_at_the_start(options, message, tmp_path, monkeypatch):
    """Training takes tens of minutes: nothing of it is lost to a wrong option."""
    monkeypatch.setattr("spanloom.annotators.udpipe_training._train", lambda *_: pytest.fail("it has begun"))
    write(read_like(TREES), str(tmp_path / "trees.conllu"))
    write(read_like([bare(s) for s in TREES]), str(tmp_path / "bare.conllu"))
    options = [option.format(bare=tmp_path / "bare.conllu") for option in options]
    trained = ["parser", "train", str(tmp_path / "trees.conllu"), "-o", str(tmp_path / "p.udpipe")]
    done = CliRunner().invoke(app, [*trained, *options])
    assert message in str(done.exception)


def test_what_is_wrong_is_said(tmp_path, model):
    """Unknown kinds, files that are none, text that cannot be tagged, trees that are missing."""
    with pytest.raises(ParameterError, match="a parser is udpipe:MODEL or spacy:PIPELINE, got 'stanza'"):
        parser("stanza")
    with pytest.raises(ParameterError, match="cannot be read: No such file"):
        parser(f"udpipe:{tmp_path / 'absent'}")
    (tmp_path / "other").write_bytes(b"not a model")
    with pytest.raises(ParameterError, match="not a UDPipe model"):
        UDPipe(tmp_path / "other")
    train_udpipe(TREES[:4], tmp_path / "blind", iterations=1, hidden_layer=10)
    with pytest.raises(CorpusError, match="sentence 0 has no column 'pos', and the parser cannot tag"):
        UDPipe(tmp_path / "blind").parse([Sentence(["a"])])
    with pytest.raises(CorpusError, match="has no tree"):
        train_udpipe([Sentence(["a"])], tmp_path / "x")
    with pytest.raises(CorpusError, match=r"sentence 0 has no tree: the heads of the tokens \[1, 2\] .* circle"):
        train_udpipe([sentence("a b", "D N", "2 1")], tmp_path / "x")
    with pytest.raises(CorpusError, match="2 gold sentences cannot be compared with 1"):
        attachment(TREES[:2], TREES[:1])
    with pytest.raises(CorpusError, match="nothing to learn from"):
        train_udpipe([], tmp_path / "x")
    with pytest.raises(CorpusError, match="there is nothing to compare"):
        attachment([TREES[0]], [Sentence(["a", "b", "c"])])
