"""The spaCy component: found by its entry point, equal to the recogniser, kept, pickled, in processes, drawn."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extras import needs

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("ignore")]  # spaCy and its libraries warn at import
needs("spacy")

import spacy  # noqa: E402
from spacy import displacy, ty  # noqa: E402
from spacy.tests.util import assert_docs_equal, assert_packed_msg_equal, get_batch  # noqa: E402
from spacy.tokens import Doc, DocBin, Span  # noqa: E402

from spanloom import Mention, Recognizer, Sentence, read, write  # noqa: E402
from spanloom.base.errors import NotFittedError, ParameterError, SpanloomError  # noqa: E402
from spanloom.formats.spacy_docs import document_of  # noqa: E402
from spanloom.integrations.spacy import get_mentions, part_spans, set_mentions  # noqa: E402
from spanloom.integrations.spacy.reading import DocReader  # noqa: E402
from spanloom.integrations.spacy.writing import Writing  # noqa: E402
from spanloom.learning import LBFGS, Auto  # noqa: E402
from spanloom.models import Tagger  # noqa: E402

TEXTS = [doc.text for doc in read("sample:test")][:12]
WORDS = [*TEXTS[0].split()[:12], "\n", "\n\n", "  ", "ä", "細胞", "e.g.", ".", "CD4", "don't", "\t", "👨‍👩‍👧", "Sp1"]


def contiguous(split: str) -> list[Any]:
    return [
        doc.with_sentences([s.with_mentions([m for m in s.mentions if not m.discontinuous]) for s in doc.sentences])
        for doc in read(f"sample:{split}")
    ]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Models that go natively, that read columns, and that find discontinuous mentions."""
    folder = tmp_path_factory.mktemp("models")
    data = contiguous("train")
    trained = {
        "edge": Recognizer("edge", trainer=LBFGS(max_iter=12)).fit(data),
        "chain": Recognizer("chain", keep="longest", trainer=LBFGS(max_iter=12)).fit(data),
        "f1": Recognizer("chain", keep="longest", decide="f1", trainer=LBFGS(max_iter=5)).fit(data, dev=data[:9]),
        "multilabel": Recognizer("multilabel", trainer=Auto(max_iter=4)).fit(read("sample:train")),
    }
    for name, ner in trained.items():
        ner.save(folder / f"{name}.loom")
    return {name: str(folder / f"{name}.loom") for name in trained}


def pipeline(path: str | None, before: str | None = None, **config: Any) -> Any:
    nlp = spacy.blank("en")
    if before:
        nlp.add_pipe(before)
    nlp.add_pipe("spanloom", config={"model": path, **config})
    return nlp


def as_found(doc: Any) -> list[Any]:
    return [(m, pytest.approx(m.prob, abs=1e-9)) for m in get_mentions(doc)]


@pytest.mark.parametrize("kind", ["edge", "chain", "f1"])
@pytest.mark.parametrize("before", [None, "sentencizer"])
def test_mentions_and_scores_are_those_of_the_recogniser(files: dict[str, str], kind: str, before: str | None) -> None:
    """On spaCy's tokens and sentences, natively or not; blank docs and white space between them."""
    nlp = pipeline(files[kind], before)
    ner = Recognizer.load(files[kind])
    docs = list(nlp.pipe([*TEXTS, "", " \n ", f"  {TEXTS[0]}\n\n {TEXTS[1]} "]))
    wanted = ner.predict([document_of(doc) for doc in docs], probabilities=True)
    for doc, one in zip(docs, wanted, strict=True):
        group = doc.spans["sc"]
        assert [(s.label_, (s.start_char, s.end_char)) for s in group] == [
            (m.label, *one.chars(m)) for m in one.mentions
        ]
        assert group.attrs["scores"] == pytest.approx([m.prob for m in one.mentions], abs=1e-9)
    assert any(one.mentions for one in wanted)
    assert all(not get_mentions(nlp(text)) for text in ("", " \n "))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=4), sents=st.booleans())
def test_the_native_way_is_the_other_way(files: dict[str, str], texts: list[str], sents: bool) -> None:
    nlp = pipeline(files["edge"])
    pipe = nlp.get_pipe("spanloom")
    docs = [nlp.make_doc(text) for text in texts]
    for doc in docs[:1] if sents else []:  # one doc with sentences beside others without
        for token in doc:
            token.is_sent_start = token.i % 4 == 0
    native = pipe.predict(docs)
    pipe._tagger = None
    other = pipe.predict(docs)
    named = [[found.labels[i] for i in found.label] for found in (native, other)]
    assert named[0] == named[1]
    for name in ("ptr", "start", "end", "probs"):
        assert getattr(native, name).tolist() == pytest.approx(getattr(other, name).tolist(), abs=1e-9)


def test_flat_mentions_are_entities(files: dict[str, str]) -> None:
    nlp = pipeline(files["chain"])
    for doc in nlp.pipe(TEXTS):
        assert [(e.start, e.end, e.label_) for e in doc.ents] == [(s.start, s.end, s.label_) for s in doc.spans["sc"]]
        again = Doc(nlp.vocab, [t.text for t in doc], [bool(t.whitespace_) for t in doc])
        again.set_ents(list(doc.ents))
        assert [t.ent_iob_ for t in doc] == [t.ent_iob_ for t in again]


@pytest.mark.parametrize("ents", ["flat", "longest", "innermost", "outermost", "none"])
def test_which_nested_mentions_are_entities(ents: str) -> None:
    doc = spacy.blank("en")("human IL-2 gene and p53")
    mentions = [Mention("DNA", ((0, 3),)), Mention("protein", ((1, 2),)), Mention("protein", ((4, 5),))]
    set_mentions(doc, mentions, ents=ents)
    outer, inner, last = (0, 3, "DNA"), (1, 2, "protein"), (4, 5, "protein")
    expected = {"flat": [], "none": [], "innermost": [inner, last]}.get(ents, [outer, last])
    assert [(e.start, e.end, e.label_) for e in doc.ents] == expected
    assert get_mentions(doc) == mentions


def test_entities_of_others_stay(files: dict[str, str]) -> None:
    nlp = pipeline(files["chain"])
    doc = nlp.make_doc(TEXTS[0])
    first = nlp(doc.copy()).ents[0]
    doc.ents = [Span(doc, first.start, first.end + 1, label="OTHER")]
    done = nlp(doc)
    assert done.ents[0].label_ == "OTHER"
    assert [(e.start, e.label_) for e in done.ents[1:]] == [(s.start, s.label_) for s in list(done.spans["sc"])[1:]]


def test_trees_and_sentences_survive_entities() -> None:
    """Entities are written as an array; what else tokens have stays."""
    nlp = spacy.blank("en")
    doc = Doc(nlp.vocab, words=["a", "b", "c"], heads=[1, 1, 1], deps=["x", "ROOT", "y"], tags=["A", "B", "C"])
    ner = Recognizer("chain").fit([Sentence(["a", "b"], [Mention("X", ((0, 1),))])])
    pipe = nlp.add_pipe("spanloom")
    pipe.use(ner)
    done = pipe(doc)
    assert [e.text for e in done.ents] == ["a"]
    assert ([t.head.i for t in done], [t.dep_ for t in done]) == ([1, 1, 1], ["x", "ROOT", "y"])
    assert [t.tag_ for t in done] == ["A", "B", "C"]
    assert [(s.start, s.end) for s in done.sents] == [(0, 3)]


def test_discontinuous_mentions_survive(files: dict[str, str], tmp_path: Path) -> None:
    """In a group of parts, through DocBin and our own format, with helpers; displaCy draws the parts."""
    nlp = pipeline(files["multilabel"], scores=False)
    pipe = nlp.get_pipe("spanloom")
    doc = nlp.make_doc("alpha and beta globin of T cells")
    both = Mention("protein", ((0, 1), (3, 4)), 0.25), Mention("protein", ((2, 4),), 0.75)
    set_mentions(doc, [*both, Mention("protein", ((0, 1), (2, 3)), 0.5)])
    assert not doc.ents
    box = DocBin(docs=[doc])
    (again,) = DocBin().from_bytes(box.to_bytes()).get_docs(spacy.blank("en").vocab)
    found = again._.mentions
    assert sorted(found) == sorted([*both, Mention("protein", ((0, 1), (2, 3)))])
    assert {m.prob for m in found} == {0.25, 0.5, 0.75}
    assert [span.text for span in part_spans(again, both[0])] == ["alpha", "globin"]
    box.to_disk(tmp_path / "a.spacy")
    (ours,) = read(tmp_path / "a.spacy")
    assert sorted(ours.mentions) == sorted(found)
    assert "globin" in displacy.render(again, style="span", options={"spans_key": "sc:parts"}, jupyter=False)
    broken = [m for text in TEXTS for m in get_mentions(nlp(text)) if m.discontinuous]
    one = Recognizer.load(files["multilabel"]).predict([document_of(nlp.make_doc(text)) for text in TEXTS])
    assert broken == [m for d in one for m in d.mentions if m.discontinuous]
    set_mentions(doc, [])
    assert get_mentions(pipe(doc)) is not None
    assert "sc:parts" not in spacy.blank("en")("a").spans


def test_displacy_draws_mentions_and_entities(files: dict[str, str]) -> None:
    doc = pipeline(files["chain"])(TEXTS[0])
    for style in ("ent", "span"):
        drawn = displacy.render(doc, style=style, jupyter=False)
        assert all(span.label_ in drawn for span in doc.spans["sc"])


def test_processes_and_pickles(files: dict[str, str]) -> None:
    nlp = pipeline(files["edge"])
    texts = TEXTS * 3
    one = [as_found(doc) for doc in nlp.pipe(texts)]
    two = [as_found(doc) for doc in nlp.pipe(texts, n_process=2, batch_size=7)]
    assert one == two
    pipe = pickle.loads(pickle.dumps(nlp.get_pipe("spanloom")))
    assert [as_found(pipe(nlp.make_doc(text))) for text in texts] == one


def test_a_pipeline_is_kept_with_its_model(files: dict[str, str], tmp_path: Path) -> None:
    """The folder and the bytes need the model file no longer."""
    path = tmp_path / "moved.loom"
    path.write_bytes(Path(files["edge"]).read_bytes())
    nlp = pipeline(str(path), ents="none", spans_key="mine")
    wanted = get_mentions(nlp(TEXTS[0]), "mine")
    assert wanted
    nlp.to_disk(tmp_path / "kept")
    data = nlp.to_bytes()
    path.unlink()
    loaded = spacy.load(tmp_path / "kept")
    assert loaded.config["components"]["spanloom"]["ents"] == "none"
    from_bytes = spacy.blank("en").from_config(nlp.config).from_bytes(data)
    sourced = spacy.blank("en")
    sourced.add_pipe("spanloom", source=loaded)
    for other in (loaded, from_bytes, sourced):
        assert get_mentions(other(TEXTS[0]), "mine") == wanted
        assert other.pipe_labels["spanloom"] == nlp.pipe_labels["spanloom"]
    loaded.to_disk(tmp_path / "again")
    a, b = ((tmp_path / name / "spanloom" / "model.loom").read_bytes() for name in ("kept", "again"))
    assert a == b


def test_tags_of_the_pipeline_are_columns(tmp_path: Path) -> None:
    """A made-up tagger; what it says decides, and a component attribute of the user's own is read as well."""

    @spacy.Language.component("made_up_tagger")
    def made_up_tagger(doc: Any) -> Any:
        for token in doc:
            token.tag_ = "NAME" if token.text.isupper() else "WORD"
            token._.place = str(token.i % 2)
        return doc

    spacy.tokens.Token.set_extension("place", default=None, force=True)
    columns = {"pos": ["WORD", "NAME", "WORD", "WORD", "NAME"], "place": ["0", "1", "0", "1", "0"]}
    train = [Sentence(["x", w, "y", "z", w], [Mention("X", ((1, 2),))], columns) for w in ("AB", "CD")]
    Recognizer("chain", features=["pos & place"]).fit(train).save(tmp_path / "pos.loom")
    nlp = pipeline(str(tmp_path / "pos.loom"), "made_up_tagger", columns={"place": "_.place"})
    doc = nlp("in QQQ we see no zz RR")
    assert [s.text for s in doc.spans["sc"]] == ["QQQ"]  # RR is at an even place
    bare = pipeline(str(tmp_path / "pos.loom"))
    with pytest.raises(SpanloomError, match="pos"):
        bare("in QQQ")


def test_trees_of_the_pipeline_are_read(tmp_path: Path) -> None:
    """``dgm`` needs heads; the same sentence with another tree has another mention."""
    tree = {"head": ["2", "3", "0"], "deprel": ["det", "nsubj", "ROOT"]}
    train = [Sentence([d, n, "works"], [Mention("X", ((0, 2),))], tree) for d in ("the", "a") for n in ("gene", "cell")]
    Recognizer("dgm", features=["first(deprel)", "size"]).fit(train).save(tmp_path / "dgm.loom")
    nlp = pipeline(str(tmp_path / "dgm.loom"))
    doc = Doc(nlp.vocab, ["no", "mouse", "runs"], heads=[1, 2, 2], deps=["det", "nsubj", "ROOT"])
    assert [s.text for s in nlp(doc).spans["sc"]] == ["no mouse"]


def test_tokens_of_the_model(files: dict[str, str]) -> None:
    """The text is cut as in training, and mentions reach to the ends of spaCy's tokens."""
    for kind in ("edge", "multilabel"):
        nlp = pipeline(files[kind], tokens="model")
        ner = Recognizer.load(files[kind])
        for doc, one in zip(nlp.pipe(TEXTS), ner.predict(TEXTS), strict=True):
            touched = [[doc.char_span(a, b, alignment_mode="expand") for a, b in one.chars(m)] for m in one.mentions]
            expected = {
                Mention(m.label, tuple(dict.fromkeys((s.start, s.end) for s in spans)))
                for m, spans in zip(one.mentions, touched, strict=True)
            }
            assert set(get_mentions(doc)) == expected


def test_without_scores(files: dict[str, str]) -> None:
    doc = pipeline(files["edge"], scores=False)(TEXTS[0])
    assert doc.spans["sc"].attrs == {}
    assert get_mentions(doc) == get_mentions(pipeline(files["edge"])(TEXTS[0]))


def test_errors_go_to_the_handler(files: dict[str, str]) -> None:
    """As in every pipe of spaCy: docs of a batch that failed are left out, if the handler does not raise."""
    nlp = pipeline(files["edge"])
    pipe = nlp.get_pipe("spanloom")
    told: list[Any] = []
    pipe.predict = lambda docs, rows: 1 / 0
    nlp.set_error_handler(lambda name, proc, docs, error: told.append((name, len(docs), type(error))))
    assert list(nlp.pipe(TEXTS[:3])) == []
    assert told == [("spanloom", 3, ZeroDivisionError)]


def test_a_doc_that_cannot_be_read_is_left_out(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The others of its batch go on."""
    nlp = pipeline(files["edge"])
    told: list[Any] = []
    nlp.set_error_handler(lambda name, proc, docs, error: told.append(([doc.text for doc in docs], type(error))))
    rows = DocReader.rows
    monkeypatch.setattr(DocReader, "rows", lambda self, doc: 1 / (doc.text != TEXTS[1]) and rows(self, doc))
    assert [doc.text for doc in nlp.pipe(TEXTS[:3])] == [TEXTS[0], TEXTS[2]]
    assert told == [([TEXTS[1]], ZeroDivisionError)]


def test_a_doc_that_cannot_be_written_to_is_left_out(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The others of its batch go on."""
    nlp = pipeline(files["edge"])
    told: list[Any] = []
    nlp.set_error_handler(lambda name, proc, docs, error: told.append(([doc.text for doc in docs], type(error))))
    write = Writing.to
    monkeypatch.setattr(Writing, "to", lambda self, doc, number: 1 / (number != 1) and write(self, doc, number))
    done = list(nlp.pipe(TEXTS[:3]))
    assert [doc.text for doc in done] == [TEXTS[0], TEXTS[2]]
    assert all("sc" in doc.spans for doc in done)
    assert told == [([TEXTS[1]], ZeroDivisionError)]


def test_docs_that_nobody_keeps_are_let_go(files: dict[str, str]) -> None:
    """Of a batch of all docs, those that were handed on are gone before the last one is."""
    nlp = pipeline(files["edge"])
    seen: list[Any] = []
    for doc in nlp.pipe(TEXTS):
        seen.append(ref(doc))
        del doc
        gc.collect()
        assert sum(one() is not None for one in seen) <= 2


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    for config, message in (
        ({"ents": "all"}, "ents must be one of flat, longest"),
        ({"tokens": "mine"}, "tokens must be one of pipeline, model, got 'mine'"),
        ({"gold": "x"}, "gold must be one of auto, spans, ents"),
        ({"settings": {"modle": "edge"}}, "modle"),
    ):
        with pytest.raises(ParameterError, match=message):
            pipeline(None, **config)
    with pytest.raises(NotFittedError, match=r"neither a model nor learned one; give it a model file"):
        pipeline(None)("a")
    tagger = Recognizer(Tagger("pos")).fit([Sentence(["a"], columns={"pos": ["X"]})])
    with pytest.raises(ParameterError, match="tags the column 'pos', and finds no mentions"):
        pipeline(None).get_pipe("spanloom").use(tagger)


@pytest.mark.parametrize(
    "use",
    [
        lambda nlp, folder: nlp("a"),
        lambda nlp, folder: list(nlp.pipe(["a"])),
        lambda nlp, folder: nlp.initialize(),
        lambda nlp, folder: nlp.to_disk(folder / "kept"),
        lambda nlp, folder: nlp.get_pipe("spanloom").recognizer,
    ],
    ids=["call", "pipe", "initialize", "to_disk", "recognizer"],
)
def test_a_model_that_is_not_there_is_said_at_first_use(tmp_path: Path, use: Any) -> None:
    """Not when it is added, since spaCy adds the component of a kept pipeline in the same way."""
    nlp = pipeline(str(tmp_path / "absent.loom"))
    with pytest.raises(ParameterError, match=r"the component 'spanloom' cannot open its model: .*absent\.loom"):
        use(nlp, tmp_path)


def test_it_is_a_component_as_spacy_knows_them(files: dict[str, str]) -> None:
    nlp = pipeline(files["edge"])
    pipe = nlp.get_pipe("spanloom")
    assert isinstance(pipe, ty.InitializableComponent)
    assert isinstance(pipe, ty.TrainableComponent)
    assert not pipe.is_trainable
    assert nlp.get_pipe_meta("spanloom").assigns == ["doc.spans", "doc.ents"]
    assert nlp.analyze_pipes()["problems"] == {"spanloom": []}
    assert np.isclose(sum(v or 0 for v in nlp.get_factory_meta("spanloom").default_score_weights.values()), 1)


def test_the_helpers_of_spacys_own_tests_find_nothing_wrong(files: dict[str, str]) -> None:
    """Docs and pipelines that were serialised, streams, and docs whose batch the caller chose, compared by spaCy."""
    nlp = pipeline(files["chain"])
    copy = spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert_packed_msg_equal(nlp.to_bytes(exclude=["vocab"]), copy.to_bytes(exclude=["vocab"]))
    alone = [nlp(text) for text in TEXTS]
    assert any(doc.ents for doc in alone)
    streams = [nlp.pipe(TEXTS), copy.pipe(TEXTS), nlp.pipe(TEXTS, batch_size=2), nlp.pipe(map(nlp.make_doc, TEXTS))]
    for stream in (*streams, (Doc(nlp.vocab).from_bytes(doc.to_bytes()) for doc in alone)):
        for one, other in zip(alone, stream, strict=True):
            assert_docs_equal(one, other)
            assert list(one.spans["sc"].attrs["scores"]) == pytest.approx(list(other.spans["sc"].attrs["scores"]))
    for doc in get_batch(5):
        assert_docs_equal(nlp(doc), next(nlp.pipe([Doc(doc.vocab, words=[t.text for t in doc])])))


@pytest.mark.parametrize("tag", ["O", ""])
def test_entities_are_written_the_same_whether_tokens_are_outside_or_unknown(files: dict[str, str], tag: str) -> None:
    nlp = pipeline(files["chain"])
    made = nlp.make_doc(TEXTS[0])
    doc = Doc(nlp.vocab, [t.text for t in made], [bool(t.whitespace_) for t in made], ents=[tag] * len(made))
    assert_docs_equal(nlp(doc), nlp(TEXTS[0]))


def test_docbins_are_read_and_written_with_parts(tmp_path: Path) -> None:
    """Of several groups; a part without an id is a mention of its own."""
    doc = spacy.blank("en")("a b c d")
    doc.spans["x:parts"] = [Span(doc, 0, 1, label="P"), Span(doc, 2, 3, label="P")]
    assert get_mentions(doc, "x") == [Mention("P", ((0, 1),)), Mention("P", ((2, 3),))]
    docs = list(read("sample:train"))[:20]
    assert not write(docs, tmp_path / "a.spacy").problems
    back = list(read(tmp_path / "a.spacy"))
    assert [sorted(d.mentions) for d in back] == [sorted(d.mentions) for d in docs]
    assert any(m.discontinuous for d in docs for m in d.mentions)
