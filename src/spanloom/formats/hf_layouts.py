"""Rows of datasets as others lay them out: words with tags, GLiNER, and the knowledge base of BigBio.

Each layout is recognised by its columns, and has ``read`` (a row to a document) and ``rows`` (a document to rows).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.mention import Mention
from spanloom.corpus.tags import from_tags, to_tags
from spanloom.formats.align import CharMention
from spanloom.formats.checks import BadRecord
from spanloom.formats.loss import Limits
from spanloom.formats.raw import from_text, padded
from spanloom.formats.report import Report

GLINER = ("tokenized_text", "ner")
BIGBIO = ("passages", "entities")


def tagged(
    row: Mapping[str, Any], words: str, tags: str, classes: Sequence[str] | None, report: Report, where: str
) -> Document:
    """Read words with tags, as CoNLL-2003 and MultiCoNER have them: numbers of classes, or the names of tags."""
    names = [classes[tag] if classes and isinstance(tag, int) else str(tag) for tag in row[tags]]
    if len(names) != len(row[words]):
        raise BadRecord(f"{len(row[words])} words but {len(names)} tags")
    chunks = from_tags(names, "auto", lambda i, message: report.error("tags", where, f"word {i}: {message}"))
    columns = {
        key: [str(x) for x in value]
        for key, value in row.items()
        if key != words and not key.startswith(tags) and isinstance(value, list) and len(value) == len(names)
    }
    mentions = [Mention(label, ((start, end),)) for label, start, end in chunks]
    return Document([Sentence([str(word) for word in row[words]], mentions, columns)], str(row.get("id", "")))


def tag_rows(doc: Document, scheme: str, limits: Limits, report: Report) -> Iterator[dict[str, Any]]:
    """Yield a row for each sentence: ``id``, ``tokens`` and ``ner_tags`` by name."""
    for number, sentence in enumerate(doc.sentences):
        (held,) = limits.fit(sentence.mentions, report, f"document {doc.id!r}, sentence {number}")
        chunks = [(m.label, m.start, m.end) for m in held]
        yield {"id": _name(doc, number), "tokens": sentence.tokens, "ner_tags": to_tags(chunks, len(sentence), scheme)}


def gliner(row: Mapping[str, Any]) -> Document:
    """Read a row of GLiNER: words, and mentions as ``[first word, last word, label]``."""
    words = [str(word) for word in row["tokenized_text"]]
    mentions = []
    for entry in row["ner"]:
        try:
            first, last, label = entry
            first, last = int(first), int(last)
        except (TypeError, ValueError):
            raise BadRecord(f"a mention must be [first word, last word, label], not {entry!r:.80}") from None
        if not 0 <= first <= last < len(words):
            raise BadRecord(f"the mention {entry!r} is not within {len(words)} words")
        mentions.append(Mention(str(label), ((first, last + 1),)))
    return Document([Sentence(words, list(dict.fromkeys(mentions)))], str(row.get("id", "")))


def gliner_rows(doc: Document, limits: Limits, report: Report) -> Iterator[dict[str, Any]]:
    """Yield a row for each sentence."""
    for number, sentence in enumerate(doc.sentences):
        (held,) = limits.fit(sentence.mentions, report, f"document {doc.id!r}, sentence {number}")
        ner = [[m.start, m.end - 1, m.label] for m in held]
        yield {"id": _name(doc, number), "tokenized_text": sentence.tokens, "ner": ner}


def bigbio(row: Mapping[str, Any], report: Report, where: str, align: str) -> Document:
    """Read a row of BigBio's knowledge base: passages and entities by characters; several offsets are several parts."""
    text = ""
    for passage in _listed(row["passages"]):
        for (start, _), piece in zip(passage["offsets"], passage["text"], strict=True):
            if start < len(text):
                raise BadRecord(
                    f"the passage at character {start} begins before the one before it ends, at {len(text)}"
                )
            text = padded(text, start) + piece
    mentions = []
    for entity in _listed(row["entities"]):
        known = [f"{one['db_name']}:{one['db_id']}" for one in _listed(entity.get("normalized") or [])]
        attributes = {"id": str(entity.get("id", "")), "normalized": " ".join(known)}
        chars = tuple((int(a), int(b)) for a, b in entity["offsets"])
        kept = {name: value for name, value in attributes.items() if value}
        mentions.append(CharMention(entity["type"], chars, attributes=kept, where=f"{where}: {entity.get('id', '')}"))
    id = str(row.get("document_id") or row.get("id") or "")
    return from_text(text, mentions, report, where, id=id, align_by=align)


def bigbio_row(doc: Document, number: int) -> dict[str, Any]:
    """Return a document in the knowledge base schema of BigBio; the whole text is one passage."""
    id = doc.id or str(number)
    entities = []
    for k, mention in enumerate(doc.mentions):
        chars = doc.chars(mention)
        known = [name.partition(":") for name in mention.attributes.get("normalized", "").split()]
        entities.append(
            {
                "id": f"{id}_T{k}",
                "type": mention.label,
                "text": [doc.text[a:b] for a, b in chars],
                "offsets": [[a, b] for a, b in chars],
                "normalized": [{"db_name": base, "db_id": own} for base, _, own in known],
            }
        )
    passage = {"id": f"{id}_text", "type": "document", "text": [doc.text], "offsets": [[0, len(doc.text)]]}
    empty: dict[str, list[Any]] = {"events": [], "coreferences": [], "relations": []}
    return {"id": id, "document_id": id, "passages": [passage], "entities": entities, **empty}


def reader(
    names: Sequence[str], words: str, tags: str, classes: Callable[[str], list[str] | None], align: str
) -> Callable[[Mapping[str, Any], Report, str], Document] | None:
    """Return what reads rows with these columns; None if no layout has them."""
    if set(GLINER) <= set(names):
        return lambda row, report, where: gliner(row)
    if set(BIGBIO) <= set(names):
        return lambda row, report, where: bigbio(row, report, where, align)
    if {words, tags} <= set(names):
        known = classes(tags)
        return lambda row, report, where: tagged(row, words, tags, known, report, where)
    return None


def _listed(value: Any) -> list[dict[str, Any]]:
    """A list of dicts; datasets of older schemas give a dict of lists."""
    if isinstance(value, Mapping):
        return [dict(zip(value, own, strict=True)) for own in zip(*value.values(), strict=True)]
    return list(value)


def _name(doc: Document, number: int) -> str:
    return f"{doc.id}:{number}" if len(doc.sentences) > 1 else doc.id
