"""Steps to the best model: each is compared with the one before it, on the same corpus."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments import steps
from experiments.counts import pack
from experiments.runner import Context, Run


def units(n: int) -> dict[str, str]:
    return {"units": pack(np.tile(np.array([2, 2, 1]), (n, 1)))}


def test_a_step_is_compared_with_the_line_before_of_its_corpus() -> None:
    """Lines that were not run are passed over, those of other corpora too."""
    gum, first, second = "GUM: state, gaps", "UNER: the same, document context", steps.runs()[-1].name
    rows = steps.compared({gum: units(5), first: units(7), second: units(7)})[2:]
    assert [row.split(" | ")[:2] for row in rows] == [[f"| {second}", first]]


def test_a_model_is_kept_by_its_settings() -> None:
    """A teacher whose settings changed is another teacher."""
    where = Context(Path("data"), quick=False, work=Path("work"))
    one, other = (steps.file_of(Run("GENIA: x", {"l2": value}), where) for value in (1.0, 2.0))
    assert one != other
    assert one == steps.file_of(Run("GENIA: x", {"l2": 1.0}), where)
