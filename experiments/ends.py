"""How trainings end: each component converged, reached the cap of its iterations, or made a fixed number of passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from spanloom import Recognizer

CONVERGED, CAP, PASSES = "converged", "cap", "passes"
End = dict[str, Any]
"""Of a component: its name (``part``), ``ended``, ``iterations``, ``objective``; of the training: ``gap``, ``seed``."""


def ends(ner: Recognizer) -> list[End]:
    """Return how the trainings of a recogniser's components ended.

    Online trainers make as many passes as they are told, or stop by the development data; they do not converge.
    """
    last = {record.component: record for record in ner.history_}
    trainer = ner.check_model(ner.model_)
    gap = ner.training_.get("gap")
    made = []
    for record in last.values():
        ended = PASSES if not trainer.warm else CAP if record.number >= trainer.iterations else CONVERGED
        end = {"part": record.part, "ended": ended, "iterations": record.number, "objective": float(record.objective)}
        made.append({**end, "gap": gap, "seed": ner.seed})
    return made


@contextmanager
def watched() -> Iterator[list[End]]:
    """Collect the ends of every training within the block, but not those within another training."""
    collected: list[End] = []
    fit, depth = Recognizer.fit, [0]

    def watch(self: Recognizer, *arguments: Any, **more: Any) -> Recognizer:
        depth[0] += 1
        try:
            done = fit(self, *arguments, **more)
        finally:
            depth[0] -= 1
        if not depth[0]:
            collected.extend(ends(self))
        return done

    Recognizer.fit = watch  # type: ignore[method-assign]
    try:
        yield collected
    finally:
        Recognizer.fit = fit  # type: ignore[method-assign]


def told(found: Sequence[Mapping[str, Any]]) -> str:
    """Say in a few words how trainings ended.

    Examples
    --------
    >>> told([{"ended": "converged"}, {"ended": "cap"}]), told([{"ended": "passes"}]), told([])
    ('1 of 2 at the cap', 'passes', '')
    """
    counts = Counter(end["ended"] for end in found)
    if CAP in counts:
        return "at the cap" if counts[CAP] == len(found) else f"{counts[CAP]} of {len(found)} at the cap"
    return "" if not counts else CONVERGED if counts[CONVERGED] == len(found) else PASSES
