"""What is made of the results of ``experiments.dependency``: paired tests, F1 by section, pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments import paired
from experiments.counts import unpack
from experiments.runner import Result

LONGEST = 8
"""L in the paper."""

LONG = ", L = 40"
"""Of lines that show what the paper's L costs where mentions are long."""

MODELS = ("chain", "semimarkov", "dgm-s", "dgm")
"""In the order of the paper's tables."""

AGAINST = {
    "semimarkov": ("chain",),
    "dgm-s": ("chain", "semimarkov"),
    "dgm": ("chain", "semimarkov", "dgm-s"),
    "spans": ("edge",),
    "dgm-nested": ("edge", "spans"),
}
"""What a model is compared with."""


LETTER = ", by the letter"
"""Of lines by the paper's protocol."""

ENDS = ", ends"
"""Of lines with dependency features of a segment's first and last word."""

SOFT = ", soft guidance"
"""Of lines that look at all segments, with the tree's word on each as a feature."""

PLAIN = {"semimarkov": ("semimarkov", "dgm"), "dgm": ("dgm",)}
"""What lines of ours are compared with besides: these models without what they add."""


def finish(results: dict[str, Result], folder: Path) -> None:
    """Compare models by paired bootstrap, show F1 by section, draw candidates against length and time (figure 6)."""
    lines = ["# Dependency-guided recognition: comparisons", "", *_comparisons(results), *_by_section(results)]
    (folder / "dependency-details.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    _draw_lengths({name: r for name, r in results.items() if "by_length" in r}, folder)
    _draw_times({name: r for name, r in results.items() if "ms_per_iteration" in r}, folder)


def _comparisons(results: dict[str, Result]) -> Iterator[str]:
    """Models against each other on the same data; a tie where the interval holds zero."""
    yield from (f"| | against | {' | '.join(paired.HEADS)} |", f"|---|---|{'---:|' * 4}---|")
    for name, result in results.items():
        condition, _, model = name.rpartition(": ")
        for other, shown in _bases(condition, model):
            base = results.get(other)
            if base is None or not {"unit_counts"} <= result.keys() & base.keys():
                continue
            found = paired.cells(unpack(result["unit_counts"]), unpack(base["unit_counts"]))
            yield f"| {name} | {shown} | {' | '.join(found)} |"


def _bases(condition: str, model: str) -> Iterator[tuple[str, str]]:
    """What a line is compared with: the name of the other line, and how it is shown."""
    for other in AGAINST.get(model, ()):
        yield f"{_seen(condition, other)}: {other}", other
    for more in (ENDS, SOFT):
        if condition.endswith(more):
            plain = condition.removesuffix(more)
            for other in PLAIN.get(model, ()):
                yield f"{_seen(plain, other)}: {other}", f"{other} without"


def _seen(condition: str, model: str) -> str:
    """Return the condition whose line is what a model has under this one: a chain has no L, and may see no tree."""
    if model == "chain":
        condition = condition.removesuffix(LONG)
    if model in ("chain", "semimarkov") and "dependency features" not in condition:
        condition = condition.replace("predicted trees", "gold trees")
    return condition


def _by_section(results: dict[str, Result]) -> Iterator[str]:
    """Tables 2 and 3 of the paper: F1 by section of the test data."""
    for corpus in dict.fromkeys(name.partition(",")[0] for name in results):
        rows = {name: r["sections"] for name, r in results.items() if "sections" in r and name.startswith(f"{corpus},")}
        if not rows:
            continue
        sections = sorted({section for row in rows.values() for section in row})
        yield from ("", f"## {corpus}: F1 by section", "", f"| | {' | '.join(sections)} |")
        yield "|---|" + "---:|" * len(sections)
        for name, row in rows.items():
            yield f"| {name} | {' | '.join(f'{100 * row[s]:.1f}' for s in sections)} |"


def _draw_lengths(results: dict[str, Result], folder: Path) -> None:
    """Valid spans against sentence length, beside n, e·n and all segments up to L."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    most = 60
    for name, result in results.items():
        counts = sorted((int(n), y) for n, y in result["by_length"].items() if result["sentences"][n] >= 5)
        points = [(n, y) for n, y in counts if n <= most]
        axes.plot(*zip(*points, strict=True), marker=".", label=f"dgm, L = n: {name.split(',')[0]}")
    n = np.arange(1, most + 1)
    axes.plot(n, np.e * n, "k--", linewidth=0.8, label="e·n (average tree)")
    axes.plot(n, n, "k:", linewidth=0.8, label="n (single words)")
    everything = [sum(min(LONGEST, k) for k in range(1, int(m) + 1)) for m in n]
    axes.plot(n, everything, "k-", linewidth=0.8, label=f"semimarkov, L = {LONGEST}")
    axes.plot(n, n * (n + 1) / 2, "k-.", linewidth=0.8, label="semimarkov, L = n")
    axes.set_ylim(0, 500)
    axes.set_xlabel("tokens in the sentence")
    axes.set_ylabel("candidate segments")
    axes.legend(frameon=False, fontsize="small")
    figure.savefig(folder / "dependency-lengths.png", dpi=150)


def _draw_times(results: dict[str, Result], folder: Path) -> None:
    """Time per training iteration by model, as far as a condition has all four (figure 6)."""
    from matplotlib.figure import Figure

    conditions = sorted({name.rpartition(": ")[0] for name in results})
    conditions = [c for c in conditions if all(f"{c}: {model}" in results for model in MODELS)]
    if not conditions:
        return
    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.add_subplot()
    for k, model in enumerate(MODELS):
        heights = [results[f"{c}: {model}"]["ms_per_iteration"] for c in conditions]
        axes.bar(np.arange(len(conditions)) + 0.2 * k, heights, 0.2, label=model)
    names = [c.replace(", dependency features", "\n+ dep").replace(", ", "\n") for c in conditions]
    axes.set_xticks(np.arange(len(conditions)) + 0.3, names, fontsize="small")
    axes.set_ylabel("ms per training iteration, one core")
    axes.legend(frameon=False)
    figure.savefig(folder / "dependency-times.png", dpi=150)
