"""The models of a server by name, and learning of new ones while it answers."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanloom.base.errors import ParameterError, SpanloomError
from spanloom.corpus import Document
from spanloom.learning import Iteration
from spanloom.recognizer import Recognizer
from spanloom.serving.engine import Busy, Engine

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class UnknownModel(SpanloomError):
    """A request names a model that the server does not have."""


class Models:
    """Engines by name. A model can be replaced while the old one still answers.

    Parameters
    ----------
    recognizers
        The first is used where a request names none.
    limits
        ``workers``, ``limit`` and ``seconds`` of every ``Engine``.
    """

    def __init__(self, recognizers: Mapping[str, Recognizer], **limits: Any) -> None:
        self._limits = limits
        self._engines = {check_name(name): Engine(ner, **limits) for name, ner in recognizers.items()}

    def __getitem__(self, name: str | None) -> Engine:
        if name is None and self._engines:
            return next(iter(self._engines.values()))
        try:
            return self._engines[name or ""]
        except KeyError:
            known = ", ".join(self._engines) or "none yet"
            raise UnknownModel(f"there is no model {name!r}; there are {known}") from None

    @property
    def names(self) -> list[str]:
        """The names, the first of which is used where none is given."""
        return list(self._engines)

    @property
    def busy(self) -> int:
        """Requests that wait or are worked on."""
        return sum(engine.busy for engine in list(self._engines.values()))

    def put(self, name: str, recognizer: Recognizer) -> None:
        """Add or replace a model; the old one answers what it has taken."""
        new, old = Engine(recognizer, **self._limits), self._engines.get(name)
        self._engines = {**self._engines, check_name(name): new}
        if old is not None:
            old.close()

    def close(self) -> None:
        """Answer what is waiting, and end."""
        for engine in self._engines.values():
            engine.close()

    def describe(self, name: str) -> dict[str, Any]:
        """Say what a model is."""
        ner = self[name].recognizer
        return {
            "name": name,
            "model": ner.model_.name,
            "labels": list(ner.labels_),
            "probabilities": ner.belief_,
            "trained": ner.training_.get("date"),
        }


def check_name(name: str) -> str:
    """Return the name of a model if it is one that can stand in paths and files.

    Examples
    --------
    >>> check_name("../passwd")
    Traceback (most recent call last):
    ...
    spanloom.base.errors.ParameterError: the name of a model has letters, digits, '.', '_' and '-', not '../passwd'
    """
    if not _NAME.fullmatch(name):
        raise ParameterError(f"the name of a model has letters, digits, '.', '_' and '-', not {name[:80]!r}")
    return name


@dataclass(slots=True)
class _State:
    state: str = "idle"
    model: str | None = None
    iteration: int = 0
    error: str | None = None


class Learner:
    """Trains one model at a time in the background; it takes the place of the old one when it is done.

    Parameters
    ----------
    models
        Where it goes.
    folder
        Where it is saved, as ``NAME.loom``; whole or not at all.
    """

    def __init__(self, models: Models, folder: Path) -> None:
        self._models, self.folder = models, folder
        self._lock = threading.Lock()
        self._now = _State()
        self._thread: threading.Thread | None = None
        self._stop = False

    def state(self) -> dict[str, Any]:
        """Say what it does: ``state`` is idle, training, done or failed."""
        now = self._now
        return {"state": now.state, "model": now.model, "iteration": now.iteration, "error": now.error}

    def start(self, name: str, documents: Sequence[Document]) -> dict[str, Any]:
        """Begin to train with the settings of the model of that name, or else with the defaults.

        Raises
        ------
        Busy
            If a model is being trained.
        ParameterError
            If there are no mentions to learn from.
        """
        check_name(name)
        if not any(document.mentions for document in documents):
            raise ParameterError("there is nothing to learn from: no document has a mention")
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                raise Busy(f"the model {self._now.model!r} is being trained; come again")
            self._now = _State("training", name)
            self._thread = threading.Thread(target=self._train, args=(name, list(documents)), daemon=True)
            self._thread.start()
        return self.state()

    def close(self) -> None:
        """Stop a training at its next iteration; the old model stays."""
        self._stop = True
        if self._thread is not None:
            self._thread.join()

    def _train(self, name: str, documents: list[Document]) -> None:
        try:
            ner = self._like(name).fit(documents, listener=self._listen)
            ner.save(self.folder / f"{name}.loom")
            self._models.put(name, ner)
        except KeyboardInterrupt:
            self._now = _State("failed", name, self._now.iteration, "stopped")
        except (SpanloomError, OSError) as error:
            self._now = _State("failed", name, self._now.iteration, str(error))
        else:
            self._now = _State("done", name, self._now.iteration)

    def _listen(self, record: Iteration) -> None:
        self._now.iteration += 1
        if self._stop:
            raise KeyboardInterrupt

    def _like(self, name: str) -> Recognizer:
        if name not in self._models.names:
            return Recognizer(threads=1)
        old = self._models[name].recognizer
        return Recognizer(**{**old.get_params(deep=False), "threads": 1})
