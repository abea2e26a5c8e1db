"""Pictures of an evaluation, as matplotlib figures (``pip install 'spanloom[plot]'``)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from spanloom.base.errors import ParameterError
from spanloom.base.extras import need
from spanloom.base.files import whole_file
from spanloom.drawing.pictures import COLORS
from spanloom.drawing.pictures import check_picture as check_picture
from spanloom.evaluation.calibration import Curve, has_probabilities, threshold_curve
from spanloom.evaluation.reliability import Reliability, reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from spanloom.evaluation.evaluation import Evaluation


def plot_curve(curve: Curve) -> Figure:
    """Plot precision, recall and F1 against the setting (McDonald et al.'s figure 5), and against each other.

    The best F1 is marked, and the value in use if the curve knows it.
    """
    figure, (left, right) = _figure(2)
    p, r = [100 * s.precision for s in curve.scores], [100 * s.recall for s in curve.scores]
    f = [100 * s.f1 for s in curve.scores]
    # Markers are for points that can be told apart; a threshold curve has thousands.
    few = len(curve.values) <= 40
    left.plot(curve.values, p, marker="s" if few else None, ms=4, color=COLORS[0], label="precision")
    left.plot(curve.values, r, marker="o" if few else None, ms=4, color=COLORS[1], label="recall")
    left.plot(curve.values, f, color=COLORS[2], lw=2.2, label="F1")
    right.plot(r, p, color=COLORS[0], marker="." if few else None)
    best = curve.at(curve.best).f1
    marks = [(curve.best, f"best F1 {100 * best:.1f} at {curve.best:.3g}", "*", 13)]
    if curve.chosen is not None and curve.chosen != curve.best:
        marks.append((curve.chosen, f"chosen: {curve.chosen:.3g}, F1 {100 * curve.at(curve.chosen).f1:.1f}", "D", 7))
    elif curve.chosen is not None:
        marks = [(curve.best, f"chosen: {curve.best:.3g}, the best F1, {100 * best:.1f}", "*", 13)]
    for (value, label, marker, size), color in zip(marks, (COLORS[3], COLORS[4]), strict=False):
        left.axvline(value, color=color, lw=1, ls="--")
        score = curve.at(value)
        right.plot(100 * score.recall, 100 * score.precision, marker, ms=size, color=color, label=label, ls="none")
    if min(curve.values, default=0) > 0 and max(curve.values) / min(curve.values) > 30:
        left.set_xscale("log")
    left.set(xlabel=curve.name.replace("_", " "), ylabel="%", title="What the setting does")
    right.set(xlabel="recall %", ylabel="precision %", title="Precision against recall")
    left.legend()
    right.legend()
    return figure


def plot_reliability(found: Reliability) -> Figure:
    """Plot how often mentions are right against the probability they were given, with the number in each bin."""
    figure, (axes,) = _figure(1)
    _draw_reliability(axes, found)
    return figure


def plot_learning_curve(sizes: Sequence[float], scores: Mapping[str, Sequence[float]], *, xlabel: str = "%") -> Figure:
    """Plot F1 against the amount of training data, a line for each system (Cho et al.'s figures 2 and 3).

    Parameters
    ----------
    sizes
        Amounts of training data, ascending.
    scores
        For each system its F1 (0..1) at each size.
    xlabel
        What the sizes are, after "training data".
    """
    figure, (axes,) = _figure(1)
    for i, (name, values) in enumerate(scores.items()):
        if len(values) != len(sizes):
            raise ParameterError(f"{name} has {len(values)} scores for {len(sizes)} sizes")
        axes.plot(sizes, [100 * v for v in values], marker="o", ms=4, color=COLORS[i % len(COLORS)], label=name)
    axes.set(xlabel=f"training data, {xlabel}", ylabel="F1 %", title="Learning curve")
    axes.legend()
    return figure


def plot_objective(histories: Mapping[str, Sequence[float]]) -> Figure:
    """Plot the training objective against the iterations, a line for each model (Muis & Lu's figure 7)."""
    figure, (axes,) = _figure(1)
    for i, (name, values) in enumerate(histories.items()):
        axes.plot(range(1, len(values) + 1), values, color=COLORS[i % len(COLORS)], label=name)
    axes.set(xlabel="iteration", ylabel="objective", title="Objective against iterations")
    axes.legend()
    return figure


def plot_report(report: Evaluation) -> Figure:
    """Plot a report: F1 by label and by kind; with probabilities also the threshold curve and the reliability."""
    probable = has_probabilities(report.aligned.predicted)
    figure, axes = _figure(4 if probable else 2)
    kinds = {k.replace("_", " "): s for k, s in report.by_kind.items() if s.gold and s.predicted}
    for place, title, table in ((0, "F1 by label", report.by_label), (1, "F1 by kind of mention", kinds)):
        names = sorted(table, key=lambda name, t=table: t[name].f1)  # type: ignore[misc]
        bars = axes[place].barh(names, [100 * table[n].f1 for n in names], color=COLORS[0], height=0.65)
        axes[place].bar_label(bars, fmt="%.1f", padding=3, fontsize=8)
        axes[place].set(title=title, xlim=(0, 112), xticks=range(0, 101, 20))
    if probable:
        curve = threshold_curve(report.outcomes)
        axes[2].plot([100 * s.recall for s in curve.scores], [100 * s.precision for s in curve.scores], color=COLORS[0])
        best = curve.at(curve.best)
        label = f"best F1 {100 * best.f1:.1f} at {curve.best:.2f}"
        axes[2].plot(100 * best.recall, 100 * best.precision, "*", ms=13, color=COLORS[3], label=label)
        axes[2].set(xlabel="recall %", ylabel="precision %", title="Precision against recall")
        axes[2].legend()
        _draw_reliability(axes[3], reliability(report.outcomes))
    return figure


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure; the ending of the name tells the format: .png, .svg or .pdf."""
    ending = check_picture(path).suffix.lower()
    # Without a date the same data give the same bytes; PNG has no such field.
    metadata = {} if ending == ".png" else {"Date": None} if ending == ".svg" else {"CreationDate": None}
    with whole_file(path, "wb") as out:
        figure.savefig(out, format=ending[1:], metadata=metadata, dpi=144)


def _draw_reliability(axes: Axes, found: Reliability) -> None:
    axes.plot([0, 1], [0, 1], color="#94a3b8", lw=1, ls="--", label="as probable as it says")
    widths = [high - low for low, high, *_ in found.bins]
    axes.bar(
        [low for low, *_ in found.bins],
        [right for *_, right in found.bins],
        widths,
        align="edge",
        color=COLORS[0],
        alpha=0.25,
        edgecolor=COLORS[0],
    )
    axes.plot([b[3] for b in found.bins], [b[4] for b in found.bins], "o-", ms=4, color=COLORS[0], label="share right")
    for low, high, count, _, right in found.bins:
        axes.annotate(
            f"{count}", ((low + high) / 2, right), (0, 5), textcoords="offset points", ha="center", fontsize=7
        )
    title = f"Reliability: calibration error {100 * found.error:.1f} %"
    axes.set(xlim=(0, 1), ylim=(0, 1.05), xlabel="probability given", ylabel="share that is right", title=title)
    axes.legend(loc="upper left")


def _figure(panels: int) -> tuple[Figure, list[Axes]]:
    # A Figure of its own, not pyplot's: no global state, and no window system.
    rows = (panels + 1) // 2
    figure: Figure = need("matplotlib.figure", "plot").Figure(
        figsize=(5.6 * min(panels, 2), 3.9 * rows), layout="constrained"
    )
    axes: list[Axes] = list(figure.subplots(rows, min(panels, 2), squeeze=False).flat)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
        ax.set_axisbelow(True)
    return figure, axes
