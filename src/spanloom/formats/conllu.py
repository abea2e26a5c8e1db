"""CoNLL-U: trees, with mentions in MISC (``Entity=(1-person-…``) or from a joined ``.iob2`` file.

Columns: ``lemma``, ``upos``, ``pos`` (XPOS), ``feats``, ``head``, ``deprel``, ``deps``, ``misc`` (without the
entities). Comments ``# key = value`` become the sentence's meta, those that begin with ``meta::`` the document's.
Multiword tokens (``3-4``) and empty nodes (``8.1``) are kept as lines in the sentence's meta ``extra``; the words
of a multiword token stand at its characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from spanloom.base.errors import CorpusError
from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.mention import Mention, Part
from spanloom.corpus.tags import from_tags
from spanloom.formats.brackets import FIELDS, from_brackets, to_brackets
from spanloom.formats.comments import name_and_value, newdoc, sentence_comments
from spanloom.formats.lines import lines
from spanloom.formats.loss import Unwritten
from spanloom.formats.report import Report
from spanloom.formats.writing import target

_ANNOTATED = ("lemma", "upos", "pos", "head", "deprel")
COLUMNS = ("lemma", "upos", "pos", "feats", "head", "deprel", "deps", "misc")
_WORD_ID = re.compile(r"\d+")
_EXTRA_ID = re.compile(r"(\d+)-(\d+)|\d+\.\d+")

Tags = Mapping[str, list[str]]


@dataclass
class _Block:
    """The lines of one sentence."""

    comments: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    first: int = 0
    extra: list[tuple[int, list[str]]] = field(default_factory=list)
    broken: bool = False


@dataclass
class _State:
    """What goes from sentence to sentence."""

    fields: tuple[str, ...] = FIELDS
    id: str = ""
    meta: dict[str, Any] = field(default_factory=dict)
    sentences: list[Sentence] = field(default_factory=list)
    begun: bool = False

    def document(self) -> Document:
        doc = Document(self.sentences, self.id, meta=self.meta)
        self.sentences, self.meta, self.begun = [], {}, False
        return doc


def read(path: str, report: Report, *, iob2: str = "", ignore: str = "") -> Iterator[Document]:
    """Yield the documents of a CoNLL-U file.

    Parameters
    ----------
    iob2
        A file with columns number, word and tag, joined by ``sent_id``; without it, mentions are those of MISC.
    ignore
        Labels of that file that are no mentions, joined by commas.
    """
    tags = read_tags(iob2, report, frozenset(ignore.split(","))) if iob2 else None
    state = _State(id=Path(path).stem)
    name = "standard input" if path == "-" else path
    for block in _blocks(path, report):
        for comment in block.comments:
            key, value = name_and_value(comment) or (comment.lstrip("# "), "")
            if key == "global.Entity":
                state.fields = tuple(value.split("-"))
                if state.fields[:1] != ("GRP",) or "etype" not in state.fields:
                    report.broken("brackets", f"{name}:{block.first}", f"fields {value!r} must have GRP and etype")
                    state.fields = FIELDS
            elif key in ("newdoc id", "newdoc"):
                if state.begun or state.sentences:
                    yield state.document()
                state.id, state.begun = value, True
            elif key.startswith("meta::"):
                state.meta[key[6:]] = value
        if block.rows and not block.broken:
            state.sentences.append(_sentence(block, state.fields, tags, report, name))
    if state.begun or state.sentences:
        yield state.document()


def write(docs: Iterable[Document], path: str, report: Report) -> None:
    """Write documents as CoNLL-U, mentions in bracket notation in MISC; missing columns are ``_``."""
    unwritten = Unwritten("conllu")
    with target(path, report) as out:
        for k, doc in enumerate(docs):
            out.write(newdoc(_one_line(doc.id, f"the id of document {k}")))
            fields = _fields(doc)
            out.write(f"# global.Entity = {'-'.join(fields)}\n")
            for key, value in doc.meta.items():
                if isinstance(value, str) and "=" not in key and "\n" not in key + value:
                    out.write(f"# meta::{key} = {value}\n")
                else:
                    unwritten.note("document meta that is not a string", True)
            number = 1 + max(
                (int(g) for m in doc.mentions if (g := m.attributes.get("GRP", "")).isdecimal()), default=0
            )
            for s, sentence in enumerate(doc.sentences):
                try:
                    number = _write_sentence(sentence, fields, number, out, unwritten)
                except CorpusError as error:
                    raise CorpusError(error.what, f"document {doc.id or k}, sentence {s}") from None
    unwritten.tell(report, path)


def read_tags(path: str, report: Report, ignore: frozenset[str]) -> dict[str, list[str]]:
    """Return the tags of an ``.iob2`` file by ``sent_id``; ignored labels become ``O``."""
    tags: dict[str, list[str]] = {}
    current: list[str] = []
    for number, line in lines(path, report):
        if line.startswith("# sent_id"):
            id = line.partition("=")[2].strip()
            if id in tags:
                report.broken("sentence-twice", f"{path}:{number}", f"sent_id {id} again")
            current = tags.setdefault(id, [])
        elif line and not line.startswith("#"):
            cells = line.split("\t")
            if len(cells) < 3:
                report.broken("columns", f"{path}:{number}", f"expected number, word and tag, not {line[:40]!r}")
                continue
            current.append("O" if cells[2][2:] in ignore else cells[2])
    return tags


def _blocks(path: str, report: Report) -> Iterator[_Block]:
    name = "standard input" if path == "-" else path
    block = _Block()
    for number, line in lines(path, report):
        if not line.strip():
            if block.rows or block.extra or block.broken:
                yield block
                block = _Block()
            continue
        block.first = block.first or number
        if line.startswith("#"):
            block.comments.append(line)
            continue
        cells = line.split("\t")
        problem = _problem(cells, len(block.rows) + 1)
        if problem:
            report.broken("columns", f"{name}:{number}", problem)
            block.broken = True
        elif _WORD_ID.fullmatch(cells[0]):
            block.rows.append(cells)
            block.numbers.append(number)
        else:
            block.extra.append((len(block.rows), cells))
    if block.first:
        yield block


def _problem(cells: list[str], expected: int) -> str:
    if len(cells) != 10:
        return f"{len(cells)} columns separated by tabs, but CoNLL-U has 10"
    if _WORD_ID.fullmatch(cells[0]):
        if cells[0] != str(expected):
            return f"word {cells[0]} where {expected} should be"
        return "" if cells[1] else "the word is empty"
    return "" if _EXTRA_ID.fullmatch(cells[0]) else f"{cells[0]!r} is not a word number"


def _sentence(block: _Block, fields: tuple[str, ...], tags: Tags | None, report: Report, name: str) -> Sentence:
    text, meta = sentence_comments(
        block.comments, lambda key: key in ("newdoc id", "newdoc", "global.Entity") or key.startswith("meta::")
    )
    if block.extra:
        meta["extra"] = [[place, "\t".join(cells)] for place, cells in block.extra]
    tokens = [row[1] for row in block.rows]
    columns = {column: [row[i] for row in block.rows] for i, column in enumerate(COLUMNS, 2)}

    def complain(token: int, message: str) -> None:
        report.error("brackets" if tags is None else "tags", f"{name}:{block.numbers[token]}", message)

    brackets, columns["misc"] = _split_misc(columns["misc"])
    if tags is None:
        mentions = from_brackets(brackets, fields, complain)
    else:
        mentions = _tagged(meta.get("sent_id", ""), tags, len(tokens), report, f"{name}:{block.first}", complain)
    misc = columns["misc"]
    for column in _ANNOTATED:
        if all(value == "_" for value in columns[column]):
            del columns[column]  # nobody has annotated it yet: a tagger or parser may
    units = _units(block)
    spans = _find(units, text, tokens) if text is not None else None
    if spans is None:
        if text is not None:
            report.warning("text-mismatch", f"{name}:{block.first}", f"the words are not the text {text[:60]!r}")
        text, spans = _spaced(units, misc, block)
    return Sentence(tokens, mentions, columns, text or "", spans, meta=meta)


def _split_misc(values: list[str]) -> tuple[list[str], list[str]]:
    """The brackets of ``Entity=``, and MISC without them."""
    brackets = [""] * len(values)
    rest = list(values)
    for i, value in enumerate(values):
        if "Entity=" in value:
            items = value.split("|")
            brackets[i] = "".join(item[7:] for item in items if item.startswith("Entity="))
            rest[i] = "|".join(item for item in items if not item.startswith("Entity=")) or "_"
    return brackets, rest


def _tagged(id: str, tags: Tags, length: int, report: Report, where: str, complain: Any) -> list[Mention]:
    own = tags.get(id)
    if own is None or len(own) != length:
        what = "is not in the file of tags" if own is None else f"has {len(own)} tags for {length} words"
        report.error("unjoined", where, f"sentence {id!r} {what}")
        return []
    return [Mention(label, ((start, end),)) for label, start, end in from_tags(own, "auto", complain)]


def _units(block: _Block) -> list[tuple[str, int, int]]:
    """What stands in the text: words and multiword tokens, with the words that each stands for."""
    multi = {}
    for place, cells in block.extra:
        if "-" in cells[0]:
            first, last = map(int, cells[0].split("-"))
            if first == place + 1 and first <= last <= len(block.rows) and cells[1]:
                multi[place] = (cells[1], place, last)
    units: list[tuple[str, int, int]] = []
    i = 0
    while i < len(block.rows):
        units.append(multi.get(i, (block.rows[i][1], i, i + 1)))
        i = units[-1][2]
    return units


def _find(units: list[tuple[str, int, int]], text: str, words: list[str]) -> list[Part] | None:
    """Where the words stand."""
    spans: list[Part] = []
    at = 0
    for unit in units:
        start = text.find(unit[0], at)
        if start < 0:
            return None
        spans.extend(_within(unit, start, words))
        at = start + len(unit[0])
    return spans


def _within(unit: tuple[str, int, int], start: int, words: list[str]) -> list[Part]:
    """Where the words of a unit stand: one after the other if they make it up (do|n't), else all where it does."""
    form, first, last = unit
    if "".join(words[first:last]) != form:
        return [(start, start + len(form))] * (last - first)
    ends = list(accumulate(map(len, words[first:last]), initial=start))
    return list(pairwise(ends))


def _spaced(units: list[tuple[str, int, int]], misc: list[str], block: _Block) -> tuple[str, list[Part]]:
    """Text and spans out of the words and ``SpaceAfter=No``."""
    words = [cells[1] for cells in block.rows]
    after = {place: cells[9] for place, cells in block.extra if "-" in cells[0]}
    text = ""
    spans: list[Part] = []
    for k, (form, first, last) in enumerate(units):
        spans.extend(_within((form, first, last), len(text), words))
        text += form
        own = after.get(first, misc[last - 1]) if last - first > 1 else misc[first]
        if k + 1 < len(units) and "SpaceAfter=No" not in own.split("|"):
            text += " "
    return text, spans


def _fields(doc: Document) -> tuple[str, ...]:
    """GUM's fields as far as the mentions have them, then others."""
    used = {name for mention in doc.mentions for name in mention.attributes}
    known = [name for name in FIELDS[2:] if name in used]
    return ("GRP", "etype", *known, *sorted(used - set(FIELDS)))


def _one_line(value: str, what: str) -> str:
    if "\n" in value or "\r" in value:
        raise CorpusError(f"{what} has a line break, which conllu cannot hold: {value!r}")
    return value


def _write_sentence(sentence: Sentence, fields: tuple[str, ...], number: int, out: Any, unwritten: Unwritten) -> int:
    unwritten.note("own features", sentence.features is not None)
    unwritten.note("columns that CoNLL-U does not have", set(sentence.columns) - set(COLUMNS))
    unwritten.note("probabilities", any(m.prob is not None for m in sentence.mentions))
    for key, value in sentence.meta.items():
        if key == "comments" and isinstance(value, list):
            out.writelines(f"# {_one_line(str(line), 'a comment')}\n" for line in value)
        elif isinstance(value, str) and "=" not in key and "\n" not in key + value:
            out.write(f"# {key} = {value}\n")
        elif key != "extra":
            unwritten.note("sentence meta that is not a string", True)
    if "\n" in sentence.text or "\r" in sentence.text:
        unwritten.note("texts with line breaks", True)
    else:
        out.write(f"# text = {sentence.text}\n")
    brackets, number = to_brackets(sentence.mentions, len(sentence), fields, number)
    extra: dict[int, list[str]] = {}
    for place, line in sentence.meta.get("extra", []):
        extra.setdefault(place, []).append(line)
    for i, token in enumerate(sentence.tokens):
        out.writelines(f"{line}\n" for line in extra.get(i, []))
        cells = [sentence.columns[name][i] if name in sentence.columns else "_" for name in COLUMNS]
        if (
            "misc" not in sentence.columns
            and i + 1 < len(sentence)
            and sentence.spans[i][1] == sentence.spans[i + 1][0]
        ):
            cells[-1] = "SpaceAfter=No"
        if brackets[i]:
            items = [item for item in cells[-1].split("|") if item != "_"]
            cells[-1] = "|".join(sorted([*items, f"Entity={brackets[i]}"], key=str.lower))
        for cell in (token, *cells):
            if not cell or re.search(r"[\t\n\r]", cell):
                raise CorpusError(f"token {token!r}: {cell!r} cannot be a cell of conllu")
        out.write("\t".join([str(i + 1), token, *cells]) + "\n")
    out.writelines(f"{line}\n" for line in extra.get(len(sentence), []))
    out.write("\n")
    return number
