"""Mentions of a column of texts as a tidy frame, one row a mention: pandas, Polars and Arrow; and in DuckDB.

A frame of the kind that came in goes out. On the native path the bytes of an Arrow column are read where they are, and
the answer is made of arrays: there is no Python object for a text, a token or a mention.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from spanloom._native import TokenizedTexts
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.base.extras import need
from spanloom.recognizer import Recognizer
from spanloom.scale.arrow import ColumnTagger
from spanloom.scale.loading import model as opened
from spanloom.tagging import BATCH_CHARACTERS, TaggedBatch, TextTagger, obstacle

OURS = ("row", "label", "start", "end", "text", "prob", "chars")
"""The columns of the tidy frame; ``keep`` comes after ``row``."""


def tag(
    frame: Any,
    model: str | os.PathLike[str] | Recognizer,
    *,
    text: str = "text",
    keep: str | Sequence[str] = (),
    probabilities: bool = False,
    above: float | None = None,
    threads: int | None = None,
) -> Any:
    """Find the mentions of a column of texts.

    Parameters
    ----------
    frame
        A pandas or Polars ``DataFrame``, an Arrow ``Table`` or ``RecordBatch``, or what has Arrow's stream interface,
        such as a table of DuckDB. A text may be null.
    model
        A model file, which is opened once, or a recogniser.
    text
        The column of the texts.
    keep
        A column that goes along, such as an id, or several; their names must be none of the following.
    probabilities, above
        As in ``Recognizer.predict``.
    threads
        For a model file; None for all cores.

    Returns
    -------
    frame
        Of the same kind (an Arrow ``Table`` for streams), one row a mention: ``row`` (the number of the text's row,
        from 0), the columns of ``keep``, ``label``, ``start`` and ``end`` (characters, half-open), ``text`` as written,
        ``prob`` (null if it was not asked for), and ``chars``: the range of each part, several for a discontinuous
        mention.
    """
    arrow = need("pyarrow", "frames")
    table, back = _table(frame)
    keep = [keep] if isinstance(keep, str) else list(keep)
    known = ", ".join(map(str, table.column_names)) or "none"
    for name in (text, *keep):
        if name not in table.column_names:
            way = "Say text=… for that of the texts" if name == text else "keep=… names columns that go along"
            raise ParameterError(f"the frame has no column {name!r}; there are {known}. {way}")
    taken = [name for name in keep if name in OURS]
    if taken:
        raise ParameterError(f"a column of keep has a name that the result has: {', '.join(taken)}; rename it first")
    ner = model if isinstance(model, Recognizer) else opened(model, threads)
    pieces = []
    first = 0
    for column in _pieces(table.column(text), text):
        pieces.append(_tagged(column, ner, first, probabilities, above))
        first += len(column)
    found = (
        arrow.concat_tables(pieces) if pieces else _tagged(arrow.array([], arrow.large_string()), ner, 0, False, None)
    )
    for place, name in enumerate(keep, 1):
        found = found.add_column(place, name, table.column(name).take(found.column("row")))
    return back(found)


def connect_duckdb(
    connection: Any, model: str | os.PathLike[str] | Recognizer, name: str = "mentions", *, threads: int | None = None
) -> None:
    """Add two functions to a DuckDB connection: ``mentions`` for a text, ``mentions_in`` for a table.

    ``SELECT id, unnest(mentions(abstract), max_depth := 2) FROM papers``; ``FROM mentions_in('papers', 'abstract')``.

    Parameters
    ----------
    connection
        Of the package ``duckdb``, version 1.1 or newer.
    model
        A model file or a recogniser.
    name
        Of the function. It takes a text and returns a list of structs: ``label``, ``start_char``, ``end_char``,
        ``text``, ``prob``. DuckDB calls it with vectors of texts, which go through Arrow. Its name with ``_in`` behind
        it is that of a table macro: it takes the names of a table and of its column of texts, and returns a row for
        each mention, with the columns of the table before those of the struct. Both are gone with the connection.
    """
    arrow = need("pyarrow", "frames")
    ner = model if isinstance(model, Recognizer) else opened(model, threads)
    struct = "STRUCT(label VARCHAR, start_char INTEGER, end_char INTEGER, text VARCHAR, prob DOUBLE)[]"

    def mentions(texts: Any) -> Any:
        column = texts.combine_chunks() if isinstance(texts, arrow.ChunkedArray) else texts
        found = _tagged(column.cast(arrow.large_string()), ner, 0, True, None)
        fields = [found.column(name).combine_chunks() for name in ("label", "start", "end", "text", "prob")]
        names = ["label", "start_char", "end_char", "text", "prob"]
        counts = np.bincount(found.column("row").to_numpy(), minlength=len(column))
        bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        return arrow.ListArray.from_arrays(arrow.array(bounds), arrow.StructArray.from_arrays(fields, names))

    connection.create_function(name, mentions, ["VARCHAR"], struct, type="arrow", null_handling="special")
    # DuckDB has no table functions in Python; a macro over the scalar one is called like one.
    one, many = (f'"{written}"' for written in (name.replace('"', '""'), f"{name}_in".replace('"', '""')))
    connection.execute(
        f"CREATE OR REPLACE TEMP MACRO {many}(source, column_of_texts) AS TABLE "
        f"SELECT given.*, unnest({one}(struct_extract(given, column_of_texts)), max_depth := 2) "
        "FROM (FROM query_table(source)) AS given"
    )


def _table(frame: Any) -> tuple[Any, Any]:
    """An Arrow table of any frame, and the way back to its kind."""
    arrow = need("pyarrow", "frames")
    if isinstance(frame, arrow.Table):
        return frame, lambda table: table
    if isinstance(frame, arrow.RecordBatch):
        return arrow.Table.from_batches([frame]), lambda table: table
    kind = type(frame).__module__.partition(".")[0]
    if kind in ("pandas", "polars") and type(frame).__name__ in ("LazyFrame", "Series"):
        way = "collect() it" if type(frame).__name__ == "LazyFrame" else "make one of it with to_frame()"
        raise ParameterError(f"a DataFrame is needed, not {kind} {type(frame).__name__}; {way} first")
    if kind == "pandas":
        return arrow.Table.from_pandas(frame, preserve_index=False), lambda table: table.to_pandas()
    if kind == "polars":
        polars = need("polars", "frames")
        return frame.to_arrow(), polars.from_arrow
    if hasattr(frame, "__arrow_c_stream__"):
        return arrow.table(frame), lambda table: table
    raise ParameterError(f"a pandas or Polars DataFrame or an Arrow table is needed, not {type(frame).__name__}")


def _pieces(column: Any, name: str) -> Iterator[Any]:
    """The texts of a column, about as many characters at a time as the native core takes."""
    arrow = need("pyarrow", "frames")
    kinds = arrow.types
    if kinds.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    is_text = kinds.is_string(column.type) or kinds.is_large_string(column.type) or kinds.is_null(column.type)
    if not is_text and not str(column.type) == "string_view":
        raise ParameterError(f"the column {name!r} must be of texts; it is of {column.type}")
    for chunk in column.chunks:
        texts = chunk if kinds.is_large_string(chunk.type) else chunk.cast(arrow.large_string())
        offsets = _offsets(texts)
        first = 0
        while first < len(texts):
            last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + BATCH_CHARACTERS, side="right")) - 1)
            yield texts.slice(first, last - first)
            first = last


def _offsets(texts: Any) -> Any:
    """Where each text of an array of large strings begins in its buffer, and where the last one ends."""
    buffer = texts.buffers()[1]
    if buffer is None:
        return np.zeros(len(texts) + 1, np.int64)
    return np.frombuffer(buffer, np.int64)[texts.offset : texts.offset + len(texts) + 1]


def _tagged(texts: Any, ner: Recognizer, first: int, probabilities: bool, above: float | None) -> Any:
    """The tidy table of some texts, whose rows are numbered from ``first`` on."""
    probable = probabilities or above is not None
    if obstacle(ner) is None and not (probable and ner.belief_ != "exact"):
        data = texts.buffers()[2]
        bytes_ = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
        try:
            cut = TokenizedTexts.of_utf8(bytes_, _offsets(texts), ner.threads or 0, ner.token_rules_.native)
        except ValueError as error:
            raise CorpusError(f"rows {first} to {first + len(texts)}: {error}") from None
        return _native_table(TextTagger(ner, ner.threads).tag(cut, probabilities=probabilities, above=above), first)
    return _other_table(ColumnTagger(ner, probabilities=probabilities, above=above).tag(texts.to_pylist()), first)


def _native_table(batch: TaggedBatch, first: int) -> Any:
    arrow = need("pyarrow", "frames")
    found, size = batch.found, batch.found.size
    data, offsets = found.surfaces()
    start, end = found.start_char.astype(np.int32), found.end_char.astype(np.int32)
    pairs = arrow.ListArray.from_arrays(
        np.arange(0, 2 * size + 1, 2, dtype=np.int32), arrow.array(np.stack([start, end], axis=1).ravel())
    )
    labels = arrow.DictionaryArray.from_arrays(arrow.array(found.label.astype(np.int32)), arrow.array(batch.labels))
    written = arrow.Array.from_buffers(
        arrow.large_string(), size, [None, arrow.py_buffer(offsets), arrow.py_buffer(data)]
    )
    return arrow.table(
        {
            "row": arrow.array(batch.document + first),
            "label": labels.cast(arrow.string()),
            "start": arrow.array(start),
            "end": arrow.array(end),
            "text": written,
            "prob": arrow.nulls(size, arrow.float64()) if batch.probs is None else arrow.array(batch.probs),
            "chars": arrow.ListArray.from_arrays(np.arange(size + 1, dtype=np.int32), pairs),
        }
    )


def _other_table(column: Any, first: int) -> Any:
    arrow = need("pyarrow", "frames")
    compute = need("pyarrow.compute", "frames")
    structs = column.flatten()
    chars = structs.field("chars")
    ranges = [(own[0][0], own[-1][1]) for own in chars.to_pylist()]
    return arrow.table(
        {
            "row": compute.add(compute.list_parent_indices(column).cast(arrow.int64()), first),
            "label": structs.field("label"),
            "start": arrow.array([a for a, _ in ranges], arrow.int32()),
            "end": arrow.array([b for _, b in ranges], arrow.int32()),
            "text": structs.field("text").cast(arrow.large_string()),
            "prob": structs.field("prob"),
            "chars": chars,
        }
    )
