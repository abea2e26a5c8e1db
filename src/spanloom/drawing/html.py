"""Mentions drawn at their text, as HTML without scripts.

Every token of a mention is a ``span`` of ordinary text with one absolutely placed mark for each mention over it: a bar,
dashed in the gap of a discontinuous mention, with the caption at the first token. The text stays text: it wraps, it is
found and copied without captions (which are in attributes), and its letters join and run as its script wants. An empty
element in each such token makes the line as high as its marks need.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from importlib import resources
from math import ceil

from rich.cells import cell_len

from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.mention import Mention
from spanloom.drawing.brackets import Mark, inner_first, place
from spanloom.drawing.line import Cells, Line, lay, pieces
from spanloom.drawing.pens import UNICODE
from spanloom.drawing.picture import label_style

_UNHELD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LONG = 30  # characters of a token that may break, as an address does
_SHARE = 0.75  # of a cell of the text that a character of a caption takes


@dataclass(frozen=True, slots=True)
class Shown:
    """A mention as it is to be shown: its caption, what is said of it on hover, and its colour in CSS."""

    mention: Mention
    caption: str
    hover: str
    color: str


def shown(mentions: Iterable[Mention]) -> list[Shown]:
    """Return mentions in the colours of their labels, with their probabilities on hover."""
    return [Shown(m, m.label, _hover(m), label_style(m.label)) for m in mentions]


def document_html(doc: Document) -> str:
    """Return a document's text with its mentions, to stand in a page that has :func:`style`.

    Examples
    --------
    >>> from spanloom.corpus import make_document
    >>> document_html(make_document("a < b"))
    '<div class="sl" dir="auto">a &lt; b</div>'
    """
    return f'<div class="sl" dir="auto"{_margin(doc.sentences)}>{_document(doc)}</div>'


def sentence_html(sentence: Sentence) -> str:
    """Return a sentence's text with its mentions, to stand in a page that has :func:`style`."""
    return f'<div class="sl" dir="auto"{_margin([sentence])}>{text_html(sentence, shown(sentence.mentions))}</div>'


def pair_html(sentence: Sentence, above: Sequence[Shown], below: Sequence[Shown]) -> str:
    """Return a sentence's text with mentions above it and below it."""
    return f'<div class="sl" dir="auto">{text_html(sentence, below, above)}</div>'


@lru_cache(maxsize=1)
def style() -> str:
    """Return the style sheet that all drawings need, once a page."""
    return resources.files(__package__).joinpath("drawn.css").read_text(encoding="utf-8")


def text_html(sentence: Sentence, below: Sequence[Shown], above: Sequence[Shown] = ()) -> str:
    """Return a sentence's text with marks at its tokens."""
    words, gaps = pieces(sentence)
    if not words:
        return clean(sentence.text)
    lead, tail = sentence.text[: sentence.spans[0][0]], sentence.text[sentence.spans[-1][1] :]
    line = lay(sentence, UNICODE)
    marks = [_marks(line, side, up) for side, up in ((below, False), (above, True))]
    out = [clean(lead)]
    for t, (word, gap) in enumerate(zip(words, [*gaps, tail], strict=True)):
        down, up = (side.get(t, []) for side in marks)
        if not down and not up:
            out.append(clean(word + gap))
            continue
        inside = "\n" not in gap and any(t + 1 < mark.shown.mention.end for mark in (*down, *up))
        hover = "\n".join(mark.shown.hover for mark in (*up[::-1], *down))
        struts = "".join(
            f'<i class="h {way}" style="--n:{1 + max(mark.row for mark in side)}"></i>'
            for way, side in (("down", down), ("up", up))
            if side
        )
        bars = "".join(mark.html(t, inside and gap != "") for mark in (*up, *down))
        kind = "w short" if len(word) <= _LONG else "w"
        text = clean(word + gap) if inside else clean(word)
        out.append(f'<span class="{kind}" title="{clean(hover)}">{struts}{text}{bars}</span>')
        out.append("" if inside else clean(gap))
    return "".join(out)


def clean(text: str) -> str:
    """Return text that can stand in HTML, also in an attribute: escaped, without what HTML cannot hold.

    Examples
    --------
    >>> clean('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return escape(_UNHELD.sub("\ufffd", text))


@dataclass(frozen=True, slots=True)
class _Placed:
    shown: Shown
    row: int
    up: bool

    def html(self, t: int, blank: bool) -> str:
        """Return the bar at one token; ``blank``: whether white space after the token belongs to it."""
        mention = self.shown.mention
        part = next((p for p in mention.parts if p[0] <= t < p[1]), None)
        kinds = "l up" if self.up else "l"
        if part is None:
            kinds += " g"
        else:
            kinds += " s" if t == part[0] else ""
            kinds += (" e b" if blank else " e") if t == part[1] - 1 else ""
        caption = f' data-l="{clean(self.shown.caption)}"' if t == mention.start else ""
        return f'<i class="{kinds}" style="--k:{self.row};--m:{self.shown.color}"{caption}></i>'


def _marks(line: Line, side: Sequence[Shown], up: bool) -> dict[int, list[_Placed]]:
    """Return what stands at each token, the nearest to the text first."""
    marks = [Mark(line.cells(one.mention, i), one.caption, one.color) for i, one in enumerate(side)]
    order = inner_first(marks)
    rows = place([(marks[i].extent, _taken(marks[i])) for i in order])
    found: dict[int, list[_Placed]] = {}
    for i, row in sorted(zip(order, rows, strict=True), key=lambda pair: pair[1]):
        for t in range(side[i].mention.start, side[i].mention.end):
            found.setdefault(t, []).append(_Placed(side[i], row, up))
    return found


def _taken(mark: Mark) -> Cells:
    """Return the cells that a bar and its caption take."""
    low, high = mark.extent
    return low, max(high, low + ceil(_SHARE * cell_len(mark.caption)) + 1)


def _document(doc: Document) -> str:
    out: list[str] = []
    at = 0
    for start, sentence in zip(doc.starts, doc.sentences, strict=True):
        out += [clean(doc.text[at:start]), text_html(sentence, shown(sentence.mentions))]
        at = start + len(sentence.text)
    return "".join([*out, clean(doc.text[at:])])


def _margin(sentences: Iterable[Sentence]) -> str:
    """Return the room beside the text that the caption of a last word may need, in guessed widths of letters."""
    over = (0.42 * len(m.label) - 0.5 * len(s.tokens[m.start]) for s in sentences for m in s.mentions)
    most = max(over, default=0.0)
    return f' style="padding-inline-end:{min(most, 6):.1f}em"' if most > 0 else ""


def _hover(mention: Mention) -> str:
    return mention.label if mention.prob is None else f"{mention.label} {mention.prob:.3f}"
