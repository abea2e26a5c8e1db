"""Make what README and docs show: ``python tools/pictures.py`` trains on the sample corpus and writes

- the block between the marks ``shown`` in README.md: a probability and an explanation;
- ``docs/pictures/``: an explanation, and a reliability diagram.

``tests/test_readme.py`` holds README to what the commands print.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from spanloom import Document, Recognizer, read
from spanloom.base.extras import need
from spanloom.decisions import Best
from spanloom.drawing.explanation import said
from spanloom.drawing.pictures import COLORS
from spanloom.evaluation import evaluate
from spanloom.evaluation.plots import save
from spanloom.evaluation.reliability import reliability
from spanloom.explain import Explanation

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
TEXT = "IL-2 gene expression requires NF-kappa B."
TRAIN = ["train", "sample:train", "--dev", "sample:dev", "--model", "edge", "--keep", "longest", "--decide", "best"]
EXPLAIN = ["explain", "gene.loom", TEXT, "--mention", "IL-2 gene"]
MARKS = "<!-- shown: python tools/pictures.py -->\n", "<!-- /shown -->\n"


def printed(folder: Path, arguments: list[str], given: str = "") -> str:
    """Return what a command prints, run in a folder."""
    command = [sys.executable, "-m", "spanloom", *arguments]
    done = subprocess.run(command, cwd=folder, input=given, capture_output=True, encoding="utf-8", check=True)
    return done.stdout


def shown(folder: Path) -> str:
    """Train in a folder; return the block of README."""
    printed(folder, [*TRAIN, "-o", "gene.loom", "--threads", "1"])
    tagged = printed(folder, ["tag", "gene.loom", "--format", "draw"], TEXT + "\n").rstrip()
    why = printed(folder, EXPLAIN).splitlines()
    places = why.index("by place:")
    head = [line for line in why[:places] if line.strip()][:3]
    lines = [
        f"$ spanloom {' '.join(TRAIN)} -o gene.loom",
        f'$ echo "{TEXT}" | spanloom tag gene.loom --format draw',
        *(line.rstrip() for line in tagged.splitlines()),
        "",
        f'$ spanloom explain gene.loom "{TEXT}" --mention "IL-2 gene"',
        *head,
        "by place:",
        *why[places + 1 : places + 5],
        "…",
    ]
    return "```\n" + "\n".join(lines) + "\n```\n"


def draw_explanation(why: Explanation, path: Path) -> None:
    """Draw the contributions of places as bars."""
    rows = [(said(words, given), value) for _, words, given, value in why.places()][::-1]
    figure = need("matplotlib.figure", "plot").Figure(figsize=(11, 0.34 * len(rows) + 1.3), layout="constrained")
    ax = figure.subplots()
    colors = [COLORS[0] if value > 0 else COLORS[3] for _, value in rows]
    bars = ax.barh([words for words, _ in rows], [value for _, value in rows], color=colors, height=0.65)
    ax.bar_label(bars, fmt="%+.1f", padding=3, fontsize=8)
    ax.axvline(0, color="#334155", lw=0.8)
    ax.margins(x=0.15)
    ax.set(xlabel="contribution to the score difference")
    figure.suptitle(f"Why DNA “IL-2 gene”? Probability {why.prob:.2f}, score difference {why.score_difference:+.2f}")
    ax.spines[["top", "right"]].set_visible(False)
    save(figure, path)


def draw_reliability(ner: Recognizer, path: Path) -> None:
    """Draw reliability as the model gives probabilities, and calibrated."""
    dev, test = list(read("sample:dev")), list(read("sample:test"))
    figure = need("matplotlib.figure", "plot").Figure(figsize=(8.4, 3.6), layout="constrained")
    for ax, (name, decide) in zip(
        figure.subplots(1, 2), {"as given": Best(), "calibrated on dev": Best(calibrate="platt")}.items(), strict=True
    ):
        ner.set_decision(decide, dev)
        found = reliability(evaluate(test, ner.predict(test, above=0.02)).outcomes, widths="adaptive")
        ax.plot([0, 1], [0, 1], color="#94a3b8", lw=1, ls="--")
        ax.plot([b[3] for b in found.bins], [b[4] for b in found.bins], "o-", ms=4, color=COLORS[0])
        ax.set(title=f"{name}: calibration error {100 * found.error:.1f} %", xlim=(0, 1.02), ylim=(0, 1.02))
        ax.set(xlabel="probability given", ylabel="share that is right")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
    save(figure, path)


def main() -> None:
    """Write README's block and the pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        block = shown(Path(name))
        ner = Recognizer.load(Path(name) / "gene.loom", threads=1)
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    first, last = (re.escape(mark) for mark in MARKS)
    text = re.sub(f"{first}.*?{last}", lambda _: MARKS[0] + block + MARKS[1], text, flags=re.DOTALL)
    readme.write_text(text, encoding="utf-8")
    document: Document = ner.predict(TEXT, probabilities=True)
    why = ner.explain(document, next(m for m in document.mentions if document.surface(m) == "IL-2 gene"))
    draw_explanation(why, PICTURES / "explanation.png")
    draw_reliability(ner, PICTURES / "reliability.png")


if __name__ == "__main__":
    main()
