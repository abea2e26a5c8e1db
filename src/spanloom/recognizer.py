"""Recognizer: the one class that most people use."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy.typing as npt

from spanloom.annotators import Annotator, Pipeline
from spanloom.base.errors import ModelFileError, NotFittedError, ParameterError
from spanloom.base.model_file import load_arrays, save_arrays
from spanloom.base.parameters import check_count
from spanloom.corpus import Document, Mention, Sentence, make_document
from spanloom.corpus.tokenizer import Splitter, Tokenizer, split_sentences, tokenize
from spanloom.decisions import penalty
from spanloom.decisions.best import Best
from spanloom.decisions.repairs import repair
from spanloom.evaluation import Report, evaluate
from spanloom.evaluation.calibration import Curve
from spanloom.explain import Explanation, explain, numbered
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.inference import Distribution
from spanloom.learning import Iteration, Listener, Trainer
from spanloom.models import Model, Trained
from spanloom.parameters import Parameters
from spanloom.stored import from_stored, to_stored
from spanloom.training import train

Input = str | Sentence | Document
BATCH = 1024
"""Documents or sentences that are tagged at once when a stream is tagged."""


class Recognizer(Parameters):
    """Learns to find mentions, and finds them.

    Parameters
    ----------
    model
        A model of ``spanloom.models`` or its name; or ``"auto"``: ``multilabel`` where training mentions are
        discontinuous (and ``keep`` does not say what to leave out), else ``edge`` where they overlap, else ``chain``.
    features
        What the model sees: the name of a set, a ``.toml`` file, a list of templates, or a ``FeatureSet``.
    clusters
        A ``paths`` file of Brown clusters, which templates look words up in as the resource ``brown``; if no template
        does so, ``cluster(word, brown, 4, 6, 10, 20)[-1..1]`` is added.
    annotators
        What makes columns that the data do not have: ``["pos.loom"]``, ``["udpipe:FILE"]``; see ``annotators``.
    trainer
        A trainer of ``spanloom.learning`` or its name; ``"auto"`` for the model's own.
    decide
        How an answer is made of what the model believes: ``"best"``, or ``Best(penalty=…)``.
    repairs
        What is done to found mentions, in this order: ``"parentheses"``, ``"abbreviations"``.
    keep
        Which training mentions stay where the model cannot hold all: ``"longest"``, ``"outermost"`` or ``"innermost"``;
        ``"raise"`` for an error.
    seed
        For everything random. The same data, settings and seed give the same model, for any number of threads.
    threads
        None for all cores.
    tokenizer, splitter
        For raw text: functions like ``spanloom.corpus.tokenize`` and ``spanloom.corpus.split_sentences``.

    Attributes
    ----------
    trained_
        The trained model.
    history_
        One ``Iteration`` per iteration of training.
    labels_
        The labels of the mentions that it finds.
    ceiling_, lost_
        The share of the training mentions that the model can hold and read back; the others: (sentence number,
        mention).
    training_
        Facts about the training.

    Examples
    --------
    >>> from spanloom import Mention, Sentence
    >>> from spanloom.learning import LBFGS
    >>> train = [Sentence(["the", w, "gene"], [Mention("DNA", ((1, 3),))]) for w in ("lacZ", "sonic", "p53")]
    >>> ner = Recognizer(trainer=LBFGS(max_iter=20)).fit(train)
    >>> ner.predict("The BRCA1 gene.").mentions
    [Mention(label='DNA', parts=((1, 3),), prob=None)]
    """

    def __init__(
        self,
        model: Model | str = "auto",
        *,
        features: str | Sequence[str] | FeatureSet = "default",
        clusters: str | os.PathLike[str] | None = None,
        annotators: Sequence[str | Annotator] = (),
        trainer: Trainer | str = "auto",
        decide: Best | str = "best",
        repairs: Sequence[str] = (),
        keep: str = "raise",
        seed: int = 1,
        threads: int | None = None,
        tokenizer: Tokenizer | None = None,
        splitter: Splitter | None = None,
    ) -> None:
        self.model = model
        self.features = features
        self.clusters = clusters
        self.annotators = annotators
        self.trainer = trainer
        self.decide = decide
        self.repairs = repairs
        self.keep = keep
        self.seed = seed
        self.threads = threads
        self.tokenizer = tokenizer
        self.splitter = splitter

    trained_: Trained
    pipeline_: Pipeline
    history_: list[Iteration]
    labels_: tuple[str, ...]
    ceiling_: float
    lost_: list[tuple[int, Mention]]
    training_: dict[str, Any]
    _needs_tokenizer: bool = False

    # Learning

    def fit(
        self,
        corpus: Iterable[Sentence | Document],
        y: None = None,
        *,
        dev: Iterable[Sentence | Document] | None = None,
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
            Development data: their F1 is in every record of ``history_``, and patience and choices go by it.
        listener
            Called with each ``Iteration`` as soon as it is done.

        Raises
        ------
        EncodingError
            If the model cannot hold the mentions and ``keep`` is ``"raise"``.
        KeyboardInterrupt
            If interrupted; when an iteration was done, the recogniser has the best weights so far and can be used.
        """
        done = train(self, corpus, dev, listener)
        self._install(done.fitted.trained, done.pipeline, done.facts)
        self.history_ = done.fitted.history
        self.ceiling_ = done.fitted.held.ceiling
        self.lost_ = done.fitted.held.lost + done.fitted.held.misread
        if done.fitted.interrupted is not None:
            raise done.fitted.interrupted
        return self

    def tune_mention_penalty(self, dev: Iterable[Sentence | Document], *, by_label: bool = False) -> Curve:
        """Use the mention penalty that gives the highest F1 on development data; ``by_label``: one for each label.

        Returns precision, recall and F1 at each value, the same for all labels.
        """
        trained = self._fitted()
        documents = [_document(item) for item in dev]
        sentences = trained.model.before([s for document in self._ready(documents) for s in document.sentences])
        curve = trained.tune_penalty(sentences, self.threads, by_label=by_label)
        self.training_["penalty_curve"] = curve.to_json()
        return curve

    def set_mention_penalty(self, value: float | Mapping[str, float] | str) -> Recognizer:
        """Use a mention penalty from now on: one number, or one for each label."""
        trained = self._fitted()
        penalty.check_penalty(value)
        if isinstance(value, str):
            raise ParameterError(f"a penalty is a number when tagging; {value!r} is chosen in training, with dev=…")
        trained.set_penalty(penalty.by_label(value, self.labels_))
        return self

    def set_threshold(self, threshold: float | Mapping[str, float]) -> Recognizer:
        """Take mentions that score above this from now on, one number or one by label; a lower one finds more.

        Only for models that score mentions one by one, which ``multilabel`` does.
        """
        self._fitted().set_threshold(threshold)
        return self

    model_ = property(lambda self: self._fitted().model, doc="The model, with what was chosen from the data.")
    parts_ = property(lambda self: self._fitted().parts, doc="The trained models that it is made of.")
    mention_penalty_ = property(lambda self: self._fitted().penalty, doc="The mention penalty in use, by label.")
    penalty_curve_ = property(lambda self: self._fitted().penalty_curve, doc="What penalties give on dev, if chosen.")

    @property
    def extractor_(self) -> FeatureExtractor:
        """The features that were learned."""
        return self._fitted().extractor

    # Finding

    def predict(self, corpus: Input | Iterable[Input]) -> Any:
        """Find the mentions of a text, a sentence, a document, or each of many.

        Returns a ``Document`` for a string, and otherwise what was given, with the found mentions instead of its own.
        """
        if isinstance(corpus, str | Sentence | Document):
            return next(self.stream([corpus]))
        return list(self.stream(corpus))

    def stream(
        self, corpus: Iterable[Input], batch: int = BATCH, conflicts: Counter[str] | None = None
    ) -> Iterator[Any]:
        """Like ``predict`` on many, but one result after the other: memory does not grow with the input.

        ``conflicts`` counts mentions of a reduction's parts that hardly go together: ``"crossing"``, ``"labels"``.
        """
        trained = self._fitted()
        items = iter(corpus)
        while units := list(islice(items, batch)):
            documents = [self._of_text(unit) if isinstance(unit, str) else _document(unit) for unit in units]
            ready = [s for document in self._ready(documents) for s in document.sentences]
            found = iter(trained.find(ready, self.threads, conflicts))
            for unit, document in zip(units, documents, strict=True):
                own = list(islice(found, len(document.sentences)))
                if self.repairs:
                    own = repair(document.sentences, own, self.repairs)
                done = [trained.model.after(s, m) for s, m in zip(document.sentences, own, strict=True)]
                yield done[0] if isinstance(unit, Sentence) else document.with_sentences(done)

    def distribution(self, sentence: Sentence) -> Distribution:
        """Return what the model believes of a sentence; a mention penalty is a decision, and does not count here."""
        trained = self._fitted()
        ((ready,),) = (document.sentences for document in self._ready([Document([sentence])]))
        return trained.distribution(ready)

    def distributions(self, document: Document) -> list[Distribution]:
        """Return what the model believes of each sentence of a document, all of which it may look at."""
        trained = self._fitted()
        return [trained.distribution(sentence) for sentence in self._ready([document])[0].sentences]

    def explain(
        self,
        where: Sentence | Document,
        mention: Mention,
        *,
        corpus: Iterable[Sentence | Document] | None = None,
    ) -> Explanation:
        """Say why a mention is found rather than the best answer without it, or why it is not.

        Parameters
        ----------
        where
            A sentence; or a document, whose tokens the mention then counts, if other sentences tell the model anything.
        mention
            Found or not.
        corpus
            The training data, to show which of its mentions speak most for this one. A model does not keep them.
        """
        trained = self._fitted()
        document = _document(where)
        shift = 0
        for number, sentence in enumerate(document.sentences):
            if mention.start < shift + len(sentence):
                ready = self._ready([document])[0].sentences[number]
                known = [_document(item) for item in corpus or ()]
                return explain(trained, ready, mention.shifted(-shift), numbered(self._ready(known)))
            shift += len(sentence)
        raise ParameterError(f"the mention {mention.label!r} {mention.parts} is beyond the last of {shift} tokens")

    def k_best(self, sentence: Sentence, k: int) -> list[tuple[float, list[Mention]]]:
        """Return the ``k`` most probable mention sets of a sentence with their probabilities, best first."""
        self._fitted()
        check_count("k", k)
        return self.distribution(sentence).k_best(k)

    def score(self, corpus: Iterable[Sentence | Document], y: None = None) -> Report:
        """Find the mentions of annotated text and compare: ``score(dev).f1``."""
        gold: list[Any] = list(corpus)
        found = self.predict(gold)
        return evaluate(*([self._compared(item) for item in some] for some in (gold, found)))

    def _compared(self, item: Sentence | Document) -> Sentence | Document:
        """What is scored: the mentions, or for a tagger its column."""
        before = self._fitted().model.before
        return before([item])[0] if isinstance(item, Sentence) else item.with_sentences(before(item.sentences))

    # Keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, whole or not at all. It holds arrays and JSON, nothing that runs."""
        save_arrays(path, *self.state())

    def state(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Return what a file holds: arrays by name, and JSON."""
        self._fitted()
        return to_stored(self)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **settings: Any) -> Recognizer:
        """Open a model file.

        ``threads``, ``tokenizer`` and ``splitter`` can be given. A recogniser that was trained with its own tokenizer
        needs it again to read raw text. ``annotators`` are run after those of the file, such as a parser.
        """
        try:
            return cls.from_state(*load_arrays(path), **settings)
        except ModelFileError as error:
            text = str(error)
            raise ModelFileError(text if text.startswith(str(path)) else f"{path}: {text}") from None

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any], **given: Any) -> Recognizer:
        """Make a recogniser from what ``state`` returned; see ``load``."""
        stored = from_stored(arrays, header, cls, given.pop("annotators", ()))
        ner = cls(**stored.settings, **given)
        ner._install(stored.trained, stored.pipeline, stored.training)
        ner._needs_tokenizer = stored.own_tokenizer
        return ner

    # Inside

    def _install(self, trained: Trained, pipeline: Pipeline, facts: dict[str, Any]) -> None:
        self.trained_, self.pipeline_, self.training_ = trained, pipeline, facts
        self.labels_ = tuple(sorted(trained.labels))
        self._needs_tokenizer = False

    def _fitted(self) -> Trained:
        try:
            return self.trained_
        except AttributeError:
            raise NotFittedError(
                "this Recognizer has learned nothing yet; call fit, or Recognizer.load a model"
            ) from None

    def _of_text(self, text: str) -> Document:
        if self._needs_tokenizer and self.tokenizer is None and self.splitter is None:
            raise ParameterError(
                "this model was trained with its own tokenizer or splitter, which a model file cannot hold; "
                "give them to Recognizer.load(..., tokenizer=..., splitter=...), or pass tokenised sentences"
            )
        return make_document(text, "", self.tokenizer or tokenize, self.splitter or split_sentences)

    def _ready(self, documents: Sequence[Document]) -> list[Document]:
        """The documents with everything that the model looks at."""
        trained = self._fitted()
        self.pipeline_.use_threads(self.threads)
        return self.pipeline_.annotate(documents, (*trained.extractor.features.columns(), *trained.model.requires))


def _document(item: Sentence | Document) -> Document:
    return item if isinstance(item, Document) else Document([item])
