"""Explanations as text and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import fsum
from typing import TYPE_CHECKING

from spanloom.corpus import Mention, Sentence

if TYPE_CHECKING:
    from spanloom.explain import Contribution, Explanation

TOP = 15
"""So many contributions are shown."""


def as_text(explanation: Explanation, top: int = TOP) -> str:
    """Return an explanation as plain text."""
    e = explanation
    lines = [headline(e), f"  with it    {listed(e.best, e.sentence)}", f"  without it {listed(e.rival, e.sentence)}"]
    if e.note:
        lines.append(f"  note: {e.note}")
    lines += ["", f"score difference {e.score_difference:+.3f}, by kind of feature:"]
    lines += [f"  {value:+8.3f}  {group}" for group, value in e.groups().items()]
    lines += ["", "by place:"]
    lines += [f"  {value:+8.3f}  {said(words, given)}" for _, words, given, value in e.places()]
    lines += ["", "by feature:"]
    lines += [f"  {value:+8.3f}  {name}   ({where(own)})" for name, value, own in e.features()[:top]]
    lines += rest(e, top)
    if e.support:
        lines += ["", "training mentions with the strongest common features:"]
        lines += [f"  {s.shared:8.3f}  {s.sentence.surface(s.mention)}   in: {_short(s.sentence)}" for s in e.support]
    return "\n".join(lines)


def headline(e: Explanation) -> str:
    """Say how probable the mention is."""
    return (
        f"{e.mention.label} “{e.sentence.surface(e.mention)}”: probability {e.prob:.4f}, log-odds {e.log_odds:+.3f}, "
        f"{'in' if e.log_odds > 0 else 'not in'} most of what the model believes"
    )


def listed(mentions: list[Mention], sentence: Sentence) -> str:
    """Return mentions in one line."""
    return ", ".join(f"{m.label} “{sentence.surface(m)}”" for m in mentions) or "no mention"


def said(words: str, given: bool) -> str:
    """Mark what belongs to the rival."""
    return words if given else f"rather than: {words}"


def where(places: Sequence[Contribution]) -> str:
    """Say where a feature counts: what it says there, or at how many places."""
    return said(places[0].words, places[0].with_mention) if len(places) == 1 else f"at {len(places)} places"


def rest(e: Explanation, top: int) -> list[str]:
    """Say what the features that are not shown add up to."""
    left = e.features()[top:]
    return [f"  {fsum(value for _, value, _ in left):+8.3f}  {len(left)} other features"] if left else []


def _short(sentence: Sentence, most: int = 90) -> str:
    return sentence.text if len(sentence.text) <= most else f"{sentence.text[: most - 1]}…"


STYLE = """
.loom-why{font:14px/1.45 system-ui,sans-serif;max-width:60em;color:#1c1c1c;background:#fff;padding:1em}
.loom-why table{border-collapse:collapse;margin:.4em 0 1em}
.loom-why th,.loom-why td{text-align:left;padding:.15em .7em .15em 0;vertical-align:top;border:0;background:none}
.loom-why td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.loom-why .for{color:#12683a}.loom-why .against{color:#a11d1d}
.loom-why i.bar{display:inline-block;height:.6em;background:currentColor;border-radius:2px}
.loom-why mark{background:#ffe08a;color:inherit}.loom-why h3{font-size:1em;margin:.8em 0 .2em}
@media (prefers-color-scheme:dark){.loom-why{color:#e4e4e4;background:#171717}.loom-why .for{color:#6fd39b}
.loom-why .against{color:#ff8f8f}.loom-why mark{background:#6b5200}}
"""


def as_html(explanation: Explanation, top: int = TOP) -> str:
    """Return an explanation as one self-contained piece of HTML; every text is escaped."""
    e = explanation
    most = max((abs(value) for value in e.groups().values()), default=1.0)
    parts = [
        f'<div class="loom-why"><style>{STYLE}</style>',
        f"<p><b>{escape(headline(e))}</b></p><p>{marked(e.sentence, e.mention)}</p>",
        f"<p>With it: {escape(listed(e.best, e.sentence))}<br>Without it: {escape(listed(e.rival, e.sentence))}</p>",
        f"<p>Note: {escape(e.note)}</p>" if e.note else "",
        f"<h3>Score difference {e.score_difference:+.3f}, by kind of feature</h3>",
        _table([(value, escape(group), _bar(value, most)) for group, value in e.groups().items()]),
        "<h3>By place</h3>",
        _table([(value, escape(said(words, given)), "") for _, words, given, value in e.places()]),
        "<h3>By feature</h3>",
        _table(
            [(value, f"<code>{escape(name)}</code>", escape(where(own))) for name, value, own in e.features()[:top]]
        ),
        *(f"<p>{escape(line.strip())}</p>" for line in rest(e, top)),
    ]
    if e.support:
        parts.append("<h3>Training mentions with the strongest common features</h3>")
        parts.append(_table([(s.shared, marked(s.sentence, s.mention), escape(s.document)) for s in e.support]))
    return "".join([*parts, "</div>"])


def page(body: str, title: str) -> str:
    """Return a whole page around a piece of HTML."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title></head><body>{body}</body></html>\n"
    )


def marked(sentence: Sentence, mention: Mention) -> str:
    """Return a sentence as HTML with the tokens of a mention marked."""
    made, at = [], 0
    for start, end in sentence.chars(mention):
        made.append(f"{escape(sentence.text[at:start])}<mark>{escape(sentence.text[start:end])}</mark>")
        at = end
    return "".join([*made, escape(sentence.text[at:])])


def _table(rows: list[tuple[float, str, str]]) -> str:
    made = (
        f'<tr><td class="n {"for" if value > 0 else "against"}">{value:+.3f}</td><td>{first}</td><td>{second}</td></tr>'
        for value, first, second in rows
    )
    return f"<table>{''.join(made)}</table>"


def _bar(value: float, most: float) -> str:
    kind = "for" if value > 0 else "against"
    return f'<span class="{kind}"><i class="bar" style="width:{12 * abs(value) / (most or 1.0):.2f}em"></i></span>'
