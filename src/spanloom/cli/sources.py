"""Where predictions come from: a corpus that some tool made, or a model that runs now."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from spanloom.base.counted import counted
from spanloom.bundled import model_path
from spanloom.cli.problems import show_unread

if TYPE_CHECKING:
    from spanloom.corpus import Document


ParserOption = Annotated[
    str | None,
    typer.Option(
        "--parser",
        help="Makes dependency trees where there are none: udpipe:MODEL or spacy:PIPELINE; ?cache=FOLDER keeps them.",
    ),
]


def is_model(source: str) -> bool:
    """Whether a source is a model file: by its name, or by how the file begins (a length, then JSON)."""
    path = model_path(source)
    if path.suffix == ".loom":
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        start = file.read(9)
    return len(start) == 9 and start[8:] == b"{" and int.from_bytes(start[:8], "little") < path.stat().st_size


def run_model(
    path: str,
    gold: Sequence[Document],
    threads: int | None = None,
    parser: str | None = None,
    *,
    probabilities: bool | None = False,
) -> tuple[list[Document], float]:
    """Return what a model finds in the gold documents, and the seconds that it took."""
    from spanloom.recognizer import Recognizer

    recognizer = Recognizer.load(path, threads=threads, annotators=[] if parser is None else [parser])
    start = time.perf_counter()
    found = recognizer.predict(gold, probabilities=probabilities)
    return found, time.perf_counter() - start


def gold_documents(ref: str) -> list[Document]:
    """Return the documents to score on; fails if there is nothing to score, and says what was left unread."""
    from spanloom.base.errors import CorpusError
    from spanloom.formats import read

    corpus = read(ref)
    documents = list(corpus)
    show_unread(corpus.report)
    if not any(doc.sentences for doc in documents):
        number = counted(len(documents), "document")
        raise CorpusError(f"{number} without any sentence; there is nothing to score on", ref)
    return documents


def predictions(
    source: str, gold: Sequence[Document], threads: int | None = None, parser: str | None = None
) -> list[Document]:
    """Return the predictions of a corpus, or of a model for the gold documents."""
    from spanloom.formats import read

    return run_model(source, gold, threads, parser)[0] if is_model(source) else list(read(source))
