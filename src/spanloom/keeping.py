"""A recogniser in files and pickles: both hold the same bytes, arrays and JSON, nothing that runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from spanloom.base.errors import ModelFileError
from spanloom.base.model_file import from_bytes, load_arrays, save_arrays, to_bytes
from spanloom.base.narrow import narrowed, widened
from spanloom.base.packing import pack, unpack
from spanloom.base.parameters import check_number
from spanloom.bundled import existing_model
from spanloom.fitted import FittedRecognizer
from spanloom.models.tables import SHARED, room
from spanloom.stored import from_stored, to_stored

if TYPE_CHECKING:
    from typing_extensions import Self

IN_FOLDER = "model.loom"
"""The model file of a folder."""
_GIVEN = ("threads", "tokenizer", "splitter")
"""Settings that no file has."""
_TOLD = ("history_", "ceiling_", "lost_", "training_")
"""What ``fit`` tells and no file has, or not all of it."""


class KeptRecognizer(FittedRecognizer):
    """The half of ``Recognizer`` that knows how to keep what was learned."""

    def save(self, path: str | os.PathLike[str], *, weights: str = "float32") -> None:
        """Write everything to one file, whole or not at all. It holds arrays and JSON, nothing that runs.

        ``weights``: ``"float32"`` keeps them as they are; ``"int16"``, ``"float16"`` and ``"int8"`` round them for a
        smaller file; see ``compact``. A path that ends in ``/``, or that of a folder, gets a folder to be shared: the
        model, and a README about it; ``spanloom.card.write_folder`` puts data, figures and licence into it.
        """
        if os.fspath(path).endswith("/") or os.path.isdir(path):
            from spanloom.card import write_folder

            write_folder(self, path, weights=weights)
        else:
            save_arrays(path, *self._packed(weights))

    def compact(self, least: float = 0.02) -> Self:
        """Return a recogniser without the weights that are smaller than ``least``, and without features of no weight.

        It tags faster, and its file is smaller; saved with ``weights="int16"`` much smaller. How much is lost is to be
        measured on held-out text: ``spanloom compact MODEL -o SMALL --dev DEV`` does so.
        """
        check_number("least", least, low=0)
        trained = self._fitted()
        smaller = type(self)(**self.get_params(deep=False))
        facts = {**self.training_, "compacted": least}
        smaller._install(trained.pruned(least), self.pipeline_, self.rule_, facts, self.token_rules_)
        smaller._needs_tokenizer = self._needs_tokenizer
        return smaller

    def _packed(self, weights: str = "float32") -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        arrays, header = self.state()
        packed, how = pack(arrays, weights, apart="encoder.")
        short, types = narrowed(packed)
        return short, {**header, "packed": how, "narrowed": types}

    def state(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Return what a file holds: arrays by name, and JSON."""
        self._fitted()
        return to_stored(self)

    def to_bytes(self) -> bytes:
        """Return the bytes of the file that ``save`` would write."""
        return to_bytes(*self._packed())

    @classmethod
    def load(cls, path: str | os.PathLike[str], **settings: Any) -> Self:
        """Open a model file, the folder that ``save`` made, or a model of spanloom itself by its name: ``"genia"``.

        ``threads``, ``tokenizer`` and ``splitter`` can be given. A recogniser that was trained with functions to cut
        text needs them again to read raw text. ``annotators`` are run after those of the file, such as a parser.
        """
        inside = os.path.join(path, IN_FOLDER)
        if os.path.isfile(inside):
            path = inside
        try:
            return cls.from_state(*_unpacked(*load_arrays(existing_model(path))), **settings)
        except ModelFileError as error:
            text = str(error)
            raise ModelFileError(text if text.startswith(str(path)) else f"{path}: {text}") from None

    @classmethod
    def from_bytes(cls, data: bytes, **settings: Any) -> Self:
        """Open the bytes of a model file; settings are those of ``load``."""
        return cls.from_state(*_unpacked(*from_bytes(data)), **settings)

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any], **given: Any) -> Self:
        """Make a recogniser from what ``state`` returned; see ``load``."""
        stored = from_stored(arrays, header, cls, given.pop("annotators", ()))
        ner = cls(**stored.settings, **given)
        rules = ner.token_rules() or stored.token_rules
        ner._install(stored.trained, stored.pipeline, stored.rule, stored.training, rules)
        ner._needs_tokenizer = stored.own_tokenizer and ner.token_rules() is None
        return ner

    def __reduce__(self) -> Any:
        """Pickle through the bytes of the model file; a tokenizer and a splitter go by name, as functions do."""
        if not hasattr(self, "trained_"):
            return _untrained, (type(self), self.get_params(deep=False))
        given = {name: getattr(self, name) for name in _GIVEN}
        told = {name: self.__dict__[name] for name in _TOLD if name in self.__dict__}
        return _trained, (type(self), self.to_bytes(), given), told


def _unpacked(
    arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any]
) -> tuple[Mapping[str, npt.NDArray[Any]], Mapping[str, Any]]:
    how = header.get("packed", [])
    if not isinstance(how, list):
        raise ModelFileError(f"the description of packed weights is damaged: {how!r:.80}")
    return unpack(widened(arrays, header.get("narrowed", {})), how, room, SHARED), header


def _untrained(kind: type[KeptRecognizer], settings: dict[str, Any]) -> KeptRecognizer:
    return kind(**settings)


def _trained(kind: type[KeptRecognizer], data: bytes, given: dict[str, Any]) -> KeptRecognizer:
    return kind.from_bytes(data, **given)
