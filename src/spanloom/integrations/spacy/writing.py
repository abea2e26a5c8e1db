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


def write_found(docs: Sequence[Any], found: Found, key: str, ents: str) -> None:
    """Write mentions to docs: see ``formats.spacy_docs``."""
    tokens, attrs = need("spacy.tokens", "spacy"), need("spacy.attrs", "spacy")
    make, group, columns = tokens.Span, tokens.SpanGroup, [attrs.ENT_IOB, attrs.ENT_TYPE]
    hashes = [docs[0].vocab.strings.add(label) for label in found.labels] if docs else []
    bounds = found.ptr.tolist()
    starts, ends, labels = found.start.tolist(), found.end.tolist(), [hashes[i] for i in found.label.tolist()]
    tags = _Tags(docs, found, hashes) if ents == "flat" else None
    parts = parts_key(key)
    for d, (doc, first, last) in enumerate(zip(docs, bounds, bounds[1:], strict=False)):
        spans = list(map(make, repeat(doc), starts[first:last], ends[first:last], labels[first:last]))
        scores = {} if found.probs is None else {"scores": found.probs[first:last].copy()}
        doc.spans[key] = group(doc, name=key, attrs=scores, spans=spans)
        broken = found.broken[d] if found.broken else ()
        if broken or parts in doc.spans:
            set_parts(doc, broken, key)
        if ents == "none" or not len(doc):
            continue
        if tags is not None and tags.flat[d] and not broken and not doc.ents:
            doc.from_array(columns, tags.of(d))
            continue
        mentions = [Mention(span.label_, ((span.start, span.end),)) for span in spans]
        chosen = flat_of(mentions, bool(broken), ents)
        if chosen is not None:
            wanted = set(chosen)
            set_entities(doc, [span for span, m in zip(spans, mentions, strict=True) if m in wanted])


class _Tags:
    """Tags of entities for the docs whose mentions follow one another; spaCy takes them faster than spans."""

    def __init__(self, docs: Sequence[Any], found: Found, hashes: Sequence[int]) -> None:
        sizes = np.diff(found.ptr)
        self.ptr = np.cumsum([0, *map(len, docs)])
        before = np.concatenate([np.zeros(1, np.int64), found.end[:-1]])  # where the mention before ends
        before[np.minimum(found.ptr[:-1], len(before) - 1)] = 0
        late = found.start < before[: len(found.start)]
        counts = np.concatenate([np.zeros(1, np.int64), np.cumsum(late)])
        self.flat: list[bool] = (np.diff(counts[found.ptr]) == 0).tolist()
        self._values = np.zeros((int(self.ptr[-1]), 2), np.uint64)
        self._values[:, 0] = _OUT
        start = found.start + np.repeat(self.ptr[:-1], sizes)
        lengths = found.end - found.start
        covered = np.repeat(start - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
        self._values[covered, 0] = _IN
        self._values[covered, 1] = np.repeat(np.array(hashes, np.uint64)[found.label], lengths)
        self._values[start, 0] = _BEGIN

    def of(self, number: int) -> npt.NDArray[np.uint64]:
        """Return the tag and the label of each token of a doc that is ``flat``."""
        return self._values[self.ptr[number] : self.ptr[number + 1]]
