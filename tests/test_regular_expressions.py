"""No regular expression of the package takes more than linear time, whatever the text is.

Every pattern is found in the source. For each repetition in it, texts are made that lead up to it, repeat what it takes
and then go wrong: what makes a pattern that backtracks try every way to share out the text.
"""

from __future__ import annotations

import ast
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from types import FrameType
from typing import Any

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "spanloom"
ALPHABET = " \t\na1A_-=.,:;|&<>()[]{}\"'\\/#*+é!"
LENGTHS = (20, 500, 4_000, 32_000)
SECONDS = 0.4
"""A pattern that is linear takes milliseconds for the longest text, one that is quadratic seconds."""
CALLS = ("match", "fullmatch", "search", "finditer", "findall", "sub", "split")


@dataclass(frozen=True)
class Pattern:
    """A pattern, where it stands, its flags, and how it is applied."""

    place: str
    text: str
    flags: int
    calls: tuple[str, ...]


def patterns() -> Iterator[Pattern]:
    """Every pattern of the package that is written as a string."""
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        used: dict[str, set[str]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in CALLS and isinstance(node.value, ast.Name):
                used.setdefault(node.value.id, set()).add(node.attr)
        named = {
            id(node.value): node.targets[0].id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            function = node.func
            if not (isinstance(function.value, ast.Name) and function.value.id == "re" and node.args):
                continue
            first = node.args[0]
            if not (isinstance(first, ast.Constant) and isinstance(first.value, str)):
                continue
            anyhow = {call for name, calls in used.items() if name != "re" for call in calls - {"split"}}
            how = used.get(named.get(id(node), ""), anyhow) if function.attr == "compile" else {function.attr}
            flags = [
                getattr(re, n.attr) for a in node.args[1:] for n in ast.walk(a)
                if isinstance(n, ast.Attribute) and isinstance(getattr(re, n.attr, None), re.RegexFlag)
            ]  # fmt: skip
            place = f"{path.relative_to(SOURCE)}:{node.lineno}"
            yield Pattern(place, first.value, sum(flags), tuple(sorted(how)) or ("fullmatch", "search"))


def attacks(pattern: Pattern) -> Iterator[tuple[str, str, str]]:
    """What leads to each unbounded repetition, what it repeats, and an end."""
    tree = _parser.parse(pattern.text, pattern.flags)
    for before, body in _repeats(list(tree), ""):
        if before:
            yield "", before, ""  # begun again and again, and never ended
        for char in ALPHABET:
            if _takes(body, char):
                for end in ("", "\0", "!", char + "\0"):
                    yield before, char, end
        whole = _sample(body)
        if len(whole) > 1:
            yield before, whole, "\0"


def _repeats(items: list[Any], before: str) -> Iterator[tuple[str, Any]]:
    """Every repetition without an end, with a text that leads to it."""
    for code, argument in items:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            low, high, body = argument
            if high is codes.MAXREPEAT:
                yield before, body
            yield from _repeats(list(body), before)
            before += _sample(body) * low
        elif code is codes.SUBPATTERN:
            yield from _repeats(list(argument[3]), before)
            before += _sample(argument[3])
        elif code is codes.BRANCH:
            for way in argument[1]:
                yield from _repeats(list(way), before)
            before += _sample(argument[1][0])
        else:
            before += _sample([(code, argument)])


def _sample(items: Any) -> str:
    """A text that the items take."""
    text = ""
    for code, argument in items:
        if code is codes.LITERAL:
            text += chr(argument)
        elif code in (codes.IN, codes.ANY, codes.NOT_LITERAL):
            text += next((c for c in "a 1-=<" + ALPHABET if _takes([(code, argument)], c)), "a")
        elif code is codes.SUBPATTERN:
            text += _sample(argument[3])
        elif code is codes.BRANCH:
            text += _sample(argument[1][0])
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            text += _sample(argument[2]) * argument[0]
    return text


def _takes(items: Any, char: str) -> bool:
    """Whether one character is enough for the items."""
    items = list(items)
    if len(items) != 1:
        return False
    code, argument = items[0]
    if code is codes.LITERAL:
        return chr(argument) == char
    if code is codes.NOT_LITERAL:
        return chr(argument) != char
    if code is codes.ANY:
        return char != "\n"
    if code is codes.SUBPATTERN:
        return _takes(argument[3], char)
    if code is codes.BRANCH:
        return any(_takes(way, char) for way in argument[1])
    if code is codes.IN:
        negated = argument[0][0] is codes.NEGATE
        return any(_has(one, char) for one in argument) != negated
    return False


def _has(one: tuple[Any, Any], char: str) -> bool:
    code, argument = one
    if code is codes.LITERAL:
        return chr(argument) == char
    if code is codes.RANGE:
        return bool(argument[0] <= ord(char) <= argument[1])
    if code is codes.CATEGORY:
        letter = {"SPACE": r"\s", "DIGIT": r"\d", "WORD": r"\w"}[str(argument).rpartition("_")[2]]
        return (re.fullmatch(letter, char) is not None) != ("_NOT_" in str(argument))
    return False


class Late(Exception):
    """A pattern has taken too long."""


def seconds(pattern: Pattern, call: str, text: str) -> float:
    """How long it takes; infinity if it is stopped."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Late

    old = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, 2 * SECONDS)
    began = time.process_time()
    try:
        made = re.compile(pattern.text, pattern.flags)
        if call == "sub":
            made.sub("", text)
        else:
            found = getattr(made, call)(text)
            if call == "finditer":
                list(found)
    except Late:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, old)
    return time.process_time() - began


def slowest(pattern: Pattern) -> tuple[float, str]:
    """The longest time over all attacks and ways to apply the pattern; it stops at the first that is too long."""
    worst = (0.0, "")
    for before, char, end in attacks(pattern):
        for call in pattern.calls:
            for length in LENGTHS:
                text = before + char * (length // len(char)) + end
                taken = seconds(pattern, call, text)
                if taken > SECONDS:
                    return taken, f"{call} of {before!r} + {char!r} * {length // len(char)} + {end!r}"
                worst = max(worst, (taken, call))
    return worst


ALL = list(patterns())


def test_the_patterns_are_found() -> None:
    assert len(ALL) > 40
    assert any("formats/brat.py" in one.place for one in ALL)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers that stop a search")
@pytest.mark.parametrize("pattern", ALL, ids=lambda one: one.place)
def test_a_pattern_takes_linear_time(pattern: Pattern) -> None:
    taken, how = slowest(pattern)
    assert taken <= SECONDS, f"{pattern.text!r}: {taken:.1f} s for {how}"


@pytest.mark.parametrize("text", [r"(a+)+b", r"(a+a+)+b", r"#\s*([^=]*?)\s*=", r"\s+$"])
def test_what_is_slow_is_found(text: str) -> None:
    """Patterns of textbooks, exponential, cubic and quadratic."""
    calls = ("search",)
    assert slowest(Pattern("here", text, 0, calls))[0] > SECONDS
