"""Random mention sets for reductions: any contiguous ones, and those that only nest."""

from __future__ import annotations

from hypothesis import strategies as st

from spanloom.corpus import Mention

LABELS = ("a", "b", "c+d", "e\\")


@st.composite
def contiguous(draw, longest=8, labels=LABELS):
    """A number of tokens and any set of contiguous mentions of them."""
    n = draw(st.integers(1, longest))
    spans = st.tuples(st.integers(0, n - 1), st.integers(1, n)).filter(lambda span: span[0] < span[1])
    mentions = st.builds(lambda span, label: Mention(label, (span,)), spans, st.sampled_from(labels))
    return n, sorted(draw(st.sets(mentions, max_size=8)))


@st.composite
def nested(draw, longest=8):
    """A number of tokens and mentions of which none crosses or has the tokens of another."""
    n, mentions = draw(contiguous(longest))
    kept = []
    for mention in mentions:
        if not any(mention.crosses(other) or mention.parts == other.parts for other in kept):
            kept.append(mention)
    return n, kept
