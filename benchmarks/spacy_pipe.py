"""How fast is the spaCy component? What it adds to a blank pipeline, against the native path from text to mentions.

    python benchmarks/spacy_pipe.py --data FOLDER [--rounds 5] [--write]

Models are trained on GENIA with five types and the default features, ten iterations, since speed does not go by how
good the weights are. Texts are PubMed sentences, eight to a document. All ways run in turn on one thread: processor
time. Words a second are the best of the rounds. Shares are of one round each, since machines change their speed from
one to the next: the median of all rounds, with the quartiles.

native
    ``TextTagger.tag(texts)``: cuts the texts itself, finds mentions (and probabilities); arrays come out.
blank pipeline
    ``spacy.blank("en").pipe(texts)``.
with component
    The same pipeline with ``spanloom``, which takes spaCy's tokens and writes spans, scores and entities.
component alone
    The time with the component less that of the blank pipeline.
of native speed
    The time of native by that of the component alone: what nlp.pipe gives of the native speed, on top of spaCy's own
    work.
of native, ready tokens
    The same against ``TextTagger.tag`` on texts that are cut already, into spaCy's tokens: native without cutting.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from tables import rounds_and_write, write

from spanloom import Recognizer, _native, read
from spanloom.integrations.spacy.reading import DocReader
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
        "| model | scores | native, words/s | blank pipeline | with component | component alone | of native speed "
        "| quartiles | of native, ready tokens | their quartiles |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for kind in ("chain", "edge"):
        ner = Recognizer(kind, keep="longest", trainer=LBFGS(max_iter=10), threads=1).fit(train)
        for scores in (False, True):
            blank, nlp = spacy.blank("en"), spacy.blank("en")
            nlp.add_pipe("spanloom", config={"scores": scores, "threads": 1}).use(ner)
            tagger = TextTagger(ner, 1)
            reader, docs = DocReader(), list(blank.pipe(texts))
            ready = reader.batch(docs, [reader.rows(doc) for doc in docs]).texts
            del docs
            taken: dict[str, list[float]] = {}
            for _ in range(args.rounds):
                for name, work in (
                    ("native", partial(tagger.tag, texts, probabilities=scores)),
                    ("ready", partial(tagger.tag, ready, probabilities=scores)),
                    ("blank", partial(through, blank, texts)),
                    ("whole", partial(through, nlp, texts)),
                ):
                    taken.setdefault(name, []).append(timed(work))
            added = np.subtract(taken["whole"], taken["blank"])
            least = [min(taken["native"]), min(taken["blank"]), min(taken["whole"]), np.median(added)]
            cells = [f"{words / seconds:,.0f}" for seconds in least]
            shares = [np.quantile(np.divide(taken[name], added), (0.25, 0.5, 0.75)) for name in ("native", "ready")]
            told = [f"{middle:.0%} | {low:.0%} to {high:.0%}".replace("%", " %") for low, middle, high in shares]
            row = [f"`{kind}`", "yes" if scores else "no", *cells, *told]
            table.append(f"| {' | '.join(row)} |")
            print(table[-1], flush=True)
    if args.write:
        settings = f"{words:,} words in {len(texts):,} documents, spaCy {spacy.__version__}"
        write("spacy_pipe", "The spaCy component", args.rounds, settings, table)


if __name__ == "__main__":
    main()
