"""Mentions drawn under their sentence in the terminal.

::

    human interleukin-2 and -4 genes
          ╰─ protein ─╯
          ╰─────────╯┈┈┈┈┈┈╰╯ protein
    ╰──────────── DNA ─────────────╯

A mention is a bracket with its label, inner ones nearer to the text, each in a row of its own where they overlap.
Dots join the parts of a discontinuous mention. Where a sentence is wrapped, a bracket that goes on has no corner.

Everything is measured in terminal cells: the sentence is first laid on one endless line, where every character and
every part of a mention has its half-open range of cells; wrapping cuts that line, and a row shows what falls in a cut.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence

from rich.cells import cell_len
from rich.text import Text

from spanloom.base.errors import ParameterError
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.drawing.brackets import Mark, Piece, divide, stack
from spanloom.drawing.line import lay, printable
from spanloom.drawing.pens import ASCII, UNICODE, Pen

# Mid tones, legible on black and on white; on a terminal of sixteen colours each becomes one of those, never grey.
# fmt: off
_PALETTE = (
    "#4c8dff", "#b5732a", "#1f9fd4", "#8f9a1c", "#e0459a", "#e5433b",
    "#c69016", "#a361ff", "#5c82c3", "#12a594", "#36a748", "#ef7d21",
)
# fmt: on
# Chosen among small numbers so that the labels of common inventories (GENIA, CoNLL, OntoNotes) get different colours.
_SALT = b"862"

_CORRECT, _MISSED, _SPURIOUS = "green", "red", "yellow"
_GUTTER = "dim"


def label_style(label: str) -> str:
    """Return the colour of a label: always the same one, whatever else is drawn.

    Examples
    --------
    >>> label_style("protein"), label_style("DNA")
    ('#4c8dff', '#ef7d21')
    """
    digest = hashlib.blake2b(label.encode("utf-8", "surrogatepass"), digest_size=4, salt=_SALT).digest()
    return _PALETTE[int.from_bytes(digest, "big") % len(_PALETTE)]


def distinct_styles(labels: Iterable[str]) -> dict[str, str]:
    """Return a colour for each label: its own, or a free one where an earlier label has the same.

    Examples
    --------
    >>> distinct_styles(["RNA", "PER"]), label_style("PER")
    ({'RNA': '#a361ff', 'PER': '#5c82c3'}, '#a361ff')
    """
    styles: dict[str, str] = {}
    for label in labels:
        own = _PALETTE.index(label_style(label))
        turned = (*_PALETTE[own:], *_PALETTE[:own])
        styles[label] = next((color for color in turned if color not in styles.values()), turned[0])
    return styles


def draw(
    sentence: Sentence,
    mentions: Iterable[Mention] | None = None,
    *,
    width: int | None = None,
    ascii_only: bool | None = None,
    styles: Mapping[str, str] | None = None,
) -> Text:
    """Draw a sentence with its mentions underneath.

    Parameters
    ----------
    sentence
        What to draw; its text is shown as it was written, runs of white space as one blank.
    mentions
        Instead of the sentence's own.
    width
        Cells per line; the terminal's if left out.
    ascii_only
        Draw lines with ASCII characters; if left out, where standard output is not in a Unicode encoding.
    styles
        rich styles by label, instead of `label_style`.

    Returns
    -------
    rich.text.Text
        To print with a rich console; ``.plain`` is the same without colours, as a string.

    Examples
    --------
    >>> sentence = Sentence("the EBNA2 promoter is active".split())
    >>> mentions = [Mention("protein", ((1, 2),), prob=0.934), Mention("DNA", ((1, 3),))]
    >>> print(draw(sentence, mentions, width=40, ascii_only=False).plain)
    the EBNA2 promoter is active
        ╰───╯ protein 0.93
        ╰─── DNA ────╯
    """
    width, pen = _settings(width, ascii_only)
    line = lay(sentence, pen)
    styles = styles or {}
    chosen = list(sentence.mentions if mentions is None else mentions)
    marks = [
        Mark(line.cells(m, i), _caption(m, pen), styles.get(m.label) or label_style(m.label))
        for i, m in enumerate(chosen)
    ]
    out = Text(no_wrap=True, overflow="ignore")
    cuts = line.cuts(width)
    for number, (cut, shown) in enumerate(zip(cuts, divide(marks, cuts), strict=True)):
        rows = stack(shown, cut, width, pen, pen.below)
        if number and marks:
            out.append("\n")
        _write(out, [[(0, line.text(cut), "")], *rows], "\n" if number else "")
    return out


def draw_pair(
    sentence: Sentence,
    gold: Iterable[Mention],
    predicted: Iterable[Mention],
    *,
    width: int | None = None,
    ascii_only: bool | None = None,
) -> Text:
    """Draw the gold mentions above a sentence and the predicted ones below it.

    A mention in both is marked ``✓`` on either side, a missed one ``✗`` above, a spurious one ``+`` below
    (``=``, ``-`` and ``+`` in ASCII). Parameters are those of `draw`.

    Examples
    --------
    >>> sentence = Sentence("the EBNA2 promoter is active".split())
    >>> gold = [Mention("protein", ((1, 2),)), Mention("DNA", ((1, 3),))]
    >>> print(draw_pair(sentence, gold, gold[1:], width=40, ascii_only=False).plain)
    gold      ╭── ✓ DNA ───╮
              ╭───╮ ✗ protein
          the EBNA2 promoter is active
    pred      ╰── ✓ DNA ───╯
    """
    width, pen = _settings(width, ascii_only)
    line = lay(sentence, pen)
    gold, predicted = list(gold), list(predicted)
    correct = set(gold) & set(predicted)

    def marks(mentions: Sequence[Mention], sign: str, style: str) -> list[Mark]:
        return [
            Mark(
                line.cells(m, i),
                f"{pen.correct if m in correct else sign} {_caption(m, pen)}",
                _CORRECT if m in correct else style,
            )
            for i, m in enumerate(mentions)
        ]

    above = marks(gold, pen.missed, _MISSED)
    below = marks(predicted, pen.spurious, _SPURIOUS)
    indent = len("gold  ")
    inner = max(1, width - indent)
    out = Text(no_wrap=True, overflow="ignore")
    cuts = line.cuts(inner)
    for number, (cut, shown_above, shown_below) in enumerate(
        zip(cuts, divide(above, cuts), divide(below, cuts), strict=True)
    ):
        upper = stack(shown_above, cut, inner, pen, pen.above)[::-1]
        lower = stack(shown_below, cut, inner, pen, pen.below)
        rows = [
            [(column + indent, text, style) for column, text, style in row]
            for row in [*upper, [(0, line.text(cut), "")], *lower]
        ]
        if upper:
            rows[0].insert(0, (0, "gold", _GUTTER))
        if lower:
            rows[len(upper) + 1].insert(0, (0, "pred", _GUTTER))
        if number and (above or below):
            out.append("\n")
        _write(out, rows, "\n" if number else "")
    return out


def _settings(width: int | None, ascii_only: bool | None) -> tuple[int, Pen]:
    if width is None:
        width = shutil.get_terminal_size().columns
    if width < 1:
        raise ParameterError(f"width must be at least 1 cell, not {width}")
    if ascii_only is None:
        ascii_only = not (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    return width, ASCII if ascii_only else UNICODE


def _caption(mention: Mention, pen: Pen) -> str:
    label = printable(mention.label, pen)
    return label if mention.prob is None else f"{label} {mention.prob:.2f}"


def _write(out: Text, rows: Iterable[list[Piece]], before: str) -> None:
    for row in rows:
        out.append(before)
        column = 0
        for start, text, style in row:
            out.append(" " * (start - column))
            out.append(text, style)
            column = start + cell_len(text)
        before = "\n"
