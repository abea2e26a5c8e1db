"""Weak semi-Markov conditional random field (Muis & Lu 2016): type and length of a segment are chosen apart.

    score(segments) = Σ_(y', y at i) [transition[y', y] + w[y] · f(i)]  +  Σ_(i,j,y) w[y] · g(i, j)

From the end of a segment of type y' one edge chooses the type y of the next, which sees y', y and the place i; from
there one edge chooses its end j, which sees y, i and j, but not y'. A semi-Markov field chooses y and j at once and may
see all four. So a token has T² + T·L edges instead of T²·L, and no feature may join y' with j.

No feature of ours does, so that ``weak-semimarkov`` and ``semimarkov`` are the same distribution: theirs is the graph
over pairs, ours is this one (``SegmentStructure.graph``), and tests hold one to the other. The model is here by its own
name for those who compare; what it holds, learns and finds is what ``semimarkov`` holds, learns and finds.
"""

from __future__ import annotations

from dataclasses import dataclass

from spanloom.models.semimarkov import SemiMarkov


@dataclass(frozen=True)
class WeakSemiMarkov(SemiMarkov):
    """Segmentations whose types and lengths are chosen apart, with segments of up to a number of tokens."""

    name = "weak-semimarkov"
