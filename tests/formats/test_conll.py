"""Files of columns: layouts that people have, layers, documents, and what does not fit."""

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom import CorpusError, Document, Mention, Sentence, read, write
from spanloom.base.errors import ParameterError
from tests.formats.random_documents import documents, everything

CONLL2003 = """-DOCSTART- -X- O O

Mara NNP I-NP I-PER
Lund NNP I-NP I-PER
left VBD I-VP O
Oslo NNP I-NP I-LOC
Trondheim NNP B-NP B-LOC

# NN I-NP O
1 CD I-NP O

-DOCSTART- -X- O O

Rain NN I-NP O
"""


def test_conll_2003(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(CONLL2003)
    one, two = read(f"conll:{path}?words=0&tags=3&columns=pos:1,chunk:2&scheme=IOB1")
    assert [s.tokens for s in one.sentences] == [["Mara", "Lund", "left", "Oslo", "Trondheim"], ["#", "1"]]
    assert one.sentences[0].columns["pos"] == ["NNP", "NNP", "VBD", "NNP", "NNP"]
    assert one.sentences[0].columns["chunk"][-1] == "B-NP"
    assert one.mentions == [Mention("PER", ((0, 2),)), Mention("LOC", ((3, 4),)), Mention("LOC", ((4, 5),))]
    assert two.tokens == ["Rain"]


def test_comments_ids_texts_and_unnamed_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text(
        "# newdoc id = news-7\n# sent_id = s1\n# text = It's Oslo.\nIt\tx\tO\n's\ty\tO\nOslo\tz\tB-LOC\n.\t\tO\n"
    )
    (doc,) = read(path)
    assert doc.id == "news-7"
    (sentence,) = doc.sentences
    assert sentence.meta == {"sent_id": "s1"}
    assert sentence.text == "It's Oslo."
    assert sentence.spans == [(0, 2), (2, 4), (5, 9), (9, 10)]
    assert sentence.columns == {"c1": ["x", "y", "z", ""]}


def test_layers(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("Bank\tB-ORG\tO\nof\tI-ORG\tO\nOslo\tI-ORG\tB-LOC\n")
    (doc,) = read(path, tags="1,2")
    assert doc.mentions == [Mention("ORG", ((0, 3),)), Mention("LOC", ((2, 3),))]


def test_a_mention_that_is_given_twice_comes_back_twice(tmp_path: Path) -> None:
    """Which of the two is the mistake is for ``validate`` to say."""
    docs = [Document([Sentence(["a"], [Mention("x", ((0, 1),)), Mention("x", ((0, 1),))])], "d")]
    write(docs, tmp_path / "a.conll", layers=2)
    assert [doc.mentions for doc in read(tmp_path / "a.conll")] == [docs[0].mentions]


@settings(max_examples=40, deadline=None)
@given(documents("nested", rich=False, gap="\n"), st.sampled_from(["IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU"]))
def test_round_trip_of_nested_mentions_in_layers(docs: list[Document], scheme: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ref = f"conll:{folder}/a.conll"
        write(docs, ref, scheme=scheme, layers=6)
        assert everything(list(read(ref, scheme=scheme))) == everything(docs)


@settings(max_examples=40, deadline=None)
@given(documents("any", rich=False, gap="\n"))
def test_one_layer_holds_flat_corpora_and_refuses_all_others(docs: list[Document]) -> None:
    flat = all(
        not m.discontinuous and not any(m.overlaps(o) for o in s.mentions if o is not m)
        for doc in docs
        for s in doc.sentences
        for m in s.mentions
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.conll"
        if flat:
            write(docs, path)
            assert everything(list(read(path))) == everything(docs)
        else:
            with pytest.raises(CorpusError, match="lossy="):
                write(docs, path)
            assert not path.exists()


OVERLAP = [Mention("a", ((0, 4),)), Mention("b", ((1, 2),)), Mention("c", ((3, 6),)), Mention("d", ((5, 6), (7, 8)))]


@pytest.mark.parametrize(
    ("lossy", "kept", "lost"),
    [
        ("outermost", {("a", 0, 4)}, 3),
        ("innermost", {("b", 1, 2), ("c", 3, 6)}, 2),
        ("longest", {("a", 0, 4)}, 3),
        ("contiguous,outermost", {("a", 0, 4), ("d", 5, 8)}, 2),
    ],
)
def test_ways_to_lose(tmp_path: Path, lossy: str, kept: set[tuple[str, int, int]], lost: int) -> None:
    doc = Document([Sentence(list("abcdefgh"), OVERLAP)], "d")
    report = write([doc], tmp_path / "a.conll", lossy=lossy)
    (again,) = read(tmp_path / "a.conll")
    assert {(m.label, m.start, m.end) for m in again.mentions} == kept
    assert report.counts["lost"] == lost
    assert report.counts["filled"] == ("contiguous" in lossy)


def test_contiguous_alone_does_not_leave_mentions_out(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="2 problems"):
        write([Document([Sentence(list("abcdefgh"), OVERLAP)])], tmp_path / "a.conll", lossy="contiguous")


def test_io_refuses_to_join_touching_mentions(tmp_path: Path) -> None:
    doc = Document([Sentence(["x", "y"], [Mention("a", ((0, 1),)), Mention("a", ((1, 2),))])])
    with pytest.raises(CorpusError, match="IO cannot separate"):
        write([doc], tmp_path / "a.conll", scheme="IO")


def test_what_has_no_place_is_counted(tmp_path: Path) -> None:
    sentence = Sentence(["x"], [Mention("a", ((0, 1),), 0.5, {"k": "v"})], features=[["f"]])
    report = write([Document([sentence], meta={"genre": "news"})], tmp_path / "a.conll")
    assert report.counts == {"unwritten": 4}
    assert not report.errors


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a O\nb\n", r":2: 1 columns, but 2"),
        ("a\tO\n\tO\n", ":2: the token is empty"),
        ("a Q-x\n", ":1: tag 'Q-x' is not"),
        ("a\n", r":1: one column only, .a.; .* word and a tag .*text:FILE"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.conll"
    path.write_text(text)
    with pytest.raises(CorpusError, match=message):
        list(read(path))


@pytest.mark.parametrize(
    ("option", "message"),
    [({"tags": "x"}, "column numbers"), ({"columns": "pos"}, "name:number"), ({"scheme": "IOC"}, "one of auto")],
)
def test_bad_options(tmp_path: Path, option: dict[str, str], message: str) -> None:
    (tmp_path / "a.conll").write_text("a O\n")
    with pytest.raises(ParameterError, match=message):
        list(read(tmp_path / "a.conll", **option))


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=60) | st.text("ab#= \tOBI-\n\r", max_size=60).map(str.encode))
def test_any_bytes_give_documents_or_a_corpus_error_with_its_line(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.conll"
        path.write_bytes(content)
        message = "a.conll:"
        try:
            list(read(path))
        except CorpusError as error:
            message = str(error)
        assert "a.conll:" in message


NESTED = "Foreningen\tO\tO\naf\tO\tO\nDansk\tB-ORG\tB-MISC\nJern\tI-ORG\tO\n\nved\tO\tO\nÅrhus\tO\tB-LOC\n"


def test_a_second_column_of_tags_is_pointed_out_with_what_to_type(tmp_path: Path) -> None:
    """Three mentions are in the file; by default two are read, and the report says how to read them all."""
    path = tmp_path / "da.conll"
    path.write_text(NESTED)
    corpus = read(path)
    assert [m.label for doc in corpus for m in doc.mentions] == ["MISC", "LOC"]
    (problem,) = corpus.report.problems
    assert (problem.kind, problem.severity, problem.where) == ("tags-unread", "warning", str(path))
    assert "column 1 looks like tags" in problem.message
    typed = re.findall(r"'(conll:[^']*)'", problem.message)
    assert typed == [f"conll:{path}?tags=1,2", f"conll:{path}?columns=NAME:1"]
    whole = read(typed[0])
    assert sorted(m.label for doc in whole for m in doc.mentions) == ["LOC", "MISC", "ORG"]
    assert not whole.report.problems
    named = read(typed[1])
    assert [m.label for doc in named for m in doc.mentions] == ["MISC", "LOC"]
    assert not named.report.problems


@pytest.mark.parametrize("other", ["NN NN NNP", "O O O", "B-NP I-NP ,"])
def test_columns_that_are_no_tags_are_not_pointed_out(tmp_path: Path, other: str) -> None:
    path = tmp_path / "a.conll"
    path.write_text("".join(f"w\t{value}\t{tag}\n" for value, tag in zip(other.split(), "OOO", strict=True)))
    corpus = read(path)
    assert len(list(corpus)) == 1
    assert not corpus.report.problems


def test_what_is_known_is_not_lost_silently(tmp_path):
    """A format without a place for partial annotation says so; JSONL has one."""
    from spanloom import Document, Mention, Sentence, write
    from spanloom.corpus import Known

    doc = Document([Sentence(["a", "b"], [Mention("X", ((0, 1),))], known=Known(labels=("X",)))])
    told = [str(problem) for problem in write([doc], tmp_path / "a.conll").problems]
    assert any("annotated in part (1 times)" in one for one in told)
    assert not write([doc], tmp_path / "a.jsonl").problems
