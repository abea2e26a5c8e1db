"""Records of any shape: the user says which fields are text and id. And probabilities, wherever they have a place."""

from __future__ import annotations

import datetime
import gzip
import json
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom import CorpusError, Document, Mention, Sentence, read, write
from spanloom.base.errors import ParameterError
from spanloom.formats import Report

ROWS = [
    {"pmid": 17, "title": "IL-2", "abstract": "It binds.\nIt does.", "year": 1999},
    {"pmid": 18, "title": "NF-kappa B", "abstract": None, "year": 2001},
]
TEXTS = [("17", "IL-2\nIt binds.\nIt does."), ("18", "NF-kappa B")]


def found(ref: str | Path) -> list[tuple[str, str]]:
    return [(doc.id, doc.text) for doc in read(ref)]


def test_json_lines_of_any_shape(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    assert found(f"{path}?text=title,abstract&id=pmid") == TEXTS
    (first, _) = read(path, text="title,abstract", id="pmid")
    assert first.meta == {"year": 1999}
    assert first.sentences[0].tokens == ["IL", "-", "2"]


def test_unknown_records_say_what_to_type(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"abstract": "It binds."}) + "\n")
    with pytest.raises(CorpusError, match="unknown field 'abstract'") as caught:
        found(path)
    (typed,) = re.findall(r"'(jsonl:[^']*)'", str(caught.value))
    assert found(typed) == [("", "It binds.")]
    with pytest.raises(CorpusError, match=r"no field 'x'; there are abstract\..*\?text=abstract'"):
        found(f"{path}?text=x")
    path.write_text(json.dumps({"abstract": 3}) + "\n")
    with pytest.raises(CorpusError, match=r":1: field 'abstract' must be text, not 3"):
        found(f"{path}?text=abstract")


@pytest.mark.parametrize(("name", "between"), [("a.csv", ","), ("a.tsv", "\t"), ("a.csv.gz", ",")])
def test_csv_with_quotes_and_line_breaks(tmp_path: Path, name: str, between: str) -> None:
    rows = [["pmid", "title", "abstract"], ["17", '"IL-2"', '"It binds.\nIt does."'], [], ["18", '"a, ""b"""', ""]]
    content = "".join(between.join(row) + "\n" for row in rows).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert found(f"{tmp_path / name}?text=title,abstract&id=pmid") == [TEXTS[0], ("18", 'a, "b"')]


@pytest.mark.parametrize("between", [";", "\t", "|"])
def test_another_separator_is_proposed_in_words_that_work(tmp_path: Path, between: str) -> None:
    path = tmp_path / "s.csv"
    path.write_text(f"pmid{between}abstract\n17{between}IL-2, it binds.\n")
    for options in ("?text=abstract&id=pmid", f"?text=abstract&id=pmid&separator={'|' if between == ';' else ';'}"):
        with pytest.raises(CorpusError, match="one column only") as caught:
            found(f"{path}{options}")
        (typed,) = re.findall(r"'(csv:[^']*)'", str(caught.value))
        assert found(typed) == [("17", "IL-2, it binds.")]


def test_no_field_is_proposed_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("doc_id,body\n17,It binds.\n")
    for options in ("text=abstract&id=pmid", "text=body&id=pmid", "text=abstract&id=doc_id"):
        with pytest.raises(CorpusError, match="no field") as caught:
            found(f"{path}?{options}")
        (typed,) = re.findall(r"'(csv:[^']*)'", str(caught.value))
        assert found(typed) == [("17", "It binds.")]
    path.write_text("number,body\n17,It binds.\n")
    with pytest.raises(CorpusError, match=r"\?text=body'"):
        found(f"{path}?text=abstract&id=pmid")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("pmid,abstract\n1,a\n", r"a\.csv:1: no field 'text'; there are pmid, abstract\..*'csv:.*\?text=abstract'"),
        ("text\na\nb,c\n", r"a\.csv:3: 2 fields, but 1 in the first row"),
        ('text\na\n"b\nc', r"a\.csv:3: unexpected end of data"),
    ],
)
def test_bad_csv_names_the_line(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(CorpusError, match=message):
        found(tmp_path / "a.csv")


def test_csv_ids_and_separators(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id;text\n7;a, b\n")
    assert found(f"{path}?separator=;") == [("7", "a, b")]
    with pytest.raises(ParameterError, match="tab or one character"):
        found(f"{path}?separator=;;")
    path.write_text(f"text\n{'a ' * 100_000}\n")
    assert len(found(path)[0][1]) > 131_072  # the limit of Python's reader


def test_parquet_of_any_shape(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    rows = [{**row, "date": datetime.date(2020, 1, 2)} for row in ROWS]
    parquet.write_table(arrow.Table.from_pylist(rows), path)
    assert found(f"{path}?text=title,abstract&id=pmid") == TEXTS
    assert next(iter(read(path, text="title"))).meta["date"] == "2020-01-02"
    with pytest.raises(CorpusError, match=r"row 1: no field 'text'; there are pmid, title.*text=title,abstract'"):
        found(path)


def test_parquet_mentions_have_characters_text_and_probability(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    sentence = Sentence(["alpha", "and", "beta", "globin"], [Mention("P", ((0, 1), (3, 4)), 0.25)])
    write([Document([Sentence(["So", "."]), sentence], "d")], tmp_path / "a.parquet")
    (row,) = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    (mention,) = row["mentions"]
    # "So ." and the newline are 5 characters; alpha is (5, 10), globin (20, 26) of the text.
    assert mention["chars"] == [[5, 10], [20, 26]]
    assert (mention["text"], mention["prob"]) == ("alpha … globin", 0.25)
    assert [m.prob for d in read(tmp_path / "a.parquet") for m in d.mentions] == [0.25]


@pytest.mark.parametrize(
    ("format", "package"),
    [
        ("jsonl", ""),
        ("brat", ""),
        ("prodigy", ""),
        ("doccano", ""),
        ("labelstudio", ""),
        ("bioc", "bioc"),
        ("spacy", "spacy"),
        ("parquet", "pyarrow"),
    ],
)
def test_probabilities_come_back(tmp_path: Path, format: str, package: str) -> None:
    """Also beside mentions that have none."""
    if package:
        pytest.importorskip(package)
    mentions = [Mention("a", ((0, 1),), 0.125), Mention("b", ((0, 2),)), Mention("c", ((2, 3),), 1.0)]
    report = write([Document([Sentence(["one", "two", "three"], mentions)], "d")], f"{format}:{tmp_path}/out")
    assert not report.problems
    (doc,) = read(f"{format}:{tmp_path}/out")
    assert [(m, m.prob) for m in sorted(doc.mentions)] == [(m, m.prob) for m in mentions]


def test_probabilities_are_where_other_programs_look_for_them(tmp_path: Path) -> None:
    """The raw fields of files, without our readers."""
    mentions = [Mention("a", ((0, 1),), 0.125), Mention("b", ((1, 3),), 0.5)]
    for format in ("jsonl", "brat", "prodigy", "doccano", "labelstudio"):
        write([Document([Sentence(["one", "two", "three"], mentions)], "d")], f"{format}:{tmp_path}/{format}")
    lines = {name: (tmp_path / name) for name in ("jsonl", "prodigy", "doccano", "labelstudio")}
    told = {name: json.loads(path.read_text().splitlines()[0]) for name, path in lines.items() if name != "labelstudio"}
    assert [m["prob"] for m in told["jsonl"]["mentions"]] == [0.125, 0.5]
    assert [span["score"] for span in told["prodigy"]["spans"]] == [0.125, 0.5]
    assert told["doccano"]["scores"] == [0.125, 0.5]
    task = json.loads(lines["labelstudio"].read_text().splitlines()[0])
    (results,) = [one["result"] for one in [*task.get("predictions", []), *task.get("annotations", [])]]
    assert [region["score"] for region in results] == [0.125, 0.5]
    notes = [line for path in (tmp_path / "brat").rglob("*.ann") for line in path.read_text().splitlines()]
    assert [line.split("\t")[1:] for line in notes if line.startswith("#")] == [
        ["prob T1", "0.125"],
        ["prob T2", "0.5"],
    ]


@given(st.binary(max_size=60) | st.text('ab,"\n\r\t', max_size=60).map("text,id\n{}".format).map(str.encode))
@settings(deadline=None)
def test_any_bytes_are_documents_or_an_error_with_the_file(raw: bytes) -> None:
    for name, content in (("a.csv", raw), ("a.jsonl.gz", raw), ("b.jsonl.gz", gzip.compress(raw))):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, name).write_bytes(content)
            for strict in (True, False):
                message = name
                try:
                    list(read(Path(folder, name), text="text").stream(Report(strict=strict)))
                except CorpusError as error:
                    message = str(error) if strict else "a lenient report does not raise"
                assert name in message
