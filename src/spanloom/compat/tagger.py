"""``Tagger``: python-crfsuite's interface to a trained model."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from spanloom._native import AttributeSequences
from spanloom.base.arrays import Floats
from spanloom.base.errors import ModelFileError, NotFittedError
from spanloom.compat import crfsuite_file, stored
from spanloom.compat.model import ChainModel


class ParsedDump:
    """What is in a model, as ``Tagger.info`` gives it.

    Attributes
    ----------
    header
        The header of the model as a CRFsuite file, values as text.
    labels, attributes
        Number by name, as text.
    transitions, state_features
        Weights of ``(label, next label)`` and of ``(attribute, label)``.
    """

    def __init__(self, model: ChainModel) -> None:
        packed = crfsuite_file.header(crfsuite_file.pack(model))._asdict()
        packed["type"] = packed.pop("kind")
        self.header = {
            key: value.decode()
            if isinstance(value, bytes)
            else f"0x{value:X}"
            if key.startswith("off_")
            else str(value)
            for key, value in packed.items()
        }
        self.labels = {name: str(number) for number, name in enumerate(model.labels)}
        self.attributes = {name: str(number) for number, name in enumerate(model.attributes)}
        self.transitions = model.transition_features()
        self.state_features = model.state_features()

    def text(self) -> str:
        """Return all of it as CRFsuite's ``dump`` writes it."""
        order = ("magic", "size", "type", "version")
        keys = [*order, *(key for key in self.header if key not in order)]
        blocks = {
            "FILEHEADER": [f"  {key}: {self.header[key]}" for key in keys],
            "LABELS": [f"  {number:>5}: {name}" for name, number in self.labels.items()],
            "ATTRIBUTES": [f"  {number:>5}: {name}" for name, number in self.attributes.items()],
            "TRANSITIONS": [f"  (1) {x} --> {y}: {w:f}" for (x, y), w in self.transitions.items()],
            "STATE_FEATURES": [f"  (0) {a} --> {y}: {w:f}" for (a, y), w in self.state_features.items()],
        }
        return "".join("\n".join([f"{name} = {{", *lines, "}", "", ""]) for name, lines in blocks.items())


class Tagger:
    """Finds the labels of sequences.

    Examples
    --------
    >>> from spanloom.compat import Trainer
    >>> trainer = Trainer(verbose=False)
    >>> trainer.append([["rain"], ["sun"]], ["wet", "dry"])
    >>> tagger = Tagger.of(trainer.train(""))
    >>> tagger.tag([["sun"], ["rain"]])
    ['dry', 'wet']
    """

    def __init__(self) -> None:
        self._model: ChainModel | None = None
        self._data: AttributeSequences | None = None
        self._marginals: Floats | None = None

    @classmethod
    def of(cls, model: ChainModel) -> Tagger:
        """Return a tagger of a model in memory."""
        self = cls()
        self._model = model
        return self

    def open(self, name: str | os.PathLike[str]) -> contextlib.closing[Tagger]:
        """Open a model file, CRFsuite's or ours; can be used in a ``with`` statement.

        Raises
        ------
        ValueError
            If it is no model or a damaged one.
        """
        try:
            self._become(stored.load(name)[0])
        except ModelFileError as error:
            raise InvalidModelError(str(error)) from None
        return contextlib.closing(self)

    def open_inmemory(self, value: bytes) -> contextlib.closing[Tagger]:
        """Open the content of a CRFsuite file."""
        try:
            self._become(crfsuite_file.unpack(value))
        except ModelFileError as error:
            raise InvalidModelError(str(error)) from None
        return contextlib.closing(self)

    def _become(self, model: ChainModel | None) -> None:
        self._model, self._data, self._marginals = model, None, None

    def close(self) -> None:
        """Forget the model."""
        self._become(None)

    @property
    def model(self) -> ChainModel:
        """The model that is open."""
        if self._model is None:
            raise NotOpenError("the tagger has no model: call open with the name of a model file first")
        return self._model

    def labels(self) -> list[str]:
        """Return the labels of the model."""
        return list(self.model.labels)

    def set(self, xseq: Iterable[Any]) -> None:
        """Take a sequence, for ``tag``, ``probability`` and ``marginal``."""
        self._data, self._marginals = self.model.tagger.read([xseq]), None

    def _sequence(self) -> AttributeSequences:
        if self._data is None:
            raise NotOpenError("the tagger has no sequence: give one to tag or set first")
        return self._data

    def tag(self, xseq: Iterable[Any] | None = None) -> list[str]:
        """Return the best labels of a sequence; without one, of that which was set last."""
        if xseq is not None:
            self.set(xseq)
        return self.model.tagger.best(self._sequence(), 1)[0]

    def probability(self, yseq: Sequence[str]) -> float:
        """Return the probability of these labels for the sequence that was set last."""
        data, yseq = self._sequence(), list(yseq)
        if not data.items:
            return 0.0
        if len(yseq) != data.items:
            raise ValueError(f"The numbers of items and labels differ: |x| = {data.items}, |y| = {len(yseq)}")
        return math.exp(self.model.tagger.log_probability(data, yseq))

    def marginal(self, y: str, pos: int) -> float:
        """Return the probability of a label at a position of the sequence that was set last."""
        data = self._sequence()
        if not data.items:
            return 0.0
        if not 0 <= pos < data.items:
            raise ValueError(f"The position {pos} is out of range: the sequence has {data.items} items")
        if y not in self.model.labels:
            raise ValueError(f"the model has no label {y!r}; it has {', '.join(self.model.labels)}")
        if self._marginals is None:
            self._marginals = self.model.tagger.marginals(data, 1).reshape(data.items, -1)
        return float(self._marginals[pos, self.model.labels.index(y)])

    def info(self) -> ParsedDump:
        """Return what is in the model."""
        return ParsedDump(self.model)

    def dump(self, filename: str | os.PathLike[str] | None = None) -> None:
        """Write what is in the model as text, to a file or to standard output."""
        text = self.info().text()
        if filename is None:
            sys.stdout.write(text)
            return
        with open(filename, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)


class InvalidModelError(ModelFileError, ValueError):
    """A model file that cannot be opened; python-crfsuite raises ``ValueError`` there."""


class NotOpenError(NotFittedError, RuntimeError):
    """A tagger without a model; python-crfsuite raises ``ValueError`` or ``RuntimeError`` there."""
