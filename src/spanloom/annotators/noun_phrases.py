"""Noun phrases by part of speech alone: runs of Penn tags that a pattern matches.

Every token is one letter: ``D`` determiner, ``N`` noun, ``M`` what else may be in a noun phrase, ``V`` verb, ``x`` the
rest. A grammar says which tags have which letter, and which runs of letters are phrases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from spanloom.corpus.mention import Part


@dataclass(frozen=True, eq=False)
class Grammar:
    """Which runs of tokens are noun phrases.

    Parameters
    ----------
    pattern
        Over letters.
    tags
        The tags of each letter; a ``*`` at the end stands for any rest. The first that fits counts.
    joints
        Tokens that are ``M`` whatever their tag.
    """

    pattern: re.Pattern[str]
    tags: Mapping[str, Sequence[str]]
    joints: frozenset[str] = frozenset()
    _letters: dict[str, str] = field(default_factory=dict, init=False, repr=False)  # those that were worked out

    def letter(self, tag: str) -> str:
        """Return the letter of a tag."""
        letter = self._letters.get(tag)
        if letter is None:
            fits = (one for one, tags in self.tags.items() if any(_fits(tag, wanted) for wanted in tags))
            letter = self._letters[tag] = next(fits, "x")
        return letter

    def phrases(self, tokens: Sequence[str], tags: Sequence[str]) -> list[Part]:
        """Return the noun phrases from left to right, as half-open ranges of tokens.

        Examples
        --------
        >>> ENDING.phrases("it binds the active gene".split(), ["PRP", "VBZ", "DT", "JJ", "NN"])
        [(2, 5)]
        """
        letters = "".join(map(self.letter, tags))
        if self.joints and not self.joints.isdisjoint(tokens):
            pairs = zip(tokens, letters, strict=True)
            letters = "".join("M" if token in self.joints and letter != "N" else letter for token, letter in pairs)
        return [match.span() for match in self.pattern.finditer(letters)]


def _fits(tag: str, wanted: str) -> bool:
    return tag.startswith(wanted[:-1]) if wanted.endswith("*") else tag == wanted


ENDING = Grammar(
    re.compile("D?[MN]*N"),
    {"D": ("DT", "PRP$", "PDT"), "N": ("NN*",), "M": ("JJ*", "CD", "VBG", "VBN", "HYPH"), "V": ("VB*",)},
)
"""Phrases that end in a noun and begin anew at a determiner."""

RUNS = Grammar(
    re.compile("M*N[MN]*"),
    {
        "N": ("NN", "NNS", "NNP", "NNPS", "CD", "FW"),
        "M": ("JJ", "JJR", "JJS", "VBN", "VBG", "PRP$", "DT", "HYPH", "SYM"),
    },
    frozenset("-/"),
)
"""Whole runs of nouns, modifiers, hyphens and slashes that have a noun."""
