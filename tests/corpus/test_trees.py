"""Valid spans by definition, and theorem 1 of Jie, Muis & Lu (2017) by enumeration."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom import Mention, Sentence
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.corpus.trees import (
    all_heads_of,
    arcs_to_right,
    cycle_in,
    heads_of,
    is_single_arc,
    is_valid_span,
    valid_spans,
)

Edge = tuple[int, int]


def chains(n: int, edges: set[Edge]) -> dict[tuple[int, int], list[tuple[int, ...]]]:
    """By span: every ascending sequence of words in which neighbours share an arc. Definition 1, word by word."""
    found: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    for size in range(1, n + 1):
        for words in itertools.combinations(range(n), size):
            if all((a, b) in edges for a, b in itertools.pairwise(words)):
                found.setdefault((words[0], words[-1] + 1), []).append(words)
    return found


def labelled_trees(n: int) -> list[set[Edge]]:
    """All n^(n-2) trees on n labelled nodes, by Prüfer codes."""
    if n == 1:
        return [set()]
    trees = []
    for code in itertools.product(range(n), repeat=n - 2):
        degree = [1 + code.count(v) for v in range(n)]
        edges = set()
        for v in code:
            leaf = degree.index(1)
            edges.add((min(leaf, v), max(leaf, v)))
            degree[leaf] -= 1
            degree[v] -= 1
        a, b = (v for v in range(n) if degree[v] == 1)
        trees.append(edges | {(a, b)})
    return trees


def as_heads(n: int, edges: set[Edge]) -> list[int]:
    """Direct a forest away from the lowest word of each part."""
    heads, seen = [0] * n, set()
    for root in range(n):
        stack = [root] if root not in seen else []
        while stack:
            v = stack.pop()
            seen.add(v)
            for a, b in edges:
                if v in (a, b):
                    other = a + b - v
                    if other not in seen:
                        heads[other] = v + 1
                        stack.append(other)
    return heads


@pytest.mark.parametrize("n", range(1, 8))
def test_theorem_1_average_number_of_valid_spans(n):
    """Over all n^(n-2) trees of n words there are (n+1)^(n-1) valid spans: n(1+1/n)^(n-1) a tree, at most e·n."""
    trees = labelled_trees(n)
    assert len({frozenset(t) for t in trees}) == len(trees) == (n ** (n - 2) if n > 1 else 1)
    total = sum(len(valid_spans(as_heads(n, edges))) for edges in trees)
    assert total == (n + 1) ** (n - 1)
    average = total / len(trees)
    assert average == pytest.approx(n * (1 + 1 / n) ** (n - 1))
    assert average <= math.e * n


@pytest.mark.parametrize("n", range(1, 6))
def test_theorem_1_bijection(n):
    """Tying the words of a span's chain to a new word instead of to each other reaches every larger tree once."""
    reached = []
    for edges in labelled_trees(n):
        for span, found in chains(n, edges).items():
            (words,) = found  # in a tree the chain is unique
            assert span in valid_spans(as_heads(n, edges))
            links = set(itertools.pairwise(words))
            reached.append(frozenset(edges - links | {(w, n) for w in words}))
    assert len(reached) == len(set(reached))
    assert set(reached) == {frozenset(t) for t in labelled_trees(n + 1)}


any_heads = st.integers(0, 8).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n, max_size=n))


@settings(max_examples=300, deadline=None)
@given(any_heads, st.integers(1, 8))
def test_valid_spans_equal_the_definition(heads, longest):
    """Also for fragments, crossing arcs and what is no tree at all."""
    edges = {(min(t, h - 1), max(t, h - 1)) for t, h in enumerate(heads) if h > 0 and h - 1 != t}
    listed = {s: any(len(words) <= 2 for words in found) for s, found in chains(len(heads), edges).items()}
    short = sorted(s for s in listed if s[1] - s[0] <= longest)
    assert valid_spans(heads, longest=longest) == short
    assert valid_spans(heads, longest=longest, single=True) == [s for s in short if listed[s]]
    arcs = arcs_to_right([str(h) for h in heads])
    for start, end in itertools.combinations(range(len(heads) + 1), 2):
        mention = Mention("a", ((start, end),))
        assert is_valid_span(mention, arcs) == ((start, end) in listed)
        assert is_single_arc(mention, arcs) == listed.get((start, end), False)


def test_the_examples_of_the_paper():
    """Jie, Muis & Lu (2017), section 4: what the text says of "Lee Ann Womack won Single of the Year award", L = 4.

    The arcs are those that the text names, with ``award`` as the object of ``won`` and the head of ``Single``.
    """
    words = ["Lee", "Ann", "Womack", "won", "Single", "of", "the", "Year", "award"]
    spans = {" ".join(words[a:b]) for a, b in valid_spans([3, 3, 4, 0, 9, 5, 8, 6, 4], longest=4)}
    assert {"Lee Ann Womack", "Ann Womack won", "Womack", "of the Year", "Single of the Year"} <= spans
    assert "Ann Womack won Single" not in spans


def test_a_long_sentence_is_quick():
    """A chain of arcs has n(n+1)/2 valid spans; a star joined to its last word 2n - 1."""
    n = 2000
    assert len(valid_spans([n] * (n - 1) + [0])) == 2 * n - 1
    assert len(valid_spans([*range(n)], longest=4)) == 4 * n - 6


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (None, "has no tree: it lacks the column 'head'.*parser"),
        (["0", "x"], "the head 'x' is not a number"),
        (["0", "3"], "the head 3 is not one of its 2 tokens"),
        (["0", "-1"], "the head '-1' is not a number"),
        (["0", "99999999999"], "the head 99999999999 is not one of its 2 tokens"),
    ],
)
def test_bad_trees_are_named(column, message):
    """The sentence, the value, and what to do."""
    sentence = Sentence(["a", "gene"], columns={} if column is None else {"head": column})
    with pytest.raises(CorpusError, match=message) as error:
        heads_of(sentence, 17)
    assert "sentence 17 (a gene …)" in str(error.value)


@pytest.mark.parametrize("head", [3, -1, 10**11, None, 1.7, "1", True])
def test_bad_heads_are_named(head):
    """Beyond the sentence, or no integer at all."""
    with pytest.raises(ParameterError, match=r"the head of token 1 is .*; heads are integers: .* the 2 tok"):
        valid_spans([0, head])


@pytest.mark.parametrize("longest", [0, 1.5, "a", True])
def test_a_bad_longest_is_named(longest):
    """A span has a word at least."""
    with pytest.raises(ParameterError, match="longest"):
        valid_spans([0], longest=longest)


def test_any_longest_and_no_word():
    """What no sentence reaches limits nothing."""
    assert valid_spans([2, 0], longest=2**70) == valid_spans([2, 0])
    assert valid_spans([]) == []


@pytest.mark.parametrize("heads", [[1], [2, 1], [0, 3, 4, 2], [2, 3, 1, 0]])
def test_circles_are_found(heads):
    """Following the heads of the tokens that are named leads back."""
    circle = cycle_in(heads)
    assert {heads[t - 1] for t in circle} == set(circle) != set()


def test_heads_of_many_sentences_are_those_of_each():
    """One after the other, also where a sentence is empty; what is wrong is said of the sentence that has it."""
    trees = [["2", "0"], [], ["0"], ["3", "3", "0"]]
    sentences = [Sentence(["w"] * len(heads), columns={"head": heads}) for heads in trees]
    assert all_heads_of(sentences).tolist() == [2, 0, 0, 3, 3, 0]
    assert all_heads_of([]).tolist() == []
    for bad, message in [(["2", "3"], "the head 3 is not one"), (["", "0"], "the head ''"), (["9" * 30, "0"], "999")]:
        broken = [*sentences, Sentence(["a", "b"], columns={"head": bad}), *sentences]
        with pytest.raises(CorpusError, match=f"sentence 4 .*{message}"):
            all_heads_of(broken)
    with pytest.raises(CorpusError, match=r"sentence 1 .*has no tree"):
        all_heads_of([sentences[0], Sentence(["a"]), Sentence(["b", "c"], columns={"head": ["0", "1"]})])


def test_a_head_of_thousands_of_digits_is_named():
    """Python itself refuses to read such a number."""
    good = Sentence(["a", "b"], columns={"head": ["0", "1"]})
    bad = Sentence(["a", "b"], columns={"head": ["0", "1" * 5000]})
    for ask in (lambda: heads_of(bad, 1), lambda: all_heads_of([good, bad])):
        with pytest.raises(CorpusError, match=r"sentence 1 .* is not one of its 2 tokens"):
            ask()
