"""Decisions: how an answer is made of what a model believes."""

from __future__ import annotations

from dataclasses import dataclass, field

from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_choice
from spanloom.base.settings import Settings
from spanloom.decisions.calibration import KINDS
from spanloom.decisions.penalty import Wanted, check_penalty


@dataclass(frozen=True)
class Decision(Settings):
    """What decisions share.

    Parameters
    ----------
    exclusive
        Whether the same tokens have one label at most: the most probable one stays. ``"auto"``: if the training data
        never give them two.
    calibrate
        What becomes of the model's probabilities: ``"none"``, they stay; ``"temperature"``, ``"platt"`` or
        ``"isotonic"``, see ``decisions.calibration``; ``"auto"``, the one of these that is best. It is learned on the
        development data, or without them by cross-fitting, which trains five more times.
    """

    exclusive: bool | str = field(default="auto", kw_only=True)
    calibrate: str = field(default="none", kw_only=True)

    def check(self) -> None:
        check_choice("calibrate", self.calibrate, ("none", "auto", *KINDS))
        if self.exclusive not in (True, False, "auto"):
            raise ParameterError(
                f"The 'exclusive' parameter must be True, False or 'auto'. Got {self.exclusive!r} instead."
            )

    @property
    def penalty_wanted(self) -> Wanted:
        """The mention penalty, or how it is chosen."""
        return 0.0

    @property
    def needs_dev(self) -> bool:
        """Whether something is chosen on development data."""
        return False


@dataclass(frozen=True)
class Best(Decision):
    """The best structure.

    Parameters
    ----------
    penalty
        A weight on starting a mention: above 0 for more mentions, below 0 for fewer; one number, or one for each label.
        ``"auto"`` and ``"auto-by-label"`` choose on the development data; without them, ``"auto"`` chooses by
        cross-fitting on the training data. See ``decisions.penalty``.
    exclusive, calibrate
        As in ``Decision``; not done unless asked for.
    """

    penalty: Wanted = 0.0
    exclusive: bool | str = field(default=False, kw_only=True)

    name = "best"

    def check(self) -> None:
        super().check()
        check_penalty(self.penalty)

    @property
    def penalty_wanted(self) -> Wanted:
        return self.penalty

    @property
    def needs_dev(self) -> bool:
        return self.penalty == "auto-by-label"  # "auto" can do without: the training data are cross-fitted


@dataclass(frozen=True)
class OnDev(Decision):
    """The one with the highest F1 on development data.

    The best structure, the best structure with a mention penalty that is chosen there, or a threshold on the
    probability of mentions (``ExpectedF1``).
    """

    name = "auto"

    @property
    def needs_dev(self) -> bool:
        return True
