"""What a mask costs: marginals of one sentence with choices forbidden, beside the same without a mask.

    python benchmarks/masks.py [--rounds 200] [--write]

Three masks: one cell of the sentence, a tenth of the cells at random, and all but one label at half of the tokens (as
partial annotation does). All are run in turn; the time is the least processor time of the rounds. With ``--write`` the
table goes to ``benchmarks/results/masks.md``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from tables import rounds_and_write, write

from spanloom._native import (
    ChainStructure,
    EdgeStructure,
    Lattices,
    SegmentLayout,
    SegmentStructure,
    SpanStructure,
    Structure,
)

TOKENS = 400


def structures() -> Iterator[tuple[str, Structure, int]]:
    """Name, structure and number of sites."""
    for labels in (5, 13, 41):
        ones = [np.ones(size, np.uint8) for size in (labels**2, labels, labels)]
        yield f"chain, {labels} labels", ChainStructure(labels, *ones), TOKENS
    yield "edge", EdgeStructure(), TOKENS + 1
    lattices = Lattices.up_to(np.array([TOKENS]), 6, SegmentLayout())
    yield "segments up to 6, 6 types", SegmentStructure(6, lattices), lattices.rows
    yield "spans up to 6, 5 types", SpanStructure(5, lattices), lattices.rows


def masks(rows: int, columns: int) -> Iterator[tuple[str, np.ndarray]]:
    """Name and mask; column 0 is allowed everywhere, so that there is a structure."""
    random = np.random.default_rng(1)
    one = np.ones((rows, columns), np.uint8)
    one[rows // 2, -1] = 0
    yield "one cell", one
    some = (random.random((rows, columns)) > 0.1).astype(np.uint8)
    some[:, 0] = 1
    yield "a tenth", some
    half = np.ones((rows, columns), np.uint8)
    half[::2, 1:] = 0
    yield "half of the rows", half


def measure(name: str, structure: Structure, sites: int, rounds: int) -> str:
    """Return a line of the table."""
    random = np.random.default_rng(0)
    scores, pairs = random.normal(size=sites * structure.columns), random.normal(size=structure.global_cells)
    flat = [None, *(mask.ravel() for _, mask in masks(structure.choices(sites), structure.columns))]
    best = [float("inf")] * len(flat)
    for _ in range(rounds):
        for k, mask in enumerate(flat):
            start = time.process_time()
            structure.expectations(scores, pairs, mask=mask)
            best[k] = min(best[k], time.process_time() - start)
    ratios = " | ".join(f"{seconds / best[0]:.2f}" for seconds in best[1:])
    return f"| {name} | {1000 * best[0]:.3f} | {ratios} |"


def main() -> None:
    """Measure, print, and write if asked."""
    given = rounds_and_write(__doc__, 200)
    names = " | ".join(kind for kind, _ in masks(2, 2))
    lines = [
        f"| structure | ms without a mask | times that: {names} |",
        "|---|---:|---:|---:|---:|",
        *(measure(name, structure, sites, given.rounds) for name, structure, sites in structures()),
    ]
    print("\n".join(lines))
    if given.write:
        write("masks", "What masks cost", given.rounds, f"least processor time; one sentence of {TOKENS} tokens", lines)


if __name__ == "__main__":
    main()
