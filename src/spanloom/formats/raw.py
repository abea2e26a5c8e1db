"""Raw text with character mentions becomes a document: what the readers of standoff formats share."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from spanloom.corpus.document import Document
from spanloom.corpus.mention import Part
from spanloom.corpus.token_rules import DEFAULT_RULES, TokenRules
from spanloom.formats.align import POLICIES, CharMention, align, split_at_edges
from spanloom.formats.assemble import assemble, cut_tokens, join_at
from spanloom.formats.checks import BadRecord
from spanloom.formats.reading import choice
from spanloom.formats.report import Report

MOST_BLANKS = 1_000_000
"""Characters between two passages; more would be a text that the file does not have."""


def padded(text: str, offset: int, filling: str = " ") -> str:
    """Return the text with blanks up to ``offset``, where the next passage stands; ``BadRecord`` if these are too many.

    Examples
    --------
    >>> padded("A title.", 10), padded("A title.", 8)
    ('A title.  ', 'A title.')
    """
    if offset - len(text) > MOST_BLANKS:
        raise BadRecord(
            f"a passage at character {offset:,}, and {len(text):,} before it; at most {MOST_BLANKS:,} may be between"
        )
    return text.ljust(offset, filling)


def from_text(
    text: str,
    mentions: Sequence[CharMention],
    report: Report,
    where: str,
    *,
    id: str = "",
    align_by: str = "strict",
    tokens: str = "",
    sentences: str = "default",
    spans: Sequence[Part] | None = None,
    meta: Mapping[str, Any] | None = None,
) -> Document:
    r"""Return a document of raw text with character mentions, tokenised and split into sentences.

    A sentence break that we find inside a mention yields: the two sentences become one.

    Parameters
    ----------
    text, mentions
        The text, and mentions in its characters.
    report, where
        Takes what could not be placed, with the place.
    align_by
        ``strict``, ``expand``, ``contract`` or ``split``; see :mod:`spanloom.formats.align`.
    tokens
        The name of a tokenizer: ``default``, ``space`` (whatever stands between white space), ``punctuation``, or with
        switches: ``default,hyphens`` (see ``spanloom.corpus.token_rules``). Empty: that of the report, else ours.
    sentences
        ``default``: our splitter; ``lines``: every line is a sentence; ``one``: the whole text is.
    spans
        The source's own tokens, where it has them.

    Examples
    --------
    >>> doc = from_text("IL-2 binds.\nIt does.", [CharMention("protein", ((0, 4),))], Report(), "here")
    >>> [sentence.tokens for sentence in doc.sentences]
    [['IL', '-', '2', 'binds', '.'], ['It', 'does', '.']]
    >>> doc.surface(doc.mentions[0])
    'IL-2'
    """
    choice("align", align_by, POLICIES)
    if report.replaced and align_by == "strict":
        align_by = "expand"
    choice("sentences", sentences, ("default", "lines", "one"))
    rules = tokens_by(tokens, report)
    if spans is None:
        spans = rules(text)
        report.cut += 1
    if align_by == "split" and (cuts := split_at_edges(spans, mentions)):
        spans = [span for pieces, _ in cut_tokens(spans, cuts) for span in pieces]
    placed = align(text, spans, mentions, align_by, report, where)
    if sentences == "default":
        ranges: Sequence[Part] = rules.split(text, spans)
    else:
        ranges = _lines(text, spans) if sentences == "lines" else [(0, len(spans))]
    return assemble(text, spans, join_at(ranges, placed), placed, id=id, meta=meta)


def tokens_by(name: str, report: Report) -> TokenRules:
    """Return the tokenizer of a name; without one, that of the report, else ours."""
    return TokenRules.named(name) if name else report.tokenizer or DEFAULT_RULES


def _lines(text: str, spans: Sequence[Part]) -> list[Part]:
    breaks = [i for i in range(1, len(spans)) if "\n" in text[spans[i - 1][1] : spans[i][0]]]
    edges = [0, *breaks, len(spans)]
    return [(a, b) for a, b in itertools.pairwise(edges) if a < b]
