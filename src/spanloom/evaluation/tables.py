"""Scores as a piece of HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from spanloom.evaluation.score import Score

if TYPE_CHECKING:
    from spanloom.evaluation.comparison import Comparison
    from spanloom.evaluation.evaluation import Evaluation

STYLE = """
.loom-scores{font:14px/1.45 system-ui,sans-serif}.loom-scores table{border-collapse:collapse;margin:.3em 0 1em}
.loom-scores th,.loom-scores td{text-align:right;padding:.15em .8em;font-variant-numeric:tabular-nums}
.loom-scores th:first-child,.loom-scores td:first-child{text-align:left}
.loom-scores tr.all{font-weight:600}.loom-scores i.bar{display:inline-block;height:.6em;background:currentColor;
opacity:.5;border-radius:2px}
"""


def as_html(report: Evaluation) -> str:
    """Return precision, recall and F1 of all mentions, by label and by kind."""
    tables = [_table("label", [("all", report.micro), *report.by_label.items()])]
    kinds = {name: score for name, score in report.by_kind.items() if score.gold or score.predicted}
    if len(kinds) > 1:
        tables.append(_table("kind of mention", list(kinds.items())))
    return f'<div class="loom-scores"><style>{STYLE}</style>{"".join(tables)}</div>'


def comparison_html(comparison: Comparison) -> str:
    """Return the scores of two systems, their difference with its interval and p-values, and F1 by label."""
    test = comparison.bootstrap
    rows = []
    for measure, difference in test.difference.items():
        cells = [
            f"{100 * test.a[measure].value:.1f}",
            f"{100 * test.b[measure].value:.1f}",
            f"{100 * difference.value:+.2f}",
            f"{100 * difference.low:+.2f} to {100 * difference.high:+.2f}",
            f"{test.p[measure]:.4f}",
            f"{comparison.randomisation[measure]:.4f}",
        ]
        rows.append(["F1" if measure == "f1" else measure, *cells])
    scores = _plain(("", "A", "B", "A − B", "interval", "p (bootstrap)", "p (randomisation)"), rows)
    labels = []
    for label in sorted(set(comparison.a.by_label) | set(comparison.b.by_label)):
        a, b = (r.by_label[label].f1 if label in r.by_label else 0.0 for r in (comparison.a, comparison.b))
        labels.append([label, f"{100 * a:.1f}", f"{100 * b:.1f}", f"{100 * (a - b):+.2f}"])
    by_label = _plain(("F1 by label", "A", "B", "A − B"), labels)
    return f'<div class="loom-scores"><style>{STYLE}</style>{scores}{by_label}</div>'


def _plain(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    first = "".join(f"<th>{name}</th>" for name in head)
    others = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{first}</tr>{others}</table>"


def _table(first: str, scores: Sequence[tuple[str, Score]]) -> str:
    head = "".join(f"<th>{name}</th>" for name in (first, "precision", "recall", "F1", "", "gold", "found"))
    rows = []
    for number, (name, score) in enumerate(scores):
        figures = "".join(f"<td>{100 * value:.1f}</td>" for value in (score.precision, score.recall, score.f1))
        bar = f'<td style="text-align:left"><i class="bar" style="width:{6 * score.f1:.2f}em"></i></td>'
        kind = ' class="all"' if name == "all" and not number else ""
        name = str(name).replace("_", " ") if first != "label" else str(name)
        counts = f"<td>{score.gold:,}</td><td>{score.predicted:,}</td>"
        rows.append(f"<tr{kind}><td>{escape(name)}</td>{figures}{bar}{counts}</tr>")
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"
