"""Segment representations: mentions that neither overlap nor break, as one tag a token.

A tag is a prefix and a label (``B-protein``), or ``O``. Everything about a representation is in its line of one table:
the prefix of a token by its place in its segment. Which tags may follow each other, how tags are read, and which
representation can be mapped to which (:mod:`spanloom.schemes.maps`) all follow from it.

In BI, IE, BIES and the three that come from word segmentation (Xue 2003; Zhao et al. 2006) the outside is a class too:
a run of tokens outside of all mentions is a segment of the label ``O`` (Cho et al. 2013), so that the words around
mentions are told from the others.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from spanloom.base.errors import EncodingError

Chunk = tuple[str, int, int]
"""Label, first token, one past the last token."""

OUTSIDE = "O"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a token stands in its segment.

    ``index`` counts from 0 and stops at 3; ``after_own`` and ``before_own`` say that the first (last) token touches
    another segment of the same label.
    """

    index: int
    last: bool
    after_own: bool = False
    before_own: bool = False

    def may_precede(self, other: Place) -> bool:
        """Whether ``other`` can be the next token's place in the same segment."""
        return not self.last and other.index == min(self.index + 1, 3)


PLACES = tuple(
    Place(index, last, after, before)
    for index in range(4)
    for last in (False, True)
    for after in ((False, True) if index == 0 else (False,))
    for before in ((False, True) if last else (False,))
)


@dataclass(frozen=True, slots=True)
class TagMeaning:
    """What a tag says: a label (None: outside) and the places where it can stand."""

    label: str | None
    places: frozenset[Place]

    @property
    def begins(self) -> bool:
        """Whether it is always the first of its segment."""
        return all(place.index == 0 for place in self.places)

    @property
    def ends(self) -> bool:
        """Whether it is always the last of its segment."""
        return all(place.last for place in self.places)

    def may_start(self) -> bool:
        """Whether a sentence may start with it."""
        return any(place.index == 0 and not place.after_own for place in self.places)

    def may_end(self) -> bool:
        """Whether a sentence may end with it."""
        return any(place.last and not place.before_own for place in self.places)

    def may_precede(self, other: TagMeaning) -> bool:
        """Whether the other may be the next tag."""
        own = self.label == other.label
        goes_on = own and any(a.may_precede(b) for a in self.places for b in other.places)
        return goes_on or (
            any(place.last and place.before_own == own for place in self.places)
            and any(place.index == 0 and place.after_own == own for place in other.places)
        )

    def parts_from(self, other: TagMeaning) -> bool:
        """Whether a segment ends between this tag and the next one, legal or not; read as conlleval would."""
        return self.label != other.label or (self.label is not None and (self.ends or other.begins))


@dataclass(frozen=True, slots=True)
class Scheme:
    """A line of the table.

    Parameters
    ----------
    inner
        The prefixes of the first, second, third and further tokens that are not the last one.
    single, last
        The prefix of a token that is a whole segment, and of the last token of a longer one.
    outside
        Whether the outside is a class with prefixes.
    after_own, before_own
        The prefix, if another, of a first (last) token that touches a segment of the same label.
    """

    name: str
    inner: tuple[str, ...]
    single: str
    last: str
    outside: bool = False
    after_own: str | None = None
    before_own: str | None = None
    prefixes: tuple[str, ...] = field(init=False)
    """In the order of their places."""

    def __post_init__(self) -> None:
        used = dict.fromkeys(self.prefix(place) for place in PLACES)
        object.__setattr__(self, "prefixes", tuple(used))

    def prefix(self, place: Place) -> str:
        """Return the prefix of a token of a mention."""
        if place.after_own and self.after_own:
            return self.after_own
        if place.before_own and self.before_own:
            return self.before_own
        if place.last:
            return self.last if place.index else self.single
        return self.inner[place.index]

    def tag(self, label: str | None, place: Place) -> str:
        """Return the tag of a token of a mention with this label, or, for None, of a token outside."""
        if label is None:
            return f"{self.prefix(place)}-{OUTSIDE}" if self.outside else OUTSIDE
        return f"{self.prefix(place)}-{label}"

    def read(self, tag: str) -> TagMeaning:
        """Return what a tag says; ``ValueError`` if it is not one of this scheme."""
        prefix, _, label = tag.partition("-")
        if tag == OUTSIDE and not self.outside:
            # One tag for the whole outside: every place of a run.
            return TagMeaning(None, frozenset(p for p in PLACES if not p.after_own and not p.before_own))
        if not label or prefix not in self.prefixes:
            outside = "" if self.outside else f"{OUTSIDE}, "
            raise ValueError(f"not {outside}{' or '.join(p + '-LABEL' for p in self.prefixes)}")
        places = frozenset(p for p in PLACES if self.prefix(p) == prefix)
        if self.outside and label == OUTSIDE:
            # A run of outside tokens is as long as it can be: it never touches another.
            return TagMeaning(None, frozenset(p for p in places if not p.after_own and not p.before_own))
        return TagMeaning(label, places)


_TABLE = """
            first  second  third  later  single  last
IO          I      I       I      I      I       I
IOB1        I      I       I      I      I       I      after_own=B
IOB2        B      I       I      I      B       I
IOE1        I      I       I      I      I       I      before_own=E
IOE2        I      I       I      I      E       E
IOBES       B      I       I      I      S       E
BILOU       B      I       I      I      U       L
BI          B      I       I      I      B       I      outside=yes
IE          I      I       I      I      E       E      outside=yes
BIS         B      I       I      I      S       I      outside=yes
BIES        B      I       I      I      S       E      outside=yes
BB2IES      B      B2      I      I      S       E      outside=yes
BB2B3IES    B      B2      B3     I      S       E      outside=yes
"""


def _parse(line: str) -> Scheme:
    name, first, second, third, later, single, last, *more = line.split()
    options = dict(option.split("=") for option in more)
    outside, after, before = "outside" in options, options.get("after_own"), options.get("before_own")
    return Scheme(name, (first, second, third, later), single, last, outside, after, before)


SCHEMES: dict[str, Scheme] = {scheme.name: scheme for scheme in map(_parse, _TABLE.strip().splitlines()[1:])}
"""The representations by name."""

AUTO = "auto"

# What a prefix says wherever it is used, for files whose scheme is not known.
_COMMON = {
    prefix: frozenset(p for p in PLACES if (not first or p.index == 0) and (not last or p.last))
    for prefixes, first, last in (("B", 1, 0), ("SUW", 1, 1), ("EL", 0, 1), ("IM", 0, 0))
    for prefix in prefixes
}


def is_tag(text: str) -> bool:
    """Whether a text looks like a tag of any scheme: ``O``, or a known prefix, a hyphen and a label."""
    prefix, _, label = text.partition("-")
    return text == OUTSIDE or (label != "" and (prefix in _COMMON or prefix in ("B2", "B3")))


def from_tags(tags: Sequence[str], scheme: str, complain: Callable[[int, str], None]) -> list[Chunk]:
    """Return the mentions of a tag sequence.

    Where a sequence breaks the rules of its scheme, ``complain(token, message)`` is called and it is read as conlleval
    would. ``scheme="auto"`` takes every common prefix (B, I, E, S, L, U, M, W) and complains about no sequence; there,
    ``B-O`` is a mention labelled ``O``.

    Examples
    --------
    >>> from_tags(["B-a", "I-a", "B-a", "O", "I-b"], "auto", print)
    [('a', 0, 2), ('a', 2, 3), ('b', 4, 5)]
    >>> from_tags(["O", "I-b"], "IOB2", print)
    1 tag 'I-b' in 'O I-b' is not valid in IOB2, where it would be 'B-b'
    [('b', 1, 2)]
    """
    readings: list[TagMeaning] = []
    foreign = set()
    for i, tag in enumerate(tags):
        try:
            readings.append(read_tag(scheme, tag))
        except ValueError as error:
            complain(i, f"tag {tag!r} is {error}")
            foreign.add(i)
            readings.append(TagMeaning(None, frozenset()))
    chunks: list[Chunk] = []
    start = 0
    for i, reading in enumerate(readings):
        if i + 1 == len(readings) or reading.parts_from(readings[i + 1]):
            if reading.label is not None:
                chunks.append((reading.label, start, i + 1))
            start = i + 1
    if scheme != AUTO:
        # A sequence is valid if and only if it is how its mentions would be written.
        for i, (tag, right) in enumerate(zip(tags, to_tags(chunks, len(tags), scheme), strict=True)):
            if tag != right and i not in foreign:
                context = " ".join(tags[max(i - 1, 0) : i + 2])
                complain(i, f"tag {tag!r} in '{context}' is not valid in {scheme}, where it would be {right!r}")
    return chunks


def to_tags(chunks: Sequence[Chunk], length: int, scheme: str) -> list[str]:
    """Return the tags of mentions that do not overlap.

    Raises
    ------
    EncodingError
        If a mention is labelled ``O`` and the scheme calls the outside so.

    Examples
    --------
    >>> to_tags([("a", 0, 2), ("a", 2, 3)], 4, "IOBES")
    ['B-a', 'E-a', 'S-a', 'O']
    >>> to_tags([("a", 0, 2), ("a", 2, 3)], 4, "IOB1")
    ['I-a', 'I-a', 'B-a', 'O']
    >>> to_tags([("a", 2, 3)], 4, "BIES")
    ['B-O', 'E-O', 'S-a', 'S-O']
    """
    table = SCHEMES[scheme]
    tags: list[str] = []
    ordered = sorted(chunks, key=lambda chunk: chunk[1])
    for k, (label, start, end) in enumerate(ordered):
        if table.outside and label == OUTSIDE:
            raise EncodingError(f"a mention is labelled {OUTSIDE!r}, as {scheme} calls the outside; rename it")
        tags += _spell(scheme, None, start - len(tags), False, False)
        after = k > 0 and ordered[k - 1][::2] == (label, start)
        before = k + 1 < len(ordered) and ordered[k + 1][:2] == (label, end)
        tags += _spell(scheme, label, end - start, after, before)
    tags += _spell(scheme, None, length - len(tags), False, False)
    return tags


@functools.lru_cache(maxsize=4096)
def _spell(scheme: str, label: str | None, n: int, after_own: bool, before_own: bool) -> tuple[str, ...]:
    final = n - 1
    return tuple(
        SCHEMES[scheme].tag(label, Place(min(i, 3), i == final, after_own and i == 0, before_own and i == final))
        for i in range(n)
    )


@functools.lru_cache(maxsize=4096)
def read_tag(scheme: str, tag: str) -> TagMeaning:
    """Return what a tag says in a scheme or, for ``"auto"``, anywhere; ``ValueError`` if it is no tag of it."""
    if scheme != AUTO:
        return SCHEMES[scheme].read(tag)
    prefix, _, label = tag.partition("-")
    if tag == OUTSIDE:
        return TagMeaning(None, frozenset())
    if not label or prefix not in _COMMON:
        raise ValueError(f"not {OUTSIDE} or {' or '.join(p + '-LABEL' for p in _COMMON)}")
    return TagMeaning(label, _COMMON[prefix])
