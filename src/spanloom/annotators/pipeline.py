"""Pipeline: the annotators of a recogniser, run one after the other over documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from spanloom.annotators.base import Annotator, Arrays, Fitting, OpenModel
from spanloom.annotators.chunks import ChunkColumns
from spanloom.annotators.document_columns import COLUMNS, DocumentColumn
from spanloom.annotators.phrases import PhraseColumns
from spanloom.annotators.references import annotator, parser, restore
from spanloom.annotators.tree_columns import ValidSizes
from spanloom.annotators.trees import Parser, Trees
from spanloom.annotators.word_shapes import WordShapes
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.corpus import Document

DERIVED: tuple[Annotator, ...] = (
    ChunkColumns(),
    PhraseColumns(),
    WordShapes(),
    ValidSizes(),
    *map(DocumentColumn, COLUMNS),
)
"""What follows from other columns; made where it is wanted, without being named."""


class Pipeline:
    """Annotators in order, and what makes further columns where they are wanted.

    Columns that sentences have already are left as they are. Trees (``head``, ``deprel``), columns of chunks, of noun
    phrases and of whole documents are made only where features or the model read them.

    Parameters
    ----------
    annotators
        They run in this order.
    parser
        Where trees come from; without it, from an annotator that can parse.

    Examples
    --------
    >>> from spanloom.corpus import Sentence
    >>> pipeline = Pipeline.of(["phrases"])
    >>> doc = Document([Sentence(["a", "gene"], columns={"pos": ["DT", "NN"]})])
    >>> (done,) = pipeline.annotate([doc], wanted=["word", "headword"])
    >>> done.sentences[0].columns["phrase"], done.sentences[0].columns["headword"]
    (['B', 'E'], ['gene', 'gene'])
    """

    def __init__(self, annotators: Iterable[Annotator] = (), parser: Trees | None = None) -> None:
        self.annotators = tuple(one for one in annotators if not isinstance(one, Trees))
        self.parser = parser
        trees = () if parser is None else (parser,)
        offered = (maker for one in self.annotators for maker in one.on_demand())
        self._makers: tuple[Annotator, ...] = (*trees, *offered, *DERIVED)

    @classmethod
    def of(
        cls, given: Iterable[str | Annotator | Parser], *, open_model: OpenModel | None = None, parser: Any = None
    ) -> Pipeline:
        """Make a pipeline of references and objects, see ``annotators.annotator``.

        Parameters
        ----------
        given
            Such as ``["udpipe:en.udpipe", "document"]``.
        open_model
            ``Recognizer.load``, for references such as ``pos.loom``.
        parser
            See ``with_parser``.
        """
        if isinstance(given, str):
            raise ParameterError(f"annotators are a list, e.g. [{given!r}]")
        made = [annotator(one, open_model) for one in given]
        _check_useful(made)
        own = next((one for one in made if isinstance(one, Trees)), None)
        return cls(made, own).with_parser(parser)

    def with_parser(self, given: str | Parser | Annotator | None) -> Pipeline:
        """Return a pipeline whose trees come from ``udpipe:FILE``, ``spacy:NAME`` or your parser; None: itself."""
        return self if given is None else Pipeline(self.annotators, parser(given))

    def plus(self, other: Pipeline) -> Pipeline:
        """Return a pipeline with the annotators of another one after its own; trees come from the other if it can."""
        _check_useful(other.annotators, {name: one for one in self.annotators for name in one.provides})
        offered = (maker for one in other.annotators for maker in one.on_demand() if isinstance(maker, Trees))
        return Pipeline((*self.annotators, *other.annotators), other.parser or next(offered, self.parser))

    @property
    def templates(self) -> tuple[str, ...]:
        """Features that the annotators add to those of the recogniser."""
        return tuple(dict.fromkeys(template for one in self.annotators for template in one.templates))

    def use_threads(self, threads: int | None) -> None:
        """Set the number of threads of the annotators' recognisers; None for all cores."""
        for one in self.annotators:
            one.use_threads(threads)

    def check(self, documents: Sequence[Document]) -> None:
        """Raise ``CorpusError`` if an annotator requires a column that neither the data nor earlier annotators have."""
        if not any(one.requires for one in self.annotators):
            return
        sentences = [sentence for document in documents for sentence in document.sentences]
        given = set.intersection(*(set(sentence.columns) for sentence in sentences)) if sentences else set()
        for one in self.annotators:
            made = {name for name in one.requires if self._can_make(name, given)}
            one.check_required(sentences, given | made)
            given |= {*one.provides, *made}

    def _can_make(self, name: str, given: set[str]) -> bool:
        return any(name in maker.provides and given.issuperset(maker.requires) for maker in self._makers)

    def fit(self, documents: Iterable[Document], fitting: Fitting) -> tuple[Pipeline, list[Document]]:
        """Let annotators learn from training documents.

        Returns
        -------
        pipeline, documents
            The pipeline to be used from now on, and the training documents with the columns of the annotators. What is
            learned from the documents themselves is made by cross-fitting.
        """
        done = list(documents)
        self.check(done)
        fitted: list[Annotator] = []
        templates: tuple[str, ...] = ()
        for one in self.annotators:
            done = self._prepared(one, done, fitting.wanted)
            made, done = one.fit(done, replace(fitting, templates=templates))
            fitted.append(made)
            templates += tuple(made.templates)
        return Pipeline(fitted, self.parser), done

    def annotate(self, documents: Iterable[Document], wanted: Sequence[str] = ()) -> list[Document]:
        """Return the documents with the columns of all annotators, and with those that are wanted and can be made.

        Parameters
        ----------
        documents
            For training, those that ``fit`` returned.
        wanted
            The columns that features and model read.
        """
        done = list(documents)
        self.check(done)
        for one in self.annotators:
            done = one.annotate(self._prepared(one, done, wanted))
        return self._with(done, wanted)

    def _prepared(self, one: Annotator, documents: list[Document], wanted: Sequence[str]) -> list[Document]:
        """The documents with what an annotator reads, as far as it is made on demand."""
        documents = self._with(documents, one.requires)
        return self._with(documents, wanted, strict=False) if one.asks else documents

    def _with(self, documents: list[Document], names: Sequence[str], strict: bool = True) -> list[Document]:
        """Make the columns that can be made and that a sentence lacks; if not strict, an error leaves one out."""
        for maker in self._makers:
            wanted = [name for name in maker.provides if name in names]
            if not wanted or not any(
                name not in s.columns for document in documents for s in document.sentences for name in wanted
            ):
                continue
            documents = self._with(documents, maker.requires, strict)
            try:
                documents = maker.annotate(documents)
            except CorpusError:
                if strict:
                    raise
        return documents

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """Return what a model file holds of the pipeline: arrays, and JSON under ``annotators``."""
        arrays: Arrays = {}
        kept = []
        for i, one in enumerate([*self.annotators, *(() if self.parser is None else (self.parser,))]):
            made, header = one.state()
            arrays |= {f"annotator.{i}.{name}": array for name, array in made.items()}
            kept.append({"kind": one.kind, "state": header})
        return arrays, {"annotators": kept}

    @classmethod
    def from_state(
        cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any], *, open_model: OpenModel | None = None
    ) -> Pipeline:
        """Undo ``state``; arrays and JSON may hold other things of the model file too.

        ``open_model`` is ``Recognizer.from_state``: called with arrays and JSON of a recogniser that an annotator asks.
        """
        made = []
        for i, one in enumerate(header.get("annotators", ())):
            prefix = f"annotator.{i}."
            own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
            made.append(restore(own, one, open_model))
        return cls(made, next((one for one in made if isinstance(one, Trees)), None))


def _check_useful(annotators: Iterable[Annotator], before: Mapping[str, Annotator] | None = None) -> None:
    """Raise ``ParameterError`` if nothing is left to an annotator, since columns that are there are left as they are.

    One that makes other columns too may follow: parts of speech of a model, and lemmas of UDPipe. ``before``: columns
    that are made already, and by what.
    """
    made = dict(before or {})
    for one in sorted(annotators, key=lambda one: not isinstance(one, Trees)):  # a parser comes before what offers one
        columns = [*one.provides, *(name for maker in one.on_demand() for name in maker.provides)]
        if columns and all(name in made for name in columns):
            what = f"column{'s' if len(columns) > 1 else ''} {' and '.join(columns)}"
            others = " and ".join(dict.fromkeys(made[name].kind for name in columns))
            lexicon = "give each lexicon a name of its own (the induced one is called train), or "
            raise ParameterError(
                f"the {what} would be made twice, by the annotators {others} and {one.kind}, and the second would be "
                f"dropped; {lexicon if columns[0].startswith('lexicon-') else ''}leave one of them out"
            )
        for name in columns:
            made.setdefault(name, one)
