"""The POS text of GENIA: ``word/TAG`` one sentence a line, and where each word stands in the sentences of the XML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate

from spanloom.corpus.document import find_tokens
from spanloom.corpus.mention import Part
from spanloom.formats.lines import whole
from spanloom.formats.report import Report

Tagged = tuple[list[str], list[str]]
"""The words of a sentence and their tags."""


_RECORD = "UI/LS -/: "


def records(paths: Sequence[str], report: Report) -> Iterator[tuple[str, str]]:
    """Yield id and POS text of the articles of the POS files, one after the other."""
    for path in paths:
        head, *found = whole(path).split(_RECORD)
        if head.strip():
            report.broken("pos", f"{path}:1", f"text before the first line '{_RECORD}ID/CD'")
        for record in found:
            name, _, text = record.partition("\n")
            yield name.partition("/")[0], text.replace("TI/LS -/: ", "", 1).replace("AB/LS -/: ", "", 1)


def split_text(text: str) -> list[Tagged]:
    """Split the POS text of an article into its sentences."""
    return [split_line(line) for line in text.splitlines() if line and not line.isspace()]


def split_line(line: str) -> Tagged:
    """Split ``word/TAG word/TAG`` at the last slash of each piece; a piece without a tag joins the next.

    Punctuation without a tag is its own tag, as is usual for punctuation.

    Examples
    --------
    >>> split_line("B/CD28-responsive/JJ 1, 25/CD ./.")
    (['B/CD28-responsive', '1,25', '.'], ['JJ', 'CD', '.'])
    """
    words: list[str] = []
    tags: list[str] = []
    pending = ""
    for piece in line.split():
        word, slash, tag = piece.rpartition("/")
        if not slash or not tag:
            if len(word) != 1 or word.isalnum():
                pending += piece
                continue
            tag = word
        elif not word and not pending:
            continue
        words.append(pending + word if pending else word)
        tags.append(tag)
        pending = ""
    if pending:
        words.append(pending)
        tags.append("X")
    return words, tags


def incomplete(text: str) -> list[str]:
    """Return the pieces of a POS text that are a word without a tag or a tag without a word.

    Examples
    --------
    >>> incomplete("IL-2/NN gene/ 1, 25/CD")
    ['gene/']
    """
    found = []
    for piece in text.split():
        word, slash, tag = piece.rpartition("/")
        if slash and not (word and tag):
            found.append(piece)
    return found


def place(text: str, words: list[str]) -> list[Part] | None:
    """Return where the words stand in the text if they are all of it but the spaces; None otherwise."""
    spans = find_tokens(text, words)
    # Found in order, they are all of the text if nothing but spaces is left over.
    complete = len(spans) == len(words) and sum(map(len, words)) + text.count(" ") == len(text)
    return spans if complete else None


def place_document(texts: list[str], sentences: list[Tagged]) -> tuple[list[tuple[list[Part], list[str]]], int]:
    """Place the words of an article whose POS text has other sentence breaks or characters than the XML.

    Every character of the XML that is not a space comes to stand in one token; where the two differ, the edges of the
    POS words are carried over by the longest common subsequences of their characters.

    Returns
    -------
    list of (spans, tags)
        For every text.
    int
        How many characters differ.
    """
    own = [[i for i, char in enumerate(text) if not char.isspace()] for text in texts]
    flat = "".join(text[i] for text, places in zip(texts, own, strict=True) for i in places)
    words = [word for sentence in sentences for word in sentence[0]]
    tags = [tag for sentence in sentences for tag in sentence[1]]
    other = "".join(words)
    edges = [0, *accumulate(len(word) for word in words)]
    differ = 0
    if not other:  # no words at all: what stands between spaces, without a real tag
        edges, tags, differ = [0, 0], ["X"], len(flat)
    elif flat != other:
        carried, differ = _carry(other, flat)
        edges = [carried[edge] for edge in edges]
    edges[0], edges[-1] = 0, len(flat)
    tokens = [(a, b, tag) for a, b, tag in zip(edges, edges[1:], tags, strict=False) if a < b]
    result: list[tuple[list[Part], list[str]]] = []
    offset = k = 0
    for places in own:
        spans: list[Part] = []
        chosen: list[str] = []
        stop = offset + len(places)
        # A word may run over a break of the XML or over a space inside it; it is cut there.
        while k < len(tokens) and tokens[k][0] < stop:
            a, b, tag = tokens[k]
            a, last = max(a, offset), min(b, stop)
            start = a
            for i in range(a + 1, last + 1):
                if i == last or places[i - offset] != places[i - offset - 1] + 1:
                    spans.append((places[start - offset], places[i - offset - 1] + 1))
                    chosen.append(tag)
                    start = i
            if b > stop:
                break
            k += 1
        offset = stop
        result.append((spans, chosen))
    return result, differ


def _common(a: str, b: str) -> int:
    """How many characters two strings begin with alike."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _carry(source: str, target: str) -> tuple[list[int], int]:
    """For every position in ``source`` the position in ``target``; and how many characters differ."""
    # What the ends have in common needs no search.
    head = _common(source, target)
    tail = _common(source[head:][::-1], target[head:][::-1])
    inner = SequenceMatcher(None, source[head : len(source) - tail], target[head : len(target) - tail], autojunk=False)
    carried = [0] * (len(source) + 1)
    differ = 0
    steps = [(kind, i1 + head, i2 + head, j1 + head, j2 + head) for kind, i1, i2, j1, j2 in inner.get_opcodes()]
    steps.insert(0, ("equal", 0, head, 0, head))
    steps.append(("equal", len(source) - tail, len(source), len(target) - tail, len(target)))
    for kind, i1, i2, j1, j2 in steps:
        if kind != "equal":
            differ += max(i2 - i1, j2 - j1)
        for i in range(i1, i2 + 1):
            carried[i] = min(j1 + i - i1, j2)
    carried[len(source)] = len(target)
    return carried, differ
