"""Spark with several executors: a standalone master and two workers on loopback, each a process of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from extras import needs
from spanloom import Recognizer, read

needs("pyspark", "pyarrow", "pandas")

from .spark_places import cluster, submit  # noqa: E402

pytestmark = [pytest.mark.extras, pytest.mark.slow]
PROGRAM = """
import json, os, sys, time
from pyspark.sql import SparkSession
from spanloom import Recognizer
from spanloom.scale.spark import tag

def with_place(batches):
    import pyarrow as pa
    for batch in batches:
        time.sleep(0.5)  # so that no executor takes all
        rows = [[m["text"] for m in row] for row in batch.column("mentions").to_pylist()]
        where = [os.environ["SPARK_EXECUTOR_DIRS"]] * batch.num_rows
        columns = [batch.column("id"), pa.array(rows, pa.list_(pa.string())), pa.array(where)]
        yield pa.RecordBatch.from_arrays(columns, names=["id", "texts", "place"])

spark = SparkSession.builder.getOrCreate()
table = spark.read.json(sys.argv[2]).repartition(8)
for model in (sys.argv[1], Recognizer.load(sys.argv[1])):  # a path that both see, and a broadcast
    rows = tag(table, model).mapInArrow(with_place, "id long, texts array<string>, place string").collect()
    print("FOUND", json.dumps([[row["id"], row["texts"], row["place"]] for row in rows]))
spark.stop()
"""


def test_two_executors_find_what_one_process_finds(loom: Path, tmp_path: Path) -> None:
    """By a path that both see, and by a recogniser that is broadcast; both executors have a part."""
    texts = [sentence.text for doc in read("sample:train") for sentence in doc.sentences][:60]
    lines = "".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts))
    source = tmp_path / "in.jsonl"
    source.write_text(lines, encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    ner = Recognizer.load(loom, threads=1)
    expected = {i: [doc.surface(m) for m in doc.mentions] for i, doc in enumerate(map(ner.predict, texts))}
    options = ("--executor-memory", "512m", "--total-executor-cores", "2")
    with cluster(tmp_path, 2) as master:
        said = submit(master, tmp_path / "program.py", str(loom), str(source), options=options)
    found = [json.loads(line[6:]) for line in said.splitlines() if line.startswith("FOUND ")]
    assert len(found) == 2
    for rows in found:
        assert {i: own for i, own, _ in rows} == expected
        assert len({place for _, _, place in rows}) == 2
