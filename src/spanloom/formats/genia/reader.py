"""Read GENIA: ``genia:DIR?classes=5|22|leaf&coordination=whole|continuous|expand&split=train|dev|test``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spanloom.base.collection import no_collection
from spanloom.base.errors import CorpusError
from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.mention import Mention, Part, Parts
from spanloom.formats.genia.coordination import members
from spanloom.formats.genia.markup import BadMarkup, Term, parse, unescape
from spanloom.formats.genia.pos import incomplete, place, place_document, records, split_text
from spanloom.formats.lines import whole
from spanloom.formats.reading import choice
from spanloom.formats.report import Report

finds_files = True

FIVE = frozenset(["protein", "DNA", "RNA", "cell_line", "cell_type"])
# Sentences (of 18,546) and articles (of 2,000) in file order: 80, 10 and 10 per cent, as Finkel and Manning (2009)
# have it.
SENTENCES = {"": (0, 1 << 62), "train": (0, 14_836), "dev": (14_836, 16_691), "test": (16_691, 1 << 62)}
ARTICLES = {"": (0, 1 << 62), "train": (0, 1_600), "dev": (1_600, 1_800), "test": (1_800, 1 << 62)}

_OPEN, _CLOSE = "<article>", "</article>"
_ID = re.compile(r"<bibliomisc>([^<]*)</bibliomisc>")
_SENTENCE = re.compile(r"<sentence\b[^>]*>")
_SENTENCE_END = "</sentence>"
_TITLE_END = "</title>"
_INNER = re.compile(r"[-/]")
_GROUP = re.compile(r"(protein|DNA|RNA)_.*")
_BATCH = 64

_Parts = tuple[str, list[str], list[Part], list[str], list[tuple[str, Parts, dict[str, str]]]]
"""Text, tokens, their ranges, their tags and the terms of a sentence, as the native reader gives them."""


@dataclass(slots=True)
class _Article:
    """Where an article is, its POS text, and which of its sentences are asked for."""

    id: str
    start: int
    end: int
    tagged: str | None
    sentences: int
    chosen: range


def read(
    path: str,
    report: Report,
    *,
    classes: str = "5",
    coordination: str = "whole",
    split: str = "",
    by: str = "sentence",
    tokens: str = "split",
) -> Iterator[Document]:
    """Yield the articles of the GENIA term corpus.

    Parameters
    ----------
    path
        The folder with ``GENIAcorpus3.02.xml`` and the ``.pos`` files, or the XML file. Without ``.pos`` files
        there are no tags, and tokens are what stands between spaces.
    classes
        ``5``: protein, DNA, RNA, cell_line, cell_type; ``22``: all, with protein, DNA and RNA collapsed; ``leaf``:
        all 36.
    coordination
        ``whole``: a coordination is one mention; ``continuous``: and so is each of its members that stands in one piece
        (as in Alex et al. 2007); ``expand``: it is its members, many of them discontinuous.
    split
        train, dev or test; all without it.
    by
        What the split counts: ``sentence`` (as in the papers; an article may come in two pieces) or ``document``.
    tokens
        ``split``: words of the POS text, cut at hyphens and slashes; ``pos``: as they are there. Both are cut at
        the edges of mentions; pieces keep the word's tag.
    """
    choice("classes", classes, ("5", "22", "leaf"))
    choice("coordination", coordination, ("whole", "continuous", "expand"))
    choice("split", split, SENTENCES)
    choice("by", by, ("sentence", "document"))
    choice("tokens", tokens, ("split", "pos"))
    file, tagged = _files(path)
    content = whole(file)
    first, last = (SENTENCES if by == "sentence" else ARTICLES)[split]
    reader = _Reader(str(file), content, report, classes, coordination, tokens == "split")
    found = reader.locate(records(tagged, report) if tagged else None)
    seen = 0
    batch: list[_Article] = []
    for number, article in enumerate(found):
        if by == "sentence":
            article.chosen = range(max(first - seen, 0), min(last - seen, article.sentences))
            seen += article.sentences
        elif not first <= number < last:
            article.chosen = range(0)
        if article.chosen:
            batch.append(article)
        if len(batch) == _BATCH:
            yield from reader.articles(batch)
            batch = []
        if (seen if by == "sentence" else number + 1) >= last:
            break
    yield from reader.articles(batch)


def _files(path: str) -> tuple[Path, list[str]]:
    root = Path(path)
    if root.is_dir():
        found = sorted(root.glob("GENIAcorpus*.xml"))
        if not found:
            raise CorpusError("no GENIAcorpus*.xml in this folder", path)
        file = found[0]
    else:
        file = root
    # The first articles are in the training part.
    order = {"GENIAtrain.pos": 0, "GENIAtest.pos": 1}
    tagged = sorted(file.parent.glob("*.pos"), key=lambda p: (order.get(p.name, 2), p.name))
    return file, [str(p) for p in tagged]


class _Reader:
    """What all articles share."""

    def __init__(self, file: str, content: str, report: Report, classes: str, coordination: str, cut: bool) -> None:
        self.file = file
        self.content = content
        self.report = report
        self.coordination = coordination
        self.cut = cut
        self.classes = classes
        self.ids: dict[str, int] = {}
        self.labels: dict[str, str] = {}

    def locate(self, tagged: Iterator[tuple[str, str]] | None) -> Iterator[_Article]:
        """Find the articles of the XML and give each its POS text."""
        at = count = 0
        while (start := self.content.find(_OPEN, at)) >= 0:
            start += len(_OPEN)
            end = self.content.find(_CLOSE, start)
            if end < 0:
                self.report.broken("markup", self._where(start), f"{_OPEN} is not closed")
                end = len(self.content)
            at, count = end, count + 1
            id_match = _ID.search(self.content, start, end)
            if id_match is None:
                self.report.warning("id", self._where(start), "an article without <bibliomisc>")
            id = id_match[1].strip() if id_match else f"article {count}"
            name, text = next(tagged, ("", None)) if tagged is not None else ("", None)
            if tagged is not None and id_match and not id.endswith(name or " "):
                self.report.warning(
                    "pos-differs", self._where(start), f"article {id} has the POS text of {name or 'none'}"
                )
                text = None
            length = self.content.count("<sentence", start, end)
            yield _Article(id, start, end, text, length, range(length))
        if not count:
            raise CorpusError(f"no {_OPEN} in this file", f"{self.file}:1")

    def _coordinates(self, article: _Article) -> bool:
        """Whether there are members of coordinations to be found."""
        return self.coordination != "whole" and 'sem="(' in self._markup(article)

    def articles(self, batch: list[_Article]) -> Iterator[Document]:
        """Build articles, most of them all at once."""
        from spanloom import _native  # here: other readers do not wait for the core

        fast = [a for a in batch if a.tagged is not None and not self._coordinates(a)]
        with no_collection():
            built = _native.join_tagged_terms(
                [self._markup(a) for a in fast], [a.tagged or "" for a in fast], self._label, inner=self.cut
            )
            quick = {a.start: _usual(made) for a, made in zip(fast, built, strict=True) if made is not None}
        for article in batch:
            id = article.id
            self.ids[id] = self.ids.get(id, 0) + 1
            if self.ids[id] > 1:
                self.report.warning("document-twice", self._where(article.start), f"article {id} again")
                id = f"{id}#{self.ids[id]}"
            made = quick.get(article.start) or self._careful(article)
            title_end = self.content.find(_TITLE_END, article.start, article.end)
            for sentence in made[: self.content.count("<sentence", article.start, max(title_end, article.start))]:
                sentence.meta["section"] = "title"
            yield Document([made[k] for k in article.chosen], id)

    def _markup(self, article: _Article) -> str:
        return self.content[article.start : article.end]

    def _careful(self, article: _Article) -> list[Sentence]:
        """Build the sentences of one article whatever it has."""
        places = list(self._sentences(article))
        if len(places) != article.sentences:
            self.report.broken("markup", self._where(article.start), "a <sentence> of this article is not closed")
            article.chosen = range(min(len(places), article.chosen.stop))
        parsed = [self._parse(place) for place in places]
        words = self._words(article, [text for text, _ in parsed])
        return [self._sentence(text, terms, *words[k], places[k][0]) for k, (text, terms) in enumerate(parsed)]

    def _sentences(self, article: _Article) -> Iterator[Part]:
        """Yield where the content of each sentence begins and ends; what comes after one that is not closed is left."""
        at = article.start
        while (opened := _SENTENCE.search(self.content, at, article.end)) is not None:
            end = self.content.find(_SENTENCE_END, opened.end(), article.end)
            if end < 0:
                return
            yield opened.end(), end
            at = end + len(_SENTENCE_END)

    def _where(self, at: int) -> str:
        return f"{self.file}:{self.content.count(chr(10), 0, at) + 1}"

    def _parse(self, place: Part) -> tuple[str, list[Term]]:
        try:
            return parse(self.content[place[0] : place[1]])
        except BadMarkup as error:
            self.report.broken("markup", self._where(place[0] + error.at), str(error))
            return "", []

    def _words(self, article: _Article, texts: list[str]) -> list[tuple[list[Part], list[str]]]:
        """Every sentence's tokens with their tags."""
        if article.tagged is None:
            return [([m.span() for m in re.finditer(r"\S+", text)], []) for text in texts]
        tagged = split_text(article.tagged)
        if odd := incomplete(article.tagged):
            what = f"article {article.id} has POS text without word or tag: {', '.join(odd[:5])}"
            self.report.warning("pos-incomplete", self._where(article.start), what)
        if len(tagged) == len(texts):
            placed: list[tuple[list[Part], list[str]]] = []
            for text, (words, tags) in zip(texts, tagged, strict=True):
                spans = place(text, words)
                if spans is not None:
                    placed.append((spans, tags))
                elif "".join(words) == "".join(text.split()):
                    placed.extend(place_document([text], [(words, tags)])[0])
                else:
                    break
            if len(placed) == len(texts):
                return placed
        placed, differ = place_document(texts, tagged)
        breaks = len(texts) - len(tagged)
        what = ", ".join(
            [f"{differ} characters differ"] * (differ > 0) + [f"{breaks:+d} sentence breaks"] * (breaks != 0)
        )
        self.report.warning("pos-differs", self._where(article.start), f"article {article.id} and its POS text: {what}")
        return placed

    def _label(self, sem: str) -> str:
        """The label of a class name; empty if the class is not asked for."""
        label = self.labels.get(sem)
        if label is None:
            leaf = next((atom for atom in sem.strip("()").replace(")", " ").split() if atom.startswith("G#")), "")[2:]
            label = _GROUP.sub(r"\1", leaf) if self.classes != "leaf" else leaf
            if self.classes == "5" and label not in FIVE:
                label = ""
            self.labels[sem] = label
        return label

    def _sentence(self, text: str, terms: list[Term], spans: list[Part], tags: list[str], at: int) -> Sentence:
        wanted: list[tuple[str, Parts, dict[str, str]]] = []
        edges: set[int] = set()
        for term in terms:
            sem = term.sem
            if not sem:
                continue
            label = self._label(sem)
            if not label:
                continue
            if sem[0] == "(" and self.coordination != "whole":
                wanted.extend(self._members(text, term, label, at))
            elif (place := self._solid(text, term, at)) is not None:
                wanted.append((label, (place,), {"lex": unescape(term.lex), "sem": sem}))
        for _, parts, _ in wanted:
            for part in parts:
                edges.update(part)
        spans, tags = _cut(text, spans, tags, edges, self.cut)
        first = {s: i for i, (s, _) in enumerate(spans)}
        last = {e: i for i, (_, e) in enumerate(spans, 1)}
        # Terms of one label on the same tokens are kept: they differ in their attributes.
        mentions = [
            Mention(label, tuple([(first[s], last[e]) for s, e in parts]), None, attributes)
            for label, parts, attributes in wanted
        ]
        columns = {"pos": tags} if tags else {}
        return Sentence([text[s:e] for s, e in spans], mentions, columns, text, spans)

    def _solid(self, text: str, term: Term, at: int) -> Part | None:
        """The place of a term without white space at its edges; None, with a report, if nothing is left."""
        surface = text[term.start : term.end]
        if not surface.strip():
            self.report.error("blank", self._where(at), f"{term.sem} around {surface!r} has no text")
            return None
        start, end = term.start + len(surface) - len(surface.lstrip()), term.start + len(surface.rstrip())
        if end - start != len(surface):
            self.report.warning(
                "white-space-edge", self._where(at), f"{term.sem} {surface!r} has white space at its edge"
            )
        return start, end

    def _members(self, text: str, term: Term, label: str, at: int) -> Iterator[tuple[str, Parts, dict[str, str]]]:
        found, missing = members(text, term)
        for lex, parts in found:
            if self.coordination == "expand" or len(parts) == 1:
                yield label, parts, {"lex": lex, "sem": term.sem}
        for lex in missing:
            whole = text[term.start : term.end]
            self.report.warning("coordination", self._where(at), f"member {lex!r} is not to be found in {whole!r}")
        keep = self.coordination == "continuous" or not found
        if keep and (place := self._solid(text, term, at)) is not None:
            yield label, (place,), {"lex": term.lex, "sem": term.sem}


def _usual(sentences: list[_Parts]) -> list[Sentence]:
    return [
        Sentence(
            tokens,
            [Mention(label, parts, None, attributes) for label, parts, attributes in terms],
            {"pos": tags},
            text,
            spans,
        )
        for text, tokens, spans, tags, terms in sentences
    ]


def _cut(text: str, spans: list[Part], tags: list[str], edges: set[int], inner: bool) -> tuple[list[Part], list[str]]:
    """Cut tokens at the edges of mentions and, if ``inner``, around hyphens and slashes."""
    known = {s for s, _ in spans}
    known.update(e for _, e in spans)
    cuts = edges - known
    if inner and ("-" in text or "/" in text):
        for match in _INNER.finditer(text):
            cuts.update(match.span())
        cuts -= known
    if not cuts:
        return spans, tags
    ordered = sorted(cuts)
    ordered.append(1 << 62)
    pieces: list[Part] = []
    chosen: list[str] = []
    k = 0
    cut = ordered[0]
    for i, (start, end) in enumerate(spans):
        while cut <= start:
            k += 1
            cut = ordered[k]
        while cut < end:
            pieces.append((start, cut))
            if tags:
                chosen.append(tags[i])
            start = cut
            k += 1
            cut = ordered[k]
        pieces.append((start, end))
        if tags:
            chosen.append(tags[i])
    return pieces, chosen
