"""Requests that are tagged together get what they would get alone."""

from __future__ import annotations

import json
import threading

import pytest

from spanloom import Recognizer, read
from spanloom.base.errors import CorpusError
from spanloom.learning import LBFGS
from spanloom.serving.engine import Asked, Busy, Engine, Late
from spanloom.tagging import Plain

TEXTS = ["The IL-2 gene is expressed in T cells.", "", "NF-kappa B binds the IL-2 promoter.", "Nothing here."]


@pytest.fixture(scope="module")
def ner() -> Recognizer:
    return Recognizer("edge", keep="longest", trainer=LBFGS(max_iter=40)).fit(read("sample:train"))


def found(lines: list[bytes]) -> list[list[tuple[str, str]]]:
    return [[(m["label"], m["text"]) for m in json.loads(line)["mentions"]] for line in lines]


def test_many_requests_at_once_get_their_own_answers(ner: Recognizer) -> None:
    engine = Engine(ner, workers=3)
    try:
        expected = [[(m.label, doc.surface(m)) for m in doc.mentions] for doc in map(ner.predict, TEXTS)]
        jobs = [
            (k, engine.submit([Plain(str(k), TEXTS[k % 4]), Plain("", TEXTS[(k + 1) % 4])], asked))
            for k in range(60)
            for asked in (Asked(), Asked(probabilities=True))
        ]
        for k, job in jobs:
            lines = job.result(60)
            assert json.loads(lines[0])["id"] == str(k)
            assert found(lines) == [expected[k % 4], expected[(k + 1) % 4]]
        assert engine.busy == 0
    finally:
        engine.close()


def held(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Let an engine wait before it works, until the event is set."""
    gate = threading.Event()
    whole = engine._lines

    def slow(items, asked):  # type: ignore[no-untyped-def]
        gate.wait()
        return whole(items, asked)

    monkeypatch.setattr(engine, "_lines", slow)
    return gate


def test_one_request_too_many_is_refused(ner: Recognizer, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(ner, workers=1, limit=3)
    gate = held(engine, monkeypatch)
    try:
        taken = [engine.submit([Plain("", text)], Asked()) for text in TEXTS[:3]]
        with pytest.raises(Busy, match="3 requests are waiting already"):
            engine.submit([Plain("", "x")], Asked())
        gate.set()
        assert [len(job.result(60)) for job in taken] == [1, 1, 1]
        assert len(engine.submit([Plain("", "x")], Asked()).result(60)) == 1
    finally:
        gate.set()
        engine.close()


def test_what_has_waited_too_long_is_not_worked_on(ner: Recognizer) -> None:
    engine = Engine(ner, seconds=-1.0)
    try:
        with pytest.raises(Late):
            engine.submit([Plain("", "x")], Asked()).result(60)
    finally:
        engine.close()


def test_one_bad_text_does_not_spoil_its_batch(ner: Recognizer, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(ner, workers=1)
    gate = held(engine, monkeypatch)
    try:
        first = engine.submit([Plain("", "x")], Asked())
        good, bad = engine.submit([Plain("", TEXTS[0])], Asked()), engine.submit([Plain("", "\ud800")], Asked())
        gate.set()
        first.result(60)
        doc = ner.predict(TEXTS[0])
        assert found(good.result(60)) == [[(m.label, doc.surface(m)) for m in doc.mentions]]
        with pytest.raises(CorpusError):
            bad.result(60)
    finally:
        gate.set()
        engine.close()


def test_closing_answers_what_was_taken(ner: Recognizer) -> None:
    engine = Engine(ner)
    jobs = [engine.submit([Plain("", text)], Asked()) for text in TEXTS]
    engine.close()
    assert all(job.done() for job in jobs)
    with pytest.raises(Busy, match="shutting down"):
        engine.submit([Plain("", "x")], Asked())
