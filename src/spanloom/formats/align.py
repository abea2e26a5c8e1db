"""Character mentions on tokens: which tokens does an annotation of characters mean?

Policies where an edge of a mention lies inside a token:

- ``strict``: an error; the report names the mention and the nearest token edges,
- ``expand``: take the whole token,
- ``contract``: leave the token out,
- ``split``: split the token there (the pieces keep its columns).

An edge in white space always means the token next to it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from spanloom.corpus.mention import Mention, Part, Parts
from spanloom.formats.report import Report

POLICIES = ("strict", "expand", "contract", "split")


@dataclass(frozen=True, slots=True)
class CharMention:
    """A mention as half-open character ranges of a text."""

    label: str
    chars: Parts
    prob: float | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    where: str = ""


def split_at_edges(spans: Sequence[Part], mentions: Iterable[CharMention]) -> list[int] | None:
    """Return the positions inside tokens where a mention begins or ends, ascending; None if there are none."""
    starts = [s for s, _ in spans]
    begins, ends = set(starts), {e for _, e in spans}
    cuts: set[int] = set()
    for mention in mentions:
        for start, end in mention.chars:
            for edge, known in ((start, begins), (end, ends)):
                if edge not in known:
                    i = bisect_right(starts, edge) - 1
                    if i >= 0 and spans[i][0] < edge < spans[i][1]:
                        cuts.add(edge)
    return sorted(cuts) or None


def align(
    text: str, spans: Sequence[Part], mentions: Sequence[CharMention], policy: str, report: Report, where: str
) -> list[Mention]:
    """Return the mentions in token indices of ``spans``; what cannot be placed goes into the report.

    ``split`` is treated as ``strict`` here: cut the tokens first, with ``split_at_edges``.

    Examples
    --------
    >>> report = Report()
    >>> spans = [(0, 4), (5, 9)]
    >>> align("IL-2 gene", spans, [CharMention("DNA", ((0, 9),))], "strict", report, "doc 1")
    [Mention(label='DNA', parts=((0, 2),), prob=None)]
    >>> align("IL-2 gene", spans, [CharMention("protein", ((0, 2),))], "expand", report, "doc 1")
    [Mention(label='protein', parts=((0, 1),), prob=None)]
    >>> align("IL-2 gene", spans, [CharMention("protein", ((0, 2),))], "strict", report, "doc 1")
    []
    >>> print(report.problems[-1].message)
    protein 'IL' (0, 2) does not end on a token edge; the nearest are 0 and 4
    """
    starts = [s for s, _ in spans]
    ends = [e for _, e in spans]
    # The words of a contraction may share their characters: a mention of those has all of them.
    first = {s: i for i, s in zip(range(len(starts) - 1, -1, -1), reversed(starts), strict=True)}
    last = {e: i + 1 for i, e in enumerate(ends)}
    aligned: list[Mention] = []
    for mention in mentions:
        place = mention.where or where
        parts: list[Part] = []
        good = True
        for start, end in mention.chars:
            i, j = first.get(start, -1), last.get(end, -1)
            if i < 0 or j <= i:
                if not 0 <= start < end <= len(text):
                    kind = "out-of-text" if start < end else "inverted" if start > end else "empty"
                    report.error(
                        kind,
                        place,
                        f"{mention.label} ({start}, {end}) is not a range of a text of {len(text)} characters",
                    )
                    good = False
                    break
                trimmed = _trim(text, start, end)
                if trimmed is None:
                    report.error("blank", place, f"{mention.label} ({start}, {end}) covers white space only")
                    good = False
                    break
                if trimmed != (start, end):
                    report.warning(
                        "white-space-edge", place, f"{mention.label} {text[start:end]!r} has white space at its edge"
                    )
                    start, end = trimmed
                i, j = _tokens(start, end, starts, ends, policy)
                if i < 0 or j <= i:
                    report.error("misaligned", place, _explain(text, mention, start, end, starts, ends))
                    good = False
                    break
            parts.append((i, j))
        if good:
            aligned.append(Mention(mention.label, _union(parts), mention.prob, mention.attributes))
    return aligned


def _trim(text: str, start: int, end: int) -> Part | None:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    right = len(piece.rstrip())
    return (start + left, start + right) if left < right else None


def _tokens(start: int, end: int, starts: list[int], ends: list[int], policy: str) -> Part:
    """The token range that the policy gives to characters; (-1, -1) where it gives none."""
    i, j = bisect_left(starts, start), bisect_right(ends, end)
    if policy == "expand":
        i, j = bisect_right(ends, start), bisect_left(starts, end)
    elif policy != "contract":
        exact = i < len(starts) and starts[i] == start and j > 0 and ends[j - 1] == end
        return (i, j) if exact else (-1, -1)
    return (i, j) if i < j else (-1, -1)


def _explain(text: str, mention: CharMention, start: int, end: int, starts: list[int], ends: list[int]) -> str:
    inside = sorted(set(starts) | set(ends))
    wrong = "begin" if start not in starts else "end"
    edge = start if wrong == "begin" else end
    at = bisect_left(inside, edge)
    near = " and ".join(str(x) for x in inside[max(at - 1, 0) : at + 1])
    surface = text[start:end]
    return f"{mention.label} {surface!r} ({start}, {end}) does not {wrong} on a token edge; the nearest are {near}"


def _union(parts: list[Part]) -> Parts:
    """Parts of one mention may come to share a token by ``expand``."""
    if len(parts) == 1:
        return (parts[0],)
    merged: list[Part] = []
    for start, end in sorted(parts):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
