"""Scores of any bits: the kernel of every structure against the general engine on the structure's own graph."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fuzz.target import Run, Target
from spanloom._native import ChainStructure, EdgeStructure, HypergraphStructure

SPREADS = (1.0, 30.0, 700.0, 1e5)


def kernels() -> Run:
    """Log Z, marginals and the best structure are those of the engine; nothing is NaN."""

    def run(raw: bytes) -> None:
        if len(raw) < 4:
            return
        kind, size, n, spread = raw[0] % 5, 1 + raw[1] % 9, raw[2] % 7, SPREADS[raw[3] % 4]
        structure = _structure(kind, size, n, raw[4:12])
        columns, cells = structure.columns, structure.global_cells
        sites = structure_sites(kind, structure, n)
        numbers = _numbers(raw[12:], sites * columns + cells, spread)
        scores, others = numbers[: sites * columns], numbers[sites * columns :]
        value, expected = structure.expectations(scores, others)
        graph = structure.graph(sites)
        wanted, marginals = graph.expectations(numbers)
        score, _ = structure.best(scores, others)
        best, _ = graph.best(numbers)
        _same("log Z", value, wanted, numbers)
        _same("the best score", score, best, numbers)
        if math.isnan(value) or np.isnan(expected).any():
            raise AssertionError(f"not a number: {value}, kind {kind}, {numbers.tolist()}")
        if math.isfinite(wanted) and not np.allclose(expected, marginals, atol=1e-6):
            raise AssertionError(f"marginals differ by {np.abs(expected - marginals).max()}, kind {kind}")

    return run


def structure_sites(kind: int, structure: Any, n: int) -> int:
    """The number of sites of a sentence of ``n`` tokens."""
    return n + 1 if kind == 1 else n


def _structure(kind: int, size: int, n: int, bits: bytes) -> Any:
    if kind == 1:
        return EdgeStructure()
    if kind == 2:
        return HypergraphStructure()
    law = np.unpackbits(np.frombuffer((bits or b"\xff") * (size * size // 8 + 2), np.uint8))
    if kind == 3:
        law[:] = 1
    allowed, start, end = law[: size**2], law[1 : size + 1], law[2 : size + 2]
    return ChainStructure(size, allowed.astype(np.uint8), start.astype(np.uint8), end.astype(np.uint8))


def _numbers(raw: bytes, count: int, spread: float) -> Any:
    """Scores of 16 bits each, within the spread; the largest negative one is minus infinity."""
    raw = (raw or b"\0")[: 2 * count]
    raw = raw * (2 * count // max(1, len(raw)) + 1)
    whole = np.frombuffer(raw[: 2 * count], "<i2").astype(np.float64)
    return np.where(whole == -32768, -np.inf, whole / 32768 * spread)


def _same(what: str, one: float, other: float, numbers: Any) -> None:
    finite = np.abs(numbers[np.isfinite(numbers)])
    slack = 1e-9 * max(1.0, float(finite.max(initial=0)) * 20)
    if one != other and not abs(one - other) <= slack:
        raise AssertionError(f"{what}: the kernel has {one}, the engine {other}, for {numbers.tolist()}")


TARGETS = [
    Target(
        "kernels", kernels,
        tuple(
            bytes([kind, size, 5, spread, *b"\xff" * 8, *range(200)])
            for kind in range(4) for size in (0, 3) for spread in range(4)
        ),
    )
]  # fmt: skip
