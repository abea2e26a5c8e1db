"""``spanloom explain``: why a mention is found, or why not."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanloom.cli.console import make_console
from spanloom.cli.options import ModelArgument
from spanloom.cli.outputs import check_output
from spanloom.cli.sources import ParserOption

if TYPE_CHECKING:
    from spanloom.corpus import Document, Mention
    from spanloom.corpus.mention import Parts
    from spanloom.recognizer import Recognizer

_PLACE = re.compile(r"(?:(?P<label>.+):)?(?P<parts>\d+-\d+(?:[,;]\d+-\d+)*)", re.S)
FORMS = "LABEL:START-END in tokens (several parts: LABEL:0-1,3-4), LABEL:WORDS, or the words of a found mention"
GAP = "…"


def explain(
    model: ModelArgument,
    text: Annotated[
        str, typer.Argument(metavar="TEXT|FILE|-", help="The text itself, or a file to read; - is standard input.")
    ],
    mention: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL:START-END|LABEL:WORDS|WORDS",
            help="What to explain, found or not: a label and half-open token numbers of the whole text (several parts: "
            "LABEL:0-1,3-4), a label and words of the text, or the words of a found mention; may be repeated, of one "
            "document. Without it: every found mention.",
        ),
    ] = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(metavar="REF", help="The training data, to show which of its mentions speak most for this one."),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page.")] = None,
    top: Annotated[int, typer.Option(metavar="N", help="How many features to show.")] = 15,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each mention.")] = False,
    parser: ParserOption = None,
) -> None:
    """Say why the model finds a mention, or does not: its log-odds, and the features that make the difference.

    Numbers count tokens, from 0, without the one after the last: IL-2 gene are the four tokens 0-4 (IL, -, 2, gene).

    [bold]Example:[/bold] spanloom explain gene.loom "IL-2 gene expression" --mention DNA:0-4
    """
    from spanloom.drawing.explanation import as_html, as_text, page
    from spanloom.formats import read
    from spanloom.recognizer import Recognizer

    if html is not None:
        check_output(html)
    ner = Recognizer.load(model, annotators=[] if parser is None else [parser])
    documents = _documents(ner, text)
    if mention and len(documents) != 1:
        raise _bad(f"{text} has {len(documents):,} documents; give the text of the one that is meant")
    known = [item for ref in corpus or () for item in read(ref)]
    found = [
        ner.explain(doc, one, corpus=known)
        for doc in documents
        for one in ([find(doc, named, ner.labels_) for named in mention] if mention else doc.mentions)
    ]
    if html is not None:
        from spanloom.base.files import whole_file

        with whole_file(html) as out:
            out.write(page("<hr>".join(as_html(one, top) for one in found), "Why"))
    if as_json:
        for one in found:
            print(json.dumps(one.to_json(top), ensure_ascii=False))
        return
    console = make_console(soft_wrap=True)
    if not found:
        console.print("The model finds nothing here; ask about a mention with --mention LABEL:WORDS.")
    for one in found:
        console.print(as_text(one, top))
        console.print()


def _documents(ner: Recognizer, text: str) -> list[Document]:
    """Return what the model finds in a text, or in the documents of a file, which are read as ``spanloom tag`` does."""
    from spanloom.formats import Report, read
    from spanloom.formats.reference import ending_format, is_format

    prefix, colon, rest = text.partition(":")
    is_file = os.path.exists(text) or (" " not in text and ending_format(text) is not None)
    if not (is_file or text == "-" or (colon and is_format(prefix) and rest.strip() == rest)):
        return [ner.predict(text)]
    report = Report(tokenizer=ner.token_rules_, replaced=True)
    return list(ner.stream(read("text:-" if text == "-" else text).stream(report)))


def find(document: Document, wanted: str, labels: Sequence[str]) -> Mention:
    """Return the mention that is meant, found or not; raises where that is none, with the forms that there are.

    Parameters
    ----------
    labels
        Those of the model.
    """
    from spanloom.corpus import Mention

    found = {document.surface(m): m for m in reversed(document.mentions)}
    if wanted in found:
        return found[wanted]
    if match := _PLACE.fullmatch(wanted):
        parts = tuple((int(s), int(e)) for s, e in (part.split("-") for part in re.split("[,;]", match["parts"])))
        same = [m for m in document.mentions if m.parts == parts]
        if match["label"] is None and same:
            return same[0]
        label = _label(wanted, match["label"], labels)
        if any(not start < end <= len(document) for start, end in parts):
            raise _bad(f"{wanted}: the text has tokens 0 to {len(document)}, and a part ends after it begins")
        try:
            return Mention(label, parts)
        except ValueError as error:
            raise _bad(f"{wanted}: {error}") from None
    own = [label for label in sorted(labels, key=len, reverse=True) if wanted.startswith(f"{label}:")]
    if not own:
        label, colon, _ = wanted.partition(":")
        if colon and wanted not in document.text:
            raise _bad(f"{wanted!r}: there is no label {label!r}; labels are {', '.join(labels)}. Ask by {FORMS}")
        surfaces = ", ".join(map(repr, found)) or "nothing"
        raise _bad(f"{wanted!r} is not found; the model finds {surfaces}. Ask why not by {FORMS.partition(', or')[0]}")
    words = wanted[len(own[0]) + 1 :].strip()
    same = [m for m in document.mentions if m.label == own[0] and document.surface(m) == words]
    return same[0] if same else Mention(own[0], _occurrence(document, words))


def _occurrence(document: Document, words: str) -> Parts:
    """Return the tokens where words stand first in the text, parts one after the other."""
    spans = document.spans
    first = {start: i for i, (start, _) in enumerate(spans)}
    last = {end: i + 1 for i, (_, end) in enumerate(spans)}
    parts: list[tuple[int, int]] = []
    at = 0
    for part in (piece.strip() for piece in words.split(GAP)):
        at = document.text.find(part, at) if part else -1
        while at >= 0 and (at not in first or at + len(part) not in last):
            at = document.text.find(part, at + 1)
        if at < 0:
            raise _bad(f"the text has no {part!r} of whole tokens where it was looked for; ask by {FORMS}")
        parts.append((first[at], last[at + len(part)]))
        at += len(part)
    return tuple(parts)


def _label(wanted: str, label: str | None, labels: Sequence[str]) -> str:
    if label is None or label not in labels:
        what = "has no label" if label is None else f"has the label {label!r}, which the model does not know"
        raise _bad(f"{wanted!r} {what}; labels are {', '.join(labels)}. Ask by {FORMS}")
    return label


def _bad(message: str) -> typer.BadParameter:
    return typer.BadParameter(message, param_hint="--mention")
