"""Word shapes of Stanford's tagger, as the papers that follow Finkel et al. (2005) use them."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from spanloom.annotators.base import Annotator, Columns
from spanloom.corpus import Sentence

SHORT = 3
"""Words of at most so many characters get their length."""

GREEK: tuple[str, ...] = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "theta", "iota", "kappa", "lambda")
GREEK += ("omicron", "rho", "sigma", "tau", "upsilon", "omega")
"""Names of letters; the shorter ones, which stand within ordinary words, are not among them."""


class WordShapes(Annotator):
    """Makes ``jenny1``, where features read it: the shape of that name in Stanford's tagger.

    Digits are ``d``, lower-case letters ``x``, capitals ``X``, names of Greek letters in lower case ``g``, other
    characters themselves. Runs of one class are one character. A short word gets its length after a colon.

    Examples
    --------
    >>> sentence = Sentence(["Xiao", "IL-2Ralpha", "It", "1,000"])
    >>> WordShapes().columns([sentence])[0]["jenny1"]
    ['Xx', 'X-dXg', 'Xx:2', 'd,d']
    """

    kind = "word-shapes"
    provides = ("jenny1",)

    def columns(self, sentences: Sequence[Sentence]) -> list[Columns]:
        return [{"jenny1": [jenny1(token) for token in sentence.tokens]} for sentence in sentences]


@functools.lru_cache(maxsize=1 << 16)
def jenny1(word: str) -> str:
    """Return the shape of a word."""
    shape = ""
    at = 0
    while at < len(word):
        greek = next((name for name in GREEK if word.startswith(name, at)), "")
        one = "g" if greek else _class(word[at])
        at += len(greek) or 1
        if not shape.endswith(one):
            shape += one
    return f"{shape}:{len(word)}" if len(word) <= SHORT else shape


def _class(character: str) -> str:
    if character.isdigit():
        return "d"
    return "x" if character.islower() else "X" if character.isupper() else character
