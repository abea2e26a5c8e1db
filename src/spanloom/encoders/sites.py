"""Which tokens a site looks at: a token, the two around a gap, the first and the last of a segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spanloom._native import Lattices
from spanloom.encoders.pieces import Numbers

TOKEN, GAP, SPAN = "token", "gap", "span"
KINDS = {"tokens": (TOKEN,), "gaps": (GAP,), "segments": (SPAN,), "mentions": (GAP, SPAN)}
"""What the sites of models are, by ``Model.sites``. Rows of a lattice that segments share have no vectors."""
BEFORE, AFTER = 0, 1
"""Vectors of their own for what is before and after a sentence: rows 0 and 1, tokens from row 2 on."""


@dataclass(frozen=True, slots=True)
class Group:
    """Sites of one kind.

    Attributes
    ----------
    kind
        ``"token"``, ``"gap"`` or ``"span"``.
    rows
        Their numbers among all sites of the sentences.
    left, right
        Rows of the table of vectors: ``BEFORE``, ``AFTER``, token ``t`` of all sentences at ``t + 2``.
    length
        Tokens of a span, less one.
    """

    kind: str
    rows: Numbers
    left: Numbers
    right: Numbers
    length: Numbers


@dataclass(frozen=True, slots=True)
class SiteTable:
    """The sites of some sentences; sentence ``s`` has the sites ``ptr[s]`` to ``ptr[s + 1]``."""

    ptr: Numbers
    groups: list[Group]


def site_table(sites: str, lengths: Sequence[int], lattices: Lattices | None) -> SiteTable:
    """Return the sites of sentences of these lengths, in the order of their rows of features.

    Examples
    --------
    >>> table = site_table("gaps", [2], None)
    >>> table.ptr.tolist(), table.groups[0].left.tolist(), table.groups[0].right.tolist()
    ([0, 3], [0, 2, 3], [2, 3, 1])
    """
    n = np.asarray(lengths, np.int64)
    first = np.cumsum(n) - n + 2
    if sites == "tokens":
        every = np.arange(int(n.sum())) + 2
        return SiteTable(_bounds(n), [Group(TOKEN, every - 2, every, every, np.zeros_like(every))])
    if sites == "gaps":
        return SiteTable(_bounds(n + 1), [_gaps(n, first, np.cumsum(n + 1) - (n + 1))])
    if lattices is None:
        raise ValueError(f"sites {sites!r} need the lattices of the sentences")
    ptr = _bounds(np.array([lattices.rows_in(s) for s in range(len(n))], np.int64))
    groups = [_spans(ptr, first, lattices)]
    if sites == "mentions":
        groups.insert(0, _gaps(n, first, ptr[:-1]))
    return SiteTable(ptr, groups)


def _gaps(n: Numbers, first: Numbers, base: Numbers) -> Group:
    """Gaps 0 to n of each sentence, at rows from ``base`` on."""
    counts = n + 1
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    start = np.repeat(first, counts)
    left = np.where(within == 0, BEFORE, start + within - 1)
    right = np.where(within == np.repeat(n, counts), AFTER, start + within)
    return Group(GAP, np.repeat(base, counts) + within, left, right, np.zeros_like(left))


def _spans(ptr: Numbers, first: Numbers, lattices: Lattices) -> Group:
    """Every candidate has a row of its own, after all others of its sentence."""
    rows, spans = [], []
    for s in range(len(first)):
        own = lattices.spans(s).astype(np.int64).reshape(-1, 2)
        rows.append(np.arange(ptr[s + 1] - len(own), ptr[s + 1]))
        spans.append(own + first[s])
    nothing = np.zeros((0, 2), np.int64)
    table = np.concatenate([nothing, *spans])
    left, right = table[:, 0], table[:, 1] - 1
    return Group(SPAN, np.concatenate([nothing[:, 0], *rows]), left, right, right - left)


def _bounds(sizes: Numbers) -> Numbers:
    ptr = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=ptr[1:])
    return ptr
