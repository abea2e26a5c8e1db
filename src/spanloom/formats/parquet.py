"""Parquet through Arrow (``pip install 'spanloom[parquet]'``): one row a document, mentions as nested columns.

``id``, ``text``, ``tokens``, ``offsets``, ``sentences`` and ``mentions`` are Arrow lists and structs, which other
programs can query, mentions with their characters, text and probability; what has no fixed shape (columns, own
features, meta, attributes) is JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from spanloom.base.errors import CorpusError
from spanloom.base.extras import need
from spanloom.corpus.document import Document
from spanloom.formats import jsonl
from spanloom.formats.checks import BadRecord, decode
from spanloom.formats.report import Report
from spanloom.formats.tables import row_document
from spanloom.formats.writing import binary_target

keeps_known = True
keeps_probabilities = True

_JSON = ("columns", "features", "meta")
_ROWS = 1000


def read(path: str, report: Report, *, text: str = "", id: str = "") -> Iterator[Document]:
    """Yield the documents of a Parquet file that was written by ``write`` or has its columns, or of any other.

    Parameters
    ----------
    text, id
        For tables of any other shape: the columns of the text (several are joined by commas, and their texts by
        newlines) and of the id; all others become the document's meta.
    """
    parquet = need("pyarrow.parquet", "parquet")
    try:
        file = parquet.ParquetFile(path)
        ours = "tokens" in file.schema_arrow.names
        batches = file.iter_batches(batch_size=_ROWS)
        number = 0
        for batch in batches:
            for row in batch.to_pylist():
                number += 1
                where = f"{path}: row {number}"
                try:
                    if text or id or not ours:
                        doc = row_document({k: plain_value(v) for k, v in row.items()}, text or "text", id, report)
                    else:
                        doc = jsonl.parse(from_row(row), report, where)
                except BadRecord as error:
                    report.broken(error.kind, where, str(error))
                else:
                    yield doc
    except (need("pyarrow", "parquet").ArrowException, OSError, UnicodeDecodeError) as error:
        if getattr(error, "errno", None):  # of the system, not of what is in the file
            raise
        raise CorpusError(f"not Parquet: {error}", f"{path}:1") from error


def write(docs: Iterable[Document], path: str, report: Report) -> None:
    """Write documents; everything is kept."""
    arrow = need("pyarrow", "parquet")
    parquet = need("pyarrow.parquet", "parquet")
    schema = arrow_schema()
    with binary_target(path, report) as out, parquet.ParquetWriter(out, schema) as writer:
        rows: list[dict[str, Any]] = []
        for doc in docs:
            try:
                rows.append(to_row(doc))
            except (TypeError, ValueError) as error:
                raise CorpusError(f"document {doc.id!r} has a value that cannot be kept: {error}", path) from error
            if len(rows) == _ROWS:
                writer.write_table(arrow.Table.from_pylist(rows, schema=schema))
                rows = []
        writer.write_table(arrow.Table.from_pylist(rows, schema=schema))


def arrow_schema() -> Any:
    """Return the Arrow schema of a row."""
    arrow = need("pyarrow", "parquet")
    text, pair = arrow.string(), arrow.list_(arrow.int32())
    sentence = arrow.struct([("range", pair), ("chars", pair), ("meta", text), ("known", text)])
    mention = arrow.struct(
        [
            ("label", text),
            ("parts", arrow.list_(pair)),
            ("chars", arrow.list_(pair)),
            ("text", text),
            ("prob", arrow.float64()),
            ("attributes", text),
        ]
    )
    return arrow.schema(
        [
            ("id", text),
            ("text", text),
            ("tokens", arrow.list_(text)),
            ("offsets", arrow.list_(pair)),
            ("sentences", arrow.list_(sentence)),
            ("mentions", arrow.list_(mention)),
            *((name, text) for name in _JSON),
        ]
    )


def to_row(doc: Document) -> dict[str, Any]:
    """Return a document as a row of the schema."""
    record = jsonl.to_dict(doc, chars=True)
    row: dict[str, Any] = {**record, "text": doc.text, "offsets": doc.spans}
    row["sentences"] = [
        {**entry, **{name: _dump(entry[name]) for name in ("meta", "known") if name in entry}}
        if isinstance(entry, dict)
        else {"range": entry}
        for entry in record["sentences"]
    ]
    row["mentions"] = [
        {**entry, "attributes": _dump(entry["attributes"]) if "attributes" in entry else None}
        for entry in record["mentions"]
    ]
    return {**row, **{name: _dump(record[name]) for name in _JSON if name in record}}


def from_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as the object that a line of our JSONL holds."""
    record = {key: value for key, value in row.items() if value is not None}
    for name in _JSON:
        if isinstance(record.get(name), str):
            record[name] = decode(record[name])
    for name, text in (("sentences", "meta"), ("sentences", "known"), ("mentions", "attributes")):
        if isinstance(record.get(name), list):
            record[name] = [_open(entry, text) for entry in record[name]]
    return record


def plain_value(value: Any) -> Any:
    """A value as JSON can hold it: dates and the like as they are written."""
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _open(entry: Any, name: str) -> Any:
    if not isinstance(entry, dict):
        return entry
    kept = {key: value for key, value in entry.items() if value is not None}
    if isinstance(kept.get(name), str):
        kept[name] = decode(kept[name])
    return kept


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
