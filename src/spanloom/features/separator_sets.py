"""Templates of Muis & Lu (2017), and richer ones for gaps.

At a gap, offset 0 is the token after it and offset -1 the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable


def ngrams(view: str, offsets: range, lengths: Iterable[int]) -> list[str]:
    """Return a conjunction for every run of ``lengths`` neighbours within ``offsets``.

    Examples
    --------
    >>> ngrams("word", range(-1, 2), [2])
    ['word[-1] & word[0]', 'word[0] & word[1]']
    """
    return [
        " & ".join(f"{view}[{k}]" for k in range(start, start + length))
        for length in lengths
        for start in range(offsets.start, offsets.stop - length + 1)
    ]


def muis_lu(at: int = 0) -> tuple[str, ...]:
    """Words and parts of speech around a token, n-grams that cover it, words nearby, thirteen flags."""
    around = f"[{at - 1}..{at + 1}]"
    return (
        "bias",
        f"word{around}",
        f"pos{around}",
        *(text for n in (2, 3, 4) for text in ngrams("word", range(at + 1 - n, at + n), [n])),
        *(text for n in (2, 3, 4) for text in ngrams("pos", range(at + 1 - n, at + n), [n])),
        f"bag(word, {at - 2}..{at + 2})",
        "flags(word, both, all_caps, all_digits, alphanumeric, all_lower, has_digit, has_dot, has_hyphen, "
        f"initial_capital, lonely_initial, punctuation, roman_numeral, single_char, url)[{at}]",
    )


def clusters(at: int = 0) -> tuple[str, ...]:
    """Brown clusters around a token: also what a set without templates for them gets if clusters are given."""
    return (f"cluster(word, brown, 4, 6, 10, 20)[{at - 1}..{at + 1}]",)


def finkel_manning(at: int = 0) -> tuple[str, ...]:
    """Clusters and shapes around a token, its affixes: what Finkel & Manning (2009) add for GENIA."""
    return (
        *clusters(at),
        f"shape(word)[{at - 1}..{at + 1}]",
        *ngrams("shape(word)", range(at - 1, at + 2), [2]),
        f"prefix(word, 1..6)[{at}]",
        f"suffix(word, 1..6)[{at}]",
    )


def finkel_manning_segments() -> tuple[str, ...]:
    """Words, shapes and affixes of the tokens of a segment, of its ends and their neighbours, and of the whole.

    What Finkel & Manning (2009) show a rule over a span: from memory, and without parts of speech, which their trees
    find. Clusters are added where there are some.
    """
    views = ("word", "shape(word)")
    return (
        "bias",
        "size",
        *(f"{view}[-1..1]" for view in views),
        *(text for view in views for text in ngrams(view, range(-1, 2), [2])),
        "prefix(word, 1..6)",
        "suffix(word, 1..6)",
        *(f"first({view})[-2..1]" for view in views),
        *(f"last({view})[-1..2]" for view in views),
        "first(word)[-1] & first(word)[0]",
        "last(word)[0] & last(word)[1]",
        "first(prefix(word, 1..6))",
        "last(suffix(word, 1..6))",
        "first(shape(word)) & last(shape(word)) >= 2",
        "first(word) & last(word) >= 2",
        "segment(word) >= 2",
        "segment(shape(word)) >= 2",
    )


BEFORE = -1
"""The token before a gap: an edge of EDGE leaves it, and STATE's separator comes after it."""

_BIT = "cluster(word, brown, 20)"
_HEAD_BIT = "cluster(phrase-head, brown, 20)"

_PARTS: dict[str, tuple[str, ...]] = {
    "gap-words": (
        "bias",
        "word[-3..2]",
        "lower(word)[-3..2]",
        "pos[-3..2]",
        *ngrams("lower(word)", range(-3, 3), (2,)),
        *ngrams("pos", range(-3, 3), (2,)),
    ),
    "gap-ngrams": (
        *ngrams("lower(word)", range(-2, 2), (3, 4)),
        *ngrams("pos", range(-3, 3), (3,)),
        *ngrams("pos", range(-2, 2), (4,)),
    ),
    "gap-shapes": (
        "collapsed(word)[-2..1]",
        "shape(word)[-1..0]",
        "flags(word)[-1..0]",
        "squeezed(lower(word))[-1..0]",
        *ngrams("collapsed(word)", range(-2, 2), (2, 3)),
    ),
    "gap-affixes": (
        "prefix(lower(word), 2..4)[-1..0]",
        "prefix(lower(word), 2..5)[-2]",
        "prefix(lower(word), 2..5)[1]",
        "suffix(lower(word), 2..5)[-2..1]",
    ),
    "gap-characters": ("ngrams(lower(word), 2..4)[-1..0]",),
    "gap-heads": (
        "phrase[-1] & phrase[0]",
        "phrase-head[-1..0]",
        "suffix(lower(phrase-head), 3..5)[-1..0]",
        "phrase-head[-1] & phrase-head[0]",
        "phrase-head[0] & phrase[-1] & phrase[0]",
        "phrase-head[-1] & phrase[-1] & phrase[0]",
        "lower(word)[-1] & phrase-head[-1..0]",
        "lower(word)[0] & phrase-head[0]",
        "pos[-1] & pos[0] & phrase-head[-1..0]",
    ),
    "gap-clusters": (
        "cluster(word, brown, 4, 6, 10, 20)[-3..2]",
        *ngrams(_BIT, range(-2, 2), (2, 3)),
        *ngrams("cluster(word, brown, 10)", range(-2, 2), (4,)),
        f"{_BIT}[-1] & lower(word)[0]",
        f"lower(word)[-1] & {_BIT}[0]",
        "cluster(phrase-head, brown, 6, 20)[-1..0]",
        f"{_BIT}[-1] & {_BIT}[0] & phrase-head[0]",
        f"{_HEAD_BIT}[0] & phrase[-1] & phrase[0]",
        f"{_BIT}[0] & {_HEAD_BIT}[0]",
        f"{_BIT}[-1] & {_HEAD_BIT}[-1]",
    ),
}
GAP_SETS = {name: tuple(f"{text} >= 2" for text in part) for name, part in _PARTS.items()}
"""Richer ones for gaps, in parts that can be joined; features seen twice.

Base noun phrases and their heads are made of ``pos`` (``spanloom.annotators.PhraseColumns``), and clusters are Brown's.
"""

GAPS = tuple(text for name, part in GAP_SETS.items() if name not in ("gap-heads", "gap-clusters") for text in part)
"""Both sides of a gap, from words and parts of speech alone."""

SETS: dict[str, tuple[str, ...]] = {
    "muis-lu-ace": muis_lu(),
    "muis-lu-genia": (*muis_lu(), *finkel_manning()),
    "finkel-manning": finkel_manning_segments(),
    "muis-lu-ace-gaps": muis_lu(BEFORE),
    "muis-lu-genia-gaps": (*muis_lu(BEFORE), *finkel_manning(BEFORE)),
    **GAP_SETS,
    "gaps": GAPS,
    "genia-rich": tuple(text for part in GAP_SETS.values() for text in part),
}
