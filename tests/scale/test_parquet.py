"""Parquet in and out: the rows as they are, row group by row group, with a column of mentions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from extras import needs
from spanloom import Recognizer, read, write
from spanloom.base.errors import CorpusError
from spanloom.formats.jsonl import to_dict
from spanloom.scale import TagSettings, tag_files
from spanloom.scale.arrow import ColumnTagger

from .test_batches import here

needs("pyarrow")

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

pytestmark = pytest.mark.extras
TEXTS = [doc.text for doc in read("sample:train")]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [{"pmid": i, "title": "IL-2 gene" if i % 3 else None, "body": text} for i, text in enumerate(TEXTS)]
    path = tmp_path / "in.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=7)
    return path


def expected(ner: Recognizer, texts: list[str]) -> list[list[dict[str, Any]]]:
    """The mentions of texts by the way through objects."""
    found = [to_dict(ner.predict(text), chars=True)["mentions"] for text in texts]
    plain = [
        [{**m, "parts": [[*p] for p in m["parts"]], "chars": [[*p] for p in m["chars"]]} for m in own] for own in found
    ]
    return [[{"prob": None, **mention} for mention in own] for own in plain]


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_rows_get_a_column_of_mentions(loom: Path, table: Path, tmp_path: Path, size: int) -> None:
    report = tag_files(loom, [f"parquet:{table}?text=body"], tmp_path / "out", shard_bytes=size, engine=here)
    parts = [pq.read_table(path) for path in sorted((tmp_path / "out").glob("*.parquet"))]
    assert len(parts) == (1 if size > 1 else -(-len(TEXTS) // 7))
    found = pa.concat_tables(parts)
    assert found.drop_columns(["mentions"]).equals(pq.read_table(table))
    ner = Recognizer.load(loom, threads=1)
    wanted = expected(ner, TEXTS)
    assert found.column("mentions").to_pylist() == wanted
    assert report.documents == len(TEXTS)
    assert sum(report.mentions.values()) == sum(map(len, wanted)) > 0
    assert tag_files(
        loom, [f"parquet:{table}?text=body"], tmp_path / "out", shard_bytes=size, engine=here, resume=True
    ).kept


def test_texts_of_several_columns_are_kept_beside_them(loom: Path, table: Path, tmp_path: Path) -> None:
    tag_files(loom, [f"parquet:{table}?text=title,body&id=pmid"], tmp_path / "out", engine=here)
    found = pq.read_table(tmp_path / "out" / "in.parquet")
    assert found.column_names == ["pmid", "title", "body", "text", "mentions"]
    assert found.column("text").to_pylist()[:2] == [TEXTS[0], f"IL-2 gene\n{TEXTS[1]}"]


def test_lines_of_rows_and_rows_of_lines(loom: Path, table: Path, tmp_path: Path) -> None:
    tag_files(loom, [f"parquet:{table}?text=body&id=pmid"], tmp_path / "a", settings=TagSettings("jsonl"), engine=here)
    docs = list(read(f"parquet:{table}?text=body&id=pmid"))
    ner = Recognizer.load(loom, threads=1)
    assert list(read(tmp_path / "a" / "in.jsonl")) == ner.predict(docs)
    write(docs, tmp_path / "docs.jsonl")
    tag_files(loom, [f"{tmp_path}/docs.jsonl"], tmp_path / "b", settings=TagSettings("parquet"), engine=here)
    assert list(read(tmp_path / "b" / "docs.parquet")) == ner.predict(docs)
    tag_files(loom, [f"{tmp_path}/b/docs.parquet"], tmp_path / "c", engine=here)  # our own files, with tokens
    assert list(read(tmp_path / "c" / "docs.parquet")) == ner.predict(docs)


def test_probabilities_and_discontinuous_mentions_have_a_place(loom: Path, tmp_path: Path) -> None:
    ner = Recognizer.load(loom, threads=1)
    found = ColumnTagger(ner, probabilities=True).tag(TEXTS).to_pylist()
    assert [[m["prob"] for m in own] for own in found] == [
        [m.prob for m in doc.mentions] for doc in ner.predict(TEXTS, probabilities=True)
    ]


def test_a_file_without_rows_keeps_its_columns(loom: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "none.parquet")
    tag_files(loom, [f"{tmp_path}/none.parquet"], tmp_path / "out", engine=here)
    found = pq.read_table(tmp_path / "out" / "none.parquet")
    assert (found.num_rows, found.column_names) == (0, ["text", "mentions"])


def test_what_is_wrong_is_said(loom: Path, table: Path, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"no column 'text'; there are pmid, title, body.*text=body"):
        tag_files(loom, [str(table)], tmp_path / "out", engine=here)
    with pytest.raises(CorpusError, match="column 'pmid' must be text, not int64"):
        tag_files(loom, [f"parquet:{table}?text=pmid"], tmp_path / "other", engine=here)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(CorpusError, match="not Parquet"):
        tag_files(loom, [f"{tmp_path}/bad.parquet"], tmp_path / "third", engine=here)


def test_one_file_has_our_columns_and_a_folder_those_of_the_input(loom: Path, table: Path, tmp_path: Path) -> None:
    """As docs/formats.md says."""
    from running import run

    source = f"parquet:{table}?text=body&id=pmid"
    for out, columns in (
        ("one.parquet", "id text tokens offsets sentences mentions columns features meta"),
        ("out/", "pmid title body mentions"),
    ):
        done = run("tag", loom, source, "-o", f"{tmp_path}/{out}", *(["--jobs", "1"] if out == "out/" else []))
        assert done.returncode == 0, done.stderr
        path = tmp_path / ("out/in.parquet" if out == "out/" else out)
        assert pq.read_schema(path).names == columns.split()
        assert pq.read_table(path).num_rows == len(TEXTS)
    assert '"title"' in pq.read_table(tmp_path / "one.parquet").column("meta").to_pylist()[1]
