"""EDGE against one python-crfsuite chain per type: training to convergence and tagging, on the same features.

    python benchmarks/edge.py --data ../shared/data [--sentences 1500]

The corpus is GENIA with five types. Both see the features of ``SET`` (at tokens for the chains, at gaps for EDGE,
where a row stands for the token after the gap), with the same L2 penalty. CRFsuite stops when ten iterations lower the
objective by less than 1e-4 of it; so does spanloom, or once it is known to be within 1e-3 of the optimum. CRFsuite gets
ready-made strings, so that its figures hold no feature extraction, while those of spanloom start from tokens. Processor
time on one thread. The table goes to ``benchmarks/results/edge.md``.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
import time
from pathlib import Path
from typing import Any

import pycrfsuite

from spanloom import Recognizer, Sentence
from spanloom.corpus.tags import to_tags
from spanloom.evaluation import micro
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.formats import read
from spanloom.learning import LBFGS
from spanloom.schemes import Segments, flatten

HERE = Path(__file__).resolve().parent
SET = "default"
L2 = 1.0
TOLERANCE = 1e-4


def load(split: str, data: Path, limit: int | None) -> list[Sentence]:
    """Return the first sentences of a part."""
    found = (s for doc in read(f"genia:{data}/genia?classes=5&split={split}") for s in doc.sentences if len(s))
    return [s for _, s in zip(range(limit), found, strict=False)] if limit else list(found)


def strings(extractor: FeatureExtractor, sentences: list[Sentence]) -> list[list[list[str]]]:
    """Return the features of every token as CRFsuite takes them."""
    rows = extractor.transform(sentences)
    ids, row_ptr, group_ptr = rows.ids, rows.row_ptr, rows.group_ptr
    return [
        [[str(f) for f in ids[row_ptr[r] : row_ptr[r + 1]]] for r in range(group_ptr[g], group_ptr[g + 1])]
        for g in range(rows.groups)
    ]


def run_crfsuite(train: list[Sentence], test: list[Sentence]) -> dict[str, Any]:
    """Train and run one chain per type."""
    extractor = FeatureExtractor(FeatureSet.named(SET))
    extractor.fit(train)
    xs, test_xs = strings(extractor, train), strings(extractor, test)
    seconds = tagging = 0.0
    iterations = 0
    found: list[list[Any]] = [[] for _ in test]
    for label in sorted({m.label for s in train for m in s.mentions}):
        trainer = pycrfsuite.Trainer(verbose=False)
        trainer.set_params(
            {
                "c1": 0.0,
                "c2": L2,
                "delta": TOLERANCE,
                "period": 10,
                "max_iterations": 1000,
                "feature.possible_states": 1,
            }
        )
        for x, sentence in zip(xs, train, strict=True):
            kept, _ = flatten([m for m in sentence.mentions if m.label == label], "longest")
            trainer.append(x, to_tags([(m.label, m.start, m.end) for m in kept], len(sentence), "BILOU"))
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "m")
            start = time.process_time()
            trainer.train(path)
            seconds += time.process_time() - start
            iterations += len(trainer.logparser.iterations)
            tagger = pycrfsuite.Tagger()
            tagger.open(path)
            start = time.process_time()
            tags = [tagger.tag(x) for x in test_xs]
            tagging += time.process_time() - start
        segments = Segments("BILOU", [f"{p}-{label}" for p in "BILU"])
        index = {name: i for i, name in enumerate(segments.labels)}
        for out, y in zip(found, tags, strict=True):
            out.extend(segments.decode([index[tag] for tag in y]))
    return row("python-crfsuite, a chain per type", test, found, seconds, tagging, iterations)


def run_edge(train: list[Sentence], test: list[Sentence]) -> dict[str, Any]:
    """Train and run EDGE."""
    trainer = LBFGS(max_iter=1000, l2=L2, tol=10 * TOLERANCE)
    ner = Recognizer("edge", features=SET, trainer=trainer, keep="longest", threads=1)
    start = time.process_time()
    ner.fit(train)
    seconds = time.process_time() - start
    start = time.process_time()
    found = [s.mentions for s in ner.predict([Sentence(s.tokens) for s in test], probabilities=False)]
    tagging = time.process_time() - start
    return row("spanloom edge, from tokens", test, found, seconds, tagging, len(ner.history_))


def row(
    name: str, test: list[Sentence], found: list[list[Any]], seconds: float, tagging: float, iterations: int
) -> dict[str, Any]:
    """Return a line of the table."""
    return {
        "system": name,
        "F1": round(100 * micro([s.mentions for s in test], found).f1, 2),
        "training s": round(seconds, 1),
        "iterations": iterations,
        "words/s": round(sum(map(len, test)) / max(tagging, 1e-9)),
    }


def main() -> None:
    """Run both and write the table."""
    parser = argparse.ArgumentParser(description="EDGE against python-crfsuite chains")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sentences", type=int, default=1500, help="training sentences; 0 for all")
    options = parser.parse_args()
    train, test = load("train", options.data, options.sentences or None), load("test", options.data, None)
    rows = [run_crfsuite(train, test), run_edge(train, test)]
    print(json.dumps(rows, indent=1))
    first, second = rows
    text = [
        f"# EDGE and python-crfsuite chains, {len(train):,} training sentences of GENIA",
        "",
        "| " + " | ".join(first) + " |",
        "|" + "---|" * len(first),
        *("| " + " | ".join(str(v) for v in r.values()) + " |" for r in rows),
        "",
        f"Training takes {second['training s'] / first['training s']:.2f} of the time of python-crfsuite, tagging "
        f"{second['words/s'] / first['words/s']:.1f} times as many words a second.",
        "",
        f"Processor time on one thread; Python {platform.python_version()}, {platform.machine()}. Made by "
        f"`python benchmarks/edge.py --sentences {options.sentences}`.",
    ]
    (HERE / "results" / "edge.md").write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
