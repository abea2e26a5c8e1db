"""Training of any model: what it can hold, what its settings leave to the data, then its own way to learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from spanloom.base.errors import CorpusError, ParameterError
from spanloom.decisions.penalty import by_label
from spanloom.learning import Interrupted, Iteration
from spanloom.models.base import MODELS, Model, Task
from spanloom.models.holding import Held, hold
from spanloom.models.trained import Trained


@dataclass(frozen=True, slots=True)
class Fitted:
    """What training gives: the trained model, a record of every iteration, and what the model could not hold."""

    trained: Trained
    history: list[Iteration]
    held: Held
    interrupted: Interrupted | None = None

    def whole(self) -> Trained:
        """Return the trained model; ``KeyboardInterrupt`` if its training was stopped."""
        if self.interrupted is not None:
            raise KeyboardInterrupt(*self.interrupted.args)
        return self.trained


def fit_model(model: Model, task: Task) -> Fitted:
    """Train a model on the mentions of ``task.sentences`` that it can hold."""
    if task.learner is not None and not model.in_blocks:
        raise ParameterError(
            f"the model {model.name!r} does not learn over blocks of sentences; leave out learner=…, or choose one of "
            f"{', '.join(name for name, kind in MODELS.items() if kind.in_blocks)}"
        )
    if not model.takes_partial:
        for number, sentence in enumerate(task.sentences):
            if sentence.known is not None:
                raise ParameterError(
                    f"sentence {number} is annotated in part ({sentence.known}), and the model {model.name!r} learns "
                    "from whole annotation only; choose a likelihood model such as edge, state, chain or semimarkov, "
                    "or leave such sentences out"
                )
    held = hold(model, task.sentences, task.keep)
    if not any(held.mentions):
        raise CorpusError(
            f"there is nothing to learn: none of the {len(task.sentences)} training sentences has a mention"
        )
    if isinstance(task.penalty, Mapping):  # before the training, not after it
        by_label(task.penalty, sorted({m.label for mentions in held.mentions for m in mentions}))
    kept, gone = model.narrow(held.mentions, task.lengths)
    held = Held(kept, held.lost + gone, held.misread)
    resolved = model.resolve(kept, task.lengths)
    try:
        trained, history = resolved.fit(replace(task, gold=kept))
    except Interrupted as stop:
        return Fitted(stop.learned, stop.history, held, stop)
    return Fitted(trained, history, held)
