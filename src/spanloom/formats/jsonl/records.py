"""A document as the JSON object that a line holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spanloom.corpus.document import Document, find_tokens, surface
from spanloom.corpus.mention import Mention, Part
from spanloom.formats.jsonl.known import known_record


def to_dict(doc: Document, chars: bool = False) -> dict[str, Any]:
    """Return a document as the object that a line holds; what readers reconstruct by themselves is left out.

    Parameters
    ----------
    chars
        Whether mentions have their characters and their text beside their tokens; the document has its text then.
    """
    tokens, spans = doc.tokens, doc.spans
    record: dict[str, Any] = {"id": doc.id} if doc.id else {}
    ranges: list[Part] = []
    at = 0
    for sentence in doc.sentences:
        ranges.append((at, at + len(sentence)))
        at += len(sentence)
    plain = "\n".join(" ".join(sentence.tokens) for sentence in doc.sentences)
    if chars or doc.text != plain or spans != find_tokens(plain, tokens):
        record["text"] = doc.text
    record["tokens"] = tokens
    if "text" in record and spans != find_tokens(doc.text, tokens):
        record["offsets"] = spans
    record["sentences"] = [_sentence(doc, k, ranges[k], spans) for k in range(len(ranges))]
    names = dict.fromkeys(name for sentence in doc.sentences for name in sentence.columns)
    if names:
        record["columns"] = {
            name: [value for s in doc.sentences for value in _or_nulls(s.columns.get(name), len(s))] for name in names
        }
    if any(sentence.features is not None for sentence in doc.sentences):
        record["features"] = [value for s in doc.sentences for value in _or_nulls(s.features, len(s))]
    record["mentions"] = [_mention(mention, doc.text, spans if chars else None) for mention in doc.mentions]
    if doc.meta:
        record["meta"] = doc.meta
    return record


def mentions_only(record: dict[str, Any]) -> dict[str, Any]:
    """Return the id and the mentions of what ``to_dict`` returned with ``chars``, without the tokens of mentions.

    Examples
    --------
    >>> from spanloom import Mention, Sentence
    >>> doc = Document([Sentence(["the", "gene"], [Mention("DNA", ((1, 2),))])], id="a")
    >>> mentions_only(to_dict(doc, chars=True))
    {'id': 'a', 'mentions': [{'label': 'DNA', 'chars': [(4, 8)], 'text': 'gene'}]}
    """
    mentions = [{name: value for name, value in one.items() if name != "parts"} for one in record["mentions"]]
    return ({"id": record["id"]} if "id" in record else {}) | {"mentions": mentions}


def _sentence(doc: Document, k: int, tokens: Part, spans: list[Part]) -> Any:
    sentence = doc.sentences[k]
    start, end = doc.starts[k], doc.starts[k] + len(sentence.text)
    first, last = tokens
    tight = first < last and (start, end) == (spans[first][0], spans[last - 1][1])
    meta = sentence.meta
    if "alternatives" in meta:
        meta = {**meta, "alternatives": [_mention(mention) for mention in meta["alternatives"]]}
    if tight and not meta and sentence.known is None:
        return tokens
    known = {} if sentence.known is None else {"known": known_record(sentence.known, first)}
    return {"range": tokens} | ({} if tight else {"chars": (start, end)}) | ({"meta": meta} if meta else {}) | known


def _or_nulls(values: Sequence[Any] | None, length: int) -> Sequence[Any]:
    return [None] * length if values is None else values


def _mention(mention: Mention, text: str = "", spans: Sequence[Part] | None = None) -> dict[str, Any]:
    record: dict[str, Any] = {"label": mention.label, "parts": mention.parts}
    if spans is not None:
        record["chars"] = [(spans[a][0], spans[b - 1][1]) for a, b in mention.parts]
        record["text"] = surface(text, record["chars"])
    if mention.prob is not None:
        record["prob"] = mention.prob
    if mention.attributes:
        record["attributes"] = dict(mention.attributes)
    return record
