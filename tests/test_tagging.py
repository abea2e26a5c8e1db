"""From text to file by the short way: the same sentences, features, mentions and bytes as through objects."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanloom import CorpusError, Document, Recognizer, Sentence, read, write
from spanloom._native import TokenizedTexts, WordTable
from spanloom.base.errors import ParameterError
from spanloom.corpus import make_document, split_sentences
from spanloom.decisions import ExpectedF1
from spanloom.decisions.rule import Rule
from spanloom.formats.checks import encode
from spanloom.formats.jsonl import to_dict
from spanloom.formats.report import Report
from spanloom.learning import LBFGS
from spanloom.models import Model
from spanloom.models.chain import Chain
from spanloom.models.chains import Chains
from spanloom.models.edge import Edge
from spanloom.models.hypergraph import Hypergraph
from spanloom.models.state import State
from spanloom.models.structured import Structured
from spanloom.tagging import Plain, TextTagger, json_records, obstacle, tag_lines

KINDS: dict[str, Model] = {
    "chain": Chain(),
    "chain, no outside": Chain(scheme="BI"),
    "chain, unconstrained": Chain(scheme="IO", constrained=False),
    "chains": Chains(),
    "edge": Edge(),
    "state": State(),
    "hypergraph": Hypergraph(),
}
WORDS = [
    *("IL-2", "gene", "NF-kappa B", "Ünïcode β", "細胞", "👨‍👩‍👧", "T cells", "the", 'a "quoted\\" one', "\x01\x7f"),
    *(".", "\n", "\n\n", "\t", "(", ")", "e.g.", "\u2028", "https://x.org/ü", "p53", "Dr. Wu", "."),
]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join), max_size=6)


@pytest.fixture(scope="module", params=KINDS)
def trained(request: pytest.FixtureRequest) -> Recognizer:
    """A recogniser whose weights are random, so that it finds every kind of structure."""
    ner = trained_on("train", KINDS[request.param], 1)
    first = ner.trained_
    assert isinstance(first, Structured)
    rng = np.random.default_rng(7)
    weights = [
        replace(
            one,
            rows=rng.normal(size=one.features.shape).astype(np.float32),
            globals=rng.normal(size=one.globals.shape),
        )
        for one in first.weights
    ]
    ner.trained_ = Structured(first.model, first.components, first.extractor, weights)
    return ner


def trained_on(part: str, model: Model | str = "chain", iterations: int = 1, **settings: Any) -> Recognizer:
    """A recogniser that has learned a little."""
    ner = Recognizer(model, keep="longest", trainer=LBFGS(max_iter=iterations), threads=1, **settings)
    return ner.fit(read(f"sample:{part}"))


def by_objects(ner: Recognizer, text: str, id: str = "", **asked: Any) -> str:
    document = ner.predict(make_document(text, id), **(asked or {"probabilities": False}))
    return encode(to_dict(document, chars=True), "here")


@given(TEXTS)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_lines_are_those_of_the_way_through_objects(trained: Recognizer, texts: list[str]) -> None:
    ids = [f'"{i}"' if i else "" for i in range(len(texts))]
    lines = TextTagger(trained, threads=1).tag(texts).json_lines(ids)
    assert lines.decode() == "".join(by_objects(trained, text, id) for text, id in zip(texts, ids, strict=True))


def test_the_sample_gives_the_same_lines(trained: Recognizer) -> None:
    """With mentions in nearly every document, so that the comparison is not of nothing with nothing."""
    texts = [doc.text for part in ("train", "dev", "test") for doc in read(f"sample:{part}")]
    batch = TextTagger(trained, threads=1).tag(texts)
    assert batch.json_lines([""] * len(texts)).decode() == "".join(by_objects(trained, text) for text in texts)
    assert len(set(batch.document.tolist())) > len(texts) / 2


def test_a_long_line_comes_in_pieces_and_is_the_same() -> None:
    """None is much longer than the text itself, which is written as one; short documents stay together."""
    trained = trained_on("train", "chain", 5)
    texts = [" ".join(doc.text for doc in read("sample:train")) for _ in range(2)]
    long = " ".join(texts * 20)
    pieces = list(tag_lines(trained, [Plain("a", long), Plain("", texts[0])]))
    assert b"".join(pieces).decode() == by_objects(trained, long, "a") + by_objects(trained, texts[0])
    assert len(pieces) > 2
    assert max(map(len, pieces)) < max(len(long), 1 << 20) * 1.1
    batch = TextTagger(trained).tag([texts[0][:500]] * 2)
    assert batch.json_pieces(["", ""]) == [batch.json_lines(["", ""])]


@pytest.mark.parametrize("asked", [{"probabilities": True}, {"above": 0.2}, {"above": 1e-9}])
def test_probabilities_are_written_as_by_the_way_through_objects(trained: Recognizer, asked: dict[str, Any]) -> None:
    """To the last digit, small and large ones."""
    texts = [doc.text for doc in list(read("sample:test"))[:12]]
    lines = TextTagger(trained, threads=1).tag(texts, **asked).json_lines([""] * len(texts)).decode()
    assert lines == "".join(by_objects(trained, text, **asked) for text in texts)
    assert lines.count('"prob":') > 20


def test_numbers_that_python_writes_in_a_way_of_its_own() -> None:
    """1.0 and 1e-05, not 1 and 0.00001."""
    ner = trained_on("train", "chain", 30)
    (line,) = TextTagger(ner).tag(["IL-2 gene expression."], above=1e-12).json_lines([""]).splitlines()
    record = json.loads(line)
    assert any(one["prob"] < 1e-4 for one in record["mentions"])
    assert encode(record, "here") == line.decode() + "\n"
    ner.trained_.weights[0].features[:] *= 1000  # type: ignore[attr-defined]
    first = ner.trained_
    assert isinstance(first, Structured)
    sure = Structured(first.model, first.components, first.extractor, first.weights)
    ner.trained_ = sure
    assert b'"prob":1.0}' in TextTagger(ner).tag([doc.text for doc in read("sample:train")], above=0.5).json_lines(
        [""] * len(list(read("sample:train")))
    )


def test_arrays_are_those_of_the_mentions(trained: Recognizer) -> None:
    texts = [doc.text for doc in read("sample:test")]
    batch = TextTagger(trained, threads=1).tag(texts)
    found = batch.found
    columns = (batch.document, found.label, found.start, found.end, found.start_char, found.end_char)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    docs = [trained.predict(text) for text in texts]
    assert rows == [
        (d, batch.labels.index(m.label), m.start, m.end, *doc.chars(m)[0])
        for d, doc in enumerate(docs)
        for m in doc.mentions
    ]


def test_sentences_tokens_and_features_are_those_of_documents(trained: Recognizer) -> None:
    texts = ["", *(doc.text for doc in read("sample:test")), "ä β. \n\n 細胞 x", " "]
    docs = [make_document(text) for text in texts]
    cut = TokenizedTexts(texts, 1)
    assert np.diff(cut.sentence_ptr).tolist() == [len(doc.sentences) for doc in docs]
    assert np.diff(cut.token_ptr).tolist() == [len(s) for doc in docs for s in doc]
    assert list(zip(cut.start.tolist(), cut.end.tolist(), strict=True)) == [span for doc in docs for span in doc.spans]
    rows = cut.rows(trained.extractor_._fitted(), 1)
    expected = trained.extractor_.transform([s for doc in docs for s in doc], 1)
    for name in ("group_ptr", "row_ptr", "ids"):
        assert getattr(rows, name).tolist() == getattr(expected, name).tolist()


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS)
def test_probabilities_are_those_of_predict(trained: Recognizer, texts: list[str]) -> None:
    batch = TextTagger(trained).tag(texts, probabilities=True)
    expected = [m.prob for text in texts for m in trained.predict(text, probabilities=True).mentions]
    assert batch.probs is not None
    assert batch.probs.tolist() == pytest.approx(expected, abs=1e-12)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, st.sampled_from([False, True, "flat"]), st.floats(0.01, 0.6))
def test_thresholds_are_those_of_predict(trained: Recognizer, texts: list[str], exclusive: Any, low: float) -> None:
    """The first label has a threshold of its own, the last one none; the decision of the recogniser is put back."""
    before = trained.rule_
    labels = trained.labels_[:-1]
    trained.rule_ = Rule({**dict.fromkeys(labels, low), labels[0]: min(2 * low, 1.0)}, exclusive)
    try:
        batch = TextTagger(trained).tag(texts)
        expected = [m for text in texts for m in trained.predict(text).mentions]
    finally:
        trained.rule_ = before
    rows = zip(batch.found.label.tolist(), batch.found.start.tolist(), batch.found.end.tolist(), strict=True)
    assert [(batch.labels[label], a, b) for label, a, b in rows] == [(m.label, m.start, m.end) for m in expected]
    assert batch.probs is not None
    assert batch.probs.tolist() == pytest.approx([m.prob for m in expected], abs=1e-12)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, st.booleans())
def test_texts_may_come_with_their_tokens(trained: Recognizer, texts: list[str], sentences: bool) -> None:
    """Tokens at white space, which are not those of our tokenizer; sentences of three tokens, or as they are found."""
    docs = []
    for text in texts:
        spans = [match.span() for match in re.finditer(r"\S+", text)]
        words = [text[a:b] for a, b in spans]
        cuts = range(0, len(words), 3) if sentences else [a for a, _ in split_sentences(text, spans)]
        bounds = list(pairwise([*cuts, len(words)]))
        starts = [spans[a][0] for a, _ in bounds]
        parts = [
            Sentence(words[a:b], text=text[s : spans[b - 1][1]], spans=[(i - s, j - s) for i, j in spans[a:b]])
            for (a, b), s in zip(bounds, starts, strict=True)
        ]
        docs.append(Document(parts, "", text, starts))
    ptr = np.cumsum([0, *map(len, docs)])
    start, end = np.array([span for doc in docs for span in doc.spans], np.uint32).reshape(-1, 2).T.copy()
    first = np.array([t % 3 == 0 for doc in docs for t in range(len(doc))], np.uint8) if sentences else None
    batch = TextTagger(trained).tag(TokenizedTexts.with_tokens(texts, ptr, start, end, first))
    found = batch.found
    rows = zip(batch.document.tolist(), found.label.tolist(), found.start.tolist(), found.end.tolist(), strict=True)
    assert [(d, batch.labels[label], a, b) for d, label, a, b in rows] == [
        (d, m.label, m.start, m.end) for d, doc in enumerate(trained.predict(docs)) for m in doc.mentions
    ]


@pytest.mark.parametrize(
    ("ptr", "start", "end", "message"),
    [
        ([0, 1], [0], [9], "text 0: token 0 has the characters 0 to 9; it must be after character 0 of 4"),
        ([0, 2], [0, 1], [2, 3], "token 1 has the characters 1 to 3; it must be after character 2"),
        ([0, 1], [1], [1], "and not empty"),
        ([0, 2], [0], [1], "do not fit together"),
        ([0], [], [], "do not fit together"),
    ],
)
def test_tokens_that_are_not_in_the_text_are_refused(
    ptr: list[int], start: list[int], end: list[int], message: str
) -> None:
    arrays = np.array(ptr, np.int64), np.array(start, np.uint32), np.array(end, np.uint32)
    with pytest.raises(ValueError, match=message):
        TokenizedTexts.with_tokens(["gene"], *arrays)


@pytest.mark.parametrize("whole", [True, False])
def test_threads_do_not_matter(trained: Recognizer, whole: bool) -> None:
    texts = [f"{doc.text} {i}" for i, doc in enumerate(list(read("sample:train")) * 8)]
    one, three = (
        TextTagger(trained, threads).tag(texts).json_lines([""] * len(texts), whole=whole) for threads in (1, 3)
    )
    assert one == three


def test_a_mention_penalty_counts() -> None:
    ner = trained_on("train", "edge", 20)
    texts = [doc.text for doc in read("sample:train")]
    before = TextTagger(ner).tag(texts).found.size
    ner.set_mention_penalty(-1000.0)
    assert before > 0
    assert TextTagger(ner).tag(texts).found.size == 0


MIXED = [
    {"id": "a", "text": "IL-2 gene.\nThe T cells of Dr. Wu"},
    {"text": "p53 ä \"x\" \\ 👨", "meta": {"source": "ü", "n": [1, 2.5, None]}},
    {"id": "", "text": "", "meta": {}},
    {"id": "gold", "text": "NF-kappa B binds. It does.", "mentions": [{"label": "protein", "chars": [[0, 18]]}]},
    {"id": "cut", "tokens": ["the", "IL-2", "gene"]},
    {"id": "z", "text": "T cells\n\nand the IL-2 gene"},
]  # fmt: skip


@pytest.mark.parametrize("probabilities", [True, False])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_files_are_those_of_reading_tagging_and_writing(
    trained: Recognizer, tmp_path: Path, ascii_only: bool, probabilities: bool
) -> None:
    """Lines with tokens or mentions of their own, which cut sentences otherwise, are among them."""
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("\n".join(json.dumps(r, ensure_ascii=ascii_only) for r in MIXED) + "\n\n", encoding="utf-8")
    write(trained.stream(read(source), probabilities=probabilities), target, chars="yes")
    lines = tag_lines(trained, json_records(str(source), Report()), probabilities=probabilities)
    assert b"".join(lines) == target.read_bytes()


def test_mentions_only_are_those_of_the_whole_lines(trained: Recognizer, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(map(json.dumps, MIXED)), encoding="utf-8")
    whole = b"".join(tag_lines(trained, json_records(str(source), Report()))).decode().splitlines()
    short = b"".join(tag_lines(trained, json_records(str(source), Report()), whole=False)).decode().splitlines()
    for long_line, line in zip(whole, short, strict=True):
        record, expected = json.loads(line), json.loads(long_line)
        assert record.get("id") == expected.get("id")
        assert set(record) - {"id"} == {"mentions"}
        assert record["mentions"] == [{k: m[k] for k in ("label", "chars", "text")} for m in expected["mentions"]]


@pytest.mark.parametrize(
    ("line", "message"),
    [('{"text": "a"', "not JSON"), ('{"text": 5}', "text must be"), ('{"txt": "a"}', "unknown field")],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, message: str) -> None:
    ner = trained_on("dev")
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "good"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=rf"in\.jsonl:2.*{message}"):
        b"".join(tag_lines(ner, json_records(str(source), Report())))
    report = Report(strict=False)
    assert b"".join(tag_lines(ner, json_records(str(source), report))).count(b"\n") == 1
    assert len(report.problems) == 1


def test_text_with_half_a_surrogate_pair_is_refused(trained: Recognizer) -> None:
    with pytest.raises(CorpusError, match="text 1 is not valid Unicode"):
        TextTagger(trained).tag(["fine", "\ud800"])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model": "semimarkov"}, "semimarkov"),
        ({"model": "memm"}, "memm"),
        ({"model": Chain(scheme="BIOHD")}, "chain"),
        ({"repairs": ("parentheses",)}, "repaired"),
        ({"decide": ExpectedF1(calibrate="platt")}, "calibrated"),
        ({"features": ["pos"]}, "pos"),
        ({"tokenizer": lambda text: [(0, len(text))]}, "tokenizer"),
    ],
)
def test_what_cannot_go_the_short_way_says_why(changes: dict[str, Any], reason: str) -> None:
    ner = Recognizer(**({"model": "chain", "keep": "longest", "threads": 1} | changes)).fit(read("sample:dev"))
    assert reason in str(obstacle(ner))
    with pytest.raises(ParameterError, match=r"cannot tag text natively.*Recognizer\.stream"):
        TextTagger(ner)


TABLE = ["The", "IL-2", "gene", ".", "(", ")", "Zürich", "細胞", "𝔘", "\n\n", " ", "e.g.", "Dr.", "It", "binds"]


@given(
    docs=st.lists(st.lists(st.tuples(st.integers(0, len(TABLE) - 1), st.booleans(), st.integers(-1, 1)), max_size=9)),
    sents=st.booleans(),
)
def test_words_of_a_table_are_cut_as_texts_with_tokens(docs: list[list[tuple[int, bool, int]]], sents: bool) -> None:
    """Characters, sentences and places; white space is no token, and leaves the beginning of a sentence to the next."""
    table = WordTable()
    for key, word in enumerate(TABLE):
        table.add(key, word, blank=word.isspace())
    texts, start, end, first, place, counts = [], [], [], [], [], [0]
    for doc in docs:
        known = sents and any(begin for _, _, begin in doc[1:])
        text, begins = "", known
        for number, (key, gap, begin) in enumerate(doc):
            word = TABLE[key]
            begins = begins or (known and begin == 1)
            if not word.isspace():
                start.append(len(text))
                end.append(len(text) + len(word))
                first.append(begins)
                place.append(number)
                begins = False
            text += word + " " * gap
        texts.append(text)
        counts.append(len(place))
    rows = [(key, gap, begin if sents else 0) for doc in docs for key, gap, begin in doc]
    words = np.array(rows, np.int64).reshape(-1, 3).astype(np.uint64)
    ptr = np.cumsum([0, *map(len, docs)])
    cut, kept, places = TokenizedTexts.of_words(table, ptr, words)
    other = TokenizedTexts.with_tokens(
        texts, np.array(counts), np.array(start, np.uint32), np.array(end, np.uint32), np.array(first, np.uint8)
    )
    for name in ("sentence_ptr", "token_ptr", "start", "end"):
        assert getattr(cut, name).tolist() == getattr(other, name).tolist()
    assert (kept.tolist(), places.tolist()) == (counts, place)


def test_words_that_cannot_be_cut_are_refused() -> None:
    table = WordTable()
    table.add(1, "gene", blank=False)
    table.add(2, "", blank=False)
    for key, ptr, complaint in ((7, [0, 1], "word 0 is not known"), (2, [0, 1], "is empty"), (1, [0, 2], "do not fit")):
        with pytest.raises(ValueError, match=complaint):
            TokenizedTexts.of_words(table, np.array(ptr), np.array([[key, 1, 1]], np.uint64))
