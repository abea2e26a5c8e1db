"""Spark (``pip install 'spanloom[spark]'``): a DataFrame with a column of mentions, through Arrow.

Each Python worker of an executor opens the model once, from a path that all of them see or from a broadcast variable.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from spanloom.base.errors import ParameterError
from spanloom.base.extras import need
from spanloom.recognizer import Recognizer
from spanloom.scale.arrow import COLUMN, ColumnTagger, ColumnWork
from spanloom.scale.loading import ModelSource, deposit

SCHEMA = "array<struct<label:string,parts:array<array<int>>,chars:array<array<int>>,text:string,prob:double>>"
"""The type of the column of mentions, as Spark writes it."""


def tag(
    df: Any,
    model: str | os.PathLike[str] | Recognizer,
    *,
    text: str = "text",
    column: str = COLUMN,
    probabilities: bool = False,
    above: float | None = None,
) -> Any:
    """Return a Spark DataFrame with the mentions of each text; nothing is done before an action asks for it.

    Parameters
    ----------
    df
        Its other columns stay as they are.
    model
        A model file that driver and executors see under the same path; or a recogniser, which is broadcast.
    text
        The column of the texts; null has no mentions.
    column
        The name of the new column, a list of structs (``SCHEMA``): ``parts`` are half-open ranges of tokens, ``chars``
        of characters; a discontinuous mention has several.
    probabilities, above
        As in ``Recognizer.predict``.
    """
    types = need("pyspark.sql.types", "spark")
    source = ModelSource.of(model)
    work = ColumnWork(source, text, column, probabilities, above)
    if text in df.columns and not isinstance(df.schema[text].dataType, types.StringType):
        raise ParameterError(f"column {text!r} must be text, not {df.schema[text].dataType.simpleString()}")
    work.check(df.columns)
    sent = None if source.path else df.sparkSession.sparkContext.broadcast(source.data())
    fields = [*df.schema.fields, types.StructField(column, types._parse_datatype_string(SCHEMA), False)]
    return df.mapInArrow(partial(_tag_batches, work=work, sent=sent), types.StructType(fields))


def _tag_batches(batches: Iterable[Any], work: ColumnWork, sent: Any) -> Iterator[Any]:
    """In a worker: add the column to each Arrow batch."""
    arrow = need("pyarrow", "spark")
    if sent is not None:
        deposit(sent.value)
    tagger: ColumnTagger | None = None
    for batch in batches:
        tagger = tagger or work.tagger()
        found = tagger.tag(batch.column(work.text).to_pylist())
        yield arrow.RecordBatch.from_arrays([*batch.columns, found], names=[*batch.schema.names, work.column])
