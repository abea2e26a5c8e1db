"""Tag sequences as files have them: one tag a token, for mentions that neither overlap nor break.

==========  ============================================================================================
IO          ``I`` inside; touching mentions of one label become one
IOB1        ``B`` only where a mention touches the one before and has its label
IOB2        ``B`` at every first token
IOE1        ``E`` only where a mention touches the one after and has its label
IOE2        ``E`` at every last token
IOBES       ``B``, ``I``, ``E``; ``S`` for single tokens
BILOU       the same, with ``L`` for ``E`` and ``U`` for ``S``
==========  ============================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Chunk = tuple[str, int, int]
"""Label, first token, one past the last token."""

SCHEMES = ("IO", "IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU")

_PREFIXES = {"IO": "I", "IOB1": "IB", "IOB2": "IB", "IOE1": "IE", "IOE2": "IE", "IOBES": "BIES", "BILOU": "BILU"}
_MEANING = {"B": "B", "I": "I", "E": "E", "S": "S", "L": "E", "U": "S", "M": "I", "W": "S"}


def is_tag(text: str) -> bool:
    """Whether a text looks like a tag of any scheme: ``O``, or a known prefix, a hyphen and a label."""
    return text == "O" or (len(text) > 2 and text[1] == "-" and text[0] in _MEANING)


def from_tags(tags: Sequence[str], scheme: str, complain: Callable[[int, str], None]) -> list[Chunk]:
    """Return the mentions of a tag sequence.

    Where a sequence breaks the rules of its scheme, ``complain(token, message)`` is called and it is read as conlleval
    would. ``scheme="auto"`` takes every known prefix and complains about no sequence.

    Examples
    --------
    >>> from_tags(["B-a", "I-a", "B-a", "O", "I-b"], "auto", print)
    [('a', 0, 2), ('a', 2, 3), ('b', 4, 5)]
    >>> from_tags(["O", "I-b"], "IOB2", print)
    1 tag 'I-b' in 'O I-b' is not valid in IOB2, where it would be 'B-b'
    [('b', 1, 2)]
    """
    allowed = _PREFIXES.get(scheme, "BIESLUMW")
    chunks: list[Chunk] = []
    kinds: list[str] = []
    labels: list[str] = []
    for i, tag in enumerate(tags):
        if tag == "O":
            kinds.append("O")
            labels.append("")
        elif len(tag) > 2 and tag[1] == "-" and tag[0] in allowed:
            kinds.append(_MEANING[tag[0]])
            labels.append(tag[2:])
        else:
            complain(i, f"tag {tag!r} is not O or one of {', '.join(p + '-LABEL' for p in allowed)}")
            kinds.append("O")
            labels.append("")
    start = -1
    for i, (kind, label) in enumerate(zip(kinds, labels, strict=True)):
        if start >= 0 and (kind in "OBS" or label != labels[i - 1] or kinds[i - 1] in "ES"):
            chunks.append((labels[i - 1], start, i))
            start = -1
        if kind != "O" and start < 0:
            start = i
    if start >= 0:
        chunks.append((labels[-1], start, len(tags)))
    if scheme in _PREFIXES:
        _check(chunks, tags, scheme, complain)
    return chunks


def to_tags(chunks: Sequence[Chunk], length: int, scheme: str) -> list[str]:
    """Return the tags of mentions that do not overlap.

    Examples
    --------
    >>> to_tags([("a", 0, 2), ("a", 2, 3)], 4, "IOBES")
    ['B-a', 'E-a', 'S-a', 'O']
    >>> to_tags([("a", 0, 2), ("a", 2, 3)], 4, "IOB1")
    ['I-a', 'I-a', 'B-a', 'O']
    """
    tags = ["O"] * length
    ordered = sorted(chunks, key=lambda chunk: chunk[1])
    for k, (label, start, end) in enumerate(ordered):
        tags[start:end] = [f"I-{label}"] * (end - start)
        if scheme == "IOB2" or (scheme == "IOB1" and k > 0 and ordered[k - 1][::2] == (label, start)):
            tags[start] = f"B-{label}"
        elif scheme == "IOE2" or (scheme == "IOE1" and k + 1 < len(ordered) and ordered[k + 1][:2] == (label, end)):
            tags[end - 1] = f"E-{label}"
        elif scheme in ("IOBES", "BILOU"):
            single, last = ("S", "E") if scheme == "IOBES" else ("U", "L")
            tags[start] = f"B-{label}" if end - start > 1 else f"{single}-{label}"
            if end - start > 1:
                tags[end - 1] = f"{last}-{label}"
    return tags


def _check(chunks: Sequence[Chunk], tags: Sequence[str], scheme: str, complain: Callable[[int, str], None]) -> None:
    """A sequence is valid if and only if it is how its mentions would be written."""
    for i, (tag, right) in enumerate(zip(tags, to_tags(chunks, len(tags), scheme), strict=True)):
        if tag != right and is_tag(tag):
            context = " ".join(tags[max(i - 1, 0) : i + 2])
            complain(i, f"tag {tag!r} in '{context}' is not valid in {scheme}, where it would be {right!r}")
