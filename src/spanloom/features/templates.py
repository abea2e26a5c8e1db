"""What templates are: views of columns at offsets, joined; their text is read by ``features.grammar``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from spanloom._native import flag_names

MAX_OFFSET = 100
MAX_LENGTH = 1000
MAX_TEMPLATES = 1000
MAX_DEPTH = 16
MAX_CHARACTERS = 10_000
FLAGS: tuple[str, ...] = tuple(flag_names())

PLAIN = ("lower", "shape", "collapsed", "digits", "squeezed", "length", "values")
AFFIXES = ("prefix", "suffix", "ngrams")
LOOKUPS = ("lookup", "cluster")
OPERATIONS = (*PLAIN, *AFFIXES, "flags", *LOOKUPS)
ANCHORS = ("first", "last")
INDEXED = ("left", "right")
SIDES = ("left", "right", "between", "whole")
RESERVED = (*OPERATIONS, "bag", "own", "bias", "distance", *ANCHORS, *INDEXED, "segment", "size")


@dataclass(frozen=True)
class ViewStep:
    """One step of a view.

    ``low`` and ``high`` are the lengths of affixes and n-grams, ``names`` the flags or the resource,
    ``both`` asks for false flags too, ``lengths`` are those of cluster prefixes.
    """

    kind: str
    low: int = 0
    high: int = 0
    names: tuple[str, ...] = ()
    both: bool = False
    lengths: tuple[int, ...] = ()

    def arguments(self) -> list[str]:
        """Return the arguments after the view, as text."""
        if self.kind in AFFIXES:
            return [_range(self.low, self.high)]
        return [*(["both"] if self.both else []), *self.names, *map(str, self.lengths)]


@dataclass(frozen=True)
class View:
    """A column seen through operations, the first of them applied first; ``head``: that of the token's head."""

    column: str
    operations: tuple[ViewStep, ...] = ()
    head: bool = False

    @property
    def source(self) -> str:
        """What is read: the column, or ``head(COLUMN)``."""
        return f"head({self.column})" if self.head else self.column

    def __str__(self) -> str:
        text = self.column if _is_name(self.column) else f'"{self.column}"'
        if self.head:
            text = f"head({text})"
        for operation in self.operations:
            text = f"{operation.kind}({', '.join([text, *operation.arguments()])})"
        return text


@dataclass(frozen=True)
class Atom:
    """A view at a distance from the site, or from an end of it.

    ``anchor`` is empty where the site is a token, or ``first``, ``last``, ``left`` or ``right``; ``left`` and ``right``
    count inwards. ``size`` has no view. ``side`` is where it looks if the site is a pair of tokens, one of ``SIDES``.
    """

    view: View
    offset: int = 0
    anchor: str = ""
    side: str = ""

    def __str__(self) -> str:
        if self.anchor == "size":
            return "size"
        if self.anchor in INDEXED:
            return f"{self.anchor}({self.view}, {self.offset})"
        if self.side == "whole":
            return f"{self.view}[left..right]"
        if self.side:
            return f"{self.view}[{self.side}{self.offset:+d}]" if self.offset else f"{self.view}[{self.side}]"
        return f"{self.anchor}({self.view})[{self.offset}]" if self.anchor else f"{self.view}[{self.offset}]"


SIZE = Atom(View(""), anchor="size")


@dataclass(frozen=True)
class Template:
    """One template after ranges of offsets are spelled out.

    A ``conjunction`` has one atom or more; a ``bag`` has one atom for every offset; ``own`` has no atoms but an offset;
    a ``sequence`` has one atom. A ``pair`` is a conjunction whose atoms have sides; ``distance`` is about pairs too.
    """

    kind: Literal["conjunction", "bag", "sequence", "own", "bias", "pair", "distance"]
    atoms: tuple[Atom, ...] = ()
    offset: int = 0
    min_count: int | None = None

    @property
    def part(self) -> str:
        """Which of its rows a segment has it in: one of first, last, inside, left, right, span."""
        if self.kind in ("sequence", "bias"):
            return "span" if self.kind == "sequence" else "first"
        anchors = {atom.anchor for atom in self.atoms}
        if anchors <= {""}:
            return "inside"
        if len(anchors) > 1 or anchors == {"size"}:
            return "span"
        (anchor,) = anchors
        if anchor in INDEXED and self.atoms[0].offset == 0:
            return "first" if anchor == "left" else "last"
        return anchor

    @property
    def at_tokens(self) -> bool:
        """Whether it names no end of a segment."""
        return self.kind == "bias" or self.part == "inside"

    def labels(self) -> list[str]:
        """Return what names the parts of a feature: one label an atom for a conjunction, else one."""
        if self.kind in ("conjunction", "pair"):
            return [str(atom) for atom in self.atoms]
        if self.kind == "bag":
            return [f"bag({self.atoms[0].view}, {_range(self.atoms[0].offset, self.atoms[-1].offset)})"]
        if self.kind == "sequence":
            (atom,) = self.atoms
            place = {"": "", "between": "[between]", "whole": "[left..right]"}[atom.side]
            return [f"segment({atom.view}){place}"]
        if self.kind == "own":
            return [f"own[{self.offset}]" if self.offset else "own"]
        return [self.kind]

    @property
    def of_pairs(self) -> bool:
        """Whether it looks at pairs of tokens instead of tokens."""
        return self.kind in ("pair", "distance") or (self.kind == "sequence" and bool(self.atoms[0].side))

    def __str__(self) -> str:
        text = " & ".join(self.labels())
        return text if self.min_count is None else f"{text} >= {self.min_count}"


_NAME = re.compile(r"[^\W\d][\w\-]*")


def _is_name(column: str) -> bool:
    return bool(_NAME.fullmatch(column)) and column not in RESERVED


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}..{high}"
