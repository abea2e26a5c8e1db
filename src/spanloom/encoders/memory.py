"""How much memory a training with an encoder will need, before it begins."""

from __future__ import annotations

from typing import Any

FLOAT = 4
PER_LAYER = 24
"""Vectors of the network's width that a layer keeps for its gradient, by piece: in and out of attention, of norms, of
the feed-forward part (four times as wide, twice) and of dropout."""


def estimate(*, parameters: int, tuned: int, layers: int, width: int, pieces: int, sparse: int) -> dict[str, int]:
    """Return about how many bytes a training takes, by what they are for.

    Parameters
    ----------
    parameters, tuned
        Weights of network and map, and those of them that are learned: a gradient and two moments each.
    layers, width
        Of the network; 0 layers if it is not trained further.
    pieces
        Of the largest part of a batch, filled up.
    sparse
        Weights of sparse features.

    Examples
    --------
    >>> sum(estimate(parameters=1000, tuned=1000, layers=0, width=8, pieces=64, sparse=0).values())
    16000
    """
    return {
        "weights": FLOAT * (parameters + 3 * tuned),
        "activations": FLOAT * layers * pieces * PER_LAYER * width,
        "features": FLOAT * sparse,
    }


def network_sizes(config: Any) -> tuple[int, int]:
    """Return layers and width of a network as its configuration says."""

    def first(*names: str) -> int:
        return next((int(getattr(config, name)) for name in names if isinstance(getattr(config, name, None), int)), 1)

    return first("num_hidden_layers", "num_layers", "n_layers"), first("hidden_size", "d_model", "dim")
