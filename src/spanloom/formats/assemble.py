"""Put a document together from flat parts: text, token spans, sentence ranges, columns, mentions.

Readers describe a document with document-wide indices; ``assemble`` cuts it into sentences.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, cast

from spanloom.corpus.document import Document, OwnFeatures, Sentence
from spanloom.corpus.mention import Mention, Part


def cut_tokens(spans: Sequence[Part], cuts: Sequence[int]) -> list[tuple[list[Part], int]]:
    """Return each token's pieces after cutting at the given characters, with the token's index."""
    pieces: list[tuple[list[Part], int]] = []
    at = 0
    for index, (start, end) in enumerate(spans):
        while at < len(cuts) and cuts[at] <= start:
            at += 1
        own: list[Part] = []
        while at < len(cuts) and cuts[at] < end:
            own.append((start, cuts[at]))
            start = cuts[at]
            at += 1
        own.append((start, end))
        pieces.append((own, index))
    return pieces


def join_at(ranges: Sequence[Part], mentions: Sequence[Mention]) -> list[Part]:
    """Return sentence ranges in which no break falls inside a mention.

    Examples
    --------
    >>> join_at([(0, 4), (4, 7), (7, 9)], [Mention("a", ((3, 5),))])
    [(0, 7), (7, 9)]
    """
    if len(ranges) < 2:
        return list(ranges)
    starts = [s for s, _ in ranges]
    closed: set[int] = set()
    for mention in mentions:
        i, j = bisect_right(starts, mention.start) - 1, bisect_right(starts, mention.end - 1) - 1
        closed.update(range(i + 1, j + 1))
    if not closed:
        return list(ranges)
    joined: list[Part] = []
    for k, (start, end) in enumerate(ranges):
        if k in closed:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def assemble(
    text: str,
    spans: Sequence[Part],
    ranges: Sequence[Part],
    mentions: Sequence[Mention],
    *,
    id: str = "",
    tokens: Sequence[str] | None = None,
    columns: Mapping[str, Sequence[str | None]] | None = None,
    features: OwnFeatures | None = None,
    chars: Sequence[Part | None] | None = None,
    metas: Sequence[Mapping[str, Any]] | None = None,
    meta: Mapping[str, Any] | None = None,
) -> Document:
    """Return a document cut into the sentences ``ranges``, which tile the tokens.

    Parameters
    ----------
    text, spans
        The whole text and every token's character range in it.
    ranges
        Every sentence's token range.
    mentions
        In document tokens; none may run over a sentence break.
    tokens
        The words, where they are not what the text has at their spans (e.g. the words of a contraction).
    columns, features
        Per document token. A column that is None throughout a sentence is left out of it.
    chars, metas
        Every sentence's character range (None: from its first to its last token) and meta.
    """
    inside = _by_sentence(ranges, mentions)
    sentences: list[Sentence] = []
    starts: list[int] = []
    at = 0
    for k, (first, last) in enumerate(ranges):
        given = chars[k] if chars else None
        if given is not None:
            start, end = given
        elif first < last:
            start, end = spans[first][0], spans[last - 1][1]
        else:
            start = end = at
        at = end
        own = list(spans[first:last]) if start == 0 else [(s - start, e - start) for s, e in spans[first:last]]
        sentence_text = text[start:end]
        own_columns: dict[str, list[str]] = {}
        for name, values in (columns or {}).items():
            piece = values[first:last]
            if None not in piece:
                own_columns[name] = list(cast("Sequence[str]", piece))
            elif any(value is not None for value in piece):
                own_columns[name] = ["" if value is None else value for value in piece]
        own_features = None
        if features is not None and any(value is not None for value in features[first:last]):
            own_features = [[] if value is None else value for value in features[first:last]]
        sentences.append(
            Sentence(
                [sentence_text[s:e] for s, e in own] if tokens is None else list(tokens[first:last]),
                [m.shifted(-first) if first else m for m in inside[k]],
                own_columns,
                sentence_text,
                own,
                own_features,
                dict(metas[k]) if metas else {},
            )
        )
        starts.append(start)
    return Document(sentences, id, text, starts, dict(meta or {}))


def _by_sentence(ranges: Sequence[Part], mentions: Sequence[Mention]) -> list[list[Mention]]:
    inside: list[list[Mention]] = [[] for _ in ranges]
    # Empty sentences hold no mention; leaving them out keeps the starts strictly ascending.
    filled = [k for k, (first, last) in enumerate(ranges) if first < last]
    starts = [ranges[k][0] for k in filled]
    for mention in mentions:
        k = filled[bisect_right(starts, mention.start) - 1]
        inside[k].append(mention)
    return inside
