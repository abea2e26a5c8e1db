"""Training of any model: what it can hold, what its settings leave to the data, then its own way to learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spanloom.base.errors import CorpusError, ParameterError
from spanloom.corpus.document import Sentence
from spanloom.corpus.known import Believed, Known
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
    believed = {number: s.believed for number, s in enumerate(task.sentences) if s.believed is not None}
    if believed and not model.takes_beliefs:
        able = sorted(name for name, kind in MODELS.items() if kind is not type(model) and kind().takes_beliefs)
        raise ParameterError(
            f"sentence {min(believed)} has what a teacher believes, and the model {model.name!r} does not learn from "
            f"it; choose one of {', '.join(able)}, or a mixture of these"
        )
    if task.trainer.name == "perceptron" and any(s.known is not None for s in task.sentences):
        raise ParameterError(
            "the perceptron learns from whole annotation only, and some sentences are annotated in part, or have what "
            'a teacher believes; take trainer="lbfgs", or leave them out'
        )
    if not model.takes_partial:
        for number, sentence in enumerate(task.sentences):
            if sentence.known is not None:
                raise ParameterError(
                    f"sentence {number} is annotated in part ({sentence.known}), and the model {model.name!r} learns "
                    "from whole annotation only; choose a likelihood model such as edge, state, chain or semimarkov, "
                    "or leave such sentences out"
                )
    held = hold(model, _with_best(model, task.sentences, believed), task.keep)
    told = (s.believed for s in _holding(model, task.sentences, believed) if s.believed is not None)
    if not any(held.mentions) and not any(own for one in told for _, own in one.sets):
        raise CorpusError(
            f"there is nothing to learn: none of the {len(task.sentences)} training sentences has a mention"
        )
    if isinstance(task.penalty, Mapping):  # before the training, not after it
        by_label(task.penalty, sorted({m.label for mentions in held.mentions for m in mentions}))
    kept, gone = model.narrow(held.mentions, task.lengths)
    held = Held(kept, held.lost + gone, held.misread)
    resolved = model.resolve(kept, task.lengths)
    sentences = _holding(resolved, task.sentences, believed)
    try:
        trained, history = resolved.fit(replace(task, sentences=sentences, gold=kept))
    except Interrupted as stop:
        return Fitted(stop.learned, stop.history, held, stop)
    return Fitted(trained, history, held)


def _with_best(model: Model, sentences: Sequence[Sentence], believed: Mapping[int, Believed]) -> Sequence[Sentence]:
    """Sentences of which something is believed, with the most probable mentions: they say what there is to learn."""
    made = list(sentences)
    for number, told in believed.items():
        one = made[number]
        (kept,) = hold(model, [one.with_mentions(list(told.best))], "longest").mentions
        made[number] = one.with_mentions(kept)
    return made


def _holding(model: Model, sentences: Sequence[Sentence], believed: Mapping[int, Believed]) -> Sequence[Sentence]:
    """The sentences with what the model can hold of the mention sets that are believed."""
    made = list(sentences)
    for number, told in believed.items():
        one = made[number]
        kept = hold(model, [one.with_mentions(list(own)) for _, own in told.sets], "longest").mentions
        sets = tuple((p, tuple(own)) for (p, _), own in zip(told.sets, kept, strict=True))
        made[number] = replace(one, known=Known(labels=(), believed=replace(told, sets=sets)))
    return made
