"""How the columns of a chain are read as mentions: what the dynamic programs and people need to know of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spanloom._native import FlatReading, SeparatorReading
from spanloom.base.arrays import Ints32
from spanloom.corpus.mention import Mention
from spanloom.schemes import SEPARATORS, Segments, decode_separators


@dataclass(frozen=True, slots=True)
class Reading:
    """How the columns of a chain are read.

    Attributes
    ----------
    native
        The rules, for the dynamic programs.
    types
        The labels of mentions, by their numbers in ``native``.
    symbols
        The symbol of each column. Several columns may stand for one symbol, such as the states of a Markov model that
        were reached by one label.
    names
        Of the symbols.
    decode
        The mentions that a sequence of symbols stands for.
    gaps
        Whether sites are the gaps around tokens, instead of the tokens.
    unique
        Whether no two column sequences are read as the same set.
    """

    native: FlatReading | SeparatorReading
    types: tuple[str, ...]
    symbols: Ints32
    names: tuple[str, ...]
    decode: Callable[[Ints32], list[Mention]]
    gaps: bool = False
    unique: bool = True


def segment_reading(segments: Segments, *, unique: bool, states: Sequence[int] | None = None) -> Reading:
    """Return how the labels of a segment representation are read.

    Parameters
    ----------
    unique
        Whether only legal label sequences have a probability. Others are read like a legal one.
    states
        For a chain over states, the label of each.

    Examples
    --------
    >>> segment_reading(Segments("IOB2", ["B-DNA", "I-DNA"]), unique=True).types
    ('DNA',)
    """
    symbols = np.arange(len(segments.labels), dtype=np.int32) if states is None else np.asarray(states, np.int32)
    types, native = flat_reading(segments, symbols)
    return Reading(native, types, symbols, tuple(segments.labels), segments.decode, unique=unique)


def flat_reading(segments: Segments, symbols: Ints32) -> tuple[tuple[str, ...], FlatReading]:
    """Return the types of a segment representation, and the native reading of columns with these labels."""
    types = tuple(sorted(segments.types))
    of_label = [-1 if t is None else types.index(t) for t in segments.label_types()]
    borders = segments.borders()[np.ix_(symbols, symbols)].astype(np.uint8)
    return types, FlatReading(np.array(of_label, np.int32)[symbols], borders.ravel())


def tag_reading(tags: Sequence[str]) -> Reading:
    """Return how one tag per token is read: every token is a mention of its tag."""
    names = tuple(tags)
    symbols = np.arange(len(names), dtype=np.int32)
    native = FlatReading(symbols, np.ones(len(names) ** 2, np.uint8))

    def decode(labels: Ints32) -> list[Mention]:
        return [Mention(names[y], ((t, t + 1),)) for t, y in enumerate(labels.tolist())]

    return Reading(native, names, symbols, names, decode)


def separator_reading(type_: str, states: Sequence[int] | None = None) -> Reading:
    """Return how the separators of one type are read; with ``states``, the separator of each state of a chain."""
    symbols = np.arange(len(SEPARATORS), dtype=np.int32) if states is None else np.asarray(states, np.int32)

    def decode(gaps: Ints32) -> list[Mention]:
        return [Mention(type_, (part,)) for part in decode_separators(gaps)]

    return Reading(SeparatorReading(symbols), (type_,), symbols, SEPARATORS, decode, gaps=True)
