"""Segments: the tags of one representation as numbers, for the models.

The representations themselves, with their rules, are in :mod:`spanloom.corpus.tags`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from spanloom.base.errors import ParameterError
from spanloom.corpus.mention import Mention
from spanloom.corpus.tags import OUTSIDE, SCHEMES, TagMeaning, to_tags
from spanloom.schemes.words import tag_words

Labels = Sequence[int] | npt.NDArray[np.integer]


class Segments:
    """A representation with its labels.

    Parameters
    ----------
    scheme
        One of ``spanloom.corpus.tags.SCHEMES``.
    labels
        The labels in use, e.g. those seen in training; those of the outside are always among them and come first.

    Examples
    --------
    >>> bio = Segments("IOB2", ["B-DNA", "I-DNA"])
    >>> bio.encode([Mention("DNA", ((1, 3),))], 4).tolist()
    [0, 1, 2, 0]
    >>> bio.decode([0, 1, 2, 1])
    [Mention(label='DNA', parts=((1, 3),), prob=None), Mention(label='DNA', parts=((3, 4),), prob=None)]
    >>> bio.allowed(0, 2)  # O, then I-DNA
    False
    >>> bio.illegal([0, 2, 0])
    [1]
    """

    def __init__(self, scheme: str, labels: Iterable[str]) -> None:
        check_scheme(scheme)
        self.scheme = scheme
        given = list(labels)
        outside = outside_labels(scheme)
        self.labels = (*outside, *(label for label in given if label not in outside))
        self._index = {label: i for i, label in enumerate(self.labels)}
        if len(self._index) != len(self.labels):
            raise ParameterError(f"a label is given twice: {', '.join(self.labels)}")
        table = SCHEMES[scheme]
        try:
            self._readings = [table.read(label) for label in self.labels]
        except ValueError:
            bad = next(label for label in self.labels if not _valid(scheme, label))
            allowed = ", ".join([*outside, *(f"{p}-TYPE" for p in table.prefixes)])
            raise ParameterError(f"label {bad!r} is not valid in {scheme}; labels are {allowed}") from None
        self._inside = np.array([r.label is not None for r in self._readings])
        self._parts = _table(self._readings, TagMeaning.parts_from)
        self._allowed = _table(self._readings, TagMeaning.may_precede)

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
        return frozenset(r.label for r in self._readings if r.label is not None)

    def encode(self, mentions: Sequence[Mention], n: int) -> npt.NDArray[np.int32]:
        """Return the label of each of ``n`` tokens; the mentions must be contiguous and must not overlap.

        Raises ``KeyError`` with the label if one is not in use.
        """
        return np.fromiter((self._index[tag] for tag in _tags(mentions, n, self.scheme)), np.int32, n)

    def decode(self, labels: Labels, *, strict: bool = False) -> list[Mention]:
        """Read labels as mentions.

        An illegal sequence is read by its borders, as conlleval would; with ``strict``, a mention with an illegal place
        in it or at one of its ends is left out, as seqeval does in its strict mode. ``illegal`` says where they are.
        """
        codes = np.asarray(labels, np.intp)
        if not self._inside[codes].any():
            return []
        ends = [*(np.flatnonzero(self._parts[codes[:-1], codes[1:]]) + 1).tolist(), len(codes)]
        bad = set(self.illegal(codes)) if strict else set()
        found: list[Mention] = []
        start = 0
        for end in ends:
            label = self._readings[codes[start]].label
            if label is not None and bad.isdisjoint(range(start, end + 1)):
                found.append(Mention(label, ((start, end),)))
            start = end
        return found

    def decode_all(self, labels: Labels, ptr: npt.NDArray[np.int64]) -> list[list[Mention]]:
        """Read many sentences at once; the labels of sentence ``s`` are ``labels[ptr[s]:ptr[s + 1]]``.

        Examples
        --------
        >>> bio = Segments("IOB2", ["O", "B-a", "I-a"])
        >>> [[m.parts for m in found] for found in bio.decode_all([1, 2, 0, 1, 2], np.array([0, 1, 1, 5]))]
        [[((0, 1),)], [], [((0, 1),), ((2, 4),)]]
        """
        codes = np.asarray(labels, np.intp)
        found: list[list[Mention]] = [[] for _ in range(len(ptr) - 1)]
        if not self._inside[codes].any():
            return found
        border = np.ones(len(codes), np.bool_)  # after each token
        border[:-1] = self._parts[codes[:-1], codes[1:]]
        border[ptr[1:] - 1] = True
        last = np.flatnonzero(border)
        first = np.concatenate([[0], last[:-1] + 1])
        inside = self._inside[codes[last]]
        first, last = first[inside], last[inside]
        sentence = np.searchsorted(ptr, first, side="right") - 1
        shift = ptr[sentence]
        rows = (codes[last], sentence, first - shift, last + 1 - shift)
        for code, s, start, end in zip(*(row.tolist() for row in rows), strict=True):
            found[s].append(Mention(str(self._readings[code].label), ((start, end),)))
        return found

    def illegal(self, labels: Labels) -> list[int]:
        """Return the tokens whose label may not follow the one before; the length counts as a last, empty token."""
        codes = np.asarray(labels, np.intp)
        places = (np.flatnonzero(~self._allowed[codes[:-1], codes[1:]]) + 1).tolist()
        if len(codes) and not self.may_start(codes[0]):
            places.insert(0, 0)
        if len(codes) and not self.may_end(codes[-1]):
            places.append(len(codes))
        return places

    def starts(self) -> list[str | None]:
        """For each label its type, if it stands once for every mention; else None.

        That is a label that begins a mention, in schemes that mark every beginning; one that ends it, in those that
        mark every end; and every label but O in the others.
        """
        typed = [r for r in self._readings if r.label is not None]
        if all(r.begins or all(place.index for place in r.places) for r in typed):
            return [r.label if r.begins else None for r in self._readings]
        if all(r.ends or not any(place.last for place in r.places) for r in typed):
            return [r.label if r.ends else None for r in self._readings]
        return [r.label for r in self._readings]

    def words(self, label: int, token: str) -> str:
        """Say what a label means at a token.

        Examples
        --------
        >>> Segments("IOB2", ["B-DNA", "I-DNA"]).words(1, "gene")
        'gene is the first token of a DNA'
        """
        return tag_words(self._readings[label], token)

    def label_types(self) -> list[str | None]:
        """For each label the type of the mention that its token is part of; None outside."""
        return [r.label for r in self._readings]

    def borders(self) -> npt.NDArray[np.bool_]:
        """``[left, right]``: whether ``decode`` parts two neighbouring labels, so that no mention covers both."""
        return self._parts.copy()

    def law(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """``[left, right]``: whether a label may follow another; whether each may stand first; and last."""
        starts, ends = zip(*((r.may_start(), r.may_end()) for r in self._readings), strict=True)
        return self._allowed.copy(), np.array(starts), np.array(ends)

    def allowed(self, left: int, right: int) -> bool:
        """Whether label ``right`` may follow label ``left``."""
        return bool(self._allowed[left, right])

    def joins(self, left: int, right: int) -> bool:
        """Whether label ``right``, next to ``left``, goes on with the same mention."""
        return bool(self._inside[left] and not self._parts[left, right])

    def may_start(self, label: int) -> bool:
        """Whether a sentence may start with this label."""
        return self._readings[label].may_start()

    def may_end(self, label: int) -> bool:
        """Whether a sentence may end with this label."""
        return self._readings[label].may_end()


def outside_labels(scheme: str) -> tuple[str, ...]:
    """Return the labels of tokens outside of all mentions.

    Examples
    --------
    >>> outside_labels("IOB2"), outside_labels("BI")
    (('O',), ('B-O', 'I-O'))
    """
    table = SCHEMES[scheme]
    return tuple(f"{prefix}-{OUTSIDE}" for prefix in table.prefixes) if table.outside else (OUTSIDE,)


def check_scheme(scheme: str) -> None:
    """Raise ``ParameterError`` unless ``scheme`` is one of ``SCHEMES``."""
    if scheme not in SCHEMES:
        raise ParameterError(f"scheme must be one of {', '.join(SCHEMES)} (and BIOHD for a chain), got {scheme!r}")


def _table(readings: Sequence[TagMeaning], rule: Callable[[TagMeaning, TagMeaning], bool]) -> npt.NDArray[np.bool_]:
    """``[left, right]``: what a rule says of two labels.

    It goes by their places, by whether they are outside, and by whether their types are the same: with many types, few
    pairs need to be asked.
    """
    kinds: dict[object, int] = {}
    kind = np.array([kinds.setdefault((r.places, r.label is None), len(kinds)) for r in readings])
    types: dict[str | None, int] = {}
    type_ = np.array([types.setdefault(r.label, len(types)) for r in readings])
    same = type_[:, None] == type_
    table = np.zeros((len(readings), len(readings)), np.bool_)
    for a, b in product(range(len(kinds)), repeat=2):
        for alike in (True, False):
            left, right = np.nonzero((kind == a)[:, None] & (kind == b) & (same == alike))
            if len(left):
                table[left, right] = rule(readings[left[0]], readings[right[0]])
    return table


def _tags(mentions: Sequence[Mention], n: int, scheme: str) -> list[str]:
    return to_tags([(m.label, m.start, m.end) for m in mentions], n, scheme)


def _valid(scheme: str, label: str) -> bool:
    try:
        SCHEMES[scheme].read(label)
    except ValueError:
        return False
    return True
