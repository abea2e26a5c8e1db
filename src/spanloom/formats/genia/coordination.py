"""Members of coordinated terms: 'alpha- and beta-globin' means 'alpha-globin' and 'beta-globin'.

The XML names the members in ``lex="(AND alpha-globin beta-globin)"`` but not their tokens. A member is found as
pieces of the coordination, in order, that spell its name: first the marked fragments (``lex="alpha-*"``), by their
name or by their text; then words; then fragments whose spelling comes near (the names have typing errors and
plurals). Case, spaces, hyphens and the plural of the last piece do not count. Of several solutions the one with the
fewest and then the rightmost parts wins: what coordinated terms share stands near.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from spanloom.corpus.mention import Part, Parts
from spanloom.formats.genia.markup import Term, unescape

_WORD = re.compile(r"[A-Za-z0-9]+|[^\sA-Za-z0-9]")
_IGNORED = re.compile(r"[\s_\-*]+")
_OPERATOR = re.compile(r"\((?:[A-Z][A-Z_/]*)$")

_NEAR = 0.9

Piece = tuple[int, int, tuple[str, ...]]
"""Start, end, and the names by which the piece may be spelt."""


def members(text: str, term: Term) -> tuple[list[tuple[str, Parts]], list[str]]:
    """Return the members of a coordination with their character parts, and the names that were not found.

    Examples
    --------
    >>> from spanloom.formats.genia.markup import parse
    >>> text, terms = parse(
    ...     '<cons lex="(AND alpha-globin beta-globin)" sem="(AND G#x G#x)"><cons lex="alpha-*">alpha-</cons> and '
    ...     '<cons lex="beta-*">beta-</cons><cons lex="*globin">globin</cons></cons>'
    ... )
    >>> members(text, terms[0])
    ([('alpha-globin', ((0, 6), (16, 22))), ('beta-globin', ((11, 22),))], [])
    """
    found: list[tuple[str, Parts]] = []
    missing: list[str] = []
    fragments = list(_fragments(text, term))
    words = [(m.start(), m.end(), (_fold(m[0]),)) for m in _WORD.finditer(text, term.start, term.end)]
    called = names(term.lex)
    if len(called) != term.sem.count("G#"):
        return [], called
    for name in called:
        target = _fold(name)
        parts = _best(fragments, target, text) or _best(words, target, text) or _nearest(fragments, target, text)
        if parts is None:
            missing.append(name)
        else:
            found.append((name, parts))
    return found, missing


def names(lex: str) -> list[str]:
    """Return the members' names of ``(AND a b (OR c d))``."""
    found: list[str] = []
    for atom in unescape(lex).split():
        if _OPERATOR.match(atom):
            continue
        while atom.endswith(")") and atom.count(")") > atom.count("("):
            atom = atom[:-1]
        if atom:
            found.append(atom)
    return found


def _fold(name: str) -> str:
    return _IGNORED.sub("", name).lower()


def _fragments(text: str, term: Term) -> Iterator[Piece]:
    """The marked pieces of a coordination, innermost first where they nest, and the words between them."""
    at = term.start
    for child in term.children:
        yield from _plain(text, at, child.start)
        options = {_fold(unescape(child.lex)), _fold(text[child.start : child.end])}
        yield child.start, child.end, tuple(sorted(options - {""}))
        at = child.end
    yield from _plain(text, at, term.end)


def _plain(text: str, start: int, end: int) -> Iterator[Piece]:
    for match in _WORD.finditer(text, start, end):
        yield match.start(), match.end(), (_fold(match[0]),)


def _best(pieces: Sequence[Piece], target: str, text: str) -> Parts | None:
    solutions = list(_spellings(pieces, target))
    if not solutions:
        return None
    merged = [_merge(solution, text) for solution in solutions]
    return min(merged, key=lambda parts: (len(parts), -sum(s for s, _ in parts)))


def _spellings(pieces: Sequence[Piece], target: str) -> Iterator[list[Part]]:
    """All ways to spell the target with pieces in order (at most 200)."""
    count = 0
    stack: list[tuple[int, str, list[Part]]] = [(0, target, [])]
    while stack and count < 200:
        k, rest, chosen = stack.pop()
        if not rest:
            count += 1
            yield chosen
            continue
        for i in range(len(pieces) - 1, k - 1, -1):
            start, end, options = pieces[i]
            for option in options:
                if option and rest.startswith(option):
                    stack.append((i + 1, rest[len(option) :], [*chosen, (start, end)]))
                elif option and option in (rest + "s", rest + "es"):
                    stack.append((i + 1, "", [*chosen, (start, end)]))


def _nearest(pieces: Sequence[Piece], target: str, text: str) -> Parts | None:
    """The pieces that come nearest to spelling the target, if they are near enough and no others are as near."""
    if len(pieces) > 10:
        return None
    scored: list[tuple[float, Parts]] = []
    for chosen in range(1, 1 << len(pieces)):
        own = [piece for i, piece in enumerate(pieces) if chosen >> i & 1]
        ratio = SequenceMatcher(None, "".join(options[-1] for _, _, options in own if options), target, False).ratio()
        scored.append((ratio, _merge([(start, end) for start, end, _ in own], text)))
    scored.sort(reverse=True)
    near = scored and scored[0][0] >= _NEAR and (len(scored) == 1 or scored[0][0] > scored[1][0])
    return scored[0][1] if near else None


def _merge(solution: list[Part], text: str) -> Parts:
    """Join pieces with nothing but spaces or hyphens between them."""
    merged: list[Part] = []
    for start, end in solution:
        if merged and not text[merged[-1][1] : start].strip(" -"):
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return tuple(merged)
