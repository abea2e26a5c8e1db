"""Mentions in a spaCy ``Doc``, and a ``Doc`` as a ``Document``.

Contiguous mentions are spans of the group ``doc.spans["sc"]``, with probabilities in ``attrs["scores"]``, as spaCy's
own ``spancat`` has them. spaCy has no discontinuous spans: the parts of such mentions are spans of the group
``"sc:parts"``, and parts with the same ``span_id`` belong to one mention. Both survive ``DocBin`` and processes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.base.errors import ParameterError
from spanloom.base.extras import need
from spanloom.corpus.document import Document
from spanloom.corpus.mention import ORDERS, Mention, Part
from spanloom.corpus.tokenizer import split_sentences
from spanloom.formats.assemble import assemble, join_at

KEY = "sc"
COLUMNS: Mapping[str, str] = {"pos": "tag_", "upos": "pos_", "lemma": "lemma_", "deprel": "dep_"}
"""Our columns, and the attributes of spaCy's tokens that hold them; ``head`` comes with ``deprel``."""
ENTS = ("flat", *ORDERS, "none")
"""When mentions become ``doc.ents``: where none overlap, always but for those that others rule out, or never."""


def parts_key(key: str = KEY) -> str:
    """Return the name of the group that has the parts of discontinuous mentions.

    Examples
    --------
    >>> parts_key("sc")
    'sc:parts'
    """
    return f"{key}:parts"


def set_mentions(doc: Any, mentions: Sequence[Mention], key: str = KEY, *, ents: str = "flat") -> None:
    """Write mentions to a ``Doc``, in place of those that the groups have.

    Parameters
    ----------
    mentions
        In tokens of the ``Doc``.
    key
        The group of contiguous mentions.
    ents
        ``"flat"``: also to ``doc.ents``, if none overlap and none are discontinuous; ``"longest"``, ``"outermost"`` or
        ``"innermost"``: to ``doc.ents`` but for those that this one rules out; ``"none"``: not to ``doc.ents``.
        Entities that are there already stay.
    """
    check_ents(ents)
    tokens = need("spacy.tokens", "spacy")
    whole = [m for m in mentions if not m.discontinuous]
    discontinuous = [m for m in mentions if m.discontinuous]
    spans = [tokens.Span(doc, m.start, m.end, label=m.label) for m in whole]
    _set_group(doc, key, spans, [m.prob for m in whole])
    set_parts(doc, discontinuous, key)
    flat = flat_of(whole, bool(discontinuous), ents)
    if flat is not None:
        chosen = spans if len(flat) == len(whole) else [spans[whole.index(m)] for m in flat]
        set_entities(doc, chosen)


def set_parts(doc: Any, discontinuous: Sequence[Mention], key: str = KEY) -> None:
    """Write the parts of discontinuous mentions; without any, there is no group."""
    group = parts_key(key)
    if not discontinuous:
        doc.spans.pop(group, None)
        return
    make = need("spacy.tokens", "spacy").Span
    # The first token is in the name, so that ids stay apart where somebody joins documents.
    spans = [
        make(doc, start, end, label=m.label, span_id=f"{i}@{m.start}")
        for i, m in enumerate(discontinuous)
        for start, end in m.parts
    ]
    _set_group(doc, group, spans, [m.prob for m in discontinuous for _ in m.parts])


def get_mentions(doc: Any, key: str = KEY) -> list[Mention]:
    """Return the mentions of a ``Doc`` in its tokens, also the discontinuous ones; ``doc._.mentions`` is the same.

    Parameters
    ----------
    key
        The group of contiguous mentions.
    """
    found: list[Mention] = []
    if key in doc.spans:
        for span, prob in _scored(doc.spans[key]):
            found.append(Mention(span.label_, ((span.start, span.end),), prob))
    if parts_key(key) in doc.spans:
        mentions: dict[tuple[str, Any], list[tuple[Part, float | None]]] = {}
        for number, (span, prob) in enumerate(_scored(doc.spans[parts_key(key)])):
            own = span.id or f"part {number}"  # a part without an id is a mention of its own
            mentions.setdefault((span.label_, own), []).append(((span.start, span.end), prob))
        found += [Mention(label, tuple(p for p, _ in parts), parts[0][1]) for (label, _), parts in mentions.items()]
    return found


def get_entities(doc: Any) -> list[Mention]:
    """Return ``doc.ents`` as mentions."""
    return [Mention(span.label_, ((span.start, span.end),)) for span in doc.ents]


def part_spans(doc: Any, mention: Mention) -> list[Any]:
    """Return a mention of a ``Doc`` as spans of spaCy, one for each part."""
    make = need("spacy.tokens", "spacy").Span
    return [make(doc, start, end, label=mention.label) for start, end in mention.parts]


def check_ents(ents: str) -> None:
    """Raise ``ParameterError`` unless a value says when mentions become entities."""
    if ents not in ENTS:
        raise ParameterError(f"ents must be one of {', '.join(ENTS)}, got {ents!r}")


def flat_of(whole: Sequence[Mention], discontinuous: bool, ents: str) -> list[Mention] | None:
    """Return those of the contiguous mentions that become entities; None if ``doc.ents`` is to be left alone."""
    if ents == "none":
        return None
    if ents == "flat":
        last = 0
        for m in sorted(whole, key=lambda m: m.start):
            if m.start < last:
                return None
            last = m.end
        return None if discontinuous else list(whole)
    kept: list[Mention] = []
    for m in sorted(whole, key=ORDERS[ents]):
        if not any(m.overlaps(other) for other in kept):
            kept.append(m)
    return kept


def set_entities(doc: Any, spans: Sequence[Any]) -> None:
    """Add spans that do not overlap to ``doc.ents``; entities that are there stay, and rule out what overlaps them."""
    known = list(doc.ents)
    if known:
        taken = {i for ent in known for i in range(ent.start, ent.end)}
        spans = [*known, *(s for s in spans if taken.isdisjoint(range(s.start, s.end)))]
    doc.set_ents(sorted(spans, key=lambda span: span.start))


def kept_tokens(doc: Any) -> npt.NDArray[np.intp]:
    """Return the numbers of the tokens that are not white space."""
    return np.flatnonzero(doc.to_array(["IS_SPACE"]) == 0) if len(doc) else np.zeros(0, np.intp)


def placed(mention: Mention, place: Sequence[int]) -> Mention:
    """Return a mention of our tokens in those of a ``Doc``, whose numbers are ``place``.

    Examples
    --------
    >>> placed(Mention("DNA", ((1, 3),)), [0, 2, 3])  # token 1 is white space
    Mention(label='DNA', parts=((2, 4),), prob=None)
    """
    parts = tuple((place[a], place[b - 1] + 1) for a, b in mention.parts)
    return Mention(mention.label, parts, mention.prob, mention.attributes)


def document_of(
    doc: Any,
    mentions: Sequence[Mention] = (),
    columns: Mapping[str, str] = COLUMNS,
    lost: Callable[[Mention], None] | None = None,
    **more: Any,
) -> Document:
    """Return a ``Doc`` as a document with spaCy's own tokens, tags, trees and sentences.

    Tokens of white space are left out. Sentences are those of the ``Doc``, ours if it has none; none of them ends
    within a mention.

    Parameters
    ----------
    mentions
        In tokens of the ``Doc``.
    columns
        Attributes of tokens by our names for them: ``{"chunk": "_.chunk"}`` reads ``token._.chunk``. Those that no
        token has are left out.
    lost
        Called with a mention that covers nothing but white space.
    **more
        For the document: ``id``, ``meta``.
    """
    kept = kept_tokens(doc)
    place = np.searchsorted(kept, np.arange(len(doc) + 1))  # of each token of the Doc, among those that are kept
    tokens = [doc[i] for i in kept.tolist()]
    spans = [(token.idx, token.idx + len(token)) for token in tokens]
    own: dict[Mention, Mention] = {}
    for m in mentions:
        parts = [(int(place[a]), int(place[b])) for a, b in m.parts]
        parts = [(a, b) for a, b in parts if a < b]
        if parts:
            made = Mention(m.label, tuple(parts), m.prob, m.attributes)
            own.setdefault(made, made)
        elif lost is not None:
            lost(m)
    ranges = join_at(_sentences(doc, kept, spans), list(own))
    return assemble(doc.text, spans, ranges, list(own), columns=_columns(tokens, ranges, columns), **more)


def sentence_starts(doc: Any, kept: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_] | None:
    """Say of each kept token whether a sentence begins with it; None if the ``Doc`` has no sentences."""
    if not doc.has_annotation("SENT_START"):
        return None
    number = np.cumsum(doc.to_array(["SENT_START"]) == 1)[kept]
    starts: npt.NDArray[np.bool_] = np.diff(number, prepend=-1) != 0
    return starts


def _sentences(doc: Any, kept: npt.NDArray[np.intp], spans: list[Part]) -> list[Part]:
    starts = sentence_starts(doc, kept)
    if starts is None:
        return split_sentences(doc.text, spans)
    first = np.flatnonzero(starts).tolist()
    return list(pairwise([*first, len(spans)]))


def _columns(
    tokens: Sequence[Any], ranges: Sequence[Part], wanted: Mapping[str, str]
) -> dict[str, Sequence[str | None]]:
    columns: dict[str, Sequence[str | None]] = {}
    for name, attribute in wanted.items():
        values = [_value(token, attribute) for token in tokens]
        if any(values):
            columns[name] = values
    if "deprel" in columns and "deprel" in wanted:
        place = {token.i: i for i, token in enumerate(tokens)}
        heads: list[str | None] = []
        for first, last in ranges:
            for i in range(first, last):
                head = place.get(tokens[i].head.i, i)
                heads.append("0" if head == i else str(head - first + 1))
        columns["head"] = heads
    return columns


def _value(token: Any, attribute: str) -> str:
    value = getattr(token._, attribute[2:]) if attribute.startswith("_.") else getattr(token, attribute)
    return "" if value is None else str(value)


def _set_group(doc: Any, key: str, spans: list[Any], probs: Sequence[float | None]) -> None:
    group = need("spacy.tokens", "spacy").SpanGroup(doc, name=key, spans=spans)
    if any(p is not None for p in probs):
        group.attrs["scores"] = list(probs)
    doc.spans[key] = group


def _scored(group: Any) -> list[tuple[Any, float | None]]:
    scores = list(group.attrs.get("scores", []))
    if len(scores) != len(group):
        return [(span, None) for span in group]
    probs = [None if p is None or not 0 <= p <= 1 else float(p) for p in scores]
    return list(zip(group, probs, strict=True))
