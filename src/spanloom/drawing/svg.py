"""Mentions drawn under their sentences as SVG, in the geometry of the terminal: cells, cut lines, rows of marks.

Every token is a text of its own, stretched to its cells, so that bars stand under their words in any font. A sentence
whose first letter runs from right to left is mirrored, but for what in it runs from left to right.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import ceil

from rich.cells import cell_len

from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.mention import Mention
from spanloom.drawing.brackets import Mark, divide, inner_first, place
from spanloom.drawing.line import Cells, lay, pieces, printable
from spanloom.drawing.pens import UNICODE
from spanloom.drawing.picture import label_style

_CELL, _LINE, _LANE, _MARGIN = 8.4, 21.0, 17.0, 14.0
_SHARE = 0.78  # of a cell that a character of a caption takes
_STYLE = """
.bg { fill: #fff } .t { fill: #17202b } .d { fill: #5b6878 } .t, .d { font: 14px ui-monospace, Consolas, monospace }
.c { font: 600 11px ui-monospace, Consolas, monospace } .gap { stroke-width: 2; stroke-dasharray: 4 3; fill: none }
@media (prefers-color-scheme: dark) { .bg { fill: #12171e } .t { fill: #e5eaf1 } .d { fill: #98a5b5 } }
"""


def picture(docs: Iterable[Document], width: int = 88) -> str:
    """Return documents as one SVG picture.

    Parameters
    ----------
    docs
        All of them are held until the end, when the height of the picture is known.
    width
        Characters a line may have.

    Examples
    --------
    >>> text = picture([Document([Sentence(["IL-2", "<gene>"], [Mention("DNA", ((0, 2),))])])])
    >>> text.startswith("<svg "), "&lt;gene&gt;" in text, text.count("<rect")
    (True, True, 2)
    """
    canvas = _Canvas(width)
    for doc in docs:
        if doc.id:
            canvas.heading(doc.id)
        for sentence in doc.sentences:
            canvas.sentence(sentence)
    return canvas.svg()


@dataclass(frozen=True, slots=True)
class _Fragment:
    """What one line shows of a mention: the cells of its parts, and where its caption begins."""

    mention: Mention
    solid: list[Cells]
    extent: Cells
    caption: str
    at: int

    @property
    def taken(self) -> Cells:
        return min(self.at, self.extent[0]), max(self.at + _cells(self.caption) + 1, self.extent[1])


class _Canvas:
    def __init__(self, width: int) -> None:
        self.width = width
        self.y = _MARGIN
        self.parts: list[str] = []
        self.way = _Way(width, None)

    def heading(self, text: str) -> None:
        """Write the name of a document."""
        self.y += _LINE
        self.parts.append(f'<text class="d" x="{_MARGIN}" y="{self.y:.1f}">{_safe(text)}</text>')
        self.y += 8

    def sentence(self, sentence: Sentence) -> None:
        """Draw a sentence in as many lines as it needs."""
        line = lay(sentence, UNICODE)
        words, _ = pieces(sentence)
        mirrored = _direction(sentence.text) == "R"
        marks = [Mark(line.cells(m, i), m.label, str(i)) for i, m in enumerate(sentence.mentions)]
        cuts = line.cuts(self.width)
        starts = [start for start, _ in line.tokens]
        for cut, shown in zip(cuts, divide(marks, cuts), strict=True):
            self.y += _LINE
            first, last = bisect_left(starts, cut[0]), bisect_left(starts, cut[1])
            here = [(words[t], (starts[t] - cut[0], line.tokens[t][1] - cut[0])) for t in range(first, last)]
            self.way = _Way(self.width, here if mirrored else None)
            for word, cells in here:
                self._text(word, cells)
            fragments = [self._fragment(shown[i], sentence.mentions, cut) for i in inner_first(shown)]
            rows = place([(f.extent, f.taken) for f in fragments])
            for fragment, row in zip(fragments, rows, strict=True):
                self._mark(fragment, self.y + 6 + row * _LANE)
            self.y += (max(rows, default=-1) + 1) * _LANE + 4
        self.y += 6

    def svg(self) -> str:
        """Return the picture."""
        width, height = self.width * _CELL + 2 * _MARGIN, self.y + _MARGIN
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.1f} {height:.1f}" width="{width:.0f}" '
            f'height="{height:.0f}"><style>{_STYLE}</style><rect class="bg" width="100%" height="100%"/>'
            f"{''.join(self.parts)}</svg>\n"
        )

    def _fragment(self, mark: Mark, mentions: Sequence[Mention], cut: Cells) -> _Fragment:
        mention = mentions[int(mark.style)]
        inside = [
            (max(a, cut[0]) - cut[0], min(b, cut[1]) - cut[0]) for a, b in mark.parts if a < cut[1] and b > cut[0]
        ]
        low, high = (min(max(x, cut[0]), cut[1]) - cut[0] for x in mark.extent)
        caption = printable(mention.label, UNICODE) if mark.extent[0] >= cut[0] else ""
        at = max(0, high - _cells(caption)) if low + _cells(caption) > self.width else low
        return _Fragment(mention, inside, (low, high), caption, at)

    def _mark(self, fragment: _Fragment, y: float) -> None:
        mention, color = fragment.mention, label_style(fragment.mention.label)
        prob = "" if mention.prob is None else f" {mention.prob:.3f}"
        drawn = [f"<g><title>{_safe(mention.label)}{prob}</title>"]
        if [fragment.extent] != fragment.solid:
            for a, b in self.way.seen(fragment.extent):
                drawn.append(f'<path class="gap" stroke="{color}" d="M{_x(a):.1f} {y + 1.5:.1f}H{_x(b):.1f}"/>')
        for part in fragment.solid:
            for a, b in self.way.seen(part):
                drawn.append(
                    f'<rect x="{_x(a) + 0.5:.1f}" y="{y:.1f}" width="{(b - a) * _CELL - 1:.1f}" height="3" rx="1.5" '
                    f'fill="{color}"/>'
                )
        if fragment.caption:
            ((a, b),) = self.way.seen((fragment.at, fragment.at + 1))
            from_right = self.way.mirrored and not self.way.inverted((fragment.at, fragment.at + 1))
            x, anchor = (b, "end") if from_right else (a, "start")
            drawn.append(
                f'<text class="c" fill="{color}" x="{_x(x):.1f}" y="{y + 12.5:.1f}" text-anchor="{anchor}">'
                f"{_safe(fragment.caption)}</text>"
            )
        self.parts.append("".join([*drawn, "</g>\n"]))

    def _text(self, word: str, cells: Cells) -> None:
        ((a, b),) = self.way.seen(cells)
        # Where a text begins: right, if it runs from there.
        x, way = (b, ' direction="rtl"') if self.way.mirrored and not self.way.inverted(cells) else (a, "")
        self.parts.append(
            f'<text class="t" x="{_x(x):.1f}" y="{self.y:.1f}"{way} textLength="{(b - a) * _CELL:.1f}" '
            f'lengthAdjust="spacingAndGlyphs">{_safe(word)}</text>\n'
        )


class _Way:
    """Where cells of a line are seen: as they are, or mirrored, with runs from left to right mirrored back.

    Parameters
    ----------
    width
        Cells of the line.
    words
        For a mirrored line its words, with their cells.
    """

    def __init__(self, width: int, words: Sequence[tuple[str, Cells]] | None) -> None:
        self.width = width
        self.mirrored = words is not None
        self.runs: list[Cells] = []
        run: Cells | None = None
        for word, (start, end) in words or ():
            first = _direction(word)
            if first == "L":
                run = (start if run is None else run[0], end)
            elif first is not None and run is not None:
                self.runs.append(run)
                run = None
        if run is not None:
            self.runs.append(run)

    def inverted(self, cells: Cells) -> bool:
        """Whether cells lie in a run that is mirrored back."""
        return any(a <= cells[0] < b for a, b in self.runs)

    def seen(self, cells: Cells) -> list[Cells]:
        """Return where cells are seen; in pieces, where a run begins or ends within them."""
        if not self.mirrored:
            return [cells]
        found: list[Cells] = []
        edges = sorted({*cells, *(x for run in self.runs for x in run if cells[0] < x < cells[1])})
        for low, high in pairwise(edges):
            run = next(((a, b) for a, b in self.runs if a <= low < b), None)
            if run is not None:
                low, high = run[0] + run[1] - high, run[0] + run[1] - low
            found.append((self.width - high, self.width - low))
        return found


def _x(cell: int) -> float:
    return _MARGIN + cell * _CELL


def _cells(caption: str) -> int:
    return ceil(_SHARE * cell_len(caption))


def _direction(text: str) -> str | None:
    """Return the direction of the first letter that has one: L, or R for right to left."""
    ways = (unicodedata.bidirectional(character) for character in text)
    return next(("L" if way == "L" else "R" for way in ways if way in ("L", "R", "AL")), None)


def _safe(text: str) -> str:
    """Return text that XML can hold."""
    return escape("".join(c if c not in "\ufffe\uffff" else "\ufffd" for c in printable(text, UNICODE)))
