"""References to corpora: ``path`` or ``format:path?option=value&option=value``."""

from __future__ import annotations

import glob
import importlib
import os
from dataclasses import dataclass, field
from difflib import get_close_matches
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
    "ace": (),
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
    {"conll", "conllu", "gum", "uner", "csv"},
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
    def parse(cls, ref: str | os.PathLike[str] | Reference, action: str = "read") -> Reference:
        """Read a reference to ``read`` or ``write``; raises ``ParameterError`` where its format cannot be told."""
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
                raise ParameterError(
                    f"unknown format {prefix!r} in {text!r}; known are {', '.join(formats_for(action))}"
                )
            prefix, rest = "", text
        path, mark, query = rest.partition("?")
        if mark and os.path.exists(rest):
            path, query = rest, ""
        options = dict(parse_qsl(query, keep_blank_values=True, errors="surrogateescape"))
        if query and (len(options) != query.count("&") + 1 or any("=" not in pair for pair in query.split("&"))):
            raise ParameterError(f"options in {text!r} must be written option=value&option=value, each once")
        format = prefix or _infer(path, action)
        if path == "-" and format not in LINES:
            raise ParameterError(
                f"{format} is not a format of lines and needs a path; standard input and output (-) take "
                f"{', '.join(LINES)}"
            )
        if bare(path) != path and format not in LINES:
            raise ParameterError(f"{path}: {format} is not read or written compressed; {', '.join(LINES)} are")
        return cls(format, path, options)

    def __str__(self) -> str:
        query = urlencode(self.options, safe=":,/;|", errors="surrogateescape")
        return f"{self.format}:{self.path}{'?' + query if query else ''}"


def _infer(path: str, action: str) -> str:
    if named := _by_ending(path):
        return named
    found = [path]
    pattern = "*" in path or "[" in path
    if os.path.isdir(path):
        if next(Path(path).rglob("*.ann"), None):
            return "brat"
        found = sorted(str(p) for p in Path(path).rglob("*") if p.is_file() and not p.name.startswith("."))
    elif pattern and not os.path.exists(path):
        found = sorted(glob.glob(path, recursive=True))
    named_all = {_by_ending(file) for file in found}
    if len(named_all) == 1 and None not in named_all:
        return str(named_all.pop())
    if action == "read" and pattern and not found:
        raise ParameterError(f"{path}: no file matches this pattern")
    if action == "read" and path != "-" and not os.path.exists(path) and not pattern:
        raise ParameterError(f"{path!r}: {missing(path)}" if " " in path or not path else f"{path}: {missing(path)}")
    known = ", ".join(formats_for(action))
    raise ParameterError(f"cannot tell the format of {path!r} from its name; write FORMAT:{path} with one of {known}")


def missing(path: str) -> str:
    """Return what to say of a path to read where nothing is: names that are like it, in the folder that is there."""
    if not path.strip():
        return "this names no file"
    place = Path(path)
    while not os.path.exists(place.parent) and place.parent != place:
        place = place.parent
    try:
        near = get_close_matches(place.name, os.listdir(place.parent), n=3, cutoff=0.6)
    except OSError:
        near = []
    text = "no such file or folder"
    if str(place) != os.path.normpath(path):
        text += f", as there is no folder {place}"
    if near:
        text += f"; did you mean {' or '.join(str(place.parent / name) for name in near)}?"
    elif " " in path and os.sep not in path:
        text += "; a text itself goes through a pipe, as 'text:-'"
    return text


def formats_for(action: str) -> list[str]:
    """The formats that can be read, or written."""
    modules = {name: f"spanloom.formats.{name}" for name in EXTENSIONS if name != "given"}
    able = [name for name, module in modules.items() if hasattr(importlib.import_module(module), action)]
    return [*able, *(name for name in formats() if name not in EXTENSIONS)]


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
