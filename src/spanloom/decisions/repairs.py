"""What can be done to found mentions afterwards: whole parentheses, and agreement of names with their abbreviations.

``Recognizer(repairs=("parentheses", "abbreviations"))`` does both, in the order given. Mentions that break into parts
are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from spanloom.corpus import Mention, Sentence
from spanloom.corpus.abbreviations import find_abbreviations

OPEN = {"(": ")", "[": "]", "{": "}"}
CLOSE = {closing: opening for opening, closing in OPEN.items()}

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


REPAIRS: dict[str, Callable[[Sequence[Sentence], Found], Found]] = {
    "parentheses": whole_parentheses,
    "abbreviations": agreeing_abbreviations,
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
