"""What was found in a batch of docs, and how it is written to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.base.extras import need
from spanloom.corpus import Mention
from spanloom.formats.spacy_docs import flat_of, parts_key, set_entities, set_parts
from spanloom.integrations.spacy.reading import DocBatch
from spanloom.tagging import TaggedBatch

Ints = npt.NDArray[np.int64]
_OUT, _IN, _BEGIN = 2, 1, 3
"""spaCy's numbers for the tags of entities."""
_DENSE = 6
"""A doc with more than one token of so many in mentions gets their labels by a column, others token by token."""


@dataclass(frozen=True, slots=True)
class Found:
    """The mentions of docs: contiguous ones in arrays, discontinuous ones by doc.

    Attributes
    ----------
    ptr
        [docs + 1]: the contiguous mentions of each doc.
    start, end
        [mentions]: tokens of the doc.
    label, labels
        [mentions]: numbers of ``labels``.
    probs
        [mentions], or None.
    broken
        By doc; empty if there are none at all.
    """

    ptr: Ints
    start: Ints
    end: Ints
    label: Ints
    labels: Sequence[str]
    probs: npt.NDArray[np.float64] | None
    broken: Sequence[Sequence[Mention]] = ()

    @classmethod
    def native(cls, batch: DocBatch, tagged: TaggedBatch) -> Found:
        """Take what the native core found in a batch."""
        found = tagged.found
        shift = np.repeat(batch.ptr[:-1], np.diff(found.ptr))
        start = batch.place[found.start + shift]
        end = batch.place[found.end + shift - 1] + 1
        return cls(found.ptr, start, end, found.label.astype(np.int64), tagged.labels, tagged.probs)

    @classmethod
    def of(cls, mentions: Sequence[Sequence[Mention]], probable: bool) -> Found:
        """Take mentions in tokens of the docs."""
        whole = [[m for m in own if not m.discontinuous] for own in mentions]
        broken = [[m for m in own if m.discontinuous] for own in mentions]
        labels = sorted({m.label for own in whole for m in own})
        rows = np.array([(m.start, m.end, labels.index(m.label)) for own in whole for m in own], np.int64)
        start, end, label = rows.reshape(-1, 3).T
        probs = [np.nan if m.prob is None else m.prob for own in whole for m in own]
        ptr = np.cumsum([0, *map(len, whole)])
        return cls(ptr, start, end, label, labels, np.array(probs) if probable else None, broken if any(broken) else ())


class Writing:
    """What was found in a batch, ready to be written to its docs; see ``formats.spacy_docs``.

    Parameters
    ----------
    docs
        Those of the batch; they may be let go of before they are written to.
    key, ents
        As in ``formats.spacy_docs.set_mentions``.
    """

    def __init__(self, docs: Sequence[Any], found: Found, key: str, ents: str) -> None:
        tokens = need("spacy.tokens", "spacy")
        self._make, self._group = tokens.Span, tokens.SpanGroup
        hashes = [docs[0].vocab.strings.add(label) for label in found.labels] if docs else []
        self._bounds = found.ptr.tolist()
        self._starts, self._ends = found.start.tolist(), found.end.tolist()
        self._labels = [hashes[i] for i in found.label.tolist()]
        self._tags = _Tags(docs, found, hashes) if ents == "flat" else None
        self._found, self._key, self._parts, self._ents = found, key, parts_key(key), ents

    def to(self, doc: Any, number: int) -> None:
        """Write to a doc, which has this number in the batch."""
        found, own = self._found, slice(self._bounds[number], self._bounds[number + 1])
        spans = list(map(self._make, repeat(doc), self._starts[own], self._ends[own], self._labels[own]))
        scores = {} if found.probs is None else {"scores": found.probs[own].copy()}
        doc.spans[self._key] = self._group(doc, name=self._key, attrs=scores, spans=spans)
        broken = found.broken[number] if found.broken else ()
        if broken or self._parts in doc.spans:
            set_parts(doc, broken, self._key)
        if self._ents == "none" or not len(doc):
            return
        if self._tags is not None and self._tags.flat[number] and not broken and not doc.ents:
            self._tags.to(doc, number)
            return
        mentions = [Mention(span.label_, ((span.start, span.end),)) for span in spans]
        chosen = flat_of(mentions, bool(broken), self._ents)
        if chosen is not None:
            wanted = set(chosen)
            set_entities(doc, [span for span, m in zip(spans, mentions, strict=True) if m in wanted])


class _Tags:
    """Tags of entities for the docs whose mentions follow one another; spaCy takes them faster than spans."""

    def __init__(self, docs: Sequence[Any], found: Found, hashes: Sequence[int]) -> None:
        sizes = np.diff(found.ptr)
        ptr = np.cumsum([0, *map(len, docs)])
        before = np.concatenate([np.zeros(1, np.int64), found.end[:-1]])  # where the mention before ends
        before[np.minimum(found.ptr[:-1], len(before) - 1)] = 0
        late = found.start < before[: len(found.start)]
        counts = np.concatenate([np.zeros(1, np.int64), np.cumsum(late)])
        self.flat: list[bool] = (np.diff(counts[found.ptr]) == 0).tolist()
        attrs = need("spacy.attrs", "spacy")
        self._columns = [attrs.ENT_IOB, attrs.ENT_TYPE]
        lengths = found.end - found.start
        ends = np.cumsum(lengths)
        inside = np.repeat(found.start - ends + lengths, lengths) + np.arange(int(lengths.sum()))  # tokens of the docs
        first = np.repeat(ptr[:-1], sizes)
        labels = np.repeat(np.array(hashes, np.uint64)[found.label], lengths)
        self._values = np.zeros((2, int(ptr[-1])), np.uint64)  # [tag or label, token]
        self._values[0] = _OUT
        covered = inside + np.repeat(first, lengths)
        self._values[0, covered], self._values[1, covered] = _IN, labels
        self._values[0, found.start + first] = _BEGIN
        self._inside, self._labels = inside.tolist(), labels.tolist()
        self._inside_ptr = np.concatenate([np.zeros(1, np.int64), ends])[found.ptr].tolist()
        self._bounds = ptr.tolist()

    def to(self, doc: Any, number: int) -> None:
        """Write to a doc that is ``flat`` and has no entities; a column costs spaCy time for every token."""
        own = slice(self._bounds[number], self._bounds[number + 1])
        inside = slice(self._inside_ptr[number], self._inside_ptr[number + 1])
        if (inside.stop - inside.start) * _DENSE > own.stop - own.start:
            doc.from_array(self._columns, self._values[:, own].T)
            return
        doc.from_array(self._columns[0], self._values[0, own])
        for token, label in zip(self._inside[inside], self._labels[inside], strict=True):
            doc[token].ent_type = label
