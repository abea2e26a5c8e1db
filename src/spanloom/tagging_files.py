"""Files of text become files of JSON lines by the short way of ``spanloom.tagging``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from spanloom.base.errors import SpanloomError
from spanloom.corpus import Document
from spanloom.formats import Corpus, Reference, Report
from spanloom.formats.checks import encode
from spanloom.formats.compression import packing
from spanloom.formats.jsonl import to_dict
from spanloom.formats.lines import whole
from spanloom.formats.reading import raise_stopped, way_out
from spanloom.formats.shards import files_of
from spanloom.formats.writing import binary_target
from spanloom.recognizer import Recognizer
from spanloom.tagging import Plain, json_records, obstacle


def is_short(recognizer: Recognizer, corpora: Sequence[Corpus], target: Reference, *, probable: bool = False) -> bool:
    """Whether a recogniser can take the short way from these corpora to that target.

    With ``probable``, mentions are to have probabilities, and these must be exact: others are marked in documents.
    Corpora must be JSONL or text files without options; standard input by lines wants its answers at once, and goes
    another way. The target must be JSONL with ``chars=yes`` or ``fields=mentions``.
    """
    return (
        all(one.ref.format in ("jsonl", "text") and not one.ref.options for one in corpora)
        and not any(one.ref.format == "text" and one.ref.path == "-" for one in corpora)
        and target.format == "jsonl"
        and (target.options == {"chars": "yes"} or not has_documents(target))
        and obstacle(recognizer) is None
        and not (probable and recognizer.belief_ != "exact")
    )


def has_documents(target: Reference) -> bool:
    """Whether whole documents are written to a target, and not ids and mentions only."""
    return target.options.get("fields", "all") == "all"


def texts_of(corpora: Iterable[Corpus], report: Report) -> Iterator[Plain | Document]:
    """Yield the texts of corpora one after the other; errors are those of ``Corpus.stream``."""
    for corpus in corpora:
        report.ref = corpus.ref
        for path in files_of(corpus.ref):
            if corpus.ref.format == "text":
                report.cut += 1
                yield Plain(Path(path).name, whole(path, report=report))
            else:
                yield from json_records(path, report)
        if report.strict:
            report.raise_errors(way_out(report))


def k_best_lines(recognizer: Recognizer, docs: Iterable[Document], k: int, counts: Counter[str]) -> Iterator[bytes]:
    """Yield documents as lines of JSON, with the ``k`` most probable mention sets of each sentence in ``k_best``.

    ``k_best[sentence]`` is a list of ``{"prob": …, "mentions": [{"label": …, "parts": …}]}``, best first; parts are
    tokens of the document, as those of ``mentions``.
    """
    for doc in docs:
        record = to_dict(doc, chars=True)
        counts.update(documents=1, mentions=len(record["mentions"]))
        first, record["k_best"] = 0, []
        for sentence in doc.sentences:
            record["k_best"].append(
                [
                    {"prob": p, "mentions": [{"label": m.label, "parts": m.shifted(first).parts} for m in found]}
                    for p, found in recognizer.k_best(sentence, k)
                ]
            )
            first += len(sentence)
        yield encode(record, f"document {doc.id!r}").encode()


def write_lines(pieces: Iterable[bytes], target: Reference, counts: Counter[str]) -> Report:
    """Write JSON lines as ``formats.write`` does: whole, or what came before an error or Ctrl-C to ``PATH.partial``.

    Parameters
    ----------
    pieces
        Some lines each, or parts of a long one.
    counts
        How many ``"documents"`` and ``"mentions"`` the lines have that were taken so far as a whole.
    """
    report = Report(ref=target)

    def until_error() -> Iterator[bytes]:
        try:
            for piece in pieces:
                report.documents, report.mentions = counts["documents"], counts["mentions"]
                yield piece
        except (SpanloomError, KeyboardInterrupt) as error:
            if not report.documents:
                raise
            report.stopped = error

    if target.path == "-":
        for piece in until_error():
            sys.stdout.write(piece.decode())
        sys.stdout.flush()
    else:
        with binary_target(target.path, report) as raw, packing(target.path, raw) as out:
            for piece in until_error():
                out.write(piece)
    raise_stopped(report)
    return report
