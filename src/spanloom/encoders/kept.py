"""A network as a file holds it: arrays, its configuration and tokenizer as JSON; opened when it is first used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.encoders.network import Network, Shape
from spanloom.encoders.settings import Encoder

TOKENIZER = "tokenizer"


@dataclass(frozen=True)
class KeptNetwork:
    """What a network is made of.

    Attributes
    ----------
    settings, shape
        As in ``Network``.
    config, tokenizer
        JSON.
    arrays
        Everything that was learned.
    """

    settings: Encoder
    shape: Shape
    config: dict[str, Any]
    tokenizer: str
    arrays: Mapping[str, npt.NDArray[Any]]

    @classmethod
    def of(cls, network: Network, arrays: Mapping[str, npt.NDArray[Any]] | None = None) -> KeptNetwork:
        """Take a network that is open; with ``arrays``, what it had learned at some time."""
        own = network.arrays() if arrays is None else arrays
        settings = replace(network.settings, path=network.settings.label)  # where it was is nobody's business
        made = cls(settings, network.shape, network.config, network.tokenizer.text, own)
        if arrays is not None:
            network.fill_in(own)
        made.__dict__["network"] = network
        return made

    @cached_property
    def network(self) -> Network:
        """The network, ready to work."""
        return Network.from_arrays(self.settings, self.shape, self.config, self.tokenizer, self.arrays)

    def header(self) -> dict[str, Any]:
        """Return what ``from_file`` needs, as JSON."""
        return {"settings": self.settings.to_json(), "shape": self.shape.to_json(), "config": self.config}

    def stored(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays of a file; the tokenizer is bytes of JSON."""
        text = np.frombuffer(self.tokenizer.encode(), np.uint8)
        return {**self.arrays, TOKENIZER: text}

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> KeptNetwork:
        """Undo ``header`` and ``stored``; ``ModelFileError`` if something is missing or not what it should be."""
        try:
            settings, shape = Encoder(**header["settings"]), Shape.from_json(header["shape"])
            config = dict(header["config"])
            text = bytes(arrays[TOKENIZER]).decode()
            json.loads(text)
        except (KeyError, TypeError, ValueError, ParameterError) as error:
            raise ModelFileError(f"the encoder of the model is damaged: {error!r}") from None
        if not isinstance(config.get("model_type"), str) or "auto_map" in config:
            raise ModelFileError("the encoder of the model is damaged: its configuration names no network")
        weights = {name: array for name, array in arrays.items() if name != TOKENIZER}
        return cls(settings, shape, config, text, weights)
