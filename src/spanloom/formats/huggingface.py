"""Hugging Face ``datasets`` (``pip install 'spanloom[huggingface]'``): objects, or ``huggingface:FOLDER``.

Two shapes are understood: words with tags (``tokens`` and ``ner_tags``, the names of whose classes come from the
dataset's features), and rows that ``to_dataset`` made, which keep everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from spanloom.base.errors import CorpusError, ParameterError
from spanloom.base.extras import need
from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.mention import Mention
from spanloom.corpus.tags import from_tags
from spanloom.formats import jsonl, parquet
from spanloom.formats.checks import BadRecord
from spanloom.formats.report import Report

takes_folders = True


def read(
    path: str, report: Report, *, split: str = "", words: str = "tokens", tags: str = "ner_tags"
) -> Iterator[Document]:
    """Yield the documents of a dataset that was saved with ``save_to_disk``.

    Parameters
    ----------
    split
        Which split of several.
    words, tags
        Columns of words and tags.
    """
    datasets = need("datasets", "huggingface")
    try:
        found = datasets.load_from_disk(path)
    except Exception as error:  # the package lets through whatever its decoders raise
        raise CorpusError(f"not a saved dataset: {type(error).__name__}: {error}", f"{path}:1") from error
    if isinstance(found, dict):
        if split not in found:
            raise ParameterError(f"option split={split!r} must be one of {', '.join(found)}")
        found = found[split]
    yield from _rows(found, report, path, words, tags)


def from_dataset(dataset: Any, *, words: str = "tokens", tags: str = "ner_tags") -> Iterator[Document]:
    """Yield the documents of a ``datasets.Dataset``: words and tags in each row, or rows of ``to_dataset``."""
    report = Report()
    yield from _rows(dataset, report, "the dataset", words, tags)
    report.raise_errors()


def to_dataset(docs: Iterable[Document]) -> Any:
    """Return documents as a ``datasets.Dataset``, one row a document, in the columns of the Parquet format."""
    datasets = need("datasets", "huggingface")
    arrow = need("pyarrow", "parquet")
    table = arrow.Table.from_pylist([parquet.to_row(doc) for doc in docs], schema=parquet.arrow_schema())
    return datasets.Dataset(table)


def _rows(dataset: Any, report: Report, name: str, words: str, tags: str) -> Iterator[Document]:
    ours = {"mentions", "tokens"} <= set(dataset.column_names)
    if not ours and not {words, tags} <= set(dataset.column_names):
        raise ParameterError(f"{name} has the columns {', '.join(dataset.column_names)}; say words=… and tags=…")
    classes = None if ours else _classes(dataset.features[tags])
    for k, row in enumerate(dataset):
        where = f"{name}: row {k}"
        try:
            doc = (
                jsonl.parse(parquet.from_row(row), report, where)
                if ours
                else _tagged(row, words, tags, classes, report, where)
            )
        except BadRecord as error:
            report.broken(error.kind, where, str(error))
        else:
            yield doc


def _classes(feature: Any) -> list[str] | None:
    inner = getattr(feature, "feature", feature)
    return getattr(inner, "names", None)


def _tagged(
    row: dict[str, Any], words: str, tags: str, classes: list[str] | None, report: Report, where: str
) -> Document:
    names = [classes[tag] if classes and isinstance(tag, int) else str(tag) for tag in row[tags]]
    if len(names) != len(row[words]):
        raise BadRecord(f"{len(row[words])} words but {len(names)} tags")
    chunks = from_tags(names, "auto", lambda i, message: report.error("tags", where, f"word {i}: {message}"))
    columns = {
        key: [str(x) for x in value]
        for key, value in row.items()
        if key not in (words, tags) and isinstance(value, list) and len(value) == len(names)
    }
    mentions = [Mention(label, ((start, end),)) for label, start, end in chunks]
    return Document([Sentence([str(word) for word in row[words]], mentions, columns)], str(row.get("id", "")))
