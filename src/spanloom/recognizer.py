"""Recognizer: the one class that most people use."""

from __future__ import annotations

import inspect
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy.typing as npt

import spanloom
from spanloom.annotators import Annotator, Fitting, Parser, Pipeline
from spanloom.base.errors import CorpusError, ModelFileError, NotFittedError, ParameterError
from spanloom.base.model_file import load_arrays, save_arrays
from spanloom.base.parameters import check_choice, check_count, check_number
from spanloom.corpus import Document, Mention, Sentence, make_document
from spanloom.corpus.document import as_documents, map_sentences
from spanloom.corpus.tokenizer import Splitter, Tokenizer, split_sentences, tokenize
from spanloom.decisions import penalty
from spanloom.decisions.repairs import REPAIRS, repair
from spanloom.engines import Data, Engine, Plan, Stored, below, engine_of
from spanloom.evaluation import Report, evaluate
from spanloom.evaluation.calibration import Curve
from spanloom.features import FeatureExtractor, FeatureSet, read_resource
from spanloom.learning import EPOCHS, Iteration, Listener, Settings, Weights
from spanloom.models import MODELS, Model, Multilabel
from spanloom.models.tagger import Tagger, column_as_mentions
from spanloom.reductions import FlatTagger, Reduction
from spanloom.schemes.flat import CHOICES, overlapping
from spanloom.taken import KINDS, PENALISED, check_taken, learning, model_settings, own_settings
from spanloom.training import Interrupted, hold

Input = str | Sentence | Document
BATCH = 1024
"""Documents or sentences that are tagged at once when a stream is tagged."""


class Recognizer:
    """Learns to find mentions, and finds them.

    Parameters
    ----------
    model
        The kind of model, one of ``spanloom.models.MODELS``; a way to find nested mentions with flat models, one of
        ``spanloom.reductions.REDUCTIONS``; or ``"auto"``: ``multilabel`` where training mentions break into parts (and
        ``overlap`` does not say what to leave out), else ``edge`` where they overlap, else ``chain``.
    target
        Instead of mentions, learn the values of a token column, e.g. ``"pos"``: the recogniser is a tagger then.
    annotators
        What makes columns that the data do not have, see ``annotators``: ``["pos.loom"]``, ``["udpipe:FILE"]``.
    base
        Reductions: the flat model that they use, or a function that makes your ``spanloom.reductions.FlatTagger``.
    direction, layers
        Layered: how layers are counted, ``"inside-out"`` or ``"outside-in"``, and how many there may be; None for as
        many as the training data have.
    rare
        Joined: labels that occur less often than this back off to simpler ones.
    groups, guesses, folds
        Cascade: which labels are found together and in which order (see ``spanloom.reductions.cascade``), whether later
        models see the guesses of earlier ones, and into how many blocks the training data are cut to make them.
    scheme
        Segment representation of the flat models: IO, IOB1, IOB2, IOE1, IOE2, IOBES, BILOU, BI, IE, BIES, BIS, BB2IES
        or BB2B3IES; for a chain also BIOHD, with broken mentions. Several at once: ``"BIES+"`` for all that it maps to,
        or a list, the finest first: ``["BIES", "IO"]``.
    features
        What the model sees: the name of a set, a ``.toml`` file, a list of templates, or a ``FeatureSet``.
    clusters
        A ``paths`` file of Brown clusters, which templates look words up in as the resource ``brown``; if no template
        does so, ``cluster(word, brown, 4, 6, 10, 20)[-1..1]`` is added.
    algorithm
        ``"auto"`` (the model's own), ``"lbfgs"`` (regularised likelihood), ``"adagrad"`` (the same in a few passes, for
        many labels or little time; near its maximum, on one core) or ``"perceptron"`` (averaged); for ``multilabel``
        ``"mira"``, ``"perceptron"`` or ``"loglinear"``.
    l1, l2
        Penalties ``l1·‖w‖₁ + l2·‖w‖²``.
    support
        Which (feature, label) pairs get a weight: ``"all"``, or those ``"observed"`` in the training data, as CRFsuite
        does by default. All pairs cost more with many labels, and know what a feature speaks against.
    max_iter, tol
        Training stops after ``max_iter`` iterations (None: what is usual for the model), or when ten of them lower the
        objective by less than this share.
    patience
        With development data: stop when their F1 has not risen for so many iterations, and take the best weights.
    constrained
        Whether only legal label sequences get probability.
    order, dictionary, beam
        Maximum-entropy Markov: how many labels before are seen, 1 or 2; how often a word must be in the training data
        to get only the labels that it has there, None for no such rule; and how many states of the search go on from a
        token to the next, None for all, which is exact.
    longest
        Segment models: how many tokens a mention may have; None for as many as the longest training mention.
    mention_penalty
        A weight on starting a mention when tagging: above 0 for more mentions, below 0 for fewer; one number, or one
        for each label. ``"auto"`` and ``"auto-by-label"`` choose on the development data. See ``decisions.penalty``.
    k, max_gap, restrictions, threshold, company, aggressiveness
        Of the model ``multilabel``, see ``spanloom.models.Multilabel``.
    repairs
        What is done to found mentions, in this order: ``"parentheses"``, ``"abbreviations"``; see ``decisions.repairs``.
    overlap
        What to do with training mentions that the model cannot hold: ``"raise"``, or keep the ``"longest"``,
        ``"outermost"`` or ``"innermost"``.
    seed
        For everything random. The same data, settings and seed give the same model, for any number of threads.
    threads
        None for all cores.
    parser
        For sentences without a dependency tree, where the model or the features need one: a
        ``Parser``, or its name (``"udpipe:MODEL"``, ``"spacy:PIPELINE"``). Trees that are there stay.
    tokenizer, splitter
        For raw text: functions like ``spanloom.corpus.tokenize`` and ``spanloom.corpus.split_sentences``.

    Attributes
    ----------
    history_
        One ``Iteration`` per iteration of training.
    labels_
        The labels of the mentions that it finds.
    ceiling_
        The share of the training mentions that the model can hold and read back.
    lost_
        The others: (sentence number, mention).
    mention_penalty_
        The mention penalty in use, by label; ``set_mention_penalty`` changes it.
    penalty_curve_
        Precision and recall on the development data at each mention penalty, if it was chosen there.

    Examples
    --------
    >>> from spanloom import Mention, Sentence
    >>> train = [Sentence(["the", w, "gene"], [Mention("DNA", ((1, 3),))]) for w in ("lacZ", "sonic", "p53")]
    >>> ner = Recognizer(max_iter=20).fit(train)
    >>> ner.predict("The BRCA1 gene.").mentions
    [Mention(label='DNA', parts=((1, 3),), prob=None)]
    """

    def __init__(
        self,
        model: str = "auto",
        *,
        target: str | None = None,
        annotators: Sequence[str | Annotator] = (),
        base: str | Callable[[], FlatTagger] = "chain",
        direction: str = "inside-out",
        layers: int | None = None,
        rare: int = 1,
        groups: str | Sequence[Sequence[str]] = "by-frequency",
        guesses: bool = True,
        folds: int = 5,
        scheme: str | Sequence[str] = "IOBES",
        features: str | Sequence[str] | FeatureSet = "default",
        clusters: str | os.PathLike[str] | None = None,
        algorithm: str = "auto",
        l1: float = 0.0,
        l2: float = 0.1,
        support: str = "all",
        max_iter: int | None = None,
        tol: float = 1e-5,
        patience: int | None = None,
        constrained: bool = True,
        order: int = 2,
        dictionary: int | None = None,
        beam: int | None = None,
        longest: int | None = None,
        mention_penalty: float | Mapping[str, float] | str = 0.0,
        k: int | None = None,
        max_gap: int | None = None,
        restrictions: str | Sequence[str] = "auto",
        threshold: float | Mapping[str, float] | str = "global",
        company: bool = False,
        aggressiveness: float = 1.0,
        repairs: Sequence[str] = (),
        overlap: str = "raise",
        seed: int = 1,
        threads: int | None = None,
        parser: Parser | str | None = None,
        tokenizer: Tokenizer | None = None,
        splitter: Splitter | None = None,
    ) -> None:
        self.model = model
        self.target = target
        self.annotators = annotators
        self.base = base
        self.direction = direction
        self.layers = layers
        self.rare = rare
        self.groups = groups
        self.guesses = guesses
        self.folds = folds
        self.scheme = scheme
        self.features = features
        self.clusters = clusters
        self.algorithm = algorithm
        self.l1 = l1
        self.l2 = l2
        self.support = support
        self.max_iter = max_iter
        self.tol = tol
        self.patience = patience
        self.constrained = constrained
        self.order = order
        self.dictionary = dictionary
        self.beam = beam
        self.longest = longest
        self.mention_penalty = mention_penalty
        self.k = k
        self.max_gap = max_gap
        self.restrictions = restrictions
        self.threshold = threshold
        self.company = company
        self.aggressiveness = aggressiveness
        self.repairs = repairs
        self.overlap = overlap
        self.seed = seed
        self.threads = threads
        self.parser = parser
        self.tokenizer = tokenizer
        self.splitter = splitter
        self._most = sys.maxsize  # iterations

    mention_penalty_: penalty.Penalty
    penalty_curve_: Curve | None

    # Learning

    def fit(
        self,
        corpus: Iterable[Sentence | Document],
        y: None = None,
        *,
        dev: Iterable[Sentence | Document] | None = None,
        parser: str | Parser | None = None,
        listener: Listener | None = None,
    ) -> Recognizer:
        """Learn from annotated documents or sentences.

        Parameters
        ----------
        corpus
            E.g. ``read("train.jsonl")``.
        y
            Ignored; scikit-learn passes it.
        dev
            Development data: their F1 is in every record of ``history_``, and ``patience`` goes by it.
        parser
            Makes trees for sentences that have none, from now on; the same as the setting of that name.
        listener
            Called with each ``Iteration`` as soon as it is done.

        Raises
        ------
        EncodingError
            If the model cannot hold the mentions and ``overlap`` is ``"raise"``.
        KeyboardInterrupt
            If interrupted; when an iteration was done, the recogniser has the best weights so far and can be used.
        """
        if parser is not None:
            self.parser = parser
        self._check(dev is not None)
        feature_set = self.feature_set()
        pipeline = Pipeline.of(self.annotators, open_model=Recognizer.load, parser=self.parser)
        start = time.perf_counter()
        documents = self._learned(as_documents(corpus))
        sentences = _sentences(documents)
        if not any(len(s) for s in sentences):
            raise CorpusError("there is nothing to learn from: the training corpus has no tokens")
        self._check_taken(self._kind(sentences))
        fitting = Fitting(partial(self._plain, feature_set), listener, self._wanted(feature_set))
        pipeline, documents = pipeline.fit(documents, fitting)
        feature_set = feature_set.plus(pipeline.templates)
        wanted = self._wanted(feature_set)
        sentences = _sentences(pipeline.annotate(documents, wanted))
        model = self._make_model(sentences, feature_set)
        settings = Settings(
            self.l1,
            self.l2,
            min(self.max_iter or (EPOCHS if self.algorithm == "adagrad" else model.iterations), self._most),
            self.tol,
            threads=self.threads,
            support=self.support,
        )
        engine = engine_of(model)
        held = hold(model, sentences, self.overlap)
        if not any(held.mentions):
            raise CorpusError(
                f"there is nothing to learn: none of the {len(sentences)} training sentences has a mention"
            )
        lengths = [len(s) for s in sentences]
        held = engine.narrow(held, lengths)
        model.learn(list(zip(held.mentions, lengths, strict=True)))
        engine.check_penalty(self.mention_penalty)  # before the training, not after it
        dev_sentences: list[Sentence] | None = None
        if dev is not None:
            pipeline.use_threads(self.threads)
            dev_sentences = _sentences(pipeline.annotate(self._learned(as_documents(dev)), wanted))
        plan = Plan(
            model.algorithms[0] if self.algorithm == "auto" else self.algorithm,
            settings,
            self.seed,
            self.patience,
            listener,
        )
        interrupted: Interrupted | None = None
        try:
            history = engine.train(Data(sentences, held.mentions, feature_set, dev_sentences), plan)
        except Interrupted as stop:
            interrupted, history = stop, stop.history
        training = {
            "sentences": len(sentences),
            "tokens": sum(lengths),
            "mentions": sum(map(len, held.mentions)),
            "lost": len(held.lost),
            "misread": len(held.misread),
            "ceiling": held.ceiling,
            "untrained": sorted(engine.untrained),
            "iterations": len(history),
            "objective": sum(r.objective for r in _last_of_each(history)),
            "dev_ceiling": None if dev_sentences is None else self._ceiling(model, dev_sentences),
            "dev_f1": history[-1].dev_f1 if history and len(model.components) <= 1 else None,
            "seconds": round(time.perf_counter() - start, 3),
            "interrupted": interrupted is not None,
            "spanloom": spanloom.__version__,
            "python": platform.python_version(),
        }
        self._install(engine, training, pipeline)
        self.history_ = history
        self.ceiling_ = held.ceiling
        self.lost_ = held.lost + held.misread
        if engine.penalised:  # the parts of a reduction have it
            if not isinstance(self.mention_penalty, str):
                self.set_mention_penalty(self.mention_penalty)
            elif interrupted is None and dev_sentences is not None:
                self._tune(dev_sentences, by_label=self.mention_penalty == "auto-by-label")
        if interrupted is not None:
            raise interrupted
        return self

    def tune_mention_penalty(self, dev: Iterable[Sentence | Document], *, by_label: bool = False) -> Curve:
        """Choose the mention penalty that gives the highest F1 on development data, and use it from now on.

        Parameters
        ----------
        by_label
            Choose one for each label; only for models with a component for each.

        Returns
        -------
        Curve
            Precision, recall and F1 at each value, the same for all labels.
        """
        self._fitted()
        return self._tune(self._ready(self._learned(as_documents(dev))), by_label=by_label)

    def _tune(self, sentences: Sequence[Sentence], *, by_label: bool) -> Curve:
        curves = self._fitted().tune_penalty(sentences, self.threads, by_label=by_label)
        curve = penalty.choose_one(curves)
        self.set_mention_penalty(penalty.choose_each(curves) if by_label else curve.chosen or 0.0)
        self.penalty_curve_ = curve
        self.training_["penalty_curve"] = curve.to_json()
        return curve

    def set_mention_penalty(self, value: float | Mapping[str, float] | str) -> Recognizer:
        """Use a mention penalty from now on: one number, or one for each label."""
        engine = self._fitted()
        penalty.check_penalty(value)
        if isinstance(value, str):
            raise ParameterError(f"a penalty is a number when tagging; {value!r} is chosen in training, with dev=…")
        chosen = penalty.by_label(value, self.labels_)
        engine.set_penalty(chosen)
        self.mention_penalty_ = chosen
        return self

    @property
    def model_(self) -> Model:
        """The model that was trained."""
        return self._fitted().model

    @property
    def extractor_(self) -> FeatureExtractor:
        """The features that were learned."""
        return self._fitted().extractor

    @property
    def weights_(self) -> Sequence[Weights]:
        """The weights of each component of the model."""
        return self._fitted().weights

    @property
    def parts_(self) -> list[Recognizer]:
        """The recognisers that it is made of: itself alone, unless its model is a reduction."""
        return self._fitted().recognizers(self)

    # Finding

    def predict(self, corpus: Input | Iterable[Input]) -> Any:
        """Find the mentions of a text, a sentence, a document, or each of many.

        Returns a ``Document`` for a string, and otherwise what was given, with the found mentions instead of its own.
        """
        if isinstance(corpus, str | Sentence | Document):
            return next(self.stream([corpus]))
        return list(self.stream(corpus))

    def stream(self, corpus: Iterable[Input], batch: int = BATCH) -> Iterator[Any]:
        """Like ``predict`` on many, but one result after the other: memory does not grow with the input."""
        self._fitted()
        items = iter(corpus)
        while True:
            units = [self._document(item) if isinstance(item, str) else item for item in islice(items, batch)]
            if not units:
                return
            documents = as_documents(units)
            found = iter(self._fitted().find(self._ready(documents), self.threads))
            for unit, document in zip(units, documents, strict=True):
                mentions = list(islice(found, len(document.sentences)))
                if self.repairs:
                    mentions = repair(document.sentences, mentions, self.repairs)
                done = list(map(self._result, document.sentences, mentions))
                yield document.with_sentences(done) if isinstance(unit, Document) else done[0]

    def k_best(self, sentence: Sentence, k: int) -> list[tuple[float, list[Mention]]]:
        """Return the ``k`` most probable mention sets of a sentence with their exact probabilities, best first.

        Only for models with one distribution over sets, which those with a component for each label have not.
        Different structures that read as the same set are added up.
        """
        engine = self._fitted()
        check_count("k", k)
        (sentence,) = self._ready(as_documents([sentence]))
        return engine.k_best(sentence, k, self.threads)

    def score(self, corpus: Iterable[Sentence | Document], y: None = None) -> Report:
        """Find the mentions of annotated text and compare: ``score(dev).f1``."""
        gold: list[Any] = list(corpus)
        if self.target is not None:
            documents = as_documents(gold)
            found = self._learned(self.predict(documents))
            return evaluate(_sentences(self._learned(documents)), _sentences(found))
        return evaluate(gold, self.predict(gold))

    def set_threshold(self, threshold: float | Mapping[str, float]) -> Recognizer:
        """Take mentions that score above this from now on, one number or one by label; a lower one finds more.

        Only for models that score mentions one by one, which ``multilabel`` does.
        """
        model = self._fitted().model
        if not isinstance(model, Multilabel):
            raise ParameterError(f"the model {model.name!r} has no threshold; multilabel has one")
        model.set_threshold(threshold)
        return self

    # Keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, whole or not at all. It holds arrays and JSON, nothing that runs."""
        save_arrays(path, *self.state())

    def state(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Return what a file holds: arrays by name, and JSON."""
        engine = self._fitted()
        arrays, feature_header = engine.extractor.state()
        stored = {f"features.{name}": array for name, array in arrays.items()} | engine.arrays()
        arrays, annotators = self._pipeline.state()
        stored |= arrays
        header = {
            "model": {"name": engine.model.name, **engine.model.header()},
            "features": feature_header,
            "settings": {name: value for name, value in self.get_params().items() if name not in _NOT_STORED},
            "own_tokenizer": self.tokenizer is not None or self.splitter is not None,
            **annotators,
            "mention_penalty": self.mention_penalty_,
            # Without the clock: the same data, settings and seed give the same file.
            "training": {name: value for name, value in self.training_.items() if name != "seconds"},
        }
        return stored, header

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        threads: int | None = None,
        parser: Parser | str | None = None,
        tokenizer: Tokenizer | None = None,
        splitter: Splitter | None = None,
    ) -> Recognizer:
        """Open a model file.

        A recogniser that was trained with its own tokenizer needs it again to read raw text, and one that goes by trees
        needs a parser for sentences without.
        """
        try:
            return cls.from_state(
                *load_arrays(path), threads=threads, parser=parser, tokenizer=tokenizer, splitter=splitter
            )
        except ModelFileError as error:
            text = str(error)
            raise ModelFileError(text if text.startswith(str(path)) else f"{path}: {text}") from None

    @classmethod
    def from_state(
        cls,
        arrays: Mapping[str, npt.NDArray[Any]],
        header: Mapping[str, Any],
        *,
        threads: int | None = None,
        parser: Parser | str | None = None,
        tokenizer: Tokenizer | None = None,
        splitter: Splitter | None = None,
    ) -> Recognizer:
        """Make a recogniser from what ``state`` returned; see ``load``."""
        try:
            name = header["model"]["name"]
            known: dict[str, type[Model]] = {**KINDS, Tagger.name: Tagger}
            if name not in known:
                raise ModelFileError(f"the model is a {name!r}, which this version of spanloom does not have")
            engine = engine_of(known[name].from_header(header["model"]))
            extractor = FeatureExtractor.from_state(below(arrays, "features."), header["features"])
            engine.restore(Stored(extractor, arrays, header["model"]), threads)
            settings = {k: v for k, v in header["settings"].items() if k in cls._parameter_names()}
            settings["repairs"] = tuple(settings.get("repairs", ()))
            pipeline = Pipeline.from_state(arrays, header, open_model=cls.from_state)
            training = dict(header["training"])
            needs_tokenizer = bool(header["own_tokenizer"])
            mention_penalty = {str(k): float(v) for k, v in header.get("mention_penalty", {}).items()}
            curve = Curve.from_json(training["penalty_curve"]) if "penalty_curve" in training else None
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ModelFileError(f"the model file is incomplete or damaged: {error!r}") from None
        ner = cls(
            **settings,
            features=extractor.features,
            annotators=pipeline.annotators,
            threads=threads,
            parser=parser,
            tokenizer=tokenizer,
            splitter=splitter,
        )
        try:
            ner._install(engine, training, pipeline.with_parser(parser))
            ner.set_mention_penalty(mention_penalty)
        except ValueError as error:
            raise ModelFileError(f"the mention penalty does not fit the model: {error}") from None
        ner._needs_tokenizer = needs_tokenizer
        ner.penalty_curve_ = curve
        return ner

    # scikit-learn's manners

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings by name."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Recognizer:
        """Change settings; they count from the next ``fit`` on, a mention penalty or threshold in numbers at once."""
        names = self._parameter_names()
        for name, value in params.items():
            if name not in names:
                raise ParameterError(f"Recognizer has no parameter {name!r}; it has {', '.join(names)}")
            setattr(self, name, value)
            if hasattr(self, "_engine") and not isinstance(value, str):
                if name == "mention_penalty":
                    self.set_mention_penalty(value)
                elif name == "threshold":
                    self.set_threshold(value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(None, TargetTags(required=False), input_tags=InputTags(two_d_array=False, string=True))

    def __repr__(self) -> str:
        defaults = self._defaults()
        changed = {k: v for k, v in self.get_params().items() if v != defaults[k]}
        return f"Recognizer({', '.join(f'{k}={v!r}' for k, v in changed.items())})"

    # Inside

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        return {name: one.default for name, one in inspect.signature(cls.__init__).parameters.items() if name != "self"}

    def _check(self, with_dev: bool) -> None:
        check_choice("model", self.model, ("auto", *KINDS))
        if self.target is not None and self.model not in ("auto", "chain"):
            raise ParameterError(f"a target column is learned by a chain, not by the model {self.model!r}")
        kind = self._kind([])
        if issubclass(kind, Reduction) and not callable(self.base):
            check_choice("base", self.base, [name for name, one in MODELS.items() if one.flat])
            kind = MODELS[self.base]
        if self.model != "auto":
            self._check_taken(self._kind([]))
        check_choice("algorithm", self.algorithm, ("auto", *kind.algorithms))
        penalty.check_penalty(self.mention_penalty)
        if isinstance(self.mention_penalty, str) and not with_dev:
            raise ParameterError(f"mention_penalty={self.mention_penalty!r} is chosen on development data; pass dev=…")
        check_choice("support", self.support, ("all", "observed"))
        for name in self.repairs:
            check_choice("repairs", name, REPAIRS)
        check_choice("overlap", self.overlap, ("raise", *CHOICES))
        check_number("l1", self.l1, low=0)
        check_number("l2", self.l2, low=0)
        self._check_penalties()
        check_number("tol", self.tol, low=0)
        if self.max_iter is not None:
            check_count("max_iter", self.max_iter, low=1)
        check_count("seed", self.seed, low=0)
        if self.threads is not None:
            check_count("threads", self.threads, low=1)
        if self.patience is not None:
            check_count("patience", self.patience, low=1)

    def _check_penalties(self) -> None:
        """Raise for a penalty on weights that the way of learning does not have."""
        kind = self._kind([])
        algorithm, penalised = learning(kind, self.base, self.algorithm)
        defaults = self._defaults()
        for name in ("l1", "l2"):
            if not penalised and getattr(self, name) != defaults[name]:
                raise ParameterError(
                    f"{name}={getattr(self, name)} is a penalty of algorithm={' and '.join(map(repr, PENALISED))}; "
                    f"{algorithm!r}, by which {kind.name!r} would learn, has none. Leave it out."
                )

    def _make_model(self, sentences: Sequence[Sentence], features: FeatureSet) -> Model:
        """Make the model with those of the settings that it takes."""
        kind = self._kind(sentences)
        self._check_taken(kind)
        takes = inspect.signature(kind.__init__).parameters
        # A tagger of one's own may not like to be called from several threads.
        workers = 1 if callable(self.base) else self.threads or os.cpu_count() or 1
        given = {"make": partial(self._make_part, features), "own": features.uses_own(), "workers": workers}
        given |= self.get_params()
        return kind(**{name: value for name, value in given.items() if name in takes and name != "self"})

    def _check_taken(self, kind: type[Model]) -> None:
        check_taken(kind, self.base, self.get_params(), self._defaults())

    def _make_part(
        self,
        features: FeatureSet,
        scheme: str | None = None,
        templates: Sequence[str] = (),
        penalty: Mapping[str, float] | None = None,
        threads: int | None = None,
    ) -> FlatTagger:
        """Make a flat tagger for a reduction, with those of the settings that it takes."""
        if callable(self.base):
            return self.base()
        defaults, others = self._defaults(), model_settings() - own_settings(MODELS[self.base])
        changes: dict[str, Any] = {name: defaults[name] for name in others}
        changes |= {"model": self.base, "annotators": (), "parser": None, "repairs": ()}
        changes["features"] = features.plus(templates)
        if scheme is not None and "scheme" not in others:
            changes["scheme"] = scheme
        if penalty is not None:
            changes["mention_penalty"] = dict(penalty) or 0.0
        if threads is not None:
            changes["threads"] = threads
        return Recognizer(**(self.get_params() | changes))

    def _plain(self, features: FeatureSet, most: int, templates: Sequence[str]) -> Recognizer:
        """Make a recogniser like this one that has learned nothing: without annotators, at most so many iterations."""
        defaults = self._defaults()
        usual = ("clusters", "annotators", "parser", "mention_penalty", "patience", "repairs")
        changes = {name: defaults[name] for name in usual} | {"features": features.plus(templates)}
        made = Recognizer(**(self.get_params() | changes))
        made._most = most
        return made

    def _kind(self, sentences: Sequence[Sentence]) -> type[Model]:
        if self.target is not None:
            return Tagger
        if self.model == "auto":
            if self.overlap == "raise" and any(m.discontinuous for s in sentences for m in s.mentions):
                return MODELS["multilabel"]
            return MODELS["edge" if any(overlapping(s.mentions) for s in sentences) else "chain"]
        return KINDS[self.model]

    def _ceiling(self, model: Model, dev: Sequence[Sentence]) -> float:
        """The share of development mentions that the model, as it is now, could find."""
        return hold(model, dev, "longest" if self.overlap == "raise" else self.overlap).ceiling

    def _learned(self, documents: list[Document]) -> list[Document]:
        """What is to be learned, as mentions."""
        target = self.target
        if target is None:
            return documents
        return map_sentences(lambda all: [column_as_mentions(s, target, i) for i, s in enumerate(all)], documents)

    def _result(self, sentence: Sentence, found: list[Mention]) -> Sentence:
        if self.target is None:
            return sentence.with_mentions(found)
        return sentence.with_columns({self.target: [mention.label for mention in found]})

    def feature_set(self) -> FeatureSet:
        """Return the features that the settings ask for, with their tables; annotators may add more."""
        if self.clusters is None:
            return self._given_features({})
        return self._given_features({"brown": read_resource(self.clusters, "brown")}).with_clusters()

    def _given_features(self, tables: Mapping[str, Any]) -> FeatureSet:
        if isinstance(self.features, FeatureSet):
            return replace(self.features, resources={**self.features.resources, **tables})
        if not isinstance(self.features, str):
            return FeatureSet(list(self.features), resources=tables)
        if Path(self.features).suffix == ".toml":
            features = FeatureSet.from_toml(self.features)
            return replace(features, resources={**features.resources, **tables})
        return FeatureSet.named(self.features, tables)

    def _install(self, engine: Engine, training: dict[str, Any], pipeline: Pipeline | None = None) -> None:
        self._engine = engine
        self.training_ = training
        self._pipeline, self._parser = pipeline or Pipeline(), self.parser
        self.annotators_ = list(self._pipeline.annotators)
        self.labels_ = tuple(sorted(engine.labels))
        self.mention_penalty_ = {}
        self.penalty_curve_ = None
        self._needs_tokenizer = False

    def _fitted(self) -> Engine:
        try:
            return self._engine
        except AttributeError:
            raise NotFittedError(
                "this Recognizer has learned nothing yet; call fit, or Recognizer.load a model"
            ) from None

    def _document(self, text: str) -> Document:
        if self._needs_tokenizer and self.tokenizer is None and self.splitter is None:
            raise ParameterError(
                "this model was trained with its own tokenizer or splitter, which a model file cannot hold; "
                "give them to Recognizer.load(..., tokenizer=..., splitter=...), or pass tokenised sentences"
            )
        return make_document(text, "", self.tokenizer or tokenize, self.splitter or split_sentences)

    def _wanted(self, features: FeatureSet) -> list[str]:
        """The columns that features and model read; a parser that is given is used."""
        kind = self._kind([])
        if issubclass(kind, Reduction) and isinstance(self.base, str):
            kind = MODELS[self.base]
        return [*features.columns(), *kind.reads, *(() if self.parser is None else ("head", "deprel"))]

    def _ready(self, documents: list[Document]) -> list[Sentence]:
        """The sentences of documents with every column that the model reads."""
        if self.parser is not self._parser:
            self._pipeline, self._parser = self._pipeline.with_parser(self.parser), self.parser
        self._pipeline.use_threads(self.threads)
        wanted = self._wanted(self._fitted().extractor.features)
        return _sentences(self._pipeline.annotate(documents, wanted))


_NOT_STORED = frozenset({"features", "clusters", "annotators", "threads", "parser", "tokenizer", "splitter"})


def _sentences(documents: Iterable[Document]) -> list[Sentence]:
    return [sentence for document in documents for sentence in document.sentences]


def _last_of_each(history: Sequence[Iteration]) -> list[Iteration]:
    return list({record.component: record for record in history}.values())
