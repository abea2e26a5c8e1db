"""Hugging Face ``datasets`` (``pip install 'spanloom[huggingface]'``): objects, or ``huggingface:FOLDER``.

Understood are words with tags (``tokens`` and ``ner_tags``, the names of whose classes come from the dataset's
features; also MultiCoNER's), GLiNER's ``tokenized_text`` and ``ner``, BigBio's knowledge base, and rows that
``to_dataset`` made, which keep everything. Streaming datasets are read as they come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from spanloom.base.errors import CorpusError, ParameterError
from spanloom.base.extras import need
from spanloom.corpus.document import Document
from spanloom.formats import hf_layouts, jsonl, parquet
from spanloom.formats.checks import BadRecord
from spanloom.formats.loss import Limits
from spanloom.formats.reading import choice
from spanloom.formats.report import Report

LAYOUTS = ("spanloom", "tags", "gliner", "bigbio")

takes_folders = True


def read(
    path: str, report: Report, *, split: str = "", words: str = "tokens", tags: str = "ner_tags", align: str = "strict"
) -> Iterator[Document]:
    """Yield the documents of a dataset that was saved with ``save_to_disk``.

    Parameters
    ----------
    split
        Which split of several.
    words, tags
        Columns of words and tags.
    align
        Of BigBio's entities, see ``formats.align``.
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
    yield from _rows(found, report, path, words, tags, align)


def from_dataset(
    dataset: Any, *, words: str = "tokens", tags: str = "ner_tags", align: str = "strict"
) -> Iterator[Document]:
    """Yield the documents of a ``Dataset``, an ``IterableDataset`` or a list of dicts, whatever layout its rows have.

    Parameters
    ----------
    words, tags
        Columns of words and tags.
    align
        Of BigBio's entities, whose ends may be within our tokens: ``strict``, ``expand``, ``contract`` or ``split``.
    """
    report = Report()
    yield from _rows(dataset, report, "the dataset", words, tags, align)
    report.raise_errors()


def to_dataset(docs: Iterable[Document], layout: str = "spanloom", *, scheme: str = "IOB2", lossy: str = "") -> Any:
    """Return documents as a ``datasets.Dataset``.

    Parameters
    ----------
    layout
        ``"spanloom"``: one row a document, in the columns of the Parquet format, which keep everything. ``"tags"``: one
        row a sentence, ``tokens`` and ``ner_tags`` as ``ClassLabel``. ``"gliner"``: one row a sentence; numbers are
        texts, as Arrow wants one type. ``"bigbio"``: one row a document, in the schema ``bigbio_kb``.
    scheme
        Of ``"tags"``.
    lossy
        What to do with mentions that ``"tags"`` (flat ones) or ``"gliner"`` (contiguous ones) cannot hold:
        ``outermost``, ``innermost``, ``longest``, ``contiguous``; an error without it.
    """
    choice("layout", layout, LAYOUTS)
    datasets = need("datasets", "huggingface")
    report = Report()
    if layout == "spanloom":
        arrow = need("pyarrow", "parquet")
        return datasets.Dataset(
            arrow.Table.from_pylist([parquet.to_row(doc) for doc in docs], schema=parquet.arrow_schema())
        )
    if layout == "bigbio":
        rows = [hf_layouts.bigbio_row(doc, number) for number, doc in enumerate(docs)]
        return datasets.Dataset.from_list(rows, features=_bigbio_features(datasets))
    limits = Limits(layout, lossy, layers=1 if layout == "tags" else None)
    string = datasets.Value("string")
    if layout == "gliner":
        rows = [
            {**row, "ner": [[str(value) for value in entry] for entry in row["ner"]]}
            for row in to_gliner(docs, lossy=lossy)
        ]
        features = {"id": string, "tokenized_text": [string], "ner": [[string]]}
    else:
        rows = [row for doc in docs for row in hf_layouts.tag_rows(doc, scheme, limits, report)]
        names = sorted({tag for row in rows for tag in row["ner_tags"]} - {"O"}, key=lambda tag: (tag[2:], tag))
        features = {"id": string, "tokens": [string], "ner_tags": [datasets.ClassLabel(names=["O", *names])]}
    limits.raise_errors(report)
    return datasets.Dataset.from_list(rows, features=datasets.Features(features))


def to_gliner(docs: Iterable[Document], *, lossy: str = "") -> list[dict[str, Any]]:
    """Return the records of GLiNER's training files, one a sentence; ``json.dump`` writes them.

    Examples
    --------
    >>> from spanloom import Mention, Sentence
    >>> to_gliner([Document([Sentence(["IL-2", "gene"], [Mention("DNA", ((0, 2),))])], "d")])
    [{'id': 'd', 'tokenized_text': ['IL-2', 'gene'], 'ner': [[0, 1, 'DNA']]}]
    """
    report, limits = Report(), Limits("gliner", lossy)
    rows = [row for doc in docs for row in hf_layouts.gliner_rows(doc, limits, report)]
    limits.raise_errors(report)
    return rows


def _rows(dataset: Any, report: Report, name: str, words: str, tags: str, align: str) -> Iterator[Document]:
    rows = iter(dataset)
    names = getattr(dataset, "column_names", None)
    if names is None:  # of a stream that does not know; its first row does
        first = next(rows, None)
        if first is None:
            return
        rows, names = chain([first], rows), list(first)
    ours = {"mentions", "tokens"} <= set(names)
    parse = hf_layouts.reader(names, words, tags, lambda column: _classes(dataset, column), align)
    if not ours and parse is None:
        raise ParameterError(f"{name} has the columns {', '.join(names)}; say words=… and tags=…")
    for k, row in enumerate(rows):
        where = f"{name}: row {k}"
        try:
            if ours or parse is None:
                doc = jsonl.parse(parquet.from_row(row), report, where)
            else:
                doc = parse(row, report, where)
        except BadRecord as error:
            report.broken(error.kind, where, str(error))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            report.broken("row", where, f"the row is not as its columns promise: {error!r:.120}")
        else:
            yield doc


def _classes(dataset: Any, column: str) -> list[str] | None:
    features = getattr(dataset, "features", None)
    feature = None if features is None else features[column]
    while isinstance(feature, list):
        feature = feature[0]
    inner = getattr(feature, "feature", feature)
    return getattr(inner, "names", None)


def _bigbio_features(datasets: Any) -> Any:
    """The schema ``bigbio_kb``."""
    string, pairs = datasets.Value("string"), [[datasets.Value("int32")]]
    normalized = [{"db_name": string, "db_id": string}]
    piece = {"id": string, "type": string, "text": [string], "offsets": pairs}
    trigger = {"text": [string], "offsets": pairs}
    arguments = [{"role": string, "ref_id": string}]
    relation = {"id": string, "type": string, "arg1_id": string, "arg2_id": string, "normalized": normalized}
    return datasets.Features(
        {
            "id": string,
            "document_id": string,
            "passages": [piece],
            "entities": [{**piece, "normalized": normalized}],
            "events": [{"id": string, "type": string, "trigger": trigger, "arguments": arguments}],
            "coreferences": [{"id": string, "entity_ids": [string]}],
            "relations": [relation],
        }
    )
