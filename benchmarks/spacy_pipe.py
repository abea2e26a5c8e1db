"""How fast is the spaCy component? What it adds to a blank pipeline, against the native path from text to mentions.

    python benchmarks/spacy_pipe.py --data FOLDER [--rounds 5] [--write]

Models are trained on GENIA with five types and the default features, ten iterations, since speed does not go by how
good the weights are. Texts are PubMed sentences, eight to a document. All ways run in turn on one thread: processor
time, the best of the rounds. The native path is ``TextTagger.tag``: it cuts the texts itself, while the component takes
spaCy's tokens and writes spans, scores and entities.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from itertools import islice
from typing import Any

from tables import rounds_and_write, write

from spanloom import Recognizer, _native, read
from spanloom.learning import LBFGS
from spanloom.tagging import TextTagger

warnings.simplefilter("ignore")
import spacy  # noqa: E402

DOCUMENTS = 700


def through(nlp: Any, texts: list[str]) -> None:
    """Send texts through a pipeline."""
    for _ in nlp.pipe(texts):
        pass


def timed(work: Any) -> float:
    """Seconds of the processor."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Print the table, or write it."""
    args = rounds_and_write(__doc__, 5)
    lines = (args.data / "pubmed" / "sentences.txt").read_text(encoding="utf-8").splitlines()[: 8 * DOCUMENTS]
    texts = [" ".join(lines[i : i + 8]) for i in range(0, len(lines), 8)]
    words = _native.TokenizedTexts(texts, 1).tokens
    corpus = read(f"genia:{args.data}/genia?classes=5&split=train")
    train = list(islice((s for doc in corpus for s in doc.sentences), 6000))
    table = [
        "| model | scores | native, words/s | blank pipeline | with component | component alone | of native speed |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for kind in ("chain", "edge"):
        ner = Recognizer(kind, keep="longest", trainer=LBFGS(max_iter=10), threads=1).fit(train)
        for scores in (False, True):
            blank, nlp = spacy.blank("en"), spacy.blank("en")
            nlp.add_pipe("spanloom", config={"scores": scores, "threads": 1}).use(ner)
            tagger = TextTagger(ner, 1)
            best: dict[str, float] = {}
            for _ in range(args.rounds):
                for name, work in (
                    ("native", partial(tagger.tag, texts, probabilities=scores)),
                    ("blank", partial(through, blank, texts)),
                    ("whole", partial(through, nlp, texts)),
                ):
                    best[name] = min(timed(work), best.get(name, float("inf")))
            added = best["whole"] - best["blank"]
            rates = [words / seconds for seconds in (best["native"], best["blank"], best["whole"], added)]
            cells = [f"{rate:,.0f}" for rate in rates]
            row = [f"`{kind}`", "yes" if scores else "no", *cells, f"{100 * best['native'] / added:.0f} %"]
            table.append(f"| {' | '.join(row)} |")
            print(table[-1], flush=True)
    if args.write:
        settings = f"one thread, {words:,} words in {len(texts):,} documents, spaCy {spacy.__version__}"
        write("spacy_pipe", "The spaCy component", args.rounds, settings, table)


if __name__ == "__main__":
    main()
