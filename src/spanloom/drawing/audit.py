"""Suspected annotation errors, to go through in a notebook or on a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from spanloom.corpus import Mention, Sentence
from spanloom.drawing.explanation import marked, page

if TYPE_CHECKING:
    from spanloom.tuning import Suspect

STYLE = """
.loom-audit{font:15px/1.5 system-ui,sans-serif;max-width:70em;padding:1em;color:#1c1c1c;background:#fff}
.loom-audit article{border-top:1px solid #9994;padding:.6em 0}.loom-audit small{color:#777}
.loom-audit mark{background:#ffe08a;color:inherit}.loom-audit article:has(input:checked){opacity:.45}
@media (prefers-color-scheme:dark){.loom-audit{color:#e4e4e4;background:#171717}.loom-audit mark{background:#6b5200}}
"""
_AROUND = """
body{font-family:system-ui,sans-serif;margin:1em auto;max-width:72em;color:#1c1c1c;background:#fff}
@media (prefers-color-scheme:dark){body{color:#e4e4e4;background:#171717}}
"""
TOP = 20
"""So many suspects are shown in a notebook."""


def audit_html(suspects: Sequence[Suspect], total: int) -> str:
    """Return suspects as one self-contained piece of HTML; every text is escaped."""
    told = f"<p>{len(suspects)} of {total} places, the surest first. Tick what you have seen.</p>" if total else ""
    made = "".join(_article(rank, one) for rank, one in enumerate(suspects, 1)) or "<p>Nothing is suspected.</p>"
    return f'<div class="loom-audit"><style>{STYLE}</style>{told}{made}</div>'


def audit_page(suspects: Sequence[Suspect], total: int) -> str:
    """Return the same as a page."""
    head = f"<style>{_AROUND}</style><h1>Where the annotation may be wrong</h1>"
    return page(head + audit_html(suspects, total), "Audit")


def _article(rank: int, one: Suspect) -> str:
    where = one.instead or one.gold
    shown = escape(one.sentence.text) if where is None else marked(one.sentence, where)
    return (
        f'<article><label><input type="checkbox"> {rank}. <b>{escape(one.kind)}</b> {one.suspicion:.3f}</label> '
        f"<small>{escape(one.document)}, sentence {one.number}</small><br>{shown}<br>"
        f"annotated: {_said(one.gold, one.sentence)}; the model: {_said(one.instead, one.sentence)}</article>"
    )


def _said(mention: Mention | None, sentence: Sentence) -> str:
    if mention is None:
        return "nothing"
    sure = "" if mention.prob is None else f" (probability {mention.prob:.3f})"
    return f"{escape(mention.label)} “{escape(sentence.surface(mention))}”{sure}"
