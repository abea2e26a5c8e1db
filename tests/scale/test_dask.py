"""Dask: the same mentions as on one core, one model per worker, and what a lost worker leaves undone is done again."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extras import needs
from spanloom import Recognizer, read
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.scale import loading, tag_files
from spanloom.tuning import cross_validate, tune

from .conftest import outputs
from .test_batches import SIZE, here, run

needs("dask", "distributed", "pandas", "pyarrow")

import dask.bag  # noqa: E402
import dask.dataframe  # noqa: E402
import distributed  # noqa: E402
import pandas as pd  # noqa: E402

from spanloom.scale.dask import engine, send, tag, trainings  # noqa: E402

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("default")]
TEXTS = [sentence.text for doc in read("sample:train") for sentence in doc.sentences][:60]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def ner(loom: Path) -> Recognizer:
    return Recognizer.load(loom, threads=1)


def spans(found: Any) -> list[tuple[str, list[list[int]]]]:
    return [(m["label"], [list(map(int, part)) for part in m["chars"]]) for m in found]


def expected(ner: Recognizer) -> list[list[tuple[str, list[list[int]]]]]:
    docs = [ner.predict(text) for text in TEXTS]
    return [[(m.label, [[d.spans[a][0], d.spans[b - 1][1]] for a, b in m.parts]) for m in d.mentions] for d in docs]


@pytest.mark.parametrize("how", ["path", "recogniser"])
def test_a_table_gets_a_column_of_mentions(client: Any, ner: Recognizer, loom: Path, how: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"abstract": [*TEXTS, None]}, index=range(100, 161))
    table = dask.dataframe.from_pandas(frame, npartitions=4)
    tagged = tag(table, loom if how == "path" else ner, text="abstract")
    found = tagged.compute()
    assert list(found.index) == list(frame.index)
    assert [spans(own) for own in found["mentions"]] == [*expected(ner), []]
    tagged.to_parquet(tmp_path / "out")
    again = pd.read_parquet(tmp_path / "out", dtype_backend="pyarrow")
    assert [spans(own) for own in again["mentions"]] == [*expected(ner), []]


@pytest.mark.parametrize("kind", ["strings", "records"])
def test_a_bag_becomes_records_with_mentions(client: Any, ner: Recognizer, kind: str) -> None:
    items: list[Any] = TEXTS if kind == "strings" else [{"n": i, "text": text} for i, text in enumerate(TEXTS)]
    found = tag(dask.bag.from_sequence(items, npartitions=3), ner).compute()
    assert [row["text"] for row in found] == TEXTS
    assert [spans(row["mentions"]) for row in found] == expected(ner)
    assert kind == "strings" or [row["n"] for row in found] == list(range(len(TEXTS)))


def test_threads_of_this_process_do_without_a_cluster(ner: Recognizer) -> None:
    bag = tag(dask.bag.from_sequence(TEXTS, npartitions=3), ner)
    assert [spans(row["mentions"]) for row in bag.compute(scheduler="threads")] == expected(ner)


def test_a_model_is_sent_once_and_opened_once_in_each_worker(client: Any, ner: Recognizer) -> None:
    for _ in range(2):
        tag(dask.bag.from_sequence(TEXTS, npartitions=8), ner).compute()

    def opened() -> int:
        return loading._of_bytes.cache_info().misses

    assert set(client.run(opened).values()) <= {0, 1}
    digest = send(client, ner.to_bytes())
    names = client.run_on_scheduler(lambda dask_scheduler: [n for n in dask_scheduler.worker_plugins if digest in n])
    assert len(names) == 1


def test_a_worker_that_joins_later_has_the_model_too(client: Any, ner: Recognizer) -> None:
    send(client, ner.to_bytes())
    client.cluster.scale(3)
    client.wait_for_workers(3)
    counts = client.run(lambda: len(loading._deposited))
    assert len(counts) == 3
    assert all(counts.values())
    client.cluster.scale(2)


def test_a_column_that_is_not_there_is_named(client: Any, ner: Recognizer) -> None:
    table = dask.dataframe.from_pandas(pd.DataFrame({"a": ["x"]}), npartitions=1)
    with pytest.raises(ParameterError, match="no column 'text'; there are a"):
        tag(table, ner)


def test_batches_are_those_of_one_process(client: Any, loom: Path, inputs: Path, tmp_path: Path) -> None:
    run(loom, inputs, tmp_path / "here", engine=here)
    report = run(loom, inputs, tmp_path / "there", engine=engine(client))
    assert outputs(tmp_path / "there") == outputs(tmp_path / "here")
    assert report.tagged == len(report.shards)
    assert run(loom, inputs, tmp_path / "there", engine=engine(client), resume=True).tagged == 0
    (inputs / "a.jsonl").write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"a\.jsonl:1: not JSON"):
        run(loom, inputs, tmp_path / "there", engine=engine(client), resume=True)


def test_shards_of_a_killed_worker_are_done_again(client: Any, loom: Path, inputs: Path, tmp_path: Path) -> None:
    run(loom, inputs, tmp_path / "here", engine=here)
    killed: list[int] = []

    def kill(*_: int) -> None:
        if not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    report = tag_files(
        loom, [f"{inputs}/**/*.jsonl*"], tmp_path / "out", shard_bytes=SIZE, engine=engine(client), progress=kill
    )
    assert killed
    assert outputs(tmp_path / "out") == outputs(tmp_path / "here")
    assert report.tagged == len(report.shards)
    client.wait_for_workers(2)


def test_a_slow_worker_changes_nothing(client: Any, loom: Path, inputs: Path, tmp_path: Path) -> None:
    """One of the two stands still for a while, as a machine that swaps does."""
    run(loom, inputs, tmp_path / "here", engine=here)
    pid = next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGSTOP)
    threading.Timer(2.0, lambda: os.kill(pid, signal.SIGCONT)).start()
    begun = time.monotonic()
    run(loom, inputs, tmp_path / "out", engine=engine(client))
    assert outputs(tmp_path / "out") == outputs(tmp_path / "here")
    time.sleep(max(0.0, 2.5 - (time.monotonic() - begun)))


def test_trainings_are_those_of_one_process(client: Any) -> None:
    train, dev = list(read("sample:train"))[:20], list(read("sample:dev"))
    base = {"keep": "outermost", "max_iter": 3}
    there = tune(train, dev, grid={"l2": [0.1, 1.0]}, base=base, trainings=trainings(client))
    alone = tune(train, dev, grid={"l2": [0.1, 1.0]}, base=base, processes=1)
    assert [(t.settings, t.score) for t in there.trials] == [(t.settings, t.score) for t in alone.trials]
    crossed = cross_validate(train, 2, settings=base, trainings=trainings(client))
    assert crossed.folds == cross_validate(train, 2, settings=base, processes=1).folds
