"""``CRF``: sklearn-crfsuite's estimator."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.base.errors import NotFittedError, ParameterError
from spanloom.compat import crfsuite_file, stored
from spanloom.compat.log import TrainingLog
from spanloom.compat.metrics import flat_accuracy_score
from spanloom.compat.model import ChainModel
from spanloom.compat.tagger import Tagger
from spanloom.compat.trainer import LinePerIterationTrainer

Objects = npt.NDArray[np.object_]
SETTINGS = {
    "min_freq": "feature.minfreq",
    "all_possible_states": "feature.possible_states",
    "all_possible_transitions": "feature.possible_transitions",
    "pa_type": "type",
    **{f"calibration_{name}": f"calibration.{name}" for name in ("eta", "rate", "samples", "candidates", "max_trials")},
    **{name: name for name in ("c1", "c2", "max_iterations", "num_memories", "epsilon", "period", "delta")},
    **{name: name for name in ("linesearch", "max_linesearch", "c", "error_sensitive", "averaging")},
    **{name: name for name in ("variance", "gamma")},
}
"""Parameters of ``CRF`` that are settings of the algorithm, and CRFsuite's names for them."""


class CRF:
    """A first-order conditional random field over ready attributes, with the interface of ``sklearn_crfsuite.CRF``.

    Items are dicts or lists of attributes: ``{"word": "Rain", "length": 4, "title": True, "near": ["sun", "wind"]}``.
    A parameter that is None has CRFsuite's default, which depends on the algorithm; ``Trainer(algorithm).help(name)``
    says what each means.

    Parameters
    ----------
    algorithm
        ``lbfgs`` (the default), ``l2sgd``, ``ap``, ``pa`` or ``arow``.
    min_freq, all_possible_states, all_possible_transitions
        Which pairs of attribute and label, and of labels, get a weight.
    c1, c2, max_iterations, num_memories, epsilon, period, delta, linesearch, max_linesearch
        Of ``lbfgs``: ``Σ −log P + c2‖w‖² + c1‖w‖₁``, and when to stop.
    calibration_eta, calibration_rate, calibration_samples, calibration_candidates, calibration_max_trials
        Of ``l2sgd``.
    pa_type, c, error_sensitive, averaging
        Of ``pa``.
    variance, gamma
        Of ``arow``.
    verbose
        Whether progress is written to standard output.
    model_filename
        Where ``fit`` writes the model: CRFsuite's format, or ours if it ends in ``.loom``. A file that is there can be
        used without ``fit``.
    keep_tempfiles
        For scripts that set it; there are no temporary files.
    trainer_cls
        A subclass of ``Trainer`` that takes the messages of the training.
    threads
        How many cores work; None for all. sklearn-crfsuite has no such parameter.

    Examples
    --------
    >>> X = [[{"word": "rain"}, {"word": "sun"}], [{"word": "sun"}]]
    >>> crf = CRF(c2=0.1, all_possible_transitions=True).fit(X, [["wet", "dry"], ["dry"]])
    >>> crf.predict_single([{"word": "rain"}]), round(crf.predict_marginals_single([{"word": "rain"}])[0]["wet"], 2)
    (['wet'], 0.66)
    """

    training_log_: TrainingLog | None = None
    _model: ChainModel | None = None

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: int | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: str | os.PathLike[str] | None = None,
        keep_tempfiles: bool = False,
        trainer_cls: type[Any] | None = None,
        threads: int | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.min_freq = min_freq
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.num_memories = num_memories
        self.epsilon = epsilon
        self.period = period
        self.delta = delta
        self.linesearch = linesearch
        self.max_linesearch = max_linesearch
        self.calibration_eta = calibration_eta
        self.calibration_rate = calibration_rate
        self.calibration_samples = calibration_samples
        self.calibration_candidates = calibration_candidates
        self.calibration_max_trials = calibration_max_trials
        self.pa_type = pa_type
        self.c = c
        self.error_sensitive = error_sensitive
        self.averaging = averaging
        self.variance = variance
        self.gamma = gamma
        self.verbose = verbose
        self.model_filename = model_filename
        self.keep_tempfiles = keep_tempfiles
        self.trainer_cls = trainer_cls
        self.threads = threads

    # Learning

    def fit(
        self,
        X: Iterable[Iterable[Any]],
        y: Iterable[Sequence[str]],
        X_dev: Iterable[Iterable[Any]] | None = None,
        y_dev: Iterable[Sequence[str]] | None = None,
    ) -> CRF:
        """Learn from sequences of items and their labels.

        Parameters
        ----------
        X, y
            The items of each sequence, and their labels.
        X_dev, y_dev
            Sequences that are scored after every iteration; see ``training_log_`` and ``verbose``.
        """
        if (X_dev is None) != (y_dev is None):
            raise ParameterError("Pass both X_dev and y_dev to use the holdout data")
        trainer = (self.trainer_cls or LinePerIterationTrainer)(
            algorithm=self.algorithm, params=self._settings(), verbose=self.verbose
        )
        trainer.threads = self.threads or 0
        for group, xs, ys in ((0, X, y), (1, X_dev, y_dev)):
            pairs = [] if xs is None or ys is None else _pairs(xs, ys)
            if group == 0 and not any(len(yseq) for _, yseq in pairs):
                raise ParameterError(
                    f"there is nothing to learn from: X and y have {len(pairs)} sequences, and no label"
                )
            for xseq, yseq in pairs:
                trainer.append(xseq, yseq, group)
        self._model = trainer.train(self.model_filename or "", holdout=-1 if X_dev is None else 1)
        self.training_log_ = trainer.logparser
        return self

    def _settings(self) -> dict[str, Any]:
        given = {theirs: getattr(self, ours) for ours, theirs in SETTINGS.items()}
        return {name: value for name, value in given.items() if value is not None}

    # Finding

    def predict(self, X: Iterable[Iterable[Any]]) -> Objects:
        """Return the best labels of each sequence: an array of lists, as sklearn-crfsuite 0.5 does.

        Where all sequences are of the same length, that is an array with a row for each.
        """
        return np.array(self._best(X), dtype=object)

    def predict_single(self, xseq: Iterable[Any]) -> list[str]:
        """Return the best labels of one sequence."""
        return self._best([xseq])[0]

    def _best(self, X: Iterable[Iterable[Any]]) -> list[list[str]]:
        tagger = self._fitted().tagger
        return tagger.best(tagger.read(_sequences(X)), self.threads or 0)

    def predict_marginals(self, X: Iterable[Iterable[Any]]) -> Objects:
        """Return the probability of every label for every item of each sequence: an array of lists of dicts."""
        return np.array(self._marginals(X), dtype=object)

    def predict_marginals_single(self, xseq: Iterable[Any]) -> list[dict[str, float]]:
        """Return the probability of every label for every item of one sequence."""
        return self._marginals([xseq])[0]

    def _marginals(self, X: Iterable[Iterable[Any]]) -> list[list[dict[str, float]]]:
        model = self._fitted()
        data = model.tagger.read(_sequences(X))
        table = model.tagger.marginals(data, self.threads or 0).reshape(data.items, -1).tolist()
        rows = [dict(zip(model.labels, row, strict=True)) for row in table]
        ends = data.group_ptr.tolist()
        return [rows[first:last] for first, last in pairwise(ends)]

    def score(self, X: Iterable[Iterable[Any]], y: Sequence[Sequence[str]]) -> float:
        """Return the share of items with the right label."""
        return flat_accuracy_score(y, self._best(X))

    # What was learned

    def _found(self) -> ChainModel | None:
        """The model, if there is one: from ``fit``, or in the file."""
        if self._model is None and self.model_filename is not None and os.path.exists(self.model_filename):
            self._model = stored.load(self.model_filename)[0]
        return self._model

    def _fitted(self) -> ChainModel:
        found = self._found()
        if found is None:
            raise NotFittedError("this CRF has learned nothing yet: call fit first, or give it a model_filename")
        return found

    @property
    def tagger_(self) -> Tagger | None:
        """A ``Tagger`` of the model; None before ``fit``, as everything below."""
        return None if self._found() is None else Tagger.of(self._fitted())

    @property
    def classes_(self) -> list[str] | None:
        """The labels."""
        return None if self._found() is None else list(self._fitted().labels)

    @property
    def size_(self) -> int | None:
        """The size of the model as a CRFsuite file, in bytes."""
        return None if self._found() is None else len(crfsuite_file.pack(self._fitted()))

    @property
    def attributes_(self) -> list[str] | None:
        """The attributes that have a weight."""
        return None if self._found() is None else list(self._fitted().attributes)

    @property
    def num_attributes_(self) -> int | None:
        """How many attributes have a weight."""
        return None if self._found() is None else len(self._fitted().attributes)

    @property
    def state_features_(self) -> dict[tuple[str, str], float] | None:
        """The weights of ``(attribute, label)``."""
        return None if self._found() is None else self._fitted().state_features()

    @property
    def transition_features_(self) -> dict[tuple[str, str], float] | None:
        """The weights of ``(label, next label)``."""
        return None if self._found() is None else self._fitted().transition_features()

    # Keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file: ours if its name ends in ``.loom``, else CRFsuite's. Whole or not at all."""
        kept = {name: value for name, value in self.get_params().items() if isinstance(value, str | int | float)}
        kept.pop("model_filename", None)
        stored.save(self._fitted(), path, kept)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CRF:
        """Open a model file, ours or CRFsuite's."""
        model, settings = stored.load(path)
        known = inspect.signature(cls.__init__).parameters
        crf = cls(**{name: value for name, value in settings.items() if name in known})
        crf._model = model
        return crf

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: parameters, and the model as arrays."""
        state = dict(self.__dict__)
        model = self._found()
        state["_model"] = None if model is None else stored.to_arrays(model, {})
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if state.get("_model") is not None:
            self._model = stored.from_arrays(*state["_model"])[0]

    # scikit-learn's manners

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> CRF:
        """Change parameters; they count from the next ``fit`` on."""
        known = self._parameter_names()
        for name in params:
            if name not in known:
                raise ParameterError(f"CRF has no parameter {name!r}; it has {', '.join(known)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(None, TargetTags(required=True), input_tags=InputTags(two_d_array=False, dict=True))

    def __sklearn_is_fitted__(self) -> bool:
        return self._found() is not None

    def __repr__(self) -> str:
        defaults = {name: p.default for name, p in inspect.signature(type(self).__init__).parameters.items()}
        changed = {name: value for name, value in self.get_params().items() if value != defaults[name]}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


def _sequences(X: Any) -> list[Any]:
    if isinstance(X, str | bytes | dict):
        raise ParameterError(f"X must be a list of sequences of items, not {type(X).__name__}")
    return list(X)


def _pairs(X: Any, y: Any) -> list[tuple[Any, Any]]:
    xs, ys = _sequences(X), _sequences(y)
    if len(xs) != len(ys):
        raise ParameterError(f"X has {len(xs)} sequences and y has {len(ys)}")
    return list(zip(xs, ys, strict=True))
