"""BioCreative II gene mention: ``biocreative:DIR/train`` with ``train.in``, ``GENE.eval`` and ``ALTGENE.eval``.

Offsets count characters that are not spaces, and the end is inclusive. Every sentence is a document; alternatives
to its mentions are in the sentence's meta ``alternatives``, as mentions in the sentence's tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from spanloom.base.errors import CorpusError
from spanloom.base.files import whole_files
from spanloom.base.wording import spoken
from spanloom.corpus.document import Document
from spanloom.corpus.mention import Mention
from spanloom.formats.align import CharMention
from spanloom.formats.lines import lines
from spanloom.formats.loss import Unwritten
from spanloom.formats.raw import from_text
from spanloom.formats.reading import choice
from spanloom.formats.report import Report
from spanloom.formats.writing import final_name

takes_folders = True

Given = dict[str, list[tuple[int, int, str, str]]]


def read(path: str, report: Report, *, label: str = "GENE", align: str = "split") -> Iterator[Document]:
    """Yield the sentences of one part.

    Parameters
    ----------
    label
        What to call the mentions.
    align
        What to do with mentions inside our tokens: by default the token is split.
    """
    folder = Path(path)
    texts = sorted(folder.glob("*.in"))
    if len(texts) != 1:
        raise CorpusError(f"expected one file *.in, found {len(texts)}", path)
    gold = _given(folder / "GENE.eval", report)
    others = _given(folder / "ALTGENE.eval", report) if (folder / "ALTGENE.eval").exists() else {}
    for number, line in lines(texts[0], report):
        id, _, text = line.partition(" ")
        where = f"{texts[0]}:{number}"
        if not id:
            report.broken("syntax", where, f"expected 'ID TEXT', not {line[:60]!r}")
            continue
        places = [i for i, char in enumerate(text) if char != " "]
        wanted = list(_chars(gold.pop(id, []), "gold", text, places, report))
        wanted += _chars(others.pop(id, []), "alternative", text, places, report)
        doc = from_text(text, wanted, report, where, id=id, align_by=align, sentences="one")
        for sentence in doc.sentences:
            both = sentence.mentions
            sentence.mentions = [Mention(label, m.parts) for m in both if m.label == "gold"]
            alternatives = [Mention(label, m.parts) for m in both if m.label == "alternative"]
            if alternatives:
                sentence.meta["alternatives"] = alternatives
        yield doc
    for left in (gold, others):
        for id, given in left.items():
            report.error("dangling", given[0][3], f"a mention of {id}, which is not in {texts[0].name}")


def write(docs: Iterable[Document], path: str, report: Report, *, overwrite: str = "no") -> None:
    """Write a folder with ``NAME.in``, ``GENE.eval`` and ``ALTGENE.eval``; a document must be one line.

    Parameters
    ----------
    overwrite
        ``yes`` replaces files that are there already.
    """
    choice("overwrite", overwrite, ("yes", "no"))
    unwritten = Unwritten("biocreative")
    with (
        whole_files(path, name=final_name(path, report)) as folder,
        (folder / f"{Path(path).name}.in").open("w", encoding="utf-8", newline="\n") as texts,
        (folder / "GENE.eval").open("w", encoding="utf-8", newline="\n") as gold,
        (folder / "ALTGENE.eval").open("w", encoding="utf-8", newline="\n") as others,
    ):
        for k, doc in enumerate(docs):
            id = doc.id or f"S{k + 1:06d}"
            if " " in id or "|" in id or "\n" in id + doc.text or "\r" in doc.text:
                raise CorpusError(
                    f"document {id!r}: an id with a space or |, or a text of several lines, has no place here"
                )
            texts.write(f"{id} {doc.text}\n")
            index = [0]
            for char in doc.text:
                index.append(index[-1] + (char != " "))
            for sentence, start in zip(doc.sentences, doc.starts, strict=True):
                unwritten.note("columns", sentence.columns)
                unwritten.note("own features", sentence.features is not None)
                for out, mentions in ((gold, sentence.mentions), (others, sentence.meta.get("alternatives", []))):
                    for mention in mentions:
                        unwritten.note(f"label {mention.label}", True)
                        unwritten.note("attributes and probabilities", mention.attributes or mention.prob is not None)
                        if mention.discontinuous:
                            report.error(
                                "does-not-fit", f"document {id}", f"discontinuous {mention.label} {mention.parts}"
                            )
                            continue
                        ((s, e),) = sentence.chars(mention)
                        s, e = s + start, e + start
                        out.write(f"{id}|{index[s]} {index[e] - 1}|{doc.text[s:e]}\n")
        report.raise_errors("jsonl and brat hold every mention")
    unwritten.tell(report, path)


def check_target(path: str, *, overwrite: str = "no") -> None:
    """Refuse to replace annotations, unless that is wanted."""
    there = Path(path, "GENE.eval")
    if there.exists() and overwrite != "yes":
        raise CorpusError(
            f"there is {there} already; write elsewhere, or replace it with "
            f"{spoken('--overwrite', 'overwrite=yes')} ('biocreative:{path}?overwrite=yes')"
        )


def _given(path: Path, report: Report) -> Given:
    given: Given = {}
    for number, line in lines(path, report):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        id, _, rest = line.partition("|")
        place, bar, surface = rest.partition("|")
        start, _, end = place.partition(" ")
        if not bar or not start.isdecimal() or not end.isdecimal():
            report.broken("syntax", where, f"expected 'ID|START END|TEXT', not {line[:60]!r}")
            continue
        given.setdefault(id, []).append((int(start), int(end) + 1, surface, where))
    return given


def _chars(
    given: list[tuple[int, int, str, str]], label: str, text: str, places: list[int], report: Report
) -> Iterator[CharMention]:
    for start, end, surface, where in given:
        if not start < end <= len(places):
            report.error("out-of-text", where, f"({start}, {end - 1}) is not a range of {len(places)} characters")
            continue
        first, last = places[start], places[end - 1] + 1
        if text[first:last].replace(" ", "") != surface.replace(" ", ""):
            report.warning("text-mismatch", where, f"said to be {surface!r}, but the text has {text[first:last]!r}")
        yield CharMention(label, ((first, last),), where=where)
