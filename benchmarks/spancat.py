"""EDGE against spaCy's ``spancat`` on the same sentences: F1, training time, words per second, size of the model.

    python benchmarks/spancat.py --data ../shared/data [--corpus genia|gum] [--steps 4000] [--quick]

spaCy is trained with its own default configuration for efficiency on the processor (a CNN over hashed words, spans as
n-grams up to the length given here), spanloom with ``edge``, the default features and a mention penalty from the
development data. Training and tagging are processor time. The table goes to ``benchmarks/results/spancat-CORPUS.md``.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spanloom import Mention, Recognizer, Sentence
from spanloom.corpus import read
from spanloom.evaluation import micro

HERE = Path(__file__).resolve().parent
REFS = {"genia": "genia:{data}/genia?classes=5&split={split}", "gum": "gum:{data}/gum?split={split}"}
KEY = "sc"


def load(corpus: str, split: str, data: Path, quick: bool) -> list[Sentence]:
    """Return the sentences of a part."""
    found = [s for doc in read(REFS[corpus].format(data=data, split=split)) for s in doc.sentences]
    return found[:200] if quick else found


def size_of(path: Path) -> float:
    """Megabytes of a file or folder."""
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return sum(p.stat().st_size for p in files) / 1e6


def run_spanloom(train: list[Sentence], dev: list[Sentence], test: list[Sentence], quick: bool) -> dict[str, Any]:
    """Train and measure spanloom."""
    ner = Recognizer("edge", l2=1.0, max_iter=5 if quick else 100, tol=1e-3, mention_penalty="auto", overlap="longest")
    start = time.process_time()
    ner.fit(train, dev=dev)
    trained = time.process_time() - start
    ner.threads = 1
    start = time.process_time()
    found = [s.mentions for s in ner.predict([Sentence(s.tokens) for s in test])]
    tagged = time.process_time() - start
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.loom"
        ner.save(path)
        return row("spanloom edge", test, found, trained, tagged, size_of(path))


def run_spacy(train: list[Sentence], test: list[Sentence], steps: int, longest: int) -> dict[str, Any]:
    """Train and measure spaCy."""
    import spacy
    from spacy.tokens import Doc, Span
    from spacy.training import Example
    from spacy.util import compounding, fix_random_seed, minibatch

    fix_random_seed(1)
    nlp = spacy.blank("en")
    nlp.add_pipe(
        "spancat",
        config={
            "spans_key": KEY,
            "suggester": {"@misc": "spacy.ngram_range_suggester.v1", "min_size": 1, "max_size": longest},
        },
    )

    def example(sentence: Sentence) -> Example:
        gold = Doc(nlp.vocab, words=sentence.tokens)
        gold.spans[KEY] = [Span(gold, m.start, m.end, m.label) for m in sentence.mentions if not m.discontinuous]
        return Example(Doc(nlp.vocab, words=sentence.tokens), gold)

    examples = [example(s) for s in train if len(s)]
    start = time.process_time()
    optimizer = nlp.initialize(lambda: examples)
    done = 0
    while done < steps:
        for batch in minibatch(examples, size=compounding(100, 1000, 1.001)):
            nlp.update(batch, sgd=optimizer, drop=0.1)
            done += 1
            if done == steps:
                break
    trained = time.process_time() - start
    docs = [Doc(nlp.vocab, words=s.tokens) for s in test]
    start = time.process_time()
    found = [[Mention(s.label_, ((s.start, s.end),)) for s in doc.spans[KEY]] for doc in nlp.pipe(docs)]
    tagged = time.process_time() - start
    with tempfile.TemporaryDirectory() as folder:
        nlp.to_disk(folder)
        return row(
            f"spaCy {spacy.__version__} spancat, {steps} steps", test, found, trained, tagged, size_of(Path(folder))
        )


def row(
    name: str, test: Sequence[Sentence], found: list[list[Mention]], trained: float, tagged: float, size: float
) -> dict[str, Any]:
    """Return a line of the table."""
    score = micro([s.mentions for s in test], found)
    return {
        "system": name,
        "P": round(100 * score.precision, 2),
        "R": round(100 * score.recall, 2),
        "F1": round(100 * score.f1, 2),
        "training s": round(trained, 1),
        "words/s": round(sum(map(len, test)) / max(tagged, 1e-9)),
        "MB": round(size, 1),
    }


def main() -> None:
    """Run both and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--corpus", choices=sorted(REFS), default="genia")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--longest", type=int, default=10, help="longest span that spaCy considers")
    parser.add_argument("--quick", action="store_true", help="200 sentences, a few steps; nothing is written")
    options = parser.parse_args()
    train, dev, test = (load(options.corpus, s, options.data, options.quick) for s in ("train", "dev", "test"))
    rows = [
        run_spanloom(train, dev, test, options.quick),
        run_spacy(train, test, 5 if options.quick else options.steps, options.longest),
    ]
    print(json.dumps(rows, indent=1))
    if options.quick:
        return
    head = list(rows[0])
    lines = ["| " + " | ".join(str(v) for v in r.values()) + " |" for r in rows]
    text = [
        f"# EDGE and spaCy's spancat on {options.corpus}",
        "",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
        *lines,
        "",
        f"Processor time; Python {platform.python_version()}, {platform.machine()}. Made by `benchmarks/spancat.py`.",
    ]
    (HERE / "results" / f"spancat-{options.corpus}.md").write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
