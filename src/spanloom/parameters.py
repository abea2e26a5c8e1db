"""The parameters of a recogniser: names, nested names, checks; scikit-learn's manners."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_choice, check_count
from spanloom.base.settings import JOINT, Settings, merge, nested
from spanloom.base.wording import spoken
from spanloom.corpus import Document, Sentence
from spanloom.corpus.token_rules import TokenRules
from spanloom.decisions.decision import Best, ByThreshold, Decision, OnDev, decision
from spanloom.decisions.repairs import REPAIRS
from spanloom.encoders import Encoder, encoder
from spanloom.features import FeatureSet, read_resource
from spanloom.learning import LBFGS, SDCA, TRAINERS, AdamW, Auto, StructureTrainer, Trainer
from spanloom.models import MODELS, Model, State, named
from spanloom.schemes.flat import CHOICES

AUTO = "auto"
SHARE = 0.3
"""How much labels share in the model that is chosen for few sentences."""
LEAST_L2, PER_L2 = 0.1, 6000
"""The L2 penalty that is chosen where model and trainer are left open: one for so many mentions, but not less than the
least."""
FEW = 5000
"""Fewer sentences than these are few: with more, labels know enough by themselves, and learn faster so."""
AT_ONCE = {f"decide{JOINT}penalty": "set_mention_penalty", f"model{JOINT}threshold": "set_threshold"}
"""Parameters that count when predicting: changed on a fitted recogniser at once, by this method."""


class Parameters:
    """What ``Recognizer`` stores: its constructor only stores, ``fit`` checks."""

    model: Model | str
    features: str | Sequence[str] | FeatureSet
    clusters: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
    annotators: Any
    encoder: Encoder | str | os.PathLike[str] | None
    trainer: Trainer | str
    decide: Decision | str
    repairs: Sequence[str]
    keep: str
    seed: int
    threads: int | None
    tokenizer: Any
    splitter: Any

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the parameters of the constructor with their default values."""
        return {name: one.default for name, one in inspect.signature(cls.__init__).parameters.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with ``deep`` also those within: ``model__base__order``."""
        own = {name: getattr(self, name) for name in self.defaults()}
        return own | self._within(own) if deep else own

    def _within(self, own: Mapping[str, Any]) -> dict[str, Any]:
        return nested({name: _settings(name, value) for name, value in own.items()})

    def set_params(self, **params: Any) -> Any:
        """Change parameters; they count from the next ``fit`` on, a mention penalty or threshold in numbers at once."""
        own = self.get_params(deep=False)
        changed = {name.partition(JOINT)[0] for name in params if JOINT in name}
        within = {name: _settings(name, params.get(name, value)) for name, value in own.items() if name in changed}
        wanted = {name.removeprefix(f"trainer{JOINT}") for name in params if name.startswith(f"trainer{JOINT}")}
        if isinstance(within.get("trainer"), Auto) and not wanted.issubset(Auto.parameters()):
            given = within["trainer"]
            model = within.get("model", params.get("model", self.model))
            if params.get("encoder", self.encoder) is not None:
                within["trainer"] = AdamW(*_common(given))
            else:
                within["trainer"] = LBFGS(*_common(given)) if model == AUTO else named(model).trainer(given)
        whole = {name: value for name, value in params.items() if name not in within}
        for name in whole:
            if name.partition(JOINT)[0] not in own:
                self._hint(name)
        for name, value in merge("the settings of a Recognizer", own | within, whole).items():
            if value is not own[name]:
                setattr(self, name, value)
        for name, method in AT_ONCE.items():
            if name in params and hasattr(self, "trained_") and not isinstance(params[name], str):
                getattr(self, method)(params[name])
        return self

    def _hint(self, name: str) -> None:
        """Raise with the whole name of a parameter that is given by its last part; nothing if there is none."""
        try:
            full = self.full_name(name)
        except ParameterError:
            return
        raise ParameterError(f"a Recognizer has no parameter {name!r} of its own; it has {full!r}")

    def full_name(self, name: str) -> str:
        """Return the whole name of a parameter that is given by its last part, e.g. ``trainer__l2`` for ``l2``.

        Dots may stand for the two underscores. ``ParameterError`` if there is none, or more than one.

        Examples
        --------
        >>> from spanloom import Recognizer
        >>> Recognizer("chain").full_name("l2"), Recognizer("chain").full_name("model.scheme")
        ('trainer__l2', 'model__scheme')
        """
        full = name.replace(".", JOINT).replace("-", "_")
        own = self.get_params(deep=False)
        if full.partition(JOINT)[0] in own:
            return full
        within = self._within(own) | nested({"trainer": self._trainer(self.model)})
        found = [one for one in within if one.split(JOINT)[-1] == full]
        shortest = [one for one in found if one.count(JOINT) == min(f.count(JOINT) for f in found)]
        if len(shortest) != 1:
            which = (
                f"{len(shortest)} parameters end in {name!r}: {', '.join(shortest)}"
                if shortest
                else (f"there is no parameter {name!r}; there are {', '.join([*own, *within])}")
            )
            raise ParameterError(which.replace(JOINT, "."))
        return shortest[0]

    def _trainer(self, model: Any) -> Trainer:
        """The trainer that the settings mean, as far as that is known before the data are."""
        given: Trainer = _settings("trainer", self.trainer)
        if not isinstance(given, Auto):
            return given
        if self.encoder is not None:
            return AdamW(*_common(given))
        return LBFGS(*_common(given)) if model == AUTO else named(model).trainer(given)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(None, TargetTags(required=False), input_tags=InputTags(two_d_array=False, string=True))

    def __repr__(self) -> str:
        defaults = self.defaults()
        changed = {k: v for k, v in self.get_params(deep=False).items() if v != defaults[k]}
        return f"Recognizer({', '.join(f'{k}={v!r}' for k, v in changed.items())})"

    # What they mean

    @property
    def makes(self) -> str | None:
        """The column that it makes, for a tagger; None if it finds mentions."""
        return None if self.model == AUTO else named(self.model).makes

    @property
    def will_be_plain(self) -> bool:
        """Whether it is going to be ``is_plain`` after ``fit``."""
        decide = decision(self.decide)
        one_label = decide.exclusive is False or self.model == AUTO or named(self.model).flat
        return not self.annotators and not self.repairs and isinstance(decide, Best) and one_label

    def check(self, with_dev: bool) -> None:
        """Raise ``ParameterError`` for values that are not allowed, before any work."""
        if self.model != AUTO:
            model = named(self.model)
            self.check_model(model)
        if isinstance(self.trainer, str):
            check_choice("trainer", self.trainer, TRAINERS)
        decide = decision(self.decide)
        if decide.needs_dev and not with_dev:
            what = f"penalty={decide.penalty_wanted!r}" if decide.penalty_wanted else f"decide={decide.name!r}"
            raise ParameterError(f"{what} is chosen on development data; pass dev=…")
        if (
            self.encoder is not None
            and not with_dev
            and not (isinstance(decide, Best) and decide.penalty_wanted != AUTO)
        ):
            raise ParameterError(
                f"decide={self.decide!r} is chosen by cross-fitting where there are no development data, which would "
                "train the encoder several times; pass dev=…"
            )
        self.token_rules()
        if self.repairs is None or isinstance(self.repairs, str):
            one = self.repairs if self.repairs in REPAIRS else next(iter(REPAIRS))
            way = spoken(f"--repair {one}", f"repairs=[{one!r}]")
            raise ParameterError(f"repairs are a list of names, got {self.repairs!r}; write {way}, or leave it out")
        for name in self.repairs:
            check_choice("repairs", name, REPAIRS)
        check_choice("keep", self.keep, ("raise", *CHOICES))
        check_count("seed", self.seed, low=0)
        if self.threads is not None:
            check_count("threads", self.threads, low=1)

    def check_model(self, model: Model) -> Trainer:
        """Return the trainer of a model; ``ParameterError`` if the other settings do not go with it."""
        decide = decision(self.decide)
        if model.makes is not None and isinstance(decide, ByThreshold | OnDev):
            raise ParameterError(
                f"decide={self.decide!r} chooses mentions, and the model {model.name!r} gives every token a value; "
                'use decide="best"'
            )
        if isinstance(decide, ByThreshold | OnDev) and not model.probabilistic:
            raise ParameterError(
                f"decide={self.decide!r} needs probabilities, and a tagger of your own gives none; "
                'use decide="best", or a model of spanloom as base'
            )
        penalty = decide.penalty_wanted
        left_open = penalty == AUTO and self.model == AUTO  # then the model that suits the data may take none
        if not model.penalised and not left_open and (isinstance(penalty, Mapping | str) or penalty):
            raise ParameterError(f"the model {model.name!r} takes no mention penalty; leave out penalty={penalty!r}")
        if isinstance(penalty, Mapping) and not model.penalised_by_label:
            raise ParameterError(
                f"the model {model.name!r} takes one mention penalty for all labels, got penalty={penalty!r}; "
                "give one number"
            )
        return model.trainer(self.trainer) if self.encoder is None else self._with_encoder(model)

    def _with_encoder(self, model: Model) -> AdamW:
        """Return the trainer of a model with an encoder; ``ParameterError`` if they do not go together."""
        encoder(self.encoder)
        if not model.takes_encoder:
            able = ", ".join(name for name, kind in MODELS.items() if kind.takes_encoder)
            raise ParameterError(f"the model {model.name!r} takes no encoder; those that do are {able}")
        given = _settings("trainer", self.trainer)
        if isinstance(given, Auto):
            return AdamW(*_common(given))
        if not isinstance(given, AdamW):
            raise ParameterError(f"a model with an encoder learns by the trainer adamw, not by {given.name!r}")
        return given

    def model_for(self, documents: Sequence[Document], *, alone: bool = True) -> Model:
        """Return the model: the one that is asked for, or the one that suits the mentions.

        ``alone``: it will learn in this process, where labels can learn together.
        """
        if self.model != AUTO:
            return named(self.model)
        sentences: list[Sentence] = [s for document in documents for s in document.sentences]
        broken = next(((s, m) for s in sentences for m in s.mentions if m.discontinuous), None)
        if self.keep == "raise" and broken is not None:
            if any(s.known is not None for s in sentences):
                sentence, mention = broken
                raise ParameterError(
                    f"training mentions have several parts, as {mention.label} “{sentence.surface(mention)}” has, "
                    "which the model multilabel holds; but it learns from whole annotation only, and other sentences "
                    'are annotated in part, or by a teacher. Leave out such mentions, with model="state" and '
                    'keep="longest", or those sentences'
                )
            return named("multilabel")
        if self.encoder is not None:
            return State()
        trainer = State().trainer(self.trainer)
        can = alone and isinstance(trainer, StructureTrainer) and trainer.shares
        return State(share=SHARE) if can and len(sentences) < FEW else State()

    def trainer_for(self, model: Model, documents: Sequence[Document], *, alone: bool = True) -> Trainer:
        """Return the trainer of a model; ``ParameterError`` if the other settings do not go with it.

        Where both are left open, the L2 penalty grows with the data, and dual coordinate ascent comes to the optimum
        sooner, if everything is annotated and learned in this process.
        """
        trainer = self.check_model(model)
        left_open = self.model == AUTO and (self.trainer == AUTO or isinstance(self.trainer, Auto))
        if not left_open or not isinstance(model, State) or self.encoder is not None:
            return trainer
        l2 = l2_for(documents)
        whole = all(sentence.known is None for document in documents for sentence in document.sentences)
        if alone and whole:
            return SDCA(trainer.max_iter, trainer.patience, l2=l2)
        return trainer.with_params(l2=l2)

    def token_rules(self) -> TokenRules | None:
        """Return how text is cut, if the settings say so by name; None: as the training data are, or by a function."""
        if isinstance(self.tokenizer, str) and self.tokenizer != AUTO:
            return TokenRules.named(self.tokenizer)
        return self.tokenizer if isinstance(self.tokenizer, TokenRules) else None

    @property
    def cuts_itself(self) -> bool:
        """Whether text is cut by functions, which a model file cannot hold."""
        own = callable(self.tokenizer) and not isinstance(self.tokenizer, TokenRules)
        return own or self.splitter is not None

    def feature_set(self) -> FeatureSet:
        """Return the features that the settings ask for, with their tables; annotators may add more."""
        if self.clusters is None:
            return self._given_features({})
        given = [self.clusters] if isinstance(self.clusters, str | os.PathLike) else self.clusters
        if not given:
            raise ParameterError("clusters is a file, or a list of files; the list is empty: leave it out instead")
        names = ("brown", *(f"brown{number}" for number in range(2, len(given) + 1)))
        tables = {name: read_resource(path, "brown") for name, path in zip(names, given, strict=True)}
        return self._given_features(tables).with_clusters()

    def _given_features(self, tables: Mapping[str, Any]) -> FeatureSet:
        if isinstance(self.features, FeatureSet):
            return replace(self.features, resources={**self.features.resources, **tables})
        if not isinstance(self.features, str):
            return FeatureSet(list(self.features), resources=tables)
        if Path(self.features).suffix == ".toml":
            features = FeatureSet.from_toml(self.features)
            return replace(features, resources={**features.resources, **tables})
        return FeatureSet.named(self.features, tables)


def l2_for(documents: Sequence[Document]) -> float:
    """Return the L2 penalty that is chosen for training data.

    Examples
    --------
    >>> from spanloom import Mention
    >>> one = Document([Sentence(["IL-2"], [Mention("protein", ((0, 1),))])])
    >>> l2_for([one]), l2_for([one] * 12_000)
    (0.1, 2.0)
    """
    mentions = sum(len(sentence.mentions) for document in documents for sentence in document.sentences)
    return round(max(LEAST_L2, mentions / PER_L2), 2)


def _settings(name: str, value: Any) -> Any:
    """Return the settings that a shorthand stands for; anything else stays what it is."""
    if isinstance(value, Settings):
        return value
    if name == "model" and isinstance(value, str) and value != AUTO:
        return named(value)
    if name == "trainer":
        return TRAINERS[value]() if value in TRAINERS else value
    if name == "encoder":
        return encoder(value)
    return decision(value) if name == "decide" else value


def _common(given: Auto) -> tuple[int | None, int | None]:
    """What all trainers have."""
    return given.max_iter, given.patience
