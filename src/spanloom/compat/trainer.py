"""``Trainer``: python-crfsuite's interface to training."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

from spanloom._native import AttributeCorpus
from spanloom.compat import stored, training
from spanloom.compat.log import TrainingLog
from spanloom.compat.model import ChainModel
from spanloom.compat.parameters import Settings


class Trainer:
    """Learns from sequences of items with attributes.

    Parameters
    ----------
    algorithm
        ``lbfgs``, ``l2sgd``, ``ap``, ``pa`` or ``arow``; see :meth:`select`.
    params
        Settings of the algorithm; see :meth:`set_params`.
    verbose
        Whether progress is written to standard output.

    Attributes
    ----------
    logparser
        A ``TrainingLog`` of the last training.
    threads
        How many cores work, for ``lbfgs``; 0 for all.

    Examples
    --------
    >>> trainer = Trainer("lbfgs", {"c2": 0.1}, verbose=False)
    >>> trainer.append([{"word": "rain"}, {"word": "sun", "dry": 0.5}], ["wet", "dry"])
    >>> model = trainer.train("")
    >>> model.tagger.best(model.tagger.read([[{"word": "sun"}]]))
    [['dry']]
    """

    logparser: TrainingLog | None
    threads = 0
    _corpus: AttributeCorpus
    _settings: Settings
    _event: tuple[str, dict[str, Any]] | None

    def __new__(cls, *args: Any, **kwargs: Any) -> Trainer:
        """Make what every trainer has: subclasses in the wild do not always call ``__init__``."""
        self = super().__new__(cls)
        self.verbose = True
        self.logparser = None
        self._corpus = AttributeCorpus()
        self._settings = Settings()
        self._event = None
        return self

    def __init__(
        self, algorithm: str | None = None, params: Mapping[str, Any] | None = None, verbose: bool = True
    ) -> None:
        if algorithm is not None:
            self.select(algorithm)
        if params is not None:
            self.set_params(params)
        self.verbose = verbose

    # Data

    def append(self, xseq: Iterable[Any], yseq: Iterable[str], group: int = 0) -> None:
        """Add a sequence of items and their labels; ``group`` is a number by which sequences are held out."""
        self._corpus.append(xseq, yseq, group)

    def clear(self) -> None:
        """Remove all sequences."""
        self._corpus.clear()

    # Settings

    def select(self, algorithm: str, type: str = "crf1d") -> None:
        """Choose the algorithm; settings are the default ones again.

        ``lbfgs``: maximum likelihood with L1 and L2; ``l2sgd``: the same by stochastic gradient descent, L2 only;
        ``ap``: averaged perceptron; ``pa``: passive-aggressive; ``arow``: adaptive regularisation of weights.
        """
        self._settings = Settings(algorithm, type)

    def params(self) -> list[str]:
        """Return the names of the algorithm's settings."""
        return list(self._settings.known)

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Set several settings."""
        for name, value in params.items():
            self.set(name, value)

    def get_params(self) -> dict[str, Any]:
        """Return all settings with their values."""
        return {name: self.get(name) for name in self.params()}

    def set(self, name: str, value: Any) -> None:
        """Set a setting to a number, or to text that says one."""
        self._settings[name] = value

    def get(self, name: str) -> Any:
        """Return the value of a setting."""
        return self._settings[name]

    def help(self, name: str) -> str:
        """Return what a setting means."""
        return self._settings.help(name)

    # Training

    def train(self, model: str | os.PathLike[str], holdout: int = -1) -> ChainModel:
        """Train on the sequences; return the model, and write it to a file unless its name is empty.

        Parameters
        ----------
        model
            A name that ends in ``.loom`` gives a file of spanloom, any other one of CRFsuite.
        holdout
            The group that is held out: it is scored after every iteration. -1: none.
        """
        self.logparser = TrainingLog()
        found = training.train(self._corpus, self._settings, holdout, self.threads, self._say)
        begin = time.perf_counter()
        if os.fspath(model):
            stored.save(found, model)
        seconds = time.perf_counter() - begin
        names = ("features", "attributes", "labels")
        counts = (found.features, len(found.attributes), len(found.labels))
        sizes = [f"Number of active {name}: {count}\n" for name, count in zip(names, counts, strict=True)]
        self._say("end", ["Storing the model\n", *sizes, f"Seconds required: {seconds:.3f}\n", "\n"], seconds=seconds)
        return found

    def _say(self, event: str, lines: list[str], **info: Any) -> None:
        """Send the messages of an event; the last one ends it."""
        for number, line in enumerate(lines, 1):
            self._event = (event, info) if number == len(lines) else None
            self.message(line)

    def message(self, message: str) -> None:
        """Take a message of the training; subclasses may do something else with it."""
        if self.logparser is None:
            return
        self.logparser.log.append(message)
        if self._event is None:
            return
        event, info = self._event
        self.logparser.end_event(event, info)
        if not self.verbose:
            return
        log = self.logparser.last_log
        if event == "iteration":
            self.on_iteration(log, info)
        elif event == "featgen_progress":
            self.on_featgen_progress(log, info["percent"])
        else:
            getattr(self, f"on_{event}")(log)

    def on_start(self, log: str) -> None:
        """Write the text of an event; as all of these, for subclasses to change."""
        sys.stdout.write(log)

    def on_featgen_progress(self, log: str, percent: int) -> None:
        """While features are counted."""
        sys.stdout.write(log)

    def on_featgen_end(self, log: str) -> None:
        """When features are counted."""
        sys.stdout.write(log)

    def on_prepared(self, log: str) -> None:
        """Before the first iteration."""
        sys.stdout.write(log)

    def on_prepare_error(self, log: str) -> None:
        """When there is nothing to learn."""
        sys.stdout.write(log)

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        """After every iteration."""
        sys.stdout.write(log)

    def on_optimization_end(self, log: str) -> None:
        """After the last iteration."""
        sys.stdout.write(log)

    def on_end(self, log: str) -> None:
        """When the model is stored."""
        sys.stdout.write(log)


class LinePerIterationTrainer(Trainer):
    """Writes one line an iteration, as sklearn-crfsuite does, and a table of the labels at the end."""

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        """Write one line."""
        parts = [f"Iter {info['num']:<3} ", f"time={info['time']:<5.2f} ", f"loss={info['loss']:<8.2f} "]
        if "active_features" in info:
            parts.append(f"active={info['active_features']:<5} ")
        if "avg_precision" in info:
            parts.append(
                f"precision={info['avg_precision']:0.3f}  recall={info['avg_recall']:0.3f}  F1={info['avg_f1']:0.3f}  "
                f"Acc(item/seq)={info['item_accuracy_float']:0.3f} {info['instance_accuracy_float']:0.3f}  "
            )
        parts.append(f"feature_norm={info['feature_norm']:<8.2f}")
        sys.stdout.write("".join(parts).strip() + "\n")

    def on_optimization_end(self, log: str) -> None:
        """Write the scores of the labels, if there were held-out data."""
        last = self.logparser.last_iteration if self.logparser else None
        if last and last["scores"]:
            rows = [["Label", "Precision", "Recall", "F1", "Support"]]
            for label, s in sorted(last["scores"].items()):
                figures = (0.0 if value is None else value for value in (s.precision, s.recall, s.f1))
                rows.append([label, *(f"{value:0.3f}" for value in figures), str(s.ref)])
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
            size = sum(widths) + 2 * (len(widths) - 1)
            sys.stdout.write("\n".join(["=" * size, lines[0], "-" * size, *lines[1:], "-" * size, ""]))
        super().on_optimization_end(log)
