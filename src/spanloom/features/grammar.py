"""Templates as text.

::

    template  = body [">=" COUNT]                    features seen fewer times than COUNT are dropped
    body      = "bias" | "distance" | "own" [offsets] | "bag" "(" view "," range ")" | atom {"&" atom}
              | ("left" | "right") "(" view "," range ")" | "segment" "(" view ")" ["[between]" | "[left..right]"]
    atom      = view [offsets]                       no offsets: [0]
              | ("first" | "last") "(" view ")" [offsets] | "size"
    offsets   = "[" range "]"                        a range stands for one template each: word[-1..1]
              | "[" side [INTEGER] "]" | "[between]" of a pair of tokens: word[left], word[right-1], word[between]
    side      = "left" | "right"
    view      = COLUMN | "head" "(" COLUMN ")" | OPERATION "(" view {"," argument} ")"
    range     = INTEGER [".." INTEGER]               both ends included
    COLUMN    = name, or any text in double quotes

``head(word)`` is the word of the token's syntactic head, by the column ``head``; ``<root>`` where there is none.

Where the sites are segments, ``first(word)[-1]`` counts from the first token of the segment and ``last(word)[1]`` from
the last; ``left(word, 2)`` is the third word of segments that have one, ``right(word, 0)`` their last;
``segment(word)`` is the sequence of words, ``size`` their number; what is none of these is seen for every token of the
segment. Of a pair of tokens, ``segment(pos)[between]`` is the sequence of what lies between them, and
``segment(pos)[left..right]`` that from the one to the other.

>>> [str(t) for t in parse_template("suffix(lower(word), 1..3)[-1..0]")]
['suffix(lower(word), 1..3)[-1]', 'suffix(lower(word), 1..3)[0]']
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

from spanloom.base.errors import ParameterError
from spanloom.features.templates import (
    AFFIXES,
    ANCHORS,
    FLAGS,
    INDEXED,
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_LENGTH,
    MAX_OFFSET,
    MAX_TEMPLATES,
    OPERATIONS,
    PLAIN,
    RESERVED,
    SIZE,
    Atom,
    Template,
    View,
    ViewStep,
)


def parse_template(text: str) -> list[Template]:
    """Parse one line of the template language into the templates that it stands for.

    Raises
    ------
    ParameterError
        With the position of what was not understood, and what could stand there.

    Examples
    --------
    >>> parse_template("word[-1] & shape(word)")[0].labels()
    ['word[-1]', 'shape(word)[0]']
    >>> parse_template("word[0")
    Traceback (most recent call last):
    ...
    spanloom.base.errors.ParameterError: template 'word[0', at 6: expected ']', found the end
    """
    return _Parser(text).template()


def parse_view(text: str) -> View:
    """Parse a view, e.g. ``"suffix(lower(word), 1..3)"``."""
    parser = _Parser(text)
    view = parser.view()
    parser.expect_end()
    return view


_TOKEN = re.compile(
    r'\s*(?:(?P<name>[^\W\d][\w\-]*)|(?P<int>[+-]?\d+)|(?P<quoted>"[^"]*")|(?P<mark>>=|\.\.|[\[\](),&]))'
)
_STRETCH = re.compile(r"\[\s*(?:(between)|left\s*\.\.\s*right)\s*\]")
_SIDE = re.compile(r"\[\s*(?:(left|right)(?:\s*([+-]\s*\d{1,4}))?|between)\s*\]")


class _Parser:
    def __init__(self, text: str) -> None:
        if len(text) > MAX_CHARACTERS:
            raise ParameterError(
                f"template {text[:40]!r}… has {len(text)} characters; at most {MAX_CHARACTERS} are allowed"
            )
        self.text = text
        self.at = 0  # where the current token starts
        self.kind = ""  # "name", "int", "quoted", "mark", or "" at the end
        self.value = ""
        self.after = 0  # where the current token ends
        self.advance()

    def advance(self) -> None:
        rest = self.text[self.after :]
        self.at = self.after + len(rest) - len(rest.lstrip())
        if self.at == len(self.text):
            self.kind, self.value, self.after = "", "", self.at
            return
        match = _TOKEN.match(self.text, self.after)
        if match is None:
            raise self.error(f"unexpected character {self.text[self.at]!r}")
        self.kind = match.lastgroup or ""
        self.value = match[self.kind]
        self.after = match.end()

    def error(self, message: str) -> ParameterError:
        return ParameterError(f"template {self.text!r}, at {self.at}: {message}")

    def unexpected(self, wanted: str) -> ParameterError:
        return self.error(f"expected {wanted}, found {repr(self.value) if self.kind else 'the end'}")

    def take(self, mark: str) -> bool:
        """Step over a mark if it is next."""
        if self.kind == "mark" and self.value == mark:
            self.advance()
            return True
        return False

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            raise self.unexpected(repr(mark))

    def expect_end(self) -> None:
        if self.kind:
            raise self.unexpected("the end")

    def integer(self, what: str, low: int, high: int) -> int:
        if self.kind != "int":
            raise self.unexpected(what)
        # Long digit strings are out of range anyway, and int() refuses them with another error.
        value = int(self.value) if len(self.value) <= 12 else high + 1
        if not low <= value <= high:
            raise self.error(f"{what} must be within {low}..{high}, got {self.value}")
        self.advance()
        return value

    def interval(self, what: str, low: int, high: int) -> tuple[int, int]:
        start = self.integer(what, low, high)
        at = self.at
        end = self.integer(what, low, high) if self.take("..") else start
        if end < start:
            self.at = at
            raise self.error(f"the range {start}..{end} runs backwards")
        return start, end

    def places(self) -> list[tuple[int, str]]:
        """Read the offsets of an atom, or its side with an offset."""
        match = _SIDE.match(self.text, self.at)
        if self.value != "[" or match is None:
            return [(offset, "") for offset in self.offsets()]
        offset = int("".join((match[2] or "0").split()))
        if abs(offset) > MAX_OFFSET:
            raise self.error(f"an offset must be within {-MAX_OFFSET}..{MAX_OFFSET}, got {offset}")
        self.after = match.end()
        self.advance()
        return [(offset, match[1] or "between")]

    def offsets(self) -> range:
        if not self.take("["):
            return range(1)
        start, end = self.interval("an offset", -MAX_OFFSET, MAX_OFFSET)
        self.expect("]")
        return range(start, end + 1)

    def template(self) -> list[Template]:
        templates = self.body()
        if self.take(">="):
            count = self.integer("a count", 1, 2**31)
            if templates[0].of_pairs:
                raise self.error("templates of pairs take no count: their features are those that learning needs")
            templates = [replace(t, min_count=count) for t in templates]
        if self.kind:
            raise self.unexpected("'&', '>=' or the end")
        return templates

    def body(self) -> list[Template]:
        if self.kind == "name" and self.value in ("bias", "own", "bag", "distance"):
            word = self.value
            self.advance()
            if word == "bias":
                return [Template("bias")]
            if word == "distance":
                return [Template("distance")]
            if word == "own":
                return [Template("own", offset=offset) for offset in self.offsets()]
            self.expect("(")
            view = self.view()
            self.expect(",")
            start, end = self.interval("an offset", -MAX_OFFSET, MAX_OFFSET)
            self.expect(")")
            return [Template("bag", tuple(Atom(view, offset) for offset in range(start, end + 1)))]
        if self.kind == "name" and self.value in (*INDEXED, "segment"):
            return self.whole_segment()
        choices: list[list[Atom]] = []
        total, at = 1, self.at
        while True:
            choices.append(self.atoms())
            total *= len(choices[-1])
            if total > MAX_TEMPLATES:
                raise self.error(f"this stands for {total} templates; at most {MAX_TEMPLATES} are allowed")
            if not self.take("&"):
                break
        if len({not atoms[0].anchor for atoms in choices}) > 1:
            self.at = at
            raise self.error("a part with first(…), last(…) or size and one without cannot be joined")
        sides = [atoms[0].side for atoms in choices]
        if any(sides) and not all(sides):
            self.at = at
            raise self.error("a template looks at tokens or at pairs of them; give every atom a side, or none")
        if sides.count("between") > 1:
            self.at = at
            raise self.error("a template may look between the ends of a pair once only")
        return [Template("pair" if any(sides) else "conjunction", atoms) for atoms in itertools.product(*choices)]

    def whole_segment(self) -> list[Template]:
        """Parse left(…), right(…) or segment(…)."""
        word = self.value
        self.advance()
        self.expect("(")
        view = self.view()
        if word == "segment":
            self.expect(")")
            return [Template("sequence", (Atom(view, side=self.stretch()),))]
        self.expect(",")
        start, end = self.interval("an index", 0, MAX_OFFSET)
        self.expect(")")
        return [Template("conjunction", (Atom(view, k, word),)) for k in range(start, end + 1)]

    def stretch(self) -> str:
        """Read what part of a pair of tokens a sequence is about; empty where it is about a segment."""
        match = _STRETCH.match(self.text, self.at)
        if match is None:
            return ""
        self.after = match.end()
        self.advance()
        return "between" if match[1] else "whole"

    def atoms(self) -> list[Atom]:
        """Parse an atom, which stands for several if it has a range of offsets."""
        if self.kind == "name" and self.value == "size":
            self.advance()
            return [SIZE]
        anchor = ""
        if self.kind == "name" and self.value in ANCHORS:
            anchor = self.value
            self.advance()
            self.expect("(")
        view = self.view()
        if anchor:
            self.expect(")")
            return [Atom(view, offset, anchor) for offset in self.offsets()]
        return [Atom(view, offset, side=side) for offset, side in self.places()]

    def view(self, depth: int = 0) -> View:
        if depth > MAX_DEPTH:
            raise self.error(f"operations are nested more than {MAX_DEPTH} deep")
        if self.kind == "quoted":
            return View(self.column())
        if self.kind != "name":
            raise self.unexpected("a column or an operation")
        name, at = self.value, self.at
        self.advance()
        if not self.take("("):
            if name in RESERVED:
                self.at = at
                raise self.error(f'{name!r} cannot stand here alone; a column of that name is written "{name}"')
            return View(name)
        if name == "head":
            column = self.column()
            self.expect(")")
            return View(column, head=True)
        if name not in OPERATIONS:
            self.at = at
            raise self.error(f"unknown operation {name!r}; there are {', '.join(OPERATIONS)}, and bag at the start")
        inner = self.view(depth + 1)
        operation = self.arguments(name)
        self.expect(")")
        return replace(inner, operations=(*inner.operations, operation))

    def column(self) -> str:
        """Parse the name of a column, plain or quoted."""
        if self.kind not in ("name", "quoted") or self.value == '""':
            raise self.unexpected("the name of a column")
        name = self.value.strip('"')
        self.advance()
        return name

    def arguments(self, name: str) -> ViewStep:
        if name in PLAIN:
            return ViewStep(name)
        if name in AFFIXES:
            self.expect(",")
            low, high = self.interval("a length", 1, MAX_LENGTH)
            return ViewStep(name, low=low, high=high)
        names: list[str] = []
        if name == "flags":
            both = False
            while self.take(","):
                if self.kind == "name" and self.value == "both" and not names and not both:
                    both = True
                elif self.kind == "name" and self.value in FLAGS:
                    names.append(self.value)
                else:
                    raise self.unexpected(f"a flag ({', '.join(FLAGS)})")
                self.advance()
            return ViewStep(name, names=tuple(names), both=both)
        self.expect(",")
        if self.kind not in ("name", "quoted"):
            raise self.unexpected("the name of a resource")
        names.append(self.value.strip('"'))
        self.advance()
        lengths: list[int] = []
        while name == "cluster" and self.take(","):
            lengths.append(self.integer("a length", 1, MAX_LENGTH))
        return ViewStep(name if lengths else "lookup", names=tuple(names), lengths=tuple(sorted(set(lengths))))
