"""Many articles at once, with arrays of characters: the fast way through GENIA.

Everything that the careful way does character by character is a mask here: characters of tags, of sentences, of
words and of POS tags; edges of words, of mentions, of hyphens. Articles that are in any way out of the ordinary
(other characters in the POS text, unusual markup) are left to the careful way, whose result is the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]

_CONS = re.compile(r'<cons(?: lex="([^"]*)")?(?: sem="([^"]*)")?>')
# The first four characters of every tag that an ordinary article has.
_TAGS = [b"sent", b"/sen", b"titl", b"/tit", b"abst", b"/abs", b"arti", b"/art", b"bibl", b"/bib", b"cons", b"/con"]
_KNOWN = np.array([int.from_bytes(tag, "big") for tag in _TAGS], np.uint32)
_ENTITIES = (("&lt;", "\x80", "<"), ("&gt;", "\x81", ">"), ("&quot;", "\x82", '"'), ("&amp;", "\x83", "&"))
_PLAIN = np.arange(256, dtype=np.uint8)
_PLAIN[[ord(stand_in) for _, stand_in, _ in _ENTITIES]] = [ord(char) for _, _, char in _ENTITIES]
_BACK = {ord(stand_in): char for _, stand_in, char in _ENTITIES}
_INNER = np.zeros(256, np.bool_)
_INNER[[ord("-"), ord("/")]] = True


def sentences(
    articles: Sequence[str], tagged: Sequence[str], label: Callable[[str], str], inner: bool
) -> list[list[Sentence] | None]:
    """Return every article's sentences, or None where it has to be read the careful way.

    Parameters
    ----------
    articles
        The markup between ``<article>`` and ``</article>``.
    tagged
        The POS text of each, without the lines of ids.
    label
        The label of a class; empty for classes that are not wanted.
    inner
        Whether to cut at hyphens and slashes.
    """
    result: list[list[Sentence] | None] = [None] * len(articles)
    usual = [k for k, article in enumerate(articles) if article.isascii() and tagged[k].isascii()]
    own = [_without_entities(articles[k]) for k in usual]
    pos = [tagged[k] for k in usual]
    page = _Page("".join(own))
    if not page.regular:
        return result
    words = _Words("".join(pos))
    # An article's part of the text is all of it but the spaces; it must be what the POS text has.
    edges = page.nonspace_before(np.cumsum([0, *map(len, own)]))
    limits = words.chars_before(np.cumsum([0, *map(len, pos)]))
    owner = np.zeros(len(page.solid), np.int64)
    good = []
    for j, k in enumerate(usual):
        a, b, c, d = edges[j], edges[j + 1], limits[j], limits[j + 1]
        if page.solid_bytes[a:b] == words.letters[c:d]:
            owner[a:b] = words.owner[c:d]
            good.append((k, j))
    built = page.build(owner, words.tags, label, inner)
    first = page.sentences_before(np.cumsum([0, *map(len, own)]))
    for k, j in good:
        result[k] = built[first[j] : first[j + 1]]
    return result


def _without_entities(article: str) -> str:
    """Put one character that is not ASCII for each common entity, so that characters can be counted."""
    if "&" in article:
        for entity, stand_in, _ in _ENTITIES:
            article = article.replace(entity, stand_in)
    return article


class _Page:
    """The markup of many articles, one after the other."""

    def __init__(self, markup: str) -> None:
        raw: Bytes = np.frombuffer(markup.encode("latin-1") + b"    ", np.uint8)
        self.terms: list[tuple[str, str]] = _CONS.findall(markup)
        less, more = np.flatnonzero(raw == ord("<")), np.flatnonzero(raw == ord(">"))
        closing = raw[less + 1] == ord("/")
        kind = np.where(closing, raw[less + 2], raw[less + 1])
        term, line = kind == ord("c"), kind == ord("s")
        bounds = np.flatnonzero(line)
        self.regular = len(less) == len(more) and self._check(raw, less, more, closing, term, line)
        if not self.regular:
            return
        level = np.cumsum(np.where(term, np.where(closing, -1, 1), 0), dtype=np.int32)
        begins, ends = more[bounds[0::2]] + 1, less[bounds[1::2]]
        inside = _covered(len(raw), begins, ends) & ~_covered(len(raw), less, more + 1)
        place = _before(inside)  # place[i]: characters of text before character i of the page
        self._raw_begin = begins
        self._inside_solid = _before(inside & (raw > 32))
        chars = _PLAIN[raw[inside]]
        self.text = chars.tobytes().decode("latin-1")
        self.chars = chars
        self.begin, self.end = place[begins], place[ends]
        self.solid = np.flatnonzero(
            chars > 32
        )  # solid[j]: where in the text the j-th character that is no space stands
        self.solid_bytes = chars[self.solid].tobytes()
        # An opening tag and its closing one are neighbours among the tags of their level.
        events = np.flatnonzero(term)
        depth = level[events] + closing[events]
        order = events[np.argsort(depth, kind="stable")]
        opens, closes = order[0::2], order[1::2]
        back = np.argsort(opens, kind="stable")
        self.term_start, self.term_end = place[less[opens[back]]], place[less[closes[back]]]

    def _check(self, raw: Bytes, less: Ints, more: Ints, closing: Flags, term: Flags, line: Flags) -> bool:
        """Whether there is nothing but known elements, terms within sentences, and text up to the edges of terms."""
        code = sum(raw[less + i + 1].astype(np.uint32) << (24 - 8 * i) for i in range(4))
        level = np.cumsum(np.where(term, np.where(closing, -1, 1), 0), dtype=np.int32)
        sentence = np.cumsum(np.where(line, np.where(closing, -1, 1), 0), dtype=np.int32)
        bounds = np.flatnonzero(line)
        opening = term & ~closing
        return bool(
            len(bounds)
            and (less < more).all()
            and (less[1:] > more[:-1]).all()
            and np.isin(code, _KNOWN).all()
            and not (raw == ord("&")).any()
            and len(self.terms) == opening.sum() == (term & closing).sum()
            and closing[bounds[1::2]].all()
            and not closing[bounds[0::2]].any()
            and len(bounds) % 2 == 0
            and not level[bounds].any()
            and (level >= 0).all()
            and (sentence[term] == 1).all()
            and (raw[more[opening] + 1] > 32).all()
            and (raw[less[term & closing] - 1] > 32).all()
            and not (opening[:-1] & term[1:] & closing[1:] & (less[1:] == more[:-1] + 1)).any()
        )

    def nonspace_before(self, places: Ints) -> list[int]:
        """How many characters of text that are no space stand before characters of the page."""
        found: list[int] = self._inside_solid[places].tolist()
        return found

    def sentences_before(self, places: Ints) -> list[int]:
        """How many sentences begin before characters of the page."""
        found: list[int] = np.searchsorted(self._raw_begin, places).tolist()
        return found

    def build(
        self, owner: Ints, tags: npt.NDArray[np.object_], label: Callable[[str], str], inner: bool
    ) -> list[Sentence]:
        """Cut the text into tokens and make the sentences; ``owner`` is each solid character's word."""
        names = {sem: label(sem) if sem else "" for sem in {sem for _, sem in self.terms}}
        labels = [names[sem] for _, sem in self.terms]
        wanted = np.fromiter(map(bool, labels), np.bool_, len(labels)) & (self.term_start < self.term_end)
        chosen = np.flatnonzero(wanted)
        start, end = self.term_start[chosen], self.term_end[chosen]
        edge = np.zeros(len(self.chars) + 1, np.bool_)
        edge[self.begin] = edge[start] = edge[end] = True
        solid = self.solid
        fresh = edge[solid]
        fresh[1:] |= (owner[1:] != owner[:-1]) | (solid[1:] != solid[:-1] + 1)
        if inner:
            sign = _INNER[self.chars[solid]]
            fresh |= sign
            fresh[1:] |= sign[:-1]
        at = np.flatnonzero(fresh)
        token_start = solid[at]
        token_end = solid[np.append(at[1:], len(solid)) - 1] + 1 if len(at) else token_start
        first = np.searchsorted(token_start, self.begin)
        last = np.searchsorted(token_start, self.end)
        # Mentions: those of each sentence, in the order in which they open, with token numbers of the sentence.
        host = np.searchsorted(self.begin, start, side="right") - 1
        low = (np.searchsorted(token_start, start) - first[host]).tolist()
        high = (np.searchsorted(token_end, end) + 1 - first[host]).tolist()
        bounds = np.searchsorted(host, np.arange(len(self.begin) + 1)).tolist()
        numbers = chosen.tolist()
        attributes = [_attributes(*self.terms[k]) for k in numbers]
        called = [labels[k] for k in numbers]
        columns: list[str] = tags[owner[at]].tolist()
        # One split gives all tokens: the solid characters, with a separator before each that begins one.
        tokens = np.insert(self.chars[solid], at, 10).tobytes().decode("latin-1").split("\n")[1:]
        offset = np.repeat(self.begin, last - first)
        local = list(zip((token_start - offset).tolist(), (token_end - offset).tolist(), strict=True))
        made: list[Sentence] = []
        places: Any = zip(
            self.begin.tolist(), self.end.tolist(), first.tolist(), last.tolist(), bounds, bounds[1:], strict=False
        )
        for begin, stop, a, b, m, n in places:
            text = self.text[begin:stop]
            spans = local[a:b]
            mentions = [Mention(called[i], ((low[i], high[i]),), None, attributes[i]) for i in range(m, n)]
            made.append(Sentence(tokens[a:b], mentions, {"pos": columns[a:b]}, text, spans))
        return made


class _Words:
    """The POS text of many articles: the letters of its words, and which word each belongs to."""

    def __init__(self, tagged: str) -> None:
        raw: Bytes = np.frombuffer(tagged.encode("ascii"), np.uint8)
        solid = np.concatenate([[False], raw > 32, [False]])
        change = np.flatnonzero(solid[1:] != solid[:-1])
        start, end = change[0::2], change[1::2]
        slash = np.maximum.accumulate(np.where(raw == ord("/"), np.arange(len(raw)), -1)) if len(raw) else raw
        cut = slash[end - 1]
        # A piece without a tag is a part of the next word, unless it is a sign of its own.
        whole = (cut < start) | (cut == end - 1)
        lone = (cut == end - 1) & (end - start == 2) & ~_ALNUM[raw[np.minimum(start, len(raw) - 1)]]
        joins = whole & ~lone
        stop = np.where(joins, end, cut)
        number = np.cumsum(~joins) - ~joins
        letters = _covered(len(raw), start, stop)
        self._before = _before(letters)
        self.letters = raw[letters].tobytes()
        self.owner = np.repeat(number, stop - start)
        kept = ~joins
        first = np.where(lone, start, cut + 1)[kept]
        self.tags = _names(raw, first, np.where(lone, 1, end - cut - 1)[kept])

    def chars_before(self, places: Ints) -> list[int]:
        """How many letters of words stand before characters of the POS text."""
        found: list[int] = self._before[places].tolist()
        return found


_ALNUM = np.fromiter((chr(i).isalnum() for i in range(256)), np.bool_, 256)


def _covered(length: int, starts: Ints, ends: Ints) -> Flags:
    """Which positions lie in one of the ranges; no two begin or end at the same place."""
    change = np.zeros(length + 1, np.int8)
    change[starts] += 1
    change[ends] -= 1
    covered: Flags = np.cumsum(change[:-1], dtype=np.int8).astype(np.bool_)
    return covered


def _before(flags: Flags) -> npt.NDArray[np.int32]:
    """How many flags are set before each position."""
    count = np.zeros(len(flags) + 1, np.int32)
    np.cumsum(flags, out=count[1:])
    return count


def _names(raw: Bytes, start: Ints, length: Ints) -> npt.NDArray[np.object_]:
    """The strings at many places, equal ones as one object; and "X", for words without a tag, after them."""
    width = int(length.max()) if len(length) else 0
    padded = np.concatenate([raw, np.zeros(width, np.uint8)])
    # A number for each of the few dozen strings: their characters, six at a time, and what came before.
    code = np.zeros(len(start), np.int64)
    for first in range(0, width, 6):
        for i in range(first, min(first + 6, width)):
            code = code * 256 + np.where(i < length, padded[start + i], 0)
        code = np.unique(code, return_inverse=True)[1].ravel()
    _, sample, place = np.unique(code, return_index=True, return_inverse=True)
    kept = [raw[start[k] : start[k] + length[k]].tobytes().decode("ascii") for k in sample.tolist()]
    found: npt.NDArray[np.object_] = np.array([*kept, "X"], object)[np.append(place, len(kept))]
    return found


def _attributes(lex: str, sem: str) -> dict[str, str]:
    return {"lex": lex if lex.isascii() else lex.translate(_BACK), "sem": sem}
