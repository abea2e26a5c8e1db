"""Everything that is wrong with a corpus, each with its place: what readers note, and what only documents show."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from itertools import pairwise

from spanloom.base.errors import ParameterError
from spanloom.corpus.document import Document
from spanloom.formats.reading import read
from spanloom.formats.reference import Reference
from spanloom.formats.report import Report

EMPTY = "there are no tokens; is this the right file, and all of it?"


def validate(ref: str | os.PathLike[str] | Reference) -> tuple[Report, int]:
    """Read a corpus and go on after errors.

    Beside what its reader finds (syntax, encoding, ranges outside the text, wrong surfaces, brackets, tags,
    alignment), this finds mentions given twice, documents given twice, labels that are empty, and tokens that are
    not the text at their place. A ``conll`` file without ``scheme=`` is checked against the scheme that fits it
    best.

    Returns
    -------
    Report, int
        What was found, and how many documents were read.
    """
    given = parsed = Reference.parse(ref)
    if parsed.format == "conll" and "scheme" not in parsed.options:
        if parsed.path == "-":
            raise ParameterError("the scheme of standard input cannot be guessed; name it: conll:-?scheme=IOB2")
        parsed = Reference(parsed.format, parsed.path, {**parsed.options, "scheme": _guessed(parsed)})
    report = Report(strict=False)
    report.given = given
    sizes = [len(doc) for doc in check(read(parsed).stream(report), report, parsed.path)]
    if not any(sizes) and not report.errors:
        report.warning("empty", parsed.path, EMPTY)
    return report, len(sizes)


def _guessed(ref: Reference) -> str:
    """Return the scheme that the tags of a conll file break least often, of several the one that says most."""
    faults: dict[str, int] = {}
    for scheme in ("IOBES", "BILOU", "IOB2", "IOE2", "IOB1", "IOE1", "IO"):
        report = Report(strict=False, limit=0)
        for _ in read(ref, scheme=scheme).stream(report):
            pass
        faults[scheme] = report.counts["tags"]
        if not faults[scheme]:
            return scheme
    return min(faults, key=lambda scheme: faults[scheme])


def check(docs: Iterator[Document], report: Report, path: str) -> Iterator[Document]:
    """Yield the documents on, noting what is wrong with them."""
    ids: dict[str, int] = {}
    texts: dict[bytes, str] = {}
    for number, doc in enumerate(docs, 1):
        where = f"{path} document {doc.id or number}"
        if doc.id:
            ids[doc.id] = ids.get(doc.id, 0) + 1
            if ids[doc.id] == 2:
                report.error("document-twice", where, f"the id {doc.id!r} occurs again")
        digest = hashlib.blake2b(doc.text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if doc.text and digest in texts:
            report.warning("text-twice", where, f"the same text as document {texts[digest]}")
        texts.setdefault(digest, doc.id or str(number))
        _mentions(doc, report, where)
        yield doc


def _mentions(doc: Document, report: Report, where: str) -> None:
    for k, sentence in enumerate(doc.sentences):
        place = f"{where}, sentence {k}"
        seen: dict[object, object] = {}
        for mention in sentence.mentions:
            what = f"{mention.label} {mention.parts}"
            if mention.end > len(sentence):
                report.error("out-of-text", place, f"{what} ends after the last of {len(sentence)} tokens")
                continue
            if mention in seen:
                alike = seen[mention] == dict(mention.attributes)
                note = report.error if alike else report.warning
                note(
                    "duplicate",
                    place,
                    f"{what} {sentence.surface(mention)!r} again{'' if alike else ', other attributes'}",
                )
            seen[mention] = dict(mention.attributes)
        shared = {a for a, b in pairwise(sentence.spans) if a == b}  # words of a contraction stand at one place
        for i, (token, (start, end)) in enumerate(zip(sentence.tokens, sentence.spans, strict=True)):
            if sentence.text[start:end] != token and (start, end) not in shared:
                there = sentence.text[start:end]
                report.warning("token-mismatch", place, f"token {i} {token!r} stands where the text has {there!r}")
