"""Words and tags, as users of taggers have them, to sentences with mentions and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spanloom.base.errors import EncodingError, ParameterError
from spanloom.base.parameters import check_choice
from spanloom.corpus import tags as flat
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention


def from_tags(
    tokens: Sequence[str],
    tags: Sequence[str],
    *more: Sequence[str],
    scheme: str = flat.AUTO,
    columns: Mapping[str, Sequence[str]] | None = None,
) -> Sentence:
    """Return a sentence with the mentions of its tags.

    Parameters
    ----------
    tokens
        The words.
    tags
        One tag a word, such as ``B-PER``, ``I-PER``, ``O``.
    *more
        Further layers of tags, where mentions nest or cross.
    scheme
        ``auto`` reads tags of all common schemes; naming one (IO, IOB1, IOB2, IOE1, IOE2, IOBES, BILOU …) checks them.
    columns
        Further values per word by name, e.g. ``{"pos": [...]}``.

    Raises
    ------
    ParameterError
        If words and tags differ in number, or a tag is none of the scheme.

    Examples
    --------
    >>> words = ["Bank", "of", "England", "staff"]
    >>> from_tags(words, ["B-ORG", "I-ORG", "I-ORG", "O"], ["O", "O", "B-LOC", "O"]).mentions
    [Mention(label='ORG', parts=((0, 3),), prob=None), Mention(label='LOC', parts=((2, 3),), prob=None)]
    """
    check_choice("scheme", scheme, (flat.AUTO, *flat.SCHEMES))
    mentions: list[Mention] = []

    def complain(token: int, message: str) -> None:
        raise ParameterError(f"token {token} {tokens[token]!r}: {message}")

    for layer in (tags, *more):
        if len(layer) != len(tokens):
            raise ParameterError(f"{len(tokens)} tokens but {len(layer)} tags; there must be a tag for each token")
        mentions += [Mention(label, ((a, b),)) for label, a, b in flat.from_tags(layer, scheme, complain)]
    return Sentence(list(tokens), mentions, {name: list(values) for name, values in (columns or {}).items()})


def to_tags(sentence: Sentence, *, scheme: str = "IOB2") -> list[str]:
    """Return the tags of a sentence, one a word.

    Raises
    ------
    EncodingError
        If mentions overlap or are discontinuous, which one tag a word cannot say; :func:`to_layers` takes nested and
        crossing ones.

    Examples
    --------
    >>> to_tags(Sentence(["Anna", "Bell", "sings"], [Mention("PER", ((0, 2),))]), scheme="IOBES")
    ['B-PER', 'E-PER', 'O']
    """
    layers = to_layers(sentence, scheme=scheme)
    if len(layers) > 1:
        first, second = _overlapping(sentence)
        raise EncodingError(
            f"one tag a token cannot say both {first.label} {first.parts} and {second.label} {second.parts}, "
            "which overlap; to_layers gives a list of tags for each layer"
        )
    return layers[0]


def to_layers(sentence: Sentence, *, scheme: str = "IOB2") -> list[list[str]]:
    """Return as many layers of tags as the mentions of a sentence need, at least one; outer mentions come first.

    Examples
    --------
    >>> nested = Sentence(["Bank", "of", "England"], [Mention("LOC", ((2, 3),)), Mention("ORG", ((0, 3),))])
    >>> to_layers(nested)
    [['B-ORG', 'I-ORG', 'I-ORG'], ['O', 'O', 'B-LOC']]
    """
    check_choice("scheme", scheme, flat.SCHEMES)
    layers: list[list[Mention]] = [[]]
    for mention in sorted(sentence.mentions, key=lambda m: (m.start, -m.end)):
        if mention.discontinuous:
            raise EncodingError(f"tags cannot hold the discontinuous mention {mention.label} {mention.parts}")
        layer = next((layer for layer in layers if not any(mention.overlaps(other) for other in layer)), None)
        if layer is None:
            layers.append([mention])
        else:
            layer.append(mention)
    return [flat.to_tags([(m.label, m.start, m.end) for m in layer], len(sentence), scheme) for layer in layers]


def _overlapping(sentence: Sentence) -> tuple[Mention, Mention]:
    mentions = sentence.mentions
    return next((a, b) for i, a in enumerate(mentions) for b in mentions[i + 1 :] if a.overlaps(b))
