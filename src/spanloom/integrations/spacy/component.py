"""The spaCy component: finds mentions with a recogniser, and trains one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spanloom.base.errors import NotFittedError, ParameterError
from spanloom.base.extras import need
from spanloom.configuration import configure
from spanloom.corpus import Document
from spanloom.formats.spacy_docs import COLUMNS, KEY, check_ents, document_of, kept_tokens, placed
from spanloom.integrations.spacy.by_characters import found_by_characters, native_by_characters
from spanloom.integrations.spacy.examples import GOLD, documents_of, logger, warn_lost
from spanloom.integrations.spacy.reading import DocReader, Rows
from spanloom.integrations.spacy.writing import Found, Writing
from spanloom.recognizer import Recognizer
from spanloom.tagging import TextTagger, obstacle

_Pipe: Any = need("spacy.pipeline", "spacy").Pipe
TOKENS = ("pipeline", "model")
FILE = "model.loom"
TOKENS_AT_ONCE = 1 << 18


class SpanloomPipe(_Pipe):  # type: ignore[misc]
    """Finds mentions in docs; made by ``nlp.add_pipe("spanloom", config={…})``.

    Parameters
    ----------
    vocab, name
        Those of the pipeline.
    model
        A model file; opened when it is first needed. Without one, the component learns from the examples that the
        pipeline is initialised with.
    settings
        Of the recogniser that is trained, by short names: ``{"model": "edge", "max_iter": 50}``, see
        ``spanloom.configuration``.
    spans_key
        The group of spans that mentions are written to, and learned from.
    ents
        When mentions are also written to ``doc.ents``, see ``formats.spacy_docs.set_mentions``.
    scores
        Whether ``doc.spans[key].attrs["scores"]`` gets the probabilities of the mentions; that takes longer.
    tokens
        ``"pipeline"``: the model sees the tokens of the pipeline. ``"model"``: it cuts texts itself, as in its
        training, and mentions reach to the ends of the pipeline's tokens that they touch. Tags and trees need
        ``"pipeline"``.
    columns
        Further attributes of tokens that features read: ``{"chunk": "_.chunk"}``. ``pos``, ``upos``, ``lemma``,
        ``head`` and ``deprel`` are read anyway.
    gold
        Where examples have their mentions: ``"spans"``, ``"ents"``, or ``"auto"``: in the group where a doc has it,
        else in the entities.
    threads
        None for all cores.
    scorer
        Called with examples by ``nlp.evaluate``.
    """

    model = None  # no network that spaCy's optimiser could train

    def __init__(
        self,
        vocab: Any,
        name: str = "spanloom",
        *,
        model: str | None = None,
        settings: Mapping[str, Any] | None = None,
        spans_key: str = KEY,
        ents: str = "flat",
        scores: bool = True,
        tokens: str = "pipeline",
        columns: Mapping[str, str] | None = None,
        gold: str = "auto",
        threads: int | None = None,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        check_ents(ents)
        if tokens not in TOKENS:
            raise ParameterError(f"tokens must be one of {', '.join(TOKENS)}, got {tokens!r}")
        if gold not in GOLD:
            raise ParameterError(f"gold must be one of {', '.join(GOLD)}, got {gold!r}")
        configure({**(settings or {}), "threads": threads})  # a setting that is not known is said now
        self.vocab, self.name = vocab, name
        self.path, self.settings, self.spans_key, self.ents = model, dict(settings or {}), spans_key, ents
        self.scores, self.tokens, self.gold, self.threads, self.scorer = scores, tokens, gold, threads, scorer
        self.columns = {**COLUMNS, **(columns or {})}
        self._ner: Recognizer | None = None
        self._tagger: TextTagger | None = None
        self._reader = DocReader()
        self._known: dict[Any, Document] = {}
        self._new = False
        self._loss = 0.0

    # What it is

    @property
    def recognizer(self) -> Recognizer:
        """The recogniser at work: that of the file, or the one that was trained."""
        if self._new:
            self._fit()
        if self._ner is None and self.path is not None:
            self._open(self.path)
        if self._ner is None:
            raise NotFittedError(
                f"the component {self.name!r} has neither a model nor learned one; give it a model file, "
                f'nlp.add_pipe("spanloom", config={{"model": "FILE.loom"}}), or call nlp.initialize with examples'
            )
        return self._ner

    def use(self, recognizer: Recognizer) -> None:
        """Work with a recogniser that is trained already, instead of that of a file."""
        if recognizer.makes is not None:
            raise ParameterError(
                f"the recogniser of the component {self.name!r} tags the column {recognizer.makes!r}, and finds no "
                "mentions; give the component another model"
            )
        self._ner, self._new = recognizer, False
        self._tagger = None if obstacle(recognizer) is not None else TextTagger(recognizer, recognizer.threads)

    def _open(self, path: str | Path) -> None:
        try:
            self.use(Recognizer.load(path, threads=self.threads))
        except OSError as error:
            raise ParameterError(f"the component {self.name!r} cannot open its model: {error}") from error

    @property
    def is_trainable(self) -> bool:
        """Whether it learns; not if it was given a model."""
        return self.path is None

    @property
    def labels(self) -> tuple[str, ...]:
        """What it finds; nothing as long as there is no model."""
        # spaCy asks while it opens a pipeline, before the model is there; the file may be on another machine.
        absent = self._ner is None and (self.path is None or not Path(self.path).exists())
        return () if absent else self.recognizer.labels_

    # Finding

    def __call__(self, doc: Any) -> Any:
        """Find the mentions of a doc."""
        try:
            self.set_annotations([doc], self.predict([doc]))
        except Exception as error:
            self.get_error_handler()(self.name, self, [doc], error)
        return doc

    def pipe(self, stream: Iterable[Any], *, batch_size: int = 1000) -> Iterator[Any]:
        """Find the mentions of docs, a batch at a time."""
        for docs, rows in self._batches(stream, batch_size):
            try:
                writing = Writing(docs, self.predict(docs, rows), self.spans_key, self.ents)
            except Exception as error:
                self.get_error_handler()(self.name, self, docs, error)
                continue
            # Each is written to just before it goes on, and not kept: a doc that nobody needs makes room for another.
            for number in range(len(docs)):
                doc, docs[number] = docs[number], None
                try:
                    writing.to(doc, number)
                except Exception as error:
                    self.get_error_handler()(self.name, self, [doc], error)
                else:
                    yield doc

    def predict(self, docs: Sequence[Any], rows: Sequence[Rows] | None = None) -> Found:
        """Return what is found in docs, which stay as they are.

        Parameters
        ----------
        docs
            Of the pipeline.
        rows
            ``DocReader.rows`` of each, if they have been read already.
        """
        ner = self.recognizer
        tagger = self._tagger
        if self.tokens == "model":
            if tagger is None:
                return found_by_characters(docs, ner, self.scores)
            return native_by_characters(docs, tagger, self.scores)
        if tagger is not None:
            batch = self._reader.batch(docs, [self._reader.rows(doc) for doc in docs] if rows is None else rows)
            return Found.native(batch, tagger.tag(batch.texts, probabilities=self.scores))
        documents = [document_of(doc, (), self.columns) for doc in docs]
        done = ner.predict(documents, probabilities=self.scores)
        mentions = []
        for doc, one in zip(docs, done, strict=True):
            place = kept_tokens(doc).tolist()
            mentions.append([placed(m, place) for m in one.mentions])
        return Found.of(mentions, self.scores)

    def _batches(self, stream: Iterable[Any], most: int) -> Iterator[tuple[list[Any], list[Rows] | None]]:
        """Some docs at a time, each read as it comes, while it is in the processor's cache."""
        docs: list[Any] = []
        rows: list[Rows] = []
        tokens = 0
        for doc in stream:
            try:
                # Those who cut the text anew, or tag by way of objects, need no rows.
                if self.tokens != "model" and self.recognizer and self._tagger is not None:
                    rows.append(self._reader.rows(doc))
            except Exception as error:
                self.get_error_handler()(self.name, self, [doc], error)
                continue
            docs.append(doc)
            tokens += len(doc)
            if len(docs) >= most or tokens >= TOKENS_AT_ONCE:
                yield docs, rows or None
                docs, rows, tokens = [], [], 0
        if docs:
            yield docs, rows or None

    def set_annotations(self, docs: Sequence[Any], found: Found) -> None:
        """Write what was found to the docs."""
        writing = Writing(docs, found, self.spans_key, self.ents)
        for number, doc in enumerate(docs):
            writing.to(doc, number)

    # Learning

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Any]],
        *,
        nlp: Any = None,
        annotate: list[str] | None = None,
    ) -> None:
        """Learn from all examples; with a model file, open it.

        Parameters
        ----------
        get_examples
            Gives the training corpus.
        nlp
            The pipeline.
        annotate
            Components whose tags, trees or sentences the model is to see, as it will when it is used. Without it, those
            of ``[training] annotating_components`` before this one that are frozen or need no training.
        """
        if self.path is not None:
            self._open(self.path)
            return
        examples = list(get_examples())
        self._run(_annotating(nlp, self.name) if annotate is None else annotate, nlp, examples)
        self._known = {}
        self._take(examples)
        if not self._known:
            raise ParameterError(f"the component {self.name!r} was initialised without examples; it learns from them")
        self._fit()

    def update(
        self,
        examples: Iterable[Any],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Take note of examples that ``initialize`` has not seen; the model is trained anew when it is next asked.

        The loss is the objective that the last training came to, told once.
        """
        losses = {} if losses is None else losses
        losses[self.name] = losses.get(self.name, 0.0) + self._loss
        self._loss = 0.0
        if self.path is None:
            self._take(list(examples))
        return losses

    def finish_update(self, sgd: Any) -> None:
        """Nothing: the weights are not those of a network."""

    def _take(self, examples: Sequence[Any]) -> None:
        documents, lost = documents_of(examples, self.spans_key, self.gold, self.columns)
        warn_lost(self.name, lost, documents)
        for document in documents:
            key = (tuple(document.tokens), tuple(sorted(document.mentions)))
            if len(document) and key not in self._known:
                self._known[key] = document
                self._new = True

    def _fit(self) -> None:
        self._new = False
        ner = configure({**self.settings, "threads": self.threads})
        ner.fit(list(self._known.values()))
        self.use(ner)
        self._loss = float(ner.history_[-1].objective) if ner.history_ else 0.0
        logger.info("[%s] trained on %d docs: %s", self.name, len(self._known), ", ".join(ner.labels_))

    def _run(self, names: Sequence[str], nlp: Any, examples: Sequence[Any]) -> None:
        for name in names:
            proc = nlp.get_pipe(name)
            for example in examples:
                example.predicted = proc(example.predicted)

    # Keeping

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into a folder; the configuration is that of the pipeline."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        if self.path is not None or self._ner is not None:
            self.recognizer.save(folder / FILE)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> SpanloomPipe:
        """Open what ``to_disk`` wrote; it comes before the model file of the configuration."""
        file = Path(path) / FILE
        if file.is_file():
            self._open(file)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the model as bytes."""
        return b"" if self.path is None and self._ner is None else self.recognizer.to_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> SpanloomPipe:
        """Open what ``to_bytes`` returned."""
        if data:
            self.use(Recognizer.from_bytes(data, threads=self.threads))
        return self

    def __reduce__(self) -> Any:
        """Pickle through the model's bytes, for processes that are spawned."""
        names = ("settings", "spans_key", "ents", "scores", "tokens", "columns", "gold", "threads", "scorer")
        given = {"model": self.path, **{name: getattr(self, name) for name in names}}
        return _unpickled, (self.vocab, self.name, given, self.to_bytes())


def _unpickled(vocab: Any, name: str, given: dict[str, Any], data: bytes) -> SpanloomPipe:
    return SpanloomPipe(vocab, name, **given).from_bytes(data)


def _annotating(nlp: Any, own: str) -> list[str]:
    """The annotating components before this one whose annotation is what it will be later."""
    if nlp is None:
        return []
    training = nlp.config.get("training", {})
    before = nlp.component_names[: nlp.component_names.index(own)] if own in nlp.component_names else []
    found = []
    for name in training.get("annotating_components", []):
        if name not in before:
            continue
        if name in training.get("frozen_components", []) or not getattr(nlp.get_pipe(name), "is_trainable", False):
            found.append(name)
        else:
            logger.warning(
                "[%s] the component %r is trained in the same run, so that nothing can be learned from what it "
                "annotates; gold annotation is used where examples have it. Train it first, source and freeze it.",
                own,
                name,
            )
    return found
