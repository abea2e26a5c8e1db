"""brat standoff: ``NAME.txt`` with the text and ``NAME.ann`` with the annotations; a file pair or a folder of them.

Mentions are ``T`` lines, discontinuous ones with ``0 5;12 17``. Attributes (``A``, ``M``) and notes (``#``) on a
mention become its attributes by name (a note's name is its type), normalisations (``N``) become the attribute
``Reference``; a note of type ``prob`` is the probability. Other lines (relations, events, …) are kept as they are
in the document's meta ``brat``, and the mentions of such a document keep their ids in the attribute ``id``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from spanloom.base.errors import CorpusError, ParameterError
from spanloom.base.files import whole_files
from spanloom.base.wording import spoken
from spanloom.corpus.document import Document
from spanloom.corpus.mention import Mention, Part, Parts
from spanloom.formats.align import CharMention
from spanloom.formats.lines import lines, whole
from spanloom.formats.loss import Unwritten
from spanloom.formats.raw import from_text
from spanloom.formats.reading import choice
from spanloom.formats.report import Report
from spanloom.formats.writing import final_name

takes_folders = True
keeps_probabilities = True

_MENTION = re.compile(r"(T\S*)\t(\S+) (-?\d+ -?\d+(?:;-?\d+ -?\d+)*)(?:\t(.*))?")
_ATTRIBUTE = re.compile(r"[AM]\S*\t(\S+) (T\S*)(?: (\S+))?\s*")
_NOTE = re.compile(r"#\S*\t(\S+) (T\S*)\t(.*)")
_NORMAL = re.compile(r"N\S*\tReference (T\S*) (\S+)(?:\t(.*))?")


def read(
    path: str,
    report: Report,
    *,
    align: str = "strict",
    tokens: str = "",
    sentences: str = "default",
    encoding: str = "utf-8",
) -> Iterator[Document]:
    """Yield the documents of a folder (and its subfolders), or of one ``.ann`` or ``.txt`` file.

    Parameters
    ----------
    align
        What to do with mentions inside tokens: strict, expand, contract or split.
    tokens, sentences
        ``tokens=space&sentences=lines`` for text that is tokenised already; see ``formats.raw.from_text``.
    encoding
        Of the texts and the annotations.
    """
    root = Path(path)
    if root.is_dir():
        stems = sorted({p.with_suffix("") for ending in ("*.txt", "*.ann") for p in root.rglob(ending)})
        if not stems:
            raise CorpusError("no .txt or .ann file in this folder", path)
    else:
        stems, root = [root.with_suffix("")], root.parent
    without: list[str] = []
    for stem in stems:
        text_file, notes = _with(stem, ".txt"), _with(stem, ".ann")
        id = stem.relative_to(root).as_posix()
        try:
            text = whole(text_file, encoding, report)
        except CorpusError as error:
            report.broken("text", error.where, error.what)
            continue
        mentions, rest = _annotations(notes, text, report, encoding) if notes.exists() else ([], [])
        if not notes.exists():
            without.append(str(text_file.relative_to(root)))
        meta = {"brat": rest} if rest else {}
        yield from_text(
            text, mentions, report, str(notes), id=id, align_by=align, tokens=tokens, sentences=sentences, meta=meta
        )
    if without and not report.replaced:
        named = f"{', '.join(without[:3])}{' …' if len(without) > 3 else ''}"
        have = "has no .ann file and counts" if len(without) == 1 else "have no .ann file and count"
        report.warning(
            "without-ann",
            path,
            f"{len(without):,} of {len(stems):,} texts {have} as annotated, without any mention: {named}; move texts "
            "that nobody has annotated elsewhere, and give the others an empty .ann file",
        )


def write(docs: Iterable[Document], path: str, report: Report, *, overwrite: str = "no", digits: str = "") -> None:
    """Write ``ID.txt`` and ``ID.ann`` for every document into a folder, or the pair of ``NAME.ann``; all files or none.

    A document whose files are there already ends the documents: those before it are kept elsewhere.

    Parameters
    ----------
    overwrite
        ``yes`` replaces annotations that are there already, maybe corrected by hand. A text that is there already and
        differs is never replaced without it.
    digits
        How many significant digits probabilities have; by default as many as it takes to read the same numbers.
    """
    choice("overwrite", overwrite, ("yes", "no"))
    if digits and not (digits.isdecimal() and 1 <= int(digits) <= 17):
        raise ParameterError(f"option digits={digits!r} must be a number from 1 to 17")
    single = path.lower().endswith(".ann")
    folder = Path(path).parent if single else Path(path)
    unwritten = Unwritten("brat")
    name_of = final_name(path, report)
    names: set[str] = set()

    def name(place: Path) -> Path:
        return place if single else name_of(place)

    with whole_files(folder, name=name) as place:
        for k, doc in enumerate(docs):
            if single and k:
                raise CorpusError(
                    f"{path} holds one document, and there are more; give a folder: {Path(path).with_suffix('')}/"
                )
            stem = Path(path).stem if single else _file_name(doc.id or f"document-{k + 1}")
            if stem in names:
                raise CorpusError(f"two documents have the id {stem!r}; brat needs one file name each")
            names.add(stem)
            try:
                same = _has_text(folder / stem, doc.text, overwrite, path)
            except CorpusError as error:
                if not k:
                    raise
                report.stopped, report.documents = error, k
                break
            file = place / stem
            file.parent.mkdir(parents=True, exist_ok=True)
            if not same:
                _with(file, ".txt").write_bytes(doc.text.encode())
            _with(file, ".ann").write_bytes("".join(f"{line}\n" for line in _lines(doc, unwritten, digits)).encode())
        if single and report.stopped is not None:
            raise report.stopped
    unwritten.tell(report, path)


def check_target(path: str, *, overwrite: str = "no", digits: str = "") -> None:
    """Refuse to replace annotations, unless that is wanted; those of a folder are seen to document by document."""
    target = Path(path)
    single = path.lower().endswith(".ann")
    if not single and target.exists() and not target.is_dir():
        raise CorpusError("brat writes a folder, or a pair of files if the name ends in .ann; this is a file", path)
    if single:
        _check_free(target, path, overwrite)


def _check_free(notes: Path, path: str, overwrite: str) -> None:
    if notes.exists() and overwrite != "yes":
        raise CorpusError(
            f"there is {notes} already, maybe corrected by hand; write elsewhere, or replace files of the same names "
            f"with {_overwriting(path)}"
        )


def _overwriting(path: str) -> str:
    return f"{spoken('--overwrite', 'overwrite=yes')} ('brat:{path}?overwrite=yes')"


def _has_text(stem: Path, text: str, overwrite: str, path: str) -> bool:
    """Whether the text of a document is there already; an error if something is there that may not be replaced."""
    _check_free(_with(stem, ".ann"), path, overwrite)
    file = _with(stem, ".txt")
    there = file.exists()
    same = there and file.read_bytes().removeprefix(b"\xef\xbb\xbf") == text.encode()
    if there and not same and overwrite != "yes":
        raise CorpusError(
            f"{file} is there already, with another text; write elsewhere, or replace it with {_overwriting(path)}"
        )
    return same


def _with(stem: Path, ending: str) -> Path:
    return stem.with_name(stem.name + ending)


def _file_name(id: str) -> str:
    path = PurePosixPath(id)
    if path.is_absolute() or any(part in ("..", ".") for part in path.parts) or "\0" in id or "\\" in id:
        raise CorpusError(f"document id {id!r} cannot be a file name inside a folder")
    return path.as_posix().removesuffix(".txt")  # a document that was read from a text file has its name


def _annotations(path: Path, text: str, report: Report, encoding: str) -> tuple[list[CharMention], list[str]]:
    found: dict[str, tuple[str, Parts, str]] = {}
    attributes: dict[str, dict[str, str]] = {}
    probs: dict[str, float] = {}
    later: list[tuple[str, str, str, str]] = []
    rest: list[str] = []
    for number, line in lines(path, report, encoding):
        where = f"{path}:{number}"
        if not line.strip():
            continue
        if line.startswith("T"):
            match = _MENTION.fullmatch(line)
            if match is None:
                report.broken("syntax", where, f"expected 'ID<tab>LABEL START END<tab>TEXT', not {line[:60]!r}")
                continue
            id, label, places, surface = match.groups()
            if id in found:
                report.broken("duplicate-id", where, f"{id} occurs twice")
                continue
            pairs = tuple(_part(pair) for pair in places.split(";"))
            found[id] = (label, pairs, where)
            attributes[id] = {}
            _check_surface(text, label, pairs, surface, report, where)
        elif match := _ATTRIBUTE.fullmatch(line):
            later.append((match[2], match[1], match[3] or "", where))
        elif match := _NOTE.fullmatch(line):
            later.append((match[2], match[1], match[3], where))
        elif match := _NORMAL.fullmatch(line):
            later.append((match[1], "Reference", f"{match[2]} {match[3] or ''}".rstrip(), where))
        elif line[0] in "REAMN#*":
            rest.append(line)
        else:
            report.broken("syntax", where, f"a line must begin with T, R, E, A, M, N, # or *, not {line[:60]!r}")
    for id, name, value, where in later:
        if id not in found and name == "prob" and _probability(value) is not None:
            report.warning("dangling", where, f"the probability of {id}, which is not there, is left out")
        elif id not in found:
            report.error("dangling", where, f"{name} is about {id}, which is not there")
        elif name == "prob" and (prob := _probability(value)) is not None:
            probs[id] = prob
        else:
            key, k = name, 2
            while key in attributes[id]:
                key, k = f"{name}.{k}", k + 1
            attributes[id][key] = value
    if rest:
        for id, values in attributes.items():
            values["id"] = id
    mentions = [
        CharMention(label, pairs, probs.get(id), attributes[id], where) for id, (label, pairs, where) in found.items()
    ]
    return mentions, rest


def _part(pair: str) -> Part:
    start, end = pair.split(" ")
    return (int(start), int(end))


def _probability(value: str) -> float | None:
    try:
        prob = float(value)
    except ValueError:
        return None
    return prob if 0 <= prob <= 1 else None


def _check_surface(text: str, label: str, pairs: Parts, surface: str | None, report: Report, where: str) -> None:
    if surface is None or any(not 0 <= s < e <= len(text) for s, e in pairs):
        return
    there = " ".join(text[s:e] for s, e in pairs)
    if " ".join(surface.split()) != " ".join(there.split()):
        report.error("text-mismatch", where, f"{label} {pairs} is said to be {surface!r}, but the text has {there!r}")


def _lines(doc: Document, unwritten: Unwritten, digits: str) -> Iterator[str]:
    """The lines of an ``.ann`` file."""
    spans = doc.spans
    rest = doc.meta.get("brat", [])
    unwritten.note("document meta", set(doc.meta) - {"brat"})
    for sentence in doc.sentences:
        unwritten.note("columns", sentence.columns)
        unwritten.note("own features", sentence.features is not None)
        unwritten.note("sentence meta", sentence.meta)
    taken = {m.attributes["id"] for m in doc.mentions if rest and "id" in m.attributes}
    fresh = (f"T{k}" for k in range(1, 1 << 62) if f"T{k}" not in taken)
    used: set[str] = set()
    number = 0
    for mention in doc.mentions:
        if re.search(r"\s", mention.label) or not mention.label:
            raise CorpusError(
                f"document {doc.id!r}: label {mention.label!r} has white space or is empty; brat cannot hold it"
            )
        own = mention.attributes.get("id", "") if rest else ""
        id = own if own and own not in used else next(fresh)
        used.add(id)
        pieces = [piece for s, e in mention.parts for piece in _pieces(doc.text, spans[s][0], spans[e - 1][1])]
        places = ";".join(f"{s} {e}" for s, e in pieces)
        yield f"{id}\t{mention.label} {places}\t{' '.join(doc.text[s:e] for s, e in pieces)}"
        for name, value in _facts(mention, digits):
            if rest and name == "id":
                continue
            number += 1
            if re.search(r"\s", name) or not name or "\n" in value or "\r" in value:
                unwritten.note("attributes with white space in their name or line breaks", True)
            elif name == "Reference" and value and value[0] != " ":
                key, _, title = value.partition(" ")
                yield f"N{number}\t{name} {id} {key}{chr(9) + title if title else ''}"
            elif not value or (re.fullmatch(r"\S+", value) and name != "prob"):
                yield f"A{number}\t{name} {id}{' ' + value if value else ''}"
            else:
                yield f"#{number}\t{name} {id}\t{value}"
    yield from rest


def _facts(mention: Mention, digits: str) -> Iterator[tuple[str, str]]:
    yield from mention.attributes.items()
    if mention.prob is not None:
        yield "prob", repr(_rounded(float(mention.prob), int(digits or 17)))


def _rounded(prob: float, digits: int) -> float:
    """Return a probability with so many significant digits, or more where they would make it certain.

    Examples
    --------
    >>> _rounded(0.12345678901, 6), _rounded(0.00012345678901, 6), _rounded(0.99999994321, 6), _rounded(1.0, 6)
    (0.123457, 0.000123457, 0.9999999, 1.0)
    """
    near = float(f"{prob:.{digits}g}")
    return near if near < 1 or prob == 1 else _rounded(prob, digits + 1)


def _pieces(text: str, start: int, end: int) -> Iterator[Part]:
    """brat's mentions do not run over lines: one that does is written as a part per line."""
    for match in re.finditer(r"[^\r\n]+", text[start:end]):
        piece = match[0]
        left, right = len(piece) - len(piece.lstrip()), len(piece.rstrip())
        if left < right:
            yield (start + match.start() + left, start + match.start() + right)
