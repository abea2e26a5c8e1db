"""Sets of templates of Jie, Muis & Lu (2017): for chains and for segments, with and without dependencies.

``jie-chain-paper``, ``jie-semi-paper`` and ``dep-paper`` have the shapes and arc labels of the paper's code;
``jie-chain``, ``jie-semi`` and ``dep`` are ours.
"""

from __future__ import annotations


def chain(shape: str) -> tuple[str, ...]:
    """Return the templates for tokens, with a view of the word's shape."""
    return ("word[-1..0]", "pos[-1..0]", f"{shape}[-1..0]", "prefix(word, 1..3)", "suffix(word, 1..3)")


def segments(shape: str) -> tuple[str, ...]:
    """Return the templates for segments: what stands before, after and in them.

    The affixes are those of the end words; strings of words that occur once are left out, as they could only be learned
    by heart.
    """
    views = ("word", "pos", shape)
    return (
        *(f"first({view})[-1]" for view in views),
        *(f"last({view})[1]" for view in views),
        *(f"left({view}, 0..7)" for view in views),
        *(f"right({view}, 0..7)" for view in views),
        "segment(word) >= 2",
        "size",
        "first(prefix(word, 1..3))",
        "last(suffix(word, 1..3))",
        "first(word)",
        "first(pos)",
        "last(word)",
        "last(pos)",
    )


def dependencies(label: str) -> tuple[str, ...]:
    """Return the dependency features for any model: a token and its head, with and without an arc's label."""
    pairs = ("word & head(word)", "pos & head(pos)")
    return tuple(template for pair in pairs for template in (pair, f"{pair} & {label}"))


DEP_ENDS = tuple(
    template
    for end in ("first", "last")
    for column in ("word", "pos")
    for template in (
        f"{end}({column}) & {end}(head({column}))",
        f"{end}({column}) & {end}(head({column})) & {end}(deprel)",
    )
)
"""The same of the first and the last token of a segment."""

VALID = ("last(values(valid-sizes)) & size",)
"""Whether the tree allows a segment, for models that look at all of them."""

SETS: dict[str, tuple[str, ...]] = {
    "jie-chain": chain("shape(word)"),
    "jie-semi": segments("shape(word)"),
    "dep": dependencies("deprel"),
    "jie-chain-paper": chain("jenny1"),
    "jie-semi-paper": segments("jenny1"),
    "dep-paper": dependencies("head(deprel)"),
    "dep-ends": DEP_ENDS,
    "valid": VALID,
}
