"""What can be done to found mentions afterwards: parentheses, abbreviations, hyphens and punctuation at their ends.

``Recognizer(repairs=("parentheses", "abbreviations"))`` does both, in the order given. Mentions that break into parts
are left as they are.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence

from spanloom.corpus import Mention, Sentence
from spanloom.corpus.abbreviations import find_abbreviations

OPEN = {"(": ")", "[": "]", "{": "}"}
CLOSE = {closing: opening for opening, closing in OPEN.items()}

HYPHENS = frozenset("-‐‑–—")
CLOSING = frozenset(")]}'′*")

Found = list[list[Mention]]


def whole_parentheses(sentences: Sequence[Sentence], found: Found) -> Found:
    """Repair mentions that hold one parenthesis of a pair.

    The other one is taken in if it is the next token; else the mention is cut at the one without a partner, and what is
    left on the side that was outside of the parenthesis stays. A mention with two or more such ones is left out.

    Examples
    --------
    >>> sentence = Sentence("the ( p53 ) gene".split())
    >>> whole_parentheses([sentence], [[Mention("g", ((1, 3),))]])
    [[Mention(label='g', parts=((1, 4),), prob=None)]]
    """
    return [
        _unique(_balanced(sentence.tokens, mention) for mention in mentions)
        for sentence, mentions in zip(sentences, found, strict=True)
    ]


def agreeing_abbreviations(sentences: Sequence[Sentence], found: Found) -> Found:
    """Where a text defines an abbreviation, let the long and the short form both be mentions if one of them is.

    The long form counts as found if a mention ends where it ends. A short form that is a mention where it is defined is
    one everywhere in the document. Nothing is added that would overlap a mention.

    Examples
    --------
    >>> sentence = Sentence("heat shock factor ( HSF ) binds".split())
    >>> agreeing_abbreviations([sentence], [[Mention("g", ((0, 3),))]])
    [[Mention(label='g', parts=((0, 3),), prob=None), Mention(label='g', parts=((4, 5),), prob=None)]]
    """
    done = [list(mentions) for mentions in found]
    shorts: dict[tuple[str, ...], str] = {}
    for sentence, mentions in zip(sentences, done, strict=True):
        for pair in find_abbreviations(sentence):
            long = next((m for m in mentions if m.end == pair.long[1] and not m.discontinuous), None)
            short = next((m for m in mentions if m.parts == (pair.short,)), None)
            if long is not None and short is None:
                short = Mention(long.label, (pair.short,))
                _add(mentions, short)
            elif short is not None and long is None:
                _add(mentions, Mention(short.label, (pair.long,)))
            if short is not None:
                shorts[tuple(sentence.tokens[slice(*pair.short)])] = short.label
    for sentence, mentions in zip(sentences, done, strict=True):
        for words, label in shorts.items():
            for start in range(len(sentence) - len(words) + 1):
                if tuple(sentence.tokens[start : start + len(words)]) == words:
                    _add(mentions, Mention(label, ((start, start + len(words)),)))
    return done


def without_hyphens(sentences: Sequence[Sentence], found: Found) -> Found:
    """Cut hyphens off the ends of mentions; one that is nothing else is left out.

    Alex, Haddow & Grover (2007) correct "boundaries of some hyphenated proteins" and do not say how; this is a guess.

    Examples
    --------
    >>> sentence = Sentence("IL-2 - dependent".split())
    >>> without_hyphens([sentence], [[Mention("g", ((0, 2),))]])
    [[Mention(label='g', parts=((0, 1),), prob=None)]]
    """
    return [
        _unique(_cut(sentence.tokens, mention) for mention in mentions)
        for sentence, mentions in zip(sentences, found, strict=True)
    ]


def without_final_punctuation(sentences: Sequence[Sentence], found: Found) -> Found:
    """Leave out mentions that end in punctuation (Alex, Haddow & Grover 2007); brackets and primes may close a name.

    Examples
    --------
    >>> sentence = Sentence("the p53 , p ( 53 )".split())
    >>> without_final_punctuation([sentence], [[Mention("g", ((1, 3),)), Mention("g", ((3, 7),))]])
    [[Mention(label='g', parts=((3, 7),), prob=None)]]
    """
    return [
        [m for m in mentions if m.discontinuous or not _is_punctuation(sentence.tokens[m.end - 1])]
        for sentence, mentions in zip(sentences, found, strict=True)
    ]


REPAIRS: dict[str, Callable[[Sequence[Sentence], Found], Found]] = {
    "parentheses": whole_parentheses,
    "abbreviations": agreeing_abbreviations,
    "hyphens": without_hyphens,
    "punctuation": without_final_punctuation,
}
"""By name; each takes the sentences of one document and what was found in them."""


def repair(sentences: Sequence[Sentence], found: Found, names: Sequence[str]) -> Found:
    """Apply repairs, in the order given, to what was found in the sentences of one document."""
    for name in names:
        found = REPAIRS[name](sentences, found)
    return found


def _balanced(tokens: Sequence[str], mention: Mention) -> Mention | None:
    if mention.discontinuous:
        return mention
    start, end = mention.start, mention.end
    lonely = _lonely(tokens[start:end])
    if not lonely:
        return mention
    if len(lonely) > 1:
        return None
    at = start + lonely[0]
    if tokens[at] in OPEN:
        if end < len(tokens) and tokens[end] == OPEN[tokens[at]]:
            part = (start, end + 1)
        else:
            part = (start, at) if at > start else (start + 1, end)
    elif start > 0 and tokens[start - 1] == CLOSE[tokens[at]]:
        part = (start - 1, end)
    else:
        part = (at + 1, end) if at + 1 < end else (start, end - 1)
    return Mention(mention.label, (part,), mention.prob, mention.attributes) if part[0] < part[1] else None


def _cut(tokens: Sequence[str], mention: Mention) -> Mention | None:
    start, end = mention.start, mention.end
    if mention.discontinuous or (tokens[start] not in HYPHENS and tokens[end - 1] not in HYPHENS):
        return mention
    while start < end and tokens[start] in HYPHENS:
        start += 1
    while end > start and tokens[end - 1] in HYPHENS:
        end -= 1
    return Mention(mention.label, ((start, end),), mention.prob, mention.attributes) if start < end else None


def _is_punctuation(token: str) -> bool:
    return all(unicodedata.category(c).startswith("P") and c not in CLOSING for c in token)


def _lonely(tokens: Sequence[str]) -> list[int]:
    """The parentheses without a partner."""
    waiting: list[int] = []
    lonely: list[int] = []
    for i, token in enumerate(tokens):
        if token in OPEN:
            waiting.append(i)
        elif token in CLOSE:
            if waiting and tokens[waiting[-1]] == CLOSE[token]:
                waiting.pop()
            else:
                lonely.append(i)
    return sorted(lonely + waiting)


def _unique(mentions: Iterable[Mention | None]) -> list[Mention]:
    return list(dict.fromkeys(m for m in mentions if m is not None))


def _add(mentions: list[Mention], new: Mention) -> None:
    if not any(new.overlaps(mention) for mention in mentions):
        mentions.append(new)
        mentions.sort(key=lambda m: (m.start, -m.end, m.label))
