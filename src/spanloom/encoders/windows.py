"""Windows: which pieces a network reads at once, and which of their vectors are used.

A sentence that fits is one window. A longer one is read in overlapping windows, and each piece is taken from a window
that has ``context`` pieces on both sides of it, or where the sentence begins or ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spanloom.encoders.pieces import Numbers, Pieces


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows over the pieces of some sentences.

    Attributes
    ----------
    start, end
        By window: the pieces that are read, in all pieces of the corpus.
    first, last
        By window: those that are taken from it.
    """

    start: Numbers
    end: Numbers
    first: Numbers
    last: Numbers

    def __len__(self) -> int:
        return len(self.start)


def plan(pieces: Pieces, sentences: Sequence[int] | Numbers, window: int, context: int) -> Windows:
    """Cut sentences into windows of at most ``window`` pieces, of which those in the middle are taken.

    Examples
    --------
    >>> pieces = Pieces(np.arange(10), np.arange(11), np.array([0, 10]))
    >>> made = plan(pieces, [0], window=6, context=1)
    >>> list(zip(made.start.tolist(), made.end.tolist(), made.first.tolist(), made.last.tolist()))
    [(0, 6, 0, 5), (4, 10, 5, 10)]
    """
    bounds = pieces.word_ptr[pieces.sentence_ptr]
    rows: list[tuple[int, int, int, int]] = []
    step = max(window - 2 * context, 1)
    for number in sentences:
        begin, end = int(bounds[number]), int(bounds[number + 1])
        if end - begin <= window:
            if begin < end:
                rows.append((begin, end, begin, end))
            continue
        taken = at = begin
        while at + window < end:
            rows.append((at, at + window, taken, at + window - context))
            taken = at + window - context
            at += step
        rows.append((end - window, end, taken, end))
    table = np.array(rows, np.int64).reshape(-1, 4)
    return Windows(*np.ascontiguousarray(table.T))


@dataclass(frozen=True, slots=True)
class Filled:
    """Windows as one table, and where each word's vector stands in it.

    Attributes
    ----------
    ids
        ``[window, position]``, special pieces included, filled up at the end.
    seen
        ``[window, position]``: whether there is a piece.
    at
        By piece that is used: its position in the flat table ``[window * width]``.
    word
        By piece that is used: its word, counted within the sentences at hand.
    words
        The number of words.
    """

    ids: Numbers
    seen: Numbers
    at: Numbers
    word: Numbers
    words: int


def fill(
    pieces: Pieces,
    sentences: Sequence[int] | Numbers,
    windows: Windows,
    before: Sequence[int],
    after: Sequence[int],
    pad: int,
    every: bool,
) -> Filled:
    """Put windows into one table; ``every`` piece of a word is used, or its first one only."""
    sizes = windows.end - windows.start
    width = int(sizes.max(initial=0)) + len(before) + len(after)
    ids = np.full((len(windows), width), pad, np.int64)
    ids[:, : len(before)] = before
    columns = np.arange(width - len(before) - len(after))
    inside = columns[None, :] < sizes[:, None]
    source = (windows.start[:, None] + columns[None, :])[inside]
    row, column = np.nonzero(inside)
    ids[row, column + len(before)] = pieces.ids[source]
    if after:
        ends = (sizes + len(before))[:, None] + np.arange(len(after))
        ids[np.arange(len(windows))[:, None], ends] = after
    seen = np.arange(width)[None, :] < (sizes + len(before) + len(after))[:, None]

    numbers = np.asarray(sentences, np.int64)
    firsts, lasts = pieces.sentence_ptr[numbers], pieces.sentence_ptr[numbers + 1]
    counts = lasts - firsts
    words = int(counts.sum())
    shift = np.cumsum(counts) - counts  # of words, in the sentences at hand
    every_word = np.repeat(firsts - shift, counts) + np.arange(words)
    # The place of every piece that is taken, by its number in the corpus. Windows are in the order of sentences.
    taken = windows.last - windows.first
    owner = np.repeat(np.arange(len(windows)), taken)
    piece = np.repeat(windows.first - (np.cumsum(taken) - taken), taken) + np.arange(int(taken.sum()))
    place = owner * width + len(before) + piece - windows.start[owner]
    # Pieces that are taken are those of all words, each once, in order.
    per_word = pieces.word_ptr[every_word + 1] - pieces.word_ptr[every_word]
    first_of_word = np.cumsum(per_word) - per_word
    if every:
        return Filled(ids, seen.astype(np.int64), place, np.repeat(np.arange(words), per_word), words)
    return Filled(ids, seen.astype(np.int64), place[first_of_word], np.arange(words), words)
