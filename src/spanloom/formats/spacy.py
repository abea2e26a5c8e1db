"""spaCy's DocBin (``pip install 'spanloom[spacy]'``): mentions from ``doc.spans`` and ``doc.ents``.

Written are all mentions in ``doc.spans["sc"]``, and in ``doc.ents``, too, where none overlap; the parts of
discontinuous mentions in ``doc.spans["sc:parts"]``, see ``formats.spacy_docs``. Probabilities are
``doc.spans["sc"].attrs["scores"]``. Columns: ``pos`` (``tag_``), ``upos`` (``pos_``), ``lemma``, ``head`` and
``deprel``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from spanloom.base.errors import CorpusError
from spanloom.base.extras import need
from spanloom.corpus.document import Document
from spanloom.corpus.mention import Mention
from spanloom.formats.loss import Limits, Unwritten
from spanloom.formats.report import Report
from spanloom.formats.spacy_docs import (
    COLUMNS,
    KEY,
    document_of,
    get_entities,
    get_mentions,
    parts_key,
    placed,
    set_mentions,
)
from spanloom.formats.writing import binary_target

keeps_probabilities = True

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
        meta = doc.user_data.get(_KEY, {})

        def lost(mention: Mention) -> None:
            report.error("blank", path, f"{mention.label} at token {mention.start} covers white space only")

        mentions = _mentions(doc, wanted)
        yield document_of(doc, mentions, lost=lost, id=meta.get("id", ""), meta=meta.get("meta", {}))


def write(docs: Iterable[Document], path: str, report: Report, *, language: str = "xx", lossy: str = "") -> None:
    """Write a DocBin.

    Parameters
    ----------
    language
        The language of the vocabulary.
    lossy
        ``contiguous`` fills the gaps of discontinuous mentions, for programs that know nothing of parts; ``outermost``,
        ``innermost`` or ``longest`` leave them out.
    """
    spacy = need("spacy", "spacy")
    tokens = need("spacy.tokens", "spacy")
    vocab = spacy.blank(language).vocab
    limits = Limits("spacy", lossy, discontinuous=not lossy)
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
        if len(made):  # in one go: by token, spaCy would look at the whole doc each time
            starts = [1 if i in firsts or i == 0 else -1 for i in range(len(made))]
            made.from_array(["SENT_START"], np.array(starts, np.int64).astype(np.uint64))
        _set_columns(doc, made, place, unwritten)
        (held,) = limits.fit(doc.mentions, report, where)
        set_mentions(made, [placed(m, place) for m in held])
        for mention in held:
            unwritten.note("attributes", mention.attributes)
        made.user_data[_KEY] = {"id": doc.id, "meta": doc.meta}
        box.add(made)
    limits.raise_errors(report)
    with binary_target(path, report) as out:
        out.write(box.to_bytes())
    unwritten.tell(report, path)


def _mentions(doc: Any, wanted: list[str] | None) -> list[Mention]:
    found: dict[Mention, Mention] = {}
    keys = dict.fromkeys(key.removesuffix(parts_key("")) for key in doc.spans)
    if wanted is not None:
        keys = dict.fromkeys(key for key in keys if key in wanted)
    for key, mentions in [("", get_entities(doc)), *((key, get_mentions(doc, key)) for key in keys)]:
        attributes = {"group": key} if key not in ("", KEY) else {}
        for mention in mentions:
            if mention not in found or (mention.prob is not None and found[mention].prob is None):
                found[mention] = Mention(mention.label, mention.parts, mention.prob, attributes)
    return list(found.values())


def _set_columns(doc: Document, made: Any, place: list[int], unwritten: Unwritten) -> None:
    at = 0
    for sentence in doc.sentences:
        unwritten.note("own features", sentence.features is not None)
        unwritten.note("sentence meta", sentence.meta)
        unwritten.note("columns that spaCy does not have", set(sentence.columns) - {*COLUMNS, "head"})
        own = [made[place[at + i]] for i in range(len(sentence))]
        for name, attribute in COLUMNS.items():
            for token, value in zip(own, sentence.columns.get(name, []), strict=False):
                try:
                    setattr(token, attribute, value)
                except ValueError as error:
                    raise CorpusError(f"column {name!r}: spaCy has no value {value!r}") from error
        for token, head in zip(own, sentence.columns.get("head", []), strict=False):
            if head.isdecimal() and 0 < int(head) <= len(own):
                token.head = own[int(head) - 1]
        at += len(sentence)
