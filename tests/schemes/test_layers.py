"""Layers: the paper's definition on nested mentions, and the whole set back on all contiguous ones."""

from __future__ import annotations

from hypothesis import given
from nestings import contiguous, nested

from spanloom.corpus import Mention
from spanloom.schemes import first_misfit, layers_of


def by_definition(mentions, inward):
    """Alex et al.: inside-out, layer 1 contains none, layer 2 only what contains at most one level of nesting, …"""

    def level(mention):
        related = [
            m for m in mentions if m != mention and (m if inward else mention).contains(mention if inward else m)
        ]
        return 1 + max(map(level, related), default=0)

    return {mention: level(mention) for mention in mentions}


@given(nested())
def test_nested_mentions_are_layered_as_the_paper_defines_it(drawn):
    _, mentions = drawn
    for direction in ("inside-out", "outside-in"):
        layers = layers_of(mentions, direction)
        found = {m: k for k, layer in enumerate(layers, 1) for m in layer}
        assert found == by_definition(mentions, direction == "outside-in")


@given(contiguous())
def test_layers_are_flat_and_hold_every_contiguous_set(drawn):
    """Crossing mentions and several labels on the same tokens are held, too."""
    _, mentions = drawn
    for direction in ("inside-out", "outside-in"):
        layers = layers_of(mentions, direction)
        assert all(layer and first_misfit(layer) is None for layer in layers)
        assert sorted(m for layer in layers for m in layer) == mentions


def test_example_of_the_paper():
    """Table 2: mice … tumor necrosis factor-alpha ( TNF-alpha ) messenger RNA levels."""
    mice, other, rna = Mention("multi_cell", ((0, 1),)), Mention("other_name", ((1, 10),)), Mention("RNA", ((1, 9),))
    tumor, tnf = Mention("protein", ((1, 4),)), Mention("protein", ((5, 6),))
    mentions = [other, rna, tumor, tnf, mice]
    assert layers_of(mentions, "inside-out") == [[mice, tumor, tnf], [rna], [other]]
    assert layers_of(mentions, "outside-in") == [[mice, other], [rna], [tumor, tnf]]


def test_no_mentions_no_layers():
    assert layers_of([]) == []
