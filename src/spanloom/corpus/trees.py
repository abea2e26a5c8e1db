"""Dependency trees and the spans that they allow: Jie, Muis and Lu (2017).

A *single arc* span is one word, or the words from one end of an arc to the other. A *valid span* is one word, or
the words under a chain of arcs, each beginning where the one before ends. Direction does not count.

Heads are counted as in CoNLL-U: the head of a token is another token's number from 1, or 0 for a root.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING

from spanloom.base.errors import CorpusError, ParameterError
from spanloom.base.parameters import check_count
from spanloom.corpus.columns import missing_column
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def valid_spans(heads: Sequence[int], *, longest: int | None = None, single: bool = False) -> list[tuple[int, int]]:
    """Return the half-open spans that a dependency tree allows, by start, then end.

    A *valid span* is one word, or a sequence of words covered by a chain of arcs, whatever their direction, where no
    arc covers another: words p0 < p1 < … < pk are joined p0–p1, p1–p2, …, and it reaches from p0 to pk (Jie, Muis & Lu
    2017, definition 1). Over all trees of n words there are n(1+1/n)^(n−1) of them on average, fewer than e·n.

    Parameters
    ----------
    heads
        The head of every token, counted from 1; 0 for a root. Several roots and crossing arcs are fine.
    longest
        Leave out spans of more tokens.
    single
        Only single words and spans of one arc.

    Examples
    --------
    "Lee Ann Womack won": Lee and Ann depend on Womack, Womack on won.

    >>> valid_spans([3, 3, 4, 0])
    [(0, 1), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]
    >>> valid_spans([3, 3, 4, 0], single=True)
    [(0, 1), (0, 3), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4)]
    """
    if longest is not None:
        check_count("longest", longest)
    numbers = list(heads)
    wrong = [(i, h) for i, h in enumerate(numbers) if not _is_head(h, len(numbers))]
    if wrong:
        raise ParameterError(
            f"the head of token {wrong[0][0]} is {wrong[0][1]!r}; heads are integers: 0 for a root, or the number of "
            f"one of the {len(numbers)} tokens, from 1"
        )
    import numpy as np  # here: who only reads corpora waits neither for numpy nor for the core

    from spanloom import _native

    most = min(len(numbers), longest or len(numbers))
    bounds = _native.valid_spans(np.array(numbers, np.int32), max(most, 1), single=single)
    flat = bounds.tolist()
    return list(zip(flat[::2], flat[1::2], strict=True))


DIGITS = 9
"""No sentence has more tokens than so many digits say."""


def _is_head(value: object, tokens: int) -> bool:
    return isinstance(value, int | Integral) and not isinstance(value, bool) and 0 <= int(value) <= tokens


def heads_of(sentence: Sentence, number: int = 0) -> npt.NDArray[np.int32]:
    """Return the column ``head`` of a sentence as numbers.

    Parameters
    ----------
    sentence
        With the columns of CoNLL-U.
    number
        What to call the sentence in messages.

    Raises
    ------
    CorpusError
        If there is no such column, or if a value in it is not the number of a token.
    """
    import numpy as np  # here: see valid_spans

    column = sentence.columns.get("head")
    if column and (heads := _numbers(column)) is not None and max(heads) <= len(heads):
        return np.array(heads, np.int32)
    name = f"sentence {number} ({' '.join(sentence.tokens[:6])} …)"
    if column is None:
        raise missing_column("head", sentence, None, f"{name} has no tree: it lacks")
    bad = next((h for h in column if not (h.isascii() and h.isdecimal())), None)
    if bad is not None:
        raise CorpusError(f"{name}: the head {bad!r} is not a number; 0 is a root, 1 the first token")
    bad = next((h for h in column if len(h) > DIGITS or int(h) > len(column)), None)
    if bad is not None:
        raise CorpusError(f"{name}: the head {bad} is not one of its {len(column)} tokens")
    return np.zeros(0, np.int32)  # of a sentence without tokens


def _numbers(heads: Sequence[str]) -> list[int] | None:
    """Return heads as numbers; None if one is no number, or has too many digits to be that of a token."""
    if heads and not (all(heads) and (joined := "".join(heads)).isascii() and joined.isdecimal()):
        return None
    return [*map(int, heads)] if max(map(len, heads), default=0) <= DIGITS else None


def all_heads_of(sentences: Sequence[Sentence]) -> npt.NDArray[np.int32]:
    """Return the columns ``head`` of sentences, one after the other; see `heads_of`.

    Sentences are looked at one by one only if something is wrong with one of them.
    """
    import numpy as np  # here: see valid_spans

    flat = [h for s in sentences for h in s.columns.get("head", ())]
    lengths = [len(s) for s in sentences]
    if len(flat) == sum(lengths) and (found := _numbers(flat)) is not None:
        heads = np.array(found, np.int64)
        if np.all(heads <= np.repeat(lengths, lengths)):
            return heads.astype(np.int32)
    each = [heads_of(s, number) for number, s in enumerate(sentences)]
    return np.concatenate(each) if each else np.zeros(0, np.int32)


def cycle_in(heads: Sequence[int]) -> list[int]:
    """Return tokens whose heads lead back to them, numbered from 1, or an empty list.

    Examples
    --------
    >>> cycle_in([2, 3, 2, 0]), cycle_in([2, 0])
    ([2, 3], [])
    """
    state = [0] * (len(heads) + 1)  # 1: on the way that is being followed, 2: known to lead to a root
    state[0] = 2
    for token in range(1, len(heads) + 1):
        way = []
        at = token
        while state[at] == 0:
            state[at] = 1
            way.append(at)
            at = heads[at - 1]
        if state[at] == 1:
            return way[way.index(at) :]
        for known in way:
            state[known] = 2
    return []


def arcs_to_right(heads: Sequence[str]) -> list[list[int]]:
    """Return for every word the words to its right that share an arc with it; heads are CoNLL-U's (``0``: root)."""
    arcs: list[list[int]] = [[] for _ in heads]
    for word, head in enumerate(heads):
        if head.isdecimal() and 0 < int(head) <= len(heads):
            a, b = sorted((word, int(head) - 1))
            if a < b:
                arcs[a].append(b)
    return arcs


def is_single_arc(mention: Mention, arcs: Sequence[Sequence[int]]) -> bool:
    """Whether a mention is one word or the span of one arc."""
    return not mention.discontinuous and (len(mention) == 1 or mention.end - 1 in arcs[mention.start])


def is_valid_span(mention: Mention, arcs: Sequence[Sequence[int]]) -> bool:
    """Whether a mention is one word or the span of a chain of arcs.

    Examples
    --------
    >>> arcs = arcs_to_right(["2", "3", "0", "3"])
    >>> is_valid_span(Mention("a", ((0, 3),)), arcs), is_single_arc(Mention("a", ((0, 3),)), arcs)
    (True, False)
    >>> is_valid_span(Mention("a", ((1, 4),)), arcs)
    True
    """
    if mention.discontinuous:
        return False
    last = mention.end - 1
    reached = {mention.start}
    for word in range(mention.start, last):
        if word in reached:
            reached.update(right for right in arcs[word] if right <= last)
    return last in reached
