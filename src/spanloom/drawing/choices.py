"""What a model believes of a sentence, as HTML: its best mention sets one after the other, moved through by a slider.

It is self-contained and needs no running kernel: the handler of the slider is in its attribute. Where a
page forbids that, the most probable set is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.drawing.html import sentence_html, style

STYLE = """
.loom-best{font:14px/1.45 system-ui,sans-serif;max-width:60em;padding:.4em 0}
.loom-best .head{display:flex;gap:.8em;align-items:center;flex-wrap:wrap}
.loom-best input[type=range]{width:16em}
.loom-best output{font-variant-numeric:tabular-nums;min-width:13em}
.loom-best i.bar{display:inline-block;height:.6em;background:currentColor;opacity:.55;border-radius:2px}
.loom-best table{border-collapse:collapse;margin:.6em 0}
.loom-best td,.loom-best th{text-align:left;padding:.1em .8em .1em 0;border:0;background:none}
.loom-best td.n{text-align:right;font-variant-numeric:tabular-nums}
"""
_MOVE = (
    "const all=this.closest('.loom-best').querySelectorAll('.set');"
    "all.forEach((one,i)=>one.hidden=i!=this.value-1);"
    "this.nextElementSibling.value=all[this.value-1].dataset.said"
)


def best_html(
    sentence: Sentence, sets: Sequence[tuple[float, Sequence[Mention]]], likely: Sequence[Mention] = (), note: str = ""
) -> str:
    """Return the best mention sets of a sentence with a slider, and the probable mentions as a table.

    Parameters
    ----------
    sets
        Probability and mentions, best first.
    likely
        Mentions with their probabilities.
    note
        What is to be said about the probabilities.

    Examples
    --------
    >>> sentence = Sentence(["IL-2", "gene"])
    >>> html = best_html(sentence, [(0.75, [Mention("DNA", ((0, 2),))]), (0.25, [])])
    >>> html.count('class="set"'), 'max="2"' in html, "http" in html
    (2, True, False)
    """
    said = [_said(rank, len(sets), p, found) for rank, (p, found) in enumerate(sets, 1)]
    slider = (
        f'<input type="range" min="1" max="{len(sets)}" value="1" step="1" oninput="{escape(_MOVE)}" '
        'aria-label="rank of the mention set">'
        if len(sets) > 1
        else ""
    )
    parts = [
        f'<div class="loom-best"><style>{style()}{STYLE}</style>',
        f'<div class="head">{slider}<output>{escape(said[0]) if said else "no mention set"}</output></div>',
    ]
    for rank, (words, (_, found)) in enumerate(zip(said, sets, strict=True)):
        hidden = " hidden" if rank else ""
        drawn = sentence_html(sentence.with_mentions(list(found)))
        parts.append(f'<div class="set" data-said="{escape(words)}"{hidden}>{drawn}</div>')
    if likely:
        rows = "".join(
            f'<tr><td class="n">{m.prob or 0:.3f}</td>'
            f'<td><i class="bar" style="width:{8 * (m.prob or 0):.2f}em"></i></td>'
            f"<td>{escape(m.label)}</td><td>{escape(sentence.surface(m))}</td></tr>"
            for m in sorted(likely, key=lambda m: -(m.prob or 0))
        )
        parts.append(f"<table><tr><th>P</th><th></th><th>label</th><th>mention</th></tr>{rows}</table>")
    if note:
        parts.append(f"<p>{escape(note)}</p>")
    return "".join([*parts, "</div>"])


def _said(rank: int, size: int, p: float, found: Sequence[Mention]) -> str:
    count = f"{len(found)} mention{'' if len(found) == 1 else 's'}"
    return f"{rank} of {size}: probability {p:.4f}, {count}"
