"""The page: tables, charts, and every mistake with its sentence."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any

from spanloom.base.files import whole_file
from spanloom.corpus import Mention
from spanloom.drawing.html import Shown, pair_html, style
from spanloom.evaluation.calibration import Curve, has_probabilities, threshold_curve
from spanloom.evaluation.page.chart import Chart, ChartLine
from spanloom.evaluation.reliability import Reliability, reliability, reliability_by_label

if TYPE_CHECKING:
    from spanloom.evaluation.evaluation import Evaluation
    from spanloom.evaluation.score import Score
    from spanloom.evaluation.significance import Interval

_POINTS = 200  # of a threshold curve: more cannot be seen


def write_page(report: Evaluation, path: str | os.PathLike[str], **options: Any) -> None:
    """Write :func:`page` to a file, whole or not at all."""
    with whole_file(path) as out:
        out.write(page(report, **options))


def page(
    report: Evaluation,
    *,
    title: str = "Evaluation",
    intervals: Mapping[str, Interval] | None = None,
    limit: int = 5000,
) -> str:
    """Return a report as one HTML page.

    Parameters
    ----------
    report
        What to show.
    title
        The heading.
    intervals
        From ``report.interval()``, to be shown with the scores.
    limit
        How many mistakes to put into the page; the page says so if there are more.

    Examples
    --------
    >>> from spanloom import Sentence
    >>> from spanloom.evaluation import evaluate
    >>> gold = [Sentence(["IL-2", "gene"], [Mention("DNA", ((0, 2),))])]
    >>> "<title>My model</title>" in page(evaluate(gold, [[]]), title="My model")
    True
    """
    body = [_header(report, title, intervals or {}), _charts(report), _tables(report), _mistakes(report, limit)]
    # "<" must not occur in the text of the script element, where a token like "</script>" would end it.
    data = json.dumps(_data(report, limit), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return _file("page.html").format(
        title=escape(title), css=_file("page.css") + style(), js=_file("page.js"), body="\n".join(body), data=data
    )


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _header(report: Evaluation, title: str, intervals: Mapping[str, Interval]) -> str:
    micro, counts = report.micro, report.counts
    boxes = []
    for name, text in (("f1", "F1"), ("precision", "precision"), ("recall", "recall")):
        found = intervals.get(name)
        between = f"<small>95 %: {_percent(found.low)} to {_percent(found.high)}</small>" if found else ""
        boxes.append(
            f'<div class="box {name}"><b>{_percent(getattr(micro, name))}</b><span>{text}</span>{between}</div>'
        )
    facts = [
        f"{counts['sentences']:,} sentences, {counts['tokens']:,} tokens",
        f"{micro.gold:,} gold mentions, {micro.predicted:,} predicted, {micro.correct:,g} right",
        f"token accuracy {_percent(report.token_accuracy)} %, macro F1 {_percent(report.macro['f1'])} %",
    ]
    if report.throughput:
        facts.append(f"{report.throughput['words_per_second']:,.0f} words per second")
    lines = "".join(f"<li>{fact}</li>" for fact in facts)
    return (
        f'<header><h1>{escape(title)}</h1><button id="theme" title="light or dark">◐</button></header>'
        f'<section class="boxes">{"".join(boxes)}<ul>{lines}</ul></section>'
    )


def _charts(report: Evaluation) -> str:
    charts = [_figure("By length of the mention", _length_chart(report))] if report.by_length else []
    if has_probabilities(report.aligned.predicted):
        curve = threshold_curve(report.outcomes)
        charts += [_figure("What a threshold would do", _threshold_chart(curve))]
        charts += [_figure("Precision against recall", _recall_chart(curve))]
        found = reliability(report.outcomes, widths="adaptive")
        points = [(mean, right) for _, _, _, mean, right in found.bins]
        lines = [
            ChartLine("as probable as it says", [(0, 0), (1, 1)], 4, dashed=True),
            ChartLine("share right", points, 1, True),
        ]
        chart = Chart("probability given", "share right", (0, 1), (0, 1), lines)
        charts.append(_figure(f"Reliability: {_off(found)}", chart))
        for label, own in reliability_by_label(report.outcomes).items():
            points = [(mean, right) for _, _, _, mean, right in own.bins]
            chart = Chart(
                "probability given",
                "share right",
                (0, 1),
                (0, 1),
                [lines[0], ChartLine("share right", points, 1, True)],
            )
            charts.append(_figure(f"Reliability of {label}: {_off(own)}", chart))
    return f'<section class="charts">{"".join(charts)}</section>'


def _length_chart(report: Evaluation) -> Chart:
    scores = list(report.by_length.items())
    lines = [
        ChartLine(name, [(i, getattr(s, field)) for i, (_, s) in enumerate(scores)], color, True)
        for name, field, color in (("precision", "precision", 1), ("recall", "recall", 2), ("F1", "f1", 3))
    ]
    return Chart("tokens", "", (0, max(1, len(scores) - 1)), (0, 1), lines, ticks=[name for name, _ in scores])


def _threshold_chart(curve: Curve) -> Chart:
    chosen = _thin(list(zip(curve.values, curve.scores, strict=True)))
    lines = [
        ChartLine("precision", [(v, s.precision) for v, s in chosen], 1),
        ChartLine("recall", [(v, s.recall) for v, s in chosen], 2),
        ChartLine("F1", [(v, s.f1) for v, s in chosen], 3),
    ]
    best = curve.at(curve.best).f1
    return Chart(
        "threshold", "", (0, 1), (0, 1), lines, [((curve.best, best), f"F1 {_percent(best)} at {curve.best:.2f}")]
    )


def _recall_chart(curve: Curve) -> Chart:
    best = curve.at(curve.best)
    points = [(s.recall, s.precision) for s in _thin(curve.scores)]
    mark = ((best.recall, best.precision), f"best F1 {_percent(best.f1)}")
    return Chart("recall", "precision", (0, 1), (0, 1), [ChartLine("", points, 1)], [mark])


def _thin(values: Sequence[Any]) -> Sequence[Any]:
    step = max(1, len(values) // _POINTS)
    return values[::step]


def _figure(title: str, chart: Chart) -> str:
    return f"<figure><figcaption>{escape(title)}</figcaption>{chart.svg()}{chart.legend()}</figure>"


def _tables(report: Evaluation) -> str:
    tables = [
        ("By label", "label", report.by_label),
        ("By kind of mention", "kind", report.by_kind),
        ("Sentences that have such mentions", "kind", report.by_sentence_kind),
        ("More forgiving", "rule", report.relaxed),
        ("By length", "tokens", report.by_length),
        ("By depth", "depth", {str(d): s for d, s in report.by_depth.items()}),
        ("Seen in training?", "mention", report.by_novelty),
        *((f"By {key}", key, table) for key, table in report.by_group.items()),
        ("By document", "document", report.by_document),
    ]
    found = [_table(title, first, scores) for title, first, scores in tables if scores]
    return f'<section class="tables">{"".join(found)}{_confusion(report)}</section>'


def _table(title: str, first: str, scores: Mapping[str, Score]) -> str:
    rows = []
    for name, s in scores.items():
        if s.gold or s.predicted:
            p = _percent(s.precision) if s.predicted else "—"
            r = _percent(s.recall) if s.gold else "—"
            f = _percent(s.f1) if s.gold and s.predicted else "—"
            bar = f'<td class="bar"><i style="width:{100 * s.f1:.1f}%"></i><span>{f}</span></td>'
            rows.append(
                f"<tr><th>{escape(name.replace('_', ' '))}</th><td>{p}</td><td>{r}</td>{bar}"
                f"<td>{s.gold:,}</td><td>{s.predicted:,}</td></tr>"
            )
    heads = "".join(f"<th>{head}</th>" for head in (first, "P", "R", "F1", "gold", "predicted"))
    return (
        f'<div class="table"><h2>{escape(title)}</h2><div class="scroll"><table class="sortable">'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></div>"
    )


def _confusion(report: Evaluation) -> str:
    counts = report.confusion
    labels = sorted({x for pair in counts for x in pair if x is not None})
    if len(labels) < 2:
        return ""
    columns: list[str | None] = [*labels, None]
    most = max((n for (g, p), n in counts.items() if g != p), default=1)
    heads = "".join(f"<th>{escape(c) if c else 'missed'}</th>" for c in columns)
    rows = []
    for g in columns:
        cells = []
        for p in columns:
            n = counts[g, p]
            shade = f' style="--n:{n / most:.2f}"' if n and g != p else ""
            kind = "right" if g == p else "wrong" if n else ""
            cells.append(f'<td class="{kind}"{shade}>{n or ""}</td>')
        rows.append(f"<tr><th>{escape(g) if g else 'spurious'}</th>{''.join(cells)}</tr>")
    return (
        '<div class="table"><h2>Gold label (row) and predicted label (column)</h2><div class="scroll">'
        f'<table class="confusion"><thead><tr><th></th>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
        "</div></div>"
    )


def _mistakes(report: Evaluation, limit: int) -> str:
    n = len(report.mistakes)
    more = f" The page holds the first {limit:,}." if n > limit else ""
    return (
        f'<section id="mistakes"><h2>{n:,} mistakes</h2><p>Click a row to see its sentence: gold above, prediction '
        f"below. Click a heading to sort.{more}</p>"
        '<p class="tools"><select id="kind"><option value="">every kind</option></select>'
        '<input id="search" type="search" placeholder="label, words, document …">'
        '<span id="count"></span></p><div class="scroll"><table id="list"><thead><tr></tr></thead><tbody></tbody>'
        '</table></div><p><button id="more">more</button></p></section>'
    )


def _data(report: Evaluation, limit: int) -> dict[str, Any]:
    aligned = report.aligned
    chosen = report.mistakes[:limit]
    places = {i: k for k, i in enumerate(dict.fromkeys(m.sentence for m in chosen))}
    rows = []
    for m in chosen:
        sentence = aligned.sentences[m.sentence]
        rows.append(
            {
                "kind": m.kind,
                "where": " ".join(filter(None, [aligned.document_id(m.sentence), f"#{m.sentence}"])),
                "gold": m.gold.label if m.gold else "",
                "goldText": sentence.surface(m.gold) if m.gold else "",
                "predicted": m.predicted.label if m.predicted else "",
                "predictedText": sentence.surface(m.predicted) if m.predicted else "",
                "prob": m.predicted.prob if m.predicted else None,
                "boundaries": ", ".join(m.shifts()),
                "sentence": places[m.sentence],
            }
        )
    return {"mistakes": rows, "sentences": [_sentence(report, i) for i in places]}


def _sentence(report: Evaluation, i: int) -> str:
    """Return a sentence with its gold mentions above and the predicted ones below, right ones in another colour."""
    gold, predicted = report.outcomes.gold.lists[i], report.outcomes.predicted.lists[i]
    right = set(gold) & set(predicted)
    above, below = _shown(gold, right, "✗", "miss"), _shown(predicted, right, "+", "extra")
    return pair_html(report.aligned.sentences[i], above, below)


def _shown(mentions: Iterable[Mention], right: set[Mention], sign: str, wrong: str) -> list[Shown]:
    shown = []
    for m in mentions:
        text = f"{'✓' if m in right else sign} {m.label}{'' if m.prob is None else f' {m.prob:.2f}'}"
        shown.append(Shown(m, text, text, f"var(--{'good' if m in right else wrong})"))
    return shown


def _off(found: Reliability) -> str:
    return f"calibration error {_percent(found.error)} %, {_percent(found.chance)} % by chance"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2f}"
