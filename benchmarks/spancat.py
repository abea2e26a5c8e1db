"""EDGE against spaCy's ``spancat`` on the same sentences: F1, training time, words per second, size of the model.

    python benchmarks/spancat.py --data ../shared/data [--corpus genia|gum] [--steps 4000] [--longest 10]
                                 [--clusters PATHS] [--only spanloom|spacy] [--quick]

spaCy is trained by ``spacy train`` with the configuration that ``spacy init config --optimize efficiency`` writes for a
processor (a CNN over hashed words, batches by words, the best model on the development part). Two settings are ours:
spans are n-grams up to ``--longest`` words (3 by default in spaCy, too short for these corpora), and training ends
after ``--steps`` at the latest. spanloom trains ``edge`` on the words alone, as spaCy sees them, for each L2 of a few,
and takes the one that is best on the development part, where it chooses the mention penalty too. It does so once more
with the corpus's parts of speech and richer features, for which GENIA needs ``--clusters`` (a ``paths`` file of
``spanloom cluster``).
Training and tagging are processor time, on one thread; training has all in it that is chosen on the development part,
tagging is the least of three times.

Each system's line is kept in ``benchmarks/results/spancat-CORPUS.json`` when it is there, and the table is written from
them to ``benchmarks/results/spancat-CORPUS.md``.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from spanloom import Mention, Recognizer, Sentence
from spanloom.evaluation import micro
from spanloom.formats import read
from spanloom.learning import LBFGS

HERE = Path(__file__).resolve().parent
REFS = {"genia": "genia:{data}/genia?classes=5&split={split}", "gum": "gum:{data}/gum?split={split}"}
KEY = "sc"
L2 = (1.0, 4.0, 16.0, 64.0)
RICH = {"genia": ("genia-rich", 32.0, True), "gum": ("gaps+gap-heads", 8.0, False)}
"""Features and L2 as in ``experiments/separators.py``, where the development part chose them;
whether they read clusters."""

Parts = dict[str, list[Sentence]]


def load(corpus: str, data: Path, quick: bool) -> Parts:
    """Return the sentences of the three parts."""
    parts = {}
    for split in ("train", "dev", "test"):
        found = [s for doc in read(REFS[corpus].format(data=data, split=split)) for s in doc.sentences if len(s)]
        parts[split] = found[:200] if quick else found
    return parts


def size_of(path: Path) -> float:
    """Megabytes of a file or folder."""
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return sum(p.stat().st_size for p in files) / 1e6


def words_only(sentences: list[Sentence]) -> list[Sentence]:
    """Return the sentences without the columns of the corpus."""
    return [Sentence(s.tokens, mentions=s.mentions) for s in sentences]


def least(tag: Callable[[], list[list[Mention]]]) -> tuple[list[list[Mention]], float]:
    """Return what is found, and the least seconds of three times."""
    seconds = []
    for _ in range(3):
        start = time.process_time()
        found = tag()
        seconds.append(time.process_time() - start)
    return found, min(seconds)


def run_spanloom(name: str, parts: Parts, tried: Sequence[float], quick: bool, **settings: Any) -> dict[str, Any]:
    """Train once for each L2 and measure the one that is best on the development part."""
    best: tuple[float, float, Recognizer] | None = None
    start = time.process_time()
    for l2 in tried:
        trainer = LBFGS(max_iter=5 if quick else 100, l2=l2, tol=1e-3)
        ner = Recognizer("edge", trainer=trainer, keep="longest", threads=1, **settings)
        ner.fit(parts["train"])
        curve = ner.tune_mention_penalty(parts["dev"])
        reached = curve.at(curve.best).f1
        print(f"{name}, L2 {l2:g}: {100 * reached:.2f} on dev", file=sys.stderr, flush=True)
        if best is None or reached > best[0]:
            best = (reached, l2, ner)
    trained = time.process_time() - start
    assert best is not None
    _, l2, ner = best
    blank = [s.with_mentions([]) for s in parts["test"]]
    found, tagged = least(lambda: [s.mentions for s in ner.predict(blank, probabilities=False)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.loom"
        ner.save(path)
        choice = f" of {', '.join(f'{one:g}' for one in tried)}" if len(tried) > 1 else ""
        return row(f"{name}, L2 {l2:g}{choice}", parts["test"], found, trained, tagged, size_of(path))


def run_spacy(parts: Parts, steps: int, longest: int) -> dict[str, Any]:
    """Train and measure spaCy."""
    import spacy
    from spacy.cli.init_config import init_config
    from spacy.cli.train import train
    from spacy.tokens import Doc, DocBin, Span

    vocab = spacy.blank("en").vocab

    def gold(sentence: Sentence) -> Doc:
        doc = Doc(vocab, words=sentence.tokens)
        doc.spans[KEY] = [Span(doc, m.start, m.end, m.label) for m in sentence.mentions if not m.discontinuous]
        return doc

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for split in ("train", "dev"):
            DocBin(docs=map(gold, parts[split]), store_user_data=True).to_disk(folder / f"{split}.spacy")
        config = init_config(lang="en", pipeline=["spancat"], optimize="efficiency", gpu=False)
        config["components"]["spancat"]["suggester"] = {
            "@misc": "spacy.ngram_range_suggester.v1",
            "min_size": 1,
            "max_size": longest,
        }
        config.to_disk(folder / "config.cfg")
        start = time.process_time()
        train(
            folder / "config.cfg",
            folder / "model",
            overrides={
                "paths.train": str(folder / "train.spacy"),
                "paths.dev": str(folder / "dev.spacy"),
                "training.max_steps": steps,
            },
        )
        trained = time.process_time() - start
        nlp = spacy.load(folder / "model" / "model-best")

        def tag() -> list[list[Mention]]:
            docs = nlp.pipe(Doc(nlp.vocab, words=s.tokens) for s in parts["test"])
            return [[Mention(s.label_, ((s.start, s.end),)) for s in doc.spans[KEY]] for doc in docs]

        found, tagged = least(tag)
        size = size_of(folder / "model" / "model-best")
    label = f"spaCy {spacy.__version__} `spancat`, n-grams to {longest}, at most {steps} steps"
    return row(label, parts["test"], found, trained, tagged, size)


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


def measure(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    """Run what is asked for, one system after the other."""
    parts = load(options.corpus, options.data, options.quick)
    if options.only != "spacy":
        plain = {split: words_only(sentences) for split, sentences in parts.items()}
        yield "words", run_spanloom("spanloom `edge`, words only", plain, L2, options.quick)
        features, l2, clusters = RICH[options.corpus]
        if options.clusters or not clusters:
            name = f"spanloom `edge`, `{features}`{' with clusters' if clusters else ''}, parts of speech"
            settings = {"features": features, "clusters": options.clusters, "annotators": ["phrases"]}
            yield "rich", run_spanloom(name, parts, (l2,), options.quick, **settings)
    if options.only != "spanloom":
        yield "spacy", run_spacy(parts, 5 if options.quick else options.steps, options.longest)


def write(corpus: str, rows: dict[str, dict[str, Any]]) -> None:
    """Write the lines and their table."""
    target = HERE / "results" / f"spancat-{corpus}"
    target.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    head = next(iter(rows.values()))
    text = [
        f"# EDGE and spaCy's spancat on {corpus.upper()}",
        "",
        "| " + " | ".join(head) + " |",
        "|---|" + "---:|" * (len(head) - 1),
        *("| " + " | ".join(str(v) for v in line.values()) + " |" for line in rows.values()),
        "",
        f"Processor time on one thread; Python {platform.python_version()}, {platform.machine()}. Made by "
        f"`python benchmarks/spancat.py --corpus {corpus} [--clusters PATHS]`, which tells what was trained and how.",
    ]
    target.with_suffix(".md").write_text("\n".join(text) + "\n", encoding="utf-8")


def main() -> None:
    """Run what is asked for and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--corpus", choices=sorted(REFS), default="genia")
    parser.add_argument("--steps", type=int, default=4000, help="spaCy's last step at the latest")
    parser.add_argument("--longest", type=int, default=10, help="longest span that spaCy considers")
    parser.add_argument("--clusters", type=Path, help="a paths file; also train the rich features")
    parser.add_argument("--only", choices=("spanloom", "spacy"))
    parser.add_argument("--quick", action="store_true", help="200 sentences, a few steps; nothing is written")
    options = parser.parse_args()
    if options.clusters and not RICH[options.corpus][2]:
        parser.error(f"--clusters is for corpora whose features read them, which those of {options.corpus} do not")
    kept = HERE / "results" / f"spancat-{options.corpus}.json"
    for name, line in measure(options):
        print(json.dumps(line, indent=1), flush=True)
        if not options.quick:
            rows = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
            write(options.corpus, {**rows, name: line})


if __name__ == "__main__":
    main()
