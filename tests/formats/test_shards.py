"""Compressed files, patterns and folders of files; other encodings; what is kept of a job that fails."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from spanloom import CorpusError, Document, Mention, Sentence, read, write
from spanloom.base.errors import ParameterError
from spanloom.formats import Report


def doc(id: str) -> Document:
    return Document([Sentence(["Anna", "sings", "."], [Mention("PER", ((0, 1),), 0.5)])], id)


def ids(ref: str | Path) -> list[str]:
    return [d.id for d in read(ref)]


@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize("format", ["jsonl", "conll", "conllu", "prodigy", "pubtator"])
def test_compressed_files_are_read_and_written(tmp_path: Path, ending: str, format: str) -> None:
    if ending == "zst":
        pytest.importorskip("zstandard")
    plain, packed = tmp_path / "a", tmp_path / f"a.{format}.{ending}"
    write([doc("a"), doc("b")], f"{format}:{plain}")
    write([doc("a"), doc("b")], f"{format}:{packed}")
    first = packed.read_bytes()
    assert not first.startswith(plain.read_bytes()[:10])
    if ending == "gz":
        assert gzip.decompress(first) == plain.read_bytes()
    assert [d.mentions for d in read(f"{format}:{packed}")] == [d.mentions for d in read(f"{format}:{plain}")]
    write([doc("a"), doc("b")], f"{format}:{packed}")
    assert packed.read_bytes() == first


def test_the_format_of_a_compressed_file_is_that_of_its_name(tmp_path: Path) -> None:
    write([doc("a")], tmp_path / "a.jsonl.gz")
    assert ids(tmp_path / "a.jsonl.gz") == ["a"]
    with pytest.raises(ParameterError, match=r"spacy is not read or written compressed"):
        read("a.spacy.gz")


def test_damaged_archives_are_errors_that_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    write([doc(str(k)) for k in range(50)], path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(CorpusError, match=r"a\.jsonl\.gz: cannot be unpacked"):
        ids(path)
    path.write_bytes(b"no archive")
    with pytest.raises(CorpusError, match=r"a\.jsonl\.gz: cannot be unpacked"):
        ids(path)


def test_patterns_and_folders_are_read_in_the_order_of_names(tmp_path: Path) -> None:
    write([doc("b")], tmp_path / "part-2.jsonl.gz")
    write([doc("a")], tmp_path / "part-1.jsonl.gz")
    (tmp_path / "more").mkdir()
    write([doc("c")], tmp_path / "more" / "x.jsonl")
    assert ids(f"{tmp_path}/*.jsonl.gz") == ["a", "b"]
    assert ids(f"jsonl:{tmp_path}/part*") == ["a", "b"]
    assert ids(tmp_path) == ids(f"jsonl:{tmp_path}") == ["c", "a", "b"]
    with pytest.raises(CorpusError, match="no file matches"):
        ids(f"{tmp_path}/*.ndjson")
    with pytest.raises(CorpusError, match=r"no file of the format conll .*a pattern may name others"):
        ids(f"conll:{tmp_path}")
    write([doc("t")], tmp_path / "t.conll")
    with pytest.raises(ParameterError, match="cannot tell the format"):
        ids(tmp_path)


def test_a_pattern_over_brat_reads_each_pair_once(tmp_path: Path) -> None:
    write([doc("a"), doc("b")], f"brat:{tmp_path}/in")
    assert ids(f"brat:{tmp_path}/in/*") == ["a", "b"]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252"])
def test_other_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.conll"
    path.write_bytes("Århus B-LOC\nsynger O\n".encode(encoding))
    if encoding != "utf-16":  # whose bytes happen to be lines of UTF-8 with zeros in between
        with pytest.raises(CorpusError, match=r"a\.conll:1: not UTF-8.*'conll:.*encoding=cp1252'"):
            list(read(path))
    assert [d.tokens for d in read(path, encoding=encoding)] == [["Århus", "synger"]]
    with pytest.raises(ParameterError, match="no encoding that Python knows"):
        list(read(path, encoding="klingon"))


def test_what_was_done_before_an_error_is_kept(tmp_path: Path) -> None:
    """The third document cannot be read: the first two are in a whole file of another name."""

    def docs() -> Iterator[Document]:
        yield doc("a")
        yield doc("b")
        raise CorpusError("no JSON", "in.jsonl:3")

    for ref in ("jsonl:out.jsonl", "jsonl:out.jsonl.gz", "brat:folder", "parquet:out.parquet"):
        format, _, name = ref.partition(":")
        if format == "parquet":
            pytest.importorskip("pyarrow")
        target = tmp_path / name
        with pytest.raises(CorpusError) as caught:
            write(docs(), f"{format}:{target}")
        assert str(caught.value) == f"in.jsonl:3: no JSON\nthe 2 documents before it are in {target}.partial"
        assert not target.exists()
        partial = tmp_path / f"{name}.partial"
        if name.endswith(".gz"):
            partial = partial.rename(tmp_path / "partial.jsonl.gz")
        assert ids(f"{format}:{partial}") == ["a", "b"]


def test_nothing_is_kept_of_nothing(tmp_path: Path) -> None:
    def docs() -> Iterator[Document]:
        raise CorpusError("no JSON", "in.jsonl:1")
        yield

    with pytest.raises(CorpusError, match=r"no JSON$"):
        write(docs(), tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("before", [0, 2])
def test_an_interrupted_job_leaves_what_was_done(tmp_path: Path, before: int) -> None:
    def docs() -> Iterator[Document]:
        yield from (doc("a") for _ in range(before))
        raise KeyboardInterrupt

    said = r"^interrupted; the 2 documents done before are in .*out\.jsonl\.partial$" if before else "^$"
    with pytest.raises(KeyboardInterrupt, match=said):
        write(docs(), tmp_path / "out.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl.partial"] * bool(before)
    assert not before or len(list(read(f"jsonl:{tmp_path}/out.jsonl.partial"))) == before


def test_a_lenient_report_goes_on_with_the_next_file(tmp_path: Path) -> None:
    """Also where a file as a whole cannot be read."""
    (tmp_path / "a.txt").write_bytes(b"\xff")
    (tmp_path / "b.txt").write_text("Anna sings.")
    report = Report(strict=False)
    found = [d.id for name in "ab" for d in read(tmp_path / f"{name}.txt").stream(report)]
    assert found == ["b.txt"]
    assert [(p.kind, p.where) for p in report.problems] == [("unreadable", f"{tmp_path}/a.txt:1")]


def test_outputs_are_checked_before_the_documents_are_asked_for(tmp_path: Path) -> None:
    def never() -> Iterator[Document]:
        pytest.fail("work was done before the output was checked")
        yield

    with pytest.raises(FileNotFoundError) as caught:
        write(never(), tmp_path / "no" / "out.jsonl")
    assert caught.value.filename == str(tmp_path / "no")
    with pytest.raises(IsADirectoryError):
        write(never(), f"jsonl:{tmp_path}")


def test_a_partial_folder_has_nothing_of_the_one_before(tmp_path: Path) -> None:
    def docs(*ids: str) -> Iterator[Document]:
        yield from map(doc, ids)
        raise CorpusError("no JSON", "in.jsonl:3")

    for ids_ in (("a", "b"), ("c",)):
        with pytest.raises(CorpusError, match="partial"):
            write(docs(*ids_), f"brat:{tmp_path}/out")
    assert ids(f"brat:{tmp_path}/out.partial") == ["c"]
