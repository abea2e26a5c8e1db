"""Layers: any set of contiguous mentions as several flat ones (Alex, Haddow & Grover 2007).

Inside-out, the first layer has the mentions that contain no other, the second those that contain only mentions of the
first, and so on; outside-in, the first layer has the mentions that no other contains. Mentions that share a token
without one containing the other (crossing ones, or two labels on the same tokens) go to different layers, too: the
later one, by place and label, to the next layer that has room. So the union of the layers is always the whole set.
"""

from __future__ import annotations

from collections.abc import Sequence

from spanloom.corpus.mention import Mention

DIRECTIONS = ("inside-out", "outside-in")


def layers_of(mentions: Sequence[Mention], direction: str = "inside-out") -> list[list[Mention]]:
    """Part contiguous mentions into flat layers.

    Parameters
    ----------
    mentions
        Of one sentence; one that is given twice counts once.
    direction
        One of ``DIRECTIONS``.

    Examples
    --------
    >>> protein, rna, far = Mention("protein", ((0, 1),)), Mention("RNA", ((0, 2),)), Mention("DNA", ((4, 5),))
    >>> [[m.label for m in layer] for layer in layers_of([protein, rna, far])]
    [['protein', 'DNA'], ['RNA']]
    >>> [[m.label for m in layer] for layer in layers_of([protein, rna, far], "outside-in")]
    [['RNA', 'DNA'], ['protein']]
    """
    sign = 1 if direction == "inside-out" else -1
    layers: list[list[Mention]] = []
    # By length, so that what a mention contains (or is contained in) has its layer when it is its turn.
    for mention in sorted(set(mentions), key=lambda m: (sign * len(m), m.start, m.label)):
        level = 1 + max((k for k, layer in enumerate(layers) if any(mention.overlaps(m) for m in layer)), default=-1)
        if level == len(layers):
            layers.append([])
        layers[level].append(mention)
    return [sorted(layer, key=lambda m: m.start) for layer in layers]
