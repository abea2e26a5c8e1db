"""Files of JSON lines, one document each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spanloom.corpus.document import Document
from spanloom.formats.align import POLICIES
from spanloom.formats.checks import BadRecord, as_object, decode, encode
from spanloom.formats.jsonl.parsing import parse
from spanloom.formats.jsonl.records import mentions_only, to_dict
from spanloom.formats.lines import lines
from spanloom.formats.reading import choice
from spanloom.formats.report import Report
from spanloom.formats.tables import row_document
from spanloom.formats.writing import target


def read(
    path: str, report: Report, *, align: str = "strict", sentences: str = "given", text: str = "", id: str = ""
) -> Iterator[Document]:
    """Yield the documents of a JSONL file.

    Parameters
    ----------
    align
        What to do with character mentions inside tokens: strict, expand, contract or split.
    sentences
        ``given``: a mention over a sentence break of the file is an error; ``join``: the break yields.
    text, id
        For records of any other shape: the fields of the text (several are joined by commas, and their texts by
        newlines) and of the id; all others become the document's meta.
    """
    choice("align", align, POLICIES)
    choice("sentences", sentences, ("given", "join"))
    name = "standard input" if path == "-" else path
    for number, line in lines(path, report):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        try:
            record = decode(line)
            if text or id:
                doc = row_document(as_object(record, "the record"), text or "text", id, report)
            else:
                doc = parse(record, report, where, align, sentences == "join")
        except BadRecord as error:
            report.broken(error.kind, where, str(error))
        else:
            yield doc


def write(docs: Iterable[Document], path: str, report: Report, *, chars: str = "no", fields: str = "all") -> None:
    """Write documents as JSONL.

    Parameters
    ----------
    chars
        ``yes`` gives every mention its characters and its text beside its tokens, for those who read the file with
        nothing but a JSON parser.
    fields
        ``mentions`` writes nothing but ids and mentions, the latter with label, characters and text. Such a file is
        small, and is no corpus: it cannot be read back.
    """
    choice("chars", chars, ("yes", "no"))
    choice("fields", fields, ("all", "mentions"))
    short = fields == "mentions"
    with target(path, report) as out:
        for doc in docs:
            record = to_dict(doc, short or chars == "yes")
            out.write(encode(mentions_only(record) if short else record, f"{path}: document {doc.id!r}"))
