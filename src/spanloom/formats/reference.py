"""References to corpora: ``path`` or ``format:path?option=value&option=value``."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from spanloom.base.errors import ParameterError
from spanloom.base.plugins import FORMATS, load_plugin, plugins

EXTENSIONS = {
    "jsonl": ("jsonl", "ndjson"),
    "conll": ("conll", "iob", "iob1", "iob2", "ioe1", "ioe2", "iobes", "bio", "bilou", "tags"),
    "brat": ("ann",),
    "conllu": ("conllu",),
    "genia": (),
    "gum": (),
    "uner": (),
    "biocreative": (),
    "sample": (),
    "text": ("txt",),
    "given": (),
    "bioc": ("xml", "bioc"),
    "pubtator": ("pubtator",),
    "prodigy": (),
    "doccano": (),
    "labelstudio": (),
    "spacy": ("spacy",),
    "parquet": ("parquet",),
    "huggingface": (),
    "csv": ("csv", "tsv"),
    "html": ("html", "htm"),
    "svg": ("svg",),
}
"""Every format of spanloom, and the file name endings that mean it where the reference does not say."""

LINES = ("jsonl", "conll", "conllu", "pubtator", "prodigy", "doccano", "labelstudio", "text", "csv", "html", "svg")
"""Formats of text that streams: their path may be ``-`` for standard input or output, and their files compressed."""

COMPRESSED = (".gz", ".zst")

ALIKE = (
    {"jsonl", "prodigy", "doccano", "labelstudio"},
    {"conll", "conllu", "gum", "uner"},
    {"bioc", "genia"},
)
"""Formats whose files may have each other's endings; any text may be in a file that ends in .txt."""


def bare(path: str) -> str:
    """Return a path without the ending that says how it is compressed.

    Examples
    --------
    >>> bare("a/part-01.jsonl.gz"), bare("a.jsonl")
    ('a/part-01.jsonl', 'a.jsonl')
    """
    return path[: -len(Path(path).suffix)] if path.lower().endswith(COMPRESSED) else path


def formats() -> dict[str, tuple[str, ...]]:
    """Return every format with the endings that mean it: those of spanloom, then those of installed packages.

    The module of another package lists its endings in ``EXTENSIONS``, if it has any.
    """
    added = {name: entry for name, entry in plugins(FORMATS).items() if name not in EXTENSIONS}
    return {**EXTENSIONS, **{name: tuple(getattr(load_plugin(FORMATS, name), "EXTENSIONS", ())) for name in added}}


def is_format(name: str) -> bool:
    """Whether a name is that of a format."""
    return name in EXTENSIONS or name in plugins(FORMATS)


@dataclass(frozen=True)
class Reference:
    """Where a corpus is and how to read it.

    Examples
    --------
    >>> Reference.parse("genia:data/genia?classes=5&split=dev")
    Reference(format='genia', path='data/genia', options={'classes': '5', 'split': 'dev'})
    >>> Reference.parse("news.conll").format
    'conll'
    """

    format: str
    path: str
    options: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, ref: str | os.PathLike[str] | Reference) -> Reference:
        """Read a reference; raises ``ParameterError`` where the format is neither given nor to be inferred."""
        if isinstance(ref, Reference):
            return ref
        text = os.fspath(ref)
        prefix, colon, rest = text.partition(":")
        if not colon or not is_format(prefix):
            if (
                colon
                and not os.path.exists(text)
                and len(prefix) > 1
                and prefix.isalpha()
                and not os.path.exists(prefix)
            ):
                raise ParameterError(f"unknown format {prefix!r} in {text!r}; known are {', '.join(formats())}")
            prefix, rest = "", text
        path, mark, query = rest.partition("?")
        if mark and os.path.exists(rest):
            path, query = rest, ""
        options = dict(parse_qsl(query, keep_blank_values=True, errors="surrogateescape"))
        if query and (len(options) != query.count("&") + 1 or any("=" not in pair for pair in query.split("&"))):
            raise ParameterError(f"options in {text!r} must be written option=value&option=value, each once")
        format = prefix or _infer(path)
        if path == "-" and format not in LINES:
            raise ParameterError(
                f"{format} is not a format of lines and needs a path; standard input and output (-) take "
                f"{', '.join(LINES)}"
            )
        if bare(path) != path and format not in LINES:
            raise ParameterError(f"{path}: {format} is not read or written compressed; {', '.join(LINES)} are")
        return cls(format, path, options)

    def __str__(self) -> str:
        query = urlencode(self.options, safe=":,/", errors="surrogateescape")
        return f"{self.format}:{self.path}{'?' + query if query else ''}"


def _infer(path: str) -> str:
    if named := _by_ending(path):
        return named
    found = [path]
    if os.path.isdir(path):
        if next(Path(path).rglob("*.ann"), None):
            return "brat"
        found = sorted(str(p) for p in Path(path).rglob("*") if p.is_file() and not p.name.startswith("."))
    elif "*" in path or "[" in path:
        found = sorted(glob.glob(path, recursive=True))
    named_all = {_by_ending(file) for file in found}
    if len(named_all) == 1 and None not in named_all:
        return str(named_all.pop())
    known = formats()
    typed = f"write FORMAT:{path} with one of {', '.join(known)}"
    if path == "-" or os.path.exists(path) or found != [path]:
        raise ParameterError(f"cannot tell the format of {path!r} from its name; {typed}")
    raise ParameterError(f"{path}: no such file or directory; for a new one, whose name tells no format, {typed}")


def ending_format(path: str, format: str = "") -> str | None:
    """Return the format that the ending of a name means, unless files of ``format`` may have that ending.

    Examples
    --------
    >>> ending_format("a.parquet"), ending_format("a.parquet", "jsonl"), ending_format("a.jsonl.gz", "prodigy")
    ('parquet', 'parquet', None)
    >>> ending_format("a.txt", "conll")
    """
    meant = _by_ending(path)
    fits = meant == format or (format and meant == "text") or any({meant, format} <= group for group in ALIKE)
    return None if fits else meant


def _by_ending(path: str) -> str | None:
    """The format that the ending of a name means; those of other packages come second, since they must be imported."""
    ending = Path(bare(path)).suffix.lstrip(".").lower()
    ours = next((name for name, endings in EXTENSIONS.items() if ending in endings), None)
    if ours is not None or not plugins(FORMATS):
        return ours
    return next((name for name, endings in formats().items() if ending in endings), None)
