"""Settings of an encoder: which network, and how its vectors become scores."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_choice, check_count
from spanloom.base.settings import Settings

POOLS = ("first", "mean")


@dataclass(frozen=True)
class Encoder(Settings):
    """A network of the transformers library that gives every token a vector, and a map from vectors to scores.

    Parameters
    ----------
    path
        A folder with ``config.json``, weights and tokenizer, or the name of an installed package that has one. Nothing
        is downloaded.
    tune
        Whether its weights are learned further. If not, vectors are worked out once, and training is cheap.
    layer
        The layer whose vectors are used: 3 for the third, −1 for the last, −2 for the one below; those above are left
        out.
    hidden
        Width of the hidden layer between vectors and scores; 0: a linear map.
    pool
        The vector of a word of several pieces: ``"first"`` piece, or their ``"mean"``.
    dropout
        The share of values that are left out before the map, in training.
    window
        At most so many pieces are read at once; None: as many as the network takes, up to 512. Longer sentences are
        read in windows.
    context
        Pieces on both sides of what is taken from a window; None: a quarter of it.
    """

    path: str | os.PathLike[str]
    tune: bool = True
    layer: int = -1
    hidden: int = 200
    pool: str = "first"
    dropout: float = 0.1
    window: int | None = None
    context: int | None = None

    name = "encoder"

    def check(self) -> None:
        if not isinstance(self.path, str | os.PathLike) or not os.fspath(self.path):
            raise ParameterError(f"The 'path' parameter of an encoder must be a folder. Got {self.path!r} instead.")
        if not isinstance(self.tune, bool):
            raise ParameterError(f"The 'tune' parameter must be True or False. Got {self.tune!r} instead.")
        if isinstance(self.layer, bool) or not isinstance(self.layer, int) or self.layer == 0:
            raise ParameterError(f"The 'layer' parameter must be an integer other than 0. Got {self.layer!r} instead.")
        check_count("hidden", self.hidden, low=0)
        check_choice("pool", self.pool, POOLS)
        if not isinstance(self.dropout, float | int) or isinstance(self.dropout, bool) or not 0 <= self.dropout < 1:
            raise ParameterError(f"The 'dropout' parameter must be in the range [0, 1). Got {self.dropout!r} instead.")
        if self.window is not None:
            check_count("window", self.window, low=4)
        if self.context is not None:
            check_count("context", self.context, low=0)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values, with the whole path."""
        return {name: _plain(value) for name, value in self.get_params(deep=False).items()}

    @property
    def label(self) -> str:
        """The last part of its path."""
        return os.path.basename(os.path.normpath(os.fspath(self.path)))


def encoder(given: Encoder | str | os.PathLike[str] | None) -> Encoder | None:
    """Return the settings that a path stands for; settings stay what they are.

    Examples
    --------
    >>> encoder("weights/minilm").hidden
    200
    """
    if given is None or isinstance(given, Encoder):
        return given
    if not isinstance(given, str | os.PathLike):
        raise ParameterError(f"an encoder is the path of a folder or spanloom.encoders.Encoder(…), got {given!r}")
    return Encoder(given)


def _plain(value: Any) -> Any:
    return os.fspath(value) if isinstance(value, os.PathLike) else value
