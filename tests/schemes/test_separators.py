"""Separators: the paper's definitions, figures and theorem."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import separator_of, separator_sequences
from spanloom.schemes import SEPARATORS, decode_separators, encode_separators
from spanloom.schemes.separators import LOST, inside_left, inside_right, read_back, read_separators
from spanloom.schemes.words import short_separator

CASES = [frozenset(name) - {"X"} for name in SEPARATORS]


@st.composite
def spans(draw, longest: int = 9):
    n = draw(st.integers(1, longest))
    starts = st.integers(0, n - 1)
    pairs = starts.flatmap(lambda a: st.integers(a + 1, n).map(lambda b: (a, b)))
    return draw(st.sets(pairs, max_size=8)), n


def names(found: list[tuple[int, int]], n: int) -> list[str]:
    return [SEPARATORS[s] for s in encode_separators(found, n)]


@given(spans())
def test_every_set_has_exactly_one_sequence_and_it_is_the_papers(case):
    """Theorem 4.1: the separators are a function of the set; each is the set of the three cases that hold."""
    chosen, n = case
    encoded = encode_separators(sorted(chosen), n)
    assert encoded.tolist() == encode_separators(sorted(chosen, reverse=True), n).tolist()
    assert [CASES[s] for s in encoded] == [separator_of(sorted(chosen), gap) for gap in range(n + 1)]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_reading_and_writing_again_gives_the_same_sequence(n):
    """Every sequence that a mention set can have is read as a nested set that has it, too."""
    sequences = separator_sequences(n)
    for sequence in sequences:
        gaps = [CASES.index(cases) for cases in sequence]
        read = decode_separators(gaps)
        assert encode_separators(read, n).tolist() == gaps
        assert len(set(read)) == len(read)
        assert not any(a < c < b < d for a, b in read for c, d in read), "nested, never crossing"


@given(spans())
def test_two_mentions_that_do_not_cross_come_back(case):
    """So do any number of mentions that do not share tokens."""
    chosen, n = case
    ordered = sorted(chosen)
    for first in ordered:
        for second in ordered:
            crossing = first[0] < second[0] < first[1] < second[1] or second[0] < first[0] < second[1] < first[1]
            pair = {first, second}
            assert (set(decode_separators(encode_separators(sorted(pair), n))) == pair) is not crossing
    apart: list[tuple[int, int]] = []
    for span in ordered:
        if not apart or apart[-1][1] <= span[0]:
            apart.append(span)
    assert decode_separators(encode_separators(apart, n)) == apart


def test_figure_4a_an_embedded_mention():
    """ "the human TCF-1 protein": X [ -[ ]- ]."""
    assert names([(1, 4), (2, 3)], 4) == ["X", "S", "CS", "EC", "E"]


def test_figure_4b_one_start_and_two_ends():
    """ "the IL2 regulatory region": one gap starts, two end, and both mentions are found."""
    assert names([(1, 2), (1, 4)], 4) == ["X", "S", "EC", "C", "E"]
    assert set(decode_separators(encode_separators([(1, 2), (1, 4)], 4))) == {(1, 2), (1, 4)}


def test_figure_3_touching_mentions():
    """ES is a border between two mentions, ECS one inside a third."""
    assert names([(0, 1), (1, 2)], 2) == ["S", "ES", "E"]
    assert names([(0, 1), (1, 2), (0, 2)], 2) == ["S", "ECS", "E"]


def test_crossing_is_read_as_nested():
    """Two mentions that cross have the separators of two nested ones: the earliest start takes the farthest end."""
    crossing, nested = [(0, 2), (1, 3)], [(0, 3), (1, 2)]
    assert encode_separators(crossing, 3).tolist() == encode_separators(nested, 3).tolist()
    assert sorted(decode_separators(encode_separators(crossing, 3))) == nested


def test_an_inner_start_with_two_ends_loses_the_second():
    """{(0, 3), (1, 2), (1, 3)} cannot be told from {(0, 3), (1, 2)}."""
    assert sorted(decode_separators(encode_separators([(0, 3), (1, 2), (1, 3)], 3))) == [(0, 3), (1, 2)]


def test_sides_of_a_gap():
    """The table of the multigraph's edges: X O→O, S O→I, E I→O, the others I→I."""
    edges = {SEPARATORS[s]: ("OI"[inside_left(s)], "OI"[inside_right(s)]) for s in range(8)}
    inner = dict.fromkeys(("ES", "C", "CS", "EC", "ECS"), ("I", "I"))
    assert edges == {"X": ("O", "O"), "S": ("O", "I"), "E": ("I", "O")} | inner


def test_deep_nesting_comes_back():
    """Eight mentions, each inside the last."""
    tower = [(k, 16 - k) for k in range(8)]
    assert sorted(decode_separators(encode_separators(tower, 16))) == tower
    assert decode_separators(np.zeros(17, np.int32)) == []


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_what_is_lost_has_one_of_three_reasons_unless_others_cross(n):
    """Every set of spans of up to four tokens: without crossing ones, a common end or several ends are the cause."""
    every = [(a, b) for a in range(n) for b in range(a + 1, n + 1)]
    seen = set()
    for chosen in itertools.chain.from_iterable(itertools.combinations(every, k) for k in range(len(every) + 1)):
        back = set(decode_separators(encode_separators(chosen, n)))
        found = read_back(chosen, n)
        assert set(found.lost) == set(chosen) - back
        assert set(found.invented) == back - set(chosen)
        crossing = any(a < c < b < d for a, b in chosen for c, d in chosen)
        why = set(found.lost.values())
        assert crossing or LOST[0] not in why, (chosen, found)
        assert why != {LOST[3]}, "a consequence of something"
        seen.update(found.lost.values())
    assert seen >= ({LOST[0], LOST[1], LOST[2]} if n > 2 else set())


def test_the_three_kinds_by_their_smallest_sets():
    """And what each invents."""
    assert read_back([(0, 2), (1, 3)], 3).lost.keys() <= {(0, 2), (1, 3)}
    assert read_back([(0, 2), (1, 3)], 3).invented == [(0, 3), (1, 2)]
    assert read_back([(0, 2), (0, 3), (1, 2)], 3).lost == {(0, 2): "common end"}
    assert read_back([(0, 3), (1, 2), (1, 3)], 3).lost == {(1, 3): "several ends"}
    assert read_back([(0, 4), (1, 2), (1, 3)], 4).invented == [(0, 3)]
    assert read_back([(0, 4), (0, 5), (1, 3), (2, 3)], 5).lost == {(0, 4): "consequence", (1, 3): "common end"}


@given(st.lists(spans(), min_size=1, max_size=4))
def test_many_sentences_are_read_as_each_by_itself(cases):
    gaps = [encode_separators(sorted(chosen), n) for chosen, n in cases]
    first = np.cumsum([0, *map(len, gaps)])[:-1]
    found = [[] for _ in cases]
    for number, start, end in read_separators(np.concatenate(gaps), first):
        found[number].append((start, end))
    assert found == [decode_separators(one) for one in gaps]


def test_few_words_for_every_separator():
    said = {name: short_separator(number) for number, name in enumerate(SEPARATORS)}
    words = {"E": "end", "C": "goes on", "S": "start"}
    assert said.pop("X") == "nothing"
    assert said == {name: " + ".join(words[letter] for letter in name) for name in said}


@pytest.mark.parametrize(
    ("given", "lost", "why"),
    [
        ([(0, 2), (1, 3)], (0, 2), "crossing"),
        ([(0, 4), (1, 2), (1, 3)], (1, 3), "several ends"),
        ([(0, 4), (0, 5), (1, 3), (2, 3)], (1, 3), "common end"),
        ([(0, 4), (0, 5), (1, 3), (2, 3)], (0, 4), "consequence"),  # the end at 4 is read as that of (1, 3)
        ([(0, 5), (1, 5), (2, 3), (2, 4)], (1, 5), "consequence"),  # its start is read with the end of (2, 4)
    ],
)
def test_why_a_mention_is_lost(given, lost, why):
    """By hand: an end where something goes on closes the innermost start, one where nothing does all of them."""
    assert read_back(given, 5).lost[lost] == why
