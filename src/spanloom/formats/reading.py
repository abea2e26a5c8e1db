"""``read`` and ``write``: one way in and one way out for every format.

A format is a module of ``spanloom.formats`` with ``read(path, report, *, option=default, …)``, a generator of
documents, and, if it can be written, ``write(docs, path, report, *, option=default, …)``.
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from spanloom.base.errors import CorpusError, ParameterError
from spanloom.corpus.document import Document, Sentence
from spanloom.formats.reference import Reference
from spanloom.formats.report import Report


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
        yield from self._reader(report)
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
    function = module.read
    settings = _options(function, parsed, options)
    if parsed.path != "-" and not getattr(module, "finds_files", False) and not Path(parsed.path).exists():
        raise CorpusError(f"{parsed.path}: no such file or directory")
    return Corpus(parsed, lambda report: function(parsed.path, report, **settings))


def write(docs: Iterable[Document], ref: str | os.PathLike[str] | Reference, **options: Any) -> Report:
    """Write documents, whole or not at all.

    A mention that the format cannot hold raises ``CorpusError``, with the way out. What else the format has no place
    for (columns, probabilities, …) is counted in the report that comes back.

    Parameters
    ----------
    docs
        Documents; a generator is fine.
    ref
        A path whose name tells the format, or ``format:path?option=value&…``; see ``docs/formats.md``.
    **options
        The format's options, added to those of the reference.
    """
    parsed = Reference.parse(ref)
    function = writer(parsed)
    report = Report()
    function(docs, parsed.path, report, **_options(function, parsed, options))
    return report


def writer(ref: Reference) -> Callable[..., None]:
    """Return the function that writes the format of a reference; raises ``ParameterError`` if there is none."""
    function: Callable[..., None] | None = getattr(_module(ref.format), "write", None)
    if function is None:
        raise ParameterError(f"format {ref.format!r} can be read only; write jsonl, which holds everything")
    return function


def _module(name: str) -> Any:
    return importlib.import_module(f"spanloom.formats.{name}")


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
    function = getattr(_module(Reference.parse(ref).format), action, None)
    return function is not None and option in inspect.signature(function).parameters


def choice(name: str, value: str, allowed: Iterable[str]) -> str:
    """Return ``value`` if it is one of the allowed; raises ``ParameterError`` otherwise."""
    allowed = list(allowed)
    if value not in allowed:
        raise ParameterError(f"option {name}={value!r} must be one of {', '.join(filter(None, allowed))}")
    return value


def way_out(report: Report) -> str:
    """Say what helps against the problems of a report, if anything does."""
    if report.counts["misaligned"]:
        return "align=split, expand or contract places misaligned mentions"
    return ""
