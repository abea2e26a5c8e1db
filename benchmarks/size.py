"""How large model files are, how fast they open, and what making them smaller costs.

Files of the default features: as version 0.1 stored them (dense tables of float32), as they are stored now (equal rows
once, small weights in few bytes), and compacted on half of the development data; F1 is that of the other half.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import tempfile
import time
from pathlib import Path

import tables

from spanloom import Document, Recognizer, read
from spanloom.base.model_file import save_arrays
from spanloom.cli.compact import LEAST
from spanloom.learning import LBFGS

WITHIN = 0.1


def opened(path: Path) -> float:
    """Return the median seconds of opening a file, of five."""
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        Recognizer.load(path, threads=1)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def measured(name: str, train: list[Document], dev: list[Document]) -> list[str]:
    """Return the lines of a model."""
    half = len(dev) // 2
    ner = Recognizer(name, keep="longest", trainer=LBFGS(max_iter=150)).fit(train)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.loom"
        f1 = ner.score(dev[half:]).f1
        forms = {"dense float32": lambda: save_arrays(path, *ner.state()), "as saved": lambda: ner.save(path)}
        for form, save in forms.items():
            save()
            lines.append([form, path.stat().st_size / 1e6, opened(path), 100 * f1])
        before, own = ner.score(dev[:half]).f1, ner.predict(dev[:half])
        for least in LEAST:
            ner.compact(least).save(path, weights="int16")
            small = Recognizer.load(path, threads=1)
            if 100 * max(before - small.score(dev[:half]).f1, 1 - small.score(own).f1) <= WITHIN:
                break
        f1 = small.score(dev[half:]).f1
        lines.append([f"compact, least {least:g}", path.stat().st_size / 1e6, opened(path), 100 * f1])
    return [f"| {name} | {form} | {mb:.1f} | {seconds:.2f} | {f1:.2f} |" for form, mb, seconds, f1 in lines]


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--documents", type=int, default=460, help="abstracts of GENIA to train on")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    source = f"genia:{given.data}/genia?classes=5&split="
    train = list(itertools.islice(read(source + "train"), given.documents))
    dev = list(read(source + "dev"))
    lines = ["| model | file | MB | opens in s | F1 |", "|---|---|---|---|---|"]
    for name in ("chain", "edge", "state"):
        lines += measured(name, train, dev)
        print("\n".join(lines), flush=True)
    if given.write:
        sentences = sum(len(doc.sentences) for doc in train)
        head = [
            "# The size of models",
            "",
            f"`python benchmarks/size.py --data FOLDER --documents {given.documents} --write`, commit "
            f"{tables.commit()}; {sentences:,} sentences of GENIA, five labels, default features, at most 150 "
            "iterations. F1 on the half of the development data that `least` was not chosen on.",
            "",
        ]
        (tables.RESULTS / "size.md").write_text("\n".join(head + lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
