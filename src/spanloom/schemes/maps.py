"""Maps between representations: which can be read off which token by token, and what several at once mean.

A representation maps to a coarser one if its label alone, without the neighbours, says the coarser label: if places in
a segment that get one prefix in the finer get one prefix in the coarser too (Cho et al. 2013, figure 1 and table 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spanloom.base.arrays import Tied
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.corpus.tags import OUTSIDE, PLACES, SCHEMES, Place, Scheme, from_tags, to_tags
from spanloom.schemes.segments import check_scheme

PAPER = ("IO", "IOB2", "IOE2", "BI", "IE", "IOBES", "BIES")
"""The representations of Cho et al.; ``BIES+`` means all of them that BIES maps to."""


def label_map(fine: str, coarse: str) -> dict[str, str] | None:
    """Return the map from prefixes to prefixes (those of the outside begin with ``O``), or None if there is none.

    Examples
    --------
    >>> label_map("IOBES", "IOB2")
    {'O': 'O', 'B': 'B', 'S': 'B', 'I': 'I', 'E': 'I'}
    >>> label_map("BIES", "IO")
    {'O-B': 'O', 'O-S': 'O', 'O-I': 'O', 'O-E': 'O', 'B': 'I', 'S': 'I', 'I': 'I', 'E': 'I'}
    >>> label_map("IOB2", "IOE2") is None
    True
    """
    check_scheme(fine)
    check_scheme(coarse)
    a, b = SCHEMES[fine], SCHEMES[coarse]
    found: dict[str, str] = {}
    for outside in (True, False):
        for place in PLACES:
            if outside and (place.after_own or place.before_own):
                continue
            key, value = _name(a, place, outside), _name(b, place, outside)
            if found.setdefault(key, value) != value:
                return None
    return found


def mappable(scheme: str) -> list[str]:
    """Return the other representations that this one maps to.

    Examples
    --------
    >>> mappable("IOBES")
    ['IO', 'IOB2', 'IOE2', 'BILOU']
    """
    return [other for other in SCHEMES if other != scheme and label_map(scheme, other) is not None]


def lattice() -> list[tuple[str, str]]:
    """Return the maps that are not made of others, as (finer, coarser): the arrows of figure 1.

    BILOU, which is IOBES in other letters, is left out.
    """
    names = [name for name in SCHEMES if name != "BILOU"]
    below = {a: {b for b in names if b != a and label_map(a, b) is not None} for a in names}
    return [(a, b) for a in names for b in names if b in below[a] and not any(b in below[c] for c in below[a])]


def convert(tags: Sequence[str], source: str, target: str) -> list[str]:
    """Return a tag sequence of one representation in another.

    Raises
    ------
    CorpusError
        If the sequence is not legal; ``spanloom.corpus.tags.from_tags`` reads such ones.

    Examples
    --------
    >>> convert(["O", "S-gene", "O"], "IOBES", "BIES")
    ['S-O', 'S-gene', 'S-O']
    """
    check_scheme(source)
    check_scheme(target)
    problems: list[str] = []
    chunks = from_tags(tags, source, lambda i, message: problems.append(f"token {i}: {message}"))
    if problems:
        raise CorpusError(problems[0])
    return to_tags(chunks, len(tags), target)


@dataclass(frozen=True, slots=True)
class Representations:
    """A main representation and further ones that it maps to.

    Attributes
    ----------
    main
        Its labels are the columns of the model.
    others
        Their features fire through the maps.
    """

    main: str
    others: tuple[str, ...] = ()

    @classmethod
    def parse(cls, given: str | Sequence[str]) -> Representations:
        """Read a name, a name with ``+`` (all of Cho et al.'s that it maps to), or a list with the main one first.

        A list may be written as names with commas between them.

        Examples
        --------
        >>> Representations.parse("IOBES+")
        Representations(main='IOBES', others=('IO', 'IOB2', 'IOE2'))
        >>> Representations.parse(["BIES", "IO"])
        Representations(main='BIES', others=('IO',))
        """
        if isinstance(given, str) and "," in given:
            given = [name.strip() for name in given.split(",")]
        if isinstance(given, str):
            main = given.removesuffix("+")
            check_scheme(main)
            others = [name for name in mappable(main) if name in PAPER] if given.endswith("+") else []
            # BILOU+ would have itself again, as IOBES.
            return cls(main, tuple(name for name in others if label_map(name, main) is None))
        if not isinstance(given, list | tuple) or not given or not all(isinstance(name, str) for name in given):
            raise ParameterError(
                f"scheme must be the name of a representation, one with '+', or a list of names, got {given!r}"
            )
        main, *rest = given
        check_scheme(main)
        for i, other in enumerate(rest):
            check_scheme(other)
            if other in given[: i + 1]:
                raise ParameterError(f"the representation {other} is given twice in {list(given)}")
            if label_map(main, other) is None:
                raise ParameterError(
                    f"{main} does not map to {other}: a label of {main} alone does not say the one of {other}. "
                    f"It maps to {', '.join(mappable(main)) or 'none'}; put the finest first"
                )
        return cls(main, tuple(rest))

    def tie(self, labels: Sequence[str]) -> Tying | None:
        """Return how parameters add up to the scores of the main representation's labels; None without others.

            score[y] = Σ_l parameter_l[g_l(y)],   transition[y, z] = Σ_l parameter_l[g_l(y), g_l(z)]

        where l runs over the main representation and the others, and g_l is the map to l.
        """
        if not self.others:
            return None
        images = [list(labels), *([self._map(other, label) for label in labels] for other in self.others)]
        names: list[str] = []
        columns: list[list[int]] = []  # [representation][label]: parameter
        pairs: list[list[int]] = []  # [representation][label * n + label]: parameter
        pair_width = 0
        for name, image in zip((self.main, *self.others), images, strict=True):
            own = list(dict.fromkeys(image))
            codes = [own.index(label) for label in image]
            columns.append([len(names) + c for c in codes])
            pairs.append([pair_width + a * len(own) + b for a in codes for b in codes])
            names += [f"{name}:{label}" for label in own]
            pair_width += len(own) ** 2
        return Tying(tuple(names), _by_score(columns, len(names)), _by_score(pairs, pair_width))

    def _map(self, other: str, label: str) -> str:
        reading = SCHEMES[self.main].read(label)
        place = next(iter(reading.places))
        return SCHEMES[other].tag(reading.label, place)


@dataclass(frozen=True, slots=True)
class Tying:
    """How state and transition scores are made of parameters, and names of the state parameters."""

    names: tuple[str, ...]
    sites: Tied
    globals: Tied


def _by_score(params: list[list[int]], width: int) -> Tied:
    table = np.array(params, np.int32).T  # table[score, representation]: parameter
    ptr = np.arange(table.shape[0] + 1, dtype=np.int64) * table.shape[1]
    return Tied(ptr, np.ascontiguousarray(table).ravel(), width)


def _name(scheme: Scheme, place: Place, outside: bool) -> str:
    prefix = scheme.prefix(place)
    if not outside:
        return prefix
    return f"{OUTSIDE}-{prefix}" if scheme.outside else OUTSIDE
