"""The markup of one GENIA sentence: text, and terms (``cons``) as character ranges.

The files use a handful of elements, so a regular expression that cuts at tags reads them in a fraction of the time
of an XML parser; everything else than those elements is an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TAG = re.compile(r"<([^<>]*)>")
_CONS = re.compile(r'cons(?: lex="([^"]*)")?(?: sem="([^"]*)")?\s*')
_ATTRIBUTE = re.compile(r"""(?<!\s)\s+(lex|sem)\s*=\s*("[^"]*"|'[^']*')""")
_ENTITY = re.compile(r"&([^;\s]{0,12});?")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class BadMarkup(Exception):
    """Markup that is not GENIA's; ``at`` is the character of the sentence where it stands."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass(slots=True)
class Term:
    """A ``cons`` element; ``sem`` is empty for the fragments of a coordination."""

    start: int
    end: int
    lex: str
    sem: str
    children: list[Term] = field(default_factory=list)


def parse(markup: str) -> tuple[str, list[Term]]:
    """Return the text of a sentence and its terms, an outer one before those inside it.

    Examples
    --------
    >>> text, terms = parse('<cons lex="IL-2_gene" sem="G#DNA_N/A">IL-2 gene</cons> &lt; 3')
    >>> text, terms[0].start, terms[0].end, terms[0].sem
    ('IL-2 gene < 3', 0, 9, 'G#DNA_N/A')
    """
    pieces = _TAG.split(markup)
    texts: list[str] = []
    terms: list[Term] = []
    stack: list[Term] = []
    at = 0
    inside = False
    for piece in pieces:
        if not inside:
            if piece:
                if "&" in piece or "<" in piece or ">" in piece:
                    piece = _plain(piece, markup)
                texts.append(piece)
                at += len(piece)
        elif piece == "/cons":
            if not stack:
                raise BadMarkup("</cons> closes nothing", markup.find("</cons>"))
            stack.pop().end = at
        else:
            match = _CONS.fullmatch(piece)
            if match is not None:
                lex, sem = match.groups()
            else:
                lex, sem = _attributes(piece, markup)
            if lex and "&" in lex:
                _plain(lex, markup)
            term = Term(at, at, lex or "", sem or "")
            if stack:
                stack[-1].children.append(term)
            stack.append(term)
            terms.append(term)
        inside = not inside
    if stack:
        raise BadMarkup(f"<cons> around {''.join(texts)[stack[-1].start :][:30]!r} is not closed", 0)
    return "".join(texts), terms


def unescape(text: str) -> str:
    """Replace XML's five entities and numeric ones."""
    return _ENTITY.sub(_entity, text) if "&" in text else text


def _attributes(tag: str, markup: str) -> tuple[str, str]:
    found = {name: value[1:-1] for name, value in _ATTRIBUTE.findall(tag)}
    if not re.fullmatch(r"cons\b.*", tag, re.DOTALL) or _ATTRIBUTE.sub("", tag).strip() != "cons":
        raise BadMarkup(f"<{tag[:40]}> is not <cons lex=… sem=…>", markup.find(f"<{tag}>"))
    return found.get("lex", ""), found.get("sem", "")


def _plain(piece: str, markup: str) -> str:
    if "<" in piece or ">" in piece:
        raise BadMarkup(f"stray angle bracket in {piece[:40]!r}", max(markup.find(piece), 0))
    try:
        return unescape(piece)
    except ValueError as error:
        raise BadMarkup(str(error), max(markup.find(piece), 0)) from None


def _entity(match: re.Match[str]) -> str:
    name = match[1]
    if match[0].endswith(";"):
        if name in _ENTITIES:
            return _ENTITIES[name]
        number = re.fullmatch(r"#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))", name)
        if number:
            code = int(number[1], 16) if number[1] else int(number[2])
            if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000:
                return chr(code)
    raise ValueError(f"unknown entity {match[0]!r}")
