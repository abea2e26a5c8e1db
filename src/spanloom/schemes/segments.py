"""Segment representations: flat mentions as one label per token, and back.

A label is a prefix and a type (``B-protein``), or ``O``. What a prefix says is two answers: does a mention *begin* at
this token, does one *end* here; yes, no, or undecided (``None``: the neighbours decide). Between neighbours of one type
there is a border if the left one ends or the right one begins, and none if one of them denies it; denying and affirming
at once is illegal. Between different types, or at a sentence edge, there must be a border. Legal transitions, reading
and validity all follow from this one table:

========  =====================  ================================================
scheme    prefixes               note
========  =====================  ================================================
IO        I                      touching mentions of one type become one
IOB1      I, B                   B only after a mention of its own type
IOB2      B, I                   also called BIO
IOE1      I, E                   E only before a mention of its own type
IOE2      I, E
IOBES     B, I, E, S             S: a mention of one token
BILOU     B, I, L, U             IOBES with other letters
========  =====================  ================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spanloom.corpus.mention import Mention
from spanloom.corpus.tags import to_tags
from spanloom.errors import ParameterError

Answer = bool | None

PREFIXES: dict[str, dict[str, tuple[Answer, Answer]]] = {
    "IO": {"I": (None, None)},
    "IOB1": {"I": (None, None), "B": (True, None)},
    "IOB2": {"B": (True, None), "I": (False, None)},
    "IOE1": {"I": (None, None), "E": (None, True)},
    "IOE2": {"I": (None, False), "E": (None, True)},
    "IOBES": {"B": (True, False), "I": (False, False), "E": (False, True), "S": (True, True)},
    "BILOU": {"B": (True, False), "I": (False, False), "L": (False, True), "U": (True, True)},
}
"""For each scheme and prefix: does a mention begin here, does one end here?"""

OUTSIDE = "O"


@dataclass(frozen=True, slots=True)
class _Reading:
    type: str | None  # None for O
    begins: Answer
    ends: Answer


class Segments:
    """A representation with its labels.

    Parameters
    ----------
    scheme
        One of ``PREFIXES``.
    labels
        The labels in use, e.g. those seen in training; ``O`` is always one of them and comes first.

    Examples
    --------
    >>> bio = Segments("IOB2", ["B-DNA", "I-DNA"])
    >>> bio.encode([Mention("DNA", ((1, 3),))], 4).tolist()
    [0, 1, 2, 0]
    >>> bio.decode([0, 1, 2, 1])
    [Mention(label='DNA', parts=((1, 3),), prob=None), Mention(label='DNA', parts=((3, 4),), prob=None)]
    >>> bio.allowed(0, 2)  # O, then I-DNA
    False
    """

    def __init__(self, scheme: str, labels: Iterable[str]) -> None:
        check_scheme(scheme)
        self.scheme = scheme
        self.labels = (OUTSIDE, *(label for label in labels if label != OUTSIDE))
        self._index = {label: i for i, label in enumerate(self.labels)}
        if len(self._index) != len(self.labels):
            raise ParameterError(f"a label is given twice: {', '.join(self.labels)}")
        self._readings = [_read(scheme, label) for label in self.labels]
        self._breaks = [[self._border(a, b) is not False for b in self._readings] for a in self._readings]

    @classmethod
    def learn(cls, scheme: str, sentences: Iterable[tuple[Sequence[Mention], int]]) -> Segments:
        """Collect the labels that (mentions, number of tokens) pairs need, most frequent first."""
        check_scheme(scheme)
        counts: dict[str, int] = {}
        for mentions, n in sentences:
            if mentions:
                for tag in _tags(mentions, n, scheme):
                    counts[tag] = counts.get(tag, 0) + 1
        return cls(scheme, sorted(counts, key=lambda tag: (-counts[tag], tag)))

    @property
    def types(self) -> frozenset[str]:
        """The types of mentions that the labels speak of."""
        return frozenset(r.type for r in self._readings if r.type is not None)

    def encode(self, mentions: Sequence[Mention], n: int) -> npt.NDArray[np.int32]:
        """Return the label of each of ``n`` tokens; the mentions must be contiguous and must not overlap.

        Raises ``KeyError`` with the label if one is not in use.
        """
        if not mentions:
            return np.zeros(n, np.int32)
        return np.fromiter((self._index[tag] for tag in _tags(mentions, n, self.scheme)), np.int32, n)

    def decode(self, labels: Sequence[int] | npt.NDArray[np.integer]) -> list[Mention]:
        """Read labels as mentions; an illegal sequence is read by its borders, as conlleval would."""
        labels = np.asarray(labels)
        found: list[Mention] = []
        start = last = -1  # the open mention: its first and its latest token
        for t in np.flatnonzero(labels).tolist():
            if start >= 0 and (t > last + 1 or self._breaks[labels[last]][labels[t]]):
                found.append(self._mention(labels[last], start, last + 1))
                start = -1
            if start < 0:
                start = t
            last = t
        if start >= 0:
            found.append(self._mention(labels[last], start, last + 1))
        return found

    def allowed(self, left: int, right: int) -> bool:
        """Whether label ``right`` may follow label ``left``."""
        return self._border(self._readings[left], self._readings[right]) is not None

    def may_start(self, label: int) -> bool:
        """Whether a sentence may start with this label."""
        reading = self._readings[label]
        # In IOB1, B says that a mention of the same type stands before it.
        return reading.type is None or (reading.begins is not False and not (self.scheme == "IOB1" and reading.begins))

    def may_end(self, label: int) -> bool:
        """Whether a sentence may end with this label."""
        reading = self._readings[label]
        return reading.type is None or (reading.ends is not False and not (self.scheme == "IOE1" and reading.ends))

    def _border(self, left: _Reading, right: _Reading) -> bool | None:
        """True: a border, or both outside; False: one mention goes on; None: illegal."""
        if left.type != right.type:
            free = left.ends is not False and right.begins is not False
            if self.scheme == "IOB1" and right.begins:
                free = False
            if self.scheme == "IOE1" and left.ends:
                free = False
            return True if free else None
        if left.type is None:
            return True
        yes = left.ends is True or right.begins is True
        no = left.ends is False or right.begins is False
        if yes and no:
            return None
        return yes

    def _mention(self, label: int, start: int, end: int) -> Mention:
        return Mention(str(self._readings[label].type), ((start, end),))


def check_scheme(scheme: str) -> None:
    """Raise ``ParameterError`` unless ``scheme`` is one of ``PREFIXES``."""
    if scheme not in PREFIXES:
        raise ParameterError(f"scheme must be one of {', '.join(PREFIXES)}, got {scheme!r}")


def _tags(mentions: Sequence[Mention], n: int, scheme: str) -> list[str]:
    return to_tags([(m.label, m.start, m.end) for m in mentions], n, scheme)


def _read(scheme: str, label: str) -> _Reading:
    if label == OUTSIDE:
        return _Reading(None, None, None)
    prefix, hyphen, type_ = label.partition("-")
    if not hyphen or not type_ or prefix not in PREFIXES[scheme]:
        allowed = ", ".join(f"{p}-TYPE" for p in PREFIXES[scheme])
        raise ParameterError(f"label {label!r} is not valid in {scheme}; labels are O, {allowed}")
    return _Reading(type_, *PREFIXES[scheme][prefix])
