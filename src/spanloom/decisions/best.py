"""Decisions: how an answer is made of what a model believes."""

from __future__ import annotations

from dataclasses import dataclass

from spanloom.base.parameters import check_choice
from spanloom.base.settings import Settings
from spanloom.decisions.penalty import Wanted, check_penalty


@dataclass(frozen=True)
class Best(Settings):
    """The best structure.

    Parameters
    ----------
    penalty
        A weight on starting a mention: above 0 for more mentions, below 0 for fewer; one number, or one for each label.
        ``"auto"`` and ``"auto-by-label"`` choose on the development data. See ``decisions.penalty``.
    """

    penalty: Wanted = 0.0

    name = "best"

    def check(self) -> None:
        check_penalty(self.penalty)

    @property
    def needs_dev(self) -> bool:
        """Whether something is chosen on development data."""
        return isinstance(self.penalty, str)


DECISIONS: dict[str, type[Best]] = {Best.name: Best}
"""The decisions by the name that ``Recognizer(decide=…)`` takes."""


def decision(given: Best | str) -> Best:
    """Return a decision by its name; a decision stays what it is."""
    if isinstance(given, str):
        check_choice("decide", given, DECISIONS)
        return DECISIONS[given]()
    return given
