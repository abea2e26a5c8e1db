"""Base noun phrases from a dependency treebank, in the place of CoNLL-2000, which is not here.

The rule, on Universal Dependencies. A *head* is a noun, a proper noun, a pronoun or a number that hangs on its head by
none of ``INSIDE``. Its chunk is the longest stretch of tokens around it that hang on it by ``INSIDE`` relations alone,
directly or through each other: determiners, adjectives with their adverbs, numbers, parts of compounds and names,
possessive pronouns. Chunks do not overlap, do not nest and are contiguous, as those of CoNLL-2000. Unlike there, a
possessor with *'s* is a chunk of its own, and the *'s* is in none.
"""

from __future__ import annotations

from collections.abc import Sequence

from spanloom import Mention, Sentence
from spanloom.corpus.trees import heads_of

HEADS = frozenset({"NOUN", "PROPN", "PRON", "NUM"})
INSIDE = frozenset({"det", "det:predet", "amod", "nummod", "compound", "flat", "goeswith", "fixed"})
"""Relations within a chunk; ``nmod:poss`` is one for pronouns, ``advmod`` below an adjective or a number."""

LABEL = "NP"


def with_chunks(sentence: Sentence) -> Sentence:
    """Return a sentence with its noun phrases as mentions.

    Examples
    --------
    "his very old dog 's tail": *dog* possesses, *'s* is in no chunk.

    >>> columns = {"upos": ["PRON", "ADV", "ADJ", "NOUN", "PART", "NOUN"], "head": ["4", "3", "4", "6", "4", "0"],
    ...            "deprel": ["nmod:poss", "advmod", "amod", "nmod:poss", "case", "root"]}
    >>> made = with_chunks(Sentence(["his", "very", "old", "dog", "'s", "tail"], columns=columns))
    >>> [m.parts[0] for m in made.mentions]
    [(0, 4), (5, 6)]
    """
    tags, labels = sentence.columns["upos"], sentence.columns["deprel"]
    parents = [head - 1 for head in heads_of(sentence).tolist()]
    inside = [_is_inside(t, parents, tags, labels) for t in range(len(sentence))]
    owners = [_owner(t, parents, inside) for t in range(len(sentence))]
    chunks = []
    for head, tag in enumerate(tags):
        if tag not in HEADS or inside[head]:
            continue
        start = end = head
        while start > 0 and owners[start - 1] == head:
            start -= 1
        while end + 1 < len(sentence) and owners[end + 1] == head:
            end += 1
        chunks.append(Mention(LABEL, ((start, end + 1),)))
    return sentence.with_mentions(chunks)


def _is_inside(t: int, parents: Sequence[int], tags: Sequence[str], labels: Sequence[str]) -> bool:
    if parents[t] < 0:
        return False
    if labels[t] == "nmod:poss":
        return tags[t] == "PRON"
    if labels[t] == "advmod":
        return tags[parents[t]] in ("ADJ", "NUM") and labels[parents[t]] in ("amod", "nummod")
    return labels[t].removesuffix(":foreign").removesuffix(":name") in INSIDE


def _owner(t: int, parents: Sequence[int], inside: Sequence[bool]) -> int:
    """Return the token that a token hangs on by relations within a chunk; itself if there is none."""
    for _ in parents:  # a tree has no cycles, and data may be no tree
        if not inside[t]:
            return t
        t = parents[t]
    return t
