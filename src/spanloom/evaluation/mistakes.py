"""What went wrong: each mistake with its place, and what kind of mistake it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spanloom.corpus import Mention
from spanloom.corpus.mention import Parts
from spanloom.evaluation.relaxed import best_pairs, shared
from spanloom.evaluation.score import Mentions, distinct

MISTAKES = ("label", "boundary", "label+boundary", "missed", "spurious")

_SAME_LABEL = 1e-6  # settles ties between partners that share as many tokens


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake.

    Parameters
    ----------
    kind
        ``label``: right place, wrong label. ``boundary``: right label, and the places overlap. ``label+boundary``: the
        places overlap, that is all. ``missed``: a gold mention without a partner. ``spurious``: a predicted one.
    sentence
        The index of the sentence.
    gold, predicted
        The mention that should be there and the one that was given instead; one is None for missed and spurious ones.
    """

    kind: str
    sentence: int
    gold: Mention | None
    predicted: Mention | None

    def shifts(self) -> tuple[str, ...]:
        """Say how the boundaries are wrong; nothing for a mistake without a partner or with the right place.

        Examples
        --------
        >>> Mistake("boundary", 0, Mention("DNA", ((3, 7),)), Mention("DNA", ((4, 9),))).shifts()
        ('starts late', 'ends late')
        """
        g, p = self.gold, self.predicted
        if g is None or p is None or g.parts == p.parts:
            return ()
        found = []
        if p.start != g.start:
            found.append("starts early" if p.start < g.start else "starts late")
        if p.end != g.end:
            found.append("ends early" if p.end < g.end else "ends late")
        if len(p.parts) != len(g.parts):
            found.append("fewer parts" if len(p.parts) < len(g.parts) else "more parts")
        return tuple(found) or ("other gap",)


def mistakes(gold: Sequence[Mentions], predicted: Sequence[Mentions]) -> list[Mistake]:
    """Return every mistake, in the order of the sentences.

    What is right is set aside; among the rest of a sentence, gold and predicted mentions are paired one to one so that
    the pairs share the most tokens altogether (of equal partners, the one with the right label).

    Examples
    --------
    >>> gold = [[Mention("DNA", ((0, 2),)), Mention("RNA", ((5, 6),))]]
    >>> predicted = [[Mention("protein", ((0, 2),))]]
    >>> [m.kind for m in mistakes(gold, predicted)]
    ['label', 'missed']
    """
    found: list[Mistake] = []
    for i, (g, p) in enumerate(zip(gold, predicted, strict=True)):
        if g or p:
            found.extend(_of_sentence(i, distinct(g), distinct(p)))
    return found


def confusion(right: Iterable[Mention], wrong: Iterable[Mistake]) -> Counter[tuple[str | None, str | None]]:
    """Count pairs of gold and predicted label; None stands for no mention.

    Parameters
    ----------
    right
        The gold mentions that were found.
    wrong
        From :func:`mistakes`.

    Examples
    --------
    >>> gold = [[Mention("DNA", ((0, 2),)), Mention("RNA", ((5, 6),))]]
    >>> confusion([], mistakes(gold, [[Mention("protein", ((0, 2),))]]))[("DNA", "protein")]
    1
    """
    counts: Counter[tuple[str | None, str | None]] = Counter((m.label, m.label) for m in right)
    for m in wrong:
        counts[m.gold.label if m.gold else None, m.predicted.label if m.predicted else None] += 1
    return counts


def _of_sentence(i: int, gold: list[Mention], predicted: list[Mention]) -> list[Mistake]:
    right = {(m.label, m.parts) for m in gold} & {(m.label, m.parts) for m in predicted}
    gs = sorted(m for m in gold if (m.label, m.parts) not in right)
    ps = sorted(m for m in predicted if (m.label, m.parts) not in right)
    pairs = best_pairs(gs, ps, _nearness)
    partner = {r: c for r, c, _ in pairs}
    found = [Mistake(_kind(gs[r], ps[c]), i, gs[r], ps[c]) for r, c in partner.items()]
    found += [Mistake("missed", i, m, None) for r, m in enumerate(gs) if r not in partner]
    taken = set(partner.values())
    found += [Mistake("spurious", i, None, m) for c, m in enumerate(ps) if c not in taken]
    return sorted(found, key=_place)


def _place(mistake: Mistake) -> tuple[Parts, bool]:
    """Sort mistakes by where they are; what was missed before what is spurious there."""
    if mistake.gold is not None:
        return mistake.gold.parts, False
    return (mistake.predicted.parts, True) if mistake.predicted else ((), True)


def _nearness(gold: Mention, predicted: Mention) -> float:
    common = shared(gold, predicted)
    return common + _SAME_LABEL * (gold.label == predicted.label) if common else 0.0


def _kind(gold: Mention, predicted: Mention) -> str:
    if gold.parts == predicted.parts:
        return "label"
    return "boundary" if gold.label == predicted.label else "label+boundary"
