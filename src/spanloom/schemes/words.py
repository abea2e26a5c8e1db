"""The symbols of a scheme in words, for explanations and lists of weights."""

from __future__ import annotations

from spanloom.corpus.tags import TagMeaning
from spanloom.schemes.hypergraph import BEGIN, GO_ON, NONE, SPLIT, STOP
from spanloom.schemes.separators import CONTINUE, END, START

LEFT, RIGHT = "the left token", "the right token"
"""What stands for the tokens beside a gap where there is no sentence."""
TOKEN = "the token"
"""What stands for a token where there is no sentence."""


def separator_words(separator: int, type_: str, left: str = LEFT, right: str = RIGHT) -> str:
    """Say what a separator means at the gap between two tokens.

    Examples
    --------
    >>> separator_words(START, "protein", "the", "IL-2")
    'a protein starts before IL-2'
    >>> separator_words(END | CONTINUE, "DNA", "gene", "promoter")
    'a DNA ends after gene, another goes on'
    >>> separator_words(0, "DNA")
    'no DNA starts, ends or goes on between the left token and the right token'
    """
    said = []
    if separator & END:
        said.append(f"ends after {left}")
    if separator & CONTINUE:
        said.append("goes on" if said else f"goes on from {left} to {right}")
    if separator & START:
        said.append(f"starts before {right}")
    if not said:
        return f"no {type_} starts, ends or goes on between {left} and {right}"
    return ", another ".join([f"{article(type_)} {said[0]}", *said[1:]])


SHORT = {0: "nothing", START: "start", END: "end", CONTINUE: "goes on"}


def short_separator(separator: int) -> str:
    """Say what a separator means in few words, for pairs of them.

    Examples
    --------
    >>> short_separator(START), short_separator(END | CONTINUE)
    ('start', 'end + goes on')
    """
    return " + ".join(SHORT[bit] for bit in (END, CONTINUE, START) if separator & bit) or SHORT[0]


def hypergraph_words(edge: int, type_: str, token: str = TOKEN) -> str:
    """Say what a choice of the mention hypergraph means at a token.

    Examples
    --------
    >>> hypergraph_words(SPLIT, "DNA", "gene")
    'a DNA ends after gene, another goes on'
    """
    return {
        BEGIN: f"{article(type_)} starts before {token}",
        NONE: f"no {type_} starts before {token}",
        GO_ON: f"every {type_} goes on after {token}",
        STOP: f"every {type_} ends after {token}",
        SPLIT: f"{article(type_)} ends after {token}, another goes on",
    }[edge]


def tag_words(tag: TagMeaning, token: str = TOKEN) -> str:
    """Say what a tag of a segment representation means at a token.

    Examples
    --------
    >>> from spanloom.corpus.tags import SCHEMES
    >>> iobes = SCHEMES["IOBES"]
    >>> [tag_words(iobes.read(tag), "gene") for tag in ("O", "S-DNA", "E-DNA")]
    ['gene is in no mention', 'gene alone is a DNA', 'gene is the last token of a DNA']
    >>> [tag_words(iobes.read(tag), "gene") for tag in ("B-DNA", "I-DNA")]
    ['gene is the first token of a longer DNA', 'gene is an inner token of a DNA']
    """
    if tag.label is None:
        return f"{token} is in no mention{_outside(tag)}"
    label = tag.label
    ends = {place.last for place in tag.places}
    indexes = {place.index for place in tag.places}
    if tag.begins and tag.ends:
        return f"{token} alone is {article(label)}"
    if all(place.after_own for place in tag.places):
        return f"{token} is the first token of {article(label)} right after another"
    if all(place.before_own for place in tag.places):
        return f"{token} is the last token of {article(label)} right before another"
    if tag.begins:
        return f"{token} is the first token of a {'longer ' if ends == {False} else ''}{label}"
    if tag.ends:
        return f"{token} is the last token of {article(label)}"
    if indexes == {1}:
        return f"{token} is the second token of a longer {label}"
    if indexes == {2}:
        return f"{token} is the third token of a longer {label}"
    if ends == {False}:
        return f"{token} is an {'inner' if 0 not in indexes else 'earlier'} token of {article(label)}"
    if 0 not in indexes:
        return f"{token} is a later token of {article(label)}"
    return f"{token} is in {article(label)}"


def _outside(tag: TagMeaning) -> str:
    """Where the outside is a class: the place in the run of tokens between mentions."""
    if tag.begins and tag.ends:
        return ", its neighbours are"
    if tag.begins:
        return ", the one before it is"
    if tag.ends:
        return ", the one after it is"
    return ""


def article(noun: str) -> str:
    """Put the article before a label.

    Examples
    --------
    >>> article("DNA"), article("organisation")
    ('a DNA', 'an organisation')
    """
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
