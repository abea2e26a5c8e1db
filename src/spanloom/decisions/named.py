"""Decisions by name."""

from __future__ import annotations

from collections.abc import Mapping

from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_choice
from spanloom.decisions.best import Best, Decision, OnDev
from spanloom.decisions.wanted import AtLeast, ExpectedF1

DECISIONS: Mapping[str, type[Decision]] = {one.name: one for one in (Best, OnDev, ExpectedF1, AtLeast)}
"""The decisions by the name that model files and ``Recognizer(decide=…)`` know; for ``AtLeast`` see ``decision``."""


def decision(given: Decision | str) -> Decision:
    """Return a decision by its name; a decision stays what it is.

    Examples
    --------
    >>> decision("f1"), decision("precision=0.95")
    (ExpectedF1(exclusive='auto', calibrate='none', by_label=True),
     AtLeast(exclusive='auto', calibrate='none', precision=0.95, recall=None, confidence=0.9))
    """
    if not isinstance(given, str):
        return given
    name, mark, value = given.partition("=")
    if mark and name in ("precision", "recall"):
        try:
            share = float(value)
        except ValueError:
            raise ParameterError(f"decide={given!r}: {value!r} is no number; type e.g. {name}=0.9") from None
        return AtLeast(precision=share) if name == "precision" else AtLeast(recall=share)
    names = [one for one in DECISIONS if one != AtLeast.name]
    check_choice("decide", given, [*names, "precision=0.95", "recall=0.9"])
    return DECISIONS[given]()
