"""spaCy's DocBin (``pip install 'spanloom[spacy]'``): mentions from ``doc.spans`` and ``doc.ents``.

Written are all mentions in ``doc.spans["sc"]``, and in ``doc.ents``, too, where none overlap. spaCy has no
discontinuous spans. Probabilities are ``doc.spans["sc"].attrs["scores"]``. Columns: ``pos`` (``tag_``), ``upos``
(``pos_``), ``lemma``, ``head`` and ``deprel``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from spanloom.base.errors import CorpusError
from spanloom.base.extras import need
from spanloom.corpus.document import Document
from spanloom.corpus.mention import Mention
from spanloom.corpus.tokenizer import split_sentences
from spanloom.formats.assemble import assemble, join_at
from spanloom.formats.loss import Limits, Unwritten
from spanloom.formats.report import Report
from spanloom.formats.writing import binary_target

_COLUMNS = {"pos": "tag_", "upos": "pos_", "lemma": "lemma_", "deprel": "dep_"}
_KEY = "spanloom"


def read(path: str, report: Report, *, language: str = "xx", groups: str = "") -> Iterator[Document]:
    """Yield the documents of a DocBin file.

    Parameters
    ----------
    language
        The language of the vocabulary.
    groups
        Names of span groups, joined by commas; all without it. Entities always count.
    """
    spacy = need("spacy", "spacy")
    tokens = need("spacy.tokens", "spacy")
    vocab = spacy.blank(language).vocab
    wanted = groups.split(",") if groups else None
    try:
        docs = list(tokens.DocBin().from_disk(path).get_docs(vocab))
    except Exception as error:  # the package lets through whatever its decoders raise
        raise CorpusError(f"not a DocBin: {type(error).__name__}: {error}", f"{path}:1") from error
    for doc in docs:
        kept = [token for token in doc if not token.is_space]
        place = {token.i: i for i, token in enumerate(kept)}
        spans = [(token.idx, token.idx + len(token)) for token in kept]
        mentions = _mentions(doc, place, wanted, report, path)
        if doc.has_annotation("SENT_START"):
            ranges = []
            for sentence in doc.sents:
                inside = [place[token.i] for token in sentence if token.i in place]
                if inside:
                    ranges.append((inside[0], inside[-1] + 1))
        else:
            ranges = split_sentences(doc.text, spans)
        ranges = join_at(ranges, mentions)
        meta = doc.user_data.get(_KEY, {})
        yield assemble(
            doc.text,
            spans,
            ranges,
            mentions,
            id=meta.get("id", ""),
            columns=_columns(kept, ranges),
            meta=meta.get("meta", {}),
        )


def write(docs: Iterable[Document], path: str, report: Report, *, language: str = "xx", lossy: str = "") -> None:
    """Write a DocBin.

    Parameters
    ----------
    language
        The language of the vocabulary.
    lossy
        ``contiguous`` fills the gaps of discontinuous mentions; outermost, innermost or longest leave them out.
    """
    spacy = need("spacy", "spacy")
    tokens = need("spacy.tokens", "spacy")
    vocab = spacy.blank(language).vocab
    limits = Limits("spacy", lossy)
    unwritten = Unwritten("spacy")
    box = tokens.DocBin(store_user_data=True)
    for k, doc in enumerate(docs):
        where = f"document {doc.id or k}"
        if any(s.text[a:b] != t for s in doc.sentences for t, (a, b) in zip(s.tokens, s.spans, strict=True)):
            raise CorpusError(f"{where}: a token differs from the text at its place, which spaCy cannot hold")
        words, spaces = spacy.util.get_words_and_spaces(doc.tokens, doc.text)
        made = tokens.Doc(vocab, words=words, spaces=spaces)
        place = [token.i for token in made if not token.is_space]
        if len(place) != len(doc) or made.text != doc.text:
            raise CorpusError(f"{where}: its white space cannot be held by spaCy")
        firsts = set()
        at = 0
        for sentence in doc.sentences:
            firsts.add(place[at] if at < len(place) else len(made))
            at += len(sentence)
        for token in made:
            token.is_sent_start = token.i in firsts or token.i == 0
        _set_columns(doc, made, place, unwritten)
        (held,) = limits.fit(doc.mentions, report, where)
        found = [tokens.Span(made, place[m.start], place[m.end - 1] + 1, label=m.label) for m in held]
        made.spans["sc"] = found
        if any(m.prob is not None for m in held):  # where spaCy's own spancat has its scores
            made.spans["sc"].attrs["scores"] = [m.prob for m in held]
        if not any(a.overlaps(b) for i, a in enumerate(held) for b in held[:i]):
            made.set_ents(sorted(found, key=lambda span: span.start))
        for mention in held:
            unwritten.note("attributes", mention.attributes)
        made.user_data[_KEY] = {"id": doc.id, "meta": doc.meta}
        box.add(made)
    limits.raise_errors(report)
    with binary_target(path, report) as out:
        out.write(box.to_bytes())
    unwritten.tell(report, path)


def _mentions(doc: Any, place: dict[int, int], wanted: list[str] | None, report: Report, path: str) -> list[Mention]:
    found: dict[Mention, Mention] = {}
    sources: list[tuple[str, Any]] = [("", doc.ents)]
    sources += [(key, group) for key, group in doc.spans.items() if wanted is None or key in wanted]
    for key, group in sources:
        scores = list(getattr(group, "attrs", {}).get("scores", []))
        probs = scores if len(scores) == len(group) else [None] * len(group)
        for span, prob in zip(group, probs, strict=True):
            inside = [place[token.i] for token in span if token.i in place]
            if not inside:
                report.error("blank", path, f"{span.label_} at token {span.start} covers white space only")
                continue
            attributes = {"group": key} if key not in ("", "sc") else {}
            prob = float(prob) if prob is not None and 0 <= prob <= 1 else None
            mention = Mention(span.label_, ((inside[0], inside[-1] + 1),), prob, attributes)
            if mention not in found or (prob is not None and found[mention].prob is None):
                found[mention] = mention
    return list(found.values())


def _columns(kept: list[Any], ranges: list[tuple[int, int]]) -> dict[str, list[str | None]]:
    columns: dict[str, list[str | None]] = {}
    for name, attribute in _COLUMNS.items():
        values = [getattr(token, attribute) for token in kept]
        if any(values):
            columns[name] = values
    if "deprel" in columns:
        place = {token.i: i for i, token in enumerate(kept)}
        heads: list[str | None] = []
        for first, last in ranges:
            for i in range(first, last):
                head = place.get(kept[i].head.i, i)
                heads.append("0" if head == i else str(head - first + 1))
        columns["head"] = heads
    return columns


def _set_columns(doc: Document, made: Any, place: list[int], unwritten: Unwritten) -> None:
    at = 0
    for sentence in doc.sentences:
        unwritten.note("own features", sentence.features is not None)
        unwritten.note("sentence meta", sentence.meta)
        unwritten.note("columns that spaCy does not have", set(sentence.columns) - {*_COLUMNS, "head"})
        own = [made[place[at + i]] for i in range(len(sentence))]
        for name, attribute in _COLUMNS.items():
            for token, value in zip(own, sentence.columns.get(name, []), strict=False):
                try:
                    setattr(token, attribute, value)
                except ValueError as error:
                    raise CorpusError(f"column {name!r}: spaCy has no value {value!r}") from error
        for token, head in zip(own, sentence.columns.get("head", []), strict=False):
            if head.isdecimal() and 0 < int(head) <= len(own):
                token.head = own[int(head) - 1]
        at += len(sentence)
