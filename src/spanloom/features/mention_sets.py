"""Templates of whole mentions, for models that see them beside gaps; join them with a set for gaps.

``first(…)`` counts from the first token of a mention, ``last(…)`` from its last one, in English mostly the head.
"""

from __future__ import annotations

_BIT = "cluster(word, brown, 10)"

SETS: dict[str, tuple[str, ...]] = {
    "mention-words": (
        "size",
        "segment(lower(word)) >= 2",
        "segment(collapsed(word)) >= 2",
        "first(lower(word)) & last(lower(word)) >= 2",
        "first(lower(word))[-1] & last(lower(word))[1] >= 2",
        "first(lower(word))[-1] & last(lower(word)) >= 2",
        "first(lower(word)) & last(lower(word))[1] >= 2",
        "first(collapsed(word)) & last(collapsed(word)) & size >= 2",
        "first(collapsed(word)) & last(lower(word)) >= 2",
        "last(lower(word)) & size >= 2",
        "last(suffix(lower(word), 3)) & size >= 2",
        "left(lower(word), 0..3) >= 2",
        "right(lower(word), 0..3) >= 2",
    ),
    "mention-pos": (
        "segment(pos) >= 2",
        "first(pos)[-1] & first(pos) & last(pos) & last(pos)[1] >= 2",
        "first(pos) & last(lower(word)) >= 2",
        "first(pos)[-1] & last(pos)[1] & size >= 2",
        "last(pos) & size >= 2",
        "right(pos, 0..3) >= 2",
    ),
    "mention-clusters": (
        f"segment({_BIT}) >= 2",
        f"first({_BIT}) & last({_BIT}) & size >= 2",
        f"first({_BIT})[-1] & last({_BIT}) >= 2",
    ),
}
