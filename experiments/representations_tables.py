"""What is made of the results of ``experiments.representations``: p-values, changes between models, learning curves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.counts import unpack
from experiments.paired import p_value
from experiments.runner import Result

Sets = list[set[tuple[Any, ...]]]
"""Of each document, what is found in it: label, first character, one past the last."""
Counts = npt.NDArray[np.int64]
RULES = {"units": "exact match", "alt_units": "the rule of the task"}
STEPS = (("IO", "BIES"), ("BIES", "BIES+"), ("BIES", "BIES,IO"))
"""Tables 5 and its like: from one model to another."""


def compare(results: dict[str, Result], folder: Path) -> None:
    """Write p-values between models and what changes from one to the other (tables 5, 10 and 11)."""
    lines = ["# Changes between segment representations", ""]
    made = len(lines)
    for corpus, rules in (("bc2gm", RULES), ("uner-ewt", {"units": RULES["units"]})):
        names = [n for n in results if n.startswith(f"{corpus} ") and " " not in n.removeprefix(f"{corpus} ")]
        for key, rule in rules.items():
            lines += p_values(f"{corpus}, {rule}", {n: results[n][key] for n in names if key in results[n]})
        work = folder if folder.name.endswith(".quick") else folder.parent / "work" / "representations"
        lines += changes(corpus, names, work)
    if len(lines) > made:
        (folder / "representations-changes.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def p_values(title: str, units: dict[str, str]) -> Iterator[str]:
    """Table 10: every model against every other."""
    if len(units) < 2:
        return
    yield from (f"## {title}", "")
    yield "Chance that the model of the row is not better than that of the column (paired bootstrap over documents,"
    yield "which are sentences in BC2GM; 10,000 resamples)."
    yield from ("", "| | " + " | ".join(map(_short, units)) + " |", "|---|" + "---:|" * len(units))
    chances = _bootstrap([unpack(text) for text in units.values()])
    for i, a in enumerate(units):
        cells = ["" if i == j else p_value(chances[i, j]) for j in range(len(units))]
        yield f"| {_short(a)} | " + " | ".join(cells) + " |"
    yield ""


def changes(corpus: str, names: Sequence[str], work: Path) -> Iterator[str]:
    """Tables 5 and 11: what one model finds and another does not; of lines whose mentions are kept here."""
    kept = [name for name in names if (work / file_of(name)).exists()]
    gold_path = work / file_of(f"{corpus} gold")
    if not kept or not gold_path.exists():
        return
    gold = _read(gold_path)
    sets = {name: _read(work / file_of(name)) for name in kept}
    for a, b in ((f"{corpus} {a}", f"{corpus} {b}") for a, b in STEPS):
        if a in sets and b in sets:
            yield from (f"From {_short(a)} to {_short(b)}: {_changes(gold, sets[a], sets[b])}", "")
    three = [f"{corpus} {scheme}" for scheme in ("IO", "BIES", "BIES,IO")]
    if all(name in sets for name in three):
        yield from ("What IO and BIES find together or alone, and how much of it BIES,IO finds (table 11):", "")
        yield from ("| found by | | mentions | also by BIES,IO |", "|---|---|---:|---:|")
        for (who, what), (count, also) in agreement(gold, *(sets[name] for name in three)).items():
            yield f"| {who} | {what} | {count:,} | {also:,} |"
        yield ""


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw precision and recall over the share of the training data (figures 2 and 3)."""
    curves = {
        scheme: [
            (share, results[f"bc2gm {scheme}{part}"])
            for share, part in ((0.1, " 10%"), (0.2, " 20%"), (0.4, " 40%"), (1.0, ""))
            if f"bc2gm {scheme}{part}" in results
        ]
        for scheme in ("IOB2", "IOBES", "BIES", "IOB2+", "IOBES+", "BIES+")
    }
    if all(len(points) < 2 for points in curves.values()):
        return
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for axis, column in zip(axes, ("precision", "recall"), strict=True):
        for i, (scheme, points) in enumerate(curves.items()):
            shares, values = [100 * s for s, _ in points], [100 * r[column] for _, r in points]
            axis.plot(shares, values, "o-" if i >= 3 else "o--", color=f"C{i % 3}", label=scheme)
        axis.set(xlabel="% of the training sentences", ylabel=column)
    axes[1].legend()
    figure.savefig(folder / "representations.png", dpi=120)
    plt.close(figure)


def finish(results: dict[str, Result], folder: Path) -> None:
    """Compare and draw."""
    compare(results, folder)
    draw(results, folder)


def agreement(gold: Sets, a: Sets, b: Sets, both: Sets) -> dict[tuple[str, str], tuple[int, int]]:
    """Count true and false positives that two models share or have alone, and those of them that a third has.

    Examples
    --------
    >>> found = agreement([{("G", 0, 1)}], [{("G", 0, 1), ("G", 2, 3)}], [{("G", 0, 1)}], [{("G", 0, 1)}])
    >>> found["both", "right"], found["the first alone", "wrong"]
    ((1, 1), (1, 0))
    """
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for who, chosen in (
        ("both", [x & y for x, y in zip(a, b, strict=True)]),
        ("the first alone", [x - y for x, y in zip(a, b, strict=True)]),
        ("the second alone", [y - x for x, y in zip(a, b, strict=True)]),
    ):
        for what in ("right", "wrong"):
            kept = [c & g if what == "right" else c - g for c, g in zip(chosen, gold, strict=True)]
            also = sum(len(k & third) for k, third in zip(kept, both, strict=True))
            counts[who, what] = (sum(map(len, kept)), also)
    return counts


def _changes(gold: Sets, a: Sets, b: Sets) -> str:
    counts = dict.fromkeys(("false negatives mended", "new", "false positives mended", "new ones"), 0)
    for g, x, y in zip(gold, a, b, strict=True):
        counts["false negatives mended"] += len(g & (y - x))
        counts["new"] += len(g & (x - y))
        counts["false positives mended"] += len((x - y) - g)
        counts["new ones"] += len((y - x) - g)
    return ", ".join(f"{count} {what}" for what, count in counts.items()) + "."


def _bootstrap(units: Sequence[Counts], resamples: int = 10_000) -> npt.NDArray[np.float64]:
    """``[a, b]``: the share of resamples of the units in which F1 of a is not above that of b."""
    n = len(units)
    counts = np.concatenate([np.stack([2 * c[:, 2] for c in units]), np.stack([c[:, 0] + c[:, 1] for c in units])])
    columns = counts.T.astype(np.float64)
    random = np.random.default_rng(1)
    worse = np.zeros((n, n))
    for _ in range(resamples // 500):
        drawn = random.multinomial(len(columns), np.full(len(columns), 1 / len(columns)), 500) @ columns
        f1 = drawn[:, :n] / np.maximum(drawn[:, n:], 1)
        worse += (f1[:, :, None] <= f1[:, None, :]).sum(axis=0)
    return worse / (resamples // 500 * 500)


def _short(name: str) -> str:
    return name.partition(" ")[2]


def file_of(name: str) -> str:
    """Return the name of the file with the mentions of a line."""
    return f"{name.replace(' ', '-')}.mentions.json"


def _read(path: Path) -> Sets:
    return [{tuple(part) for part in doc} for doc in json.loads(path.read_text())]
