"""Joined labels: the tags of all layers of a token as one label, innermost first (Alex, Haddow & Grover 2007).

``B-protein+B-RNA+B-other_name`` begins a protein in an RNA in another name. The layers are those of
:mod:`spanloom.schemes.layers`, inside-out, each in IOB2. Tokens outside of all mentions have no joined label.

For flat taggers, a run of tokens with the same joined label is a mention with that label: any flat tagger can learn
them, and one in the IO representation is exactly a tagger over joined labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby

from spanloom.corpus.mention import Mention
from spanloom.corpus.tags import OUTSIDE, from_tags, to_tags
from spanloom.schemes.layers import layers_of

SCHEME = "IOB2"
_NOT_JOINT = re.compile(r"(?:\\.|[^+\\])+")


def join_labels(mentions: Sequence[Mention], n: int, depth: int) -> list[str]:
    """Return the joined label of each of ``n`` tokens, in ``depth`` layers; ``ValueError`` if there are more.

    Examples
    --------
    >>> join_labels([Mention("protein", ((0, 1),)), Mention("RNA", ((0, 2),))], 3, 2)
    ['B-protein+B-RNA', 'O+I-RNA', 'O+O']
    """
    layers = layers_of(mentions)
    if len(layers) > depth:
        raise ValueError(f"the mentions have {len(layers)} layers, and joined labels have {depth}")
    rows = [to_tags([(_escape(m.label), m.start, m.end) for m in layer], n, SCHEME) for layer in layers]
    rows += [[OUTSIDE] * n] * (depth - len(layers))
    return ["+".join(tags) for tags in zip(*rows, strict=True)] if depth else [OUTSIDE] * n


def split_labels(labels: Sequence[str]) -> list[Mention]:
    """Undo ``join_labels``. A layer that breaks the rules of IOB2 is read by its borders, as conlleval would.

    Examples
    --------
    >>> [(m.label, m.parts) for m in split_labels(["B-protein+B-RNA", "O+I-RNA", "O+O"])]
    [('RNA', ((0, 2),)), ('protein', ((0, 1),))]
    """
    rows = zip(*(_NOT_JOINT.findall(label) for label in labels), strict=True)
    found = {
        Mention(_unescape(label), ((start, end),))
        for tags in rows
        for label, start, end in from_tags(tags, "auto", _never)
    }
    return sorted(found, key=_reading_order)


def runs(labels: Sequence[str]) -> list[Mention]:
    """Return the runs of equal joined labels as mentions, without those outside of all mentions.

    Examples
    --------
    >>> [(m.label, m.parts) for m in runs(["B-a", "I-a", "I-a", "O"])]
    [('B-a', ((0, 1),)), ('I-a', ((1, 3),))]
    """
    found = []
    start = 0
    for label, group in groupby(labels):
        end = start + sum(1 for _ in group)
        if not is_outside(label):
            found.append(Mention(label, ((start, end),)))
        start = end
    return found


def read_runs(mentions: Iterable[Mention]) -> list[Mention]:
    """Return what ``split_labels`` finds in the labels that ``runs`` came from; tokens without a run have none.

    Examples
    --------
    >>> joined = ["O+O", "B-protein+B-RNA", "O+I-RNA", "O+O"]
    >>> read_runs(runs(joined)) == split_labels(joined)
    True
    """
    found: set[Mention] = set()
    block: list[str] = []  # the labels of runs without a token between them
    start = 0
    for run in [*sorted(mentions, key=lambda m: m.start), None]:
        if block and (run is None or run.start > start + len(block)):
            found.update(Mention(label, ((start + a, start + b),)) for label, a, b in _split_block(tuple(block)))
            block = []
        if run is not None:
            start = start if block else run.start
            block += [run.label] * len(run)
    return sorted(found, key=_reading_order)


@lru_cache(maxsize=1 << 16)
def _split_block(labels: tuple[str, ...]) -> tuple[tuple[str, int, int], ...]:
    """Read the mentions of neighbouring tokens; there are few blocks of labels, and they come again and again."""
    return tuple((m.label, m.start, m.end) for m in split_labels(labels))


def is_outside(label: str) -> bool:
    """Whether a joined label is that of a token outside of all mentions."""
    return all(tag == OUTSIDE for tag in label.split("+"))


def _reading_order(mention: Mention) -> tuple[int, int, str]:
    return mention.start, -mention.end, mention.label


def _escape(label: str) -> str:
    return label.replace("\\", "\\\\").replace("+", "\\+")


def _unescape(label: str) -> str:
    return re.sub(r"\\(.)", r"\1", label)


def _never(token: int, message: str) -> None:
    """Joined labels are made by ``join_labels``: every tag is one of IOB2."""
