"""The brackets of one output line: their lines, where the caption goes, which row they take."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from spanloom.drawing.line import Cells
from spanloom.drawing.pens import Bracket, Pen

_BLOCK = 64

Piece = tuple[int, str, str]
"""The first cell in the output line, the text, and its style."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mention as it is to be drawn: the cells of its parts on the endless line."""

    parts: list[Cells]
    caption: str
    style: str

    @property
    def extent(self) -> Cells:
        """From the first part to the last, with the gaps between."""
        return self.parts[0][0], self.parts[-1][1]


def divide(marks: Sequence[Mark], cuts: Sequence[Cells]) -> list[list[Mark]]:
    """Return for each output line the marks that it shows something of."""
    starts, ends = zip(*cuts, strict=True)
    shown: list[list[Mark]] = [[] for _ in cuts]
    for mark in marks:
        low, high = mark.extent
        for line in range(bisect_right(ends, low), bisect_left(starts, high)):
            shown[line].append(mark)
    return shown


def stack(marks: Sequence[Mark], cut: Cells, width: int, pen: Pen, bracket: Bracket) -> list[list[Piece]]:
    """Place the marks of one output line in rows, the nearest to the text first: short before long, none over another.

    A bracket stands below every shorter one that it overlaps, so that inner mentions are nearer to the text.
    """
    fragments = [_fragment(mark, cut, width, pen, bracket) for mark in map(marks.__getitem__, inner_first(marks))]
    rows = place([(fragment.lines, fragment.taken) for fragment in fragments])
    stacked: list[list[Piece]] = [[] for _ in range(max(rows, default=-1) + 1)]
    for fragment, row in zip(fragments, rows, strict=True):
        stacked[row].append(fragment.piece)
    return [sorted(row) for row in stacked]


def inner_first(marks: Sequence[Mark]) -> list[int]:
    """Return the numbers of the marks in the order in which rows are given to them."""
    return sorted(range(len(marks)), key=lambda i: (_size(marks[i].extent), marks[i].parts, marks[i].caption))


def place(marks: Sequence[tuple[Cells, Cells]]) -> list[int]:
    """Return a row for each mark, 0 nearest to the text: below what was placed before and has lines over its own.

    Parameters
    ----------
    marks
        For each mark, from short to long, the cells of its lines, and those that nothing else may take in its row.

    Examples
    --------
    >>> place([((0, 4), (0, 9)), ((5, 8), (5, 8)), ((0, 8), (0, 8))])
    [0, 1, 2]
    """
    rows: list[int] = []
    blocks: dict[int, list[int]] = {}  # marks by the blocks of cells that they touch: only neighbours are compared
    for k, (lines, taken) in enumerate(marks):
        touched = range(min(lines[0], taken[0]) // _BLOCK, (max(lines[1], taken[1]) - 1) // _BLOCK + 1)
        near = {i for block in touched for i in blocks.get(block, ())}
        row = max((rows[i] + 1 for i in near if _meet(marks[i][0], lines)), default=0)
        full = {rows[i] for i in near if _meet(marks[i][1], taken)}
        while row in full:
            row += 1
        rows.append(row)
        for block in touched:
            blocks.setdefault(block, []).append(k)
    return rows


@dataclass(frozen=True, slots=True)
class _Fragment:
    """What one output line shows of a mention, in cells of that line."""

    piece: Piece
    # lines: from the first bracket to the last. taken: also a caption beside them, and the blank on its far side.
    lines: Cells
    taken: Cells


def _fragment(mark: Mark, cut: Cells, width: int, pen: Pen, bracket: Bracket) -> _Fragment:
    low, high = _within(mark.extent, cut)
    solid = [_within(part, cut) for part in mark.parts if _meet(part, cut)]
    canvas = [bracket.dots] * (high - low)
    for start, end in solid:
        canvas[start - low : end - low] = [bracket.line] * (end - start)
    # A part has an end here if it was not cut off.
    for start, end in mark.parts:
        if end - start == 1 and _meet((start, end), cut):
            canvas[start - cut[0] - low] = bracket.single
            continue
        if cut[0] <= start < cut[1]:
            canvas[start - cut[0] - low] = bracket.left
        if cut[0] < end <= cut[1]:
            canvas[end - 1 - cut[0] - low] = bracket.right
    lines = "".join(canvas)

    # A caption leaves one cell of line or dots on either side, so that the ends and what they join stay visible.
    edges = [low, *(edge for part in solid for edge in part), high]
    part = max(((a + 1, b - 1) for a, b in solid), key=_size, default=(low, low))
    gap = max(((a + 1, b - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)), key=_size)
    right, left = width - high - 1, low - 1
    caption = mark.caption
    length = cell_len(caption)
    for room, blanks in ((part, 2), (gap, 2), (part, 0)):
        if length + blanks <= _size(room):
            return _Fragment((low, _inside(lines, low, room, caption), mark.style), (low, high), (low, high))
    if length > max(right, left):
        caption = _shorten(caption, max(_size(part), right, left), pen)
        length = cell_len(caption)
        if length <= _size(part):
            return _Fragment((low, _inside(lines, low, part, caption), mark.style), (low, high), (low, high))
    if length == 0:
        return _Fragment((low, lines, mark.style), (low, high), (low, high))
    if length <= right:
        return _Fragment((low, f"{lines} {caption}", mark.style), (low, high), (low, high + length + 2))
    begin = low - 1 - length
    return _Fragment((begin, f"{caption} {lines}", mark.style), (low, high), (begin - 1, high))


def _meet(a: Cells, b: Cells) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def _within(cells: Cells, cut: Cells) -> Cells:
    """Return what falls in the cut, counted from its beginning."""
    return max(cells[0], cut[0]) - cut[0], min(cells[1], cut[1]) - cut[0]


def _size(cells: Cells) -> int:
    return cells[1] - cells[0]


def _inside(lines: str, low: int, room: Cells, caption: str) -> str:
    """Put the caption in the middle of its room, with a blank on either side where there is space."""
    if cell_len(caption) + 2 <= _size(room):
        caption = f" {caption} "
    length = cell_len(caption)
    at = room[0] - low + (_size(room) - length) // 2
    return lines[:at] + caption + lines[at + length :]


def _shorten(caption: str, length: int, pen: Pen) -> str:
    if length < 1:
        return ""
    while cell_len(caption) > length - 1:
        caption = caption[:-1]
    return caption + pen.ellipsis
