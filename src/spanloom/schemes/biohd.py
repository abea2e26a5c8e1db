"""BIOHD: discontinuous mentions as one label a token (Tang et al. 2013), the baseline that everyone uses.

A mention without gaps that shares no token is ``B``, ``I``. The tokens of all other mentions are ``BH``, ``IH`` where
several mentions share them (the *head*), and ``BD``, ``ID`` where one alone has them. Read back, every run of ``D`` of
a type goes with all runs of ``H`` of that type in the sentence; without an ``H``, all runs of ``D`` make one mention;
an ``H`` without a ``D`` stands alone::

    Bill    and   Hilary   Clinton   traveled
    BD-PER  O     BD-PER   BH-PER    O           Bill … Clinton, Hilary Clinton

The labels say less than the mentions: two discontinuous mentions without a common token become one, two coordinations
of one type in a sentence mix, and a mention within another (``IL-2`` in ``IL-2 receptor``) is lost, for the inner one
has no token of its own. ``lost`` tells which mentions of a sentence do not come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from spanloom.base.errors import ParameterError
from spanloom.corpus.mention import Mention, Part
from spanloom.corpus.tags import OUTSIDE

BIOHD = "BIOHD"
PREFIXES = ("B", "I", "BD", "ID", "BH", "IH")


def biohd_tags(mentions: Sequence[Mention], n: int) -> list[str]:
    """Return the tag of each of ``n`` tokens; where mentions of several labels share one, the first label counts.

    Examples
    --------
    >>> biohd_tags([Mention("PER", ((0, 1), (3, 4))), Mention("PER", ((2, 4),))], 5)
    ['BD-PER', 'O', 'BD-PER', 'BH-PER', 'O']
    """
    owners: list[list[int]] = [[] for _ in range(n)]
    for number, mention in enumerate(mentions):
        for t in mention.tokens:
            owners[t].append(number)
    apart = [m.discontinuous or any(len(owners[t]) > 1 for t in m.tokens) for m in mentions]
    tags: list[str] = []
    for t, own in enumerate(owners):
        if not own:
            tags.append(OUTSIDE)
            continue
        kind = "" if not apart[own[0]] else "H" if len(own) > 1 else "D"
        begins = t == 0 or owners[t - 1] != own
        tags.append(f"{'B' if begins else 'I'}{kind}-{mentions[own[0]].label}")
    return tags


def biohd_mentions(tags: Sequence[str]) -> list[Mention]:
    """Read tags as mentions; an ``I`` of any kind that continues nothing begins a run.

    Examples
    --------
    >>> [m.parts for m in biohd_mentions(["BD-PER", "O", "BD-PER", "BH-PER", "O"])]
    [((0, 1), (3, 4)), ((2, 4),)]
    """
    runs: dict[tuple[str, str], list[Part]] = {}  # by label and kind
    before: tuple[str, str] | None = None
    for t, tag in enumerate(tags):
        if tag == OUTSIDE:
            before = None
            continue
        prefix, _, label = tag.partition("-")
        key = (label, prefix[1:])
        some = runs.setdefault(key, [])
        if prefix[0] == "I" and before == key:
            some[-1] = (some[-1][0], t + 1)
        else:
            some.append((t, t + 1))
        before = key
    found: set[Mention] = set()
    for label, kind in runs:
        heads, others = runs.get((label, "H"), []), runs.get((label, "D"), [])
        if kind == "":
            found.update(Mention(label, (part,)) for part in runs[label, kind])
        elif heads and others:
            found.update(Mention(label, (*heads, part)) for part in others)
        elif heads:
            found.update(Mention(label, (part,)) for part in heads)
        else:
            found.add(Mention(label, tuple(others)))
    return sorted(found)


def lost(mentions: Sequence[Mention]) -> list[Mention]:
    """Return the mentions of a sentence that do not come back from their tags.

    Examples
    --------
    >>> inner, outer = Mention("protein", ((0, 2),)), Mention("DNA", ((0, 3),))
    >>> lost([inner, outer]) == [outer], lost([inner])
    (True, [])
    """
    n = max((m.end for m in mentions), default=0)
    back = set(biohd_mentions(biohd_tags(mentions, n)))
    return [m for m in mentions if m not in back]


class Biohd:
    """The labels in use, as numbers; ``O`` comes first.

    Examples
    --------
    >>> labels = Biohd.learn([([Mention("PER", ((0, 1), (2, 3)))], 3)])
    >>> labels.labels, labels.encode([Mention("PER", ((0, 1), (2, 3)))], 3).tolist()
    (('O', 'BD-PER'), [1, 0, 1])
    """

    scheme = BIOHD

    def __init__(self, labels: Iterable[str]) -> None:
        self.labels = (OUTSIDE, *(label for label in labels if label != OUTSIDE))
        self._index = {label: i for i, label in enumerate(self.labels)}
        self._parts = [tuple(label.partition("-")[::2]) for label in self.labels]
        for label, (prefix, type_) in zip(self.labels[1:], self._parts[1:], strict=True):
            if prefix not in PREFIXES or not type_:
                allowed = ", ".join(f"{p}-TYPE" for p in PREFIXES)
                raise ParameterError(f"label {label!r} is not valid in {BIOHD}; labels are O, {allowed}")

    @classmethod
    def learn(cls, sentences: Iterable[tuple[Sequence[Mention], int]]) -> Biohd:
        """Collect the labels that (mentions, number of tokens) pairs need, most frequent first."""
        counts: dict[str, int] = {}
        for mentions, n in sentences:
            for tag in biohd_tags(mentions, n) if mentions else ():
                counts[tag] = counts.get(tag, 0) + 1
        return cls(sorted(counts, key=lambda tag: (-counts[tag], tag)))

    @property
    def types(self) -> frozenset[str]:
        """The types of mentions that the labels speak of."""
        return frozenset(type_ for _, type_ in self._parts[1:])

    def encode(self, mentions: Sequence[Mention], n: int) -> npt.NDArray[np.int32]:
        """Return the label of each of ``n`` tokens."""
        return np.fromiter((self._index[tag] for tag in biohd_tags(mentions, n)), np.int32, n)

    def decode(self, labels: Sequence[int] | npt.NDArray[np.integer]) -> list[Mention]:
        """Read labels as mentions."""
        return biohd_mentions([self.labels[label] for label in labels])

    def decode_all(self, labels: npt.NDArray[np.integer], ptr: npt.NDArray[np.int64]) -> list[list[Mention]]:
        """Read many sentences; the labels of sentence ``s`` are ``labels[ptr[s]:ptr[s + 1]]``."""
        return [self.decode(part) for part in np.split(labels, ptr[1:-1])] if len(ptr) > 1 else []

    def words(self, label: int, token: str) -> str:
        """Say what a label means at a token.

        Examples
        --------
        >>> Biohd(["BH-PER"]).words(1, "Clinton")
        'Clinton begins a run of tokens that several PER share'
        """
        prefix, type_ = self._parts[label]
        if not type_:
            return f"{token} is in no mention"
        place = "begins" if prefix[0] == "B" else "continues"
        what = {"": f"a contiguous {type_}", "H": f"a run of tokens that several {type_} share"}
        return f"{token} {place} {what.get(prefix[1:], f'a run of tokens of one {type_} in parts')}"

    def allowed(self, left: int, right: int) -> bool:
        """Whether label ``right`` may follow label ``left``: an I of any kind follows its own B or I only."""
        (before, before_type), (prefix, type_) = self._parts[left], self._parts[right]
        return prefix[0] != "I" or (before[1:] == prefix[1:] and before_type == type_ and before != OUTSIDE)

    def joins(self, left: int, right: int) -> bool:
        """Whether label ``right``, next to ``left``, goes on with the same run."""
        return self._parts[right][0][0] == "I" and self.allowed(left, right)

    def label_types(self) -> list[str | None]:
        """For each label its type; None for the outside."""
        return [type_ or None for _, type_ in self._parts]

    def may_start(self, label: int) -> bool:
        """Whether a sentence may start with this label."""
        return self._parts[label][0][0] != "I"

    def may_end(self, label: int) -> bool:
        """Whether a sentence may end with this label."""
        return True

    def starts(self) -> list[str | None]:
        """For each label its type, if it begins a mention or a part of one; else None."""
        return [type_ if prefix[0] == "B" else None for prefix, type_ in self._parts]
