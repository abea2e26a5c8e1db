"""Which settings each model takes: its ``__init__`` names them, and a reduction passes the others to its base model."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from spanloom.base.errors import UntakenError
from spanloom.models import MODELS, Model, Standalone
from spanloom.reductions import REDUCTIONS, Reduction

KINDS: dict[str, type[Model]] = MODELS | REDUCTIONS
"""What ``Recognizer(model=…)`` takes, by name."""
PENALISED = ("lbfgs", "adagrad")
"""The algorithms that take ``l1`` or ``l2``."""
_INSIDE = frozenset({"self", "make", "own", "workers"})
"""What the recogniser gives to models besides settings."""


def own_settings(kind: type[Model]) -> frozenset[str]:
    """Return the settings that a model takes itself.

    Examples
    --------
    >>> sorted(own_settings(MODELS["semimarkov"])), sorted(own_settings(REDUCTIONS["joined"]))
    (['longest', 'mention_penalty'], ['base', 'rare'])
    """
    named = inspect.signature(kind.__init__).parameters.values()
    taken = {one.name for one in named if one.kind is one.POSITIONAL_OR_KEYWORD} - _INSIDE
    if issubclass(kind, Reduction):
        taken.add("base")
    elif not issubclass(kind, Standalone):
        taken.add("mention_penalty")
    return frozenset(taken)


@functools.cache
def model_settings() -> frozenset[str]:
    """Return the settings that some models take and others do not."""
    return frozenset().union(*map(own_settings, KINDS.values()))


def settings_taken(kind: type[Model], base: str | Callable[..., Any]) -> frozenset[str]:
    """Return the settings that a model takes, those of a reduction's base model included."""
    if issubclass(kind, Reduction) and isinstance(base, str) and base in MODELS:
        return own_settings(kind) | (own_settings(MODELS[base]) - kind.fixes)
    return own_settings(kind)


def learning(kind: type[Model], base: str | Callable[..., Any], algorithm: str) -> tuple[str, bool]:
    """Return how a model learns, a reduction's base model for it, and whether ``l1`` and ``l2`` count there.

    Examples
    --------
    >>> learning(MODELS["multilabel"], "chain", "auto"), learning(REDUCTIONS["layered"], "memm", "adagrad")
    (('mira', False), ('adagrad', True))
    """
    if issubclass(kind, Reduction) and isinstance(base, str) and base in MODELS:
        kind = MODELS[base]
    chosen = kind.algorithms[0] if algorithm == "auto" else algorithm
    return chosen, chosen in PENALISED


def check_taken(
    kind: type[Model], base: str | Callable[..., Any], given: Mapping[str, Any], defaults: Mapping[str, Any]
) -> None:
    """Raise ``UntakenError`` for a setting that is not the default and that the model does not take."""
    taken = settings_taken(kind, base)
    for name in sorted(model_settings() - taken):
        if given[name] != defaults[name]:
            model = kind.name
            if issubclass(kind, Reduction):
                model += f" over {base if isinstance(base, str) else 'a tagger of your own'}"
            if given["model"] == "auto":
                model += ", which suits these data,"
            takers = [other for other, one in KINDS.items() if name in own_settings(one)]
            raise UntakenError(name, given[name], model, takers)
