"""Readers stream: memory does not grow with the corpus."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from spanloom import read
from spanloom.corpus.statistics import statistics


def peak(work: Callable[[], object]) -> int:
    work()  # imports and caches
    tracemalloc.start()
    work()
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return used


def test_peak_memory_is_that_of_a_few_documents(tmp_path: Path) -> None:
    """Going through 400 documents takes less than a tenth of the memory of keeping 100 of them."""
    line = json.dumps({"tokens": ["word"] * 100, "mentions": [{"label": "x", "parts": [[0, 3]]}]}) + "\n"
    short, long = tmp_path / "short.jsonl", tmp_path / "long.jsonl"
    short.write_text(line * 100)
    long.write_text(line * 400)
    streamed = peak(lambda: sum(len(doc) for doc in read(long)))
    kept = peak(lambda: list(read(short)))
    assert streamed < kept / 10


def test_statistics_take_one_pass(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"tokens":["a"]}\n' * 10)
    assert statistics(doc for doc in read(path)).documents == 10
