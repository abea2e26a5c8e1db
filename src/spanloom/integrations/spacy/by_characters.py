"""Docs tagged as texts, in the tokens of the model; mentions find their tokens of the pipeline by characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.corpus import Mention
from spanloom.integrations.spacy.writing import Found
from spanloom.recognizer import Recognizer
from spanloom.tagging import TextTagger


def native_by_characters(docs: Sequence[Any], tagger: TextTagger, scores: bool) -> Found:
    """Find mentions natively."""
    batch = tagger.tag([doc.text for doc in docs], probabilities=scores)
    found = batch.found
    bounds = found.ptr.tolist()
    start, end = found.start_char.astype(np.int64), found.end_char.astype(np.int64)
    for d, doc in enumerate(docs):
        own = slice(bounds[d], bounds[d + 1])
        start[own], end[own] = _touched(doc, start[own], end[own])
    return Found(found.ptr, start, end, found.label.astype(np.int64), batch.labels, batch.probs)


def found_by_characters(docs: Sequence[Any], ner: Recognizer, scores: bool) -> Found:
    """Find mentions by any recogniser."""
    mentions = []
    for doc, done in zip(docs, ner.stream((doc.text for doc in docs), probabilities=scores), strict=True):
        own: dict[Mention, Mention] = {}
        for m in done.mentions:
            chars = np.array(done.chars(m), np.int64)
            starts, ends = _touched(doc, chars[:, 0], chars[:, 1])
            made = Mention(m.label, _joined(starts.tolist(), ends.tolist()), m.prob)
            own.setdefault(made, made)
        mentions.append(list(own.values()))
    return Found.of(mentions, scores)


def _touched(doc: Any, start: npt.NDArray[np.int64], end: npt.NDArray[np.int64]) -> tuple[Any, Any]:
    """The tokens that ranges of characters touch."""
    if not len(start):
        return start, end
    places = doc.to_array(["IDX", "LENGTH"]).astype(np.int64)
    first = np.searchsorted(places[:, 0] + places[:, 1], start, side="right")
    return first, np.searchsorted(places[:, 0], end, side="left")


def _joined(starts: list[int], ends: list[int]) -> tuple[tuple[int, int], ...]:
    """Parts that touch the same token are one."""
    parts: list[tuple[int, int]] = []
    for a, b in zip(starts, ends, strict=True):
        if parts and a < parts[-1][1]:
            parts[-1] = (parts[-1][0], max(b, parts[-1][1]))
        else:
            parts.append((a, b))
    return tuple(parts)
