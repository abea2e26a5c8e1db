"""PubTator: ``ID|t|title``, ``ID|a|abstract``, then ``ID<tab>start<tab>end<tab>text<tab>label[<tab>identifier]`` lines.

The document's text is the title, one character, and the abstract, as offsets count it. The identifier is the
attribute ``id``. Relation lines (``ID<tab>type<tab>id<tab>id``) are kept in the document's meta ``relations``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from spanloom.base.counted import counted
from spanloom.base.errors import CorpusError
from spanloom.corpus.document import Document
from spanloom.formats.align import CharMention
from spanloom.formats.lines import lines
from spanloom.formats.loss import Limits, Unwritten
from spanloom.formats.raw import from_text
from spanloom.formats.report import Report
from spanloom.formats.writing import target

_TEXT = re.compile(r"([^|\t]+)\|([ta])\|(.*)")


@dataclass
class _Block:
    id: str = ""
    title: str | None = None
    abstract: str | None = None
    mentions: list[CharMention] = field(default_factory=list)
    surfaces: list[str] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)


def read(path: str, report: Report, *, align: str = "strict", encoding: str = "utf-8") -> Iterator[Document]:
    """Yield the documents of a PubTator file.

    Parameters
    ----------
    align
        What to do with mentions inside tokens: strict, expand, contract or split.
    encoding
        Of the file.
    """
    name = "standard input" if path == "-" else path
    block = _Block()
    first = 0
    for number, line in lines(path, report, encoding):
        where = f"{name}:{number}"
        if not line.strip():
            if block.id:
                yield _document(block, report, f"{name}:{first}", align)
            block = _Block()
            continue
        match = _TEXT.fullmatch(line)
        if match:
            if block.id and match[1] != block.id:
                yield _document(block, report, f"{name}:{first}", align)
                block = _Block()
            if not block.id:
                block.id, first = match[1], number
            if match[2] == "t":
                block.title = match[3]
            else:
                block.abstract = match[3]
            continue
        _annotation(block, line.split("\t"), report, where)
    if block.id:
        yield _document(block, report, f"{name}:{first}", align)


def write(docs: Iterable[Document], path: str, report: Report, *, lossy: str = "") -> None:
    """Write documents as PubTator: the first line of the text is the title, the rest, in one line, the abstract.

    Parameters
    ----------
    lossy
        ``contiguous`` fills the gaps of discontinuous mentions; outermost, innermost or longest leave them out.
    """
    limits = Limits("pubtator", lossy)
    unwritten = Unwritten("pubtator")
    with target(path, report) as out:
        for k, doc in enumerate(docs):
            id = doc.id or str(k + 1)
            title, newline, abstract = doc.text.partition("\n")
            if re.search(r"[|\t\n\r]", id) or re.search(r"[\n\r]", abstract) or "\r" in title:
                raise CorpusError(
                    f"document {id!r}: pubtator holds ids without | and texts of two lines, a title and an abstract"
                )
            out.write(f"{id}|t|{title}\n")
            if newline:
                out.write(f"{id}|a|{abstract}\n")
            spans = doc.spans
            for mention in limits.fit(doc.mentions, report, f"document {id}")[0]:
                start, end = spans[mention.start][0], spans[mention.end - 1][1]
                own = mention.attributes.get("id", "")
                unwritten.note("attributes", set(mention.attributes) - {"id"})
                unwritten.note("probabilities", mention.prob is not None)
                surface = doc.text[start:end].replace("\n", " ")
                cells = [id, str(start), str(end), surface, mention.label, *([own] if own else [])]
                if any("\t" in cell or "\n" in cell for cell in cells) or not mention.label:
                    raise CorpusError(f"document {id!r}: {mention.label!r} {surface!r} cannot be a line of pubtator")
                out.write("\t".join(cells) + "\n")
            out.writelines(f"{id}\t{line}\n" for line in doc.meta.get("relations", []))
            out.write("\n")
            unwritten.note("document meta", set(doc.meta) - {"relations"})
            for sentence in doc.sentences:
                unwritten.note("columns", sentence.columns)
                unwritten.note("own features", sentence.features is not None)
                unwritten.note("sentence meta", sentence.meta)
        limits.raise_errors(report)
    unwritten.tell(report, path)


def _annotation(block: _Block, cells: list[str], report: Report, where: str) -> None:
    if not block.id or cells[0] != block.id:
        report.broken(
            "syntax", where, f"expected 'ID|t|TITLE' or a line of {block.id or 'a document'}, not {cells[0][:40]!r}"
        )
    elif len(cells) >= 5 and cells[1].isdecimal() and cells[2].isdecimal():
        extra = {"id": cells[5]} if len(cells) > 5 and cells[5] else {}
        extra |= {f"field{i}": cell for i, cell in enumerate(cells[6:], 6) if cell}
        if not cells[4]:
            report.broken("label", where, "the label is empty")
            return
        block.mentions.append(CharMention(cells[4], ((int(cells[1]), int(cells[2])),), None, extra, where))
        block.surfaces.append(cells[3])
    elif len(cells) >= 3 and not cells[1].lstrip("-").isdecimal():
        block.relations.append("\t".join(cells[1:]))
    else:
        report.broken(
            "syntax", where, f"expected 'ID<tab>START<tab>END<tab>TEXT<tab>LABEL', not {counted(len(cells), 'field')}"
        )


def _document(block: _Block, report: Report, where: str, align: str) -> Document:
    text = block.title or ""
    if block.abstract is not None:
        text += "\n" + block.abstract
    for mention, surface in zip(block.mentions, block.surfaces, strict=True):
        ((start, end),) = mention.chars
        there = text[start:end].replace("\n", " ")
        if end <= len(text) and start < end and there != surface:
            report.error("text-mismatch", mention.where, f"said to be {surface!r}, but the text has {there!r}")
    meta = {"relations": block.relations} if block.relations else {}
    return from_text(text, block.mentions, report, where, id=block.id, align_by=align, meta=meta)
