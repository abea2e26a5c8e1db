"""Components that learn at the same time: what they learn, who hears of it, and what an interruption leaves."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from spanloom import Recognizer, read
from spanloom.learning import SDCA, Iteration

SAMPLE = list(read("sample:train"))[:12]
TYPES = sorted({m.label for doc in SAMPLE for s in doc.sentences for m in s.mentions})


def untrained(threads: int) -> Recognizer:
    return Recognizer("edge", keep="longest", trainer=SDCA(l2=0.5), features=["word[-1..1]"], threads=threads)


def fit(threads: int, **settings: Any) -> Recognizer:
    return untrained(threads).fit(SAMPLE, **settings)


def test_threads_make_no_difference() -> None:
    """Weights and records are the same to the bit, in the order of the components."""
    one, three = fit(1), fit(3)
    arrays = [ner.state()[0] for ner in (one, three)]
    assert all((arrays[0][name] == arrays[1][name]).all() for name in arrays[0])
    records = [[(r.component, r.number, r.objective) for r in ner.history_] for ner in (one, three)]
    assert records[0] == records[1]
    assert sorted({component for component, _, _ in records[0]}) == list(range(len(TYPES)))


def test_development_data_are_watched_by_every_component() -> None:
    dev = list(read("sample:dev"))
    one, three = fit(1, dev=dev), fit(3, dev=dev)
    assert [r.dev_f1 for r in one.history_] == [r.dev_f1 for r in three.history_]
    assert all(r.dev_f1 is not None for r in one.history_)


def test_a_listener_hears_one_record_at_a_time_and_all_of_them() -> None:
    heard: list[Iteration] = []
    inside = threading.Lock()

    def listen(record: Iteration) -> None:
        assert inside.acquire(blocking=False), "two threads are in the listener"
        heard.append(record)
        inside.release()

    ner = fit(3, listener=listen)
    assert sorted((r.component, r.number) for r in heard) == [(r.component, r.number) for r in ner.history_]


def test_an_interruption_stops_all_and_keeps_what_they_learned() -> None:
    def stop(record: Iteration) -> None:
        raise KeyboardInterrupt

    ner = untrained(2)
    with pytest.raises(KeyboardInterrupt):
        ner.fit(SAMPLE, listener=stop)
    assert ner.training_["interrupted"]
    learned = {r.part for r in ner.history_}
    assert 1 <= len(learned) <= 2, "two began, the others did not"
    assert set(ner.training_["untrained"]) == set(TYPES) - learned


def test_an_error_in_one_is_raised() -> None:
    def fail(record: Iteration) -> None:
        raise RuntimeError("the listener failed")

    with pytest.raises(RuntimeError, match="the listener failed"):
        fit(2, listener=fail)
