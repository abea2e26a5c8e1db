"""Tables with a text in each row, as CSV or, if the name ends in ``.tsv``, separated by tabs.

``csv:abstracts.csv?text=title,abstract&id=pmid``: the first row has the names of the columns; those that are neither
text nor id become the document's meta. Every text is tokenised and split into sentences by our default.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

from spanloom.base.counted import counted
from spanloom.base.errors import ParameterError
from spanloom.corpus.document import Document
from spanloom.formats.checks import BadRecord
from spanloom.formats.lines import lines
from spanloom.formats.reference import bare
from spanloom.formats.report import Report
from spanloom.formats.tables import check_names, row_document

_LONGEST = 2**31 - 1  # characters of a field; the module's own limit is below that of many a full text
_OTHERS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
"""What may stand between fields, and its name."""


def read(
    path: str, report: Report, *, text: str = "text", id: str = "", separator: str = "", encoding: str = "utf-8"
) -> Iterator[Document]:
    """Yield a document of every row.

    Parameters
    ----------
    text
        The column of the text; several are joined by commas, and their texts by newlines.
    id
        The column of the id; by default ``id``, if there is one.
    separator
        What stands between fields: ``tab`` or one character; by default a comma, or a tab in ``.tsv``.
    encoding
        Of the file.
    """
    if separator not in ("", "tab") and len(separator) != 1:
        raise ParameterError(f"option separator={separator!r} must be tab or one character")
    csv.field_size_limit(_LONGEST)
    name = "standard input" if path == "-" else path
    between = separator or ("\t" if bare(path).lower().endswith(".tsv") else ",")
    rows = csv.reader(
        (f"{line}\n" for _, line in lines(path, report, encoding)),
        delimiter="\t" if between == "tab" else between,
        strict=True,
    )
    first = 1
    columns: list[str] | None = None
    try:
        for row in rows:
            where, first = f"{name}:{first}", rows.line_num + 1
            if not row:
                continue
            try:
                if columns is None:
                    columns = row
                    id = id or ("id" if "id" in columns else "")
                    wanted = [*text.split(","), *([id] if id else [])]
                    if not set(wanted) <= set(columns):
                        _check_separator(columns, report)
                    check_names(columns, wanted, report)
                    continue
                if len(row) != len(columns):
                    raise BadRecord(
                        f"{counted(len(row), 'field')}, but {len(columns)} in the first row: {', '.join(columns)}"
                    )
                yield row_document(dict(zip(columns, row, strict=True)), text, id, report)
            except BadRecord as error:
                report.broken(error.kind, where, str(error))
                if error.kind == "field":
                    return
    except csv.Error as error:
        report.broken("csv", f"{name}:{first}", f"{error}; nothing after it can be read")


def _check_separator(columns: list[str], report: Report) -> None:
    """Raise ``BadRecord`` with what to type if the name of the only column looks like several."""
    for mark, name in _OTHERS.items():
        if len(columns) == 1 and mark in columns[0]:
            typed = report.typed(separator="tab" if mark == "\t" else mark)
            raise BadRecord(
                f"there is one column only, {columns[0]!r}; are fields separated by {name}? Then read {typed}", "field"
            )
