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


def covering(view: str, lengths: Iterable[int]) -> list[str]:
    """Return the n-grams that cover offset 0."""
    return [text for n in lengths for text in ngrams(view, range(1 - n, n), [n])]


MUIS_LU_ACE = (
    "bias",
    "word[-1..1]",
    "pos[-1..1]",
    *covering("word", (2, 3, 4)),
    *covering("pos", (2, 3, 4)),
    "bag(word, -2..2)",
    "flags(word, both, all_caps, all_digits, alphanumeric, all_lower, has_digit, has_dot, has_hyphen, initial_capital, "
    "lonely_initial, punctuation, roman_numeral, single_char, url)",
)
"""Words and parts of speech around, n-grams that cover the token, words nearby, thirteen flags."""

CLUSTERS = ("cluster(word, brown, 4, 6, 10, 20)[-1..1]",)
"""What a set without templates for Brown clusters gets if clusters are given."""

MUIS_LU_GENIA = (*MUIS_LU_ACE, *CLUSTERS)
"""With prefixes of Brown clusters."""

_GAP = (
    "bias",
    "word[-3..2]",
    "lower(word)[-3..2]",
    "pos[-3..2]",
    "collapsed(word)[-2..1]",
    "shape(word)[-1..0]",
    "prefix(lower(word), 2..4)[-1..0]",
    "suffix(lower(word), 2..5)[-1..0]",
    "suffix(lower(word), 3)[-2]",
    "suffix(lower(word), 3)[1]",
    "flags(word)[-1..0]",
    "squeezed(lower(word))[-1..0]",
    *ngrams("lower(word)", range(-3, 3), (2,)),
    *ngrams("lower(word)", range(-2, 2), (3, 4)),
    *ngrams("pos", range(-3, 3), (2, 3)),
    *ngrams("pos", range(-2, 2), (4,)),
    *ngrams("collapsed(word)", range(-2, 2), (2, 3)),
)
_HEAD = (
    "phrase[-1] & phrase[0]",
    "phrase-head[-1..0]",
    "phrase-head[-1] & phrase-head[0]",
    "phrase-head[0] & phrase[-1] & phrase[0]",
    "phrase-head[-1] & phrase[-1] & phrase[0]",
    "lower(word)[-1] & phrase-head[-1..0]",
    "lower(word)[0] & phrase-head[0]",
    "pos[-1] & pos[0] & phrase-head[-1..0]",
)
_BIT = "cluster(word, brown, 20)"
_CLUSTERS = (
    "cluster(word, brown, 4, 6, 10, 20)[-3..2]",
    *ngrams(_BIT, range(-2, 2), (2, 3)),
    *ngrams("cluster(word, brown, 10)", range(-2, 2), (4,)),
    f"{_BIT}[-1] & lower(word)[0]",
    f"lower(word)[-1] & {_BIT}[0]",
    "cluster(phrase-head, brown, 6, 20)[-1..0]",
    f"{_BIT}[-1] & {_BIT}[0] & phrase-head[0]",
    "cluster(phrase-head, brown, 20)[0] & phrase[-1] & phrase[0]",
    f"{_BIT}[0] & cluster(phrase-head, brown, 20)[0]",
    f"{_BIT}[-1] & cluster(phrase-head, brown, 20)[-1]",
)

GAPS = tuple(f"{text} >= 2" for text in _GAP)
"""Both sides of a gap: words, affixes, shapes, parts of speech and their n-grams; features seen twice."""

GAP_HEADS = tuple(f"{text} >= 2" for text in _HEAD)
"""Base noun phrases around a gap; their columns are made of ``pos`` (``spanloom.columns.PhraseColumns``)."""

GAP_CLUSTERS = tuple(f"{text} >= 2" for text in _CLUSTERS)
"""Brown clusters around a gap, of words and of the heads of phrases."""

SETS: dict[str, tuple[str, ...]] = {
    "muis-lu-ace": MUIS_LU_ACE,
    "muis-lu-genia": MUIS_LU_GENIA,
    "gaps": GAPS,
    "gap-heads": GAP_HEADS,
    "gap-clusters": GAP_CLUSTERS,
    "genia-rich": (*GAPS, *GAP_HEADS, *GAP_CLUSTERS),
}
