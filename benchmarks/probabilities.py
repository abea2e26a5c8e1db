"""How much slower is tagging with probabilities? Both ways in turn, on the same sentences, on one thread.

Processor time. The median of the rounds counts; ratios are of the same round.
"""

from __future__ import annotations

import itertools
import statistics
import time

import tables

from spanloom import Recognizer, Sentence, read
from spanloom.learning import Auto
from spanloom.models import Chain, Edge, Hypergraph, Layered, Memm, Model, Multilabel, SemiMarkov, State

MODELS = (Chain(), Edge(), State(), SemiMarkov(), Memm(), Multilabel())
SLOW = (Layered(), Hypergraph())
FEW = 200
"""So many sentences of each part are enough for slow models."""


def measured(model: Model, train: list[Sentence], test: list[Sentence], rounds: int) -> list[str]:
    """Return the cells of a model's line of the table."""
    passes = 3 if isinstance(model, Multilabel) else 15
    ner = Recognizer(model, trainer=Auto(max_iter=passes), keep="longest", threads=1).fit(train)
    tokens = sum(map(len, test))
    speeds: dict[str, list[float]] = {"plain": [], "probabilities": [], "above": []}
    for _ in range(rounds):
        for name, options in (
            ("plain", {"probabilities": False}),
            ("probabilities", {"probabilities": True}),
            ("above", {"above": 0.2}),
        ):
            start = time.process_time()
            ner.predict(test, **options)
            speeds[name].append(tokens / (time.process_time() - start))
    ratios = [
        statistics.median(b / a for a, b in zip(speeds["plain"], speeds[name], strict=True))
        for name in ("probabilities", "above")
    ]
    middle = [statistics.median(values) for values in speeds.values()]
    return [model.name, *(f"{value:,.0f}" for value in middle), *(f"{ratio:.2f}" for ratio in ratios)]


def main() -> None:
    """Print the table, or write it."""
    given = tables.rounds_and_write(__doc__, 5)
    corpus = read(f"genia:{given.data}/genia?classes=5&split=train")
    sentences = list(itertools.islice((s for doc in corpus for s in doc.sentences if len(s)), 4000))
    train, test = sentences[:2000], sentences[2000:]
    lines = [
        "| model | tokens/s | with `prob` | `above=0.2` | ratio `prob` | ratio `above` |",
        "|---|---|---|---|---|---|",
    ]
    for model in MODELS:
        lines.append(f"| {' | '.join(measured(model, train, test, given.rounds))} |")
    for model in SLOW:
        lines.append(f"| {' | '.join(measured(model, train[:FEW], test[:FEW], given.rounds))} |")
    print("\n".join(lines))
    if given.write:
        settings = (
            "GENIA, 2,000 sentences to train on (15 iterations, multilabel 3 passes) and 2,000 to tag; of each "
            f"{FEW} for the last {len(SLOW)} models"
        )
        tables.write("probabilities", "Tagging with probabilities", given.rounds, settings, lines)


if __name__ == "__main__":
    main()
