"""ACE 2004 and 2005: ``ace:DIR``, pairs of ``NAME.sgm`` and ``NAME.apf.xml`` in a folder and its subfolders.

Offsets count the characters of the ``.sgm`` file without its tags, the end included. A mention is an ``entity_mention``
of an ``entity``, and its label the type of the entity (PER, ORG, GPE, …). Only the body of a document is text; what
stands outside is blank. Single line breaks are blanks too, since lines are wrapped.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from spanloom.base.errors import CorpusError
from spanloom.corpus.document import Document
from spanloom.corpus.mention import Part
from spanloom.formats.align import CharMention
from spanloom.formats.raw import from_text
from spanloom.formats.reading import choice
from spanloom.formats.report import Report
from spanloom.formats.xml import declares_entities

takes_folders = True

LEVELS = ("NAM", "NOM", "PRO", "PRE")
_ENDING = ".apf.xml"
_TAG = re.compile(r"<[^<>]*>")
_BREAK = re.compile(r"(?<!\n)\n(?!\n)")


def read(
    path: str, report: Report, *, documents: str = "", levels: str = "", extent: str = "full", align: str = "split"
) -> Iterator[Document]:
    """Yield the documents of a folder, in the order of their paths.

    Parameters
    ----------
    documents
        A file with the names of those that are wanted, one a line, without endings: the lists of a split.
    levels
        The mentions that are wanted, by their type: some of NAM, NOM, PRO and PRE (names
        before a noun, in ACE 2004) with commas between them; all if empty.
    extent
        ``full``, or ``head`` for the heads of mentions.
    align
        What to do with mentions inside tokens: strict, expand, contract or split.
    """
    choice("extent", extent, ("full", "head"))
    wanted = _levels(levels)
    for name, file in _files(path, documents).items():
        found = _document(file, name, report, wanted, extent, align)
        if found is not None:
            yield found
    if not documents:
        _tell_unpaired(path, report)


def _files(path: str, documents: str) -> dict[str, Path]:
    """Return the annotation files that are wanted, by name; each name must stand for one file."""
    if not Path(path).is_dir():
        raise CorpusError(f"a file, and ACE is read by folders; name its folder: ace:{Path(path).parent}", path)
    files: dict[str, Path] = {}
    for file in sorted(Path(path).rglob(f"*{_ENDING}")):
        name = file.name.removesuffix(_ENDING)
        if name in files:
            raise CorpusError(
                f"{name} is there twice, as {files[name]} and {file}; passes of annotation lie side by side: "
                "name one of their folders",
                path,
            )
        files[name] = file
    if not files:
        raise CorpusError(f"there are no files *{_ENDING}", path)
    if not documents:
        return files
    names = _text(Path(documents)).split()
    if not names:
        raise CorpusError(
            "the list of documents has no name; write one a line, without endings, or leave out documents=", documents
        )
    if missing := sorted(set(names) - set(files)):
        raise CorpusError(
            f"{len(missing)} of the documents that are wanted are not in {path}, such as {missing[0]}; "
            "names stand one a line, without endings",
            documents,
        )
    return {name: file for name, file in files.items() if name in set(names)}


def _tell_unpaired(path: str, report: Report) -> None:
    """Say which texts have no annotation."""
    texts = sorted(Path(path).rglob("*.sgm"))
    alone = [str(text.relative_to(path)) for text in texts if not text.with_suffix(_ENDING).exists()]
    if alone:
        are = "has no .apf.xml file and is" if len(alone) == 1 else "have no .apf.xml file and are"
        report.warning(
            "without-apf",
            path,
            f"{len(alone):,} of {len(texts):,} texts {are} not read: "
            f"{', '.join(alone[:3])}{' …' if len(alone) > 3 else ''}",
        )


def _levels(given: str) -> tuple[str, ...]:
    return tuple(choice("levels", one, LEVELS) for one in given.split(",")) if given else ()


def _document(file: Path, name: str, report: Report, wanted: Sequence[str], extent: str, align: str) -> Document | None:
    source = file.with_name(f"{name}.sgm")
    if not source.exists():
        report.broken("no-text", str(file), f"there is no {source.name} beside it")
        return None
    if declares_entities(str(file)):
        report.broken("unreadable", str(file), "it declares entities, which could grow without end; it is not read")
        return None
    try:
        root = ElementTree.parse(file).getroot()
        mentions = [m for entity in root.iter("entity") for m in _mentions(entity, wanted, extent)]
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # LookupError: an encoding nobody knows
        report.broken("unreadable", str(file), f"not an annotation of ACE: {error}")
        return None
    said = [text for _, text in mentions]
    placed = [mention for mention, _ in mentions]
    text = _best(_text(source), placed, said)
    for mention, words in mentions:
        _check(text, mention, words, str(file), report)
    return from_text(text, placed, report, str(file), id=name, align_by=align)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"cannot be read: {error}", str(path)) from None


def _mentions(entity: ElementTree.Element, wanted: Sequence[str], extent: str) -> Iterator[tuple[CharMention, str]]:
    """Yield the mentions of an entity, with the words that the annotation says they have."""
    for mention in entity.iter("entity_mention"):
        level = mention.get("TYPE", "")
        if wanted and level not in wanted:
            continue
        place = mention.find(f"{'extent' if extent == 'full' else 'head'}/charseq")
        if place is None:
            raise ValueError(f"mention {mention.get('ID')} has no place")
        start, end = (int(place.get(side, "")) for side in ("START", "END"))
        if not 0 <= start <= end:
            raise ValueError(f"mention {mention.get('ID')} is at {start} to {end}")
        attributes = {"entity": entity.get("ID", ""), "level": level, "subtype": entity.get("SUBTYPE", "")}
        kept = {name: value for name, value in attributes.items() if value}
        yield CharMention(entity.get("TYPE", ""), ((start, end + 1),), attributes=kept), place.text or ""


def _best(raw: str, mentions: Sequence[CharMention], said: Sequence[str]) -> str:
    """Return the text in whose characters offsets count: as it stands, or with ``&amp;`` and its like as one."""
    texts = [_body(raw, unescape=False), _body(raw, unescape=True)]
    places = [mention.chars[0] for mention in mentions]
    wrong = [sum(not _agrees(text, place, words) for place, words in zip(places, said, strict=True)) for text in texts]
    return texts[0] if wrong[0] <= wrong[1] else texts[1]


def _body(raw: str, *, unescape: bool) -> str:
    """Return the text without tags, with blanks for what stands outside of the body and for single line breaks."""
    pieces: list[str] = []
    inside, at = not re.search(r"<(?:BODY|TEXT)>", raw), 0
    within = "BODY" if "<BODY>" in raw else "TEXT"
    for tag in (*_TAG.finditer(raw), None):
        piece = raw[at : tag.start() if tag else len(raw)]
        piece = html.unescape(piece) if unescape else piece
        pieces.append(piece if inside else re.sub(r"[^\n]", " ", piece))
        if tag is not None:
            at = tag.end()
            inside = True if tag[0] == f"<{within}>" else False if tag[0] == f"</{within}>" else inside
    return _BREAK.sub(" ", "".join(pieces))


def _agrees(text: str, place: Part, words: str) -> bool:
    mine = " ".join(text[slice(*place)].split())
    return " ".join(words.split()) in (mine, html.unescape(mine))


def _check(text: str, mention: CharMention, words: str, where: str, report: Report) -> None:
    (start, end) = mention.chars[0]
    if not _agrees(text, (start, end), words):
        found = " ".join(text[start:end].split())
        report.error(
            "text-mismatch", where, f"{mention.label} {start}-{end} is {found!r}, the annotation says {words!r}"
        )
