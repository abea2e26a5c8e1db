"""The document of a JSON object, checked field by field."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from spanloom.corpus.document import Document, find_tokens, surface
from spanloom.corpus.known import Believed, Known
from spanloom.corpus.mention import Mention, Part
from spanloom.formats.align import CharMention, align, split_at_edges
from spanloom.formats.assemble import assemble, cut_tokens, join_at
from spanloom.formats.checks import (
    BadRecord,
    as_list,
    as_object,
    as_pair,
    as_range,
    as_ranges,
    as_string,
    as_strings,
)
from spanloom.formats.jsonl.known import as_known
from spanloom.formats.raw import from_text
from spanloom.formats.report import Report
from spanloom.formats.tables import text_field

FIELDS = ("id", "text", "tokens", "offsets", "sentences", "columns", "features", "mentions", "meta", "known")
_MENTION = ("label", "parts", "chars", "text", "prob", "attributes")
_STRING_OR_NULL = {str, type(None)}
FOREIGN = {
    "spans": "prodigy",
    "entities": "doccano",
    "label": "doccano",
    "labels": "doccano",
    "annotations": "labelstudio",
}


def parse(record: Any, report: Report, where: str, policy: str = "strict", join: bool = False) -> Document:
    """Return the document of one decoded line."""
    record = as_object(record, "the document")
    for key in record:
        if key not in FIELDS:
            hint = f"; this looks like {FOREIGN[key]}: try {FOREIGN[key]}:FILE" if key in FOREIGN else ""
            if not hint and "text" not in record and "tokens" not in record:
                hint = (
                    f"; for records of another shape say where their text is: {report.typed(text=text_field(record))}"
                )
            raise BadRecord(f"unknown field {key!r}; known are {', '.join(FIELDS)}, own data go into meta{hint}")
    id = as_string(record.get("id", ""), "id")
    where = f"{where} ({id})" if id else where
    meta = as_object(record.get("meta", {}), "meta")
    text = record.get("text")
    if text is not None:
        as_string(text, "text")
    if "tokens" not in record:
        return _from_text(record, text, report, where, id, policy, meta)

    tokens = as_strings(record["tokens"], "token")
    if "" in tokens:
        raise BadRecord(f"token {tokens.index('')} is empty")
    ranges, chars, metas = _sentences(record.get("sentences"), len(tokens))
    known = _known(record, ranges, len(tokens))
    spans, text = _places(record.get("offsets"), text, tokens, ranges)
    for k, given in enumerate(chars):
        first, last = ranges[k]
        if given is not None and not 0 <= given[0] <= given[1] <= len(text):
            raise BadRecord(f"chars of sentence {k} {given} are not a range of a text of {len(text)} characters")
        if given is not None and first < last and not (given[0] <= spans[first][0] and spans[last - 1][1] <= given[1]):
            raise BadRecord(
                f"chars of sentence {k} {given} do not cover its tokens {spans[first][0], spans[last - 1][1]}"
            )
    columns = _columns(record.get("columns", {}), len(tokens))
    features = record.get("features")
    if features is not None and len(as_list(features, "features")) != len(tokens):
        raise BadRecord(f"features are given for {len(features)} of {len(tokens)} tokens")
    by_parts, by_chars = _mentions(record.get("mentions", []), len(tokens), where)
    _check_given(record.get("mentions", []), text, spans, report, where)
    words: list[str] | None = tokens
    if by_chars and policy == "split" and (cuts := split_at_edges(spans, by_chars)):
        pieces = cut_tokens(spans, cuts)
        firsts = [0]
        for own, _ in pieces:
            firsts.append(firsts[-1] + len(own))
        source = [i for own, i in pieces for _ in own]
        if any(text[s:e] != tokens[i] for i, (s, e) in enumerate(spans) if len(pieces[i][0]) > 1):
            raise BadRecord("cannot split a token that differs from the text at its offsets")
        words = [tokens[i] if len(own) == 1 else text[s:e] for own, i in pieces for s, e in own]
        spans = [span for own, _ in pieces for span in own]
        ranges = [(firsts[a], firsts[b]) for a, b in ranges]
        known = [one and _moved(one, firsts) for one in known]
        columns = {name: [values[i] for i in source] for name, values in columns.items()}
        features = None if features is None else [features[i] for i in source]
        by_parts = [
            Mention(m.label, tuple((firsts[a], firsts[b]) for a, b in m.parts), m.prob, m.attributes) for m in by_parts
        ]
    mentions = by_parts + (align(text, spans, by_chars, policy, report, where) if by_chars else [])
    if join and len(joined := join_at(ranges, mentions)) < len(ranges):
        if len(set(known)) > 1:
            raise BadRecord("sentences=join cannot join sentences of which different things are known")
        if known[0] is not None and known[0].believed is not None:
            raise BadRecord("sentences=join cannot join sentences of which something is believed")
        ranges, chars, metas, known = joined, [None] * len(joined), [{} for _ in joined], known[: len(joined)]
    mentions = _within(ranges, mentions, report, where)
    doc = assemble(
        text,
        spans,
        ranges,
        mentions,
        id=id,
        tokens=words,
        columns=columns,
        features=features,
        chars=chars,
        metas=metas,
        meta=meta,
    )
    for sentence, bounds, one in zip(doc.sentences, ranges, known, strict=True):
        sentence.known = None if one is None else one.within(*bounds)
    return doc


def _known(record: dict[str, Any], ranges: list[Part], length: int) -> list[Known | None]:
    """What is known of each sentence, in document tokens: what it says itself, or else the document."""
    whole = as_known(record.get("known"), "known", (0, length))
    if whole is not None and whole.believed is not None:
        raise BadRecord("what is believed is said of sentences: put known with believed into the objects of sentences")
    given = record.get("sentences") or []
    own = [item.get("known") if isinstance(item, dict) else None for item in given]
    found = [as_known(value, f"known of sentence {k}", ranges[k]) for k, value in enumerate(own)]
    return [one or whole for one in found] if found else [whole] * len(ranges)


def _moved(known: Known, firsts: list[int]) -> Known:
    """The same after tokens were split; token i begins at ``firsts[i]``."""
    ranges = known.ranges
    if known.believed is not None:
        sets = (
            (p, tuple(Mention(m.label, tuple((firsts[a], firsts[b]) for a, b in m.parts)) for m in own))
            for p, own in known.believed.sets
        )
        return Known(known.labels, None, Believed(tuple(sets), known.believed.weight))
    return Known(known.labels, None if ranges is None else tuple((firsts[a], firsts[b]) for a, b in ranges))


def _from_text(
    record: dict[str, Any], text: str | None, report: Report, where: str, id: str, policy: str, meta: dict[str, Any]
) -> Document:
    if text is None:
        raise BadRecord("a document needs text or tokens")
    for key in ("offsets", "sentences", "columns", "features"):
        if key in record:
            raise BadRecord(f"{key} count tokens, but the document has no tokens")
    if any(isinstance(entry, dict) and "parts" in entry for entry in as_list(record.get("mentions", []), "mentions")):
        raise BadRecord("mentions with parts count tokens, but the document has no tokens; give chars")
    _, mentions = _mentions(record.get("mentions", []), 0, where)
    _check_given(record.get("mentions", []), text, (), report, where)
    known = as_known(record.get("known"), "known", None)
    doc = from_text(text, mentions, report, where, id=id, align_by=policy, meta=meta)
    for sentence in doc.sentences:
        sentence.known = known
    return doc


def _places(offsets: Any, text: str | None, tokens: list[str], ranges: list[Part]) -> tuple[list[Part], str]:
    if offsets is None:
        plain = "\n".join(" ".join(tokens[a:b]) for a, b in ranges) if text is None else text
        found = find_tokens(plain, tokens)
        if len(found) < len(tokens):
            raise BadRecord("the tokens do not occur in the text one after the other; give offsets")
        return found, plain
    if text is None:
        raise BadRecord("offsets count the characters of text, but the document has no text")
    spans = [as_range(pair, f"offsets of token {i}", len(text)) for i, pair in enumerate(as_list(offsets, "offsets"))]
    if len(spans) != len(tokens):
        raise BadRecord(f"{len(tokens)} tokens but {len(spans)} offsets")
    for i, (a, b) in enumerate(pairwise(spans)):
        if b[0] < a[0]:
            raise BadRecord(f"offsets of token {i + 1} {b} come before those of token {i} {a}")
    return spans, text


def _sentences(value: Any, length: int) -> tuple[list[Part], list[Part | None], list[dict[str, Any]]]:
    if value is None:
        return ([(0, length)], [None], [{}]) if length else ([], [], [])
    ranges: list[Part] = []
    chars: list[Part | None] = []
    metas: list[dict[str, Any]] = []
    at = 0
    for k, item in enumerate(as_list(value, "sentences")):
        entry = item if isinstance(item, dict) else {"range": item}
        for key in entry:
            if key not in ("range", "chars", "meta", "known"):
                raise BadRecord(f"sentence {k} has an unknown field {key!r}; known are range, chars, meta, known")
        first, last = as_range(entry.get("range"), f"range of sentence {k}", length, True)
        if first != at:
            raise BadRecord(f"sentence {k} begins at token {first}, but the one before ends at {at}")
        at = last
        ranges.append((first, last))
        given = entry.get("chars")
        chars.append(None if given is None else as_pair(given, f"chars of sentence {k}"))
        metas.append(_meta(as_object(entry.get("meta", {}), f"meta of sentence {k}"), last - first, k))
    if at != length:
        raise BadRecord(f"the sentences end at token {at} of {length}")
    return ranges, chars, metas


def _meta(meta: dict[str, Any], length: int, k: int) -> dict[str, Any]:
    """A sentence's meta; its ``alternatives`` are mentions in the sentence's tokens."""
    if "alternatives" not in meta:
        return meta
    mentions, by_chars = _mentions(meta["alternatives"], length, f"alternatives of sentence {k}")
    if by_chars:
        raise BadRecord(f"alternatives of sentence {k} must have parts, not chars")
    return {**meta, "alternatives": mentions}


def _columns(value: Any, length: int) -> dict[str, list[str | None]]:
    columns = as_object(value, "columns")
    for name, values in columns.items():
        if len(as_list(values, f"column {name!r}")) != length:
            raise BadRecord(f"column {name!r} has {len(values)} values for {length} tokens")
        if not _STRING_OR_NULL.issuperset(map(type, values)):
            i = next(i for i, item in enumerate(values) if type(item) not in _STRING_OR_NULL)
            raise BadRecord(f"column {name!r} of token {i} must be a string or null, not {values[i]!r}")
    return columns


def _mentions(value: Any, length: int, where: str) -> tuple[list[Mention], list[CharMention]]:
    by_parts: list[Mention] = []
    by_chars: list[CharMention] = []
    for k, item in enumerate(as_list(value, "mentions")):
        what = f"mention {k}"
        entry = as_object(item, what)
        if unknown := entry.keys() - _MENTION:
            raise BadRecord(f"{what} has an unknown field {min(unknown)!r}; known are {', '.join(_MENTION)}")
        label = as_string(entry.get("label"), f"label of {what}")
        prob = entry.get("prob")
        if prob is not None and (isinstance(prob, bool) or not isinstance(prob, (int, float)) or not 0 <= prob <= 1):
            raise BadRecord(f"prob of {what} must be a number from 0 to 1, not {prob!r}")
        attributes = entry.get("attributes")
        if attributes is None:
            attributes = {}
        elif not {str}.issuperset(map(type, as_object(attributes, f"attributes of {what}").values())):
            for name, content in attributes.items():
                as_string(content, f"attribute {name!r} of {what}")
        if "parts" not in entry and "chars" not in entry:
            raise BadRecord(f"{what} must have parts (token ranges) or chars (character ranges)")
        if "parts" in entry:
            parts = as_ranges(entry["parts"], f"parts of {what}", length)
            try:
                by_parts.append(Mention(label, parts, prob, attributes))
            except ValueError as error:
                raise BadRecord(f"{what}: {error}") from None
        else:
            chars = tuple(as_pair(pair, f"chars of {what}") for pair in as_list(entry["chars"], f"chars of {what}"))
            if not chars:
                raise BadRecord(f"chars of {what} must have at least one range")
            by_chars.append(CharMention(label, chars, prob, attributes, f"{where} {what}"))
    return by_parts, by_chars


def _check_given(value: Any, text: str, spans: Sequence[Part], report: Report, where: str) -> None:
    """Note mentions whose characters are not those of their tokens, or whose text is not that of their characters."""
    for k, entry in enumerate(value):
        what = f"mention {k}"
        tokens = entry.get("parts")
        chars = entry.get("chars")
        if chars is not None:
            chars = [as_pair(pair, f"chars of {what}") for pair in as_list(chars, f"chars of {what}")]
        if tokens is not None:
            own = [(spans[a][0], spans[b - 1][1]) for a, b in tokens]
            if chars is not None and chars != own:
                report.error("text-mismatch", where, f"{what} has the chars {chars}, but its parts are at {own}")
            chars = own
        given = entry.get("text")
        if given is not None and as_string(given, f"text of {what}") != (there := surface(text, chars)):
            report.error("text-mismatch", where, f"{what} is said to be {given!r}, but the text has {there!r}")


def _within(ranges: list[Part], mentions: list[Mention], report: Report, where: str) -> list[Mention]:
    """Leave out, with a report, what runs over a sentence break."""
    if len(ranges) < 2:
        return mentions
    breaks = [last for _, last in ranges]
    kept = []
    for mention in mentions:
        following = breaks[bisect_right(breaks, mention.start)]
        if following < mention.end:
            report.error(
                "over-break",
                where,
                f"{mention.label} {mention.parts} runs over the break at token {following}",
            )
        else:
            kept.append(mention)
    return kept
