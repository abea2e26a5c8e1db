"""Noun phrases against their definitions in words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spanloom.annotators.noun_phrases import ENDING, RUNS

TAGS = st.sampled_from(["NN", "NNPS", "CD", "FW", "JJ", "JJR", "VBN", "DT", "PDT", "PRP$", "HYPH", "SYM", "IN", "VBZ"])
TOKENS = st.lists(st.tuples(st.sampled_from(["a", "-", "/"]), TAGS), max_size=9)
NOUNS = {"NN", "NNPS", "CD", "FW"}
MODIFIERS = {"JJ", "JJR", "VBN", "PRP$", "DT", "HYPH", "SYM"}


@given(TOKENS)
def test_runs_are_the_longest_ones_with_a_noun(pairs: list[tuple[str, str]]) -> None:
    """Try every span: all inside, a noun in it, and neither neighbour inside."""
    n = len(pairs)
    inside = [tag in NOUNS or tag in MODIFIERS or token in "-/" for token, tag in pairs]
    expected = [
        (s, e)
        for s in range(n)
        for e in range(s + 1, n + 1)
        if all(inside[s:e])
        and any(tag in NOUNS for _, tag in pairs[s:e])
        and not (s and inside[s - 1])
        and not (e < n and inside[e])
    ]
    assert RUNS.phrases([token for token, _ in pairs], [tag for _, tag in pairs]) == expected


@given(TOKENS)
def test_ending_phrases_are_found_from_left_to_right(pairs: list[tuple[str, str]]) -> None:
    """At each place the longest: a determiner or none, then modifiers and nouns, a noun at the end."""
    tags = [tag for _, tag in pairs]
    noun = [tag.startswith("NN") for tag in tags]
    may = [noun[i] or tag in {"JJ", "JJR", "CD", "VBN", "HYPH"} for i, tag in enumerate(tags)]
    expected, at = [], 0
    while at < len(tags):
        first = at + (tags[at] in {"DT", "PRP$", "PDT"})
        ends = [e for e in range(len(tags), first, -1) if all(may[first:e]) and noun[e - 1]]
        if ends:
            expected.append((at, ends[0]))
        at = ends[0] if ends else at + 1
    assert ENDING.phrases([token for token, _ in pairs], tags) == expected
