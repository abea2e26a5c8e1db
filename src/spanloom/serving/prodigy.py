"""A recipe for Prodigy: correct what a model finds, the least certain texts first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from typing import Any

from spanloom.base.extras import need
from spanloom.corpus import Document
from spanloom.formats import read
from spanloom.formats.prodigy import task
from spanloom.recognizer import Recognizer

BUFFER = 100
"""Among so many texts the least certain come first."""


def tasks(recognizer: Recognizer, documents: Iterable[Document]) -> Iterator[dict[str, Any]]:
    """Yield Prodigy's tasks with found spans and their scores; Prodigy has no place for discontinuous mentions."""
    rest = iter(documents)
    while some := list(islice(rest, BUFFER)):
        found = recognizer.predict(some, probabilities=True)
        for doc in sorted(found, key=_certainty):
            places = doc.spans
            spans = [
                (m.label, (places[m.start][0], places[m.end - 1][1]), m.parts[0], m.prob)
                for m in doc.mentions
                if len(m.parts) == 1
            ]
            yield task(doc, spans, {})


def correct(dataset: str, model: str, source: str) -> dict[str, Any]:
    """Return the parts of the recipe ``spanloom.correct``.

    Parameters
    ----------
    dataset
        Prodigy's data set for the answers.
    model
        A model file.
    source
        Text or a corpus, as for ``spanloom tag``.
    """
    recognizer = Recognizer.load(model)
    return {
        "dataset": dataset,
        "view_id": "spans_manual",
        "stream": tasks(recognizer, read(source)),
        "config": {"labels": list(recognizer.labels_)},
    }


def _certainty(doc: Document) -> float:
    return min((m.prob for m in doc.mentions if m.prob is not None), default=1.0)


if find_spec("prodigy") is not None:
    correct = need("prodigy", "prodigy").recipe(
        "spanloom.correct",
        dataset=("Data set for the answers", "positional", None, str),
        model=("Model file of spanloom", "positional", None, str),
        source=("Text or corpus", "positional", None, str),
    )(correct)
