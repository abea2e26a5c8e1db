"""A recogniser in a model file: its trained model, its annotators, its settings; also as older versions wrote them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from spanloom.annotators import Annotator, Pipeline
from spanloom.base.arrays import Arrays
from spanloom.base.errors import ModelFileError
from spanloom.base.parameters import check_choice, check_count
from spanloom.corpus.token_rules import DEFAULT_RULES, TokenRules
from spanloom.decisions.decision import DECISIONS, decision
from spanloom.decisions.repairs import REPAIRS
from spanloom.decisions.rule import Rule
from spanloom.encoders import Encoder, encoder
from spanloom.evaluation.calibration import Curve
from spanloom.learning import TRAINERS, Trainer
from spanloom.models import MODELS, Model, Trained
from spanloom.models.trained import restore_trained
from spanloom.schemes.flat import CHOICES

if TYPE_CHECKING:
    from spanloom.keeping import KeptRecognizer

KEPT = ("repairs", "keep", "seed")
"""Settings of the recogniser that are stored as they are."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What a file has of a recogniser."""

    trained: Trained
    pipeline: Pipeline
    rule: Rule
    settings: dict[str, Any]
    training: dict[str, Any]
    own_tokenizer: bool
    token_rules: TokenRules


def to_stored(ner: KeptRecognizer) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """Return what a file holds: arrays by name, and JSON."""
    arrays, header = ner.trained_.state()
    annotator_arrays, annotators = ner.pipeline_.state()
    settings = ner.get_params(deep=False)
    trainer = settings["trainer"]
    return arrays | annotator_arrays, {
        **header,
        **annotators,
        "settings": {
            "model": ner.model.to_json() if isinstance(ner.model, Model) else ner.model,
            "trainer": trainer.to_json() if isinstance(trainer, Trainer) else trainer,
            "decide": decision(ner.decide).to_json(),
            **{name: list(settings[name]) if name == "repairs" else settings[name] for name in KEPT},
            **_encoder(ner),
        },
        "rule": ner.rule_.to_json(),
        "own_tokenizer": ner.cuts_itself or ner._needs_tokenizer,
        "tokenizer": ner.token_rules_.to_json(),
        # Without the clock: the same data, settings and seed give the same file.
        "training": {name: value for name, value in ner.training_.items() if name != "seconds"},
    }


def from_stored(
    arrays: Arrays, header: Mapping[str, Any], kind: type[KeptRecognizer], more: Sequence[str | Annotator]
) -> Stored:
    """Undo ``to_stored``; ``more`` annotators are added to those of the file."""
    if header.get("kind") == "attributes":
        raise ModelFileError("a model over ready attributes, not a recogniser: open it with spanloom.compat.CRF.load")
    try:
        header = _modern(header)
        trained = restore_trained(arrays, header)
        pipeline = Pipeline.from_state(arrays, header, open_model=kind.from_state)
        training = dict(header["training"])
        if "penalty_curve" in training:
            trained.penalty_curve = Curve.from_json(training["penalty_curve"])
        settings = _settings(header["settings"])
        rule = Rule.from_json(header["rule"]) if "rule" in header else Rule()
        own_tokenizer = bool(header["own_tokenizer"])
        rules = TokenRules.from_json(header["tokenizer"]) if "tokenizer" in header else DEFAULT_RULES
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ModelFileError(f"the model file is incomplete or damaged: {error!r}") from None
    pipeline = pipeline.plus(Pipeline.of(more, open_model=kind.load))
    settings |= {"features": trained.extractor.features, "annotators": tuple(pipeline.annotators)}
    return Stored(trained, pipeline, rule, settings, training, own_tokenizer, rules)


def _encoder(ner: KeptRecognizer) -> dict[str, Any]:
    """The encoder without the place where it was, which is no part of what was learned."""
    given = encoder(ner.encoder)
    return {} if given is None else {"encoder": replace(given, path=given.label).to_json()}


def _settings(stored: Mapping[str, Any]) -> dict[str, Any]:
    model, trainer = stored["model"], stored["trainer"]
    for name in stored["repairs"]:
        check_choice("repairs", name, REPAIRS)
    check_choice("keep", stored["keep"], ("raise", *CHOICES))
    check_count("seed", stored["seed"], low=0)
    return {
        "model": model if isinstance(model, str) else _made(MODELS, model),
        "trainer": trainer if isinstance(trainer, str) else _made(TRAINERS, trainer),
        "decide": _made(DECISIONS, stored["decide"]),
        "encoder": Encoder(**stored["encoder"]) if stored.get("encoder") else None,
        **{name: tuple(stored[name]) if name == "repairs" else stored[name] for name in KEPT},
    }


def _made(kinds: Mapping[str, Any], stored: Mapping[str, Any]) -> Any:
    values = {name: value for name, value in stored.items() if name != "name"}
    if isinstance(values.get("base"), Mapping):
        values["base"] = _made(kinds, values["base"])
    return kinds[stored["name"]](**values)


# Files of spanloom 0.1 have flat settings.

_MODEL = {
    "chain": ("scheme", "constrained"),
    "chains": ("scheme", "constrained"),
    "memm": ("scheme", "constrained", "order", "dictionary", "beam"),
    "multilabel": ("k", "max_gap", "restrictions", "threshold"),
    "layered": ("direction", "layers"),
    "cascade": ("groups", "guesses", "folds"),
    "joined": ("rare",),
    **dict.fromkeys(("semimarkov", "weak-semimarkov", "dgm", "dgm-s", "spans", "dgm-nested"), ("longest",)),
}
_TRAINER = {
    "lbfgs": ("l1", "l2", "support", "tol", "max_iter", "patience"),
    "adagrad": ("l2", "max_iter", "patience"),
    "perceptron": ("max_iter", "patience"),
    "mira": ("aggressiveness", "max_iter", "patience"),
    "loglinear": ("aggressiveness", "max_iter", "patience"),
}
_REDUCTIONS = ("layered", "cascade", "joined", "innermost", "outermost")


def _modern(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return the header of a file in the form of this version."""
    old = header["settings"]
    if "algorithm" not in old:
        return dict(header)
    stored = dict(header["model"])
    if "parts" in stored:
        stored["parts"] = [_modern(part) for part in stored["parts"]]
    name = stored["name"]
    if name == "tagger":
        stored["column"] = old["target"]
    model: dict[str, Any] = {"name": name, **{key: old[key] for key in _MODEL.get(name, ())}}
    if name == "multilabel":
        model["rescore"] = old["company"]
    if name == "tagger":
        model["column"] = old["target"]
    base = name
    if name in _REDUCTIONS and isinstance(old["base"], str):
        base = old["base"]
        model["base"] = {"name": base, **{key: old[key] for key in _MODEL.get(base, ())}}
    algorithm = old["algorithm"]
    if algorithm == "auto":
        algorithm = MODELS[base].trainers[0] if base in MODELS else "lbfgs"
    settings = {
        "model": "auto" if old["model"] == "auto" and name != "tagger" else model,
        "trainer": {"name": algorithm, **{key: old[key] for key in _TRAINER[algorithm]}},
        "decide": {"name": "best", "penalty": old["mention_penalty"]},
        "repairs": old.get("repairs", ()),
        "keep": old["overlap"],
        "seed": old["seed"],
    }
    return {**header, "model": stored, "settings": settings}
