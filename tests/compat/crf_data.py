"""Random sequences with attributes of every form, for the tests of ``spanloom.compat``."""

from __future__ import annotations

import random
from itertools import chain
from typing import Any

LABELS = ["A", "B", "C", "D"]
Sequences = tuple[list[list[Any]], list[list[str]]]


def sequences(count: int, seed: int) -> Sequences:
    """Sequences of one to eight items; the label depends on the item and on the label before it, with noise."""
    draw = random.Random(seed)
    X, y = [], []
    for _ in range(count):
        items: list[Any] = []
        labels: list[str] = []
        for t in range(draw.randint(1, 8)):
            word = draw.randint(0, 12)
            item = {
                f"w{word}": 1.0,
                f"v{draw.randint(0, 5)}": round(draw.uniform(-1, 2), 2),
                "bias": True,
                "kind": draw.choice("abc"),
                "near": [f"n{draw.randint(0, 3)}", f"n{draw.randint(0, 3)}"],
            }
            before = LABELS.index(labels[-1]) if t else 0
            labels.append(LABELS[(word + before) % 4 if draw.random() < 0.7 else draw.randint(0, 3)])
            items.append(item)
        X.append(items)
        y.append(labels)
    return X, y


def one_sequence(seed: int) -> Sequences:
    """All of them in one: its order cannot be shuffled, so that algorithms that learn online agree to the bit."""
    X, y = sequences(30, seed)
    return [list(chain.from_iterable(X))], [list(chain.from_iterable(y))]
