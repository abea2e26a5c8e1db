"""A sentence laid on one endless line of terminal cells, and where to cut it."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise

from rich.cells import cell_len

from spanloom.base.errors import ParameterError
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.drawing.pens import Pen

Cells = tuple[int, int]
"""A half-open range of terminal cells."""


@dataclass(frozen=True, slots=True)
class _Glyph:
    """A character with the zero-width ones after it."""

    text: str
    cell: int
    width: int
    # How good it is to begin a line here: 2 after white space, 1 at a token, 0 within one; -1 is white space itself.
    rank: int


@dataclass(frozen=True, slots=True)
class Line:
    """The sentence on one endless line."""

    glyphs: list[_Glyph]
    tokens: list[Cells]

    def cells(self, mention: Mention, number: int) -> list[Cells]:
        """Return the cells of each part of the mention; its number is for the message if it does not fit."""
        if mention.end > len(self.tokens):
            raise ParameterError(
                f"mention {number} ({mention.label} {mention.parts}) ends at token {mention.end}, "
                f"but the sentence has {len(self.tokens)} tokens; give mentions in sentence tokens"
            )
        return [(self.tokens[start][0], self.tokens[end - 1][1]) for start, end in mention.parts]

    def cuts(self, width: int) -> list[Cells]:
        """Return the range of cells of each output line: the longest that fits, broken at the best place."""
        glyphs = self.glyphs
        cuts: list[Cells] = []
        start = 0
        while start < len(glyphs):
            origin = glyphs[start].cell
            end = start
            while end < len(glyphs) and glyphs[end].cell + glyphs[end].width - origin <= width:
                end += 1
            end = max(end, start + 1)
            if end < len(glyphs) and glyphs[end].rank >= 0:
                end = max(range(start + 1, end + 1), key=lambda i: (glyphs[i].rank, i))
            last = end
            while last > start + 1 and glyphs[last - 1].rank < 0:
                last -= 1
            cuts.append((origin, glyphs[last - 1].cell + glyphs[last - 1].width))
            start = end
            while start < len(glyphs) and glyphs[start].rank < 0:
                start += 1
        return cuts or [(0, 0)]

    def text(self, cut: Cells) -> str:
        """Return the characters of one output line."""
        first = bisect_left(self.glyphs, cut[0], key=lambda glyph: glyph.cell)
        last = bisect_left(self.glyphs, cut[1], key=lambda glyph: glyph.cell)
        return "".join(glyph.text for glyph in self.glyphs[first:last])


def pieces(sentence: Sentence) -> tuple[list[str], list[str]]:
    """Return what is shown of each token, and what stands between them."""
    # Tokens that share characters (a contraction split by a treebank) can only be shown apart.
    if any(a[1] > b[0] for a, b in pairwise(sentence.spans)):
        return sentence.tokens, [" "] * max(0, len(sentence.tokens) - 1)
    words = [sentence.text[start:end] for start, end in sentence.spans]
    return words, [sentence.text[a[1] : b[0]] for a, b in pairwise(sentence.spans)]


def lay(sentence: Sentence, pen: Pen) -> Line:
    """Give every character and every token of a sentence its cells."""
    words, gaps = pieces(sentence)
    glyphs: list[_Glyph] = []
    tokens: list[Cells] = []
    cell = 0
    for i, word in enumerate(words):
        start = cell
        rank = 2 if i and gaps[i - 1][-1:].isspace() else 1
        for text, size in _glyphs(word, pen) or [(pen.unknown, 1)]:
            glyphs.append(_Glyph(text, cell, size, rank))
            cell += size
            rank = 0
        tokens.append((start, cell))
        gap = " ".join(f"|{gaps[i]}|".split())[1:-1] if i < len(gaps) else ""
        for text, size in _glyphs(gap, pen):
            glyphs.append(_Glyph(text, cell, size, -1 if text.isspace() else 0))
            cell += size
    return Line(glyphs, tokens)


def _glyphs(text: str, pen: Pen) -> list[tuple[str, int]]:
    """Split a text into what takes cells."""
    safe = printable(text, pen)
    if safe.isascii():
        return [(character, 1) for character in safe]
    found: list[tuple[str, int]] = []
    for character in safe:
        # Measured together with what stands before it: a joiner or an accent makes one glyph of several characters.
        text, size = found[-1] if found else ("", 0)
        grown = cell_len(text + character)
        if found and grown <= size:
            found[-1] = (text + character, size)
        elif grown > size:
            found.append((character, grown - size))
    return found


def printable(text: str, pen: Pen) -> str:
    """Replace what could steer the terminal, and leave out what could turn the direction of the line."""
    return text if text.isascii() and text.isprintable() else "".join(_safe(character, pen) for character in text)


def _safe(character: str, pen: Pen) -> str:
    kind = unicodedata.category(character)
    if kind in ("Cc", "Cs", "Zl", "Zp"):
        return pen.unknown
    # Of the invisible format characters only the joiners are wanted: they shape letters and emoji.
    return "" if kind == "Cf" and character not in "\u200c\u200d" else character
