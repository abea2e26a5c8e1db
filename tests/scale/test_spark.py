"""Spark: the same mentions as on one core, as a nested column; one model per Python worker."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extras import needs
from spanloom import Recognizer, read
from spanloom.base.errors import ParameterError
from spanloom.scale import loading

needs("pyspark", "pyarrow", "pandas")

from pyspark.sql import SparkSession  # noqa: E402

from spanloom.scale.spark import SCHEMA, tag  # noqa: E402

from .spark_places import submit  # noqa: E402

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("default")]
TEXTS = [sentence.text for doc in read("sample:train") for sentence in doc.sentences][:60]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def ner(loom: Path) -> Recognizer:
    return Recognizer.load(loom, threads=1)


def expected(ner: Recognizer) -> list[list[tuple[str, list[list[int]], str]]]:
    docs = [ner.predict(text) for text in TEXTS]
    return [
        [(m.label, [[d.spans[a][0], d.spans[b - 1][1]] for a, b in m.parts], d.surface(m)) for m in d.mentions]
        for d in docs
    ]


@pytest.mark.parametrize("how", ["path", "recogniser"])
def test_a_table_gets_a_column_of_mentions(spark: Any, ner: Recognizer, loom: Path, how: str, tmp_path: Path) -> None:
    rows = [(i, text) for i, text in enumerate(TEXTS)] + [(len(TEXTS), None)]
    table = spark.createDataFrame(rows, "n int, abstract string").repartition(4)
    tagged = tag(table, str(loom) if how == "path" else ner, text="abstract")
    assert tagged.schema["mentions"].dataType.simpleString() == SCHEMA
    found = {row["n"]: row["mentions"] for row in tagged.collect()}
    assert [[(m["label"], m["chars"], m["text"]) for m in found[i]] for i in range(len(TEXTS))] == expected(ner)
    assert found[len(TEXTS)] == []
    tagged.write.parquet(str(tmp_path / "out"))
    again = spark.read.parquet(str(tmp_path / "out")).selectExpr("n", "explode(mentions) m").selectExpr("n", "m.text")
    assert sorted(map(tuple, again.collect())) == sorted(
        (i, text) for i, own in enumerate(expected(ner)) for _, _, text in own
    )


def test_probabilities_are_those_of_the_recogniser(spark: Any, ner: Recognizer) -> None:
    table = spark.createDataFrame([(text,) for text in TEXTS], "text string").coalesce(1)
    found = tag(table, ner, probabilities=True).collect()
    assert [[m["prob"] for m in row["mentions"]] for row in found] == [
        [m.prob for m in ner.predict(text, probabilities=True).mentions] for text in TEXTS
    ]


def test_a_python_worker_opens_the_model_once(spark: Any, loom: Path) -> None:
    table = spark.createDataFrame([(text,) for text in TEXTS * 4], "text string").repartition(16)
    tag(table, loom).count()

    def opened(batches: Any) -> Any:
        import pyarrow as pa

        for _ in batches:
            yield pa.RecordBatch.from_pydict({"pid": [os.getpid()], "times": [loading._opened.cache_info().misses]})

    tagged = tag(table, loom)
    found = tagged.mapInArrow(opened, "pid long, times long").collect()
    assert {row["times"] for row in found} <= {0, 1}


def test_what_does_not_fit_is_named(spark: Any, ner: Recognizer) -> None:
    table = spark.createDataFrame([(1, "x", "y")], "n int, text string, mentions string")
    with pytest.raises(ParameterError, match="no column 'body'; there are n, text, mentions"):
        tag(table, ner, text="body")
    with pytest.raises(ParameterError, match="column 'n' must be text, not int"):
        tag(table, ner, text="n")
    with pytest.raises(ParameterError, match="has a column 'mentions' already"):
        tag(table, ner)


def test_the_example_for_spark_submit_runs(loom: Path, ner: Recognizer, tmp_path: Path) -> None:
    import json

    import pyarrow.parquet as pq

    lines = "".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(TEXTS))
    (tmp_path / "in.jsonl").write_text(lines, encoding="utf-8")
    script = Path(__file__).resolve().parents[2] / "examples" / "spark_tag.py"
    arguments = [str(loom), str(tmp_path / "in.jsonl"), str(tmp_path / "out"), "--text", "text"]
    submit("local[2]", script, *arguments)
    found = pq.read_table(tmp_path / "out").to_pylist()
    assert sum(len(row["mentions"]) for row in found) == sum(map(len, expected(ner)))
