"""Recognizer: the one class that most people use."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from spanloom.annotators import Annotator
from spanloom.base.errors import ParameterError
from spanloom.corpus import Document, Sentence
from spanloom.corpus.document import as_documents
from spanloom.corpus.tokenizer import Splitter, Tokenizer
from spanloom.decisions.decision import Decision
from spanloom.encoders import Encoder
from spanloom.evaluation import Evaluation, evaluate
from spanloom.features import FeatureSet
from spanloom.fitted import BATCH, Input
from spanloom.keeping import KeptRecognizer
from spanloom.learning import Listener, Trainer
from spanloom.models import Model, Trained
from spanloom.models.learner import ComponentLearner
from spanloom.training import train


class Recognizer(KeptRecognizer):
    """Learns to find mentions, and finds them.

    Parameters
    ----------
    model
        A model of ``spanloom.models`` or its name; or ``"auto"``: ``multilabel`` where training mentions are
        discontinuous (and ``keep`` does not say what to leave out), else ``state`` where they overlap, else ``chain``.
        Of fewer than 5,000 sentences labels of ``state`` share weights (``State(share=0.3)``), and if ``trainer`` is
        left open too, its L2 penalty is one for every 2,000 sentences, at least 0.1.
    features
        What the model sees: the name of a set, a ``.toml`` file, a list of templates, or a ``FeatureSet``.
    clusters
        A ``paths`` file of clusters (``spanloom cluster``, ``spanloom vectors``), or several, which get the same
        templates. Templates look words up in them as the resource ``brown``; if none does so,
        ``cluster(word, brown, 4, 6, 10, 20)[-1..1]`` is added.
    annotators
        What makes columns that the data do not have: ``["pos.loom"]``, ``["udpipe:FILE"]``; see ``annotators``.
    encoder
        A folder, or an installed package, with the weights of a network of the transformers library, whose scores are
        added to those of the features; or ``spanloom.encoders.Encoder(…)``. See ``docs/encoders.md``.
    trainer
        A trainer of ``spanloom.learning`` or its name; ``"auto"`` for the model's own.
    decide
        How an answer is made of what the model believes: ``"best"`` or ``Best(penalty=…)``; ``"f1"``,
        ``"precision=0.95"`` or ``"recall=0.9"`` by a threshold on the probability, chosen on ``dev`` or by
        cross-fitting; ``"auto"``: what is best on ``dev``. See ``decisions``.
    repairs
        What is done to found mentions, in this order: ``"parentheses"``, ``"abbreviations"``, ``"hyphens"``,
        ``"punctuation"``.
    keep
        Which training mentions stay where the model cannot hold all: ``"longest"``, ``"outermost"`` or ``"innermost"``;
        ``"raise"`` for an error.
    seed
        For everything random. The same data, settings and seed give the same model, for any number of threads.
    threads
        None for all cores.
    tokenizer, splitter
        For raw text. A name such as ``"space"`` or ``"default,hyphens"`` (``spanloom.corpus.TokenRules``); None or
        ``"auto"``: what reproduces the tokens of the training data best. Or functions like ``spanloom.corpus.tokenize``
        and ``spanloom.corpus.split_sentences``.

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
    token_rules_
        How raw text is cut.
    rule_
        The rule that the decision has come to: thresholds, or the best structure.
    training_
        Facts about the training.

    Examples
    --------
    >>> from spanloom import Mention, Sentence
    >>> from spanloom.learning import LBFGS
    >>> train = [Sentence(["The", w, "gene", "."], [Mention("DNA", ((1, 3),))]) for w in ("lacZ", "sonic", "p53")]
    >>> ner = Recognizer(trainer=LBFGS(max_iter=20)).fit(train)
    >>> ner.predict("The BRCA1 gene.").mentions
    [Mention(label='DNA', parts=((1, 3),), prob=0...)]
    """

    def __init__(
        self,
        model: Model | str = "auto",
        *,
        features: str | Sequence[str] | FeatureSet = "default",
        clusters: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
        annotators: Sequence[str | Annotator] = (),
        encoder: Encoder | str | os.PathLike[str] | None = None,
        trainer: Trainer | str = "auto",
        decide: Decision | str = "best",
        repairs: Sequence[str] = (),
        keep: str = "raise",
        seed: int = 1,
        threads: int | None = None,
        tokenizer: Tokenizer | str | None = None,
        splitter: Splitter | None = None,
    ) -> None:
        self.model = model
        self.features = features
        self.clusters = clusters
        self.annotators = annotators
        self.encoder = encoder
        self.trainer = trainer
        self.decide = decide
        self.repairs = repairs
        self.keep = keep
        self.seed = seed
        self.threads = threads
        self.tokenizer = tokenizer
        self.splitter = splitter

    # Learning

    def fit(
        self,
        corpus: Iterable[Sentence | Document],
        y: None = None,
        *,
        dev: Iterable[Sentence | Document] | None = None,
        listener: Listener | None = None,
        start: Recognizer | Trained | str | os.PathLike[str] | None = None,
        learner: Callable[..., ComponentLearner] | None = None,
    ) -> Recognizer:
        """Learn from annotated documents or sentences.

        Parameters
        ----------
        corpus
            E.g. ``read("train.jsonl")``.
        dev
            Development data: records of ``history_`` have their F1, and patience and choices go by it.
        listener
            Called with each ``Iteration`` as soon as it is done.
        start
            A recogniser, or its file, whose weights to start from: the same optimum, sooner. See ``models.warm``.

        learner
            Where gradients are worked out: ``spanloom.scale.dask_training.learner(client)`` on a cluster,
            ``spanloom.scale.out_of_core(…)`` with bounded memory; None: here.

        Raises
        ------
        EncodingError
            If the model cannot hold the mentions and ``keep`` is ``"raise"``.
        KeyboardInterrupt
            If interrupted; when an iteration was done, the recogniser has the best weights so far and can be used.
        """
        start = type(self).load(start) if isinstance(start, str | os.PathLike) else start
        done = train(self, corpus, dev, listener, self._start(start), learner)
        self._install(done.fitted.trained, done.pipeline, done.rule, done.facts, done.token_rules)
        self.history_ = done.fitted.history
        self.ceiling_ = done.fitted.held.ceiling
        self.lost_ = done.fitted.held.lost + done.fitted.held.misread
        if done.fitted.interrupted is not None:
            raise done.fitted.interrupted
        return self

    # Finding

    def predict(
        self, corpus: Input | Iterable[Input], *, probabilities: bool | None = None, above: float | None = None
    ) -> Any:
        """Find the mentions of a text, a sentence, a document, or each of many.

        Returns a ``Document`` for a string, and otherwise what was given, with the found mentions instead of its own.

        Parameters
        ----------
        probabilities
            Whether mentions get their ``prob``; see ``docs/probabilities.md`` for what it is in each model. Where it is
            not exact, ``Document.meta["probabilities"]`` says what it is. None: unless it is slow, as in ``layered``.
        above
            Every mention with at least this probability, whether or not the decision takes it.
        """
        if isinstance(corpus, str | Sentence | Document):
            return next(self.stream([corpus], probabilities=probabilities, above=above))
        if not isinstance(corpus, Iterable) or isinstance(corpus, Mapping | bytes):
            raise ParameterError(
                f"predict takes a text, a Sentence, a Document, or several of them, not {type(corpus).__name__}: "
                f"{corpus!r:.60}"
            )
        return list(self.stream(corpus, probabilities=probabilities, above=above))

    def stream(
        self,
        corpus: Iterable[Input],
        batch: int = BATCH,
        conflicts: Counter[str] | None = None,
        *,
        probabilities: bool | None = None,
        above: float | None = None,
    ) -> Iterator[Any]:
        """Like ``predict`` on many, but one result after the other: memory does not grow with the input.

        ``conflicts`` counts mentions of a reduction's parts that hardly go together: ``"crossing"``, ``"labels"``.
        """
        after = self._fitted().model.after
        rule, probable = self._rule_for(probabilities, above)
        belief = self.belief_ if probable else "exact"
        items = iter(corpus)
        while units := list(islice(items, batch)):
            documents = as_documents(self._of_text(unit) if isinstance(unit, str) else unit for unit in units)
            found = iter(self._answers(documents, rule, conflicts, probable))
            for unit, document in zip(units, documents, strict=True):
                if isinstance(unit, Sentence):
                    yield after(unit, next(found))
                    continue
                own = list(islice(found, len(document.sentences)))
                if belief != "exact":
                    document = replace(document, meta={**document.meta, "probabilities": belief})
                done = [after(s, m) for s, m in zip(document.sentences, own, strict=True)]
                yield document.with_sentences(done)

    def score(self, corpus: Iterable[Sentence | Document], y: None = None) -> Evaluation:
        """Find the mentions of annotated text and compare: ``score(dev).f1``."""
        gold: list[Any] = list(corpus)
        found = self.predict(gold, probabilities=False)
        return evaluate(*([self._compared(item) for item in some] for some in (gold, found)))
