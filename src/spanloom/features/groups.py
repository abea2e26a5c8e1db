"""Kinds of features, by their templates: what explanations add up."""

from __future__ import annotations

from collections.abc import Callable

from spanloom.features.templates import Template

BIAS = "bias"
OTHER = "other columns"


def _columns(*names: str) -> Callable[[Template, int], bool]:
    """Whether a template reads a column whose name begins like this."""
    return lambda template, left: any(a.view.column.startswith(names) for a in template.atoms if a.view.column)


def _operations(*kinds: str) -> Callable[[Template, int], bool]:
    return lambda template, left: any(op.kind in kinds for a in template.atoms for op in a.view.operations)


def _beside(template: Template, left: int) -> bool:
    """Whether a template looks beyond the tokens of the site; ``left`` is the first offset that belongs to it."""
    if template.kind in ("bag", "own"):
        return template.kind == "bag"
    return any(a.anchor in ("", "first", "last") and not a.side and not left <= a.offset <= 0 for a in template.atoms)


GROUPS: tuple[tuple[str, Callable[[Template, int], bool]], ...] = (
    (BIAS, lambda template, left: template.kind == "bias"),
    ("own features and guesses", lambda template, left: template.kind == "own"),
    ("document context", _columns("elsewhere", "document", "abbreviation", "title", "font", "wordcounter")),
    ("lexicon", lambda template, left: _columns("lexicon")(template, left) or _operations("lookup")(template, left)),
    ("clusters", _operations("cluster")),
    (
        "syntax",
        lambda template, left: (
            any(a.view.head for a in template.atoms)
            or _columns("pos", "tag", "head", "deprel", "chunk", "phrase", "verb")(template, left)
        ),
    ),
    ("neighbours", _beside),
    ("affixes", _operations("prefix", "suffix", "ngrams")),
    ("word and shape", _columns("word", "lemma", "character")),
    ("length", lambda template, left: any(a.anchor == "size" for a in template.atoms)),
)
"""Names and what belongs to them; the first that fits counts."""


def group_of(template: Template, sites: str = "tokens") -> str:
    """Return the group of a template's features.

    ``sites`` is that of the extractor: at a gap, the tokens on both sides are no neighbours.

    Examples
    --------
    >>> from spanloom.features.grammar import parse_template
    >>> [group_of(parse_template(text)[0]) for text in ("shape(word)", "word[-1] & word[0]", "suffix(word, 3)")]
    ['word and shape', 'neighbours', 'affixes']
    >>> group_of(parse_template("word[-1] & word[0]")[0], "gaps")
    'word and shape'
    """
    left = -1 if sites in ("gaps", "mentions") else 0
    return next((name for name, fits in GROUPS if fits(template, left)), OTHER)
