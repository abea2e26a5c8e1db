"""A recogniser from the settings of a run.

Settings keep the names under which results are stored, those of the first version; here they become today's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spanloom import Recognizer
from spanloom.configuration import configure

NAMES = {"overlap": "keep", "algorithm": "trainer", "company": "rescore", "mention_penalty": "penalty"}
"""Names of the first version, and today's."""

TO_THE_END: dict[str, Any] = {"max_iter": 3000, "tol": 1e-4}
"""Training ends within 1e-4 of the optimum; the cap is there to be noticed."""
SEARCH_TOL = 1e-3
"""Training stops a little earlier while settings are chosen."""


def today(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings under today's names; None stands for the default.

    Examples
    --------
    >>> today({"model": "multilabel", "company": True, "longest": None, "overlap": "longest"})
    {'model': 'multilabel', 'rescore': True, 'keep': 'longest'}
    """
    return {NAMES.get(name, name): value for name, value in settings.items() if value is not None}


def recognizer(settings: Mapping[str, Any], **more: Any) -> Recognizer:
    """Return a recogniser that has learned nothing; ``min_count`` is the cut-off of its features.

    As in the papers, labels are decided each for itself, and the same tokens can get two.
    """
    return configure({"exclusive": False, **today({**settings, **more})})
