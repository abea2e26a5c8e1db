"""Ways to cut text into tokens that have a name, so that a model file can hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from spanloom.base.errors import ParameterError
from spanloom.corpus.mention import Part

if TYPE_CHECKING:
    from spanloom import _native

BASES = ("default", "space", "punctuation")
SWITCHES = {
    "hyphens": "a hyphen inside a word does not cut: T-cell",
    "hanging": "a hyphen at the end of a word stays with it: pre- and postwar",
    "slashes": "a slash inside a word does not cut: ng/ml",
    "apostrophes": "an apostrophe inside a word does not cut: don't, John's",
    "elision": "an apostrophe inside a word cuts after it: l'|homme",
    "periods": "periods inside a word do not cut, and the last one stays: f.eks.",
    "ordinals": "the period of a number before a small letter stays with it: 3. maj",
    "initials": "the period of a single capital stays with it: J. Smith",
    "commas": "a comma between digits does not cut: 9,5",
    "colons": "a colon between digits does not cut: 12:30",
    "ampersands": "an ampersand inside a word does not cut: AT&T",
    "percent": "a percent sign stays with its number: 5%",
    "plus": "a plus stays with the word before it: CD4+",
    "contractions": "cannot, gonna, gotta, wanna, gimme and lemme are cut: can|not",
}
"""What can be changed about a way to cut."""


@dataclass(frozen=True)
class TokenRules:
    """How text is cut into tokens, and into sentences.

    Parameters
    ----------
    base
        ``default``: our rules, see :func:`spanloom.corpus.tokenize`; ``space``: at white space; ``punctuation``: at
        white space, and every punctuation mark is a token.
    switches
        Names of ``SWITCHES``.
    abbreviations
        Words that keep a period, given without it.

    Examples
    --------
    >>> text = "SID-huset kostede 9,5 mill. kr."
    >>> rules = TokenRules("default", ("hyphens", "commas"), ("mill", "kr"))
    >>> [text[start:end] for start, end in rules(text)]
    ['SID-huset', 'kostede', '9,5', 'mill.', 'kr.']
    >>> rules.name
    'default,hyphens,commas,abbreviations'
    """

    base: str = "default"
    switches: tuple[str, ...] = ()
    abbreviations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.base not in BASES:
            raise ParameterError(f"there is no tokenizer {self.base!r}; there are {', '.join(BASES)}")
        for name in self.switches:
            if name not in SWITCHES:
                raise ParameterError(f"a tokenizer has no switch {name!r}; there are {', '.join(SWITCHES)}")

    @classmethod
    def named(cls, name: str) -> TokenRules:
        """Return the rules of a name such as ``default,hyphens``.

        Examples
        --------
        >>> TokenRules.named("default,hyphens,slashes").switches
        ('hyphens', 'slashes')
        """
        base, *switches = (part.strip() for part in name.split(","))
        return cls(base, tuple(switches))

    @property
    def name(self) -> str:
        """The base and what is switched on, joined by commas."""
        return ",".join([self.base, *self.switches, *(["abbreviations"] if self.abbreviations else [])])

    @property
    def native(self) -> _native.TokenRules:
        """The same in the native core."""
        return _native_rules(self)

    def __call__(self, text: str) -> list[Part]:
        """Return the half-open character ranges of the tokens of a text."""
        return self.native.tokenize(text)

    def split(self, text: str, spans: Sequence[Part]) -> list[Part]:
        """Return the half-open token ranges of the sentences of a text, given its tokens by these rules.

        Where text is not cut by our rules, sentences are still found with tokens that are, and end where tokens do.
        """
        return self.native.split_sentences(text, spans)

    def to_json(self) -> dict[str, Any]:
        """Return the rules as JSON."""
        return {"base": self.base, "switches": list(self.switches), "abbreviations": list(self.abbreviations)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> TokenRules:
        """Undo ``to_json``."""
        return cls(stored["base"], tuple(stored["switches"]), tuple(stored["abbreviations"]))


@cache
def _native_rules(rules: TokenRules) -> _native.TokenRules:
    from spanloom import _native  # here, so that who only reads tokenised corpora does not wait for it

    return _native.TokenRules(rules.base, rules.switches, rules.abbreviations)


DEFAULT_RULES = TokenRules()
