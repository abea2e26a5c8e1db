"""The pictures of ``experiments.trust``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.runner import Result
from spanloom.base.extras import need
from spanloom.drawing.pictures import COLORS
from spanloom.evaluation.plots import save

STYLES = {"": ("as given", COLORS[3], "o"), " calibrated": ("calibrated", COLORS[0], "s")}


def reliability_diagrams(corpus: str, panels: Mapping[str, Result], path: Path) -> None:
    """Draw one panel a model: share right against probability, before and after calibration."""
    figure = need("matplotlib.figure", "plot").Figure(figsize=(3.1 * len(panels), 3.9), layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (model, result) in zip(axes, panels.items(), strict=True):
        ax.plot([0, 1], [0, 1], color="#94a3b8", lw=1, ls="--")
        for suffix, (name, color, marker) in STYLES.items():
            bins = result[f"bins{suffix}"]
            label = f"{name}: {100 * result[f'ECE{suffix}']:.1f} %"
            ax.plot([b[3] for b in bins], [b[4] for b in bins], f"{marker}-", ms=4, lw=1.2, color=color, label=label)
        ax.set(title=model, xlim=(0, 1.02), ylim=(0, 1.02), xlabel="probability given", aspect="equal")
        ax.legend(loc="lower right", fontsize=8, title="calibration error", title_fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
    axes[0].set_ylabel("share that is right")
    figure.suptitle(f"{corpus}: mentions of the best answer on test, ten bins of equal size")
    save(figure, path)


def learning_curves(curves: Mapping[str, Mapping[str, Sequence[Result]]], path: Path) -> None:
    """Draw F1 against annotated sentences, one panel a corpus: the mean of the seeds, and what lies between them."""
    figure = need("matplotlib.figure", "plot").Figure(figsize=(4.6 * len(curves), 3.6), layout="constrained")
    axes = figure.subplots(1, len(curves), squeeze=False)[0]
    for ax, (corpus, lines) in zip(axes, curves.items(), strict=True):
        for (by, results), color in zip(lines.items(), (COLORS[3], COLORS[0], COLORS[2]), strict=True):
            columns = [[100 * f for f in at] for at in zip(*(result["scores"] for result in results), strict=True)]
            sizes, means = results[0]["sizes"], [sum(at) / len(at) for at in columns]
            ax.plot(sizes, means, "o-", ms=4, color=color, label=by)
            ax.fill_between(
                sizes, [min(at) for at in columns], [max(at) for at in columns], color=color, alpha=0.15, lw=0
            )
        seeds = len(next(iter(lines.values())))
        ax.set(title=f"{corpus}, {seeds} seeds", xlabel="annotated sentences", ylabel="F1 % on test")
        ax.legend(title="sentences by")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
    save(figure, path)
