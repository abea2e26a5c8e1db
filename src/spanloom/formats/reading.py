"""``read`` and ``write``: one way in and one way out for every format.

A format is a module of ``spanloom.formats`` with ``read(path, report, *, option=default, …)``, a generator of
documents, or ``write(docs, path, report, *, option=default, …)``, or both. It may have ``takes_folders = True``, if a
folder is one corpus rather than a folder of files to be read one after the other, ``finds_files = True``, if its paths
are not names of files, ``keeps_known = True``, if it holds ``Sentence.known``, ``keeps_probabilities = True``, if it
holds ``Mention.prob``, and ``check_target(path, **options)``, called before anything is written. Other packages add
formats by entry points of the group ``spanloom.formats`` that name such a module.
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from spanloom.base.errors import CorpusError, ParameterError, SpanloomError
from spanloom.base.files import check_place
from spanloom.base.plugins import FORMATS, load_plugin
from spanloom.corpus.document import Document, Sentence
from spanloom.formats.loss import Unwritten
from spanloom.formats.reference import EXTENSIONS, Reference
from spanloom.formats.report import Report
from spanloom.formats.shards import files_of


class Corpus:
    """Documents that are read when they are asked for, as often as they are asked for.

    Every iteration opens the source anew and streams, so that memory does not grow with the corpus;
    take ``list(corpus)`` to keep the documents. Mentions that could not be placed raise ``CorpusError`` at the end of
    the iteration, all counted and the first ten shown. There is no ``len``: ``list`` would call it and read twice.

    Attributes
    ----------
    ref
        Where the documents come from.
    report
        What the last iteration found: warnings after a good one, errors also after a failed one.
    """

    def __init__(self, ref: Reference, reader: Callable[[Report], Iterator[Document]]) -> None:
        self.ref = ref
        self.report = Report()
        self._reader = reader
        self._taken = False

    def __iter__(self) -> Iterator[Document]:
        return self.stream(Report())

    def stream(self, report: Report) -> Iterator[Document]:
        """Yield the documents, with what is wrong with them noted in ``report``; a strict report raises at the end."""
        if self._taken and self.ref.path == "-":
            raise CorpusError("standard input can be read only once, and this needs it again; save it to a file first")
        self._taken = True
        self.report = report
        report.ref = self.ref
        try:
            for number, doc in enumerate(self._reader(report), 1):
                _check_labels(doc, report, f"{self.ref.path} document {doc.id or number}")
                yield doc
        except CorpusError as error:
            if report.strict:
                raise
            report.error("unreadable", error.where or self.ref.path, error.what)
        if report.strict:
            report.raise_errors(way_out(report))

    def sentences(self) -> Iterator[Sentence]:
        """Yield the sentences of all documents."""
        for doc in self:
            yield from doc.sentences

    def __repr__(self) -> str:
        return f"Corpus({str(self.ref)!r})"


def read(ref: str | os.PathLike[str] | Reference, **options: Any) -> Corpus:
    """Open a corpus.

    Parameters
    ----------
    ref
        A path whose name tells the format, or ``format:path?option=value&…``; see ``docs/formats.md``.
    **options
        The format's options, added to those of the reference.

    Examples
    --------
    >>> import tempfile
    >>> from spanloom import Document, Mention, Sentence, read, write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write([Document([Sentence(["NF-kappa", "B"], [Mention("protein", ((0, 2),))])])], folder + "/a.jsonl")
    ...     [doc.mentions for doc in read(folder + "/a.jsonl")]
    [[Mention(label='protein', parts=((0, 2),), prob=None)]]
    """
    parsed = Reference.parse(ref)
    module = _module(parsed.format)
    function = getattr(module, "read", None)
    if function is None:
        raise ParameterError(f"format {parsed.format!r} can be written only, not read: {parsed}")
    settings = _options(function, parsed, options)
    paths = [parsed.path] if getattr(module, "finds_files", False) else files_of(parsed, takes_folders(parsed.format))
    given = Reference(parsed.format, parsed.path, settings)
    return Corpus(given, lambda report: (doc for path in paths for doc in function(path, report, **settings)))


def write(docs: Iterable[Document], ref: str | os.PathLike[str] | Reference, **options: Any) -> Report:
    """Write documents, whole or not at all.

    A mention that the format cannot hold raises ``CorpusError``, with the way out. What else the format has no place
    for (columns, probabilities, …) is counted in the report that comes back.

    Where the documents end with an error or Ctrl-C, those before it are kept in ``PATH.partial``, and the exception
    says so.

    Parameters
    ----------
    docs
        Documents; a generator is fine.
    ref
        A path whose name tells the format, or ``format:path?option=value&…``; see ``docs/formats.md``.
    **options
        The format's options, added to those of the reference.
    """
    parsed = Reference.parse(ref, "write")
    function = check_target(parsed, **options)
    settings = _options(function, parsed, options)
    report = Report(ref=Reference(parsed.format, parsed.path, settings))
    partial = Unwritten(parsed.format)
    function(_counted(docs, report, partial), parsed.path, report, **settings)
    if not getattr(_module(parsed.format), "keeps_known", False):
        partial.tell(report, parsed.path)
    raise_stopped(report)
    return report


def raise_stopped(report: Report) -> None:
    """Raise what ended the documents, if anything did, and say where those before it are."""
    if report.stopped is None:
        return
    n = report.documents
    documents, are = ("document", "is") if n == 1 else (f"{n:,} documents", "are")
    if isinstance(report.stopped, KeyboardInterrupt):
        kept = f"; the {documents} done before {are} in {report.partial}" if report.partial else ""
        report.stopped.args = (f"interrupted{kept}",)
    elif report.partial:
        if getattr(report.stopped, "at_end", False):
            kept = f"the {documents} that could be read, without what is wrong there, {are}"
        else:
            kept = f"the {documents} before it {are}"
        report.stopped.args = (f"{report.stopped}\n{kept} in {report.partial}",)
    raise report.stopped


def check_target(ref: Reference, **options: Any) -> Callable[..., None]:
    """Return the function that writes to a reference; raises if that cannot be done, before any work is lost."""
    function = writer(ref)
    settings = _options(function, ref, options)
    if ref.path != "-":
        check_place(ref.path, folder=takes_folders(ref.format))
        if check := getattr(_module(ref.format), "check_target", None):
            check(ref.path, **settings)
    return function


def takes_folders(format: str) -> bool:
    """Whether a folder is one corpus of a format, rather than a folder of its files."""
    return bool(getattr(_module(format), "takes_folders", False))


def keeps_probabilities(format: str) -> bool:
    """Whether a format holds the probabilities of mentions."""
    return bool(getattr(_module(format), "keeps_probabilities", False))


def _check_labels(doc: Document, report: Report, where: str) -> None:
    for k, sentence in enumerate(doc.sentences):
        for mention in sentence.mentions:
            if not mention.label:
                what = f"{mention.parts} {sentence.surface(mention)!r} has no label; give it one"
                report.error("label", f"{where}, sentence {k}", what)


def _counted(docs: Iterable[Document], report: Report, partial: Unwritten) -> Iterator[Document]:
    """Yield documents on and count them; what ends them early is kept, so that what came before can be written."""
    try:
        for doc in docs:
            report.mentions += sum(len(s.mentions) for s in doc.sentences)
            report.documents += 1
            for sentence in doc.sentences:
                partial.note("what is known of sentences that are annotated in part", sentence.known is not None)
            yield doc
    except (SpanloomError, KeyboardInterrupt) as error:
        if not report.documents:
            raise
        report.stopped = error


def writer(ref: Reference) -> Callable[..., None]:
    """Return the function that writes the format of a reference; raises ``ParameterError`` if there is none."""
    function: Callable[..., None] | None = getattr(_module(ref.format), "write", None)
    if function is None:
        raise ParameterError(f"format {ref.format!r} can be read only; write jsonl, which holds everything")
    return function


def _module(name: str) -> Any:
    if name in EXTENSIONS:
        return importlib.import_module(f"spanloom.formats.{name}")
    module = load_plugin(FORMATS, name)
    if not callable(getattr(module, "read", None)):
        raise ParameterError(
            f"format {name!r} is not one of spanloom, and no installed package has a module with read for it"
        )
    return module


def _options(function: Callable[..., Any], ref: Reference, more: dict[str, Any]) -> dict[str, str]:
    parameters = inspect.signature(function).parameters.values()
    allowed = [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    options = {**ref.options, **{name: str(value) for name, value in more.items() if value is not None}}
    for name in options:
        if name not in allowed:
            raise ParameterError(
                f"format {ref.format!r} has no option {name!r}; it has {', '.join(allowed) if allowed else 'none'}"
            )
    return options


def takes_option(ref: str | os.PathLike[str] | Reference, action: str, option: str) -> bool:
    """Whether the format of a reference has an option for ``read`` or ``write``."""
    function = getattr(_module(Reference.parse(ref, action).format), action, None)
    return function is not None and option in inspect.signature(function).parameters


def choice(name: str, value: str, allowed: Iterable[str]) -> str:
    """Return ``value`` if it is one of the allowed; raises ``ParameterError`` otherwise."""
    allowed = list(allowed)
    if value not in allowed:
        raise ParameterError(f"option {name}={value!r} must be one of {', '.join(filter(None, allowed))}")
    return value


def way_out(report: Report) -> str:
    """Say what helps against the problems of a report, if anything does."""
    if report.ref is None:
        return ""
    if report.counts["text-mismatch"]:
        return (
            "annotations that say another text than there is belong to another version of it: give the text that was "
            "annotated, or mend them in place"
        )
    if report.counts["over-break"] and takes_option(report.ref, "read", "sentences"):
        return f"read {report.typed(sentences='join')} to join the sentences that a mention runs over"
    if report.counts["misaligned"] and takes_option(report.ref, "read", "align"):
        return (
            f"read {report.typed(align='expand')} to let such mentions grow to whole tokens, align=contract to let "
            "them shrink, align=split to split the tokens"
        )
    return ""
