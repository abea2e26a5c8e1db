"""Suspected annotation errors as a page to go through."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from spanloom.corpus import Mention, Sentence
from spanloom.drawing.explanation import marked, page

if TYPE_CHECKING:
    from spanloom.tuning import Suspect

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#1c1c1c;background:#fff}
article{border-top:1px solid #9994;padding:.6em 0}article small{color:#777}mark{background:#ffe08a;color:inherit}
article:has(input:checked){opacity:.45}
@media (prefers-color-scheme:dark){body{color:#e4e4e4;background:#171717}mark{background:#6b5200}}
"""


def audit_page(suspects: Sequence[Suspect], total: int) -> str:
    """Return suspects as one self-contained page; every text is escaped."""
    head = f"<style>{STYLE}</style><h1>Where the annotation may be wrong</h1>"
    told = f"<p>{len(suspects)} of {total} places, the surest first. Tick what you have seen.</p>"
    return page(head + told + "".join(_article(rank, one) for rank, one in enumerate(suspects, 1)), "Audit")


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
