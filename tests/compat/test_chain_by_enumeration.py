"""Tiny models against all label sequences, written from the definition."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from compat.crf_data import LABELS, sequences
from spanloom._native import AttributeCorpus, ChainFeatures
from spanloom.compat import ItemSequence, Tagger, Trainer


def score(model, items, labels):
    """Σ value · weight + Σ transition, from the names alone."""
    states, transitions = model.state_features(), model.transition_features()
    total = sum(
        value * states.get((name, label), 0.0)
        for item, label in zip(items, labels, strict=True)
        for name, value in item
    )
    return total + sum(transitions.get(pair, 0.0) for pair in itertools.pairwise(labels))


def plain(xseq):
    """The attributes of the test data, by hand; an attribute that stands twice counts twice."""
    return [
        [
            (
                f"{key}:{inner}" if isinstance(value, list) else f"{key}:{value}" if isinstance(value, str) else key,
                number,
            )
            for key, value in item.items()
            for inner in (value if isinstance(value, list) else [None])
            for number in [1.0 if isinstance(value, list | str) else float(value)]
        ]
        for item in xseq
    ]


def test_labels_probabilities_and_marginals_by_enumeration():
    X, y = sequences(30, 1)
    trainer = Trainer(params={"c2": 0.2}, verbose=False)
    for xseq, yseq in zip(X, y, strict=True):
        trainer.append(xseq, yseq)
    model = trainer.train("")
    tagger = Tagger.of(model)
    for xseq in [x[:4] for x in sequences(12, 2)[0]]:
        items = plain(xseq)
        scores = {labels: score(model, items, labels) for labels in itertools.product(LABELS, repeat=len(items))}
        total = sum(map(math.exp, scores.values()))
        best = max(scores, key=scores.__getitem__)
        assert tagger.tag(xseq) == list(best)
        assert tagger.tag(ItemSequence(xseq)) == list(best)
        assert tagger.probability(best) == pytest.approx(math.exp(scores[best]) / total, rel=1e-9)
        for t, label in itertools.product(range(len(items)), LABELS):
            expected = sum(math.exp(s) for labels, s in scores.items() if labels[t] == label) / total
            assert tagger.marginal(label, t) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("least", "states", "transitions"), [(0, False, False), (2, False, False), (0, True, True), (1.5, True, True)]
)
def test_features_are_the_pairs_that_are_frequent_enough(least, states, transitions):
    """Frequencies are sums of values, so that some are negative; pairs that do not occur have the frequency 0."""
    X, y = sequences(20, 3)
    corpus = AttributeCorpus()
    for xseq, yseq in zip(X, y, strict=True):
        corpus.append(xseq, yseq)
    names, labels = corpus.attribute_names(), corpus.label_names()
    observed: Counter[tuple[str, str]] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for xseq, yseq in zip(X, y, strict=True):
        for item, label in zip(plain(xseq), yseq, strict=True):
            for name, value in item:
                observed[name, label] += value
        pairs.update(itertools.pairwise(yseq))
    wanted = itertools.product(names, labels) if states else observed
    expected = {pair for pair in wanted if least <= observed[pair]}
    also = {pair for pair in (itertools.product(labels, labels) if transitions else pairs) if least <= pairs[pair]}
    chosen = corpus.select(np.arange(len(X)))
    found = ChainFeatures(chosen, len(names), len(labels), least, all_states=states, all_transitions=transitions)
    ptr, columns = found.ptr.tolist(), found.labels.tolist()
    assert {(names[a], labels[c]) for a in range(len(names)) for c in columns[ptr[a] : ptr[a + 1]]} == expected
    assert {(labels[i // 4], labels[i % 4]) for i, n in enumerate(found.transition_of) if n >= 0} == also
    assert len(found) == len(expected) + len(also)
