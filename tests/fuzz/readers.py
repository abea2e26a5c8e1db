"""Every corpus reader: whatever the bytes are, there are documents or ``CorpusError`` with the name of the file.

Formats of several files get them joined by a zero byte. Files are read leniently, going on after errors, and strictly.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

from fuzz.places import folder
from fuzz.seeds import SEEDS
from fuzz.target import Run, Target
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.corpus import Document, Mention, Sentence
from spanloom.formats import Report, read, write
from spanloom.formats.validation import check

# target: (names of its files, the reference's path, options)
FILES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "jsonl": (("a.jsonl",), "a.jsonl", "align=split"),
    "conll": (("a.conll",), "a.conll", "tags=-1"),
    "conllu": (("a.conllu",), "a.conllu", ""),
    "iob2": (("a.conllu", "a.iob2"), "a.conllu", "iob2={folder}/a.iob2"),
    "uner": (("a-train.conllu", "a-train.iob2"), "", "split=train"),
    "gum": (("splits.md", "GUM_news_x.conllu"), "", "split=train"),
    "brat": (("a.txt", "a.ann"), "", ""),
    "genia": (("GENIAcorpus3.02.xml", "GENIAtrain.pos"), "", "classes=leaf&coordination=expand"),
    "biocreative": (("a.in", "GENE.eval", "ALTGENE.eval"), "", ""),
    "ace": (("a.sgm", "a.apf.xml"), "", ""),
    "pubtator": (("a.pubtator",), "a.pubtator", ""),
    "prodigy": (("a.jsonl",), "a.jsonl", "align=expand"),
    "doccano": (("a.jsonl",), "a.jsonl", "align=contract"),
    "labelstudio": (("a.json",), "a.json", "annotation=all"),
    "bioc": (("a.xml",), "a.xml", ""),
    "bioc-json": (("a.json",), "a.json", ""),
    "spacy": (("a.spacy",), "a.spacy", ""),
    "parquet": (("a.parquet",), "a.parquet", ""),
    "csv": (("a.csv",), "a.csv", "text=title,abstract&id=pmid"),
    "text": (("a.txt",), "a.txt", "documents=lines"),
    "gz": (("a.jsonl.gz",), "a.jsonl.gz", "text=abstract"),
    "zst": (("a.jsonl.zst",), "a.jsonl.zst", "text=abstract"),
}
FORMATS = {"iob2": "conllu", "bioc-json": "bioc", "gz": "jsonl", "zst": "jsonl"}
SHAPES = {"jsonl": "jsonl", "prodigy": "jsonl", "doccano": "jsonl", "labelstudio": "json", "bioc-json": "json"}
NEEDS = {"bioc": "bioc", "bioc-json": "bioc", "spacy": "spacy", "parquet": "pyarrow", "zst": "zstandard"}
WORDS = {
    "conll": ("-DOCSTART-", "B-", "I-", "S-", "E-", "# text = ", "# newdoc id = ", "# global.columns = "),
    "conllu": ("# newdoc", "# text = ", "# global.Entity = ", "Entity=(", "SpaceAfter=No", "1-2\t", "1.1\t", "[1/2]"),
    "brat": ("\tDNA 0 4\t", "T1\t", ";", "A1\tNegation T1", "#1\tNote T1\t", "N1\tReference T1 ", "*\tEquiv T1 T2"),
    "genia": ("<sentence>", "</sentence>", '<cons lex="', 'sem="(AND ', "G#", "&lt;", "&#x41;", "<bibliomisc>", "/NN "),
    "bioc": ("<annotation id=", "<location offset=", "<infon key=", "<!ENTITY", "<!DOCTYPE", "<passage>", "&amp;"),
    "pubtator": ("|t|", "|a|", "\t0\t4\t"),
    "csv": ('"', '""', ",", "pmid", "title", "abstract"),
    "biocreative": ("|0 7|", "S1 "),
    "ace": (
        "<BODY>",
        "</BODY>",
        "&amp;",
        '<charseq START="2" END="4">',
        "<entity TYPE=",
        "<entity_mention ",
        "<extent>",
    ),
}
DOCUMENT = Document([Sentence(["XY", "gene"], [Mention("DNA", ((0, 2),))])], id="d")


def reading(name: str) -> Callable[[], Run]:
    """Return what makes the function that reads one input."""

    def prepare() -> Run:
        files, path, options = FILES[name]
        place = folder(name)
        ref = f"{FORMATS.get(name, name)}:{place / path}?{options.format(folder=place)}".rstrip("?")

        def run(raw: bytes) -> None:
            pieces = raw.split(b"\0", len(files) - 1)
            for file, piece in zip(files, pieces + [b""] * (len(files) - len(pieces)), strict=True):
                (place / file).write_bytes(piece)
            for strict in (False, True):
                report = Report(strict=strict)
                try:
                    walk(check(read(ref).stream(report), report, str(place)))
                except CorpusError as error:
                    if strict and not any(file in str(error) for file in files) and str(place) not in str(error):
                        raise AssertionError(f"no file in the message {error}") from error
                except ParameterError:
                    if name not in ("csv", "parquet"):  # whose columns are options, so that they may be missing
                        raise

        return run

    return prepare


def rows() -> Run:
    """Rows of a dataset of Hugging Face, in all layouts."""
    from spanloom.formats.huggingface import from_dataset

    def run(raw: bytes) -> None:
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError):
            return
        table = value if isinstance(value, list) else [value]
        if table and all(isinstance(row, dict) for row in table):
            with suppress(CorpusError, ParameterError):
                walk(from_dataset(table, align="split"))

    return run


def walk(docs: Iterable[Document]) -> None:
    """Ask documents for everything, so that impossible ones fail here."""
    for doc in docs:
        for mention in doc.mentions:
            doc.surface(mention)


def _binary(name: str) -> tuple[bytes, ...]:
    """A small file of a format that is not text, written by ourselves."""
    if importlib.util.find_spec(NEEDS.get(name, "json")) is None:
        return ()
    place: Path = folder(f"{name}-seed") / FILES[name][0][0]
    write([DOCUMENT], f"{FORMATS.get(name, name)}:{place}")
    return (place.read_bytes(),)


def _seeds(name: str) -> tuple[bytes, ...]:
    if name == "gz":
        return (gzip.compress(b'{"abstract":"XY-7"}\n' * 3, mtime=0),)
    if name in ("spacy", "parquet", "zst"):
        return _binary(name)
    return tuple(seed.encode() for seed in SEEDS["iob2" if name == "uner" else name])


TARGETS = [
    *(
        Target(
            name,
            reading(name),
            partial(_seeds, name),
            WORDS.get(name, ()),
            SHAPES.get(name, "bytes"),
            NEEDS.get(name, ""),
        )
        for name in FILES
    ),
    Target("rows", rows, tuple(seed.encode() for seed in SEEDS["rows"]), shape="json"),
]
