"""Put together what several systems found in the same text: their union, their intersection, or a vote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from spanloom.base.errors import CorpusError, ParameterError
from spanloom.base.parameters import check_choice, check_count
from spanloom.corpus import Document, Mention

WAYS = ("union", "intersection", "vote")


@dataclass(frozen=True, slots=True)
class MentionConflict:
    """Two mentions of a combination that no single system gave together and that exclude each other as a rule."""

    document: str
    sentence: int
    """Number of the sentence, in its document or in the corpus."""
    first: Mention
    second: Mention
    kind: str
    """``"crossing"``, or ``"labels"``: the same tokens under two labels."""

    def __str__(self) -> str:
        where = f"document {self.document!r}, " if self.document else ""
        how = "cross" if self.kind == "crossing" else "have the same tokens"
        return (
            f"{where}sentence {self.sentence}: {self.first.label} {self.first.parts} and "
            f"{self.second.label} {self.second.parts} {how}"
        )


def combine(
    systems: Sequence[Sequence[Document]], how: str = "union", *, least: int | None = None
) -> tuple[list[Document], list[MentionConflict]]:
    """Combine the mentions that systems found in the same documents.

    Parameters
    ----------
    systems
        For each system the documents with its mentions; tokens and sentences must be the same.
    how
        ``"union"`` takes what any system found, ``"intersection"`` what all found, ``"vote"`` what ``least`` found.
    least
        How many systems must agree in a vote; None for more than half of them.

    Returns
    -------
    The documents of the first system with the combined mentions, and the conflicts among these. A mention's ``prob`` is
    that of the first system that gives one.

    Examples
    --------
    >>> from spanloom import Sentence
    >>> words = ["IL-2", "gene"]
    >>> a = Document([Sentence(words, [Mention("protein", ((0, 1),))])])
    >>> b = Document([Sentence(words, [Mention("DNA", ((0, 1),)), Mention("DNA", ((0, 2),))])])
    >>> found, conflicts = combine([[a], [b]])
    >>> [(m.label, m.parts) for m in found[0].mentions]
    [('DNA', ((0, 2),)), ('DNA', ((0, 1),)), ('protein', ((0, 1),))]
    >>> print(conflicts[0])
    sentence 0: DNA ((0, 1),) and protein ((0, 1),) have the same tokens
    """
    check_choice("how", how, WAYS)
    if not systems:
        raise ParameterError("there is nothing to combine: no system is given")
    if least is not None:
        check_count("least", least)
        if how != "vote" or least > len(systems):
            raise ParameterError(
                f"least={least} of {len(systems)} systems makes no sense with how={how!r}; it says how many of them "
                "must agree in a vote"
            )
    needed = {"union": 1, "intersection": len(systems), "vote": least or len(systems) // 2 + 1}[how]
    for number, other in enumerate(systems[1:], 2):
        if len(other) != len(systems[0]):
            raise CorpusError(f"system 1 has {len(systems[0])} documents, and system {number} has {len(other)}")
    done: list[Document] = []
    conflicts: list[MentionConflict] = []
    for docs in zip(*systems, strict=True):
        first = docs[0]
        for number, doc in enumerate(docs[1:], 2):
            if [s.tokens for s in doc.sentences] != [s.tokens for s in first.sentences]:
                raise CorpusError(
                    f"document {first.id!r} has other tokens or sentences in system {number} than in system 1; "
                    "combine what was found in the same text, cut the same way"
                )
        sentences = []
        for i, same in enumerate(zip(*(doc.sentences for doc in docs), strict=True)):
            mentions = _agreed([s.mentions for s in same], needed)
            given = [set(s.mentions) for s in same]
            conflicts += [MentionConflict(first.id, i, a, b, kind) for a, b, kind in conflicting(mentions, given)]
            sentences.append(same[0].with_mentions(mentions))
        done.append(Document(sentences, first.id, first.text, first.starts, first.meta))
    return done, conflicts


def _agreed(found: Sequence[Sequence[Mention]], needed: int) -> list[Mention]:
    votes = Counter(mention for mentions in found for mention in set(mentions))
    best: dict[Mention, Mention] = {}
    for mention in (m for mentions in found for m in mentions):
        known = best.setdefault(mention, mention)
        if known.prob is None and mention.prob is not None:
            best[mention] = mention
    chosen = [best[mention] for mention, count in votes.items() if count >= needed]
    return sorted(chosen, key=lambda m: (m.start, -m.end, m.label, m.parts))


def conflicting(
    mentions: Sequence[Mention], given: Sequence[Collection[Mention]]
) -> Iterator[tuple[Mention, Mention, str]]:
    """Yield pairs of mentions that no single system gave together, with the kind of conflict.

    ``"crossing"``, or ``"labels"``: the same tokens under two labels.
    """
    for i, a in enumerate(mentions):
        for b in mentions[i + 1 :]:
            kind = "labels" if a.parts == b.parts else "crossing" if a.crosses(b) else None
            if kind is not None and not any(a in own and b in own for own in given):
                yield a, b, kind
