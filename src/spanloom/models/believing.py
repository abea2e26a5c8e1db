"""The probabilities of the mentions of many sentences under several components."""

from __future__ import annotations

from collections.abc import Sequence

from spanloom._native import Decoder, SparseRows
from spanloom.learning import Weights
from spanloom.models.base import Mentions
from spanloom.models.component import Component, Shapes
from spanloom.models.trained import probable


def with_probabilities(
    components: Sequence[Component],
    weights: Sequence[Weights],
    decoder: Decoder,
    rows: SparseRows,
    shapes: Shapes,
    found: Mentions,
    threads: int | None,
) -> Mentions:
    """Give mentions the probability that one of the components finds them, 1 − Π (1 − P), without mention penalty."""
    probs = [[0.0] * len(own) for own in found]
    tables = decoder.all_scores(rows, threads or 0)
    for component, one, scores in zip(components, weights, tables, strict=True):
        places = [[i for i, m in enumerate(own) if m.label in component.types] for own in found]
        if not any(places):
            continue
        asked = [[own[i] for i in some] for own, some in zip(found, places, strict=True)]
        each = component.probabilities(scores, rows.group_ptr, one.globals, shapes, asked, threads or 0)
        for known, some, new in zip(probs, places, each, strict=True):
            for i, p in zip(some, new, strict=True):
                known[i] += p * (1 - known[i])  # so that small ones stay exact
    return [[*map(probable, *pair)] for pair in zip(found, probs, strict=True)]
