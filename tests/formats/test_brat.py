"""brat folders: discontinuous mentions, attributes, relations that come along, and broken lines."""

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom import CorpusError, Document, Mention, read, write
from spanloom.base.errors import ParameterError
from spanloom.corpus import make_document
from spanloom.formats import Report
from tests.formats.random_documents import documents, everything

TEXT = "Human and mouse IL-2 genes\nwere cloned. Both bind."
ANN = """T1\tDNA 16 26\tIL-2 genes
T2\tDNA 0 5;16 26\tHuman IL-2 genes
T3\tGroup 10 26;27 31\tmouse IL-2 genes were
A1\tNegation T1
A2\tConfidence T1 high
#1\tAnnotatorNotes T2\tsee the figure
N1\tReference T1 Wiki:1\ta gene
R1\tPart Arg1:T1 Arg2:T2
"""


def folder_with(root: Path, ann: str, text: str = TEXT) -> Path:
    (root / "sub").mkdir()
    (root / "sub" / "a.txt").write_text(text)
    (root / "sub" / "a.ann").write_text(ann)
    return root


def test_a_folder(tmp_path: Path) -> None:
    (doc,) = read(folder_with(tmp_path, ANN))
    assert doc.id == "sub/a"
    by_label = {doc.surface(m): m for m in doc.mentions}
    assert set(by_label) == {"IL-2 genes", "Human … IL-2 genes", "mouse IL-2 genes\nwere"}
    assert by_label["IL-2 genes"].attributes == {
        "Negation": "",
        "Confidence": "high",
        "Reference": "Wiki:1 a gene",
        "id": "T1",
    }
    assert by_label["Human … IL-2 genes"].attributes["AnnotatorNotes"] == "see the figure"
    # The mention over the line break is one part, and no sentence ends inside it.
    assert len(by_label["mouse IL-2 genes\nwere"].parts) == 1
    assert doc.meta == {"brat": ["R1\tPart Arg1:T1 Arg2:T2"]}


def test_relations_survive_rewriting(tmp_path: Path) -> None:
    folder_with(tmp_path, ANN)
    docs = list(read(tmp_path))
    write(docs, f"brat:{tmp_path}/again")
    lines = (tmp_path / "again" / "sub" / "a.ann").read_text().splitlines()
    assert "T2\tDNA 0 5;16 26\tHuman IL-2 genes" in lines
    assert "N3\tReference T1 Wiki:1\ta gene" in lines
    assert "R1\tPart Arg1:T1 Arg2:T2" in lines
    assert everything(list(read(f"brat:{tmp_path}/again"))) == everything(docs)


def characters(docs: list[Document]) -> list[object]:
    """What brat holds: ids, texts, and mentions by characters ."""
    return [
        (
            d.id,
            d.text,
            sorted((m.label, d.surface(m), d.chars(m), m.prob or -1, sorted(m.attributes.items())) for m in d.mentions),
        )
        for d in docs
    ]


@settings(max_examples=40, deadline=None)
@given(documents())
def test_round_trip_of_every_kind_of_mention(docs: list[Document]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(docs, f"brat:{folder}/out")
        if docs:
            again = list(read(f"brat:{folder}/out", align="split"))
            assert characters(again) == characters(docs)


@settings(max_examples=25, deadline=None)
@given(documents(rich=False, spaced=True, gap="\n"))
def test_tokenised_text_comes_back_token_by_token(docs: list[Document]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(docs, f"brat:{folder}/out")
        if docs:
            assert everything(list(read(f"brat:{folder}/out", tokens="space", sentences="lines"))) == everything(docs)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("T1\tDNA 0\tHuman", "expected 'ID<tab>LABEL START END"),
        ("T1\tDNA 0 5\tMouse", "is said to be 'Mouse', but the text has 'Human'"),
        ("T1\tDNA 0 500\tHuman", r"\(0, 500\) is not a range of a text of 50"),
        ("T1\tDNA 5 0\tHuman", r"\(5, 0\) is not a range"),
        ("T1\tDNA 1 1\t", r"\(1, 1\) is not a range"),
        ("T1\tDNA 0 3\tHum", "does not end on a token edge; the nearest are 0 and 5"),
        ("T1\tDNA 5 6\t ", "white space only"),
        ("A1\tNegation T9", "T9, which is not there"),
        ("T1\tDNA 0 5\tHuman\nT1\tDNA 6 9\tand", "T1 occurs twice"),
        ("nonsense", "must begin with"),
    ],
)
def test_bad_annotations_are_named_with_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(CorpusError, match=r"a\.ann:[12]: .*" + message):
        list(read(folder_with(tmp_path, line + "\n")))


def test_annotations_without_text(tmp_path: Path) -> None:
    (tmp_path / "a.ann").write_text("T1\tx 0 1\ta\n")
    with pytest.raises(CorpusError, match=r"a\.txt: No such file"):
        list(read(tmp_path))


def test_text_without_annotations(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("No mention here.")
    (doc,) = read(f"brat:{tmp_path}")
    assert doc.tokens == ["No", "mention", "here", "."]


@pytest.mark.parametrize("id", ["../up", "/root", "a/../../b"])
def test_ids_cannot_leave_the_folder(tmp_path: Path, id: str) -> None:
    with pytest.raises(CorpusError, match="cannot be a file name"):
        write([Document([], id)], f"brat:{tmp_path}/out")
    assert list(tmp_path.iterdir()) == []


def test_two_documents_of_one_id(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="two documents"):
        write([Document([], "a"), Document([], "a")], f"brat:{tmp_path}/out")


def test_labels_with_spaces_are_refused(tmp_path: Path) -> None:
    from spanloom import Sentence

    doc = Document([Sentence(["a"], [Mention("cell type", ((0, 1),))])], "a")
    with pytest.raises(CorpusError, match="'cell type' has white space"):
        write([doc], f"brat:{tmp_path}/out")


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=40) | st.text("T1A#R\t 0;5-DNaé\n", max_size=40).map(str.encode), st.binary(max_size=10))
def test_any_bytes_give_documents_or_a_corpus_error_with_its_file(ann: bytes, text: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.ann").write_bytes(ann)
        (Path(folder) / "a.txt").write_bytes(text)
        message = "a.ann:"
        try:
            list(read(folder))
        except CorpusError as error:
            message = str(error)
        assert "a.ann:" in message or "a.txt:" in message


def test_existing_annotations_are_refused_unless_told_otherwise(tmp_path: Path) -> None:
    """Tagging again must not cost hand corrections."""
    target = tmp_path / "out"
    write([make_document("Anna sings.", "a")], f"brat:{target}")
    (target / "a.ann").write_text("T1\tPER 0 4\tAnna\n")
    with pytest.raises(CorpusError, match=r"a\.ann already, maybe corrected by hand.*overwrite=yes"):
        write([make_document("Anna sings.", "a")], f"brat:{target}")
    assert (target / "a.ann").read_text() == "T1\tPER 0 4\tAnna\n"
    write([make_document("Anna sings.", "a")], f"brat:{target}?overwrite=yes")
    assert (target / "a.ann").read_text() == ""


def test_only_files_of_the_same_names_are_in_the_way(tmp_path: Path) -> None:
    """What was done before a document whose files are there is kept elsewhere."""
    target = tmp_path / "out"
    docs = [make_document(f"{name} sings.", name) for name in ("Anna", "Bert", "Carl", "Dora")]
    write(docs[:1], f"brat:{target}")
    write(docs[1:3], f"brat:{target}")
    before = {p.name: p.read_bytes() for p in target.iterdir()}
    assert sorted(before) == sorted(f"{doc.id}{ending}" for doc in docs[:3] for ending in (".ann", ".txt"))
    with pytest.raises(CorpusError, match=r"Carl\.ann already.*\n.*the document before it is in .*out\.partial"):
        write([docs[3], docs[2]], f"brat:{target}")
    assert {p.name: p.read_bytes() for p in target.iterdir()} == before
    assert [doc.id for doc in read(f"brat:{target}.partial")] == ["Dora"]


def test_probabilities_have_as_many_digits_as_are_wanted(tmp_path: Path) -> None:
    """By default none is lost; a few never make a mention certain."""
    doc = make_document("Anna sings in Rome .", "a")
    probs = [0.12345678901234567, 0.9999999432101234, 1.0, 2.3456789012e-7]
    doc.sentences[0].mentions += [Mention("x", ((k, k + 1),), prob) for k, prob in enumerate(probs)]
    for options, expected in (("", probs), ("?digits=6", [0.123457, 0.9999999, 1.0, 2.34568e-7])):
        write([doc], f"brat:{tmp_path}/out{options}", overwrite="yes")
        assert [m.prob for d in read(tmp_path / "out") for m in d.mentions] == expected
    with pytest.raises(ParameterError, match="digits='x' must be a number from 1 to 17"):
        write([doc], f"brat:{tmp_path}/none?digits=x")


def test_an_edited_text_is_not_mended_by_alignment(tmp_path: Path) -> None:
    """The way out that is named must be one."""
    (tmp_path / "a.txt").write_text("Dear Anna sings.")
    (tmp_path / "a.ann").write_text("T1\tPER 0 4\tAnna\nT2\tPER 2 6\tnna \n")
    with pytest.raises(CorpusError, match=r"text-mismatch.*give the text that was annotated") as caught:
        list(read(tmp_path))
    assert "misaligned" in str(caught.value)
    assert "align=" not in str(caught.value)


def test_a_single_ann_is_a_pair_of_files(tmp_path: Path) -> None:
    """Beside the text that was tagged: it is the same and stays; another text is not replaced."""
    text = tmp_path / "chapter.1.txt"
    text.write_bytes(b"\xef\xbb\xbfAnna sings.")
    doc = make_document("Anna sings.", "x")
    doc.sentences[0].mentions.append(Mention("PER", ((0, 1),)))
    write([doc], tmp_path / "chapter.1.ann")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["chapter.1.ann", "chapter.1.txt"]
    assert [d.mentions for d in read(tmp_path / "chapter.1.ann")] == [[Mention("PER", ((0, 1),))]]
    with pytest.raises(CorpusError, match="already"):
        write([doc], tmp_path / "chapter.1.ann")
    (tmp_path / "other.txt").write_text("Bert sings.")
    with pytest.raises(CorpusError, match="another text"):
        write([doc], tmp_path / "other.ann")
    assert not (tmp_path / "other.ann").exists()
    with pytest.raises(CorpusError, match=r"holds one document.*folder"):
        write([doc, doc], tmp_path / "two.ann")
    assert not (tmp_path / "two.ann").exists()


def test_a_path_is_named_once_and_the_encoding_to_try(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("Århus".encode("latin-1"))
    (tmp_path / "a.ann").write_text("")
    with pytest.raises(CorpusError) as caught:
        list(read(f"brat:{tmp_path}"))
    assert str(caught.value).count("a.txt") == 1
    (typed,) = re.findall(r"'(brat:[^']*)'", str(caught.value))
    assert [doc.text for doc in read(typed)] == ["Århus"]


def test_misaligned_mentions_say_the_reference_to_type(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Annabelle sings.")
    (tmp_path / "a.ann").write_text("T1\tPER 0 4\tAnna\n")
    with pytest.raises(CorpusError) as caught:
        list(read(f"brat:{tmp_path}"))
    (typed,) = re.findall(r"'(brat:[^']*)'", str(caught.value))
    assert typed == f"brat:{tmp_path}?align=expand"
    assert [doc.mentions for doc in read(typed)] == [[Mention("PER", ((0, 1),))]]


def test_documents_of_text_files_keep_their_names(tmp_path: Path) -> None:
    """And not chapter.txt.txt."""
    (tmp_path / "chapter.txt").write_text("Anna sings.")
    write(read(tmp_path / "chapter.txt"), f"brat:{tmp_path}/out")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["chapter.ann", "chapter.txt"]


def test_a_probability_whose_mention_was_deleted_by_hand_is_left_out(tmp_path: Path) -> None:
    """spanloom wrote the note, and who deletes a wrong mention does not know of it; other notes are the user's."""
    ann = "T1\tDNA 16 26\tIL-2 genes\n#1\tprob T1\t0.75\nT2\tDNA 0 5\tHuman\n#2\tprob T2\t0.5\n"
    folder_with(tmp_path, ann.replace("T2\tDNA 0 5\tHuman\n", ""))
    corpus = read(tmp_path)
    (doc,) = corpus
    assert [(m.label, m.prob) for m in doc.mentions] == [("DNA", 0.75)]
    (problem,) = corpus.report.problems
    assert (problem.severity, problem.kind) == ("warning", "dangling")
    (tmp_path / "sub" / "a.ann").write_text("A1\tNegation T2\n")
    with pytest.raises(CorpusError, match="Negation is about T2, which is not there"):
        list(read(tmp_path))


def test_what_is_kept_of_faulty_documents_is_said_as_it_is(tmp_path: Path) -> None:
    """Faults within documents end the reading after the last of them, so that they are kept too."""
    folder_with(tmp_path, "A1\tNegation T2\n")
    with pytest.raises(
        CorpusError, match=r"\nthe document that could be read, without what is wrong there, is in .*/out"
    ):
        write(read(tmp_path / "sub"), f"brat:{tmp_path}/out")
    assert [d.id for d in read(f"brat:{tmp_path}/out.partial")] == ["a"]


def test_texts_without_annotation_file_are_pointed_out_where_they_count_as_gold(tmp_path: Path) -> None:
    folder_with(tmp_path, ANN)
    for name in "bcde":
        (tmp_path / f"{name}.txt").write_text("Nobody has read this.")
    for replaced, warnings in ((False, 1), (True, 0)):
        report = Report(replaced=replaced)
        assert len(list(read(tmp_path).stream(report))) == 5
        assert len(report.problems) == warnings
        if warnings:
            assert "4 of 5 texts have no .ann file" in str(report.problems[0])
            assert "b.txt, c.txt, d.txt …;" in str(report.problems[0])
            assert report.problems[0].severity == "warning"
