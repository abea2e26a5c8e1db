"""The mentions of many sentences under several components, and their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from spanloom._native import Decoder, MentionFinder, SparseRows
from spanloom.base.arrays import Cells, Floats, Pointers
from spanloom.corpus.mention import Mention
from spanloom.decisions.rule import NO_THRESHOLDS
from spanloom.inference import Batch
from spanloom.learning import Weights
from spanloom.models.base import Mentions
from spanloom.models.component import Component, Shapes
from spanloom.models.trained import probable


class Finder:
    """Finds mentions natively, in one pass over the sentences, with or without their probabilities.

    Parameters
    ----------
    labels
        Of all components, sorted.
    """

    def __init__(self, native: MentionFinder, labels: Sequence[str]) -> None:
        self.native, self.labels = native, labels

    @classmethod
    def of(cls, components: Sequence[Component], weights: Sequence[Weights], decoder: Decoder) -> Finder | None:
        """Return a finder; None unless all components can be read natively, each with labels of its own."""
        labels = sorted(label for component in components for label in component.types)
        numbers = {label: i for i, label in enumerate(labels)}
        readers = [component.reader(one.globals) for component, one in zip(components, weights, strict=True)]
        if len(numbers) < len(labels) or None in readers:
            return None
        parts = [(one.native, np.array([numbers[t] for t in one.types], np.int32)) for one in filter(None, readers)]
        return cls(MentionFinder(decoder, parts), labels)

    def find(
        self,
        rows: SparseRows,
        threads: int | None,
        *,
        probabilities: bool = False,
        above: float = 0,
        exclusive: bool = False,
        flat: bool = False,
        flat_types: bool = False,
        thresholds: Floats = NO_THRESHOLDS,
    ) -> Mentions:
        """Return the mentions of the best structures; with ``above``, every one with at least this probability.

        With ``thresholds`` and no ``above``, every one with at least that of its label, one for each of ``labels``.
        Without ``above`` mentions may exclude each other, and the most probable one stays: with ``exclusive``, of those
        with the same tokens; with ``flat``, of those that share a token; with ``flat_types``, of those of one label
        that do.
        """
        ptr, places, probs = self.native.find(
            rows,
            threads or 0,
            probabilities=probabilities,
            above=above,
            exclusive=exclusive,
            flat=flat,
            flat_types=flat_types,
            thresholds=thresholds,
        )
        believed = probabilities or above > 0 or thresholds.size
        return gathered(self.labels, ptr, places, probs if believed else None)


def gathered(labels: Sequence[str], ptr: Pointers, places: Cells, probs: Floats | None = None) -> Mentions:
    """Return the mentions of each sentence, of start, end and number of label, start … as native code finds them."""
    flat = iter(places.tolist())
    three = zip(flat, flat, flat, strict=True)
    if probs is None:
        made = [Mention(labels[label], ((start, end),)) for start, end, label in three]
    else:
        pairs = zip(three, probs.tolist(), strict=True)
        made = [Mention(labels[label], ((start, end),), p) for (start, end, label), p in pairs]
    return [made[first:last] for first, last in pairwise(ptr.tolist())]


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
    tables = decoder.all_scores(rows, threads or 0)
    if len(components) == 1:
        batch = Batch(tables[0], rows.group_ptr, weights[0].globals, found, threads or 0)
        each = components[0].probabilities(batch, shapes)
        return [[*map(probable, *pair)] for pair in zip(found, each, strict=True)]
    probs = [[0.0] * len(own) for own in found]
    for component, one, scores in zip(components, weights, tables, strict=True):
        places = [[i for i, m in enumerate(own) if m.label in component.types] for own in found]
        if not any(places):
            continue
        mentions = [[own[i] for i in some] for own, some in zip(found, places, strict=True)]
        batch = Batch(scores, rows.group_ptr, one.globals, mentions, threads or 0)
        for known, some, new in zip(probs, places, component.probabilities(batch, shapes), strict=True):
            for i, p in zip(some, new, strict=True):
                known[i] += p * (1 - known[i])  # so that small ones stay exact
    return [[*map(probable, *pair)] for pair in zip(found, probs, strict=True)]
