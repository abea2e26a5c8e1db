"""Columns: one token a line, an empty line after each sentence, mentions as tags in one column or several.

Read options: ``words`` and ``tags`` are column numbers from 0 (negative ones count from the end; ``tags=3,4`` for
layers), ``columns=pos:1,chunk:2`` names others (those without a name are kept as ``c1``, ``c2``, …), ``scheme`` is
auto, IO, IOB1, IOB2, IOE1, IOE2, IOBES or BILOU, ``encoding`` is another one than UTF-8. Fields are separated by tabs,
or by white space in lines without a tab.

``-DOCSTART-`` or ``# newdoc id = …`` begins a document. ``# key = value`` before a sentence becomes its meta; ``#
text = …`` is its text. ``# global.columns = word pos tags`` (from CoNLL-U Plus, written by us) names the columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spanloom.base.errors import CorpusError, ParameterError
from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.mention import Mention
from spanloom.corpus.tags import OUTSIDE, SCHEMES, from_tags, is_tag, to_tags
from spanloom.formats.comments import name_and_value, newdoc, sentence_comments
from spanloom.formats.lines import lines
from spanloom.formats.loss import Limits, Unwritten
from spanloom.formats.reading import choice
from spanloom.formats.report import Report
from spanloom.formats.writing import target

_COMMENT = re.compile(r"#[^\t]* = |# ?new(doc|par)\b")
_DOCSTART = "-DOCSTART-"


@dataclass
class _Layout:
    """Which column is what."""

    words: int
    tags: list[int]
    names: dict[int, str]


@dataclass
class _Block:
    """The lines of one sentence."""

    comments: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)


def read(
    path: str,
    report: Report,
    *,
    words: str = "",
    tags: str = "",
    columns: str = "",
    scheme: str = "auto",
    encoding: str = "utf-8",
) -> Iterator[Document]:
    """Yield the documents of a file of columns (see the module for the options)."""
    choice("scheme", scheme, ("auto", *SCHEMES))
    layout = _Layout(_number("words", words or "0"), [_number("tags", t) for t in (tags or "-1").split(",")], {})
    for item in filter(None, columns.split(",")):
        name, colon, number = item.rpartition(":")
        if not colon or not name:
            raise ParameterError(f"option columns={columns!r} must be written name:number,name:number")
        layout.names[_number("columns", number)] = name
    fixed = bool(words or tags or columns)
    name = "standard input" if path == "-" else path
    sentences: list[Sentence] = []
    doc_id = ""
    begun = False
    unread = _Unread()
    for block in _blocks(path, report, encoding):
        begins, rows = False, block.rows
        for comment in block.comments:
            key, value = name_and_value(comment) or (comment.lstrip("# "), "")
            if key == "global.columns" and not fixed:
                layout = _named(value.split())
            elif key in ("newdoc id", "newdoc"):
                begins = True
                if sentences or begun:
                    yield Document(sentences, doc_id)
                    sentences = []
                doc_id, begun = value, True
        if rows and rows[0][0] == _DOCSTART:
            if not begins:
                if sentences or begun:
                    yield Document(sentences, doc_id)
                sentences, doc_id, begun = [], "", True
            rows = block.rows = rows[1:]
            block.numbers = block.numbers[1:]
        if rows and (sentence := _sentence(block, layout, scheme, report, name)) is not None:
            sentences.append(sentence)
            unread.look(sentence, layout, len(rows[0]))
    if sentences or begun:
        yield Document(sentences, doc_id)
    unread.tell(report, name)


def write(
    docs: Iterable[Document],
    path: str,
    report: Report,
    *,
    scheme: str = "IOB2",
    layers: str = "1",
    columns: str = "",
    comments: str = "yes",
    lossy: str = "",
) -> None:
    """Write documents as columns separated by tabs.

    Parameters
    ----------
    scheme
        One of ``spanloom.corpus.tags.SCHEMES``: IO, IOB1, IOB2, IOE1, IOE2, IOBES, BILOU, BI, IE, BIES …
    layers
        How many tag columns; nested and crossing mentions need several.
    columns
        Names of the columns to write between word and tags, joined by commas; by default those of the first sentence.
    comments
        ``no`` leaves out ids, texts and meta, for programs that take no comments; documents then begin with
        ``-DOCSTART-``.
    lossy
        How to leave out what does not fit: outermost, innermost, longest, contiguous.
    """
    choice("scheme", scheme, SCHEMES)
    choice("comments", comments, ("yes", "no"))
    if not layers.isdecimal() or int(layers) < 1:
        raise ParameterError(f"option layers={layers!r} must be a whole number from 1")
    limits = Limits("conll", lossy, layers=int(layers))
    unwritten = Unwritten("conll")
    names: list[str] | None = columns.split(",") if columns else None
    with target(path, report) as out:
        for k, doc in enumerate(docs):
            unwritten.note("document meta", doc.meta)
            if names is None:
                names = list(doc.sentences[0].columns) if doc.sentences else []
            if comments == "yes":
                if k == 0:
                    out.write(f"# global.columns = {' '.join(['word', *names, *_tag_names(int(layers))])}\n")
                out.write(newdoc(_one_line(doc.id, f"the id of document {k}")))
            else:
                out.write(f"{_DOCSTART}\t{chr(9).join(['_'] * len(names) + ['O'] * int(layers))}\n\n")
                unwritten.note("document ids", doc.id)
            for s, sentence in enumerate(doc.sentences):
                where = f"document {doc.id or k}, sentence {s}"
                if comments == "yes":
                    _write_comments(sentence, out, unwritten, where)
                _write_rows(sentence, names, limits, scheme, out, report, unwritten, where)
        limits.raise_errors(report)
    unwritten.tell(report, path)


class _Unread:
    """Columns that were kept as they are, but look like the tags of further mentions."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.others: set[int] = set()
        self.tags: list[int] = []

    def look(self, sentence: Sentence, layout: _Layout, width: int) -> None:
        """Count the tokens of each nameless column that begin or continue a mention, if all its values are tags."""
        self.tags = [i % width for i in layout.tags]
        for i in range(width):
            values = sentence.columns.get(f"c{i}")
            if values is None or i in self.others:
                continue
            if all(map(is_tag, values)):
                self.counts[i] = self.counts.get(i, 0) + sum(value != OUTSIDE for value in values)
            else:
                self.others.add(i)

    def tell(self, report: Report, where: str) -> None:
        """Warn about each such column, with what to type to read it or to say that it is something else."""
        for i, count in self.counts.items():
            if count and i not in self.others:
                both = ",".join(map(str, sorted([*self.tags, i])))
                report.warning(
                    "tags-unread",
                    where,
                    f"column {i} looks like tags, too ({count:,} tokens are not {OUTSIDE}), and its mentions were not "
                    f"read; {report.typed(tags=both)} reads them, {report.typed(columns=f'NAME:{i}')} says that they "
                    "are something else",
                )


def _blocks(path: str, report: Report, encoding: str) -> Iterator[_Block]:
    block = _Block()
    for number, line in lines(path, report, encoding):
        if not line.strip():
            if block.rows:
                yield block
                block = _Block()
            continue
        fields = line.split("\t") if "\t" in line else line.split()
        if not block.rows and line.startswith("#") and (_COMMENT.match(line) or not is_tag(fields[-1])):
            block.comments.append(line)
            continue
        block.rows.append(fields)
        block.numbers.append(number)
    if block.rows or block.comments:
        yield block


def _named(names: list[str]) -> _Layout:
    tags = [i for i, name in enumerate(names) if name.startswith("tags")]
    if "word" not in names or not tags:
        return _Layout(0, [-1], {})
    word = names.index("word")
    return _Layout(word, tags, {i: name for i, name in enumerate(names) if i != word and i not in tags})


def _sentence(block: _Block, layout: _Layout, scheme: str, report: Report, name: str) -> Sentence | None:
    width = len(block.rows[0])
    for number, row in zip(block.numbers, block.rows, strict=True):
        if len(row) != width:
            report.broken(
                "columns", f"{name}:{number}", f"{len(row)} columns, but {width} at the start of the sentence"
            )
            return None
    if width == 1:
        report.broken(
            "columns",
            f"{name}:{block.numbers[0]}",
            f"one column only, {block.rows[0][0][:40]!r}; conll needs a word and a tag in each line, with a tab or "
            "white space between them. For text without tags read 'text:FILE'",
        )
        return None
    places = [layout.words, *layout.tags, *layout.names]
    if any(not -width <= i < width for i in places):
        report.broken(
            "columns", f"{name}:{block.numbers[0]}", f"{width} columns, but column {max(places)} was asked for"
        )
        return None
    word = layout.words % width
    tags = [i % width for i in layout.tags]
    if word in tags:
        report.broken("columns", f"{name}:{block.numbers[0]}", f"column {word} is asked for as word and as tag")
        return None
    values = list(zip(*block.rows, strict=True))
    tokens = list(values[word])
    if "" in tokens:
        report.broken("columns", f"{name}:{block.numbers[tokens.index('')]}", "the token is empty")
        return None
    named = {i % width: column for i, column in layout.names.items()}
    columns = {named.get(i, f"c{i}"): list(values[i]) for i in range(width) if i != word and i not in tags}
    mentions: list[Mention] = []
    for i in tags:

        def complain(token: int, message: str) -> None:
            report.error("tags", f"{name}:{block.numbers[token]}", message)

        mentions += [Mention(label, ((start, end),)) for label, start, end in from_tags(values[i], scheme, complain)]
    text, meta = sentence_comments(block.comments, lambda key: key in ("global.columns", "newdoc id", "newdoc"))
    try:
        return Sentence(tokens, mentions, columns, text or "", meta=meta)
    except ValueError as error:
        report.warning("text-mismatch", f"{name}:{block.numbers[0]}", f"the comment with the text: {error}")
        return Sentence(tokens, mentions, columns, meta=meta)


def _number(option: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise ParameterError(f"option {option} takes column numbers, not {value!r}") from None


def _tag_names(layers: int) -> list[str]:
    return ["tags"] if layers == 1 else [f"tags{i + 1}" for i in range(layers)]


def _one_line(value: str, what: str) -> str:
    if "\n" in value or "\r" in value:
        raise CorpusError(f"{what} has a line break, which conll cannot hold: {value!r}")
    return value


def _write_comments(sentence: Sentence, out: Any, unwritten: Unwritten, where: str) -> None:
    if sentence.text != " ".join(sentence.tokens):
        if "\n" in sentence.text or "\r" in sentence.text:
            unwritten.note("texts with line breaks", True)
        else:
            out.write(f"# text = {sentence.text}\n")
    for key, value in sentence.meta.items():
        if key == "comments" and isinstance(value, list):
            out.writelines(f"# {_one_line(str(line), where)}\n" for line in value)
        elif isinstance(value, str) and "=" not in key and "\n" not in value:
            out.write(f"# {key} = {value}\n")
        else:
            unwritten.note("meta that is not a string", True)


def _write_rows(
    sentence: Sentence,
    names: list[str],
    limits: Limits,
    scheme: str,
    out: Any,
    report: Report,
    unwritten: Unwritten,
    where: str,
) -> None:
    columns: Mapping[str, list[str]] = sentence.columns
    missing = ["_"] * len(sentence)
    unwritten.note("columns that the first sentence does not have", set(columns) - set(names))
    unwritten.note("own features", sentence.features is not None)
    for mention in sentence.mentions:
        unwritten.note("probabilities", mention.prob is not None)
        unwritten.note("attributes", mention.attributes)
    layers = limits.fit(sentence.mentions, report, where)
    if scheme == "IO":
        _check_touching(layers, report, where)
    tags = [to_tags([(m.label, m.start, m.end) for m in layer], len(sentence), scheme) for layer in layers]
    for i, row in enumerate(zip(sentence.tokens, *(columns.get(name, missing) for name in names), *tags, strict=True)):
        if any("\t" in value or "\n" in value or "\r" in value for value in row) or row[0] == _DOCSTART or not row[0]:
            raise CorpusError(f"{where}, token {i}: {row!r} cannot be written as a line of conll")
        out.write("\t".join(row) + "\n")
    out.write("\n")


def _check_touching(layers: list[list[Mention]], report: Report, where: str) -> None:
    for layer in layers:
        ends = {(m.label, m.end) for m in layer}
        for mention in layer:
            if (mention.label, mention.start) in ends:
                report.error(
                    "does-not-fit", where, f"IO cannot separate {mention.label} {mention.parts} from its neighbour"
                )
