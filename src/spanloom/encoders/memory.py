"""How much memory a training will need, before it begins."""

from __future__ import annotations

import warnings
from typing import Any

FLOAT = 4
PER_LAYER = 22
"""Vectors of the network's width that a layer keeps for its gradient, by piece: in and out of attention, of norms, of
the feed-forward part (four times as wide, twice) and of dropout."""


def estimate(
    *, parameters: int, tuned: int, layers: int, width: int, heads: int, pieces: int, longest: int, sparse: int
) -> dict[str, int]:
    """Return about how many bytes a training takes, by what they are for.

    Parameters
    ----------
    parameters, tuned
        Weights of network and map, and those of them that are learned: a gradient and two moments each.
    layers, width, heads
        Of the network; 0 layers if it is not trained further.
    pieces, longest
        Of the largest part of a batch, filled up, and of its longest row.
    sparse
        Weights of sparse features.

    Examples
    --------
    >>> sum(estimate(parameters=1000, tuned=1000, layers=0, width=8, heads=2, pieces=64, longest=16, sparse=0).values())
    16000
    """
    attention = 3 * heads * longest  # by piece: what it attends to, before and after dropout
    return {
        "weights": FLOAT * (parameters + 3 * tuned),
        "activations": FLOAT * layers * pieces * (PER_LAYER * width + attention),
        "features": FLOAT * sparse,
    }


def available() -> int | None:
    """Return the free memory of this machine in bytes; None if it does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return None
    return None


def warn_if_short(needed: dict[str, int], free: int | None, accumulate: int) -> None:
    """Warn if a training is going to need more than there is, and say what to do."""
    total = sum(needed.values())
    if free is not None and total > free:
        most = max(needed, key=lambda name: needed[name])
        warnings.warn(
            f"this training needs about {total / 1e9:.1f} GB, most of it for {most}, and {free / 1e9:.1f} GB are free; "
            f"use accumulate={2 * accumulate}, a smaller batch, or tune=False",
            stacklevel=2,
        )


def network_sizes(config: Any) -> tuple[int, int, int]:
    """Return layers, width and heads of a network as its configuration says."""

    def first(*names: str) -> int:
        return next((int(getattr(config, name)) for name in names if isinstance(getattr(config, name, None), int)), 1)

    return (
        first("num_hidden_layers", "num_layers", "n_layers"),
        first("hidden_size", "d_model", "dim"),
        first("num_attention_heads", "n_heads", "num_heads"),
    )
