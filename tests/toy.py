"""Small sentences to learn from, which several tests share."""

from __future__ import annotations

from collections.abc import Iterable

from spanloom import Mention, Sentence


def sentence(text: str, *mentions: tuple[str, int, int]) -> Sentence:
    """A sentence with mentions (label, start, end); every word under the next one, so that all spans are valid."""
    words = text.split()
    heads = [str(i + 2) for i in range(len(words) - 1)] + ["0"]
    columns = {"head": heads, "deprel": ["dep"] * len(words), "pos": ["N" if w[0].isupper() else "V" for w in words]}
    return Sentence(words, [Mention(label, ((start, end),)) for label, start, end in mentions], columns)


OFFICES = [
    sentence("Bill met Ann", ("PER", 0, 1), ("PER", 2, 3)),
    sentence("they saw the Rome office", ("ORG", 2, 5), ("LOC", 3, 4)),
    sentence("the Paris office met Bill", ("ORG", 0, 3), ("LOC", 1, 2), ("PER", 4, 5)),
    sentence("nothing was seen there"),
    sentence("Ann saw Paris", ("PER", 0, 1), ("LOC", 2, 3)),
]


def genes(names: Iterable[str]) -> list[Sentence]:
    """Sentences with genes in nested mentions of up to three levels."""
    return [
        s
        for gene in names
        for s in (
            sentence(f"the {gene} mRNA levels rise", ("protein", 1, 2), ("RNA", 1, 3), ("other", 1, 4)),
            sentence(f"we saw {gene} today", ("protein", 2, 3)),
            sentence(f"the {gene} mRNA falls", ("protein", 1, 2), ("RNA", 1, 3)),
            sentence("nothing was seen"),
        )
    ]
