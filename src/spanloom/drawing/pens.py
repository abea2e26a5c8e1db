"""The characters that drawings are made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bracket:
    left: str
    line: str
    right: str
    single: str
    dots: str


@dataclass(frozen=True, slots=True)
class Pen:
    below: Bracket
    above: Bracket
    ellipsis: str
    unknown: str
    correct: str
    missed: str
    spurious: str


UNICODE = Pen(Bracket(*"╰─╯╵┈"), Bracket(*"╭─╮╷┈"), "…", "\ufffd", "✓", "✗", "+")
ASCII = Pen(Bracket(*r"\_/^."), Bracket(*r"/-\v."), "~", "?", "=", "-", "+")
