"""Tokens without their text: where there was white space between them, guessed.

Files of columns have tokens and nothing else. How a tokenizer would cut their text can be told only if there is one, so
that it is put together again by the conventions of printed text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Part

_LEFT = frozenset(".,;:!?%)]}…”’»›''") | {"...", "''", "n't", "N'T", "n’t", "!!", "??"}
"""No white space before these."""
_RIGHT = frozenset("([{“‘«‹¿¡") | {"``"}
"""No white space after these."""
_MONEY = frozenset("$£€#@")
_APOSTROPHES = "'’"


@dataclass(frozen=True, slots=True)
class Habits:
    """What the tokens of a corpus say about it.

    Attributes
    ----------
    cut
        Marks that never are inside a token, so that they must have been cut off where they stood inside a word.
    elides
        Whether tokens such as ``l'`` are common: then they touched the next one.
    """

    cut: frozenset[str]
    elides: bool

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> Habits:
        """Count marks that are tokens, and marks inside tokens."""
        alone = dict.fromkeys("-/&+_", 0)
        inside = dict(alone)
        total = elided = 0
        for tokens in sentences:
            for token in tokens:
                total += 1
                if token in alone:
                    alone[token] += 1
                elif not token.isalnum():
                    elided += token[-1] in _APOSTROPHES and token[:-1].isalpha()
                    for mark in inside:
                        place = token.find(mark, 1)
                        inside[mark] += 0 < place < len(token) - 1 and token[place - 1].isalnum()
        return cls(frozenset(m for m in alone if alone[m] > 4 * inside[m]), elided > 0.01 * total)


def is_spaced(sentences: Sequence[Sentence]) -> bool:
    """Whether sentences have their real text, rather than tokens joined by spaces.

    Examples
    --------
    >>> is_spaced([Sentence(["It", "binds", "."])]), is_spaced([Sentence(["It", "binds", "."], text="It binds.")])
    (False, True)
    """
    return sum(s.text != " ".join(s.tokens) for s in sentences) > len(sentences) / 20


def rejoin(tokens: Sequence[str], habits: Habits) -> tuple[str, list[Part]]:
    """Return the text that tokens may come from, and their character ranges in it.

    Examples
    --------
    >>> tokens = ["He", "said", '"', "I", "do", "n't", "(", "yet", ")", "know", '"', "."]
    >>> rejoin(tokens, Habits.of([tokens]))[0]
    'He said "I don\\'t (yet) know".'
    """
    text = ""
    spans: list[Part] = []
    touches = True  # the next token touches what is there
    quoted = {'"': False, "'": False}
    before = ""
    for token in tokens:
        opens = token in quoted and not quoted[token]
        closes = token in quoted and quoted[token]
        if token in quoted:
            quoted[token] = opens
        joint = token in habits.cut and bool(before) and before[-1].isalnum()
        if not (touches or closes or joint or token in _LEFT or _is_clitic(token)):
            text += " "
        spans.append((len(text), len(text) + len(token)))
        text += token
        touches = token in _RIGHT or opens or joint or token in _MONEY
        touches = touches or (habits.elides and token[-1] in _APOSTROPHES and token[:-1].isalpha())
        before = token
    return text, spans


def _is_clitic(token: str) -> bool:
    return 1 < len(token) <= 3 and token[0] in _APOSTROPHES and token[1:].isalpha()
