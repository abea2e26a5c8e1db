"""On flat mentions, to the last digit what seqeval (strict) and a count in the manner of conlleval say."""

from __future__ import annotations

import random

import pytest

from spanloom import Mention, Recognizer, read
from spanloom.evaluation import by_label, evaluate, micro
from spanloom.learning import Auto

LABELS = ("LOC", "ORG", "PER")


def tags(mentions, n):
    """IOB2 tags of flat mentions."""
    found = ["O"] * n
    for m in mentions:
        found[m.start : m.end] = [f"B-{m.label}"] + [f"I-{m.label}"] * (len(m) - 1)
    return found


def random_flat(rng, n):
    """Flat mentions of a sentence of n tokens."""
    mentions, at = [], 0
    while at < n:
        length = rng.randint(1, 3)
        if rng.random() < 0.4 and at + length <= n:
            mentions.append(Mention(rng.choice(LABELS), ((at, at + length),)))
        at += length
    return mentions


def spoil(rng, mentions, n):
    """Predictions: some mentions right, some with another label, some invented where there is room."""
    kept = [m if rng.random() < 0.8 else Mention(rng.choice(LABELS), m.parts) for m in mentions if rng.random() < 0.8]
    taken = {i for m in kept for i in m.tokens}
    extra = [Mention(rng.choice(LABELS), ((i, i + 1),)) for i in range(n) if i not in taken and rng.random() < 0.05]
    return sorted(kept + extra, key=lambda m: m.start)


def conlleval(gold_tags, predicted_tags):
    """Count chunks as the conlleval script does: walk the tags once, comparing where chunks begin and end."""
    n_gold = n_predicted = n_both = 0
    for gs, ps in zip(gold_tags, predicted_tags, strict=True):
        running = False  # a gold and a predicted chunk began together and have gone on together
        before_g = before_p = "O"
        for g, p in zip([*gs, "O"], [*ps, "O"], strict=True):
            g_ends, p_ends = (b != "O" and t[0] != "I" for b, t in ((before_g, g), (before_p, p)))
            if running and (g_ends or p_ends):
                n_both += g_ends and p_ends
                running = False
            g_begins, p_begins = g[0] == "B", p[0] == "B"
            if g_begins and p_begins and g == p:
                running = True
            n_gold += g_begins
            n_predicted += p_begins
            before_g, before_p = g, p
    precision = n_both / n_predicted if n_predicted else 0.0
    recall = n_both / n_gold if n_gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return (n_gold, n_predicted, n_both), (precision, recall, f1)


def check(gold, predicted, lengths):
    """Micro, macro and every label agree exactly."""
    metrics = pytest.importorskip("seqeval.metrics")
    from seqeval.scheme import IOB2

    gold_tags = [tags(m, n) for m, n in zip(gold, lengths, strict=True)]
    predicted_tags = [tags(m, n) for m, n in zip(predicted, lengths, strict=True)]
    theirs = metrics.classification_report(
        gold_tags, predicted_tags, mode="strict", scheme=IOB2, output_dict=True, zero_division=0
    )
    score = micro(gold, predicted)
    for name, field in (("precision", "precision"), ("recall", "recall"), ("f1-score", "f1")):
        assert getattr(score, field) == theirs["micro avg"][name]
        for label, ours in by_label(gold, predicted).items():
            assert getattr(ours, field) == theirs[label][name]
    assert score.gold == theirs["micro avg"]["support"]
    counts, fractions = conlleval(gold_tags, predicted_tags)
    assert (score.gold, score.predicted, score.correct) == counts
    assert (score.precision, score.recall, score.f1) == fractions
    return theirs


@pytest.mark.parametrize("seed", range(8))
def test_random_predictions(seed):
    """Forty random sentences."""
    rng = random.Random(seed)
    lengths = [rng.randint(1, 25) for _ in range(40)]
    gold = [random_flat(rng, n) for n in lengths]
    check(gold, [spoil(rng, m, n) for m, n in zip(gold, lengths, strict=True)], lengths)


@pytest.mark.corpus
def test_predictions_on_uner_ewt(shared_data):
    """A model of a few iterations on real text; also the macro average and the report's own tables."""
    train = [d for d, _ in zip(read(f"uner:{shared_data}/uner-ewt?split=train"), range(30), strict=False)]
    dev = [s for d in read(f"uner:{shared_data}/uner-ewt?split=dev") for s in d.sentences]
    predicted = [s.mentions for s in Recognizer(trainer=Auto(max_iter=15), threads=2).fit(train).predict(dev)]
    theirs = check([s.mentions for s in dev], predicted, [len(s) for s in dev])
    report = evaluate(dev, predicted)
    assert report.macro["f1"] == pytest.approx(theirs["macro avg"]["f1-score"], abs=1e-15)
    assert 0.1 < report.f1 < 1
