"""Our own format: it holds everything, and says what is wrong where."""

import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom import CorpusError, Document, Mention, Report, Sentence, read, write
from spanloom.base.errors import ParameterError, SpanloomError
from tests.formats.random_documents import documents, everything


def corpus_of(path: Path, *records: Any) -> Path:
    path = path / "c.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


@settings(max_examples=60, deadline=None)
@given(documents(), st.sampled_from(["yes", "no"]))
def test_round_trip_keeps_everything(docs: list[Document], chars: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(docs, folder + "/c.jsonl", chars=chars)
        assert everything(list(read(folder + "/c.jsonl"))) == everything(docs)


def test_a_corpus_can_be_read_again_and_again(tmp_path: Path) -> None:
    corpus = read(corpus_of(tmp_path, {"id": "a", "tokens": ["x"]}, {"id": "b", "tokens": ["y", "z"]}))
    assert [doc.id for doc in corpus] == ["a", "b"] == [doc.id for doc in corpus]
    assert [s.tokens for s in corpus.sentences()] == [["x"], ["y", "z"]]


def test_hand_written_document(tmp_path: Path) -> None:
    record = {
        "text": "IL-2 gene. It binds.",
        "tokens": ["IL", "-", "2", "gene", ".", "It", "binds", "."],
        "sentences": [[0, 5], {"range": [5, 8], "meta": {"n": 2}}],
        "columns": {"pos": ["NN", "HYPH", "CD", "NN", ".", None, None, None]},
        "mentions": [
            {"label": "DNA", "chars": [[0, 9]]},
            {"label": "protein", "parts": [[0, 3]], "prob": 0.5},
            {"label": "x", "parts": [[5, 6], [7, 8]]},
        ],
    }
    (doc,) = read(corpus_of(tmp_path, record))
    first, second = doc.sentences
    assert first.text == "IL-2 gene."
    assert second.spans == [(0, 2), (3, 8), (8, 9)]
    assert first.columns == {"pos": ["NN", "HYPH", "CD", "NN", "."]}
    assert second.columns == {}
    assert second.meta == {"n": 2}
    assert set(first.mentions) == {Mention("DNA", ((0, 4),)), Mention("protein", ((0, 3),))}
    assert second.mentions == [Mention("x", ((0, 1), (2, 3)))]
    assert [doc.surface(m) for m in doc.mentions] == ["IL-2", "IL-2 gene", "It … ."]


TOKENS = {"text": "IL-2 gene", "tokens": ["IL-2", "gene"]}
INSIDE = {**TOKENS, "columns": {"pos": ["NN", "NNP"]}, "mentions": [{"label": "a", "chars": [[0, 2]]}]}


def test_a_mention_inside_a_token_is_an_error_at_the_end(tmp_path: Path) -> None:
    corpus = read(corpus_of(tmp_path, INSIDE, TOKENS))
    seen: list[Document] = []
    with pytest.raises(CorpusError, match=r"1 problem .*align=split.*\n.*c.jsonl:1 mention 0: a 'IL' \(0, 2\)"):
        seen.extend(corpus)
    assert len(seen) == 2
    assert corpus.report.counts == {"misaligned": 1}


@pytest.mark.parametrize(
    ("policy", "tokens", "mentions"),
    [
        ("expand", ["IL-2", "gene"], [Mention("a", ((0, 1),))]),
        ("split", ["IL", "-2", "gene"], [Mention("a", ((0, 1),))]),
    ],
)
def test_alignment_policies(tmp_path: Path, policy: str, tokens: list[str], mentions: list[Mention]) -> None:
    (doc,) = read(corpus_of(tmp_path, INSIDE), align=policy)
    assert doc.tokens == tokens
    assert doc.mentions == mentions
    assert doc.sentences[0].columns["pos"] == (["NN", "NNP"] if policy == "expand" else ["NN", "NN", "NNP"])


def test_characters_and_text_of_mentions_for_readers_without_spanloom(tmp_path: Path) -> None:
    """``chars=yes`` gives what a JSON parser alone can use, and reading it again gives the same document."""
    doc = Document([Sentence(["alpha-", "and", "beta-", "globin"], [Mention("protein", ((0, 1), (3, 4)))])], "d")
    path = tmp_path / "c.jsonl"
    write([doc], path, chars="yes")
    record = json.loads(path.read_text())
    assert record["text"] == "alpha- and beta- globin"
    assert record["mentions"] == [
        {"label": "protein", "parts": [[0, 1], [3, 4]], "chars": [[0, 6], [17, 23]], "text": "alpha- … globin"}
    ]
    assert everything(list(read(path))) == everything([doc])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"chars": [[0, 4]]}, r"mention 0 has the chars \[\(0, 4\)\], but its parts are at \[\(0, 9\)\]"),
        ({"text": "IL-2"}, "mention 0 is said to be 'IL-2', but the text has 'IL-2 gene'"),
    ],
)
def test_contradictions_within_a_mention_are_errors(tmp_path: Path, more: dict[str, Any], message: str) -> None:
    path = corpus_of(tmp_path, {**TOKENS, "mentions": [{"label": "a", "parts": [[0, 2]], **more}]})
    with pytest.raises(CorpusError, match=rf"1 text-mismatch(.|\n)*c\.jsonl:1: {message}"):
        list(read(path))


@pytest.mark.parametrize(
    ("chars", "kind"), [([5, 4], "inverted"), ([4, 4], "empty"), ([0, 99], "out-of-text"), ([4, 5], "blank")]
)
def test_impossible_character_ranges_are_named(tmp_path: Path, chars: list[int], kind: str) -> None:
    """Also where both ends are token edges."""
    corpus = read(corpus_of(tmp_path, {**TOKENS, "mentions": [{"label": "a", "chars": [chars]}]}))
    with pytest.raises(CorpusError, match=rf"1 {kind}(.|\n)*c\.jsonl:1 mention 0"):
        list(corpus)


def test_words_that_share_their_characters_are_all_in_the_mention(tmp_path: Path) -> None:
    record = {"text": "du pain", "tokens": ["de", "le", "pain"], "offsets": [[0, 2], [0, 2], [3, 7]]}
    (doc,) = read(corpus_of(tmp_path, {**record, "mentions": [{"label": "a", "chars": [[0, 7]]}]}))
    assert doc.mentions == [Mention("a", ((0, 3),))]


def test_the_text_of_a_mention_without_tokens_is_checked(tmp_path: Path) -> None:
    record = {"text": "IL-2 gene", "mentions": [{"label": "a", "chars": [[0, 9]], "text": "IL-2 genes"}]}
    with pytest.raises(CorpusError, match="said to be 'IL-2 genes', but the text has 'IL-2 gene'"):
        list(read(corpus_of(tmp_path, record)))


def test_a_mention_over_a_break_of_the_file(tmp_path: Path) -> None:
    record = {
        "tokens": ["a", "b", "c"],
        "sentences": [[0, 1], [1, 2], [2, 3]],
        "mentions": [{"label": "x", "parts": [[0, 2]]}],
    }
    path = corpus_of(tmp_path, record)
    with pytest.raises(CorpusError, match="sentences=join"):
        list(read(path))
    (doc,) = read(path, sentences="join")
    assert [s.tokens for s in doc.sentences] == [["a", "b"], ["c"]]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([], "must be an object"),
        ({"tokens": "a"}, "tokens must be a list"),
        ({"tokens": ["a", ""]}, "token 1 is empty"),
        ({"tokens": [1]}, "token 0 must be a string, not 1"),
        ({"text": 3, "tokens": []}, "text must be a string"),
        ({"tokens": ["a"], "spans": []}, "unknown field 'spans'.*prodigy:FILE"),
        ({"tokens": ["a"], "offsets": [[0, 1]]}, "offsets count the characters of text"),
        ({"tokens": ["a"], "text": "b"}, "do not occur in the text"),
        ({"tokens": ["a"], "text": "a", "offsets": [[0, 2]]}, r"offsets of token 0 must .*not \(0, 2\)"),
        ({"tokens": ["a", "b"], "text": "b a", "offsets": [[2, 3], [0, 1]]}, "come before"),
        ({"tokens": ["a", "b"], "sentences": [[0, 1]]}, "end at token 1 of 2"),
        ({"tokens": ["a", "b"], "sentences": [[1, 2]]}, "begins at token 1"),
        ({"tokens": ["a"], "columns": {"pos": []}}, "0 values for 1 tokens"),
        ({"tokens": ["a"], "columns": {"pos": [1]}}, "must be a string or null"),
        ({"tokens": ["a"], "mentions": [{"label": "x", "parts": [[0, 2]]}]}, r"not \(0, 2\)"),
        ({"tokens": ["a"], "mentions": [{"label": "x", "parts": [[1, 0]]}]}, r"not \(1, 0\)"),
        ({"tokens": ["a"], "mentions": [{"label": "x", "parts": [[0, 0]]}]}, r"not \(0, 0\)"),
        ({"tokens": ["a"], "mentions": [{"label": "x"}]}, "must have parts"),
        ({"tokens": ["a"], "mentions": [{"label": "x", "parts": []}]}, "at least one part"),
        ({"tokens": ["a"], "mentions": [{"parts": [[0, 1]]}]}, "label of mention 0"),
        ({"tokens": ["a"], "mentions": [{"label": "x", "parts": [[0, 1]], "prob": 2}]}, "prob of mention 0"),
        ({"tokens": ["a"], "features": []}, "0 of 1 tokens"),
        ({"tokens": ["\ud800"]}, "surrogate"),
        ({"tokens": ["a"], "features": [{"x": float("nan")}]}, "NaN"),
    ],
)
def test_bad_records_are_named_with_file_and_line(tmp_path: Path, record: Any, message: str) -> None:
    path = corpus_of(tmp_path, {"tokens": ["fine"]}, record)
    with pytest.raises(CorpusError, match=r"c\.jsonl:2.*: .*" + message):
        list(read(path))


def test_a_lenient_report_goes_on_after_a_broken_line(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(b'{"tokens":["a"]}\n{"tok\n\xff\n{"tokens":["b"]}\n')
    report = Report(strict=False)
    assert [doc.tokens for doc in read(path).stream(report)] == [["a"], ["b"]]
    assert report.counts == {"json": 1, "encoding": 1}
    with pytest.raises(CorpusError, match=r"c\.jsonl:2: not JSON"):
        list(read(path))


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second pass would find nothing and say nothing."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"tokens":["a"]}\n')))
    corpus = read("jsonl:-")
    assert [doc.tokens for doc in corpus] == [["a"]]
    with pytest.raises(CorpusError, match="standard input can be read only once"):
        list(corpus)


@pytest.mark.parametrize("format", ["brat", "parquet", "bioc", "spacy", "biocreative"])
def test_formats_that_are_not_lines_need_a_path(format: str) -> None:
    with pytest.raises(ParameterError, match=f"{format} is not a format of lines and needs a path"):
        write([], f"{format}:-")


def test_a_name_that_tells_no_format() -> None:
    """Only formats that can be written are proposed for an output; an input that is not there has none."""
    with pytest.raises(ParameterError, match=r"cannot tell the format of 'x.foo' .* write FORMAT:x.foo with") as caught:
        write([], "x.foo")
    proposed = str(caught.value).partition("one of ")[2].split(", ")
    assert {"jsonl", "conll", "brat", "html"} <= set(proposed)
    assert not {"genia", "gum", "sample", "text"} & set(proposed)
    with pytest.raises(ParameterError, match=r"^x.foo: no such file or folder$"):
        read("x.foo")


def test_names_like_a_missing_one_are_proposed(tmp_path: Path) -> None:
    """In the folder of the first part of the path that is not there, whether or not its name tells a format."""
    (tmp_path / "novels" / "training").mkdir(parents=True)
    (tmp_path / "novels" / "train.jsonl").touch()
    for name, message in (
        ("novels/trainin", f"no such file or folder; did you mean {tmp_path}/novels/training"),
        ("novels/trian.jsonl", f"no such file or folder; did you mean {tmp_path}/novels/train.jsonl"),
        ("novel/training", "no such file or folder, as there is no folder .*/novel; did you mean .*novels"),
        ("novels/quux", "no such file or folder$"),
    ):
        with pytest.raises(SpanloomError, match=message):
            read(tmp_path / name)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no such file"):
        read(tmp_path / "absent.jsonl")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = corpus_of(tmp_path, {"tokens": ["old"]})

    def docs() -> Any:
        yield from read(path)
        raise RuntimeError("the source failed")

    with pytest.raises(RuntimeError):
        write(docs(), path)
    assert [doc.tokens for doc in read(path)] == [["old"]]
    assert [p.name for p in tmp_path.iterdir()] == ["c.jsonl"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = {
    "text": JSON,
    "tokens": st.lists(st.text(max_size=2), max_size=3) | JSON,
    "offsets": st.lists(st.lists(st.integers(-1, 4), max_size=3), max_size=3) | JSON,
    "sentences": st.lists(st.lists(st.integers(-1, 4), min_size=2, max_size=2), max_size=3) | JSON,
    "columns": st.dictionaries(st.text(max_size=2), JSON, max_size=2) | JSON,
    "mentions": st.lists(
        st.fixed_dictionaries(
            {"label": st.text(max_size=2)},
            optional={k: st.lists(st.lists(st.integers(-1, 4), min_size=2, max_size=2)) for k in ("parts", "chars")},
        ),
        max_size=3,
    )
    | JSON,
    "meta": JSON,
}


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.binary(max_size=30) | st.fixed_dictionaries({}, optional=FIELDS).map(lambda r: json.dumps(r).encode()))
)
def test_any_bytes_give_documents_or_a_corpus_error_with_its_line(records: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.jsonl"
        path.write_bytes(b"\n".join(records))
        message, docs = "c.jsonl:", []
        try:
            docs = list(read(path))
        except CorpusError as error:
            message = str(error)
        assert "c.jsonl:" in message
        write(docs, folder + "/again.jsonl")
        assert everything(list(read(folder + "/again.jsonl"))) == everything(docs)


def test_raw_text_is_tokenised_and_our_sentence_breaks_yield_to_mentions(tmp_path: Path) -> None:
    text = "We met Dr. No. Then we left."
    free, held = {"text": text}, {"text": text, "mentions": [{"label": "x", "chars": [[7, 19]]}]}
    plain, joined = read(corpus_of(tmp_path, free, held))
    assert [s.text for s in plain.sentences] == ["We met Dr. No.", "Then we left."]
    assert [s.text for s in joined.sentences] == [text]
    assert joined.surface(joined.mentions[0]) == "Dr. No. Then"
