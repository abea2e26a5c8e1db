"""Frames of mentions: pandas, Polars, Arrow and DuckDB, against ``Recognizer.predict``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extras import needs

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("ignore")]
needs("pyarrow", "pandas", "polars", "duckdb")

import duckdb  # noqa: E402
import pandas  # noqa: E402
import polars  # noqa: E402
import pyarrow  # noqa: E402

from spanloom import Recognizer, frames, read  # noqa: E402
from spanloom._native import TokenizedTexts  # noqa: E402
from spanloom.base.errors import ParameterError  # noqa: E402
from spanloom.learning import LBFGS, Auto  # noqa: E402

TEXTS = [*(doc.text for doc in read("sample:test")), None, "", "Ünïcode β and IL-2 gene in T cells. 細胞 CD4."]
ROWS = {"pmid": list(range(100, 100 + len(TEXTS))), "abstract": TEXTS}


def test_a_string_is_one_column(edge: Recognizer) -> None:
    table = pyarrow.table(ROWS)
    assert frames.tag(table, edge, text="abstract", keep="pmid") == frames.tag(
        table, edge, text="abstract", keep=["pmid"]
    )
    with pytest.raises(ParameterError, match=r"no column 'pmidd'; there are pmid, abstract\. keep=… names columns"):
        frames.tag(table, edge, text="abstract", keep="pmidd")


@pytest.fixture(scope="module")
def edge() -> Recognizer:
    return Recognizer("chain", keep="longest", trainer=LBFGS(max_iter=15)).fit(read("sample:train"))


@pytest.fixture(scope="module")
def multilabel() -> Recognizer:
    return Recognizer("multilabel", trainer=Auto(max_iter=4)).fit(read("sample:train"))


def expected(ner: Recognizer, **asked: Any) -> list[dict[str, Any]]:
    rows = []
    for row, text in enumerate(TEXTS):
        doc = ner.predict(text or "", **asked)
        for m in doc.mentions:
            chars = [list(part) for part in doc.chars(m)]
            found = {"row": row, "pmid": 100 + row, "label": m.label, "start": chars[0][0], "end": chars[-1][1]}
            rows.append({**found, "text": doc.surface(m), "prob": m.prob, "chars": chars})
    return rows


def rows_of(table: Any) -> list[dict[str, Any]]:
    return [{**row, "prob": None if row["prob"] is None else pytest.approx(row["prob"], abs=1e-9)} for row in table]


FRAMES = {
    "arrow": lambda: pyarrow.table(ROWS),
    "batch": lambda: pyarrow.RecordBatch.from_pydict(ROWS),
    "chunks": lambda: pyarrow.concat_tables([pyarrow.table(ROWS).slice(0, 5), pyarrow.table(ROWS).slice(5)]),
    "large": lambda: pyarrow.table({**ROWS, "abstract": pyarrow.array(TEXTS, pyarrow.large_string())}),
    "polars": lambda: polars.DataFrame(ROWS),
    "pandas": lambda: pandas.DataFrame(ROWS, index=range(7, 7 + len(TEXTS))),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_the_same_kind_comes_out(edge: Recognizer, kind: str) -> None:
    frame = FRAMES[kind]()
    found = frames.tag(frame, edge, text="abstract", keep=["pmid"], probabilities=True)
    assert type(found).__module__.partition(".")[0] == type(frame).__module__.partition(".")[0]
    table = found.to_arrow() if kind == "polars" else pyarrow.Table.from_pandas(found) if kind == "pandas" else found
    assert rows_of(table.to_pylist()) == expected(edge, probabilities=True)
    assert list(found.columns if kind == "pandas" else table.column_names)[:3] == ["row", "pmid", "label"]


def test_discontinuous_mentions_have_several_ranges(multilabel: Recognizer) -> None:
    found = frames.tag(pyarrow.table(ROWS), multilabel, text="abstract", keep=["pmid"]).to_pylist()
    assert rows_of(found) == expected(multilabel, probabilities=False)
    assert any(len(row["chars"]) > 1 for row in found)


def test_a_model_file_is_opened(edge: Recognizer, tmp_path: Path) -> None:
    edge.save(tmp_path / "gene.loom")
    found = frames.tag(polars.DataFrame(ROWS), tmp_path / "gene.loom", text="abstract", above=0.3, threads=1)
    assert len(found) == len(expected(edge, above=0.3))
    assert set(found["label"]) <= set(edge.labels_)


def test_empty_frames_and_batches(edge: Recognizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts go through in batches of some characters; the answer does not depend on where they are cut."""
    whole = frames.tag(pyarrow.table(ROWS), edge, text="abstract")
    monkeypatch.setattr("spanloom.integrations.frames.BATCH_CHARACTERS", 300)
    assert frames.tag(pyarrow.table(ROWS), edge, text="abstract").equals(whole)
    for none in (pyarrow.table({"text": pyarrow.array([], pyarrow.string())}), pyarrow.table({"text": [None, None]})):
        assert frames.tag(none, edge).num_rows == 0
    assert frames.tag(polars.DataFrame({"text": []}, schema={"text": polars.String}), edge).shape[0] == 0


def test_arrow_texts_are_not_copied() -> None:
    """The native core reads the buffer of a column; offsets outside of it are refused."""
    data = np.frombuffer("IL-2 geneä b".encode(), np.uint8)
    cut = TokenizedTexts.of_utf8(data, np.array([0, 9, len(data)]))
    assert (cut.documents, cut.start.tolist(), cut.end.tolist()) == (2, [0, 2, 3, 5, 0, 2], [2, 3, 4, 9, 1, 3])
    for offsets in ([0, 99], [3, 1], [-1, 2]):
        with pytest.raises(ValueError, match="goes from byte"):
            TokenizedTexts.of_utf8(data, np.array(offsets))


def test_duckdb_calls_it(edge: Recognizer) -> None:
    connection = duckdb.connect()
    papers = pyarrow.table(ROWS)  # noqa: F841  DuckDB finds it by its name
    frames.connect_duckdb(connection, edge)
    query = "SELECT pmid, unnest(mentions(abstract), max_depth := 2) FROM papers"
    found = connection.execute(query).fetchall()
    wanted = expected(edge, probabilities=True)
    assert [row[:5] for row in found] == [(w["pmid"], w["label"], w["start"], w["end"], w["text"]) for w in wanted]
    assert [row[5] for row in found] == pytest.approx([w["prob"] for w in wanted])


def test_duckdb_has_a_table_of_mentions(edge: Recognizer, tmp_path: Path) -> None:
    """A macro that is called like a table function: of a table, a view, a query or a table of Arrow."""
    connection = duckdb.connect(tmp_path / "a.duckdb")
    papers = pyarrow.table(ROWS)  # noqa: F841
    frames.connect_duckdb(connection, edge, 'found "here"')
    connection.execute("CREATE TABLE stored AS SELECT * FROM papers")
    connection.execute("CREATE VIEW seen AS SELECT * FROM stored")
    scalar = 'SELECT *, unnest("found ""here"""(abstract), max_depth := 2) FROM papers'
    wanted = connection.execute(scalar).fetchall()
    assert len(wanted) > 10
    call = """FROM "found ""here""_in"('{}', 'abstract')"""
    for source in ("papers", "stored", "seen"):
        assert connection.execute(call.format(source)).fetchall() == wanted
    columns = [column[0] for column in connection.description]
    assert columns == ["pmid", "abstract", "label", "start_char", "end_char", "text", "prob"]
    last = f"WITH late AS (SELECT * FROM papers WHERE pmid > {wanted[-1][0] - 1})"
    assert connection.execute(f"{last} {call.format('late')}").fetchall() == [
        w for w in wanted if w[0] == wanted[-1][0]
    ]
    counts = connection.execute(f"SELECT label, count(*) {call.format('seen')} GROUP BY label").fetchall()
    assert dict(counts) == Counter(row[2] for row in wanted)
    with pytest.raises(duckdb.BinderException, match="abstracts"):
        connection.execute(call.format("seen").replace("abstract", "abstracts"))
    connection.close()
    with duckdb.connect(tmp_path / "a.duckdb") as again:  # what needs a model that is gone is not stored
        assert not again.execute("SELECT 1 FROM duckdb_functions() WHERE function_name LIKE 'found%'").fetchall()


def test_streams_of_arrow_give_tables(edge: Recognizer) -> None:
    """A table of DuckDB, or whatever else has Arrow's stream interface; DuckDB reads the answer by its name."""
    connection = duckdb.connect()
    papers = pyarrow.table(ROWS)
    wanted = frames.tag(papers, edge, text="abstract", keep="pmid")
    relation = connection.sql("SELECT * FROM papers ORDER BY pmid")
    assert frames.tag(papers.to_reader(max_chunksize=4), edge, text="abstract", keep="pmid").equals(wanted)
    found = frames.tag(relation, edge, text="abstract", keep="pmid")
    assert found.equals(wanted.cast(found.schema))
    counts = connection.sql("SELECT pmid, count(*) FROM found GROUP BY pmid ORDER BY pmid").fetchall()
    assert sum(n for _, n in counts) == found.num_rows > 0


@pytest.mark.parametrize(
    "frame",
    [polars.LazyFrame({"text": ["a"]}), polars.Series(["a"]), pandas.Series(["a"])],
    ids=["lazy", "polars series", "pandas series"],
)
def test_other_things_of_pandas_and_polars_are_refused(edge: Recognizer, frame: Any) -> None:
    with pytest.raises(ParameterError, match=f"not (polars|pandas) {type(frame).__name__}.*(collect|to_frame)"):
        frames.tag(frame, edge)


def test_what_is_wrong_is_said(edge: Recognizer) -> None:
    with pytest.raises(ParameterError, match=r"no column 'text'; there are pmid, abstract\. Say text="):
        frames.tag(pyarrow.table(ROWS), edge)
    with pytest.raises(ParameterError, match="the column 'pmid' must be of texts; it is of int64"):
        frames.tag(pyarrow.table(ROWS), edge, text="pmid")
    with pytest.raises(ParameterError, match="a name that the result has: label"):
        frames.tag(pyarrow.table({"text": ["a"], "label": ["b"]}), edge, keep=["label"])
    with pytest.raises(ParameterError, match="not list"):
        frames.tag([{"text": "a"}], edge)
