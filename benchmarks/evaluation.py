"""Speed of evaluation: 100,000 sentences with 400,000 mentions, and against seqeval on the same flat input.

    pip install 'spanloom[bench]' && python benchmarks/evaluation.py

Processor times, the least of a few measurements; the table goes to ``benchmarks/results/evaluation.md``.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from seqeval.metrics import classification_report
from seqeval.scheme import IOB2

from spanloom import Mention, Sentence
from spanloom.evaluation import Score, by_label_from_tags, evaluate, micro
from spanloom.evaluation.significance import bootstrap, randomisation, unit_counts

LABELS = ("DNA", "RNA", "cell_line", "cell_type", "protein")
LENGTH = 25


def nested(rng: random.Random) -> list[Mention]:
    """Four mentions anywhere in a sentence of 25 tokens; about half of them overlap."""
    starts = [rng.randrange(LENGTH - 5) for _ in range(4)]
    return [Mention(rng.choice(LABELS), ((s, s + rng.randint(1, 5)),)) for s in starts]


def flat(rng: random.Random) -> list[Mention]:
    """Four mentions of one to five tokens in a row, none touching another."""
    return [Mention(rng.choice(LABELS), ((6 * k, 6 * k + rng.randint(1, 5)),)) for k in range(4)]


def spoil(rng: random.Random, mentions: list[Mention]) -> list[Mention]:
    """Keep four of five mentions, and give the fifth another label."""
    return [m if rng.random() < 0.8 else Mention(rng.choice(LABELS), m.parts) for m in mentions]


def iob2(mentions: list[Mention]) -> list[str]:
    """The tags that seqeval wants."""
    tags = ["O"] * LENGTH
    for m in mentions:
        tags[m.start : m.end] = [f"B-{m.label}"] + [f"I-{m.label}"] * (len(m) - 1)
    return tags


def best(work: Callable[[], object], times: int = 3) -> float:
    """The least of a few measurements, in seconds."""
    seconds = []
    for _ in range(times):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> None:
    """Measure and write the table."""
    rng = random.Random(1)
    words = [str(i) for i in range(LENGTH)]
    gold = [Sentence(words, nested(rng)) for _ in range(100_000)]
    predicted = [spoil(rng, s.mentions) for s in gold]
    lists = [s.mentions for s in gold]

    def exact() -> None:
        report = evaluate(gold, predicted)
        assert report.by_label
        assert report.by_kind
        assert report.macro

    rows = [
        ("micro P, R, F1 (what training asks each iteration)", best(lambda: micro(lists, predicted))),
        ("evaluate: micro, macro, by label, by kind", best(exact)),
        (
            "the whole report: all tables, partial matching, mistakes",
            best(lambda: evaluate(gold, predicted).to_json(), 1),
        ),
    ]
    counts = unit_counts(lists, predicted)
    other = unit_counts(lists, [spoil(rng, s.mentions) for s in gold])
    rows.append(("paired bootstrap, 10,000 resamples", best(lambda: bootstrap(counts, other), 1)))
    rows.append(("approximate randomisation, 10,000 swaps", best(lambda: randomisation(counts, other), 1)))

    few = [flat(rng) for _ in range(5_000)]
    wrong = [spoil(rng, m) for m in few]
    gold_tags, wrong_tags = [iob2(m) for m in few], [iob2(m) for m in wrong]

    def seqeval() -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = classification_report(
            gold_tags, wrong_tags, mode="strict", scheme=IOB2, output_dict=True
        )
        return found

    sentences = [Sentence(words, m) for m in few]
    ours = best(lambda: evaluate(sentences, wrong).by_label)
    from_tags = best(lambda: by_label_from_tags(gold_tags, wrong_tags))
    theirs = best(seqeval, 1)
    default = best(lambda: classification_report(gold_tags, wrong_tags, output_dict=True), 1)
    f1 = seqeval()["micro avg"]["f1-score"]
    assert evaluate(sentences, wrong).f1 == f1
    assert sum(by_label_from_tags(gold_tags, wrong_tags).values(), Score(0, 0, 0, 0)).f1 == f1
    lines = [
        "# Evaluation: speed",
        "",
        f"100,000 sentences of {LENGTH} tokens with {sum(map(len, lists)):,} gold mentions, half of them overlapping, "
        f"and {sum(map(len, predicted)):,} predicted ones; processor time on one core.",
        "",
        "| what | seconds |",
        "|---|---:|",
        *(f"| {name} | {seconds:.2f} |" for name, seconds in rows),
        "",
        "5,000 flat sentences (20,000 mentions), micro and by label; equal to the last digit.",
        "",
        "| | seconds | ratio |",
        "|---|---:|---:|",
        f"| spanloom, from mentions | {ours:.4f} | 1 |",
        f"| spanloom, from tags | {from_tags:.4f} | {from_tags / ours:.1f} |",
        f"| seqeval, strict | {theirs:.3f} | {theirs / ours:.0f} |",
        f"| seqeval, default mode | {default:.3f} | {default / ours:.0f} |",
        "",
        f"numpy {np.__version__}. Made by `python benchmarks/evaluation.py`.",
    ]
    text = "\n".join(lines) + "\n"
    folder = Path(__file__).resolve().parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "evaluation.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
